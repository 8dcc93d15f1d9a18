"""Which games there are, by name: azlab's own, those that a program registers, and those in a file of the user's.

There are two ways to find a game by name. `game` is for what the user's own command or program says: a name such as
"othello.py:Othello" or "my_package.games:Othello" imports that code. `known_game` is for names that come from elsewhere, such as
a config, a run's folder or a saved match: it finds azlab's own games and those that this program has registered or loaded
before, and never imports anything.
"""

import functools
import hashlib
import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from azlab.errors import AzlabError
from azlab.games.easy import EasyGame
from azlab.games.game import Game

# name: (module, class); a module is loaded when its game is first asked for
GAMES = {
    "tictactoe": ("azlab.games.tictactoe", "TicTacToe"),
    "connect4": ("azlab.games.connect4", "Connect4"),
    "dots_and_boxes": ("azlab.games.dots_and_boxes", "DotsAndBoxes"),
    "go": ("azlab.games.go", "Go"),
    "simple_go": ("azlab.games.simple_go", "SimpleGo"),
    "seega": ("azlab.games.seega", "Seega"),
}

OPEN_SPIEL = "openspiel:"  # begins the names of OpenSpiel's games

Found = Any  # a class of games, or what is called with options just as a class is, such as an easy game

_others: dict[str, Found] = {}  # what the program registered or loaded, by name or as "othello.py:Othello"


def register(found: Any) -> Any:
    """Let `found`, a subclass of `Game`, be found by its name; returns it, so that `@azlab.register` can stand above a class."""
    if not _is_game(found):
        raise AzlabError(f"register takes a subclass of azlab.games.game.Game, not {found!r}.")
    name = getattr(found, "name", None)
    if not isinstance(name, str) or not name.isidentifier():
        who = getattr(found, "__name__", "An easy game")
        raise AzlabError(f'{who} needs a name of letters, digits and "_", e.g. name = "othello", not {name!r}.')
    if name in GAMES:
        raise AzlabError(f"{name!r} is a game of azlab's own; give yours another name.")
    _others[name] = found  # a cell that is run again registers its class anew
    return found


def game(name: str, /, **options: Any) -> Game:
    """The game called `name`, e.g. game("go", size=9, komi=7, ko="positional"), game("othello.py:Othello", size=6)."""
    return _made(load_game(name), options)


def load_game(name: str) -> Any:
    """The class of the game called `name`; one in a file or package of the user's is loaded, which runs its code."""
    if not isinstance(name, str) or ":" not in name or name.startswith(OPEN_SPIEL):
        return game_class(name)
    found = _load(name)
    if found.__module__ not in (module for module, _ in GAMES.values()):
        found.loaded_as = movable_name(name)
        _others[found.loaded_as] = found
    return found


def known_game(name: str, /, **options: Any) -> Game:
    """The game called `name`, if it is azlab's own or was registered or loaded before; for any other name no code is run."""
    return _made(game_class(name), options)


def game_class(name: str) -> Found:
    """The class of a game of azlab's own or one registered or loaded before; an easy game for its class."""
    if isinstance(name, str) and name.startswith(OPEN_SPIEL):
        from azlab.games.openspiel import OpenSpielGame

        return functools.partial(OpenSpielGame, name.removeprefix(OPEN_SPIEL))
    if isinstance(name, str) and ":" in name:
        if movable_name(name) in _others:
            return _others[movable_name(name)]
        raise AzlabError(
            f"The game {name} is code in a file, which is run only if you name it yourself: on the command line as the game "
            f'(`azlab run FOLDER --game {name}`), or in Python by azlab.game("{name}").'
        )
    if name in _others:
        return _others[name]
    if name not in GAMES:
        raise AzlabError(f"There is no game {name!r}; the games are {', '.join([*GAMES, *sorted(_others)])}.")
    module, class_name = GAMES[name]
    return getattr(importlib.import_module(module), class_name)


def _made(found: Found, options: dict[str, Any]) -> Game:
    parameters = inspect.signature(found).parameters
    for option in options:
        if option not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            possible = ", ".join(f"{p.name}={p.default!r}" for p in parameters.values()) or "none"
            raise AzlabError(f"{found.name} has no option {option!r}; its options are: {possible}.")
    return found(**options)


# --- code of the user's ---------------------------------------------------------------------------------------------


def movable_name(name: str) -> str:
    """How code of the user's is known that was loaded: without the folder of its file, so that a run can be moved with it."""
    place, _, part = name.rpartition(":")
    return f"{Path(place).name}:{part}"


def _load(name: str) -> Found:
    """The class or easy game that "file.py:Class" or "package.module:Class" names; its code is run."""
    place, _, class_name = name.rpartition(":")
    module = load_module(place)
    found = getattr(module, class_name, None)
    if not _is_game(found):
        there = [key for key, value in vars(module).items() if _is_own_game(value, module)]
        raise AzlabError(f"{place} has no game {class_name!r}; its games are: {', '.join(there) or 'none'}.")
    return found


def _is_game(value: Any) -> bool:
    return isinstance(value, EasyGame) or (isinstance(value, type) and issubclass(value, Game))


def _is_own_game(value: Any, module: ModuleType) -> bool:
    return isinstance(value, EasyGame) or (_is_game(value) and value.__module__ == module.__name__)


_modules: dict[tuple[Path, str], ModuleType] = {}  # files loaded so far, by path and content


def load_module(place: str) -> ModuleType:
    """The module in a file ("folder/othello.py") or of an installed package ("my_package.games"); its code is run.

    A file is loaded once for each content: the same file gives the same classes again, a changed one new ones.
    """
    if not place.endswith(".py"):
        try:
            return importlib.import_module(place)
        except Exception as error:  # whatever the user's code does
            raise AzlabError(
                f"The module {place or '(without a name)'} cannot be loaded ({type(error).__name__}: {error}); a file is named "
                "with its ending, as in othello.py:Othello."
            ) from error
    try:
        path = Path(place).resolve()
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise AzlabError(f"{place!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    key = path, hashlib.sha256(content).hexdigest()
    if key not in _modules:
        _modules[key] = _run(path, key[1])
    return _modules[key]


def _run(path: Path, digest: str) -> ModuleType:
    """Run a file as a module called after it; where that name is taken, with a part of its digest."""
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_{digest[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look there
    sys.path.insert(0, str(path.parent))  # as for a script: what lies beside the file can be imported
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise AzlabError(f"{path} cannot be loaded: {type(error).__name__}: {error}.") from error
    finally:
        sys.path.remove(str(path.parent))
    return module
