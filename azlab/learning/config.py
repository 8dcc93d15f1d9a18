"""The settings of a training run: one frozen dataclass, written to and read from TOML. Switches, not forks."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError, finite_number, one_of, whole_number
from azlab.files import reproduction_files
from azlab.games.game import Game
from azlab.learning.as_toml import build, read_toml, to_toml
from azlab.learning.beginning import BeginConfig
from azlab.learning.learner import LossConfig
from azlab.learning.old_configs import renewed
from azlab.learning.schedules import Points, check_points, linear, stepped
from azlab.learning.selfplay import SelfPlayConfig
from azlab.nets.kinds import check_kind
from azlab.search.config import Budget, Explore, Search


@dataclass(frozen=True)
class TrainingConfig:
    """How the network learns from the window of examples."""

    batch: int = 256
    # examples a step
    passes: Points = ((1, 1.0),)
    # how often an iteration goes through the window, by iteration, in straight lines
    window: Points = ((1, 2_000_000),)
    # examples kept, by iteration, growing in straight lines, as in ((5, 500_000), (12, 2_000_000))
    merge: float = 0.0
    # weight of a repeated position's new targets, which also make it young again; 0 keeps every repetition as an example
    rate: Points = ((1, 0.02),)
    # learning rate by iteration, in steps
    rate_cycle: Points = ()
    # learning rate by share of the iteration, in straight lines; if given, `rate` is a factor of it, in straight lines
    momentum: float = 0.9
    momentum_cycle: Points = ()
    # momentum by share of the iteration

    def __post_init__(self) -> None:
        whole_number("batch", self.batch, 1, 10**6)
        for name in ("window", "passes", "rate", "rate_cycle", "momentum_cycle"):
            if getattr(self, name) or name in ("window", "passes", "rate"):
                check_points(name, getattr(self, name))
        if min(size for _, size in self.window) < 1:
            raise AzlabError(f"A window holds at least one example, not {self.window!r}.")
        for name in ("merge", "momentum"):
            if not isinstance(getattr(self, name), int | float) or not 0 <= getattr(self, name) <= 1:
                raise AzlabError(f"{name} must lie between 0 and 1, not {getattr(self, name)!r}.")

    def rate_at(self, iteration: int, share: float) -> float:
        """The learning rate after `share` of an iteration."""
        if self.rate_cycle:
            return linear(self.rate_cycle, share) * linear(self.rate, iteration)
        return stepped(self.rate, iteration)

    def momentum_at(self, share: float) -> float:
        """The momentum after `share` of an iteration."""
        return linear(self.momentum_cycle, share) if self.momentum_cycle else self.momentum


@dataclass(frozen=True)
class GateConfig:
    """A match between the new network and the best one so far; a new network that does not win goes back to the best."""

    score: float = 0.0
    # points a game that the new network needs (AlphaGo Zero: 0.55); 0 plays no such match
    games: int = 50
    openings: int = -1
    # random moves that open each game; -1 for as few as make the games differ: two, and more when those are used up
    first: str = "accepted"
    # whom the first network meets: "accepted", nobody, it is the best there is; or the "untrained" one that it came from (S4)
    beyond: str = "judged"
    # with a horizon: games end there and are "judged", or are "played" on to their end with the judge moving for both sides

    def __post_init__(self) -> None:
        _check_openings(self.openings)
        one_of("gate.first", self.first, ("accepted", "untrained"))
        one_of("gate.beyond", self.beyond, ("judged", "played"))
        if self.first == "untrained" and not self.score:
            raise AzlabError("The first network meets the untrained one only where there is a gate: set gate.score too.")
        if not isinstance(self.score, int | float) or not 0 <= self.score <= 1:
            raise AzlabError(f"The gate's score lies between 0 and 1, not {self.score!r}.")
        whole_number("games", self.games, 2, 10**6)
        _check_even("The gate's games", self.games)

    @property
    def opening_plies(self) -> int | None:
        """What `match` calls openings."""
        return None if self.openings < 0 else self.openings


@dataclass(frozen=True)
class EvaluationConfig:
    """What is measured after an iteration."""

    network_every: int = 1
    # iterations between two tests of the network alone, on all graded positions; the last iteration is always tested
    search_every: int = 1
    # iterations between two tests of the search, with the matches; the last iteration is always tested
    positions: str = ""
    # "reachable", "random", or a data set of graded positions such as "connect4/hard_test.txt.gz"; "" tests on none
    count: int = 1000
    # positions on which the search is tested, whatever the run's seed; 0 for all; of "random" ones there are no more
    patience: int = 0
    # stop after so many tests of the search in a row without a better one (S5: 10); 0 goes on
    simulations: int = 100
    # a move in tests and matches, by [test_search]; also of the trained player
    opponents: tuple[str, ...] = ()
    # agents to play matches with, such as "uct:1000"
    earlier: int = 0
    # how many earlier versions to play, the most recently evaluated ones
    games: int = 20
    # of each match
    openings: int = -1
    # random moves that open each game; -1 for as few as make the games differ: two, and more when those are used up

    def __post_init__(self) -> None:
        least = {"network_every": 1, "search_every": 1, "count": 0, "patience": 0, "simulations": 1, "earlier": 0, "games": 2}
        for name, low in least.items():
            whole_number(name, getattr(self, name), low, 10**7)
        _check_openings(self.openings)
        if self.patience and not self.positions:
            raise AzlabError("Patience waits for a better result on graded positions: name some, `positions`.")
        _check_even("The games of a match", self.games)
        if not isinstance(self.opponents, tuple | list) or not all(isinstance(name, str) for name in self.opponents):
            raise AzlabError(f'opponents is a list of agents, such as ["random", "uct:1000"], not {self.opponents!r}.')

    @property
    def opening_plies(self) -> int | None:
        """What `match` calls openings."""
        return None if self.openings < 0 else self.openings


def _check_openings(plies: int) -> None:
    whole_number("openings", plies, -1, 10_000)


def _check_even(name: str, games: int) -> None:
    if games % 2:
        raise AzlabError(f"{name} must be even in number, since every opening is played from both seats; try {games + 1}.")


@dataclass(frozen=True)
class AlphaZeroConfig:
    """All settings of a run. `to_toml` and `from_toml` write and read it; see the presets beside this file."""

    game: str = "tictactoe"
    options: dict[str, Any] = field(default_factory=dict)
    # of the game, e.g. rows = 2
    net: dict[str, Any] = field(default_factory=dict)
    # kind = "residual" or another of azlab.nets.kinds, with its sizes; `encoding` says how it sees a state (azlab.nets.encodings)
    search: Search = field(default_factory=lambda: Search(cpuct_base=0.0))
    explore: Explore = field(default_factory=lambda: Explore(0.25, noise_alpha_base=10.0, temperature=((0, 1.0),)))
    budget: Budget = field(default_factory=lambda: Budget(64))
    # these three of self-play
    test_search: Search = field(default_factory=lambda: Search(cpuct_base=0.0))
    # of tests and evaluation matches, `evaluation.simulations` a move
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    parts: dict[str, Any] = field(default_factory=dict)
    # program = a source in `reproductions/` whose search, targets, gate or first games are used, with its settings
    begin: BeginConfig = field(default_factory=BeginConfig)
    # weights or games of an earlier run, or a network that judges
    iterations: int = 10
    hours: float = 0.0
    # stop after the iteration in which so much time is used up; 0 for no limit
    seed: int = 0

    def __post_init__(self) -> None:
        check_kind(self.net.get("kind", "residual"))
        if self.search.margin != self.test_search.margin:
            raise AzlabError(
                "A network learns the result or the margin, not both: set `margin` in [search] and [test_search] alike."
            )
        if self.search.horizon != self.test_search.horizon:
            raise AzlabError("A network learns a phase or the whole game: set `horizon` in [search] and [test_search] alike.")
        if self.search.horizon != bool(self.begin.judge):
            raise AzlabError(
                "A training that ends at a horizon needs a network that judges positions there, and only such a one does: set "
                "search.horizon, test_search.horizon and begin.judge together, or none of them."
            )
        if self.search.horizon and self.evaluation.positions:
            raise AzlabError(
                "Graded positions may lie beyond the horizon, where this training knows no moves: leave out `positions`."
            )
        whole_number("iterations", self.iterations, 1, 10**6)
        whole_number("seed", self.seed, 0, 2**31)
        finite_number("hours", self.hours, 0)

    def rules(self) -> Game:
        """The game with its options; one that is code in a file must have been loaded before (`azlab.game`)."""
        from azlab.games import known_game

        return known_game(self.game, **self.options)

    def to_toml(self) -> str:
        """The config as a TOML file that `from_toml` reads."""
        return to_toml(self)

    @classmethod
    def from_toml(cls, text: str, where: str = "The config") -> "AlphaZeroConfig":
        """Read a config, also one of an older version; what it leaves out keeps its default, what it should not have is named."""
        return build(cls, renewed(read_toml(text, where), where), where)

    @classmethod
    def load(cls, path: str | Path) -> "AlphaZeroConfig":
        """Read a config file."""
        try:
            return cls.from_toml(Path(path).read_text("utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise AzlabError(f"{path} cannot be read: {error}.") from None

    def changed(self, settings: dict[str, Any]) -> "AlphaZeroConfig":
        """With other values, by name: {"budget.simulations": 100, "iterations": 20}."""
        text = read_toml(self.to_toml())
        for name, value in settings.items():
            section, dot, key = name.rpartition(".")
            place = text.setdefault(section, {}) if dot else text
            if not isinstance(place, dict):
                raise AzlabError(f"{section} is one setting and has no parts such as {name}: write {section}={value}.")
            place[key] = value
        return build(type(self), text, "The config")


ANY_GAME = "any_game"  # the settings of games that have no preset of their own


def _presets() -> dict[str, Path]:
    files = [*(Path(__file__).parent / "presets").glob("*.toml"), *reproduction_files("presets/*.toml")]
    return {path.stem: path for path in sorted(files)}


def presets() -> list[str]:
    """The names of the configs that ship with azlab and its reproductions."""
    return sorted(_presets().keys() - {ANY_GAME})


def preset(name: str) -> AlphaZeroConfig:
    """A config that ships with azlab, such as "tictactoe"."""
    found = _presets().get(name)
    if found is None:
        raise AzlabError(f"There is no preset {name!r}; there are {', '.join(presets())}.")
    return AlphaZeroConfig.load(found)
