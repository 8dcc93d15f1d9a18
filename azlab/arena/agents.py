"""Players. Anything with `name` and `choose(position) -> action` plays; most can also show what they think: `analyse(position)`.

`agent("uct:1000")` makes one by name; the command line, notebooks and configs share this notation:

    random              any legal move
    minimax:6           alpha-beta to depth 6; minimax:2s deepens for two seconds; minimax:6,endgame=20 solves the last 20
                        lines of Dots and Boxes exactly
    uct:1000            1,000 simulations with random playouts; uct:2s thinks two seconds; uct:1000,c=0.7,rave=300,solve=True
    puct:800            PUCT with a random playout as evaluator; puct:800,cpuct=2 and other settings of SearchConfig
    onesided:10000      10,000 playouts of S3's plain search, whose opponent cooperates; onesided:10000,c=1.41,bonus=3,batch=100
    az                  the trained player that ships for the game; az:,simulations=400 searches longer
    az:runs/connect4    the network of a training run; az:runs/connect4,simulations=400,iteration=7
    perfect             an oracle's best move, where the game has one
    gnugo:10            GNU Go at level 10, in Go; it must be installed
    gtp:COMMAND ...     any program that speaks the Go Text Protocol, e.g. "gtp:gnugo --mode gtp"
"""

import ast
import functools
import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from azlab.arena.gtp_agent import GnuGoAgent, GtpAgent
from azlab.errors import AzlabError, whole_number
from azlab.games.game import Game, Position
from azlab.oracles.dots_and_boxes import MAX_ENDGAME, endgame_scores
from azlab.oracles.oracle import is_best
from azlab.search import Analysis, SearchConfig, Searcher, minimax, uct
from azlab.search import one_sided as one_sided_search
from azlab.search.evaluators import Evaluator, PlayoutEvaluator
from azlab.search.tree import UNPROVEN
from azlab.search.uct import check_settings

TREE_BYTES = 10**9  # memory for the trees of positions searched together


class Agent(Protocol):
    """A player: picks one of `position.legal_actions`."""

    name: str

    def choose(self, position: Position) -> int:
        """The action to play; the game is not over."""
        ...


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
        if seconds is not None and seconds <= 0:
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
        self.simulations = 1000 if simulations is None and seconds is None else simulations
        self.seconds, self.settings = seconds, {"c": c, "rave": rave, "solve": solve}
        self.name = f"uct:{seconds:g}s" if seconds is not None else f"uct:{self.simulations}"
        self._seeds = np.random.default_rng(seed)

    def analyse(self, position: Position) -> Analysis:
        """The search behind `choose`."""
        seed = int(self._seeds.integers(2**62))
        return uct(position, self.simulations, seconds=self.seconds, seed=seed, **self.settings)  # type: ignore[arg-type]

    def choose(self, position: Position) -> int:
        return self.analyse(position).best_action


class OneSidedAgent:
    """The plain tree search of source S3, which takes the opponent for a helper; see `azlab.search.one_sided`."""

    def __init__(self, playouts: int = 10_000, c: float = 1.41, bonus: float = 3.0, batch: int = 100, seed: int = 0):
        one_sided_search.check_settings(playouts, c, bonus, batch)
        self.playouts, self.settings = playouts, {"c": c, "bonus": bonus, "batch": batch}
        self.name = f"onesided:{playouts}"
        self._seeds = np.random.default_rng(seed)

    def prepare(self, game: Game) -> None:
        """Raise a sentence now, not at the first move, if the game counts no points."""
        one_sided_search.points_of(game)

    def analyse(self, position: Position) -> Analysis:
        """The search behind `choose`."""
        seed = int(self._seeds.integers(2**62))
        return one_sided_search.one_sided(position, self.playouts, seed=seed, **self.settings)  # type: ignore[arg-type]

    def choose(self, position: Position) -> int:
        return self.analyse(position).best_action


