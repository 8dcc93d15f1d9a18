"""azlab: learn game-playing reinforcement learning, and check what was claimed about it.

Nothing heavy is loaded here; each part is imported when it is first used.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from azlab.errors import AzlabError, IllegalMove

if TYPE_CHECKING:
    from azlab.games.easy import EasyGame
    from azlab.games.game import Game
    from azlab.oracles.oracle import Oracle

# Threads of torch that wait for each other should sleep, not spin: beside another program on the same cores a training step
# was seen to take ten times as long. Has an effect only if torch is not loaded yet.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.2.0"
__all__ = ["AzlabError", "IllegalMove", "__version__", "agent", "easy_game", "game", "oracle", "register"]


def game(name: str, /, **options: Any) -> "Game":
    """The game called `name`, with its options: game("connect4"), game("go", size=9, komi=7, ko="positional").

    Names: tictactoe, connect4, dots_and_boxes, go, simple_go, seega; what `register` was given; or a class in a file or an
    installed package, whose code is then run: game("othello.py:Othello", size=6), game("my_package.games:Othello").
    """
    from azlab.games import game as find

    return find(name, **options)


def register(game: "type[Game]") -> "type[Game]":
    """Let a game of your own be found by its name, in this program: `@azlab.register` above the class."""
    from azlab.games import register as add

    return add(game)


def easy_game(name: str, start: Callable, legal: Callable, play: Callable, result: Callable, **settings: Any) -> "EasyGame":
    """A game of four plain functions over one board; docs/new_game.md shows one.

    start() -> board; legal(board, player) -> actions; play(board, player, action), changes the board; result(board, player) ->
    None, or +1, 0, -1. For the settings see help(azlab.games.easy.easy_game).
    """
    from azlab.games.easy import easy_game as make

    return make(name, start, legal, play, result, **settings)


def agent(text: str, seed: int = 0) -> Any:
    """A player by name: agent("random"), agent("minimax:6"), agent("uct:10000"), agent("puct:800"), agent("perfect")."""
    from azlab.arena.agents import agent as make

    return make(text, seed)


def oracle(game: "Game | str", **options: Any) -> "Oracle":
    """Perfect play of a game: oracle("connect4"), oracle(azlab.game("dots_and_boxes"))."""
    from azlab.oracles import oracle as find

    return find(game, **options)


def __getattr__(name: str) -> Any:
    """Loads `azlab.kernel`, `azlab.search`, `azlab.repro` and others when they are first used."""
    import importlib

    if name == "kernel":
        return importlib.import_module("azlab.games.kernel").kernel
    if name in ("search", "arena", "oracles", "show", "repro", "course", "interop"):
        return importlib.import_module(f"azlab.{name}")
    raise AttributeError(f"module 'azlab' has no attribute {name!r}")
