"""How a Go board looks and where its handicap stones go; for people, not for speed. Shared by `go` and `simple_go`."""

import functools

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.games import grid
from azlab.games.game import Game, Position, Symmetry
from azlab.games.picture import Area, Picture
from azlab.games.stones import EMPTY, empty_board, look_at, points
from azlab.games.validity import Faults, other_options


def star_lines(size: int) -> list[int]:
    """The lines, counted from 0, on whose crossings the star points lie: low, (middle), high."""
    if size < 7:
        return [size // 2] if size % 2 and size > 3 else []
    low = 3 if size >= 12 else 2
    return [low, size // 2, size - 1 - low] if size % 2 and size > 7 else [low, size - 1 - low]


def handicap_cells(size: int, stones: int) -> list[int]:
    """The cells of a fixed handicap as the Go Text Protocol (version 2, fixed_handicap) places them."""
    if stones == 0:
        return []
    most = 0 if size < 7 else 9 if size % 2 and size > 7 else 4
    if most == 0:
        raise AzlabError(f"A {size}x{size} board is too small for handicap stones; they start at 7x7.")
    if stones == 1:
        raise AzlabError("A handicap has at least 2 stones; for 1, give White no komi instead.")
    whole_number(f"handicap on {size}x{size}", stones, 2, most)
    lines = star_lines(size)
    low, high, mid = lines[0], lines[-1], size // 2
    corners = [(high, low), (low, high), (low, low), (high, high)]  # (row from the top, column)
    sides = [(mid, low), (mid, high), (high, mid), (low, mid)]
    chosen = corners[:stones]
    if stones >= 6:
        chosen = corners + sides[: 2 if stones < 8 else 4]
    if stones in (5, 7, 9):
        chosen = [*chosen, (mid, mid)]
    return [row * size + col for row, col in chosen]


def board_text(board: np.ndarray, last: int | None) -> str:
    """The board [N, N] (0 Black, 1 White, 2 empty) for a terminal, the last stone in brackets."""
    size = len(board)
    out = []
    for row in range(size):
        line = f"{size - row:2} "
        for col in range(size):
            is_last = last == row * size + col
            line += f"({'XO.'[board[row, col]]})" if is_last else f" {'XO.'[board[row, col]]} "
        out.append(line.rstrip())
    out.append("   " + "".join(f" {letter} " for letter in grid.GO_LETTERS[:size]).rstrip())
    return "\n".join(out)


def board_picture(board: np.ndarray, last: int | None) -> Picture:
    """The board [N, N] as shapes; stones lie on the crossings of the lines."""
    size = len(board)
    shapes = Picture(size, size)
    shapes.square(0, 0, size, "wood")
    for line in range(size):
        shapes.line(line + 0.5, 0.5, line + 0.5, size - 0.5)
        shapes.line(0.5, line + 0.5, size - 0.5, line + 0.5)
    lines = star_lines(size)
    for row in lines:
        for col in lines:
            shapes.dot(col + 0.5, row + 0.5, 0.08)
    for row, col in zip(*np.nonzero(board != EMPTY), strict=True):
        shapes.stone(int(col) + 0.5, int(row) + 0.5, int(board[row, col]), last == row * size + col, "go")
    for k in range(size):
        shapes.label(-0.35, k + 0.5, str(size - k))
        shapes.label(k + 0.5, size + 0.35, grid.GO_LETTERS[k])
    return shapes


class GoBoardGame(Game):
    """What Go and simple go have in common for people: points and the pass by name, the board as text and picture."""

    size: int
    handicap_cells: list[int] = []  # stones on the board at the start

    def faults(self, states: np.ndarray) -> Faults:
        """Of the fields that both have: stride, board and ko. A position may have no past: a ko point at ply 0."""
        yield from other_options(self, states, ("stride",))
        where, board = points(self.size), np.ascontiguousarray(states["board"])
        border = np.delete(np.arange(board.shape[1]), where)
        yield "board has stones beyond its edge", (board[:, border] != empty_board(self.size)[border]).any(axis=1)
        yield (
            "board has a point that is neither empty nor a seat's",
            ((board[:, where] < 0) | (board[:, where] > EMPTY)).any(axis=1),
        )
        ko = states["ko"].astype(np.int64)
        yield "ko is no point of the board", (ko != 0) & ~np.isin(ko, where)
        stands, is_right = np.empty(len(states), np.bool_), np.empty(len(states), np.bool_)
        look_at(board, ko, states["to_move"].astype(np.int64), self.size + 1, stands, is_right)
        yield "board has a chain without a liberty", ~stands
        yield "ko is a point where no stone was just taken", ~is_right

    def move_name(self, action: int) -> str:
        if action == self.size * self.size:
            return "pass"
        return grid.cell_name(action, self.size, self.size, grid.GO_LETTERS)

    def spot(self, action: int) -> tuple[float, float] | None:
        return None if action == self.size * self.size else (action % self.size + 0.5, action // self.size + 0.5)

    def clicks(self, action: int) -> list[Area]:
        return [area._replace(kind="point") for area in super().clicks(action)]

    @functools.cached_property
    def symmetries(self) -> list[Symmetry]:
        found = []
        for name, image in grid.transformations(self.size, self.size):
            if {int(image[cell]) for cell in self.handicap_cells} == set(self.handicap_cells):
                found.append(Symmetry(name, np.append(image, self.size * self.size), image))
        return found

    def board(self, state: np.ndarray) -> np.ndarray:
        """The points of the one-element array `state`, top row first: 0 Black, 1 White, 2 empty."""
        return state["board"][0][points(self.size)].reshape(self.size, self.size)

    def last_cell(self, position: Position) -> int | None:
        """The cell of the last stone, None if there is none or the last move was a pass."""
        last = position.actions[-1] if position.actions else self.size * self.size
        return None if last == self.size * self.size else last

    def text(self, position: Position) -> str:
        return board_text(self.board(position._state), self.last_cell(position))

    def picture(self, position: Position) -> Picture:
        return board_picture(self.board(position._state), self.last_cell(position))
