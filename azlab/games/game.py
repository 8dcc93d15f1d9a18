"""The whole contract of a game: what a game module gives, and what people get from it.

A *state* is one record of a numpy structured dtype, so a thousand games are one array. Every dtype has the
four fields of `STATE_FIELDS`; the rest is the game's own. A state is complete: it carries the numbers of its rules (komi, board
size, limits) too, so kernels need no other argument.

A game module gives four kernels over arrays of states (`Kernels`) and a subclass of `Game` that names its moves and draws its
board. Facts every kernel respects:

- whose turn it is, is a *field* of the state (some games give extra turns);
- "over" is separate from the result; the result is that of seat 0 (+1, 0, -1), never "for whoever moved";
- every game ends after at most `max_length` moves.

Kernels do not check their input; `Game.validate` does, for states that come from outside.

`Game.check()` plays random games and verifies all of this. For people there is `Position`.
"""

import difflib
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, SupportsIndex

import numpy as np

from azlab.errors import AzlabError, IllegalMove
from azlab.games import validity
from azlab.games.kernel import new_rng
from azlab.games.picture import Area, Picture
from azlab.lazy import above

STATE_FIELDS = [
    ("ply", np.int16),  # moves played so far, by both seats
    ("to_move", np.int8),  # seat to move, 0 or 1
    ("over", np.bool_),
    ("result", np.int8),  # for seat 0: +1 won, 0 drawn or not over, -1 lost
]


NO_TRACE = np.zeros((0, 0), np.int32)  # for playouts whose moves nobody asks for


def state_dtype(*fields: tuple) -> np.dtype:
    """The dtype of a game's states: the game's own fields and the four common ones.

    The record type lets kernels write `state.board` both compiled and as plain Python. Wide fields come first and the
    end is filled up by a field of its own: numpy does not copy the gaps between fields, and states are compared byte
    by byte.
    """
    ordered = sorted([*fields, *STATE_FIELDS], key=lambda field: -np.dtype(field[1]).itemsize)
    gap = -np.dtype(ordered).itemsize % np.dtype(ordered[0][1]).itemsize
    if gap:
        ordered.append(("filler", np.uint8, (gap,)))
    return np.dtype((np.record, np.dtype(ordered, align=True)))  # type: ignore[arg-type]


class Kernels(NamedTuple):
    """The compiled rules of a game. B >= 1 states at once, A = `num_actions`; arrays are contiguous and written in place."""

    legal: Callable[..., Any]  # legal(states [B], mask bool [B, A]): fills the mask; no action is legal when over
    play: Callable[..., Any]  # play(states [B], actions int64 [B]): actions must be legal
    encode: Callable[..., Any]  # encode(states [B], planes float32 [B, C, H, W]): what a network sees
    playout: Callable[..., Any]  # playout(states [B], rng uint64 [B], trace int32 [B, L]): random moves to the end of each
    # game; its first L actions are written down
    lead: Callable[..., Any] | None = None  # lead(states [B], leads float [B]): points by which seat 0 leads, as a share of
    # all points, in [-1, 1]; only for games that count points
    horizon: Callable[..., Any] | None = None  # horizon(states [B], mask bool [B]): whether the first phase of the game is over,
    # which no later move changes; only for games of two phases


@dataclass(frozen=True, eq=False)
class Symmetry:
    """A relabelling of the board that leaves the rules and the starting position unchanged."""

    name: str
    actions: np.ndarray  # int64 [A]: action `a` becomes `actions[a]`
    cells: np.ndarray  # int64 [H*W]: plane cell `i` becomes cell `cells[i]`

    def on_actions(self, values: np.ndarray) -> np.ndarray:
        """Move per-action values [..., A] (a policy, a legal mask) along with the board."""
        moved = np.empty_like(values)
        moved[..., self.actions] = values
        return moved

    def on_planes(self, planes: np.ndarray) -> np.ndarray:
        """Move encoded planes [..., H, W] along with the board."""
        flat = *planes.shape[:-2], len(self.cells)  # not -1, which numpy cannot work out for no planes at all
        moved = np.empty_like(planes).reshape(flat)
        moved[..., self.cells] = planes.reshape(flat)
        return moved.reshape(planes.shape)


