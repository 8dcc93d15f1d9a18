"""The "simple go" of source S1 (task 2): Go whose only points are single-point eyes.

Black starts, there is no komi, suicide is illegal and ko is simple. Nobody may fill an own eye, except to save stones
that the opponent could capture by playing there. Passing is not a choice: a player passes only without a legal move. The
game ends when neither player can move, or after 2*size*size moves; whoever has more single-point eyes wins.
"""

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.games import grid, stones
from azlab.games.game import Kernels, Position, state_dtype
from azlab.games.go_board import GoBoardGame
from azlab.games.kernel import kernel, note, random_below
from azlab.games.stones import all_have_liberties, is_eye, liberties, may_place, place_stone, point_of, point_of_action
from azlab.games.validity import Faults


def dtype(size: int) -> np.dtype:
    """The state of a size x size board."""
    return state_dtype(
        ("stride", np.int64),  # size + 1, see stones.py
        ("ko", np.int16),  # place on the board that may not be taken back now, or 0
        ("must_pass", np.bool_),  # the player to move has no other move
        ("board", np.int8, (len(stones.empty_board(size)),)),
    )


@kernel
def is_legal(state, point, seat, ko, marks, stack):
    """Whether `seat` may play on place `point`."""
    if not may_place(state.board, point, seat, ko, state.stride, marks, stack):
        return False
    if not is_eye(state.board, point, seat, state.stride):
        return True
    for step in (1, -1, state.stride, -state.stride):  # an own eye: only to save a chain whose last liberty it is
        near = point + step
        if state.board[near] == seat and liberties(state.board, near, 2, state.stride, marks, stack) == 1:
            return True
    return False


@kernel
def can_move(state, seat, ko, marks, stack):
    """Whether `seat` has a legal move."""
    for point in range(state.stride + 1, len(state.board) - state.stride):
        if is_legal(state, point, seat, ko, marks, stack):
            return True
    return False


@kernel
def eyes(board, seat, stride):
    """How many single-point eyes `seat` has."""
    count = 0
    for point in range(stride + 1, len(board) - stride):
        count += is_eye(board, point, seat, stride)
    return count


@kernel
def look_ahead(state, marks, stack):
    """Find out whether the player to move must pass, and whether the game is over."""
    size = state.stride - 1
    state.must_pass = not can_move(state, state.to_move, state.ko, marks, stack)
    # After a forced pass the ko is lifted, so the other player's moves are looked up without it.
    blocked = state.must_pass and not can_move(state, 1 - state.to_move, 0, marks, stack)
    if blocked or state.ply == 2 * size * size:
        state.over = True
        state.result = np.sign(eyes(state.board, 0, state.stride) - eyes(state.board, 1, state.stride))


@kernel
def look_again(states):
    """Forget what `look_ahead` found out, and find it out again."""
    marks, stack = np.zeros(len(states[0].board), np.int64), np.empty(len(states[0].board), np.int64)
    for i in range(len(states)):
        states[i].over = False
        states[i].result = 0
        look_ahead(states[i], marks, stack)


@kernel
def play_one(state, point, marks, stack, captured):
    """Put a stone on place `point`, or pass if it is 0."""
    state.ko = 0
    if point:
        _, state.ko = place_stone(state.board, point, state.to_move, state.stride, marks, stack, captured)
    state.to_move = 1 - state.to_move
    state.ply += 1
    look_ahead(state, marks, stack)


@kernel
def legal(states, mask):
    """See `Kernels`; actions are the points row by row from the top, then the pass."""
    marks, stack = np.zeros(len(states[0].board), np.int64), np.empty(len(states[0].board), np.int64)
    for i in range(len(states)):
        state = states[i]
        for cell in range(mask.shape[1] - 1):
            point = point_of(cell, state.stride)
            mask[i, cell] = not state.over and is_legal(state, point, state.to_move, state.ko, marks, stack)
        mask[i, mask.shape[1] - 1] = not state.over and state.must_pass


