"""Connect 4 on boards of any size that fits a 64-bit word.

Each seat's stones are the bits of one word: column c, height h (from the bottom) is bit c*(rows+1) + h. The bit above each column
stays empty, so that a shift never carries a line from one column into the next.
"""

import functools

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.games.game import Game, Kernels, Position, Symmetry, state_dtype
from azlab.games.kernel import kernel, note, random_below
from azlab.games.picture import Area, Picture
from azlab.games.validity import Faults, other_options

DTYPE = state_dtype(
    ("stones", np.uint64, (2,)),  # the stones of each seat
    ("rows", np.int8),
    ("cols", np.int8),
)
ONE = np.uint64(1)


@kernel
def has_four(stones, height):
    """Whether `stones` has four in a row; `height` is the distance between neighbouring columns, rows + 1."""
    for step in (1, height - 1, height, height + 1):  # up, diagonal down, across, diagonal up
        pairs = stones & (stones >> np.uint64(step))
        if pairs & (pairs >> np.uint64(2 * step)):
            return True
    return False


@kernel
def is_open(state, col):
    """Whether column `col` has room."""
    top = np.uint64(col * (np.int64(state.rows) + 1) + state.rows - 1)
    return ((state.stones[0] | state.stones[1]) >> top) & ONE == 0


@kernel
def play_one(state, col):
    """Drop a stone of the player to move into column `col`."""
    seat = state.to_move
    height = np.int64(state.rows) + 1
    taken = state.stones[0] | state.stones[1]
    column = ((ONE << np.uint64(height)) - ONE) << np.uint64(col * height)
    bottom = ONE << np.uint64(col * height)
    state.stones[seat] |= (taken + bottom) & column & ~taken  # the carry of the addition runs up to the first free cell
    state.ply += 1
    if has_four(state.stones[seat], height):
        state.over = True
        state.result = 1 - 2 * seat
    elif state.ply == np.int64(state.rows) * state.cols:
        state.over = True
    state.to_move = 1 - seat


@kernel
def legal(states, mask):
    """See `Kernels`; actions are columns."""
    for i in range(len(states)):
        for col in range(mask.shape[1]):
            mask[i, col] = not states[i].over and is_open(states[i], col)


@kernel
def play(states, actions):
    """See `Kernels`."""
    for i in range(len(states)):
        play_one(states[i], actions[i])


@kernel
def encode(states, planes):
    """Two planes: stones of the player to move, stones of the other; the top row comes first."""
    for i in range(len(states)):
        rows, cols = np.int64(states[i].rows), np.int64(states[i].cols)
        for plane in range(2):
            seat = states[i].to_move if plane == 0 else 1 - states[i].to_move
            for col in range(cols):
                for row in range(rows):
                    bit = np.uint64(col * (rows + 1) + rows - 1 - row)
                    planes[i, plane, row, col] = np.float32((states[i].stones[seat] >> bit) & ONE)


@kernel
def playout(states, rng, trace):
    """See `Kernels`."""
    for i in range(len(states)):
        state = states[i]
        start = state.ply
        while not state.over:
            col = random_below(rng, i, state.cols)
            if is_open(state, col):
                note(trace, i, state.ply - start, col)
                play_one(state, col)


