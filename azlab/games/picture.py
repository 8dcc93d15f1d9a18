"""What a board looks like, without colours: a game lists shapes, `azlab.show.board` draws them.

Coordinates count cells from the top left corner; (0.5, 0.5) is the middle of the first cell.
"""

from dataclasses import dataclass, field
from typing import NamedTuple


class Area(NamedTuple):
    """A part of a picture where a person can click: a rectangle, its top left corner at (x, y)."""

    name: str
    x: float
    y: float
    width: float = 1.0
    height: float = 1.0
    kind: str = "cell"  # cell, point (a crossing of lines), column; across or down: a line through the middle of the area


@dataclass
class Picture:
    """A board as a list of shapes. Each method adds one; the order is the drawing order."""

    width: float
    height: float
    shapes: list[tuple] = field(default_factory=list)

    def square(self, x: float, y: float, size: float = 1.0, style: str = "cell") -> None:
        """A square with its top left corner at (x, y); style: cell, hole (Connect 4), centre, wood, owned0, owned1."""
        self.shapes.append(("square", x, y, size, style))

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str = "grid") -> None:
        """A straight line; style: grid, faint (not drawn yet), drawn, last, strike (through a winning row)."""
        self.shapes.append(("line", x1, y1, x2, y2, style))

    def stone(self, x: float, y: float, seat: int, last: bool = False, style: str = "disc") -> None:
        """A piece of a seat centred at (x, y), marked if it was played last; style: disc, mark (X and O), go."""
        self.shapes.append(("stone", x, y, seat, last, style))

    def dot(self, x: float, y: float, radius: float) -> None:
        """A small dot: a star point, a corner of a box."""
        self.shapes.append(("dot", x, y, radius))

    def share(self, x: float, y: float, share: float) -> None:
        """A move's share of a search, 0 to 1, as a disc whose area shows it and a number in percent."""
        self.shapes.append(("share", x, y, share))

    def label(self, x: float, y: float, text: str, style: str = "coordinate") -> None:
        """Text centred at (x, y); style: coordinate or owner (a letter inside a box)."""
        self.shapes.append(("label", x, y, text, style))
