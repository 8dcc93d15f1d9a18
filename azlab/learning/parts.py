"""The parts of a training that anyone may replace: the search, the targets, the gate, the first examples.

    AlphaZero(game, learner, config, folder, parts=Parts(targets=my_targets))

A general idea is a setting (`azlab.learning.config`); what one program alone does is a part. The programs of azlab's own
reproductions are named in a config's section [parts], with their settings: program = "s3_dots_and_boxes". No other code is ever
loaded because a config or a run's folder names it.
"""

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from azlab.arena.agents import Agent
from azlab.arena.match import match
from azlab.arena.results import Tally
from azlab.errors import AzlabError
from azlab.files import reproduction_files, reproductions
from azlab.games.game import Game
from azlab.learning.recording import Played
from azlab.learning.targets import targets
from azlab.learning.window import Examples
from azlab.search.puct import Searcher

if TYPE_CHECKING:
    from azlab.learning.config import AlphaZeroConfig, GateConfig
    from azlab.learning.selfplay import Collected, SelfPlayConfig


class Targets(Protocol):
    """Makes examples of a finished game."""

    def __call__(self, played: Played, config: "SelfPlayConfig") -> Examples:
        """A pure function of its arguments."""
        ...


class Gate(Protocol):
    """Judges the new network against the best one so far."""

    def __call__(self, new: Agent, old: Agent, game: Game, config: "GateConfig", seed: int, progress: Callable) -> Tally | float:
        """The results of `new`, or its score in points a game; `progress(done, games)` is told. Ctrl-C is raised."""
        ...


class FirstExamples(Protocol):
    """Gives the first iteration's examples, in place of self-play."""

    def __call__(self, game: Game, config: "SelfPlayConfig", seed: Sequence[int], progress: Callable) -> "Collected":
        """`progress(what, done, total)` is told."""
        ...


def both_seats(new: Agent, old: Agent, game: Game, config: "GateConfig", seed: int, progress: Callable) -> Tally:
    """A match from random openings, each played from both seats."""
    played = complete(match(new, old, config.games, game, config.opening_plies, seed, progress))
    return Tally(played.wins, played.draws, played.losses)


def complete(played: Any) -> Any:
    """The result of a match, unless Ctrl-C cut it short: a match catches that and returns what it has."""
    if not played.complete:
        raise KeyboardInterrupt
    return played


@dataclass(frozen=True)
class Parts:
    """The replaceable parts; those not given are the library's."""

    searcher: type[Searcher] = Searcher
    # of self-play and the gate
    test_searcher: type[Searcher] = Searcher
    # of tests, evaluation matches and the trained player
    targets: Targets = targets
    gate: Gate = both_seats
    first_examples: FirstExamples | None = None

    def names(self) -> str:
        """The parts that are not the library's, a line each; empty if there is none."""
        own = [(item.name, getattr(self, item.name)) for item in dataclasses.fields(self)]
        own = [(name, part) for name, part in own if part is not getattr(Parts, name)]
        return "".join(f"{name} = {_name_of(part)}\n" for name, part in own)


def _name_of(part: Any) -> str:
    named = part if isinstance(part, type) or inspect.isroutine(part) else type(part)
    return f"{named.__module__}.{named.__qualname__}"


def parts_of(config: "AlphaZeroConfig") -> Parts:
    """The parts that a config names: those of a program in `reproductions/`, or the library's own."""
    settings = dict(config.parts)
    if not settings:
        return Parts()
    name = settings.pop("program", None)
    package = reproductions()
    known = sorted(file.parent.name for file in reproduction_files("program.py"))
    if name not in known:
        raise AzlabError(f"[parts] names a program of azlab's reproductions ({', '.join(known)}), not {name!r}.")
    return importlib.import_module(f"{package.__name__}.{name}.program").parts(**settings)
