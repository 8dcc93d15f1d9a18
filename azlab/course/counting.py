"""How much a function of a student's does: positions that count the moves made from them.

position = counted(azlab.game("tictactoe").start())
value(position)
position.moves_made
"""

from typing import Any

from azlab.games.game import Position


class CountedPosition(Position):
    """A position like any other; it and all that follow from it share one count of the moves made."""

    __slots__ = ("_count",)

    def __init__(self, position: Position, count: list[int] | None = None) -> None:
        super().__init__(position.game, position._state, position.actions, position._start)
        self._count = [0] if count is None else count

    def play(self, move: Any) -> "CountedPosition":
        self._count[0] += 1
        return CountedPosition(super().play(move), self._count)

    @property
    def moves_made(self) -> int:
        """How many moves were made from here or from any position that came of this one."""
        return self._count[0]


def counted(position: Position) -> CountedPosition:
    """`position`, counting from 0."""
    return CountedPosition(position)
