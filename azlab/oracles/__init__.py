"""Perfect play, to measure all other players against. `oracle` finds the oracle of a game."""

import importlib
import inspect
from typing import Any

from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.games.registry import GAMES, game_class, load_game
from azlab.games.registry import game as find_game
from azlab.oracles.oracle import Oracle

# game: (module, class, which boards it can judge); a module is loaded when its oracle is first asked for
ORACLES = {
    "tictactoe": ("azlab.oracles.exhaustive", "ExhaustiveOracle", "tictactoe"),
    "connect4": ("azlab.oracles.connect4", "Connect4Oracle", "connect4"),
    "dots_and_boxes": ("azlab.oracles.dots_and_boxes", "DotsAndBoxesOracle", "dots_and_boxes up to 27 lines (3x3 boxes have 24)"),
    "seega": ("azlab.oracles.seega", "SeegaOracle", "seega at the end, and all of 3x3"),
    "go": ("azlab.oracles.small_go", "SmallGoOracle", "go on 2x2 and 3x3"),
}
SOLVED = ("azlab.oracles.exhaustive", "SolvedOracle", "any game with few positions")


def oracle(game: Game | str, **options: Any) -> Oracle:
    """The perfect player of a game: oracle("tictactoe"), oracle("go", size=3, komi=0), oracle(position.game).

    Options that the oracle itself has, such as `progress` for Dots and Boxes, go to it; after a name, all others go to the game.
    A game of your own is solved by trying everything, if it has at most `azlab.oracles.exhaustive.LIMIT` positions (`limit=...`
    allows more); `ExhaustiveOracle(game)` judges the endgames of a larger one.
    """
    if not isinstance(game, Game | str):
        raise AzlabError(f"An oracle is made for a game or its name, such as 'tictactoe', not for {game!r}.")
    name = game if isinstance(game, str) else game.name
    kind = load_game(game) if isinstance(game, str) else type(game)  # says so if there is no such game
    if name not in ORACLES and name in GAMES:
        possible = "; ".join(boards for _, _, boards in ORACLES.values())
        raise AzlabError(f"There is no oracle for {name}; perfect play is known for {possible}.")
    is_own = name in ORACLES and kind is game_class(name)
    module, class_name, _ = ORACLES[name] if is_own else SOLVED
    found = getattr(importlib.import_module(module), class_name)
    known = list(inspect.signature(found).parameters)[1:]  # the first one is the game
    others = {option: value for option, value in options.items() if option not in known}
    if isinstance(game, str):
        game = find_game(name, **others)
    elif others:
        raise AzlabError(f"The oracle of {name} has no option {min(others)!r}; its options are: {', '.join(known) or 'none'}.")
    return found(game, **{option: value for option, value in options.items() if option in known})