class Game:
    """A game with its options fixed. Subclasses set the attributes below and define the methods marked so."""

    name: ClassVar[str]
    loaded_as: ClassVar[str] = ""  # "othello.py:Othello", if the class came from a file or package of the user's
    seats: ClassVar[tuple[str, str]]  # what the two players are called
    move_help: str  # one clause on how moves are named, for error messages

    dtype: np.dtype
    kernels: Kernels
    num_actions: int
    max_length: int  # no game has more moves
    planes_shape: tuple[int, int, int]  # (channels, height, width) of an encoded state
    points: int = 0  # that there are to make in a game, where what is still to come depends on the board alone (`normal_form`)

    def __init__(self, **options: Any) -> None:
        self.options = options

    # --- to be defined by each game ---------------------------------------------------------------------------

    def new_states(self, count: int = 1) -> np.ndarray:
        """Return an array of `count` starting states."""
        raise NotImplementedError

    def move_name(self, action: int) -> str:
        """The name of an action in the game's own notation."""
        raise NotImplementedError

    def text(self, position: "Position") -> str:
        """The board for a terminal."""
        raise NotImplementedError

    def picture(self, position: "Position") -> Picture:
        """The board as shapes, to be drawn by `azlab.show`."""
        raise NotImplementedError

    def spot(self, action: int) -> tuple[float, float] | None:
        """Where on the picture a move is played, for marks on it; None for a move without a place, such as a pass."""
        return None

    def clicks(self, action: int) -> list[Area]:
        """What a person clicks, one after the other, to play a move; nothing for a move without a place.

        The default is one cell around `spot`. Define it for other shapes, or where a stone is chosen before its target.
        """
        spot = self.spot(action)
        return [] if spot is None else [Area(self.move_name(action), spot[0] - 0.5, spot[1] - 0.5)]

    @functools.cached_property
    def symmetries(self) -> list[Symmetry]:
        """All symmetries, the identity first."""
        raise NotImplementedError

    def scores(self, state: np.ndarray) -> tuple[float, float] | None:
        """Points of both seats in the one-element array `state`, for games that count points."""
        return None

    def split_moves(self, text: str) -> list[str]:
        """Cut a line of moves into names; here at spaces and commas."""
        return text.replace(",", " ").split()

    def faults(self, states: np.ndarray) -> validity.Faults:
        """What may be wrong with the game's own fields: yield a clause that names the field, and bool [B], in which of `states`.

        The four common fields are in order when this is called, and a later check may rely on those before it. Let no state pass
        that leads a kernel out of an array or round for ever.
        """
        yield from ()

    # --- the same for all games -------------------------------------------------------------------------------

    @property
    def spec(self) -> str:
        """What `azlab.game` finds it by."""
        return self.loaded_as or self.name

    def start(self) -> "Position":
        """The starting position."""
        return Position(self, self.new_states(1))

    def from_moves(self, moves: str | Iterable[str | int]) -> "Position":
        """The position after `moves`: a line such as "4444", or a list of names or action numbers."""
        position = self.start()
        for move in self.split_moves(moves) if isinstance(moves, str) else moves:
            position = position.play(move)
        return position

    def position(self, state: np.ndarray) -> "Position":
        """Show one state of an array (`states[i:i+1]` or `states[i]`) as a position without a past, if it is possible."""
        self.validate(state)
        if np.size(state) != 1:
            raise AzlabError(f"A position shows one state, not {np.size(state)}.")
        return Position(self, np.array(state, dtype=self.dtype).reshape(1))

    def validate(self, states: np.ndarray, normal_form: bool = False) -> None:
        """Raise a sentence unless every one of `states` (a record or an array of them) is possible by the rules.

        Options and all that follows from the board are recomputed. What a state does not tell (whether moves lead to its board)
        is not asked. `normal_form`: the states must be as `normal_form` makes them.
        """
        if not normal_form:
            return validity.validate(self, states)
        played = self.from_normal_form(states)
        validity.validate(self, played)
        if len(states) and self.normal_form(played)[0].tobytes() != states.tobytes():
            raise AzlabError(f"These states of {self!r} are not in normal form.")

    def action(self, name: str) -> int:
        """The action called `name`; capitals matter only where the game's own notation uses them."""
        found = self._actions_by_name.get(name.strip())
        if found is None:
            found = self._actions_by_folded_name.get(name.strip().lower())
        if found is None:
            near = difflib.get_close_matches(name, self._actions_by_name, n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise IllegalMove(f"{name!r} is not a move of {self.name}; {self.move_help}.{hint}")
        return found

    @functools.cached_property
    def _actions_by_name(self) -> dict[str, int]:
        return {self.move_name(action): action for action in range(self.num_actions)}

    @functools.cached_property
    def _actions_by_folded_name(self) -> dict[str, int]:
        folded = {name.lower(): action for name, action in self._actions_by_name.items()}
        return folded if len(folded) == len(self._actions_by_name) else {}

    def legal_mask(self, states: np.ndarray) -> np.ndarray:
        """Which actions are legal: bool [B, A]."""
        mask = np.zeros((len(states), self.num_actions), np.bool_)
        self.kernels.legal(states, mask)
        return mask

    def at_horizon(self, states: np.ndarray) -> np.ndarray:
        """Where the first phase of the game is over: bool [B]."""
        if self.kernels.horizon is None:
            raise AzlabError(f"{self.name} has one phase, from beginning to end: there is no horizon at which another begins.")
        mask = np.zeros(len(states), np.bool_)
        self.kernels.horizon(states, mask)
        return mask

    def normal_form(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All that matters for the points still to come: [B] states with no point made yet and seat 0 to move, turned so that all
        symmetric positions look the same; and int64 [B, A], which action each action of `states` becomes by that turn.
        """
        raise AzlabError(
            f"In {self.name} what is still to come depends on more than the board; it cannot be learnt for the margin."
        )

    def from_normal_form(self, states: np.ndarray) -> np.ndarray:
        """For each state in normal form, [B], one that a game can have and that has this normal form."""
        return self.normal_form(states)[0]

    def random_actions(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A legal action for each state, all with equal chances: int64 [B]."""
        legal = self.legal_mask(states)
        return np.where(legal, rng.random(legal.shape), -1).argmax(axis=1)

    def encode(self, states: np.ndarray) -> np.ndarray:
        """What a network sees: float32 [B, C, H, W]."""
        planes = np.zeros((len(states), *self.planes_shape), np.float32)
        self.kernels.encode(states, planes)
        return planes

    def playout(self, states: np.ndarray, seed: int = 0) -> np.ndarray:
        """Play copies of `states` to the end with random moves and return the final states."""
        final = states.copy()
        self.kernels.playout(final, new_rng(seed, len(final)), NO_TRACE)
        return final

    def check(self, games: int = 20, seed: int = 0) -> None:
        """Play random games and raise `RuleViolation` where the game breaks the contract."""
        from azlab.games.check import check_game

        check_game(self, games, seed)

    def __repr__(self) -> str:
        return f"azlab.game({', '.join([repr(self.spec), *(f'{k}={v!r}' for k, v in self.options.items())])})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.options == self.options  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.name, tuple(sorted(self.options.items(), key=lambda item: item[0]))))

    def __reduce__(self) -> tuple:
        return functools.partial(type(self), **self.options), ()


class Position:
    """One position of a game. It never changes: `play` returns a new one.

    Two positions are equal when their states are, by whichever moves they were reached.
    """

    __slots__ = ("_legal", "_start", "_state", "actions", "game")

    def __init__(self, game: Game, state: np.ndarray, actions: Sequence[int] = (), start: np.ndarray | None = None):
        self.game = game
        self.actions = tuple(actions)  # the moves since `start`, as numbers
        self._state = state  # one-element array, never written again
        self._start = state if start is None else start
        self._legal: tuple[int, ...] | None = None

    @property
    def state(self) -> np.ndarray:
        """A copy of the state, an array of one record, to hand to kernels."""
        return self._state.copy()

    @property
    def legal_actions(self) -> list[int]:
        """The legal moves as numbers below `game.num_actions`."""
        if self._legal is None:
            self._legal = tuple(np.flatnonzero(self.game.legal_mask(self._state)[0]).tolist())
        return list(self._legal)

    @property
    def legal_moves(self) -> list[str]:
        """The legal moves by name."""
        return [self.game.move_name(action) for action in self.legal_actions]

    @property
    def moves(self) -> list[str]:
        """The names of the moves that led here."""
        return [self.game.move_name(action) for action in self.actions]

    @property
    def to_move(self) -> int:
        """The seat to move, 0 or 1."""
        return int(self._state["to_move"][0])

    @property
    def ply(self) -> int:
        """How many moves have been played."""
        return int(self._state["ply"][0])

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._state["over"][0])

    @property
    def result(self) -> int | None:
        """For seat 0: +1 won, 0 drawn, -1 lost; None while the game goes on."""
        return int(self._state["result"][0]) if self.over else None

    @property
    def winner(self) -> int | None:
        """The winning seat; None for a draw or while the game goes on."""
        return {1: 0, -1: 1}.get(self.result or 0)

    @property
    def scores(self) -> tuple[float, float] | None:
        """Points of seat 0 and seat 1 so far, in games that count points; else None."""
        return self.game.scores(self._state)

    def play(self, move: str | int) -> "Position":
        """The position after `move`, given by name ("d4") or as an action number."""
        if isinstance(move, str):
            action = self.game.action(move)
        elif isinstance(move, SupportsIndex):
            action = int(move.__index__())
        else:
            raise IllegalMove(f"A move is a name or a whole number, not {move!r}.")
        if action not in self.legal_actions:
            raise IllegalMove(self._why_illegal(action))
        state = self._state.copy()
        self.game.kernels.play(state, np.array([action], np.int64))
        return Position(self.game, state, (*self.actions, action), self._start)

    def _why_illegal(self, action: int) -> str:
        if self.over:
            return "The game is over; no move is legal."
        if not 0 <= action < self.game.num_actions:
            return f"There is no action {action}; actions are numbered 0 to {self.game.num_actions - 1}."
        legal = self.legal_moves
        more = f" and {len(legal) - 20} more" if len(legal) > 20 else ""
        return f"{self.game.move_name(action)} is not legal here; legal moves are {', '.join(legal[:20])}{more}."

    def path(self) -> list["Position"]:
        """All positions from the first known one to this one."""
        positions = [Position(self.game, self._start)]
        for action in self.actions:
            positions.append(positions[-1].play(action))
        return positions

    @property
    def status(self) -> str:
        """One line: whose turn it is, or how the game ended."""
        points = "" if self.scores is None else " {:g}-{:g}".format(*self.scores)
        if not self.over:
            return f"{self.game.seats[self.to_move]} to move{',' if points else ''}{points}"
        return (f"{self.game.seats[self.winner]} wins" if self.winner is not None else "Draw") + points

    @property
    def text(self) -> str:
        """The board and a line on whose turn it is, for a terminal."""
        return f"{self.game.text(self)}\n{self.status}"

    @property
    def svg(self) -> str:
        """The board as an SVG picture."""
        return above("the picture of a position")(self.game.picture(self), self.status)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        moves = " ".join(self.moves)
        return f"<{self.game.name}, {self.status}, after {moves}>" if moves else f"<{self.game.name}, {self.status}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and other.game == self.game and other._state.tobytes() == self._state.tobytes()

    def __hash__(self) -> int:
        return hash((self.game.name, self._state.tobytes()))

    def __copy__(self) -> "Position":
        return self

    def __deepcopy__(self, memo: dict) -> "Position":
        return self

    def __reduce__(self) -> tuple:
        return _position_from_bytes, (self.game, self._state.tobytes(), self.actions, self._start.tobytes())


def _position_from_bytes(game: Game, state: bytes, actions: tuple[int, ...], start: bytes) -> Position:
    def as_state(data: bytes) -> np.ndarray:
        if len(data) != game.dtype.itemsize:
            raise AzlabError(f"This position was saved by another version of {game.name} and cannot be read.")
        return np.frombuffer(data, game.dtype).copy()

    return Position(game, as_state(state), actions, as_state(start))
