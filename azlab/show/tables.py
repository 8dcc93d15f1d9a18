"""Pictures of what a table has learned: numbers on a board, and the lines of figures 6.1 and 6.2 of source S2."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Position
from azlab.show.board import draw
from azlab.show.board_row import in_rows

if TYPE_CHECKING:
    from azlab.learning.table_history import TableHistory


PLATE = 0.92  # side of the square under a number, so that no line of the board runs through it; a part of the way to the next one
GAP = 12  # pixels between two boards


class Board:
    """A board with numbers on it, for a notebook; as text it is a line."""

    def __init__(self, svg: str, line: str) -> None:
        self.svg, self.line = svg, line

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": self.line}

    def __repr__(self) -> str:
        return self.line


def move_values(position: Position, values: Mapping[str, float], title: str = "", form: str = "+.2f") -> Board:
    """The board of `position` with the value of each move on its point; those without a point, such as a pass, stand below.

    A zero before the decimal point is left out, for want of room.
    """
    picture = position.game.picture(position)
    words = {move: "" if np.isnan(value) else re.sub(r"\b0\.", ".", f"{value:{form}}") for move, value in values.items()}
    spots = {move: position.game.spot(position.game.action(move)) for move in words}
    plate = PLATE * _spacing([spot for spot in spots.values() if spot is not None])
    below = []
    for move, word in words.items():
        spot = spots[move]
        if spot is None:
            below.append(f"{move} {word}")
        else:
            picture.square(spot[0] - plate / 2, spot[1] - plate / 2, plate)
            picture.label(*spot, word)
    caption = ": ".join(part for part in (title, ", ".join(below)) if part)
    line = ", ".join(f"{move} {word or '-'}" for move, word in words.items())
    return Board(draw(picture, caption), f"{title}: {line}" if title else line)


def _spacing(spots: Sequence[tuple[float, float]]) -> float:
    """How large squares around these spots may be without overlapping, at most 1; lines of boxes are half a cell apart."""
    places = np.unique(np.array(spots).reshape(-1, 2), axis=0)
    apart = np.abs(places[:, None] - places[None]).max(axis=2)
    return float(min(1.0, apart[apart > 0].min(initial=1.0)))


def beside(*boards: Board | Position) -> Board:
    """Boards next to each other as one picture."""
    lines = [repr(board) for board in boards]
    return Board(in_rows([board.svg for board in boards], "; ".join(lines), len(boards), GAP), "\n".join(lines))


def value_lines(history: "TableHistory", upto: Sequence[int], pairs: int = 1000, seed: int = 0) -> Any:
    """A figure with a panel for each number of games in `upto`: the values over time of `pairs` pairs, or of all."""
    from matplotlib.figure import Figure

    if not history.games:
        raise AzlabError("This history is empty; run it first.")
    q, games = history.q, np.array(history.games)
    chosen = np.sort(np.random.default_rng(seed).permutation(q.shape[1])[:pairs])
    figure = Figure(figsize=(3.6 * len(upto), 3.0), layout="constrained")
    for axes, last in zip(figure.subplots(1, len(upto), squeeze=False, sharey=True)[0], upto, strict=True):
        shown = games <= last
        axes.plot(games[shown], q[shown][:, chosen], linewidth=0.6, alpha=0.5)
        axes.set(title=f"{last:,} games", xlabel="games", xlim=(0, last), ylim=(-1.05, 1.05))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value < 1e6 else f"{value / 1e6:g} M")
        axes.locator_params(axis="x", nbins=3)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("Q(s, a), for Black")
    return figure
