"""Exercises on Monte Carlo tree search: UCB1, UCT in two functions, PUCT and Elo by hand, an agent that does not lose."""

import math
from typing import Any

import numpy as np

from azlab.course import Mistake, exercise, mistake
from azlab.course.answers import function_of, number, word
from azlab.games import game
from azlab.games.game import Position

VISITS = {"a": (60, 0.5), "b": (30, 0.4), "c": (10, 0.1)}  # move: (visits, mean value) at a node with 100 visits


class Node:
    """A position in the tree: how often it was visited, and the sum of the results of these visits for the first player."""

    def __init__(self, position: Position) -> None:
        self.position, self.visits, self.total = position, 0, 0.0
        self.children: dict[int, Node] = {}  # by action


def playout(position: Position, number: int) -> int:
    """The result, for the first player, of random play from `position`; the same number gives the same game."""
    return int(position.game.playout(position.state, number)["result"][0])


def ucb1(means: Any, uses: Any, c: float = 1.41) -> int:
    """Which machine to use next: one never used, or the one with the largest upper bound."""
    means, uses = np.asarray(means, float), np.asarray(uses, float)
    if (uses == 0).any():
        return int(np.argmax(uses == 0))
    return int(np.argmax(means + c * np.sqrt(np.log(uses.sum()) / uses)))


def choose(node: Node, c: float = 1.41) -> int:
    """The child to go to, when all moves of `node` have been tried: the largest upper bound for the player to move there."""
    sign = 1 if node.position.to_move == 0 else -1

    def bound(action: int) -> float:
        child = node.children[action]
        return sign * child.total / child.visits + c * math.sqrt(math.log(node.visits) / child.visits)

    return max(node.children, key=bound)


def simulate(root: Node, number: int, choose: Any = choose) -> None:
    """One simulation: down the tree, one new node, a random game from it, and its result to all nodes on the way."""
    path = [root]
    while not path[-1].position.over:
        node = path[-1]
        untried = [action for action in node.position.legal_actions if action not in node.children]
        action = untried[0] if untried else choose(node)
        if untried:
            node.children[action] = Node(node.position.play(action))
        path.append(node.children[action])
        if untried:
            break
    last = path[-1].position
    result = last.result if last.over else playout(last, number)
    for node in path:
        node.visits += 1
        node.total += result or 0


def search(position: Position, simulations: int, simulate: Any = simulate) -> Node:
    """A tree of so many simulations."""
    root = Node(position)
    for turn in range(simulations):
        simulate(root, turn)
    return root


@exercise(
    "03.1",
    "Q + 1.41 * sqrt(ln 100 / n) for each of the three moves; the largest is taken",
    "the bonus of a move with n visits is 1.41 * sqrt(4.605 / n): about 0.39 for 60 visits",
)
def ucb_by_hand(answer: Any) -> bool | str | Mistake:
    bounds = {move: mean + 1.41 * math.sqrt(math.log(100) / visits) for move, (visits, mean) in VISITS.items()}
    given = word(answer, *bounds, what="the name of one of the three moves")
    if given == max(VISITS, key=lambda move: VISITS[move][1]):
        return mistake("never explores", "That is the move with the best mean so far; UCB adds a bonus for what is little known.")
    return given == max(bounds, key=lambda move: bounds[move])


