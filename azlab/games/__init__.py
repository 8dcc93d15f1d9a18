"""The rules of the games, and nothing but rules. `game` finds one by name."""

import importlib
import inspect
from typing import Any

from azlab.errors import AzlabError
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


def game_class(name: str) -> type[Game]:
    """The class of the game called `name`."""
    if name not in GAMES:
        raise AzlabError(f"There is no game {name!r}; the games are {', '.join(GAMES)}.")
    module, class_name = GAMES[name]
    return getattr(importlib.import_module(module), class_name)


def game(name: str, **options: Any) -> Game:
    """The game called `name`, e.g. game("go", size=9, komi=7, ko="positional")."""
    found = game_class(name)
    parameters = inspect.signature(found).parameters
    for option in options:
        if option not in parameters:
            possible = ", ".join(f"{p.name}={p.default!r}" for p in parameters.values()) or "none"
            raise AzlabError(f"{name} has no option {option!r}; its options are: {possible}.")
    return found(**options)
