"""Several boards beside each other, each with a caption: afterstates, mistakes, the steps of a game.

azlab.show.boards([position.play(move) for move in position.legal_moves], position.legal_moves)
"""

from collections.abc import Iterable, Sequence
from html import escape

from azlab.errors import AzlabError
from azlab.games.game import Position
from azlab.show.board import draw

GAP = 8  # pixels between two boards


class Boards:
    """A row of boards, broken after `columns` of them; Jupyter shows it as one SVG picture."""

    def __init__(self, positions: Iterable[Position], captions: Sequence[str] = (), columns: int = 5) -> None:
        self.positions = list(positions)
        self.captions = list(captions) or [position.status for position in self.positions]
        if not self.positions or len(self.captions) != len(self.positions) or columns < 1:
            raise AzlabError("boards() takes at least one position, and a caption for each or none at all.")
        self.columns = min(columns, len(self.positions))

    @property
    def svg(self) -> str:
        """All boards as one self-contained SVG text."""
        drawn = [draw(position.game.picture(position), text) for position, text in zip(self.positions, self.captions)]
        return in_rows(drawn, "; ".join(self.captions), self.columns, GAP)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<{len(self.positions)} boards: {'; '.join(self.captions)}>"


def in_rows(pictures: Sequence[str], title: str, columns: int, gap: float) -> str:
    """SVG pictures as one, `columns` in a row; a column is as wide as its widest picture, a row as high as its highest."""
    sizes = [tuple(float(svg.split(f' {side}="', 1)[1].split('"', 1)[0]) for side in ("width", "height")) for svg in pictures]
    widths = [max(width for width, _ in sizes[column::columns]) for column in range(columns)]
    heights = [max(height for _, height in sizes[start : start + columns]) for start in range(0, len(sizes), columns)]
    parts = []
    for number, (svg, size) in enumerate(zip(pictures, sizes)):
        row, column = divmod(number, columns)
        x = sum(widths[:column]) + gap * column + (widths[column] - size[0]) / 2
        parts.append(svg.replace("<svg ", f'<svg x="{x:g}" y="{sum(heights[:row]) + gap * row:g}" ', 1))
    across, down = sum(widths) + gap * (len(widths) - 1), sum(heights) + gap * (len(heights) - 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across:g}" height="{down:g}" viewBox="0 0 {across:g} {down:g}" '
        f'role="img"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def boards(positions: Iterable[Position], captions: Sequence[str] = (), columns: int = 5) -> Boards:
    """The positions side by side, `columns` in a row; without captions each says whose turn it is or who won."""
    return Boards(positions, captions, columns)
