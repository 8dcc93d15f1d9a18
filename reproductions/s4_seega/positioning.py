"""The positioning agent: its training, judged by the moving agent's value of the filled board, and whether it places well.

The source reports no whole game. Here the same mover plays for both sides, so that a match tells what placing is worth.
"""

from pathlib import Path
from typing import Any

import numpy as np

import azlab
from azlab.arena.phases import PhaseAgent
from azlab.arena.results import GameRecord
from azlab.errors import AzlabError
from azlab.learning import AlphaZero, preset
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.player import TrainedAgent
from azlab.learning.run_folder import RunFolder
from azlab.repro import experiments
from azlab.repro.record import Recorder
from azlab_reproductions.s4_seega.gates import record_gates
from azlab_reproductions.s4_seega.matches import kept_match
from azlab_reproductions.s4_seega.moving import STONES, moving_config

OF_TRAINING = (
    "iterations", "positions", "games", "quiet_limit", "filters", "dense", "simulations", "epochs", "batch", "gate_games",
)  # fmt: skip


def moving_run(record: Recorder) -> Path:
    """The folder of the moving agent: that of `s4.moving` in the same run of `azlab reproduce`, else one that is trained here.

    Its sizes are those of `s4.moving` at this profile.
    """
    sizes = experiments.find("s4.moving").at(record.profile)
    config = moving_config(record.seed, **{name: sizes[name] for name in OF_TRAINING})
    beside = record.folder.parents[1] / "s4.moving" / "work" / "run"
    if _is_finished(beside, config):
        return beside
    run = AlphaZero.from_config(config, record.folder / "moving")
    with record.progress("moving agent") as run.progress:
        run.train()
    return record.folder / "moving"


def _is_finished(folder: Path, config: AlphaZeroConfig) -> bool:
    try:
        return folder.is_dir() and RunFolder(folder).config() == config and RunFolder(folder).iteration() == config.iterations
    except AzlabError:  # not the folder of a run
        return False


def positioning(
    record: Recorder,
    *,
    iterations: int,
    games: int,
    filters: int,
    dense: list,
    simulations: int,
    epochs: float,
    batch: int,
    gate_score: float,
    gate_games: int,
    gate_beyond: str,
    at_horizon: str,
    whole_games: int,
    uct: int,
    uct_games: int,
) -> None:
    """The training of appendix A, table 5.2 and figure 5.3, and whole games with one mover on both sides.

    games: of self-play in an iteration
    filters, dense: of the network
    gate_score: 0.55 is what the source's tables show, 0.6 what its text says
    gate_beyond: the gate's games end on the full board and are "judged" (the source), or are "played" to their end
    at_horizon: self-play's games count by the "sign" of the judge's value, or by that "value"
    whole_games: against random placing; uct_games: against placing by a tree search with `uct` playouts
    """
    mover = moving_run(record)
    sizes: dict[str, Any] = {"seed": record.seed, "iterations": iterations, "selfplay.games": games}
    sizes |= {"selfplay.positions": STONES * games, "training.window": [[1, 20 * STONES * games]]}
    sizes |= {"options": RunFolder(mover).config().options, "net.filters": filters, "net.dense": dense}
    sizes |= {"budget.simulations": simulations, "evaluation.simulations": simulations, "selfplay.at_horizon": at_horizon}
    sizes |= {"training.passes": [[1, float(epochs)]], "training.batch": batch, "begin.judge": _judge(record, mover)}
    sizes |= {"gate.score": float(gate_score), "gate.games": gate_games, "gate.beyond": gate_beyond}
    run = AlphaZero.from_config(preset("s4_positioning").changed(sizes), record.folder / "run")
    with record.progress("positioning agent") as run.progress:
        rows = run.train()
    record_gates(record, "positioning", rows)
    record("s4.positioning.samples", np.mean([row["examples"] for row in rows]), note=f"{games} games of {STONES} stones")
    record.data("parameters", sum(array.size for array in run.learner.weights()))
    _whole_games(record, run, mover, {"random": whole_games, f"uct:{uct}": uct_games})


def _judge(record: Recorder, mover: Path) -> str:
    """What the training's settings call its judge. One that was begun has a copy: the folder may have been moved since."""
    begun = record.folder / "run"
    return RunFolder(begun).config().begin.judge if (begun / "config.toml").is_file() else str(mover)


def _whole_games(record: Recorder, run: AlphaZero, mover: Path, placers: dict[str, int]) -> None:
    """The agent's placing against other ways to place, with the moving agent moving for both sides; and how often the judge's
    word on the full board comes true."""
    judge = run.judge
    assert judge is not None
    evaluator, game = judge.learner.evaluator(), run.game

    def came_true(played: GameRecord) -> bool:
        full = played.positions[STONES].state
        return int(np.sign(evaluator.evaluate(full, game.legal_mask(full))[1][0])) == played.result

    rows = []
    for placer, games in placers.items():

        def players(seed: int, placer: str = placer) -> tuple[Any, Any]:
            own, other = TrainedAgent(run.folder.path, seed=seed), azlab.agent(placer, seed + 1)
            movers = TrainedAgent(mover, seed=seed), TrainedAgent(mover, seed=seed)
            return PhaseAgent(own, movers[0], "trained placer"), PhaseAgent(other, movers[1], placer)

        file = record.folder / f"placing-{placer.replace(':', '_')}.json"
        with record.progress(f"placing against {placer}") as report:
            rows.append({"opponent": placer, **kept_match(file, players, games, game, 0, record.seed, report, came_true)})
    record.data("whole games", rows)