@exercise(
    "03.2",
    "first look for a machine that was never used; only if there is none, compute the bounds",
    "np.log(uses.sum()) is the same for all machines; it is divided by the machine's own uses under the root",
    "np.argmax gives the place of the largest number",
    grade="write",
    instead=ucb1,
)
def which_machine(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes means, uses and c and returns the number of a machine")
    rng, wrong = np.random.default_rng(3), []
    looks_greedy = looks_swapped = True  # over all cases in which every machine was used
    for case in range(40):
        uses, means, c = rng.integers(1, 40, 4), rng.random(4).round(2), float(rng.choice([0.3, 0.7, 1.41]))
        if case % 4 == 0:
            uses[rng.integers(4)] = 0
            means[uses == 0] = 0.0
        given = answer(means.copy(), uses.copy(), c)
        if given is None:
            return "It returns nothing."
        if int(given) != ucb1(means, uses, c):
            wrong.append((means.tolist(), uses.tolist(), c, int(given)))
        if uses.all():
            looks_greedy &= int(given) == int(np.argmax(means))
            looks_swapped &= int(given) == int(np.argmax(means + c * np.sqrt(np.log(uses) / uses.sum())))
    if not wrong:
        return True
    if looks_greedy:
        return mistake("never explores", "It takes the best mean so far; where is the bonus?")
    if looks_swapped:
        return mistake("wrong count")
    if all(0 in uses for _, uses, _, _ in wrong):
        return mistake("never explores")
    means, uses, c, given = wrong[0]
    return f"With means {means}, uses {uses} and c = {c} it takes machine {given}."


def _grown(moves: str, name: str = "tictactoe", simulations: int = 60, **options: Any) -> Node:
    return search(game(name, **options).from_moves(moves), simulations)


def _nodes() -> list[Node]:
    """Nodes whose moves have all been tried, of both players, in tic-tac-toe and in a game with extra turns."""
    roots = [_grown("b2 a1"), _grown("b2 a1 c1"), _grown("aA Aa Ab", "dots_and_boxes", 100, rows=1, cols=2)]
    nodes = [child for root in roots for child in [root, *root.children.values()]]
    return [node for node in nodes if 0 < len(node.children) == len(node.position.legal_actions)]


def _most_visited(node: Node) -> int:
    return max(node.children, key=lambda action: node.children[action].visits)


@exercise(
    "03.3",
    "for each child compute its mean, seen by the player who moves at `node`, and the bonus of UCB1",
    "total counts for the first player: where the second is to move (node.position.to_move == 1) its sign is to be turned",
    "max(node.children, key=...) gives the action with the largest of something",
    grade="write",
    instead=choose,
)
def where_to_go(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes a node and c and returns an action")
    given = {node: answer(node, 1.41) for node in _nodes()}
    if any(action not in node.children for node, action in given.items()):
        return "It has to return the number of an action that node.children has."
    wrong = [node for node, action in given.items() if action != choose(node)]
    if not wrong:
        return True
    if all(node.position.to_move == 1 for node in wrong):
        return mistake(
            "wrong player", "It is right for the first player; the second wants the results that are bad for the first."
        )
    if all(node.position.to_move == 0 for node in wrong):
        return mistake("wrong player", "It is right for the second player; the first wants the results that are good for her.")
    if all(action == _most_visited(node) for node, action in given.items()):
        return mistake("value not visits", "It goes where it has been most often; what is asked for is the largest bound.")
    return f"It is right for {len(given) - len(wrong)} of {len(given)} nodes."


@exercise(
    "03.4",
    "keep the path: a list that begins with the root and grows by one node for each step down",
    "at each node: if a legal action has no child yet, make one for the first such action and stop; otherwise go to choose(node)",
    "a finished position is worth its result; for any other new node call playout(position, number)",
    "every node on the path gets one visit more, and the result added to its total, whoever moves there",
    grade="write",
    instead=simulate,
    may_ask_oracles=False,
)
def one_simulation(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes a root and the number of the simulation, and changes the tree")
    cases = [("tictactoe", "a1 b2 c3", {}), ("tictactoe", "b2 a1 c1 b1", {}), ("dots_and_boxes", "aA Aa", {"rows": 1, "cols": 2})]
    for name, moves, options in cases:
        position = game(name, **options).from_moves(moves)
        for simulations in (1, 2, 30, 200):
            wanted, made = search(position, simulations), search(position, simulations, answer)
            if (outcome := _compared(wanted, made, simulations)) is not True:
                return outcome
    return True


def _compared(wanted: Node, made: Node, simulations: int) -> bool | str | Mistake:
    """Whether two trees are the same at the root and below, or how they differ."""
    after = f"After {simulations} simulation{'s' * (simulations > 1)}"
    if made.visits != wanted.visits:
        return f"{after} the root has {made.visits} visits."
    if not made.children:
        return f"{after} the root has no children."
    if set(made.children) != set(wanted.children):
        return mistake(
            "never explores", f"{after} other moves were tried than there should be: all once, in the order of legal_actions."
        )
    if made.total == -wanted.total != 0:
        return mistake(
            "wrong player", f"{after} the root's total has the wrong sign: results count for the first player everywhere."
        )
    if made.total != wanted.total:
        return f"{after} the root's total is {made.total:g}, where {wanted.total:g} is the sum of the results."
    for action, child in wanted.children.items():
        other = made.children[action]
        if abs(other.total) == abs(child.total) and other.total != child.total and other.visits == child.visits:
            return mistake(
                "wrong player", f"{after} a child's total has the wrong sign: results count for the first player everywhere."
            )
        if (other.visits, other.total, len(other.children)) != (child.visits, child.total, len(child.children)):
            return (
                f"{after} move {wanted.position.game.move_name(action)} has {other.visits} visits and the total {other.total:g}."
            )
    return True


@exercise(
    "03.5",
    "U = cpuct * P * sqrt(N) / (1 + n); a move never tried has n = 0 and Q = 0",
    "first the score Q + U of the move that was tried; then the prior at which 1.25 * P * 10 is as large",
)
def smallest_prior(answer: Any) -> bool | str | Mistake:
    """At N = 100 and cpuct = 1.25 a move with Q = 0.5, n = 49, P = 0.5 is to be overtaken by one that was never tried."""
    given = number(answer)
    score = 0.5 + 1.25 * 0.5 * math.sqrt(100) / 50
    right = score / (1.25 * math.sqrt(100))
    if abs(given - right) < 0.001:
        return True
    if given > 1:
        return mistake("percent for share")
    return f"With this prior the move never tried scores {1.25 * given * 10:.3f}; what must it beat?"


@exercise(
    "03.6",
    "the expected score is 1 / (1 + 10^(-d / 400)); solve for d, or try values",
    "at 0.75 the fraction says 10^(-d / 400) = 1/3",
)
def points_ahead(answer: Any) -> bool | str | Mistake:
    lead = number(answer)
    expected = 1 / (1 + 10 ** (-max(-4000.0, min(4000.0, lead)) / 400))
    if abs(expected - 0.75) < 0.002:
        return True
    if abs(expected - 0.25) < 0.002:
        return mistake("wrong player", "So many points is the other player ahead.")
    return f"With this lead the expected score is {expected:.2f}."


@exercise(
    "03.7",
    'the name of an agent, such as "uct:50"; how many simulations does it need to see every end of tic-tac-toe?',
    "double the number until it does not lose any more, then halve the steps",
    grade="explore",
)
def never_loses(answer: Any) -> bool | str:
    from azlab.arena import match

    if not isinstance(answer, str) or not answer.strip().startswith(("uct", "puct")):
        return "The answer is the name of an agent that searches by UCT or PUCT."
    played = match(answer.strip(), "perfect", games=20, game="tictactoe", openings=0)
    return played.losses == 0 or f"It lost {played.losses} of 20 games."
