"""Dots and Boxes on any board: draw lines between dots; whoever draws the fourth side of a box owns it and goes on.

The lines of a board with r x c boxes lie in a matrix of (2r+1) x (c+1) cells, as in source S3 (7 x 4 = 28 inputs for
3x3): even matrix rows are the horizontal lines of a dot row (c of them, and a pad that stays 0), odd ones the c+1
vertical lines of a box row. Lines get their names from there: "aA" is the horizontal line of column a in dot row A,
"Bc" the vertical line of box row B at dot column c.
"""

import functools
import string

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.games import grid
from azlab.games.game import Game, Kernels, Position, Symmetry, state_dtype
from azlab.games.kernel import kernel, note, random_below
from azlab.games.picture import Area, Picture
from azlab.games.validity import Faults


def dtype(rows: int, cols: int) -> np.dtype:
    """The state of a board with rows x cols boxes."""
    return state_dtype(
        ("boxes", np.int16, (2,)),  # boxes won by each seat
        ("lines", np.int8, (2 * rows + 1, cols + 1)),  # 1 where drawn
    )


# The kernels get the board's size from the shape of `lines`, which is known when they are compiled.
# Actions number the cells of the matrix that are lines, row by row: first c of the first row, then c+1 of the second, ...


@kernel
def cell_of_action(action, cols):
    """The (matrix row, matrix column) of an action."""
    pair, place = divmod(action, 2 * cols + 1)  # a horizontal and a vertical row together have 2c+1 lines
    if place < cols:
        return 2 * pair, place
    return 2 * pair + 1, place - cols


@kernel
def is_box(lines, row, col):
    """Whether all four sides of the box at box row `row`, column `col` are drawn."""
    top = 2 * row
    return lines[top, col] and lines[top + 2, col] and lines[top + 1, col] and lines[top + 1, col + 1]


