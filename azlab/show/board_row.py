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
        sizes = [tuple(float(svg.split(f' {side}="', 1)[1].split('"', 1)[0]) for side in ("width", "height")) for svg in drawn]
        width, height = (max(size) + GAP for size in zip(*sizes))
        parts = []
        for number, (svg, size) in enumerate(zip(drawn, sizes)):
            row, column = divmod(number, self.columns)
            parts.append(
                svg.replace("<svg ", f'<svg x="{width * column + (width - GAP - size[0]) / 2:g}" y="{height * row:g}" ', 1)
            )
        rows = -(-len(drawn) // self.columns)
        across, down = width * self.columns - GAP, height * rows - GAP
        title = escape("; ".join(self.captions))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{across:g}" height="{down:g}" viewBox="0 0 {across:g} {down:g}" '
            f'role="img"><title>{title}</title>{"".join(parts)}</svg>'
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<{len(self.positions)} boards: {'; '.join(self.captions)}>"


def boards(positions: Iterable[Position], captions: Sequence[str] = (), columns: int = 5) -> Boards:
    """The positions side by side, `columns` in a row; without captions each says whose turn it is or who won."""
    return Boards(positions, captions, columns)
