"""Games of OpenSpiel as games of azlab: azlab.game("openspiel:breakthrough(rows=5,columns=5)").

OpenSpiel keeps a position in an object, azlab in a record of numbers. So the record holds the moves so far, and the object is
found by them: in a memory of positions met before, or by playing them again. Two orders of moves to one board are two states.
The rules run as plain Python, hundreds of times slower than azlab's own games.
"""

import functools
import importlib
import re
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Game, Kernels, Position, Symmetry, state_dtype
from azlab.games.kernel import note, random_below
from azlab.games.picture import Picture

PREFIX = "openspiel:"
LONGEST = 32_000  # moves are counted in 16 bits
REMEMBERED = 20_000  # positions kept as objects of OpenSpiel
NAMED = 1_000  # positions whose moves are named
LETTER, LINE = 0.28, 0.5  # size of a letter of the board's text, in cells


class OpenSpielGame(Game):
    """A game for two of OpenSpiel, without chance and hidden information; `text` is what OpenSpiel calls it."""

    seats = ("First", "Second")

    def __init__(self, text: str, **options: Any) -> None:
        super().__init__(**options)
        self.text_of_game = text
        self.name = re.sub(r"\W+", "_", f"openspiel_{text}").strip("_")  # type: ignore[misc]
        self.loaded_as = PREFIX + text  # type: ignore[misc]
        self._key = text, tuple(sorted(options.items()))
        self.rules, self.kernels = _loaded(*self._key)
        self.num_actions = self.rules.num_distinct_actions()
        self.max_length = self.rules.max_game_length()
        self.dtype = _dtype(self.rules)
        self.planes_shape = _planes_shape(self.rules)
        first = self.rules.new_initial_state().legal_actions()[:3]
        self.move_help = f"moves are called as OpenSpiel calls them, such as {', '.join(map(self.move_name, first))}"

    def __reduce__(self) -> tuple:
        return functools.partial(OpenSpielGame, self.text_of_game, **self.options), ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenSpielGame) and (other.spec, other.options) == (self.spec, self.options)

    __hash__ = Game.__hash__

    def new_states(self, count: int = 1) -> np.ndarray:
        states = np.zeros(count, self.dtype)
        states["to_move"] = self.rules.new_initial_state().current_player()
        return states

    def move_name(self, action: int) -> str:
        return _move_names(*self._key)[action]

    def split_moves(self, text: str) -> list[str]:
        return text.split()

    def spiel_state(self, position: Position) -> Any:
        """The position as an object of OpenSpiel; a copy, to do with as you like."""
        state = self.rules.new_initial_state()
        for action in position._state["history"][0][: position.ply].tolist():
            state.apply_action(action)
        return state

    def text(self, position: Position) -> str:
        return str(self.spiel_state(position)).rstrip()

    def picture(self, position: Position) -> Picture:
        lines = self.text(position).splitlines()
        picture = Picture(LETTER * max(map(len, lines), default=1), LINE * len(lines))
        for row, line in enumerate(lines):
            for col, letter in enumerate(line):
                if letter != " ":
                    picture.label(LETTER * (col + 0.5), LINE * (row + 0.5), letter)
        return picture

    @functools.cached_property
    def symmetries(self) -> list[Symmetry]:
        return [Symmetry("identity", np.arange(self.num_actions), np.arange(self.planes_shape[1] * self.planes_shape[2]))]


def load_package() -> Any:
    """The module pyspiel, or a sentence on how to get it."""
    try:
        return importlib.import_module("pyspiel")
    except ImportError:
        raise AzlabError(
            "This game belongs to OpenSpiel, which is not installed: pip install open_spiel, or with all of azlab's extras for "
            'other libraries pip install "azlab[interop]".'
        ) from None


@functools.cache
def _loaded(text: str, options: tuple[tuple[str, Any], ...]) -> tuple[Any, Kernels]:
    """OpenSpiel's game and its kernels, made once."""
    pyspiel = load_package()
    short = text.split("(")[0].strip()
    if short not in pyspiel.registered_names():
        raise AzlabError(f'OpenSpiel has no game {short!r}; write it as OpenSpiel does, as in "{PREFIX}connect_four".')
    try:
        parameters = {**pyspiel.game_parameters_from_string(text), **dict(options)}
        parameters.pop("name", None)
        rules = pyspiel.load_game(short, parameters) if options else pyspiel.load_game(text)
    except Exception as error:  # SpielError, and what pybind raises
        raise AzlabError(f"OpenSpiel cannot make {text!r}: {str(error).strip().splitlines()[0]}.") from None
    _refuse_others(pyspiel, rules, text)
    return rules, _kernels(rules)


def _refuse_others(pyspiel: Any, rules: Any, text: str) -> None:
    """A sentence for games that azlab cannot play."""
    kind = rules.get_type()
    reasons = {
        "it is not for two players": rules.num_players() != 2,
        "it has chance": kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC,
        "players move at the same time": kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL,
        "players do not see everything": kind.information != pyspiel.GameType.Information.PERFECT_INFORMATION,
        "what one wins the other does not lose": kind.utility != pyspiel.GameType.Utility.ZERO_SUM,
        "it does not say what a network sees": not kind.provides_observation_tensor,
        f"its games do not have 1 to {LONGEST} moves": not 1 <= rules.max_game_length() <= LONGEST,
    }
    found = [reason for reason, holds in reasons.items() if holds]
    if found:
        raise AzlabError(
            f"azlab plays games for two without chance and hidden information, and cannot play {text}: {' and '.join(found)}."
        )