class Connect4(Game):
    """Connect 4; standard is 6 rows by 7 columns. Moves are named by their column, from "1"."""

    name = "connect4"
    seats = ("Yellow", "Red")
    dtype = DTYPE
    kernels = Kernels(legal, play, encode, playout)

    def __init__(self, rows: int = 6, cols: int = 7) -> None:
        rows = whole_number("rows", rows, 1, 20)
        cols = whole_number("cols", cols, 1, 20)
        if (rows + 1) * cols > 64:
            raise AzlabError(f"A board of {rows} x {cols} is too large: (rows + 1) * cols must be at most 64.")
        super().__init__(rows=rows, cols=cols)
        self.rows, self.cols = rows, cols
        self.num_actions = cols
        self.max_length = rows * cols
        self.planes_shape = (2, rows, cols)
        self.move_help = f"a move is a column, 1 to {cols}"

    def new_states(self, count: int = 1) -> np.ndarray:
        states = np.zeros(count, DTYPE)
        states["rows"], states["cols"] = self.rows, self.cols
        return states

    def faults(self, states: np.ndarray) -> Faults:
        yield from other_options(self, states, ("rows", "cols"))
        height, ply, mover = self.rows + 1, states["ply"], states["to_move"]
        bottoms = [1 << col * height for col in range(self.cols)]
        cells = np.uint64(sum(((1 << self.rows) - 1) * bottom for bottom in bottoms))
        taken = states["stones"][:, 0] | states["stones"][:, 1]
        yield "stones lie outside the board", taken & ~cells != 0
        yield "stones of both seats lie in one cell", states["stones"][:, 0] & states["stones"][:, 1] != 0
        # adding one at the bottom of a column carries up to its first free cell: a stone above that one has none below it
        yield "stones hang in the air", (taken + np.uint64(sum(bottoms))) & taken != 0
        yield "ply is not the number of stones", np.bitwise_count(taken) != ply
        yield "stones are too many of one seat", np.bitwise_count(states["stones"][:, 0]) != (ply + 1) // 2
        yield "to_move is the seat that has just moved", mover != ply % 2
        rows = np.arange(len(states))
        last = states["stones"][rows, 1 - mover]
        has_won = self._four(last)
        yield "stones of the seat to move have a four", self._four(states["stones"][rows, mover])
        # the last stone lies on top of a column, and before it there was no four
        tops = [
            (taken + np.uint64(bottom)) >> np.uint64(1) & last & np.uint64(bottom * ((1 << self.rows) - 1)) for bottom in bottoms
        ]
        yield "stones have fours that no one stone completes", has_won & np.all([self._four(last & ~top) for top in tops], axis=0)
        yield "over is not what the board says", states["over"] != (has_won | (ply == self.max_length))
        yield "result is not what the board says", states["result"] != has_won * (2 * mover - 1)

    def _four(self, stones: np.ndarray) -> np.ndarray:
        """`has_four` of many, uint64 [B]: bool [B]."""
        found = np.zeros(len(stones), np.bool_)
        for step in (1, self.rows, self.rows + 1, self.rows + 2):
            pairs = stones & (stones >> np.uint64(step))
            found |= pairs & (pairs >> np.uint64(2 * step)) != 0
        return found

    def move_name(self, action: int) -> str:
        return str(action + 1)

    def split_moves(self, text: str) -> list[str]:
        names = super().split_moves(text)
        return list("".join(names)) if self.cols <= 9 else names  # "4433" needs no spaces

    def spot(self, action: int) -> tuple[float, float]:
        return action + 0.5, -0.3

    def clicks(self, action: int) -> list[Area]:
        return [Area(f"column {action + 1}", action, 0, 1, self.rows, "column")]

    @functools.cached_property
    def symmetries(self) -> list[Symmetry]:
        cols = np.arange(self.cols)
        cells = np.arange(self.rows * self.cols).reshape(self.rows, self.cols)
        return [
            Symmetry("identity", cols, cells.ravel()),
            Symmetry("mirror left-right", cols[::-1].copy(), cells[:, ::-1].ravel()),
        ]

    def board(self, state: np.ndarray) -> np.ndarray:
        """The cells of the one-element array `state`, top row first: 0 empty, 1 seat 0, 2 seat 1."""
        bits = (np.arange(self.rows)[::-1, None] + np.arange(self.cols) * (self.rows + 1)).astype(np.uint64)
        taken = [(state["stones"][0, seat] >> bits) & ONE for seat in (0, 1)]
        return (taken[0] + 2 * taken[1]).astype(np.int64)

    def text(self, position: Position) -> str:
        lines = [" ".join(".XO"[cell] for cell in row) for row in self.board(position._state)]
        return "\n".join([*lines, " ".join(str((col + 1) % 10) for col in range(self.cols))])

    def picture(self, position: Position) -> Picture:
        picture = Picture(self.cols, self.rows)
        board = self.board(position._state)
        last_col = position.actions[-1] if position.actions else None
        for row, col in np.ndindex(board.shape):
            picture.square(col, row, style="hole")
            if board[row, col]:
                last = col == last_col and (row == 0 or board[row - 1, col] == 0)
                picture.stone(col + 0.5, row + 0.5, int(board[row, col]) - 1, last)
        for col in range(self.cols):
            picture.label(col + 0.5, self.rows + 0.35, str(col + 1))
        return picture
