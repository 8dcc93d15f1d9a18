"""Perfect Dots and Boxes: a table with the value of every set of drawn lines.

Who won the boxes so far does not matter for what is best from here on, so a position is the set of its drawn lines: one bit a
line (bit k is action k), 2**24 sets for 3x3 boxes. The table holds, for each set, by how many of the remaining boxes the
player to move comes out ahead, one byte each. A move adds a bit, so from the full board downwards the sets after every move
are known ("retrograde analysis").

Of a larger board the last MAX_ENDGAME lines are solved in the same way, as a table of the sets of these lines (`endgame_scores`).

The table of 3x3 boxes takes 16 MB and 1 to 3 s to make; the largest, of 27 lines (2x5 boxes), 128 MB and 10 to 20 s. It is kept
in ~/.cache/azlab/oracles (or under XDG_CACHE_HOME).
"""

import contextlib
import os
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from azlab.errors import AzlabError
from azlab.files import make_own_folder, user_cache
from azlab.games.dots_and_boxes import DotsAndBoxes, cell_of_action
from azlab.games.game import Position
from azlab.games.kernel import kernel
from azlab.oracles.oracle import Oracle

MAX_LINES = 27  # 2**27 bytes; the next board, 3x4 boxes with 31 lines, would take 2 GB
MAX_ENDGAME = 22  # lines of an endgame: 4 MB and about half a second
NO_BOX = -1  # as a set it has every bit, more than any board has lines, so it is never complete
ILLEGAL = -128
CHUNK = 1 << 20  # sets between two reports of progress


def sides_of_box(row: int, col: int) -> list[tuple[int, int]]:
    """The cells of the four lines around a box in the matrix of lines."""
    return [(2 * row, col), (2 * row + 1, col), (2 * row + 1, col + 1), (2 * row + 2, col)]


def boxes_of_lines(rows: int, cols: int) -> np.ndarray:
    """The boxes beside each line, as sets of their four lines: int64 [lines, 2], NO_BOX where the board ends."""
    beside: list[list[int]] = [[] for _ in range(rows * (cols + 1) + (rows + 1) * cols)]
    action_at = {cell_of_action(action, cols): action for action in range(len(beside))}
    for row, col in np.ndindex(rows, cols):
        lines = [action_at[side] for side in sides_of_box(row, col)]
        for line in lines:
            beside[line].append(sum(1 << other for other in lines))
    return np.array([(boxes + [NO_BOX, NO_BOX])[:2] for boxes in beside], np.int64)


@kernel
def boxes_won(drawn, line, boxes):
    """How many boxes line `line` completes; `drawn` is the set of lines with it."""
    return np.int64(drawn & boxes[line, 0] == boxes[line, 0]) + np.int64(drawn & boxes[line, 1] == boxes[line, 1])


@kernel
def margin_after(table, drawn, line, boxes):
    """The margin, from here on, of a player who draws `line` in the set `drawn` and then plays perfectly."""
    after = drawn | (1 << line)
    won = boxes_won(after, line, boxes)
    return won + table[after] if won else -np.int64(table[after])  # who wins a box moves again


@kernel
def fill(table, boxes, first, last):
    """Write the margins of the sets `last`, `last - 1`, ..., `first`; those above `last` are known."""
    for drawn in range(last, first - 1, -1):
        best = ILLEGAL
        for line in range(len(boxes)):
            if not drawn >> line & 1:
                best = max(best, margin_after(table, drawn, line, boxes))
        table[drawn] = best


@kernel
def margins(table, boxes, drawn, per_line):
    """The margin of the player to move after each line, into `per_line` int64 [B, lines]; ILLEGAL where it is drawn."""
    for i in range(len(drawn)):
        for line in range(len(boxes)):
            if drawn[i] >> line & 1:
                per_line[i, line] = ILLEGAL
            else:
                per_line[i, line] = margin_after(table, drawn[i], line, boxes)


def build(rows: int, cols: int, progress: Callable[[float], None] | None = None) -> np.ndarray:
    """The table of a board: int8 [2 ** lines]. `progress` is told the share done, from 0 to 1."""
    boxes = boxes_of_lines(rows, cols)
    full = (1 << len(boxes)) - 1
    table = np.zeros(full + 1, np.int8)  # the last entry stays: no line left, no box to win
    for last in range(full - 1, -1, -CHUNK):
        first = max(last - CHUNK + 1, 0)
        fill(table, boxes, first, last)
        if progress is not None:
            progress(1 - first / full)
    return table


