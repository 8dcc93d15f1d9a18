"""What the source's public program does differently from its text, as parts of a training: section [parts] of a config.

    [parts]
    program = "s5_connect4"
    uniform_last_reply = true

The preset connect4_extended beside this file has it, as the source's runs had. One oddity is of its supervised training:
`replace(connect4_set(...), labels=losses_as_draws)`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from azlab.errors import one_of
from azlab.learning.as_toml import build
from azlab.learning.parts import Parts
from azlab.learning.position_sets import PositionSet
from azlab.learning.recording import Played
from azlab.learning.selfplay import SelfPlayConfig
from azlab.learning.targets import targets
from azlab.learning.window import Examples


@dataclass(frozen=True)
class Program:
    """The oddities, each a switch of its own and off by default."""

    uniform_last_reply: bool = False
    # the reply to the last move of a game, which nobody gave, is learnt as equal shares of all moves, legal or not

    def __post_init__(self) -> None:
        one_of("uniform_last_reply", self.uniform_last_reply, (True, False))


def parts(**settings: Any) -> Parts:
    """The parts of a training with these switches of `Program`."""
    program = build(Program, settings, "The config, section [parts]")
    return Parts(targets=with_last_reply if program.uniform_last_reply else targets)


def with_last_reply(played: Played, config: SelfPlayConfig) -> Examples:
    """The library's targets, and equal shares as the reply to the last move."""
    found = targets(played, config)
    if played.is_full[-1]:
        found.reply[-1] = 1 / found.reply.shape[1]
    return found


def losses_as_draws(positions: PositionSet) -> np.ndarray:
    """Results for seat 0 as the program labels them: positions that the first player, to move, has lost are draws.

    Its rule for "the other player wins" is (player + 1) mod 2, which for player 1 gives 0, a draw.
    """
    return np.where((positions.states["to_move"] == 0) & (positions.results == -1), 0, positions.results)