def _dtype(rules: Any) -> np.dtype:
    number = np.int16 if rules.num_distinct_actions() <= 2**15 else np.int32
    return state_dtype(("history", number, (rules.max_game_length(),)))  # the moves so far, then zeros


def _planes_shape(rules: Any) -> tuple[int, int, int]:
    """OpenSpiel's planes where it has some, else each number as a plane of one cell; then one that says who moves."""
    shape = rules.observation_tensor_shape()
    planes, height, width = shape if len(shape) == 3 else (int(np.prod(shape)), 1, 1)
    return planes + 1, height, width


@functools.cache
def _move_names(text: str, options: tuple[tuple[str, Any], ...]) -> list[str]:
    """OpenSpiel's name of each action, as it is called where random games first meet it, without what tells the players apart.

    OpenSpiel may be asked about legal actions only (for others some games crash), so what these games never meet has a number.
    """
    rules, _ = _loaded(text, options)
    names = [str(action) for action in range(rules.num_distinct_actions())]
    unmet, rng = set(range(len(names))), np.random.default_rng(0)
    position = rules.new_initial_state()
    for _ in range(NAMED):
        if not unmet:
            break
        if position.is_terminal():
            position = rules.new_initial_state()
        legal = position.legal_actions()
        for action in unmet.intersection(legal):
            names[action] = _common(*(position.action_to_string(seat, action) for seat in (0, 1))) or names[action]
        unmet.difference_update(legal)
        position.apply_action(int(rng.choice(legal)))
    seen: set[str] = set()
    for action, name in enumerate(names):
        if name.lower() in seen:
            names[action] = f"{name}#{action}"
        seen.add(names[action].lower())
    return names


def _common(first: str, second: str) -> str:
    """What two names have in common at both ends: "(0,1)" of "x(0,1)" and "o(0,1)"; without spaces."""
    front = next((k for k, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))
    rest = first[front:], second[front:]
    back = next((k for k, (a, b) in enumerate(zip(rest[0][::-1], rest[1][::-1])) if a != b), min(map(len, rest)))
    return re.sub(r"\s+|\(\)", "", first[:front] + (rest[0][len(rest[0]) - back :] if back else ""))


class _Memory:
    """Positions as OpenSpiel's objects, found by the moves that led to them. What it hands out must not be changed."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules
        self.known: dict[bytes, Any] = {}

    def find(self, history: np.ndarray) -> Any:
        """The position after the moves `history` [ply]."""
        found = self.known.get(history.tobytes())
        if found is None:
            found = self.rules.new_initial_state()
            for action in history.tolist():
                found.apply_action(action)
            self.keep(history, found)
        return found

    def keep(self, history: np.ndarray, position: Any) -> None:
        if len(self.known) >= REMEMBERED:
            self.known.clear()
        self.known[history.tobytes()] = position


def _kernels(rules: Any) -> Kernels:
    """The rules as functions over arrays of states."""
    memory = _Memory(rules)

    def write(states: np.ndarray, i: int, position: Any, mover: int) -> None:
        """Note in state `i` who moves, or how the game ended."""
        if position.is_terminal():
            states["over"][i], states["to_move"][i] = True, 1 - mover
            states["result"][i] = np.sign(position.player_return(0))
        else:
            states["to_move"][i] = position.current_player()

    def legal(states: np.ndarray, mask: np.ndarray) -> None:
        """See `Kernels`."""
        mask[:] = False
        for i in range(len(states)):
            if not states["over"][i]:
                mask[i, memory.find(states["history"][i][: states["ply"][i]]).legal_actions()] = True

    def play(states: np.ndarray, actions: np.ndarray) -> None:
        """See `Kernels`."""
        for i in range(len(states)):
            ply, history, mover = int(states["ply"][i]), states["history"][i], int(states["to_move"][i])
            position = memory.find(history[:ply]).child(int(actions[i]))
            history[ply] = actions[i]
            states["ply"][i] = ply + 1
            memory.keep(history[: ply + 1], position)
            write(states, i, position, mover)

    def encode(states: np.ndarray, planes: np.ndarray) -> None:
        """See `Kernels`."""
        for i in range(len(states)):
            seat = int(states["to_move"][i])
            seen = memory.find(states["history"][i][: states["ply"][i]]).observation_tensor(seat)
            planes[i, :-1] = np.reshape(seen, planes[i, :-1].shape)
            planes[i, -1] = seat

    def playout(states: np.ndarray, rng: np.ndarray, trace: np.ndarray) -> None:
        """See `Kernels`."""
        for i in range(len(states)):
            if states["over"][i]:
                continue
            start, history = int(states["ply"][i]), states["history"][i]
            ply, position = start, memory.find(history[:start]).clone()
            while not position.is_terminal():
                moves, mover = position.legal_actions(), position.current_player()
                action = moves[random_below(rng, i, len(moves))]
                note(trace, i, ply - start, action)
                position.apply_action(action)
                history[ply] = action
                ply += 1
            states["ply"][i] = ply
            write(states, i, position, mover)

    return Kernels(legal, play, encode, playout)
