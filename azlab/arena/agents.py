"""Players. Anything with `name` and `choose(position) -> action` plays; most can also show what they think: `analyse(position)`.

`agent("uct:1000")` makes one by name; the command line, notebooks and configs share this notation:

    random              any legal move
    minimax:6           alpha-beta to depth 6; minimax:2s deepens for two seconds; minimax:6,endgame=20 solves the last 20
                        lines of Dots and Boxes exactly
    uct:1000            1,000 simulations with random playouts; uct:2s thinks two seconds; uct:1000,c=0.7,rave=300,solve=True
    puct:800            PUCT with a random playout as evaluator; puct:800,cpuct=2 and other settings of Search, Budget and Explore
    az                  the trained player that ships for the game; az:,simulations=400 searches longer
    az:runs/connect4    the network of a training run; az:runs/connect4,simulations=400,iteration=7
    phases:A then B     in a game of two phases, A in the first and B in the second: "phases:random then uct:1000"
    net:FILE            a network's own choice without any search (azlab.arena.policy_agent); FILE is as in az:FILE, a run's
                        folder or a player's file; net:FILE,sampled=8,own_eyes=True,passes=after_opponent
    perfect             an oracle's best move, where the game has one
    gnugo:10            GNU Go at level 10, in Go; it must be installed
    gtp:COMMAND ...     any program that speaks the Go Text Protocol, e.g. "gtp:gnugo --mode gtp"

`register_agent` adds kinds. Those of a reproduction stand in its `agents.py`, which is read when a name is not known otherwise.
"""

import functools
import importlib
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from azlab.arena.gtp_agent import GnuGoAgent, GtpAgent
from azlab.arena.phases import PhaseAgent, two_names
from azlab.arena.thinking import PuctThinking, Thinking, UctThinking, Whole, nodes_in_memory, only_choice
from azlab.errors import AzlabError, literal, one_of, whole_number
from azlab.files import reproduction_files, reproductions
from azlab.games.game import Game, Position
from azlab.lazy import above
from azlab.oracles.dots_and_boxes import MAX_ENDGAME, endgame_scores
from azlab.oracles.oracle import is_best
from azlab.search import Analysis, Budget, Explore, Search, Searcher, minimax, uct
from azlab.search.config import as_budget
from azlab.search.evaluators import Evaluator, PlayoutEvaluator
from azlab.search.tree import UNPROVEN
from azlab.search.uct import UctSearch, check_settings

ENDLESS_SIMULATIONS = 100_000  # the most of an analysis by PUCT, whose trees get their memory at once


@runtime_checkable
class Agent(Protocol):
    """A player: picks one of `position.legal_actions`."""

    name: str

    def choose(self, position: Position) -> int:
        """The action to play; the game is not over."""
        ...


# What an agent may have besides.


@runtime_checkable
class ChoosesMany(Protocol):
    """Answers many positions of one game at once."""

    def choose_many(self, positions: Sequence[Position]) -> list[int]:
        """The actions to play."""
        ...


@runtime_checkable
class Analyses(Protocol):
    """Tells what it thinks."""

    def analyse(self, position: Position) -> Analysis:
        """The search behind `choose`."""
        ...


@runtime_checkable
class ThinksInSteps(Protocol):
    """Can be watched while it thinks, and stopped."""

    def think(self, position: Position, seconds: float | None = None, endless: bool = False) -> Thinking:
        """The search behind `choose`, not begun yet; a time makes it shorter, never longer.

        endless: for an analysis that someone else stops; it goes on beyond the agent's own budget as far as memory goes
        """
        ...


@runtime_checkable
class Evaluates(Protocol):
    """Has an opinion of a position before any search, by a network or by playouts; None for one that is made for each search."""

    @property
    def evaluator(self) -> Evaluator | None: ...


@runtime_checkable
class Prepares(Protocol):
    """Does not play every game, or needs time before the first move."""

    def prepare(self, game: Game) -> None:
        """Get ready, or raise a sentence."""
        ...


@runtime_checkable
class Closes(Protocol):
    """Holds a program or a file."""

    def close(self) -> None:
        """Let go of it."""
        ...


@runtime_checkable
class PlaysOneGame(Protocol):
    """Follows a game move by move, so games cannot be played at the same time if `one_game` is true."""

    one_game: bool


class RandomAgent:
    """Plays any legal move with equal chances."""

    name = "random"

    def __init__(self, seed: int | None = None) -> None:
        self._rng = np.random.default_rng(seed)

    def choose(self, position: Position) -> int:
        return int(self._rng.choice(position.legal_actions))


