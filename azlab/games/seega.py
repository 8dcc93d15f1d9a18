"""Seega on 5x5, 7x7 and 9x9, and on 3x3 for study: first the board is filled, then stones move one step and capture by enclosing.

The default rules are the text of source S4 (section 2.1.3). Placing: two stones a turn on any empty cell but the centre,
until only the centre is empty. Moving: one orthogonal step to an empty cell; an enemy stone between the moved stone and
another own stone in a row is captured, several at once if it so happens; the same stone may go on while it captures.
Fewer than two stones end the game and more stones win. Where that text is silent, the options of `Seega` choose; what other
texts say is in `seega_rules`, sets of options by name.

Moving between two enemy stones is safe, and so are stones enclosed while placing: only the stone that moves captures.
"""

import functools
import string

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.games import grid
from azlab.games.game import Game, Kernels, Position, Symmetry, state_dtype
from azlab.games.kernel import kernel, note, random_below
from azlab.games.picture import Area, Picture
from azlab.games.seega_rules import by_name
from azlab.games.seega_states import state_faults
from azlab.games.validity import Faults

EMPTY = -1
NONE = -1  # no stone is in the middle of a capturing chain
ROW_STEP = np.array([-1, 1, 0, 0])  # up, down, left, right, as S4 numbers them
COL_STEP = np.array([0, 0, -1, 1])
DIRECTIONS = ("up", "down", "left", "right")
CHAIN_OPTIONAL, CHAIN_MANDATORY, CHAIN_NONE = 0, 1, 2
CHAINS = ("optional", "mandatory", "none")
EXTRA_MOVES = ("same", "any")


def dtype(size: int) -> np.dtype:
    """The state of a size x size board; the last nine fields are the rules chosen."""
    return state_dtype(
        ("chain", np.int16),  # cell of the stone that has just captured and may go on, or NONE
        ("quiet", np.int16),  # moves since the last capture
        ("moves", np.int16),  # moves since the placing ended
        ("stones", np.int8, (2,)),  # stones of each seat on the board
        ("board", np.int8, (size, size)),  # EMPTY or a seat
        ("placing", np.bool_),
        ("in_turn", np.int8),  # stones already placed in this turn
        ("blocked", np.bool_),  # the player to move has no move and must pass (only with blocked="pass")
        ("quiet_limit", np.int16),
        ("move_limit", np.int16),
        ("per_turn", np.int8),
        ("last_placer_moves", np.bool_),
        ("safe_centre", np.bool_),
        ("chain_rule", np.int8),
        ("extra_any", np.bool_),  # after a capture any stone may step, not only the one that captured, and not only to capture
        ("explicit_pass", np.bool_),
        ("least", np.int8),  # fewer stones than this end the game
    )


# Actions on a board of n cells: 4*cell + direction moves a stone, 4n + cell places one, 5n stops a chain or passes.


@kernel
def captures(state, row, col, seat, remove):
    """How many enemy stones a stone of `seat` standing on (row, col) encloses; `remove` takes them off."""
    board = state.board
    size = board.shape[0]
    middle = size // 2
    count = 0
    for d in range(4):
        near_row, near_col = row + ROW_STEP[d], col + COL_STEP[d]
        far_row, far_col = near_row + ROW_STEP[d], near_col + COL_STEP[d]
        if not (0 <= far_row < size and 0 <= far_col < size):
            continue
        if board[near_row, near_col] != 1 - seat or board[far_row, far_col] != seat:
            continue
        if state.safe_centre and near_row == middle and near_col == middle:
            continue
        count += 1
        if remove:
            board[near_row, near_col] = EMPTY
    return count


@kernel
def is_step(board, cell, direction):
    """Whether the stone on `cell` has an empty cell in `direction`."""
    size = board.shape[0]
    row, col = cell // size + ROW_STEP[direction], cell % size + COL_STEP[direction]
    return 0 <= row < size and 0 <= col < size and board[row, col] == EMPTY


@kernel
def step_captures(state, cell, direction):
    """How many stones the stone on `cell` would capture by stepping in `direction` (a legal step)."""
    size = state.board.shape[0]
    row, col = cell // size, cell % size
    return captures(state, row + ROW_STEP[direction], col + COL_STEP[direction], state.board[row, col], False)


