"""A trained network as a player: `agent("az:runs/connect4")`, in matches, in the terminal and in notebooks; `agent("net:...")`
is the same network without any search.

`agent("az")` is the player that ships with azlab for the game at hand (azlab.learning.shipped).
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from azlab.arena.agents import PuctAgent
from azlab.arena.phases import PhaseAgent
from azlab.arena.policy_agent import PolicyAgent
from azlab.arena.thinking import Thinking
from azlab.errors import AzlabError, literal, whole_number
from azlab.games.game import Game, Position
from azlab.learning.alphazero import evaluator_of, trained_learner
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.horizon import find_judge
from azlab.learning.learner import Learner
from azlab.learning.parts import Parts, parts_of
from azlab.learning.run_folder import RunFolder
from azlab.learning.shipped import load_player, player_for
from azlab.search import Analysis
from azlab.search.evaluators import Evaluator


def trained_agent(text: str, rest: str, seed: int) -> "TrainedAgent | ShippedAgent | PhaseAgent":
    """What `agent(text)` gives for az, az:FOLDER or az:FOLDER,simulations=400,iteration=7; `rest` stands behind the colon.

    The network of a run with a horizon plays up to there, and the run's judge afterwards.
    """
    folder, *settings = rest.split(",")
    options = dict(setting.strip().partition("=")[::2] for setting in settings)
    known = ("simulations", "iteration") if folder else ("simulations",)
    if not all(key in known and re.fullmatch("[0-9]{1,9}", value) for key, value in options.items()):
        raise AzlabError(
            f"A trained player is az, az:,simulations=400, az:FOLDER or az:FOLDER,simulations=400,iteration=7, not {text!r}."
        )
    numbers: dict[str, Any] = {key: int(value) for key, value in options.items()}
    try:
        made = TrainedAgent(folder, seed=seed, **numbers) if folder else ShippedAgent(seed=seed, **numbers)
    except OSError as error:  # such as a name that is too long for any file
        raise AzlabError(f"The player {text!r} cannot be read: {error.strerror or error}.") from None
    made.name = text.strip()
    if isinstance(made, TrainedAgent) and made.judge is not None:
        return PhaseAgent(made, made.judge.player(seed, made.evaluator.beyond), made.name)  # type: ignore[union-attr]
    return made


NET_SETTINGS = ("iteration", "own_eyes", "passes", "sampled")


def net_agent(text: str, rest: str, seed: int) -> PolicyAgent:
    """What `agent(text)` gives for net:FILE or net:FILE,sampled=8,passes=after_opponent; `rest` stands behind the colon."""
    path, *settings = rest.split(",")
    options: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = (part.strip() for part in setting.partition("="))
        if key not in NET_SETTINGS or key in options or not equals:
            raise AzlabError(f"In {text!r}, {setting.strip()!r} is no setting of a net; it has {', '.join(NET_SETTINGS)}.")
        options[key] = value if key == "passes" else literal(value)
    if not path.strip():
        raise AzlabError("A network's own choice is net:FILE, where FILE is a run's folder or a player's file.")
    iteration = options.pop("iteration", None)
    if iteration is not None:
        whole_number("iteration", iteration, 1, 10**9)
    try:
        learner = _learner_of(Path(path.strip()), iteration)
    except OSError as error:  # such as a name that is too long for any file
        raise AzlabError(f"The network {path.strip()!r} cannot be read: {error.strerror or error}.") from None
    return PolicyAgent(learner.evaluator(), learner.game, text.strip(), seed=seed, **options)


def _learner_of(path: Path, iteration: int | None) -> Learner:
    if not path.is_file():
        return _from_run(RunFolder(path), iteration, None)[0]
    if iteration is not None:
        raise AzlabError(f"{path} is a player's file, which has one network only: leave iteration out.")
    return load_player(path)[0]


class TrainedAgent(PuctAgent):
    """The network of a run's folder after `iteration` (by default the last one), or of a player's file, with its test search.

    That of a run with a horizon plays no farther than that; `judge` is the run's judge, None in others.
    A run whose learner was handed in as an object needs such a `learner` here too; it takes over the run's weights.
    """

    def __init__(
        self,
        path: str | Path,
        simulations: int | None = None,
        iteration: int | None = None,
        seed: int = 0,
        threads: int | None = None,
        learner: Learner | None = None,
        parts: Parts | None = None,
    ) -> None:
        if Path(path).is_file():
            learner, config = load_player(path)
            self.iteration, self.judge = config.iterations, None
        else:
            run = RunFolder(path)
            learner, config, self.iteration = _from_run(run, iteration, learner)
            run.check_parts(parts or parts_of(config))
            self.judge = find_judge(learner.game, config, run.path)
        self.game = learner.game
        budget, searcher = simulations or config.evaluation.simulations, (parts or parts_of(config)).test_searcher
        beyond = self.judge.learner.evaluator(threads) if self.judge else None
        evaluator = evaluator_of(learner, config, threads, beyond)
        super().__init__(evaluator, config.test_search, budget, f"az:{path}", seed, searcher=searcher)

    def prepare(self, game: Game) -> None:
        """Raise a sentence if the network was trained for another game."""
        if game != self.game:
            raise AzlabError(f"{self.name} was trained for {self.game!r}, not for {game!r}.")


def _from_run(run: RunFolder, iteration: int | None, learner: Learner | None) -> tuple[Learner, AlphaZeroConfig, int]:
    config, last = run.config(), run.iteration()
    if last == 0:
        raise AzlabError(f"The run in {run.path} has not finished its first iteration.")
    if iteration is not None and not 1 <= iteration <= last:
        raise AzlabError(f"The run in {run.path} has iterations 1 to {last}, not {iteration}.")
    if learner is None:
        return trained_learner(run, config, iteration or last), config, iteration or last
    learner.load(run.net_file(iteration or last, learner.suffix))
    return learner, config, iteration or last


class ShippedAgent:
    """The trained player that ships for whatever game it is asked to play; loaded when the game is known."""

    def __init__(self, simulations: int | None = None, seed: int = 0) -> None:
        self.name, self.simulations, self.seed = "az", simulations, seed
        self._player: TrainedAgent | None = None

    def prepare(self, game: Game) -> None:
        """Load the player of this game; a sentence if none ships."""
        if self._player is None or self._player.game != game:
            self._player = TrainedAgent(player_for(game), self.simulations, seed=self.seed)

    def choose(self, position: Position) -> int:
        return self._for(position).choose(position)

    def choose_many(self, positions: Sequence[Position]) -> list[int]:
        """The actions for many positions of one game, searched together."""
        return self._for(positions[0]).choose_many(positions)

    def analyse(self, position: Position) -> Analysis:
        """The search behind `choose`."""
        return self._for(position).analyse(position)

    def think(self, position: Position, seconds: float | None = None, endless: bool = False) -> Thinking:
        """The search behind `choose`, in steps."""
        return self._for(position).think(position, seconds, endless)

    @property
    def evaluator(self) -> Evaluator | None:
        """The network, once the game is known."""
        return None if self._player is None else self._player.evaluator

    def _for(self, position: Position) -> TrainedAgent:
        self.prepare(position.game)
        assert self._player is not None
        return self._player
