"""What the source's public program does differently from the books, as parts of a training: section [parts] of a config.

    [parts]
    program = "s3_dots_and_boxes"
    to_the_end = true

The presets s3_a, s3_b and s3_c beside this file have all of it, as the three trainings of the source had.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from azlab.arena.agents import Agent
from azlab.arena.match import match
from azlab.errors import AzlabError, one_of, whole_number
from azlab.games.game import Game
from azlab.learning.as_toml import build
from azlab.learning.config import GateConfig
from azlab.learning.parts import Parts, both_seats, complete
from azlab.learning.recording import Played
from azlab.learning.selfplay import SelfPlayConfig
from azlab.learning.targets import targets
from azlab.learning.window import Examples
from azlab.search import Searcher
from azlab_reproductions.s3_dots_and_boxes.first_games import FirstGames
from azlab_reproductions.s3_dots_and_boxes.search import searcher


@dataclass(frozen=True)
class Program:
    """The oddities, each a switch of its own and off by default."""

    root_values_only: bool = False
    # add values to the root alone: every other Q stays 0, so that visits follow the priors
    to_the_end: bool = False
    # a simulation goes on from its new leaf to the end of the game and evaluates every node on the way
    random_ties: bool = False
    # where the most visited move is played, a random one of several, not the first
    in_tests: bool = True
    # tests and evaluation matches search so, too
    drawn_plies: int = 0
    # in self-play moves before this ply are not searched: visits are draws from 3/4 priors and 1/4 equal chances
    flip_every_ply: bool = False
    # in self-play the search treats every move as if the turn passed
    one_hot_from: int = -1
    # from this ply on the policy target is the move played and nothing else; -1 never
    first_player: str = ""
    # if given, an agent such as "onesided:1000000", whose games against itself are the examples of the first iteration
    first_games: int = 500
    # the number of those games
    new_plays: str = "both"
    # in the gate: "both" seats from random openings, or always "second" and from the start of the game; on 3x3 boxes the second
    # player wins by force, so this makes new networks look better than they are

    def __post_init__(self) -> None:
        for name in ("root_values_only", "to_the_end", "random_ties", "in_tests", "flip_every_ply"):
            one_of(name, getattr(self, name), (True, False))
        one_of("new_plays", self.new_plays, ("both", "second"))
        whole_number("drawn_plies", self.drawn_plies, 0, 10**6)
        whole_number("one_hot_from", self.one_hot_from, -1, 10**6)
        whole_number("first_games", self.first_games, 1, 10**7)
        if not isinstance(self.first_player, str):
            raise AzlabError(f'first_player is the name of an agent, such as "uct:1000", not {self.first_player!r}.')


def parts(**settings: Any) -> Parts:
    """The parts of a training with these switches of `Program`."""
    program = build(Program, settings, "The config, section [parts]")
    own, learnt = searcher(program), OneHot(program.one_hot_from)
    return Parts(
        searcher=own,
        test_searcher=own if program.in_tests else Searcher,
        targets=learnt,
        gate=new_plays_second if program.new_plays == "second" else both_seats,
        first_examples=FirstGames(program.first_player, program.first_games, learnt) if program.first_player else None,
    )


@dataclass(frozen=True)
class OneHot:
    """Targets whose policy, from ply `start` on, is the move played; a negative `start` leaves all as they are."""

    start: int = -1

    def __call__(self, played: Played, config: SelfPlayConfig) -> Examples:
        if self.start >= 0:
            is_late = (played.states["ply"] >= self.start)[:, None]
            chosen = np.arange(played.policy.shape[1]) == played.actions[:, None]
            played = played._replace(policy=np.where(is_late, chosen, played.policy).astype(played.policy.dtype))
        return targets(played, config)


def new_plays_second(new: Agent, old: Agent, game: Game, config: GateConfig, seed: int, progress: Callable) -> float:
    """The new network always answers, and all games begin at the start of the game."""
    if config.openings > 0:
        raise AzlabError("Where the new network always plays second, no random moves open the games: leave out gate.openings.")
    played = complete(match(old, new, config.games, game, openings=0, seed=seed, progress=progress, swap_seats=False))
    return (played.losses + played.draws / 2) / config.games
