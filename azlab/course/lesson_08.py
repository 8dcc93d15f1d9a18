"""Exercises on AlphaZero: judging by a network, PUCT, a simulation, targets, the loss; plain_alphazero.py has the right ones."""

from typing import Any

import numpy as np

from azlab.course import Mistake, exercise, mistake
from azlab.course import plain_alphazero as plain
from azlab.course.answers import function_of, number
from azlab.games import game
from azlab.games.game import Position

POSITIONS = [  # with both players to move, and one in which a player is to move again
    ("tictactoe", "", {}),
    ("tictactoe", "b2 a1 c1", {}),
    ("tictactoe", "b2 a1 c1 a3", {}),
    ("dots_and_boxes", "aA Aa Ab aB", {"rows": 1, "cols": 2}),
]


def _positions() -> list[Position]:
    return [game(name, **options).from_moves(moves) for name, moves, options in POSITIONS]


def _opinion(position: Position) -> tuple[dict[int, float], float]:
    """Priors and a value without any sense, but always the same for a position."""
    rng = np.random.default_rng(list(position.state.tobytes()))
    legal = position.legal_actions
    priors = rng.dirichlet([1.0] * len(legal))
    return dict(zip(legal, priors.tolist())), float(rng.uniform(-1, 1))


@exercise(
    "08.1",
    "net(planes) gives logits [1, actions] and a value [1]; take the logits of the legal actions alone before the softmax",
    "the network's value is for the player to move: turn its sign where position.to_move is 1",
    grade="write",
    instead=plain.evaluate,
    may_ask_oracles=False,
)
def judged_by_a_network(answer: Any) -> bool | str | Mistake:
    import torch

    function_of(answer, "a function that takes a network and a position and returns a dictionary of priors and a value")
    for seed, position in enumerate(_positions()):
        torch.manual_seed(seed)
        net = plain.Net(position.game, 8)
        given, right = answer(net, position), plain.evaluate(net, position)
        if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], dict):
            return "It has to return two things: a dictionary {action: probability}, and the value."
        priors = {int(action): float(prior) for action, prior in given[0].items()}
        if set(priors) != set(right[0]):
            return "The dictionary has to hold the legal actions, and only these."
        if abs(sum(priors.values()) - 1) > 1e-4:
            return "The probabilities of the legal actions have to add up to 1: leave the others out before the softmax."
        if any(abs(priors[action] - right[0][action]) > 1e-4 for action in priors):
            return f"The priors are not right after {' '.join(position.moves) or 'no move'}."
        if abs(float(given[1]) + right[1]) < 1e-5 < abs(right[1]):
            return mistake(
                "wrong player", f"The sign of the value is wrong: {position.status}, and the value is to be the first player's."
            )
        if abs(float(given[1]) - right[1]) > 1e-5:
            return f"The value is not right after {' '.join(position.moves) or 'no move'}."
    return True


def _grown(position: Position, simulations: int, simulate: Any = plain.simulate) -> plain.Node:
    root = plain.Node(1.0, position)
    for _ in range(simulations):
        simulate(root, _opinion)
    return root


