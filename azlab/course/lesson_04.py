"""Exercises on values: of a policy, of perfect play, learned by TD(0) and by Q-learning. `use` hands out the functions on top."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from azlab.course import Mistake, exercise, mistake
from azlab.course.answers import function_of, number
from azlab.course.small_game import SmallGame
from azlab.games import game

Policy = list[dict[str, float]]  # for each position the probabilities of its moves


def values_of(policy: Policy, small: SmallGame) -> list[float]:
    """V of every position for the first player, if both players move by `policy`."""
    values = [0.0] * len(small)
    for s in reversed(range(len(small))):
        if small.result[s] is not None:
            values[s] = float(small.result[s] or 0)
        else:
            values[s] = sum(policy[s][move] * values[after] for move, after in small.children[s].items())
    return values


def greedy(values: list[float], small: SmallGame) -> Policy:
    """The policy that always takes the move to the best value, the first of several."""
    policy: Policy = []
    for s in range(len(small)):
        moves = small.children[s]
        best = None
        if moves:
            pick = max if small.to_move[s] == 0 else min
            best = pick(moves, key=lambda move: values[moves[move]])
        policy.append({move: float(move == best) for move in moves})
    return policy


def td_update(values: list[float], s: int, after: int, alpha: float, small: SmallGame) -> None:
    """TD(0): move V(s) towards the value of the position after it; a finished one is worth its result."""
    target = values[after] if small.result[after] is None else small.result[after]
    values[s] += alpha * ((target or 0.0) - values[s])


def q_update(q: list[dict[str, float]], s: int, move: str, after: int, alpha: float, small: SmallGame) -> None:
    """Q-learning: move Q(s, move) towards the best value after it, seen by whoever is to move there."""
    if small.result[after] is not None:
        target = float(small.result[after] or 0)
    else:
        target = (max if small.to_move[after] == 0 else min)(q[after].values())
    q[s][move] += alpha * (target - q[s][move])


def uniform(small: SmallGame) -> Policy:
    """Every move as likely as every other."""
    return [{move: 1 / len(moves) for move in moves} for moves in small.children]


@cache
def _examples() -> tuple[SmallGame, ...]:
    """An ending of tic-tac-toe, and a board of boxes, where a player may move twice in a row."""
    boxes = game("dots_and_boxes", rows=1, cols=2)
    return SmallGame(game("tictactoe").from_moves("b2 b1 a1 c3")), SmallGame(boxes.from_moves("aA Aa"))


def _some_policy(small: SmallGame, seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    weights = [rng.random(len(moves)) + 0.05 for moves in small.children]
    return [dict(zip(moves, (w / w.sum()).tolist())) for moves, w in zip(small.children, weights)]


def _by_equations(policy: Policy, small: SmallGame) -> np.ndarray:
    """V of a policy as the solution of a system of linear equations, one for each position."""
    matrix, right = np.eye(len(small)), np.zeros(len(small))
    for s, moves in enumerate(small.children):
        right[s] = small.result[s] or 0
        for move, after in moves.items():
            matrix[s, after] -= policy[s][move]
    return np.linalg.solve(matrix, right)


@exercise(
    "04.1",
    "positions come before those that follow from them, so go through the numbers from the last to the first",
    "a finished position is worth small.result[s]; any other the mean of its children's values, weighted by the policy",
    "sum(policy[s][move] * values[after] for move, after in small.children[s].items())",
    grade="write",
    instead=values_of,
    may_ask_oracles=False,
)
def value_of_a_policy(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes a policy and a small game and returns a list of values")
    for small in _examples():
        for policy in (uniform(small), _some_policy(small, 1)):
            given = answer(policy, small)
            if given is None or len(given) != len(small):
                return "It has to return a list with a value for each position."
            values, right = np.array(given, float), _by_equations(policy, small)
            if np.allclose(values, right, atol=1e-9):
                continue
            if np.allclose(values, -right) or np.allclose(values, right * (1 - 2 * np.array(small.to_move))):
                return mistake("wrong player")
            ends = [s for s in range(len(small)) if small.result[s] is not None]
            if not np.allclose(values[ends], right[ends]):
                return mistake("bootstrapped end")
            if np.allclose(values, _by_equations(uniform(small), small)):
                return "It takes all moves as equally likely; the policy says how likely each is."
            return f"For {small.positions[0]!r} it says {values[0]:+.3f}."
    return True


@exercise(
    "04.2",
    "O is to move: which of the three moves is best for O?",
    "with 0.8 the best move, with 0.2 any of the three, each as likely: 0.8 times one value plus 0.2 times a mean",
)
def value_with_mistakes(answer: Any) -> bool | str | Mistake:
    values, share = (1.0, 0.0, -0.5), 0.2
    mean, given = sum(values) / 3, number(answer)
    if abs(given - ((1 - share) * max(values) + share * mean)) < 2e-3:
        return mistake("wrong player", "That is right for X; O, who is to move, wants the smallest value.")
    if abs(given - ((1 - share) * min(values) + share * (sum(values) - min(values)) / 2)) < 2e-3:
        return "A random move may also happen to be the best one."
    return abs(given - ((1 - share) * min(values) + share * mean)) < 2e-3


@exercise(
    "04.3",
    "for each position look at the values of its children; the first player takes the largest, the second the smallest",
    "max(moves, key=lambda move: values[moves[move]]) is the best move for the first player, where moves is small.children[s]",
    "the policy is a list of dictionaries: 1.0 for the best move, 0.0 for all others; an empty one where the game is over",
    grade="write",
    instead=greedy,
    may_ask_oracles=False,
)
def best_by_values(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes values and a small game and returns a policy")
    for small in _examples():
        values = values_of(_some_policy(small, 2), small)
        given = answer(list(values), small)
        if given is None or len(given) != len(small) or any(set(g) != set(m) for g, m in zip(given, small.children)):
            return "It has to return a list with a dictionary for each position: a probability for each of its moves."
        if any(abs(sum(given[s].values()) - 1) > 1e-9 for s in small.going_on):
            return "The probabilities of a position's moves have to add up to 1."
        signs = [1 if small.to_move[s] == 0 else -1 for s in range(len(small))]
        taken = {s: sum(p * values[small.children[s][m]] for m, p in given[s].items()) for s in small.going_on}
        best = {s: max(signs[s] * values[after] for after in small.children[s].values()) for s in small.going_on}
        wrong = [s for s in small.going_on if abs(signs[s] * taken[s] - best[s]) > 1e-9]
        if wrong and len({small.to_move[s] for s in wrong}) == 1:
            return mistake(
                "wrong player", f"It is right for one player only: {small.positions[wrong[0]].status}, and the move is not best."
            )
        if wrong:
            return f"In {len(wrong)} of {len(small.going_on)} positions it does not take a best move."
    return True


@exercise(
    "04.4",
    "the target is the value of the position after the move, unless the game is over there",
    "values[s] += alpha * (target - values[s])",
    grade="write",
    instead=td_update,
    may_ask_oracles=False,
)
def one_step_of_td(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function of values, s, after, alpha and small, which changes values[s]")

    def bootstrapping(values: list[float], s: int, after: int, alpha: float, small: SmallGame) -> None:
        values[s] += alpha * (values[after] - values[s])

    def turning(values: list[float], s: int, after: int, alpha: float, small: SmallGame) -> None:
        target = values[after] if small.result[after] is None else small.result[after] or 0
        values[s] += alpha * (-target - values[s])

    wrong = [
        (bootstrapping, mistake("bootstrapped end")),
        (turning, mistake("wrong player", "No sign is turned: all values are X's.")),
    ]
    return _updates(lambda values, s, move, after, small: answer(values, s, after, 0.3, small), td_update, wrong, False)


@exercise(
    "04.5",
    "write down the three values after the first game: which of them has changed?",
    "in the second game the middle position learns from the value that the last one got in the first",
)
def two_games_of_td(answer: Any) -> bool | str | Mistake:
    """By doing it: three positions in a row, a win at the end, twice."""
    values, alpha = [0.0, 0.0, 0.0], 0.5
    for _ in range(2):
        for s in range(3):
            values[s] += alpha * ((1.0 if s == 2 else values[s + 1]) - values[s])
    if abs(number(answer) - 0.75) < 1e-9:
        return "So much has the last position, or the middle one if it learned from the result itself, as Monte Carlo does."
    return abs(number(answer) - values[1]) < 1e-9


@exercise(
    "04.6",
    "the target is the result if the game is over, and otherwise the best of q[after]; best for whom?",
    "max(q[after].values()) where the first player is to move after the move, min where the second is: ask small.to_move[after]",
    grade="write",
    instead=q_update,
    may_ask_oracles=False,
)
def one_step_of_q_learning(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function of q, s, move, after, alpha and small, which changes q[s][move]")

    def always_max(q: Any, s: int, move: str, after: int, alpha: float, small: SmallGame) -> None:
        target = small.result[after] if small.result[after] is not None else max(q[after].values())
        q[s][move] += alpha * ((target or 0) - q[s][move])

    def by_who_moved(q: Any, s: int, move: str, after: int, alpha: float, small: SmallGame) -> None:
        pick = max if small.to_move[s] == 0 else min
        target = small.result[after] if small.result[after] is not None else pick(q[after].values())
        q[s][move] += alpha * ((target or 0) - q[s][move])

    def alternating(q: Any, s: int, move: str, after: int, alpha: float, small: SmallGame) -> None:
        pick = min if small.to_move[s] == 0 else max
        target = small.result[after] if small.result[after] is not None else pick(q[after].values())
        q[s][move] += alpha * ((target or 0) - q[s][move])

    wrong = [
        (
            always_max,
            mistake("wrong player", "After the move the other player chooses, and the second one chooses the smallest value."),
        ),
        (
            by_who_moved,
            mistake("wrong player", "It takes the best for whoever moved; asked for is who is to move after the move."),
        ),
        (alternating, mistake("turns alternate")),
    ]
    return _updates(lambda q, s, move, after, small: answer(q, s, move, after, 0.3, small), q_update, wrong, True)


def _updates(answer: Callable[..., Any], right: Callable[..., Any], wrong: list[tuple[Any, Mistake]], has_moves: bool) -> Any:
    """Whether `answer` changes random tables as `right` does at every step; if not, which of the `wrong` functions does."""

    def table(small: SmallGame, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        if has_moves:
            return [{move: float(rng.uniform(-1, 1)) for move in moves} for moves in small.children]
        return rng.uniform(-1, 1, len(small)).tolist()

    def changed(update: Callable[..., Any], small: SmallGame, s: int, move: str, after: int, seed: int) -> Any:
        made = table(small, seed)
        update(made, s, *([move] if has_moves else []), after, 0.3, small)
        return made

    steps = [
        (small, s, move, after) for small in _examples() for s in small.going_on[:60] for move, after in small.children[s].items()
    ]
    given, fits = [], [True] * len(wrong)
    for seed, (small, s, move, after) in enumerate(steps):
        made = table(small, seed)
        answer(made, s, move, after, small)
        given.append(_close(made, changed(right, small, s, move, after, seed)))
        for k, (update, _) in enumerate(wrong):
            fits[k] &= _close(made, changed(update, small, s, move, after, seed))
    if all(given):
        return True
    for k, (_, named) in enumerate(wrong):
        if fits[k]:
            return named
    ends = [small.result[after] is not None for small, _, _, after in steps]
    if all(fine or at_end for fine, at_end in zip(given, ends)):
        return mistake("bootstrapped end")
    return f"It is right for {sum(given)} of {len(given)} moves that were tried."


def _close(one: Any, other: Any) -> bool:
    flat = [list(row.values()) if isinstance(row, dict) else [row] for row in (*one, *other)]
    half = len(flat) // 2
    return bool(np.allclose(np.concatenate(flat[:half]), np.concatenate(flat[half:]), atol=1e-9))