@kernel
def play(states, actions):
    """See `Kernels`."""
    length = len(states[0].board)
    marks, stack, captured = np.zeros(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    for i in range(len(states)):
        play_one(states[i], point_of_action(actions[i], states[i].stride), marks, stack, captured)


@kernel
def encode(states, planes):
    """The three planes of S1: own stones, the other's stones, ones when Black is to move."""
    for i in range(len(states)):
        state = states[i]
        size = planes.shape[2]
        for row in range(size):
            for col in range(size):
                stone = state.board[point_of(row * size + col, state.stride)]
                planes[i, 0, row, col] = stone == state.to_move
                planes[i, 1, row, col] = stone == 1 - state.to_move
                planes[i, 2, row, col] = state.to_move == 0


@kernel
def playout(states, rng, trace):
    """See `Kernels`; tries points at random, which is quick because most of them are legal."""
    length = len(states[0].board)
    marks, stack, captured = np.zeros(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    for i in range(len(states)):
        state = states[i]
        start, cells = state.ply, (state.stride - 1) * (state.stride - 1)
        while not state.over:
            cell, point = cells, 0  # the pass
            while not state.must_pass:
                cell = random_below(rng, i, cells)
                point = point_of(cell, state.stride)
                if is_legal(state, point, state.to_move, state.ko, marks, stack):
                    break
            note(trace, i, state.ply - start, cell)
            play_one(state, point, marks, stack, captured)


@kernel
def lead(states, leads):
    """See `Kernels`; single-point eyes."""
    for i in range(len(states)):
        board, stride = states[i].board, states[i].stride
        leads[i] = (eyes(board, 0, stride) - eyes(board, 1, stride)) / ((stride - 1) * (stride - 1))


class SimpleGo(GoBoardGame):
    """The Go variant of source S1, on 5x5 there. Points are named as in Go; "pass" is legal only when nothing else is."""

    name = "simple_go"
    seats = ("Black", "White")
    kernels = Kernels(legal, play, encode, playout, lead)

    def __init__(self, size: int = 5) -> None:
        size = whole_number("size", size, 2, 19)
        super().__init__(size=size)
        self.size = size
        self.dtype = dtype(size)
        self.num_actions = size * size + 1
        self.max_length = 2 * size * size
        self.planes_shape = (3, size, size)
        self.move_help = f"a move is a point from a1 (lower left) to {self.move_name(size - 1)}, or pass"

    def new_states(self, count: int = 1) -> np.ndarray:
        states = np.zeros(count, self.dtype)
        states["board"] = stones.empty_board(self.size)
        states["stride"] = self.size + 1
        return states

    def faults(self, states: np.ndarray) -> Faults:
        yield from super().faults(states)
        again = states.copy()
        look_again(again)
        for name in ("must_pass", "over", "result"):
            yield f"{name} is not what the board says", states[name] != again[name]

    def from_diagram(self, diagram: str, to_move: int = 0) -> Position:
        """A position drawn with X (black), O (white) and . (empty), a line for each row from the top."""
        one_of("to_move", to_move, (0, 1))
        state = self.new_states(1)
        marks = grid.read_diagram(diagram, self.size, self.size)
        state["board"][0, stones.points(self.size)] = ["XO.".index(mark) for mark in marks]
        state["to_move"] = to_move
        scratch = np.zeros((2, state["board"].shape[1]), np.int64)
        if not all_have_liberties(state["board"][0], self.size + 1, *scratch):
            raise AzlabError("A chain of stones in this diagram has no liberty; such stones are off the board.")
        look_ahead(state[0], *scratch)
        return Position(self, state)

    def scores(self, state: np.ndarray) -> tuple[float, float]:
        black, white = (eyes(state["board"][0], seat, self.size + 1) for seat in (0, 1))
        return float(black), float(white)
