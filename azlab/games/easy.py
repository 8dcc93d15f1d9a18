"""The easy way to a game: four plain functions over one board. docs/new_game.md begins with it.

The author's functions know a board, an array of small whole numbers that holds all there is to know, and players, who are
called +1 (who begins) and -1:

    start() -> the board before the first move
    legal(board, player) -> the numbers of the legal actions, or one truth value for each action
    play(board, player, action): changes the board; returns who moves next, or nothing if the players take turns
    result(board, player) -> None while the game goes on; else who won, +1 or -1, or 0 for a draw; `player` made the last move

`easy_game` makes a `Game` of them, with everything that other games have.
"""

import functools
import inspect
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.games import grid
from azlab.games.easy_kernels import Functions, compiled_kernels, kernels_of
from azlab.games.game import Game, Kernels, Position, Symmetry, state_dtype
from azlab.games.kernel import is_compiled, tell
from azlab.games.picture import Area, Picture

CELLS, CELLS_AND_PASS, COLUMNS = "cells", "cells and pass", "columns"
LONGEST = 32_000  # moves are counted in 16 bits


def easy_game(
    name: str,
    start: Callable[..., Any],
    legal: Callable[..., Any],
    play: Callable[..., Any],
    result: Callable[..., Any],
    *,
    actions: str | int | Sequence[str] = CELLS,
    max_length: int | None = None,
    values: Sequence[int] = (1, -1),
    encode: Callable[..., Any] | None = None,
    symmetric: bool = False,
    seats: tuple[str, str] = ("X", "O"),
    compiled: bool = True,
) -> "EasyGame":
    """A game of four functions; see the top of this file. It is registered: `azlab.game(name)` finds it.

    actions: "cells" of the board row by row, "cells and pass", "columns"; or how many there are; or a list of their names
    max_length: after so many moves a game is drawn; the number of cells, where each move fills one
    values: the numbers on the board that a network sees, each on a plane of its own; 0 need not be there
    encode: encode(board, player) -> planes [C, H, W], if a network is to see something else
    symmetric: the rules are the same however the board is turned and mirrored (with columns: mirrored); `check` tests it
    seats: what +1 and -1 are called
    compiled: False to run the functions as plain Python, e.g. to print from them
    Keyword arguments of `start` are the options of the game: start(size=3) makes azlab.game(name, size=4) possible.
    """
    from azlab.games.registry import register

    names = actions if isinstance(actions, str | int) else tuple(actions)
    seen = tuple(whole_number("Each of values", value, -(2**31), 2**31 - 1) for value in values)
    if not seen:
        raise AzlabError("values needs at least one number that can stand on the board, such as values=(1, -1).")
    rules = Rules(name, start, legal, play, result, names, max_length, seen, encode, symmetric, (seats[0], seats[1]), compiled)
    return register(EasyGame(rules))


@dataclass(frozen=True)
class Rules:
    """What `easy_game` was given."""

    name: str
    start: Callable[..., Any]
    legal: Callable[..., Any]
    play: Callable[..., Any]
    result: Callable[..., Any]
    actions: str | int | tuple[str, ...]
    max_length: int | None
    values: tuple[int, ...]
    encode: Callable[..., Any] | None
    symmetric: bool
    seats: tuple[str, str]
    compiled: bool

    @property
    def functions(self) -> Functions:
        """The functions that kernels call."""
        return Functions(self.legal, self.play, self.result, self.encode)