class MinimaxAgent:
    """Alpha-beta to a fixed depth, or as deep as `seconds` allow.

    endgame: in Dots and Boxes, positions with at most so many lines to draw are solved exactly, whatever the depth
    """

    def __init__(self, depth: int | None = None, seconds: float | None = None, endgame: int = 0, seed: int | None = None) -> None:
        if depth is not None:
            whole_number("depth", depth, 1, 10_000)
        if seconds is not None and not 0 < seconds < math.inf:
            raise AzlabError("Minimax needs a positive time.")
        self.depth, self.seconds = depth if depth is not None else 4 if seconds is None else 100, seconds
        self.name = f"minimax:{seconds:g}s" if seconds is not None else f"minimax:{self.depth}"
        self.endgame = whole_number("endgame", endgame, 0, MAX_ENDGAME)

    def prepare(self, game: Game) -> None:
        """Raise a sentence if `endgame` is asked for in a game that has no such solver."""
        if self.endgame and game.name != "dots_and_boxes":
            raise AzlabError(f"The endgame solver is for Dots and Boxes, not for {game.name}.")

    def analyse(self, position: Position) -> Analysis:
        """The search behind `choose`."""
        if self.endgame and len(position.legal_actions) <= self.endgame:
            self.prepare(position.game)
            return exact_analysis(position, endgame_scores(position))
        return minimax(position, self.depth, seconds=self.seconds)

    def think(self, position: Position, seconds: float | None = None, endless: bool = False) -> Thinking:
        """The search behind `choose`, in a single step."""
        if seconds is None or (self.endgame and len(position.legal_actions) <= self.endgame):
            return Whole(position, self.analyse)
        shorter = min(seconds, self.seconds or seconds)
        return Whole(position, lambda asked: minimax(asked, self.depth, seconds=shorter))

    def choose(self, position: Position) -> int:
        return self.analyse(position).best_action


