"""Exercises on small Go."""

import functools
import itertools
from typing import Any

import numpy as np

from azlab.course import exercise
from azlab.course.answers import number, whole
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
