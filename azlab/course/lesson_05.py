"""Exercises on small Go."""

import functools
import itertools
from typing import Any

import numpy as np

from azlab.course import Mistake, exercise, mistake
from azlab.course.answers import function_of, number, whole
from azlab.games import game
from azlab.games.go import Go
from azlab.learning.table_history import TableHistory
from azlab.learning.tabular import MonteCarloControl, learn
from azlab.oracles import oracle
from azlab.oracles.small_go import SmallGoOracle


@exercise("05.1", "3^4 ways to fill the points, less those in which a chain has no liberty")
def legal_positions_of_2x2(answer: Any) -> bool:
    """Counted from the definition, not by playing: every chain of a legal position touches an empty point."""
    neighbours = {0: (1, 2), 1: (0, 3), 2: (0, 3), 3: (1, 2)}

    def lives(points: tuple[int, ...], start: int) -> bool:
        chain, border = {start}, [start]
        while border:
            for point in neighbours[border.pop()]:
                if points[point] == 0:
                    return True
                if points[point] == points[start] and point not in chain:
                    chain.add(point)
                    border.append(point)
        return False

    boards = itertools.product((0, 1, 2), repeat=4)
    return whole(answer) == sum(all(board[k] == 0 or lives(board, k) for k in range(4)) for board in boards)


@functools.cache
def _best_on_3x3() -> tuple[str, ...]:
    position = game("go", size=3, komi=0, ko="positional").start()
    return tuple(oracle(position.game).best_moves(position))


@exercise("05.2", "try the kinds of points: corner, edge, centre; how many points does Black end up with after each?")
def first_move_on_3x3(answer: Any) -> bool:
    game("go", size=3).start().play(answer)  # raises a sentence if it is no move
    return str(answer) in _best_on_3x3()


@exercise("05.3", "the first result does not move the old value a little: N is 1, so how much of the old value is left?")
def value_after_four_games(answer: Any) -> bool:
    q, counts = np.ones((1, 1)), np.zeros((1, 1), np.int32)
    for result in (-1.0, 1.0, -1.0, -1.0):
        learn(np.zeros((1, 2), np.int64), 1, result, 1.0, q, counts)
    return bool(abs(number(answer) - q[0, 0]) < 1e-9)


@exercise("05.4", "who is to move, what lies on each point, and every move including the pass; Python counts as far as you like")
def bytes_on_6x6(answer: Any) -> bool:
    points = 6 * 6
    return whole(answer) == np.dtype(np.float64).itemsize * 2 * 3**points * (points + 1)


@exercise(
    "05.5",
    "does every position come up often enough, and can the table tell apart those in which a different move is best?",
    "epsilon decides how often unlikely positions come up, key what the table can tell apart",
    grade="explore",
)
def perfect_on_2x2(answer: Any) -> bool | str:
    exact = SmallGoOracle(Go(size=2, komi=0))
    if not isinstance(answer, MonteCarloControl) or answer.game != exact.game:
        return 'Hand over a MonteCarloControl of azlab.game("go", size=2, komi=0).'
    if answer.games > 10_000:
        return f"It has learned from {answer.games:,} games; 10,000 have to be enough."
    states = exact.positions()
    rate = TableHistory(answer, states, exact.action_scores(states)).perfect_rate()
    return rate == 1 or f"It keeps the result in {rate:.1%} of the positions that matter."


def monte_carlo(values: dict, counts: dict, path: list, result: float) -> None:
    """After a game: every pair (position, move) of it becomes the mean of all results seen so far."""
    for pair in path:
        counts[pair] = counts.get(pair, 0) + 1
        values[pair] = values.get(pair, 0.0) + (result - values.get(pair, 0.0)) / counts[pair]


@exercise(
    "05.6",
    "for every pair of the path: count it, then move its value; a pair that is not there yet begins with 0",
    "counts.get(pair, 0) is 0 for a pair that is not there; values[pair] moves by (result - values[pair]) / counts[pair]",
    grade="write",
    instead=monte_carlo,
    may_ask_oracles=False,
)
def one_game_of_monte_carlo(answer: Any) -> bool | str | Mistake:
    """Against the mean of the results, kept in lists."""
    function_of(answer, "a function that takes values, counts, a path and a result, and changes the two dictionaries")
    values: dict = {}
    counts: dict = {}
    seen: dict = {}
    games = [(["a1", "b2"], 1), (["a1", "c2"], -1), (["a1", "b2", "c3"], 1), (["c2", "b2"], -1), (["a1"], 0)]
    for moves, result in games:
        path = [(" ".join(moves[:k]), move) for k, move in enumerate(moves)]
        answer(values, counts, list(path), result)
        for pair in path:
            seen.setdefault(pair, []).append(result)
    if counts != {pair: len(results) for pair, results in seen.items()}:
        return "After some games counts does not say how often each pair came up."
    if set(values) != set(seen):
        return "After some games values does not hold every pair that came up."
    if all(abs(values[pair] - np.mean(results)) < 1e-9 for pair, results in seen.items()):
        return True
    if all(abs(values[pair] - results[-1]) < 1e-9 for pair, results in seen.items()):
        return "It keeps the last result; asked for is the mean of all."
    turned = {pair: [(-1) ** len(pair[0].split()) * result for result in results] for pair, results in seen.items()}
    if all(abs(values[pair] - np.mean(results)) < 1e-9 for pair, results in turned.items()):
        return mistake("wrong player", "No sign is turned: the table holds results for Black, and White looks for the smallest.")
    return "After some games the values are not the means of the results."