class EasyGame(Game):
    """A game made of plain functions. Called with options it gives the same game with those: my_game(size=5)."""

    def __init__(self, rules: Rules, loaded_as: str = "", **options: Any) -> None:
        super().__init__(**options)
        self.rules = rules
        self.name, self.seats, self.loaded_as = rules.name, rules.seats, loaded_as  # type: ignore[misc]
        self.__signature__ = _options_of(rules)
        self.board = _start_board(rules, options)
        self.rows, self.cols = self.board.reshape(-1, self.board.shape[-1]).shape
        self.move_names = self._names()
        self.num_actions = len(self.move_names)
        self.max_length = self._longest()
        self.move_help = f"moves are called {', '.join(self.move_names[:3])}{', ...' if self.num_actions > 3 else ''}"
        self.dtype = state_dtype(
            ("board", self.board.dtype, self.board.shape),
            ("values", np.int32, (len(rules.values),)),
            ("num_actions", np.int32),
            ("max_length", np.int16),
        )
        height = self.board.shape[-2] if self.board.ndim > 1 else 1
        self.planes_shape = (len(rules.values) * (self.rows // height) + 1, height, self.cols)
        if rules.encode is not None:
            self.planes_shape = _planes_shape(rules.encode(self.board.copy(), 1))

    def __call__(self, **options: Any) -> "EasyGame":
        return EasyGame(self.rules, self.loaded_as, **options)

    def __reduce__(self) -> tuple:
        return functools.partial(EasyGame, self.rules, self.loaded_as, **self.options), ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EasyGame) and (other.rules, other.options) == (self.rules, self.options)

    __hash__ = Game.__hash__

    def _names(self) -> list[str]:
        actions = self.rules.actions
        if actions in (CELLS, CELLS_AND_PASS):
            named = [grid.cell_name(k, self.rows, self.cols, COL_NAMES[self.cols > 26]) for k in range(self.board.size)]
            return [*named, "pass"] if actions == CELLS_AND_PASS else named
        if actions == COLUMNS:
            return [str(col + 1) for col in range(self.cols)]
        if isinstance(actions, str):
            raise AzlabError(f'actions is "cells", "cells and pass", "columns", a number or a list of names, not {actions!r}.')
        if isinstance(actions, tuple):
            return [str(name) for name in actions]
        return [str(action) for action in range(whole_number("actions", actions, 1, 10**6))]

    def _longest(self) -> int:
        if self.rules.max_length is not None:
            return whole_number("max_length", self.rules.max_length, 1, LONGEST)
        if self.rules.actions not in (CELLS, COLUMNS):
            raise AzlabError(f"{self.name} needs max_length=..., the number of moves after which a game ends as a draw.")
        return min(self.board.size, LONGEST)

    @functools.cached_property
    def kernels(self) -> Kernels:  # type: ignore[override]
        """Compiled when first needed; plain Python, with a sentence, where Numba cannot compile a function."""
        if self.rules.compiled:
            found = compiled_kernels(self.rules.functions, self.new_states(1), self.num_actions, self.planes_shape)
            if isinstance(found, Kernels):
                return found
            _say_once(f"{self.name} runs as plain Python, hundreds of times slower: {found}.")
        return kernels_of(self.rules.functions)

    @property
    def is_compiled(self) -> bool:
        """Whether the rules were compiled."""
        return is_compiled(self.kernels.play)

    def new_states(self, count: int = 1) -> np.ndarray:
        states = np.zeros(count, self.dtype)
        states["board"] = self.board
        states["values"], states["num_actions"], states["max_length"] = self.rules.values, self.num_actions, self.max_length
        return states

    def move_name(self, action: int) -> str:
        return self.move_names[action]

    def split_moves(self, text: str) -> list[str]:
        return text.split()

    def check(self, games: int = 20, seed: int = 0) -> None:
        """Play random games and raise `RuleViolation` with a sentence on what is wrong; no output means that all is well."""
        from azlab.games.easy_check import check_functions

        check_functions(self, games, seed)
        super().check(games, seed)

    # --- what people see ------------------------------------------------------------------------------------------------

    def _flat(self, position: Position) -> np.ndarray:
        return position._state["board"][0].reshape(self.rows, self.cols)

    def text(self, position: Position) -> str:
        cells = [[SYMBOLS.get(int(cell), str(int(cell))) for cell in row] for row in self._flat(position)]
        width = max(len(cell) for row in cells for cell in row)
        rows = [" ".join(cell.rjust(width) for cell in row) for row in cells]
        edge = len(str(self.rows))
        names = "".join(f" {letter:>{width}}" for letter in COL_NAMES[self.cols > 26][: self.cols])
        if self.rules.actions == COLUMNS:
            names = "".join(f" {(col + 1) % 10:>{width}}" for col in range(self.cols))
        return "\n".join([*(f"{self.rows - r:>{edge}}  {row}" for r, row in enumerate(rows)), " " * (edge + 1) + names])

    def picture(self, position: Position) -> Picture:
        by_column = self.rules.actions == COLUMNS
        letters = [str(col + 1) for col in range(self.cols)] if by_column else list(COL_NAMES[self.cols > 26][: self.cols])
        picture = grid.cells_picture(self.rows, self.cols, col_names=letters)
        last = position.actions[-1] if position.actions and self.rules.actions in (CELLS, CELLS_AND_PASS) else None
        for (row, col), cell in np.ndenumerate(self._flat(position)):
            if cell in (1, -1):
                picture.stone(col + 0.5, row + 0.5, int(cell == -1), row * self.cols + col == last, "mark")
            elif cell:
                picture.label(col + 0.5, row + 0.5, str(int(cell)), "owner")
        return picture

    def spot(self, action: int) -> tuple[float, float] | None:
        if self.rules.actions == COLUMNS:
            return action + 0.5, -0.3
        if self.rules.actions in (CELLS, CELLS_AND_PASS) and action < self.board.size:
            return action % self.cols + 0.5, action // self.cols + 0.5
        return None

    def clicks(self, action: int) -> list[Area]:
        if self.rules.actions == COLUMNS:
            return [Area(f"column {action + 1}", action, 0, 1, self.rows, "column")]
        return super().clicks(action)

    @functools.cached_property
    def symmetries(self) -> list[Symmetry]:
        cells = self.planes_shape[1] * self.planes_shape[2]
        identity = Symmetry("identity", np.arange(self.num_actions), np.arange(cells))
        if not self.rules.symmetric:
            return [identity]
        if self.board.ndim > 2 or cells != self.board.size or self.rules.actions not in (CELLS, CELLS_AND_PASS, COLUMNS):
            raise AzlabError("symmetric=True is for flat boards whose actions are cells or columns; leave it out.")
        found = {identity.actions.tobytes(): identity}
        for name, image in grid.transformations(self.rows, self.cols):
            if self.rules.actions == COLUMNS and name != "mirror left-right":
                continue
            moved = image if self.rules.actions != COLUMNS else np.arange(self.cols)[::-1].copy()
            moved = np.append(moved, len(moved)) if self.rules.actions == CELLS_AND_PASS else moved
            found.setdefault(moved.tobytes(), Symmetry(name, moved, image))
        return list(found.values())


@functools.cache
def _say_once(sentence: str) -> None:
    tell(sentence)


SYMBOLS = {0: ".", 1: "X", -1: "O"}
# letters of columns, and what stands for them on boards of more than 26
COL_NAMES = string.ascii_lowercase, [f"{col + 1}/" for col in range(1000)]


def _options_of(rules: Rules) -> inspect.Signature:
    """The parameters of `start`, which are the options of the game."""
    signature = inspect.signature(rules.start)
    without = [name for name, parameter in signature.parameters.items() if parameter.default is inspect.Parameter.empty]
    if without:
        raise AzlabError(f"start needs a default for {without[0]}, as in start({without[0]}=3): it is an option of the game.")
    return signature


def _start_board(rules: Rules, options: dict[str, Any]) -> np.ndarray:
    """The board of the start, if it is an array of whole numbers."""
    board = rules.start(**options)
    if board is None:
        raise AzlabError("start returned nothing; it returns the board, e.g. return np.zeros((3, 3), np.int8).")
    try:
        board = np.array(board)
    except ValueError:
        board = np.array(None)
    if board.dtype.kind not in "iub" or board.ndim == 0 or board.size == 0:
        what = f"{board.dtype} of shape {board.shape}" if board.dtype.kind != "O" else "objects"
        raise AzlabError(
            f"The board that start returns must be an array of whole numbers, not {what}: write np.zeros((3, 3), np.int8), "
            "with the type of the numbers, or np.zeros(5, np.int16) for a row of them."
        )
    return np.ascontiguousarray(board)


def _planes_shape(planes: Any) -> tuple[int, int, int]:
    shape = np.shape(planes)
    if len(shape) != 3:
        raise AzlabError(f"encode returns planes, an array of the shape (planes, rows, columns), not of the shape {shape}.")
    return int(shape[0]), int(shape[1]), int(shape[2])
