"""Rectangular boards: the names of their cells and their symmetries. Cells are numbered row by row from the top left."""

import re
import string
from collections.abc import Sequence

import numpy as np

from azlab.errors import AzlabError
from azlab.games.picture import Picture

GO_LETTERS = string.ascii_lowercase.replace("i", "")  # Go leaves out the letter i


def cell_name(cell: int, rows: int, cols: int, letters: Sequence[str] = string.ascii_lowercase) -> str:
    """Column letter and row number, row 1 at the bottom: "a1" is the lower left corner."""
    return f"{letters[cell % cols]}{rows - cell // cols}"


def transformations(rows: int, cols: int) -> list[tuple[str, np.ndarray]]:
    """The symmetries of a rows x cols board as (name, image of each cell), the identity first.

    Eight for a square board, four for another rectangle.
    """
    cells = np.arange(rows * cols).reshape(rows, cols)
    named = [
        ("identity", cells),
        ("half turn", np.rot90(cells, 2)),
        ("mirror left-right", cells[:, ::-1]),
        ("mirror top-bottom", cells[::-1]),
    ]
    if rows == cols:
        named += [
            ("quarter turn left", np.rot90(cells, 1)),
            ("quarter turn right", np.rot90(cells, 3)),
            ("main diagonal", cells.T),
            ("other diagonal", np.rot90(cells, 2).T),
        ]
    # `moved[i]` is the cell whose content arrives at place i; the image of a cell is the inverse of that
    return [(name, np.argsort(moved.ravel())) for name, moved in named]


def cells_picture(rows: int, cols: int, row_names: list[str] | None = None, col_names: list[str] | None = None) -> Picture:
    """An empty board of square cells with coordinates at the left and below."""
    picture = Picture(cols, rows)
    for row in range(rows):
        for col in range(cols):
            picture.square(col, row)
    for row in range(rows):
        picture.label(-0.35, row + 0.5, row_names[row] if row_names else str(rows - row))
    for col in range(cols):
        picture.label(col + 0.5, rows + 0.35, col_names[col] if col_names else string.ascii_lowercase[col])
    return picture


def read_diagram(diagram: str, rows: int, cols: int) -> str:
    """The rows x cols marks X, O and . of a drawn board, row by row from the top.

    What `Position.text` prints can be pasted: row names at the left, column names and the last move's brackets are left out.
    """
    found = []
    for line in diagram.strip().splitlines():
        marks = re.sub(r"[\s()]", "", re.sub(r"^\s*([0-9]+|[A-I])", "", line))
        if marks and set(marks) <= set("XO."):
            found.append(marks)
    if len(found) != rows or any(len(marks) != cols for marks in found):
        raise AzlabError(f"A diagram of this board has {rows} lines of {cols} marks, each X, O or a dot.")
    return "".join(found)