@exercise(
    "08.2",
    "as choose of lesson 03, with another bonus: c * prior * sqrt(visits of the node) / (1 + visits of the child)",
    "a child without visits has no mean yet: take 0 for it",
    grade="write",
    instead=plain.choose,
    may_ask_oracles=False,
)
def puct(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes a node and c and returns an action")
    roots = [_grown(position, count) for position in _positions() for count in (1, 5, 20, 60)]
    nodes = [node for root in roots for node in (root, *root.children.values()) if node.children]
    given = [answer(node, 1.5) for node in nodes]
    if any(action not in node.children for node, action in zip(nodes, given)):
        return "It has to return the number of an action that node.children has."
    wrong = [node for node, action in zip(nodes, given) if action != plain.choose(node, 1.5)]
    if not wrong:
        return True
    movers = {node.position.to_move for node in wrong if node.position is not None}
    if len(movers) == 1:
        return mistake(
            "wrong player", "It is right for one of the two players only: for whom is child.total, and who chooses here?"
        )
    return f"It is right for {len(nodes) - len(wrong)} of {len(nodes)} nodes."


@exercise(
    "08.3",
    "walk down while the last node has children; choose(node) says where",
    "a child that is visited for the first time has no position yet: make it with node.position.play(action)",
    "at the end of the path: the result if the game is over; otherwise ask evaluate, and make a child Node(prior) for each",
    "every node on the path gets a visit and the value added to its total; values are the first player's everywhere",
    grade="write",
    instead=plain.simulate,
    may_ask_oracles=False,
)
def one_simulation(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes a root and evaluate, and changes the tree")
    for position in _positions():
        for simulations in (1, 2, 20, 150):
            after = f"After {simulations} simulation{'s' * (simulations > 1)}"
            right, made = _grown(position, simulations), _grown(position, simulations, answer)
            if made.visits != right.visits:
                return f"{after} the root has {made.visits} visits."
            if set(made.children) != set(right.children):
                return f"{after} the root should have a child for each legal action."
            if abs(made.total + right.total) < 1e-6 < abs(right.total):
                return mistake(
                    "wrong player", f"{after} the root's total has the wrong sign: values are the first player's everywhere."
                )
            if abs(made.total - right.total) > 1e-6:
                return f"{after} the root's total is {made.total:.3f}."
            for action, child in right.children.items():
                other = made.children[action]
                if abs(other.total + child.total) < 1e-6 < abs(child.total) and other.visits == child.visits:
                    return mistake("wrong player", f"{after} a child's total has the wrong sign.")
                if other.visits != child.visits or abs(other.total - child.total) > 1e-6:
                    return f"{after} move {position.game.move_name(action)} has {other.visits} visits, not as it should."
    return True


@exercise(
    "08.4",
    "raise each share to the power of 1 / temperature, then divide by the sum",
    "with temperature 0.5 the power is 2",
)
def colder(answer: Any) -> bool | str | Mistake:
    visits = np.array([30, 15, 5])
    given = number(answer, "a probability")
    if given > 1:
        return mistake("percent for share")
    if abs(given - 30 / 50) < 2e-3:
        return "That is the probability at temperature 1."
    warmer = np.sqrt(visits)
    if abs(given - warmer[0] / warmer.sum()) < 2e-3:
        return "The power is 1 / temperature; a low temperature makes the largest more likely, not less."
    return bool(abs(given - visits[0] ** 2 / (visits**2).sum()) < 2e-3)


@exercise(
    "08.5",
    "for each step: position.game.encode(position.state)[0], the shares as they are, and a number",
    "the network's value is for the player to move, so where O is to move the result changes its sign",
    grade="write",
    instead=plain.targets,
    may_ask_oracles=False,
)
def what_to_learn(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes steps and a result and returns a list of (planes, shares, value)")
    for name, moves, result, options in (
        ("tictactoe", "b2 a1 c1 a3 b1", 1, {}),
        ("tictactoe", "b2 a1 c1 a3", -1, {}),
        ("dots_and_boxes", "aA Aa Ab aB bA Ac bB", -1, {"rows": 1, "cols": 2}),
    ):
        path = game(name, **options).from_moves(moves).path()[:-1]
        rng = np.random.default_rng(1)
        steps = [(position, rng.dirichlet([1.0] * position.game.num_actions)) for position in path]
        given, right = answer(steps, result), plain.targets(steps, result)
        if not isinstance(given, list) or len(given) != len(right) or any(len(one) != 3 for one in given):
            return "It has to return a list with (planes, shares, value) for each step."
        for mine, theirs in zip(given, right):
            if np.shape(mine[0]) != theirs[0].shape or not np.allclose(mine[0], theirs[0]):
                return f"The planes have to be those of the position, of the shape {theirs[0].shape}."
            if not np.allclose(mine[1], theirs[1]):
                return "The shares are to be kept as they are."
        values, wanted = np.array([one[2] for one in given], float), np.array([one[2] for one in right])
        if np.allclose(values, wanted):
            continue
        if np.allclose(values, result) or np.allclose(values, -wanted):
            return mistake("wrong player", "The value is to be the result for whoever is to move in that position.")
        if np.allclose(values, result * (-1.0) ** np.arange(len(values))):
            return mistake("turns alternate")
        return f"The values of a game of {name} with the result {result:+d} are {values.tolist()}."
    return True


@exercise(
    "08.6",
    "the first part: minus the sum over actions of shares * log_softmax(logits, 1), as a mean over the batch",
    "the second part: the mean of (values - results) ** 2; add both",
    grade="write",
    instead=plain.loss,
    may_ask_oracles=False,
)
def how_far_off(answer: Any) -> bool | str | Mistake:
    """Against NumPy, with double precision."""
    import torch

    function_of(answer, "a function that takes logits, values, shares and results and returns one number")
    rng = np.random.default_rng(4)
    logits, values, results = rng.normal(size=(6, 9)), rng.uniform(-1, 1, 6), rng.choice([-1.0, 0.0, 1.0], 6)
    shares = rng.dirichlet([1.0] * 9, 6)
    log_policy = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    entropy, squares = -(shares * log_policy).sum(axis=1).mean(), ((values - results) ** 2).mean()
    given = answer(*(torch.tensor(part, requires_grad=k < 2) for k, part in enumerate((logits, values, shares, results))))
    if not isinstance(given, torch.Tensor) or given.numel() != 1:
        return "It has to return a tensor with one number, so that torch can compute its gradient."
    if not given.requires_grad:
        return "The way from the logits to the loss is broken: leave out detach(), item() and NumPy."
    found = float(given.detach())
    known: dict[float, bool | str] = {
        entropy + squares: True,
        entropy: "The part of the value is missing.",
        squares: "The part of the policy is missing.",
        -entropy + squares: "The part of the policy has the wrong sign: a better policy has to make the loss smaller.",
        entropy * len(logits) + squares * len(logits): "Take the mean over the batch, not the sum.",
        -(shares * logits).sum(axis=1).mean() + squares: "The logits are no probabilities yet: a log_softmax is missing.",
        entropy / 9 + squares: "Sum over the actions, and take the mean over the batch only.",
    }
    for value, message in known.items():
        if abs(found - value) < 1e-5:
            return message
    return f"For an example it says {found:.4f}."