class UctAgent:
    """UCT with random playouts."""

    def __init__(
        self,
        simulations: int | None = None,
        seconds: float | None = None,
        c: float = 1.41,
        rave: float = 0.0,
        solve: bool = False,
        seed: int = 0,
    ):
        check_settings(simulations, seconds, c, rave)
        one_of("solve", solve, (True, False))
        self.simulations = 1000 if simulations is None and seconds is None else simulations
        self.seconds, self.settings = seconds, {"c": c, "rave": rave, "solve": solve}
        self.name = f"uct:{seconds:g}s" if seconds is not None else f"uct:{self.simulations}"
        self._seeds = np.random.default_rng(seed)

    def analyse(self, position: Position) -> Analysis:
        """The search behind `choose`."""
        seed = int(self._seeds.integers(2**62))
        return uct(position, self.simulations, seconds=self.seconds, seed=seed, **self.settings)  # type: ignore[arg-type]

    def think(self, position: Position, seconds: float | None = None, endless: bool = False) -> Thinking:
        """The search behind `choose`, in steps."""
        search = UctSearch(position, seed=int(self._seeds.integers(2**62)), **self.settings)  # type: ignore[arg-type]
        if endless:  # a tree that grows has its old arrays beside the new ones
            return UctThinking(search, nodes_in_memory(position.game) // 2, seconds)
        times = [limit for limit in (seconds, self.seconds) if limit is not None]
        return UctThinking(search, self.simulations or 10**9, min(times, default=None))

    def choose(self, position: Position) -> int:
        return self.analyse(position).best_action


class PuctAgent:
    """PUCT with any evaluator (a network's, say); many positions are searched as one batch, each move afresh.

    searcher: another kind of search (see `azlab.search.puct`)
    """

    def __init__(
        self,
        evaluator: Evaluator | None = None,
        search: Search | None = None,
        budget: Budget | int | None = None,
        name: str | None = None,
        seed: int = 0,
        *,
        explore: Explore | None = None,
        searcher: type[Searcher] = Searcher,
    ) -> None:
        self.evaluator, self.search, self.budget = evaluator, search or Search(), as_budget(budget)
        self.explore, self.searcher = explore, searcher
        self.name = name or f"puct:{self.budget.simulations}"
        self._seeds = np.random.default_rng(seed)

    def _new_searcher(self, game: Game, games: int, budget: Budget) -> Searcher:
        seed = int(self._seeds.integers(2**62))
        evaluator = self.evaluator or PlayoutEvaluator(game, seed=seed)
        return self.searcher(game, games, evaluator, self.search, budget, self.explore, seed)

    def _searched(self, positions: Sequence[Position]) -> Searcher:
        searcher = self._new_searcher(positions[0].game, len(positions), self.budget)
        searcher.start(np.concatenate([position.state for position in positions]))
        searcher.run()
        return searcher

    def analyse(self, position: Position) -> Analysis:
        """The search behind `choose`."""
        return self._searched([position]).analysis(0, position)

    def think(self, position: Position, seconds: float | None = None, endless: bool = False) -> Thinking:
        """The search behind `choose`, in steps; whoever asks looks at the clock."""
        game, budget = position.game, self.budget
        if endless and not (self.search.gumbel or budget.gain):  # these plan their whole budget
            longest = min(ENDLESS_SIMULATIONS, nodes_in_memory(game) // 4)
            budget = replace(budget, simulations=max(budget.simulations, longest))
        return PuctThinking(self._new_searcher(game, 1, budget), position, budget.simulations)

    def choose(self, position: Position) -> int:
        return self.choose_many([position])[0]

    def choose_many(self, positions: Sequence[Position]) -> list[int]:
        """The actions for many positions of one game, searched together."""
        game = positions[0].game
        chunk = max(1, nodes_in_memory(game) // self.searcher.room(game, self.budget))
        chosen: list[int] = []
        for start in range(0, len(positions), chunk):
            searcher = self._searched(positions[start : start + chunk])
            chosen += [searcher.choose(g, position.ply) for g, position in enumerate(positions[start : start + chunk])]
        return chosen


class PerfectAgent:
    """Plays a best move of the game's oracle, a random one if there are several."""

    name = "perfect"

    def __init__(self, seed: int | None = None) -> None:
        self._rng = np.random.default_rng(seed)

    @staticmethod
    @functools.cache
    def _oracle(game: Game) -> Any:
        from azlab.oracles import oracle

        return oracle(game)

    def prepare(self, game: Game) -> None:
        """Raise a sentence now, not at the first move, if the game has no oracle or one that knows endgames only."""
        if not self._oracle(game).covers_start:
            raise AzlabError(
                f"Perfect play of {game.name} is known at the end of the game only, so `perfect` cannot play all of it."
            )

    def choose(self, position: Position) -> int:
        best = self._oracle(position.game).best_actions(position.state)[0]
        return int(self._rng.choice(np.flatnonzero(best)))

    def analyse(self, position: Position) -> Analysis:
        """The exact value of every move."""
        return exact_analysis(position, self._oracle(position.game).action_scores(position.state)[0])


def exact_analysis(position: Position, scores: np.ndarray) -> Analysis:
    """What is known where `scores` [A] are the exact values for seat 0 after each action, NaN where illegal."""
    best = is_best(scores[None], position.state["to_move"])[0]
    proven = np.full(len(scores), UNPROVEN, np.int8)
    known = ~np.isnan(scores)
    proven[known] = np.sign(scores[known])
    line = [position.game.move_name(int(np.argmax(best)))]
    value = float(scores[np.argmax(best)])
    found = Analysis(position, best.astype(np.int64), scores, best / best.sum(), proven, value, line, 1, 1, 1)
    return replace(found, choice=int(np.argmax(best)))


class Kind(NamedTuple):
    """A kind of agents that names can be made of."""

    make: Callable[..., Any] | None  # called with the settings in the name, and seed=
    strength: str = ""  # the setting that the number after the colon gives
    notation: str = ""  # as shown to people
    is_timed: bool = False  # it also thinks for a time, as in uct:2s


def _puct(seed: int = 0, **options: Any) -> PuctAgent:
    """A PUCT agent by the names of the settings of its three parts."""
    budget, search, explore = ({key: options[key] for key in _settings(part) if key in options} for part in PUCT_PARTS)
    return PuctAgent(None, Search(**search), Budget(**budget), seed=seed, explore=Explore(**explore) if explore else None)


def _settings(make: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(make).parameters if name != "seed"]


PUCT_PARTS = Budget, Search, Explore
KINDS: dict[str, Kind] = {
    "random": Kind(RandomAgent),
    "minimax": Kind(MinimaxAgent, "depth", "minimax:DEPTH", is_timed=True),
    "uct": Kind(UctAgent, "simulations", "uct:SIMULATIONS", is_timed=True),
    "puct": Kind(_puct, "simulations", "puct:SIMULATIONS"),
    "perfect": Kind(PerfectAgent),
    "gnugo": Kind(GnuGoAgent, "level", "gnugo:LEVEL"),
    "gtp": Kind(GtpAgent, notation="gtp:COMMAND"),
    "phases": Kind(PhaseAgent, notation="phases:BEFORE then BEYOND"),
    "az": Kind(None, notation="az, az:FOLDER"),  # networks; loaded when asked for, because torch takes seconds
    "net": Kind(None, notation="net:FILE"),
}


def register_agent(kind: str, make: Callable[..., Any], strength: str, notation: str) -> None:
    """Let names such as "kind:100" stand for `make(strength=100, seed=...)`."""
    KINDS[kind] = Kind(make, strength, notation)


def _find_kind(text: str, kind: str) -> Kind:
    if kind not in KINDS:
        for file in reproduction_files("agents.py"):  # azlab's own code: it registers what it has
            importlib.import_module(f"{reproductions().__name__}.{file.parent.name}.agents")
    if kind not in KINDS:
        known = ", ".join(made.notation or name for name, made in KINDS.items())
        raise AzlabError(f"There is no agent {text!r}; agents are {known}.")
    return KINDS[kind]


def agent(text: str, seed: int = 0) -> Any:
    """The agent that `text` names, e.g. "uct:1000"; see the top of this file for the notation."""
    kind, colon, rest = text.strip().partition(":")
    found = _find_kind(text, kind)
    if found.make is None:
        make = above("an agent called net") if kind == "net" else above("an agent called az")
        return make(text, rest, seed)
    if kind == "gtp":
        return GtpAgent(rest)  # a command may hold commas; seeds are options of the engine's own
    if kind == "phases":
        before, beyond = two_names(rest)
        return PhaseAgent(agent(before, seed), agent(beyond, seed + 1), text.strip())
    strength, *settings = rest.split(",") if colon else [""]
    options: dict[str, Any] = {}
    if strength:
        options.update(_strength(text, kind, strength))
    for setting in settings:
        key, equals, value = setting.strip().partition("=")
        if key in options or key == "seed":
            raise AzlabError(f"In {text!r} the setting {key!r} is given twice, or does not belong there.")
        options[key] = literal(value) if equals else True
    known = [key for part in (PUCT_PARTS if kind == "puct" else (found.make,)) for key in _settings(part)]
    for key in options:
        if key not in known:
            raise AzlabError(f"{kind} has no setting {key!r}; it has {', '.join(known) or 'none'}.")
    try:
        made = found.make(**options, seed=whole_number("seed", seed, 0, 2**63))
    except TypeError:
        raise AzlabError(f"{text!r} has a setting whose value is not a number.") from None
    made.name = text.strip()
    return made


def thinking(player: Any, position: Position, seconds: float | None = None, endless: bool = False) -> Thinking:
    """How any player thinks about a position: in steps if it can."""
    if isinstance(player, ThinksInSteps):
        return player.think(position, seconds, endless)
    choose = player.choose if isinstance(player, Agent) and isinstance(player, Analyses) else None
    return Whole(position, lambda asked: analysis_of(player, asked), choose)


def analysis_of(player: Any, position: Position) -> Analysis:
    """What a player thinks; of one that only chooses, all of its attention on that move."""
    return player.analyse(position) if isinstance(player, Analyses) else only_choice(position, int(player.choose(position)))


def choose_all(agent: Any, positions: Sequence[Position]) -> list[Any]:
    """What an agent chooses in many positions of one game: it is asked once if it takes many, else about one after another."""
    if positions and isinstance(agent, ChoosesMany):
        return list(agent.choose_many(positions))
    return [agent.choose(position) for position in positions]


def ready(player: Any, game: Game) -> Any:
    """The player itself; one that cannot play this game says so now, not at its first move."""
    if isinstance(player, Prepares):
        player.prepare(game)
    return player


def close(player: Any) -> None:
    """Let a player that holds a program let go of it."""
    if isinstance(player, Closes):
        player.close()


def _strength(text: str, kind: str, strength: str) -> dict[str, Any]:
    """What stands behind the colon: a number, or seconds as in "2s"."""
    is_time = strength.endswith("s") and KINDS[kind].is_timed
    number = literal(strength[:-1] if is_time else strength)
    if not KINDS[kind].strength:
        raise AzlabError(f"{kind} takes no number; {text!r} should be {kind!r}.")
    if is_time and isinstance(number, int | float):
        return {"seconds": float(number)}
    if not isinstance(number, int) or isinstance(number, bool):
        example = f"{kind}:{10 if kind == 'gnugo' else 1000}{', or a time such as 2s' if KINDS[kind].is_timed else ''}"
        raise AzlabError(f"In {text!r} a whole number should follow the colon, such as {example}.")
    return {KINDS[kind].strength: number}