def endgame_scores(position: Position) -> np.ndarray:
    """The final margin for seat 0 after each action, float64 [A], NaN where illegal; on boards of any size."""
    game, state = position.game, position.state
    if not isinstance(game, DotsAndBoxes) or not 1 <= len(position.legal_actions) <= MAX_ENDGAME:
        raise AzlabError(f"An endgame is a position of Dots and Boxes with 1 to {MAX_ENDGAME} lines to draw.")
    open_lines = position.legal_actions
    place = {line: k for k, line in enumerate(open_lines)}
    action_at = {cell_of_action(action, game.cols): action for action in range(game.num_actions)}
    boxes = np.full((len(open_lines), 2), NO_BOX, np.int64)
    for row, col in np.ndindex(game.rows, game.cols):
        sides = [action_at[side] for side in sides_of_box(row, col)]
        left = [place[line] for line in sides if line in place]
        for line in left:
            boxes[line, int(boxes[line, 0] != NO_BOX)] = sum(1 << other for other in left)
    table = np.zeros(1 << len(open_lines), np.int8)
    fill(table, boxes, 0, len(table) - 2)
    per_line = np.empty((1, len(open_lines)), np.int64)
    margins(table, boxes, np.zeros(1, np.int64), per_line)
    lead = float(state["boxes"][0, 0]) - float(state["boxes"][0, 1])
    scores = np.full(game.num_actions, np.nan)
    scores[open_lines] = lead + (1 - 2 * position.to_move) * per_line[0]
    return scores


# --- the file ---------------------------------------------------------------------------------------------------


def table_path(rows: int, cols: int) -> Path | None:
    """Where the table of a board is kept; None where there is no home folder."""
    cache = user_cache()
    return None if cache is None else cache / "oracles" / f"dots_and_boxes_{rows}x{cols}.npy"


def checksum(table: np.ndarray) -> bytes:
    """The four bytes that follow a table in its file."""
    return zlib.crc32(table.data).to_bytes(4, "little")


def load(path: Path, length: int) -> np.ndarray | None:
    """The table in a file, mapped into memory and read-only; None if there is none or it is damaged."""
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
        with open(path, "rb") as file:
            file.seek(-4, os.SEEK_END)
            stored_checksum = file.read()
    except Exception:  # numpy has many words for a damaged file
        return None
    if table.dtype != np.int8 or table.shape != (length,) or checksum(table) != stored_checksum:
        return None
    return table


def save(path: Path, table: np.ndarray) -> None:
    """Write a table aside and then rename it, so that nobody reads half a file. Where none can be written, none is."""
    with contextlib.suppress(OSError):
        make_own_folder(path.parent)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
            try:
                np.save(file, table, allow_pickle=False)
                file.write(checksum(table))
                file.close()
                os.replace(file.name, path)
            except OSError:
                os.unlink(file.name)
                raise


class DotsAndBoxesOracle(Oracle):
    """Perfect Dots and Boxes. Values are the margin in boxes at the end of the game, for seat 0."""

    game: DotsAndBoxes

    def __init__(self, game: DotsAndBoxes, progress: Callable[[float], None] | None = None) -> None:
        if game.num_actions > MAX_LINES:
            raise AzlabError(
                f"{game.rows}x{game.cols} boxes have {game.num_actions} lines, too many for a table of perfect play; "
                f"boards of up to {MAX_LINES} lines have one, such as 3x3 or 2x5."
            )
        self.game = game
        self.boxes = boxes_of_lines(game.rows, game.cols)
        path = table_path(game.rows, game.cols)
        table = load(path, 1 << game.num_actions) if path is not None else None
        if table is None:
            table = build(game.rows, game.cols, progress)
            if path is not None:
                save(path, table)
            table.flags.writeable = False  # as if it had been loaded
        self.table = table  # int8 [2 ** lines]: margin of the boxes to come, for the player to move
        cells = [cell_of_action(action, game.cols) for action in range(game.num_actions)]
        self._cells = tuple(np.array(cells, np.int64).T)

    def values(self, states: np.ndarray) -> np.ndarray:
        return self._lead(states) + self._sign(states) * self.table[self._drawn(states)]

    def action_scores(self, states: np.ndarray) -> np.ndarray:
        drawn = self._drawn(states)
        per_line = np.empty((len(states), self.game.num_actions), np.int64)
        margins(self.table, self.boxes, drawn, per_line)
        scores = self._lead(states)[:, None] + self._sign(states)[:, None] * per_line
        return np.where(per_line == ILLEGAL, np.nan, scores)

    def _drawn(self, states: np.ndarray) -> np.ndarray:
        """The drawn lines of each state as a set, int64 [B]."""
        self.check_states(states)
        rows, cols = self._cells
        return states["lines"][:, rows, cols].astype(np.int64) @ (1 << np.arange(self.game.num_actions))

    def _lead(self, states: np.ndarray) -> np.ndarray:
        return states["boxes"][:, 0].astype(np.float64) - states["boxes"][:, 1]

    def _sign(self, states: np.ndarray) -> np.ndarray:
        return 1 - 2 * states["to_move"].astype(np.int64)
