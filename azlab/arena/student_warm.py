"""Loads rules and searches before a tournament, so that compiling and loading them takes nobody's time for moves.

On Linux players' processes are copies of one that imports this module: `student_process` names game and searches in its
environment, and each copy has them loaded. Where nothing is named, nothing is loaded.
"""

import contextlib
import json
import os
from collections.abc import Sequence
from typing import Any

from azlab.arena.agents import agent
from azlab.errors import AzlabError
from azlab.games.registry import game

VARIABLE = "AZLAB_TOURNAMENT_GAME"  # JSON: the game's name, its options, searches
SEARCHES = ("minimax", "uct", "puct")  # those that are compiled for each game


def warm_up(name: str, options: dict[str, Any], searches: Sequence[str]) -> None:
    """Load the rules of a game and searches of azlab's; if that fails, whoever needs them says so."""
    with contextlib.suppress(AzlabError):
        position = game(name, **options).start()
        position.play(position.legal_actions[0])
        for kind in searches:
            agent(f"{kind}:2").choose(position)


if VARIABLE in os.environ:
    warm_up(*json.loads(os.environ.pop(VARIABLE)))
