"""Exercises on small Go."""

import functools
import itertools
from typing import Any

from azlab.course import exercise
from azlab.games import game
from azlab.oracles import oracle


@exercise("03.1", "3^4 ways to fill the points, less those in which a chain has no liberty")
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
    return answer == sum(all(board[k] == 0 or lives(board, k) for k in range(4)) for board in boards)


@functools.cache
def _best_on_3x3() -> tuple[str, ...]:
    position = game("go", size=3, komi=0, ko="positional").start()
    return tuple(oracle(position.game).best_moves(position))


@exercise("03.2", "try the kinds of points: corner, edge, centre; how many points does Black end up with after each?")
def first_move_on_3x3(answer: Any) -> bool:
    game("go", size=3).start().play(answer)  # raises a sentence if it is no move
    return str(answer) in _best_on_3x3()