@kernel
def play_one(state, action):
    """Draw a line; every box it completes counts for the player to move, who then moves again."""
    lines = state.lines
    rows, cols = lines.shape[0] // 2, lines.shape[1] - 1
    line_row, line_col = cell_of_action(action, cols)
    lines[line_row, line_col] = 1
    won = 0
    if line_row % 2 == 0:  # horizontal: the boxes above and below
        if line_row > 0 and is_box(lines, line_row // 2 - 1, line_col):
            won += 1
        if line_row < 2 * rows and is_box(lines, line_row // 2, line_col):
            won += 1
    else:  # vertical: the boxes to the left and to the right
        if line_col > 0 and is_box(lines, line_row // 2, line_col - 1):
            won += 1
        if line_col < cols and is_box(lines, line_row // 2, line_col):
            won += 1
    state.ply += 1
    if won:
        state.boxes[state.to_move] += won
    else:
        state.to_move = 1 - state.to_move
    if state.ply == rows * (cols + 1) + (rows + 1) * cols:
        state.over = True
        state.result = np.sign(state.boxes[0] - state.boxes[1])


@kernel
def legal(states, mask):
    """See `Kernels`; actions are lines."""
    for i in range(len(states)):
        cols = states[i].lines.shape[1] - 1
        for action in range(mask.shape[1]):
            row, col = cell_of_action(action, cols)
            mask[i, action] = states[i].lines[row, col] == 0


@kernel
def play(states, actions):
    """See `Kernels`."""
    for i in range(len(states)):
        play_one(states[i], actions[i])


@kernel
def encode(states, planes):
    """Two planes: the matrix of lines (the inputs of S3), and the lead of the player to move as a share of all boxes."""
    for i in range(len(states)):
        height, width = states[i].lines.shape
        lead = states[i].boxes[states[i].to_move] - states[i].boxes[1 - states[i].to_move]
        for row in range(height):
            for col in range(width):
                planes[i, 0, row, col] = states[i].lines[row, col]
                planes[i, 1, row, col] = lead / ((height // 2) * (width - 1))


@kernel
def playout(states, rng, trace):
    """See `Kernels`; draws the free lines in a random order."""
    height, width = states[0].lines.shape
    free = np.empty(height * width, np.int64)
    for i in range(len(states)):
        state = states[i]
        count = 0
        for action in range((height // 2) * width + (height // 2 + 1) * (width - 1)):
            row, col = cell_of_action(action, width - 1)
            if state.lines[row, col] == 0:
                free[count] = action
                count += 1
        start = state.ply
        while count:
            k = random_below(rng, i, count)
            note(trace, i, state.ply - start, free[k])
            play_one(state, free[k])
            count -= 1
            free[k] = free[count]


@kernel
def lead(states, leads):
    """See `Kernels`; boxes."""
    for i in range(len(states)):
        height, width = states[i].lines.shape
        leads[i] = (states[i].boxes[0] - states[i].boxes[1]) / ((height // 2) * (width - 1))


@kernel
def turn_to_normal(states, turns, chosen):
    """Turn each board to that of its symmetric copies whose lines, read as a binary number, are the smallest.

    `turns` int64 [S, A]: which action an action becomes in each symmetry; `chosen` int64 [B]: the symmetry taken.
    """
    for i in range(len(states)):
        lines = states[i].lines
        cols = lines.shape[1] - 1
        least = np.uint64(0xFFFFFFFFFFFFFFFF)
        chosen[i] = 0
        for s in range(turns.shape[0]):
            number = np.uint64(0)
            for action in range(turns.shape[1]):
                row, col = cell_of_action(action, cols)
                if lines[row, col]:
                    number |= np.uint64(1) << np.uint64(turns[s, action])
            if number < least:
                least = number
                chosen[i] = s
        for action in range(turns.shape[1]):
            row, col = cell_of_action(action, cols)
            lines[row, col] = np.int8((least >> np.uint64(action)) & np.uint64(1))


class DotsAndBoxes(Game):
    """Dots and Boxes with rows x cols boxes; 3x3 is the board of source S3."""

    name = "dots_and_boxes"
    seats = ("Blue", "Orange")
    kernels = Kernels(legal, play, encode, playout, lead)

    def __init__(self, rows: int = 3, cols: int = 3) -> None:
        rows = whole_number("rows", rows, 1, 25)  # dot rows are named by letters
        cols = whole_number("cols", cols, 1, 25)
        super().__init__(rows=rows, cols=cols)
        self.rows, self.cols = rows, cols
        self.points = rows * cols
        self.dtype = dtype(rows, cols)
        self.num_actions = rows * (cols + 1) + (rows + 1) * cols
        self.max_length = self.num_actions
        self.planes_shape = (2, 2 * rows + 1, cols + 1)
        self.move_help = "a horizontal line is a column and a dot row (aA), a vertical one a row and a dot column (Bc)"

    def new_states(self, count: int = 1) -> np.ndarray:
        return np.zeros(count, self.dtype)

    def faults(self, states: np.ndarray) -> Faults:
        lines, boxes, ply = states["lines"], states["boxes"], states["ply"]
        yield "lines has a number that is neither 0 nor 1", ((lines < 0) | (lines > 1)).any(axis=(1, 2))
        yield "lines has a line where the board has none", lines[:, ::2, -1].any(axis=1)
        yield "ply is not the number of lines drawn", lines.sum(axis=(1, 2)) != ply
        closed = self._closed(lines)
        yield "boxes has a negative number", (boxes < 0).any(axis=1)
        yield "boxes are not as many as the lines enclose", boxes.sum(axis=1) != closed
        # every line ends a turn but those that close a box; of two boxes it is not known whether one line closed both
        yield "to_move is the other seat", (closed < 2) & (states["to_move"] != (ply - closed) % 2)
        yield "over is not what the board says", states["over"] != (ply == self.max_length)
        yield "result is not what the boxes say", states["result"] != np.sign(boxes[:, 0] - boxes[:, 1]) * states["over"]

    def _closed(self, lines: np.ndarray) -> np.ndarray:
        """How many boxes `lines` [B, 2 * rows + 1, cols + 1] enclose: int64 [B]."""
        across, down = lines[:, ::2, :-1], lines[:, 1::2]
        return (across[:, :-1] & across[:, 1:] & down[:, :, :-1] & down[:, :, 1:]).sum(axis=(1, 2))

    def normal_form(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.num_actions > 64:
            raise AzlabError(f"Positions of up to 64 lines can be turned to a normal form; this board has {self.num_actions}.")
        plain = states.copy()
        plain["boxes"] = 0
        plain["to_move"] = 0
        turns = np.stack([symmetry.actions for symmetry in self.symmetries])
        chosen = np.empty(len(states), np.int64)
        turn_to_normal(plain, turns, chosen)
        return plain, turns[chosen]

    def from_normal_form(self, states: np.ndarray) -> np.ndarray:
        played, closed = states.copy(), self._closed(states["lines"])
        played["boxes"][:, 0] = closed
        played["to_move"] = (states["ply"] - closed) % 2
        return played

    def move_name(self, action: int) -> str:
        row, col = cell_of_action(action, self.cols)
        if row % 2 == 0:
            return string.ascii_lowercase[col] + string.ascii_uppercase[row // 2]
        return string.ascii_uppercase[row // 2] + string.ascii_lowercase[col]

    def split_moves(self, text: str) -> list[str]:
        joined = "".join(super().split_moves(text))  # every name has two letters, so "aABc" needs no spaces
        return [joined[k : k + 2] for k in range(0, len(joined), 2)]

    def spot(self, action: int) -> tuple[float, float]:
        row, col = cell_of_action(action, self.cols)
        return (col + 0.7, row // 2 + 0.2) if row % 2 == 0 else (col + 0.2, row // 2 + 0.7)

    def clicks(self, action: int) -> list[Area]:
        x, y = self.spot(action)
        kind = "across" if cell_of_action(action, self.cols)[0] % 2 == 0 else "down"
        return [Area(f"line {self.move_name(action)}", x - 0.5, y - 0.5, kind=kind)]

    @functools.cached_property
    def symmetries(self) -> list[Symmetry]:
        # A lattice of dots, lines and boxes, (2r+1) x (2c+1), turns as a whole; lines sit where row + column is odd.
        height, width = 2 * self.rows + 1, 2 * self.cols + 1
        action_at = {}
        for action in range(self.num_actions):
            row, col = cell_of_action(action, self.cols)
            action_at[row * width + 2 * col + 1 - row % 2] = action
        matrix_cell = {action: np.dot(cell_of_action(action, self.cols), (self.cols + 1, 1)) for action in action_at.values()}
        found = []
        for name, image in grid.transformations(height, width):
            actions = np.empty(self.num_actions, np.int64)
            for place, action in action_at.items():
                actions[action] = action_at[int(image[place])]
            cells = np.arange(height * (self.cols + 1))  # a pad stays where it is
            for action in range(self.num_actions):
                cells[matrix_cell[action]] = matrix_cell[int(actions[action])]
            found.append(Symmetry(name, actions, cells))
        return found

    def scores(self, state: np.ndarray) -> tuple[float, float]:
        return float(state["boxes"][0, 0]), float(state["boxes"][0, 1])

    def owners(self, position: Position) -> dict[tuple[int, int], int]:
        """Who owns each finished box: {(row, column): seat}, from the moves of the position; -1 where they do not tell."""
        owners: dict[tuple[int, int], int] = {}
        for before, after in zip([None, *position.path()], position.path(), strict=False):
            lines = after._state["lines"][0]
            for box in np.ndindex(self.rows, self.cols):
                if box not in owners and is_box(lines, *box):
                    owners[box] = before.to_move if before is not None else -1
        return owners

    def text(self, position: Position) -> str:
        lines, owners = position._state["lines"][0], self.owners(position)

        def boxes(row: int) -> list[tuple[int, int]]:
            return [(row, col) for col in range(self.cols)]

        out = ["  " + "   ".join(string.ascii_lowercase[: self.cols + 1])]
        for row in range(2 * self.rows + 1):
            if row % 2 == 0:
                dashes = ["---" if lines[row, col] else "   " for col in range(self.cols)]
                out.append(f"{string.ascii_uppercase[row // 2]} +{'+'.join(dashes)}+")
            else:
                letters = [{None: " ", -1: "?"}.get(seat, self.seats[seat or 0][0]) for seat in map(owners.get, boxes(row // 2))]
                bars = ["|" if lines[row, col] else " " for col in range(self.cols + 1)]
                out.append("  " + "".join(f"{bar} {letter} " for bar, letter in zip(bars, [*letters, ""], strict=True)).rstrip())
        return "\n".join(out)

    def picture(self, position: Position) -> Picture:
        picture = Picture(self.cols + 0.4, self.rows + 0.4)
        for (row, col), seat in self.owners(position).items():
            picture.square(col + 0.2, row + 0.2, style=f"owned{seat}" if seat >= 0 else "cell")
            if seat >= 0:
                picture.label(col + 0.7, row + 0.7, self.seats[seat][0], "owner")
        last = position.actions[-1] if position.actions else None
        for action in range(self.num_actions):
            row, col = cell_of_action(action, self.cols)
            x, y = col + 0.2, row // 2 + 0.2
            style = "last" if action == last else "drawn" if position._state["lines"][0, row, col] else "faint"
            picture.line(x, y, x + (row % 2 == 0), y + (row % 2), style)
        for row, col in np.ndindex(self.rows + 1, self.cols + 1):
            picture.dot(col + 0.2, row + 0.2, 0.11)
        for row in range(self.rows + 1):
            picture.label(-0.3, row + 0.2, string.ascii_uppercase[row])
        for col in range(self.cols + 1):
            picture.label(col + 0.2, self.rows + 0.75, string.ascii_lowercase[col])
        return picture
