"""Go on 2x2 to 19x19 points: area scoring, komi, suicide illegal, two passes end the game.

Ko comes in three kinds. "simple" forbids taking back a single stone at once; "positional" forbids any earlier position
of the board; "situational" forbids any earlier position with the same player to move. The two superko kinds remember a
64-bit hash of every earlier position; a simple-ko state has no such field.

The playouts here, `playout` and `playout_superko`, are the plain ones, to read and to compare with. The game uses those of
`go_playout.py`, which make the same moves from the same random numbers in a fraction of the time.
"""

from collections.abc import Sequence

import numpy as np

from azlab.errors import AzlabError, IllegalMove, one_of, whole_number
from azlab.games import go_playout, grid, stones
from azlab.games.game import Kernels, Position, state_dtype
from azlab.games.go_board import GoBoardGame, handicap_cells
from azlab.games.go_questions import may_place_each, safe_eyes
from azlab.games.kernel import kernel, note, random_below
from azlab.games.stones import (
    EMPTY,
    KEYS,
    action_of_point,
    area,
    is_safe_eye,
    may_place,
    place_stone,
    point_of,
    point_of_action,
    record,
    situation,
    touches_empty,
)
from azlab.games.validity import Faults, other_options


def dtype(size: int, history: int) -> np.dtype:
    """The state of a size x size board; `history` hashes are remembered (0 for simple ko)."""
    fields: list[tuple] = [
        ("stride", np.int64),  # size + 1, see stones.py; as wide as an index, so that kernels mix the two
        ("komi", np.float32),
        ("max_moves", np.int16),
        ("ko", np.int16),  # place on the board that may not be taken back now, or 0
        ("passes", np.int8),  # how many moves in a row were passes
        ("board", np.int8, (len(stones.empty_board(size)),)),
    ]
    if history:
        fields = [("hash", np.uint64), ("history", np.uint64, (history,)), ("situational", np.bool_), *fields]
    return state_dtype(*fields)


# --- simple ko --------------------------------------------------------------------------------------------------


@kernel
def finish(state, marks, stack):
    """End the game and count the area."""
    black, white = area(state.board, state.stride, marks, stack)
    state.over = True
    state.result = np.sign(black - white - state.komi)


@kernel
def play_one(state, point, marks, stack, captured):
    """Put a stone on place `point`, or pass if it is 0. Return how many stones were captured."""
    count = 0
    if point == 0:
        state.passes += 1
        state.ko = 0
    else:
        count, state.ko = place_stone(state.board, point, state.to_move, state.stride, marks, stack, captured)
        state.passes = 0
    state.to_move = 1 - state.to_move
    state.ply += 1
    if state.passes == 2 or state.ply == state.max_moves:
        finish(state, marks, stack)
    return count


@kernel
def legal(states, mask):
    """See `Kernels`; actions are the points row by row from the top, then the pass."""
    marks, stack = np.zeros(len(states[0].board), np.int64), np.empty(len(states[0].board), np.int64)
    for i in range(len(states)):
        state = states[i]
        for cell in range(mask.shape[1] - 1):
            point = point_of(cell, state.stride)
            is_empty = state.board[point] == EMPTY and not state.over
            # `may_place` asks this too, but most points need not be handed to it with all its scratch memory, which takes time
            is_open = point != state.ko and touches_empty(state.board, point, state.stride)
            mask[i, cell] = is_empty and (
                is_open or may_place(state.board, point, state.to_move, state.ko, state.stride, marks, stack)
            )
        mask[i, mask.shape[1] - 1] = not state.over


