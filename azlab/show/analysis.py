"""An `Analysis` for a notebook: the board with each move's share of the search, and a small table."""

import math
from html import escape
from typing import TYPE_CHECKING

from azlab.show.board import draw

if TYPE_CHECKING:
    from azlab.search.analysis import Analysis

SMALLEST_SHARE = 0.1  # moves with less than this part of the best move's share are left out of the picture


def board_with_shares(analysis: "Analysis") -> str:
    """The board as SVG, with a disc on every move that the search looked at."""
    game = analysis.position.game
    picture = game.picture(analysis.position)
    for action, share in enumerate(analysis.shares):
        spot = game.spot(action)
        if share > 0 and share >= SMALLEST_SHARE * analysis.shares.max() and spot is not None:
            picture.share(*spot, float(share))
    return draw(picture, f"{analysis.position.status}; best {analysis.best_move}")


def as_html(analysis: "Analysis") -> str:
    """Board and table side by side; no times, so that stored outputs stay the same."""
    head = "".join(f"<th>{name}</th>" for name in ("move", "visits", "share", "value", "prior", "proven"))
    body = ""
    for name, visits, share, value, prior, proven in analysis.rows():
        shown = "" if math.isnan(value) else f"{value:+.2f}"
        cells = (name, f"{visits:,}", f"{share:.1%}", shown, f"{prior:.3f}", proven)
        body += f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    first = analysis.position.game.seats[0]
    note = f"value {analysis.value:+.3f} for {first}, {analysis.nodes:,} nodes, depth {analysis.depth}"
    line = " ".join(analysis.line) or "-"
    return (
        '<div style="display:flex;gap:1.5em;align-items:flex-start;flex-wrap:wrap">'
        f"<div>{board_with_shares(analysis)}</div><div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{escape(note)}<br>line: {escape(line)}</p></div></div>"
    )
