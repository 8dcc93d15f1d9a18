"""Trainings that end at a horizon: of a game in two phases the first is learnt, and a network that knows the second judges it.

    azlab train s4_moving --out runs/moving
    azlab train s4_positioning begin.judge=runs/moving --out runs/positioning

With `search.horizon` a search looks no farther than the end of the first phase (`Game.at_horizon`), where the judge says what a
position is worth, and self-play ends there. This is how S4 taught its positioning agent. The run keeps a copy of its judge in
`judge/`: the run it came from may go on, or go.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from azlab.arena.agents import Agent, PuctAgent, choose_all
from azlab.arena.match import random_openings
from azlab.arena.results import Tally, tally
from azlab.errors import AzlabError
from azlab.files import write_aside
from azlab.games.game import Game, Position
from azlab.learning.learner import Learner

if TYPE_CHECKING:
    from azlab.learning.config import AlphaZeroConfig, GateConfig

FOLDER = "judge"  # in the run's folder


@dataclass(frozen=True)
class Judge:
    """A network of another training, and that training's settings."""

    learner: Learner
    config: "AlphaZeroConfig"

    def player(self, seed: int, evaluator: Any = None) -> PuctAgent:
        """It as a player of the second phase, with the search of its own tests; `evaluator` is its network, if there is one."""
        config = self.config
        found = evaluator or self.learner.evaluator()
        return PuctAgent(found, config.test_search, config.evaluation.simulations, "judge", seed)


def find_judge(game: Game, config: "AlphaZeroConfig", folder: Path) -> Judge | None:
    """The judge of a run with a horizon: the copy in its folder, else what begin.judge names; None where there is no horizon."""
    if not config.search.horizon:
        return None
    game.at_horizon(game.new_states(1))  # a sentence where the game has none
    judge = _kept(folder / FOLDER) if (folder / FOLDER / "config.toml").is_file() else _named(Path(config.begin.judge))
    if judge.learner.game != game:
        raise AzlabError(f"The judge {config.begin.judge} was trained for {judge.learner.game!r}, not for {game!r}.")
    if judge.config.search.margin or judge.config.search.horizon or not judge.learner.has_value:
        raise AzlabError(f"The judge {config.begin.judge} does not tell who wins: it learnt a margin, a phase, or moves alone.")
    return judge


def _kept(folder: Path) -> Judge:
    from azlab.learning.alphazero import new_learner
    from azlab.learning.config import AlphaZeroConfig

    config = AlphaZeroConfig.load(folder / "config.toml")
    learner = new_learner(config.rules(), config.net, config.loss, config.seed)
    learner.load(folder / f"net{learner.suffix}")
    return Judge(learner, config)


def _named(path: Path) -> Judge:
    from azlab.learning.alphazero import trained_learner
    from azlab.learning.run_folder import RunFolder
    from azlab.learning.shipped import load_player

    if path.is_file():
        return Judge(*load_player(path))
    if not path.is_dir():
        raise AzlabError(
            f"There is neither a run nor a player's file {path} that could judge: train it first, or set begin.judge."
        )
    run = RunFolder(path)
    config = run.config()
    if run.iteration() == 0:
        raise AzlabError(f"The run in {path} has not finished its first iteration: it cannot judge yet.")
    return Judge(trained_learner(run, config, run.iteration()), config)


def keep_judge(judge: Judge, folder: Path) -> None:
    """Copy a judge into a run's folder, once; its settings are written last, so that half a copy is none."""
    place = folder / FOLDER
    if (place / "config.toml").is_file():
        return
    place.mkdir(parents=True, exist_ok=True)
    judge.learner.save(place / f"net{judge.learner.suffix}", place / "optimiser.safetensors")
    (place / "optimiser.safetensors").unlink()  # a judge learns no more
    write_aside(place / "config.toml", lambda aside: aside.write_text(judge.config.to_toml(), encoding="utf-8"))


def chances(values: np.ndarray, draws: np.ndarray, kind: str) -> np.ndarray:
    """What games that end at the horizon count: chances of draw, win and loss of seat 0, float32 [B, 3].

    kind: "sign", a won or lost game by the sign of `values` [B]; or "value", chances with that mean and `draws` [B]
    """
    if kind == "sign":
        values = np.sign(values)
        draws = (values == 0).astype(np.float32)
    decided = np.maximum(1 - draws, np.abs(values))  # a judge may say of a won game that it is a draw by 0.1
    return np.stack([1 - decided, (decided + values) / 2, (decided - values) / 2], axis=1).astype(np.float32)


def judged_match(
    new: Agent, old: Agent, game: Game, config: "GateConfig", judge: Any, seed: int, progress: Callable[[int, int], None]
) -> Tally:
    """The results of `new` in games that end at the horizon, by the sign of what the evaluator `judge` says of them.

    As in any match every opening is played from both seats.
    """
    openings = random_openings(game, config.games // 2, config.opening_plies, seed)
    if openings and any(game.at_horizon(opening.state)[0] for opening in openings):
        raise AzlabError("The gate's openings lead beyond the horizon, so that nothing is left to play: set gate.openings lower.")
    places = [(pair, first) for pair in range(len(openings)) for first in (0, 1)]  # `first`: who of the two sits in seat 0
    now = [openings[pair] for pair, _ in places]
    progress(0, config.games)
    while going := [k for k, position in enumerate(now) if not _is_ended(position)]:
        for who, player in enumerate((new, old)):
            turn = [k for k in going if not _is_ended(now[k]) and now[k].to_move ^ places[k][1] == who]
            for k, action in zip(turn, choose_all(player, [now[k] for k in turn]), strict=True):
                now[k] = now[k].play(action)
        progress(sum(_is_ended(position) for position in now), config.games)
    results = [_result(position, judge) for position in now]
    return tally(result * (1 - 2 * first) for result, (_, first) in zip(results, places, strict=True))


def _is_ended(position: Position) -> bool:
    return position.over or bool(position.game.at_horizon(position.state)[0])


def _result(position: Position, judge: Any) -> int:
    """For seat 0."""
    if position.result is not None:
        return position.result
    state = position.state
    return int(np.sign(judge.evaluate(state, position.game.legal_mask(state))[1][0]))