@kernel
def can_go_on(state, cell):
    """Whether the stone on `cell` can capture again by its next step."""
    for direction in range(4):
        if is_step(state.board, cell, direction) and step_captures(state, cell, direction) > 0:
            return True
    return False


@kernel
def can_move(state, seat):
    """Whether any stone of `seat` can step."""
    board = state.board
    size = board.shape[0]
    for cell in range(size * size):
        if board[cell // size, cell % size] == seat:
            for direction in range(4):
                if is_step(board, cell, direction):
                    return True
    return False


@kernel
def finish(state):
    """End the game: more stones win."""
    state.over = True
    state.chain = NONE
    state.blocked = False
    state.result = np.sign(np.int64(state.stones[0]) - state.stones[1])


@kernel
def begin_turn(state, seat):
    """Give the turn of the moving phase to `seat`; a player who cannot move passes or is passed over."""
    state.chain = NONE
    state.to_move = seat
    state.blocked = False
    if not can_move(state, seat):
        # One empty cell always has a stone beside it, so the other player can move.
        if state.explicit_pass:
            state.blocked = True
        else:
            state.to_move = 1 - seat


@kernel
def place_one(state, cell):
    """Put a stone of the player to move on `cell`."""
    size = state.board.shape[0]
    seat = state.to_move
    state.board[cell // size, cell % size] = seat
    state.stones[seat] += 1
    state.in_turn += 1
    if np.int64(state.stones[0]) + state.stones[1] == size * size - 1:
        state.placing = False
        state.in_turn = 0
        begin_turn(state, seat if state.last_placer_moves else 1 - seat)
    elif state.in_turn == state.per_turn:
        state.in_turn = 0
        state.to_move = 1 - seat


@kernel
def move_one(state, cell, direction):
    """Step with the stone on `cell`, capture, and decide who goes on."""
    size = state.board.shape[0]
    seat = state.to_move
    row, col = cell // size, cell % size
    to_row, to_col = row + ROW_STEP[direction], col + COL_STEP[direction]
    state.board[row, col] = EMPTY
    state.board[to_row, to_col] = seat
    taken = captures(state, to_row, to_col, seat, True)
    state.stones[1 - seat] -= taken
    state.quiet = 0 if taken else state.quiet + 1
    target = to_row * size + to_col
    if min(state.stones[0], state.stones[1]) < state.least:
        finish(state)
    elif taken and state.chain_rule != CHAIN_NONE and (state.extra_any or can_go_on(state, target)):
        state.chain = target
    else:
        begin_turn(state, 1 - seat)


@kernel
def play_one(state, action):
    """Play one action: a placement, a step, or the stop of a chain (a forced pass looks the same)."""
    cells = state.board.shape[0] * state.board.shape[1]
    state.ply += 1
    if state.placing:
        place_one(state, action - 4 * cells)
        return
    if action == 5 * cells:
        if state.blocked:  # a pass counts as a quiet move, stopping a chain does not count as a move
            state.moves += 1
            state.quiet += 1
        begin_turn(state, 1 - state.to_move)
    else:
        state.moves += 1
        move_one(state, action // 4, action % 4)
    if not state.over and (
        (state.quiet_limit and state.quiet >= state.quiet_limit) or (state.move_limit and state.moves >= state.move_limit)
    ):
        finish(state)


@kernel
def is_legal(state, action):
    """Whether `action` may be played."""
    size = state.board.shape[0]
    cells = size * size
    if state.over:
        return False
    if state.placing:
        cell = action - 4 * cells
        return 0 <= cell < cells and cell != cells // 2 and state.board[cell // size, cell % size] == EMPTY
    if action == 5 * cells:
        return state.blocked or (state.chain != NONE and state.chain_rule == CHAIN_OPTIONAL)
    if action >= 4 * cells or state.blocked:
        return False
    cell, direction = action // 4, action % 4
    if state.board[cell // size, cell % size] != state.to_move or not is_step(state.board, cell, direction):
        return False
    return state.chain == NONE or state.extra_any or (cell == state.chain and step_captures(state, cell, direction) > 0)


@kernel
def legal(states, mask):
    """See `Kernels`."""
    for i in range(len(states)):
        for action in range(mask.shape[1]):
            mask[i, action] = is_legal(states[i], action)


@kernel
def play(states, actions):
    """See `Kernels`."""
    for i in range(len(states)):
        play_one(states[i], actions[i])


@kernel
def encode(states, planes):
    """Six planes: own stones, the other's stones, the stone that has just captured if its side may go on, and constants: placing,
    first stone of the turn placed, share of the quiet moves used up (0 without a limit)."""
    for i in range(len(states)):
        state = states[i]
        size = state.board.shape[0]
        for row in range(size):
            for col in range(size):
                planes[i, 0, row, col] = state.board[row, col] == state.to_move
                planes[i, 1, row, col] = state.board[row, col] == 1 - state.to_move
                planes[i, 2, row, col] = state.chain == row * size + col
                planes[i, 3, row, col] = state.placing
                planes[i, 4, row, col] = state.in_turn
                planes[i, 5, row, col] = state.quiet / state.quiet_limit if state.quiet_limit else 0.0


@kernel
def list_steps(state, actions):
    """Write the legal actions of the moving phase into `actions` and return how many there are."""
    size = state.board.shape[0]
    count = 0
    for cell in range(size * size):
        if state.board[cell // size, cell % size] == EMPTY:  # few cells are empty: look at the stones beside them
            for direction in range(4):
                row, col = cell // size - ROW_STEP[direction], cell % size - COL_STEP[direction]
                if 0 <= row < size and 0 <= col < size and state.board[row, col] == state.to_move:
                    actions[count] = 4 * (row * size + col) + direction
                    count += 1
    return count


@kernel
def playout(states, rng, trace):
    """See `Kernels`."""
    size = states[0].board.shape[0]
    cells = size * size
    choice = np.empty(5 * cells + 1, np.int64)
    for i in range(len(states)):
        state = states[i]
        start = state.ply
        while not state.over:
            if state.placing:
                action = 4 * cells + random_below(rng, i, cells)
                if not is_legal(state, action):
                    continue
            elif state.blocked:
                action = 5 * cells
            elif state.chain == NONE:
                action = choice[random_below(rng, i, list_steps(state, choice))]
            elif state.extra_any:  # every step and the stop; the stone that captured can always step back
                count = list_steps(state, choice)
                choice[count] = 5 * cells
                action = choice[random_below(rng, i, count + (state.chain_rule == CHAIN_OPTIONAL))]
            else:  # the four steps of the chaining stone and the stop
                k = random_below(rng, i, 5)
                action = 5 * cells if k == 4 else 4 * np.int64(state.chain) + k
                if not is_legal(state, action):
                    continue
            note(trace, i, state.ply - start, action)
            play_one(state, action)


@kernel
def lead(states, leads):
    """See `Kernels`; stones on the board."""
    for i in range(len(states)):
        cells = states[i].board.shape[0] * states[i].board.shape[1]
        leads[i] = (np.int64(states[i].stones[0]) - states[i].stones[1]) / (cells - 1)


@kernel
def horizon(states, mask):
    """See `Kernels`; the board is full."""
    for i in range(len(states)):
        mask[i] = not states[i].placing


@kernel
def look_at(states, is_mobile, is_chaining):
    """Write whether the player to move can step, and whether the stone of a chain can go on: bool [B] each."""
    for i in range(len(states)):
        is_mobile[i] = can_move(states[i], states[i].to_move)
        is_chaining[i] = states[i].chain != NONE and (states[i].extra_any or can_go_on(states[i], states[i].chain))


class Seega(Game):
    """Seega. Cells are named by row letter and column number, A1 at the upper left, as in S4.

    A placement is named by its cell ("B2"), a step by cell and direction ("D3-up"); "stop" ends a chain of captures, and
    is the pass of a blocked player.

    size: 5, 7 or 9; 3 is small enough to be solved
    placement: stones placed in a turn, 2 or 1
    first_mover: who starts moving, "first" (seat 0) or "last_placer"
    safe_centre: whether a stone on the centre cell is immune
    chain: going on after a capture is "optional", "mandatory" or impossible ("none")
    extra_move: who goes on and how: the "same" stone by another capture, or "any" stone by any step
    blocked: a player who cannot move is passed over ("skip": the opponent moves again) or passes explicitly ("pass")
    least_stones: fewer stones than this end the game; 2 in S4, 1 plays until none is left
    quiet_limit: so many moves by both players without a capture end the game; None for no limit
    move_limit: so many moves after the placing end the game, e.g. 50; None for no limit
    rules: whose rules, for all options that are not given: "s4", "maic" (a contest of programs), "khamsawee" (Ludii's),
        "neto", "richgames" or "bodogemu" (public descriptions); `seega_rules` says what each is, and what no option can say
    At a limit, as at the regular end, more stones win.
    """

    name = "seega"
    seats = ("Black", "White")
    kernels = Kernels(legal, play, encode, playout, lead, horizon)

    @by_name
    def __init__(
        self,
        size: int = 5,
        *,
        placement: int = 2,
        first_mover: str = "first",
        safe_centre: bool = False,
        chain: str = "optional",
        extra_move: str = "same",
        blocked: str = "skip",
        least_stones: int = 2,
        quiet_limit: int | None = 20,
        move_limit: int | None = None,
        rules: str = "s4",  # `by_name` has filled in what it says
    ) -> None:
        size = whole_number("size", one_of("size", size, (3, 5, 7, 9)), 3, 9)
        placement = whole_number("placement", placement, 1, 2)
        one_of("first_mover", first_mover, ("first", "last_placer"))
        one_of("safe_centre", safe_centre, (False, True))
        one_of("chain", chain, CHAINS)
        one_of("extra_move", extra_move, EXTRA_MOVES)
        one_of("blocked", blocked, ("skip", "pass"))
        whole_number("least_stones", least_stones, 1, 2)
        if quiet_limit is None and move_limit is None:
            raise AzlabError("Seega needs a rule against endless games: give quiet_limit or move_limit.")
        for name, limit in (("quiet_limit", quiet_limit), ("move_limit", move_limit)):
            if limit is not None:
                whole_number(name, limit, 1, 300)
        super().__init__(
            size=size, placement=placement, first_mover=first_mover, safe_centre=safe_centre, chain=chain, extra_move=extra_move,
            blocked=blocked, least_stones=least_stones, quiet_limit=quiet_limit, move_limit=move_limit,
        )  # fmt: skip
        self.size = size
        self.cells = size * size
        self.dtype = dtype(size)
        self.num_actions = 5 * self.cells + 1
        # Each of at most cells - 1 captures ends a run of fewer than quiet_limit quiet moves; a stop may follow each capture.
        moves = self.cells * ((quiet_limit or 0) + 1) if move_limit is None else 2 * move_limit
        self.max_length = self.cells - 1 + moves
        self.planes_shape = (6, size, size)
        self.move_help = "place with a cell such as B2, step with a cell and a direction such as D3-up, end a chain with stop"

    def new_states(self, count: int = 1) -> np.ndarray:
        states = np.zeros(count, self.dtype)
        states["board"] = EMPTY
        states["chain"] = NONE
        states["placing"] = True
        states["quiet_limit"] = self.options["quiet_limit"] or 0
        states["move_limit"] = self.options["move_limit"] or 0
        states["per_turn"] = self.options["placement"]
        states["last_placer_moves"] = self.options["first_mover"] == "last_placer"
        states["safe_centre"] = self.options["safe_centre"]
        states["chain_rule"] = CHAINS.index(self.options["chain"])
        states["extra_any"] = self.options["extra_move"] == "any"
        states["explicit_pass"] = self.options["blocked"] == "pass"
        states["least"] = self.options["least_stones"]
        return states

    def faults(self, states: np.ndarray) -> Faults:
        return state_faults(self, states, look_at)

    def from_diagram(self, diagram: str, to_move: int = 0) -> Position:
        """A position of the moving phase drawn with X (seat 0), O (seat 1) and . (empty), a line for each row from the top."""
        one_of("to_move", to_move, (0, 1))
        marks = grid.read_diagram(diagram, self.size, self.size)
        state = self.new_states(1)
        state["board"][0] = np.array(["XO.".index(mark) for mark in marks]).reshape(self.size, self.size)
        state["board"][state["board"] == 2] = EMPTY
        state["stones"][0] = [marks.count("X"), marks.count("O")]
        if min(state["stones"][0]) < self.options["least_stones"] or "." not in marks:
            raise AzlabError("In a position of the moving phase both sides have stones left and at least one cell is empty.")
        state["placing"] = False
        begin_turn(state[0], to_move)
        return Position(self, state)

    def _cell_name(self, cell: int) -> str:
        return f"{string.ascii_uppercase[cell // self.size]}{cell % self.size + 1}"

    def move_name(self, action: int) -> str:
        if action == 5 * self.cells:
            return "stop"
        if action >= 4 * self.cells:
            return self._cell_name(action - 4 * self.cells)
        return f"{self._cell_name(action // 4)}-{DIRECTIONS[action % 4]}"

    def spot(self, action: int) -> tuple[float, float] | None:
        if action == 5 * self.cells:
            return None
        if action >= 4 * self.cells:
            cell = action - 4 * self.cells
            return cell % self.size + 0.5, cell // self.size + 0.5
        row, col = divmod(action // 4, self.size)  # a step is shown on the edge it crosses
        return col + 0.5 + COL_STEP[action % 4] / 2, row + 0.5 + ROW_STEP[action % 4] / 2

    def clicks(self, action: int) -> list[Area]:
        if action >= 4 * self.cells:
            return super().clicks(action)
        row, col = divmod(action // 4, self.size)
        cells = [(row, col), (row + int(ROW_STEP[action % 4]), col + int(COL_STEP[action % 4]))]
        if not all(0 <= part < self.size for part in cells[1]):
            return []  # a step off the board is never legal
        return [Area(self._cell_name(r * self.size + c), c, r) for r, c in cells]

    @functools.cached_property
    def symmetries(self) -> list[Symmetry]:
        found = []
        middle = self.cells // 2
        beside_middle = [middle + ROW_STEP[d] * self.size + COL_STEP[d] for d in range(4)]
        for name, image in grid.transformations(self.size, self.size):
            turned = [beside_middle.index(image[cell]) for cell in beside_middle]  # where each direction points afterwards
            steps = [4 * image[cell] + turned[d] for cell in range(self.cells) for d in range(4)]
            places = [4 * self.cells + cell for cell in image]
            found.append(Symmetry(name, np.array([*steps, *places, 5 * self.cells]), image))
        return found

    def scores(self, state: np.ndarray) -> tuple[float, float]:
        return float(state["stones"][0, 0]), float(state["stones"][0, 1])

    def last_cell(self, position: Position) -> int | None:
        """The cell where the last placed or moved stone stands."""
        last = position.actions[-1] if position.actions else 5 * self.cells
        if last == 5 * self.cells:
            return None
        if last >= 4 * self.cells:
            return last - 4 * self.cells
        return last // 4 + int(ROW_STEP[last % 4]) * self.size + int(COL_STEP[last % 4])

    def text(self, position: Position) -> str:
        board, last = position._state["board"][0], self.last_cell(position)
        out = []
        for row in range(self.size):
            marks = ["XO."[board[row, col]] for col in range(self.size)]
            marks = [f"({mark})" if last == row * self.size + col else f" {mark} " for col, mark in enumerate(marks)]
            out.append(string.ascii_uppercase[row] + " ".join(marks))
        return "\n".join([line.rstrip() for line in out] + ["  " + "   ".join(str(col + 1) for col in range(self.size))])

    def picture(self, position: Position) -> Picture:
        numbers = [str(col + 1) for col in range(self.size)]
        picture = grid.cells_picture(self.size, self.size, list(string.ascii_uppercase), numbers)
        picture.square(self.size // 2, self.size // 2, style="centre")
        board, last = position._state["board"][0], self.last_cell(position)
        for row, col in zip(*np.nonzero(board != EMPTY), strict=True):
            picture.stone(int(col) + 0.5, int(row) + 0.5, int(board[row, col]), last == row * self.size + col, "go")
        return picture
