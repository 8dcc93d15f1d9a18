"""Lines of saved matches and games, read with suspicion: a file may be damaged, of another version, or written by hand.

Whatever is wrong is an `AzlabError`. A state goes to the kernels only after `Game.validate` has looked at it.
"""

import json
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.games import known_game
from azlab.games.game import Game, Position


def entry(line: dict[str, Any], name: str) -> Any:
    """The entry `name` of a line."""
    if name not in line:
        raise AzlabError(f"{name!r} is missing")
    return line[name]


def rules_of(line: dict[str, Any], game: Game | None) -> Game:
    """The game that a line names, which must be `game` if that is given."""
    name, options = entry(line, "game"), entry(line, "options")
    if not isinstance(name, str) or not isinstance(options, dict):
        raise AzlabError("'game' is not a name, or 'options' are not options by name")
    if game is None:
        try:
            return known_game(name, **options)
        except TypeError as error:
            raise AzlabError(f"{name} has no such options ({error})") from None
    if (name, options) != (game.spec, json.loads(json.dumps(game.options))):
        raise AzlabError(f"it is a game of {name} {options}, and {game!r} was expected")
    return game


def text(line: dict[str, Any], name: str) -> str:
    """The entry `name`, a text."""
    found = entry(line, name)
    if not isinstance(found, str) or any("\ud800" <= letter <= "\udfff" for letter in found):  # halves of characters
        raise AzlabError(f"{name!r} is not a text")
    return found


def texts(line: dict[str, Any], name: str) -> tuple[str, ...]:
    """The entry `name`, a list of texts."""
    found = entry(line, name)
    if not isinstance(found, list):
        raise AzlabError(f"{name!r} is not a list")
    return tuple(text({f"{name}, entry {k}": one}, f"{name}, entry {k}") for k, one in enumerate(found, 1))


def two_names(line: dict[str, Any], name: str) -> tuple[str, str]:
    """The entry `name`, the names of two players."""
    found = texts(line, name)
    if len(found) != 2:
        raise AzlabError(f"{name!r} has {len(found)} names, not two")
    return found[0], found[1]


def start_of(game: Game, start: Any) -> Position:
    """The position whose state is `start` in hexadecimal; the game's own start for None."""
    if start is None:
        return game.start()
    try:
        data = bytes.fromhex(start)
    except (TypeError, ValueError):
        raise AzlabError("'start' is not a state in hexadecimal") from None
    if len(data) != game.dtype.itemsize:
        raise AzlabError(f"'start' has {len(data)} bytes, and a state of {game!r} has {game.dtype.itemsize}")
    return game.position(np.frombuffer(data, game.dtype))


def because(error: Exception) -> str:
    """The reason in an error, to be put into another sentence."""
    return str(error).rstrip(".")
