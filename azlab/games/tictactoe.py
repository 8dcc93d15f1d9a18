"""Tic-tac-toe, the smallest game here and the one to read first."""

import functools

import numpy as np

from azlab.games import grid
from azlab.games.game import Game, Kernels, Position, Symmetry, state_dtype
from azlab.games.kernel import kernel, note, random_below
from azlab.games.picture import Picture
from azlab.games.validity import Faults

EMPTY = -1
DTYPE = state_dtype(("board", np.int8, (9,)))  # EMPTY or the seat whose mark is there, row by row from the top
LINES = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])


@kernel
def has_line(board, seat):
    """Whether `seat` has three in a row."""
    for k in range(8):
        if board[LINES[k, 0]] == seat and board[LINES[k, 1]] == seat and board[LINES[k, 2]] == seat:
            return True
    return False


@kernel
def play_one(state, action):
    """Put a mark of the player to move on cell `action`."""
    seat = state.to_move
    state.board[action] = seat
    state.ply += 1
    if has_line(state.board, seat):
        state.over = True
        state.result = 1 - 2 * seat
    elif state.ply == 9:
        state.over = True
    state.to_move = 1 - seat


@kernel
def legal(states, mask):
    """See `Kernels`; actions are cells."""
    for i in range(len(states)):
        for cell in range(9):
            mask[i, cell] = not states[i].over and states[i].board[cell] == EMPTY


@kernel
def play(states, actions):
    """See `Kernels`."""
    for i in range(len(states)):
        play_one(states[i], actions[i])


@kernel
def encode(states, planes):
    """Two planes: marks of the player to move, marks of the other."""
    for i in range(len(states)):
        state = states[i]
        for cell in range(9):
            for plane in range(2):
                seat = state.to_move if plane == 0 else 1 - state.to_move
                planes[i, plane, cell // 3, cell % 3] = state.board[cell] == seat


@kernel
def playout(states, rng, trace):
    """See `Kernels`; a random empty cell is found by trying cells at random."""
    for i in range(len(states)):
        state = states[i]
        start = state.ply
        while not state.over:
            cell = random_below(rng, i, 9)
            if state.board[cell] == EMPTY:
                note(trace, i, state.ply - start, cell)
                play_one(state, cell)


class TicTacToe(Game):
    """Three in a row on a 3x3 board; the first player is X. Moves are named a1 (lower left) to c3."""

    name = "tictactoe"
    seats = ("X", "O")
    move_help = "moves are named a1 to c3, column letter and row number, row 1 at the bottom"
    dtype = DTYPE
    kernels = Kernels(legal, play, encode, playout)
    num_actions = 9
    max_length = 9
    planes_shape = (2, 3, 3)

    def __init__(self) -> None:
        super().__init__()

    def new_states(self, count: int = 1) -> np.ndarray:
        states = np.zeros(count, DTYPE)
        states["board"] = EMPTY
        return states

    def faults(self, states: np.ndarray) -> Faults:
        board, ply, mover = states["board"], states["ply"], states["to_move"]
        yield "board has a cell that is neither empty nor a seat's", ((board < EMPTY) | (board > 1)).any(axis=1)
        marks = [(board == seat).sum(axis=1) for seat in (0, 1)]
        yield "ply is not the number of marks on the board", marks[0] + marks[1] != ply
        yield "board has too many marks of one seat", marks[0] != (ply + 1) // 2
        yield "to_move is the seat that has just moved", mover != ply % 2
        lines = [(board[:, LINES] == seat).all(axis=2).any(axis=1) for seat in (0, 1)]
        yield "board has a line of the seat to move", np.where(mover == 0, lines[0], lines[1])
        yield "over is not what the board says", states["over"] != (lines[0] | lines[1] | (ply == 9))
        yield "result is not what the board says", states["result"] != lines[0].astype(np.int8) - lines[1]

    def move_name(self, action: int) -> str:
        return grid.cell_name(action, 3, 3)

    def spot(self, action: int) -> tuple[float, float]:
        return action % 3 + 0.5, action // 3 + 0.5

    @functools.cached_property
    def symmetries(self) -> list[Symmetry]:
        return [Symmetry(name, image, image) for name, image in grid.transformations(3, 3)]

    def text(self, position: Position) -> str:
        marks = ["XO."[seat] for seat in position._state["board"][0]]
        rows = [f"{3 - r}  {' '.join(marks[3 * r : 3 * r + 3])}" for r in range(3)]
        return "\n".join([*rows, "   a b c"])

    def picture(self, position: Position) -> Picture:
        picture = grid.cells_picture(3, 3)
        board = position._state["board"][0]
        for cell in np.flatnonzero(board != EMPTY):
            last = position.actions[-1:] == (cell,)
            picture.stone(cell % 3 + 0.5, cell // 3 + 0.5, int(board[cell]), last, "mark")
        for a, _, c in LINES:
            line = {int(board[cell]) for cell in (a, _, c)}
            if len(line) == 1 and line != {EMPTY}:
                picture.line(a % 3 + 0.5, a // 3 + 0.5, c % 3 + 0.5, c // 3 + 0.5, "strike")
        return picture