@kernel
def play(states, actions):
    """See `Kernels`."""
    length = len(states[0].board)
    marks, stack, captured = np.zeros(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    for i in range(len(states)):
        play_one(states[i], point_of_action(actions[i], states[i].stride), marks, stack, captured)


@kernel
def encode(states, planes):
    """Four planes: own stones, the other's stones, the ko point, and ones when Black is to move."""
    for i in range(len(states)):
        state = states[i]
        size = planes.shape[2]
        for row in range(size):
            for col in range(size):
                point = point_of(row * size + col, state.stride)
                planes[i, 0, row, col] = state.board[point] == state.to_move
                planes[i, 1, row, col] = state.board[point] == 1 - state.to_move
                planes[i, 2, row, col] = state.ko == point
                planes[i, 3, row, col] = state.to_move == 0


@kernel
def list_empty(board, stride, empty):
    """Write the empty points into `empty` and return how many there are."""
    count = 0
    for point in range(stride + 1, len(board) - stride):
        if board[point] == EMPTY:
            empty[count] = point
            count += 1
    return count


@kernel
def random_candidate(state, i, rng, empty, untried, marks, stack):
    """Draw points from `empty[:untried]` until one may be played and is no eye of one's own.

    Return (its index, or -1 if there is none; the number of points still untried). Points that failed are moved behind those.
    """
    while untried:
        k = random_below(rng, i, untried)
        point = empty[k]
        untried -= 1
        empty[k], empty[untried] = empty[untried], point
        if not is_safe_eye(state.board, point, state.to_move, state.stride) and may_place(
            state.board, point, state.to_move, state.ko, state.stride, marks, stack
        ):
            return untried, untried
    return -1, 0


@kernel
def playout(states, rng, trace):
    """As `go_playout.playout`, but plain. Random play never fills its own eyes and passes only when nothing else is left."""
    length = len(states[0].board)
    marks, stack, captured = np.zeros(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    empty = np.empty(length, np.int64)
    for i in range(len(states)):
        state = states[i]
        start = state.ply
        free = list_empty(state.board, state.stride, empty)
        while not state.over:
            k, _ = random_candidate(state, i, rng, empty, free, marks, stack)
            note(trace, i, state.ply - start, action_of_point(empty[k] if k >= 0 else 0, state.stride))
            free = play_from_list(state, k, empty, free, marks, stack, captured)


@kernel
def play_from_list(state, k, empty, free, marks, stack, captured):
    """Play `empty[k]` (or pass if k < 0) and keep the list of empty points; return its new length."""
    if k < 0:
        play_one(state, 0, marks, stack, captured)
        return free
    point = empty[k]
    free -= 1
    empty[k] = empty[free]
    taken = play_one(state, point, marks, stack, captured)
    for j in range(taken):
        empty[free + j] = captured[j]
    return free + taken


# --- superko: the same, and no position comes back ----------------------------------------------------------------


@kernel
def hash_after(state, board, point, marks, stack, captured):
    """The hash of the board after a stone on `point`; `board` is scratch memory."""
    board[:] = state.board
    count, _ = place_stone(board, point, state.to_move, state.stride, marks, stack, captured)
    board_hash = state.hash ^ KEYS[state.to_move, point]
    for j in range(count):
        board_hash ^= KEYS[1 - state.to_move, captured[j]]
    return board_hash


@kernel
def repeats(state, point, board, marks, stack, captured):
    """Whether a stone on `point` would bring back a forbidden position."""
    wanted = situation(hash_after(state, board, point, marks, stack, captured), state, 1 - state.to_move)
    for k in range(state.ply + 1):
        if state.history[k] == wanted:
            return True
    return False


@kernel
def legal_superko(states, mask):
    """See `legal`."""
    legal(states, mask)
    length = len(states[0].board)
    marks, stack, captured = np.zeros(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    board = np.empty(length, np.int8)
    for i in range(len(states)):
        for cell in range(mask.shape[1] - 1):
            if mask[i, cell]:
                point = point_of(cell, states[i].stride)
                mask[i, cell] = not repeats(states[i], point, board, marks, stack, captured)


@kernel
def play_superko(states, actions):
    """See `Kernels`."""
    length = len(states[0].board)
    marks, stack, captured = np.zeros(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    board = np.empty(length, np.int8)
    for i in range(len(states)):
        state = states[i]
        point = point_of_action(actions[i], state.stride)
        board_hash = hash_after(state, board, point, marks, stack, captured) if point else state.hash
        play_one(state, point, marks, stack, captured)
        record(state, board_hash)


@kernel
def playout_superko(states, rng, trace):
    """See `playout`."""
    length = len(states[0].board)
    marks, stack, captured = np.zeros(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    empty, board = np.empty(length, np.int64), np.empty(length, np.int8)
    for i in range(len(states)):
        state = states[i]
        start = state.ply
        free = list_empty(state.board, state.stride, empty)
        while not state.over:
            k, untried = random_candidate(state, i, rng, empty, free, marks, stack)
            while k >= 0 and repeats(state, empty[k], board, marks, stack, captured):
                k, untried = random_candidate(state, i, rng, empty, untried, marks, stack)
            board_hash = hash_after(state, board, empty[k], marks, stack, captured) if k >= 0 else state.hash
            note(trace, i, state.ply - start, action_of_point(empty[k] if k >= 0 else 0, state.stride))
            free = play_from_list(state, k, empty, free, marks, stack, captured)
            record(state, board_hash)


@kernel
def lead(states, leads):
    """See `Kernels`; the area as it stands, komi included."""
    marks, stack = np.zeros(len(states[0].board), np.int64), np.empty(len(states[0].board), np.int64)
    for i in range(len(states)):
        black, white = area(states[i].board, states[i].stride, marks, stack)
        points = (states[i].stride - 1) * (states[i].stride - 1)
        leads[i] = min(1.0, max(-1.0, (black - white - np.float64(states[i].komi)) / points))


class Go(GoBoardGame):
    """Go. Points are named as in GTP (a1 lower left, no letter i), the pass "pass".

    `max_moves` ends an endless game; the board is then counted as it stands.
    """

    name = "go"
    seats = ("Black", "White")

    def __init__(
        self, size: int = 9, komi: float = 7.0, ko: str = "simple", handicap: int = 0, max_moves: int | None = None
    ) -> None:
        size = whole_number("size", size, 2, 19)
        one_of("ko", ko, ("simple", "positional", "situational"))
        if not isinstance(komi, int | float) or not -1000 < komi < 1000 or 2 * komi != int(2 * komi):
            raise AzlabError(f"komi must be a whole or half number of points, not {komi!r}.")
        # Human games on 19x19 stay below 500 moves; small boards under superko need more than their area
        max_moves = whole_number("max_moves", 4 * size * size + 40 if max_moves is None else max_moves, 1, 30_000)
        super().__init__(size=size, komi=float(komi), ko=ko, handicap=handicap, max_moves=max_moves)
        self.size, self.komi, self.ko = size, float(komi), ko
        self.handicap_cells = handicap_cells(size, handicap)
        self.dtype = dtype(size, 0 if ko == "simple" else max_moves + 1)
        self.kernels = (
            Kernels(legal, play, encode, go_playout.playout, lead)
            if ko == "simple"
            else Kernels(legal_superko, play_superko, encode, go_playout.playout_superko, lead)
        )
        self.num_actions = size * size + 1
        self.max_length = max_moves
        self.planes_shape = (4, size, size)
        self.move_help = f"a move is a point from a1 (lower left) to {self.move_name(size - 1)}, or pass"

    def new_states(self, count: int = 1) -> np.ndarray:
        states = np.zeros(count, self.dtype)
        states["board"] = stones.empty_board(self.size)
        states["stride"] = self.size + 1
        states["komi"] = self.komi
        states["max_moves"] = self.max_length
        if self.ko != "simple":
            states["situational"] = self.ko == "situational"
        if self.handicap_cells:
            self._put(states, self.handicap_cells, [], to_move=1)
        return states

    def are_legal(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Whether each action, int64 [B], is legal in its state: bool [B]."""
        if self.ko != "simple":
            return self.legal_mask(states)[np.arange(len(states)), actions]
        length, allowed = self.dtype["board"].shape[0], np.zeros(len(states), np.bool_)
        may_place_each(states, actions, np.zeros(length, np.int64), np.empty(length, np.int64), allowed)
        return allowed

    def own_eyes(self, states: np.ndarray) -> np.ndarray:
        """Which points are safe eyes of the player to move, that only a bad move would fill: bool [B, A]."""
        mask = np.zeros((len(states), self.num_actions), np.bool_)
        safe_eyes(states, mask)
        return mask

    def faults(self, states: np.ndarray) -> Faults:
        yield from super().faults(states)
        yield from other_options(self, states, ("komi", "max_moves"))
        ply, passes, over = states["ply"], states["passes"], states["over"]
        yield "passes is not 0, 1 or 2", (passes < 0) | (passes > 2)
        yield "ko is a point though the last move was a pass", (passes > 0) & (states["ko"] != 0)
        yield "over is not what passes and ply say", over != ((passes == 2) | (ply == self.max_length))
        leads = np.zeros(len(states))
        lead(states, leads)
        yield "result is not what the board says", over & (states["result"] != np.sign(leads))
        if self.ko != "simple":
            yield from self._memory_faults(states)

    def _memory_faults(self, states: np.ndarray) -> Faults:
        """Of the fields that superko has more: situational, hash and history."""
        yield from other_options(self, states, ("situational",))
        where, ply, history = stones.points(self.size), states["ply"].astype(np.int64), states["history"]
        board = states["board"][:, where]
        keys = np.where(board == EMPTY, np.uint64(0), KEYS[np.minimum(board, 1), where])
        yield "hash is not that of the board", states["hash"] != np.bitwise_xor.reduce(keys, axis=1)
        turn = np.where(states["to_move"] == 1, KEYS[2, 0], np.uint64(0)) * np.uint64(self.ko == "situational")
        now, rows, moves = states["hash"] ^ turn, np.arange(len(states)), np.arange(history.shape[1])
        yield "history does not end with the board", history[rows, ply] != now
        yield "history goes on after the last move", (history.astype(np.bool_) & (moves > ply[:, None])).any(axis=1)
        is_again = ((history == now[:, None]) & (moves < ply[:, None])).any(axis=1)
        yield "history has the board already, which superko forbids", is_again & (states["passes"] == 0)

    def _put(self, states: np.ndarray, black: list[int], white: list[int], to_move: int) -> None:
        """Set stones on the cells of fresh states."""
        where = stones.points(self.size)
        states["to_move"] = to_move
        for seat, cells in enumerate((black, white)):
            states["board"][:, where[cells]] = seat
            if self.ko != "simple":
                states["hash"] ^= np.bitwise_xor.reduce(KEYS[seat, where[cells]])
        if self.ko != "simple":
            turn = KEYS[2, 0] if self.ko == "situational" and to_move == 1 else np.uint64(0)
            states["history"][:, 0] = states["hash"] ^ turn

    def set_up(self, black: Sequence[str | int], white: Sequence[str | int] = (), to_move: int = 0) -> Position:
        """A position with these stones on an otherwise empty board, given by name or as cell numbers."""
        to_move = whole_number("to_move", to_move, 0, 1)
        black_cells, white_cells = (
            [self.action(point) if isinstance(point, str) else int(point) for point in side] for side in (black, white)
        )
        both = black_cells + white_cells
        if len(set(both)) < len(both) or any(not 0 <= cell < self.size * self.size for cell in both):
            raise IllegalMove("A set-up puts at most one stone on each point of the board.")
        state = Go.new_states(self, 1)
        state["board"] = stones.empty_board(self.size)
        if self.ko != "simple":
            state["hash"] = 0
        self._put(state, black_cells, white_cells, to_move)
        scratch = np.zeros((2, state["board"].shape[1]), np.int64)
        if not stones.all_have_liberties(state["board"][0], self.size + 1, *scratch):
            raise IllegalMove("In this set-up a chain has no liberty; it could not stand on the board.")
        return Position(self, state)

    def from_diagram(self, diagram: str, to_move: int = 0) -> Position:
        """A position drawn with X (black), O (white) and . (empty), a line for each row from the top."""
        marks = grid.read_diagram(diagram, self.size, self.size)
        black, white = ([cell for cell, mark in enumerate(marks) if mark == side] for side in "XO")
        return self.set_up(black, white, to_move)

    def scores(self, state: np.ndarray) -> tuple[float, float]:
        scratch = np.zeros((2, state["board"].shape[1]), np.int64)
        black, white = area(state["board"][0], self.size + 1, *scratch)
        return float(black), float(white) + self.komi