class PuctAgent:
    """PUCT with any evaluator (a network's, say); many positions are searched as one batch."""

    def __init__(
        self, evaluator: Evaluator | None = None, config: SearchConfig | None = None, name: str | None = None, seed: int = 0
    ):
        self.evaluator = evaluator
        self.config = replace(config or SearchConfig(), reuse_tree=False)  # each move is searched afresh
        self.name = name or f"puct:{self.config.simulations}"
        self._seeds = np.random.default_rng(seed)

    def _searcher(self, positions: Sequence[Position]) -> Searcher:
        game = positions[0].game
        seed = int(self._seeds.integers(2**62))
        search = Searcher(game, len(positions), self.evaluator or PlayoutEvaluator(game, seed=seed), self.config, seed)
        search.start(np.concatenate([position.state for position in positions]))
        search.run()
        return search

    def analyse(self, position: Position) -> Analysis:
        """The search behind `choose`."""
        return self._searcher([position]).analysis(0, position)

    def choose(self, position: Position) -> int:
        return self.choose_many([position])[0]

    def choose_many(self, positions: Sequence[Position]) -> list[int]:
        """The actions for many positions of one game, searched together."""
        game = positions[0].game
        node_bytes = 35 + 8 * game.num_actions + game.dtype.itemsize
        chunk = max(1, TREE_BYTES // (node_bytes * self.config.room(game.max_length)))
        chosen: list[int] = []
        for start in range(0, len(positions), chunk):
            search = self._searcher(positions[start : start + chunk])
            chosen += [search.choose(g, position.ply) for g, position in enumerate(positions[start : start + chunk])]
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
        """Raise a sentence now, not at the first move, if the game has no oracle."""
        self._oracle(game)

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


KINDS: dict[str, Any] = {
    "random": RandomAgent,
    "minimax": MinimaxAgent,
    "uct": UctAgent,
    "puct": PuctAgent,
    "onesided": OneSidedAgent,
    "perfect": PerfectAgent,
    "gnugo": GnuGoAgent,
    "gtp": GtpAgent,
    "az": None,  # a network from a training run; loaded when asked for, because torch takes seconds
}
STRENGTHS = {"minimax": "depth", "uct": "simulations", "puct": "simulations", "onesided": "playouts", "gnugo": "level"}
TIMED = ("minimax", "uct")  # these also think for a time, as in uct:2s


def agent(text: str, seed: int = 0) -> Any:
    """The agent that `text` names, e.g. "uct:1000"; see the top of this file for the notation."""
    kind, colon, rest = text.strip().partition(":")
    if kind not in KINDS:
        raise AzlabError(
            f"There is no agent {text!r}; agents are random, minimax:DEPTH, uct:SIMULATIONS, puct:SIMULATIONS, "
            "onesided:PLAYOUTS, perfect, gnugo:LEVEL, gtp:COMMAND, az, az:FOLDER."
        )
    if kind == "az":
        return _trained(text, rest, seed)
    if kind == "gtp":
        return GtpAgent(rest)  # a command may hold commas; seeds are options of the engine's own
    strength, *settings = rest.split(",") if colon else [""]
    options: dict[str, Any] = {}
    if strength:
        options.update(_strength(text, kind, strength))
    for setting in settings:
        key, equals, value = setting.strip().partition("=")
        if key in options or key == "seed":
            raise AzlabError(f"In {text!r} the setting {key!r} is given twice, or does not belong there.")
        options[key] = _number(value) if equals else True
    options["seed"] = whole_number("seed", seed, 0, 2**63)
    parameters = inspect.signature(SearchConfig if kind == "puct" else KINDS[kind]).parameters
    for key in options:
        if key != "seed" and key not in parameters:
            known = ", ".join(name for name in parameters if name != "seed") or "none"
            raise AzlabError(f"{kind} has no setting {key!r}; it has {known}.")
    try:
        if kind == "puct":
            del options["seed"]
            made = PuctAgent(None, SearchConfig(**options), text, seed)
        else:
            made = KINDS[kind](**options)
    except TypeError:
        raise AzlabError(f"{text!r} has a setting whose value is not a number.") from None
    made.name = text.strip()
    return made


def ready(player: Any, game: Game) -> Any:
    """The player itself; one that cannot play this game says so now, not at its first move."""
    if hasattr(player, "prepare"):
        player.prepare(game)
    return player


def _trained(text: str, rest: str, seed: int) -> Any:
    """az, az:FOLDER, or az:FOLDER,simulations=400,iteration=7."""
    from azlab.learning.player import ShippedAgent, TrainedAgent

    folder, *settings = rest.split(",")
    options = dict(setting.strip().partition("=")[::2] for setting in settings)
    known = ("simulations", "iteration") if folder else ("simulations",)
    if not all(key in known and value.isdigit() for key, value in options.items()):
        raise AzlabError(
            f"A trained player is az, az:,simulations=400, az:FOLDER or az:FOLDER,simulations=400,iteration=7, not {text!r}."
        )
    numbers = {key: int(value) for key, value in options.items()}
    made: Any = TrainedAgent(folder, seed=seed, **numbers) if folder else ShippedAgent(seed=seed, **numbers)
    made.name = text.strip()
    return made


def _strength(text: str, kind: str, strength: str) -> dict[str, Any]:
    """What stands behind the colon: a number, or seconds as in "2s"."""
    is_time = strength.endswith("s") and kind in TIMED
    number = _number(strength[:-1] if is_time else strength)
    if kind not in STRENGTHS:
        raise AzlabError(f"{kind} takes no number; {text!r} should be {kind!r}.")
    if is_time and isinstance(number, int | float):
        return {"seconds": float(number)}
    if not isinstance(number, int) or isinstance(number, bool):
        example = f"{kind}:{10 if kind == 'gnugo' else 1000}{', or a time such as 2s' if kind in TIMED else ''}"
        raise AzlabError(f"In {text!r} a whole number should follow the colon, such as {example}.")
    return {STRENGTHS[kind]: number}


def _number(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
