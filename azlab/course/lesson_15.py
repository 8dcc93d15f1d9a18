"""Exercises on Seega: full boards, gates and chance, numbers of actions, a long capture, the rule of capturing."""

import itertools
import math
from typing import Any

import numpy as np

from azlab.course import exercise
from azlab.games.seega import Seega

TEST_BOARD = "OXO.O\nXOXXO\nXO.XO\nXOXOX\nXO.XO"


@exercise("15.1", "24 cells are filled, 12 of them with black stones: in how many ways can these be chosen?")
def full_boards(answer: Any) -> bool | str:
    """By a sum over the stones in the upper twelve cells."""
    number = sum(math.comb(12, k) ** 2 for k in range(13))
    if answer == math.comb(25, 12):
        return "The centre stays empty."
    return bool(answer == number)


@exercise("15.2", "add up the chances of k, k + 1, ..., 70 wins, and multiply by the number of matches")
def a_gate_against_chance(answer: Any) -> bool | str:
    expected = lambda least: 111 * sum(math.comb(70, k) for k in range(least, 71)) / 2**70  # noqa: E731
    least = next(k for k in range(71) if expected(k) < 1)
    if isinstance(answer, int) and 0 <= answer <= 70 and answer != least:
        return f"With {answer} wins or more a coin would have {expected(answer):.2g} versions accepted."
    return bool(answer == least)


@exercise("15.3", "divide by four: the cell is the quotient, the direction the rest")
def action_45(answer: Any) -> bool | str:
    if not isinstance(answer, str):
        return "The answer is the name of a move, such as D3-up."
    if answer.lower() == "c2-right":
        return "The cell is right; which direction has number 1?"
    return answer.lower() == "c2-down"


@exercise("15.4", "begin by stepping away from what you want to take")
def five_stones(answer: Any) -> bool | str:
    start = position = Seega().from_diagram(TEST_BOARD)
    for move in answer.split():
        if position.to_move != start.to_move:
            return f"Before {move} it is White's turn: the stone could capture no more."
        position = position.play(move)
    taken = int(start.state["stones"][0, 1]) - int(position.state["stones"][0, 1])
    return taken == 5 or f"These moves take {taken} {'stone' if taken == 1 else 'stones'}."


@exercise("15.5", "look two cells far in each of the four directions, and mind the edge")
def what_a_step_captures(answer: Any) -> bool | str:
    """Against a board with a rim of two empty cells, on which no edge has to be minded."""
    rng = np.random.default_rng(15)
    for board in rng.choice([1, -1, 0], (300, 5, 5), p=[0.45, 0.35, 0.2]):
        row, col = (int(at) for at in rng.integers(0, 5, 2))
        board[row, col] = 1
        wide = np.pad(board, 2)
        ways = [(down, right) for down, right in itertools.product((-1, 0, 1), repeat=2) if abs(down) + abs(right) == 1]
        lines = {way: [wide[row + 2 + k * way[0], col + 2 + k * way[1]] for k in (1, 2)] for way in ways}
        right = {(row + a, col + b) for (a, b), line in lines.items() if line == [-1, 1]}
        given = {(int(a), int(b)) for a, b in answer(board.copy(), row, col)}
        if given != right:
            return f"On {board.tolist()} with the stone on row {row}, column {col} it names other cells than the rules do."
    return True
