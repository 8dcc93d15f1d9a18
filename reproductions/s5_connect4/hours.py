"""Our runs on the source's axis: hours of its graphics card for the same arithmetic, and what it states at those hours."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from azlab.learning.alphazero import trained_learner
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.evaluation import graded, search_accuracy
from azlab.learning.intervals import interval
from azlab.learning.run_folder import RunFolder
from azlab.learning.sweep_table import Table
from azlab.machine import cores
from azlab.nets.residual import ResidualConfig, count_multiplications
from azlab.repro.record import Recorder
from azlab_reproductions.s5_connect4.costs import equivalent_hours
from azlab_reproductions.s5_connect4.endpoints import reach

LEVELS = (84, 88, 90, 91)  # percent, to which the source states hours
EASY = "connect4/easy_test.txt.gz"
CURVES = ("baseline", "extended", "prevwork")  # whose mean curves are claims


@dataclass(frozen=True)
class Run:
    """One training, at the iterations in which its search was tested."""

    hours: list[float]  # of the source's graphics card
    accuracy: list[float]  # of the search, in percent
    a_evaluation: int  # multiplications
    evaluations: list[float]

    def hours_to(self, level: float) -> float:
        """Hours until the accuracy first reaches a level; nan if it never does."""
        cost, reached = reach(np.array(self.accuracy), np.array(self.hours), level)
        return cost if reached else math.nan

    def multiplications_to(self, level: float) -> float:
        """The arithmetic of self-play until then."""
        cost, reached = reach(np.array(self.accuracy), np.array(self.evaluations), level)
        return cost * self.a_evaluation if reached else math.nan


def multiplications(config: AlphaZeroConfig) -> int:
    """What an evaluation of a training's network costs."""
    sizes = {name: value for name, value in config.net.items() if name != "kind"}
    return count_multiplications(ResidualConfig.for_game(config.rules(), **sizes))


def hours_of(table: Table, arm: str, config: AlphaZeroConfig) -> list[Run]:
    """The runs of an arm, by seed."""
    cost = multiplications(config)
    found = []
    for seed in table.values("mcts_accuracy", arm):
        rows = [row for row in table.rows if (row["arm"], row["seed"]) == (arm, seed)]
        spent = np.cumsum([row["evaluations"] for row in rows]).tolist()
        tested = [(own, row) for own, row in zip(spent, rows) if row.get("mcts_accuracy") is not None]
        accuracy = [100 * row["mcts_accuracy"] for _, row in tested]
        evaluations = [own for own, _ in tested]
        found.append(Run([equivalent_hours(own, cost) for own in evaluations], accuracy, cost, evaluations))
    return found


def compare_with_hours(record: Recorder, table: Table, configs: dict[str, AlphaZeroConfig], names: dict[str, str]) -> None:
    """Best accuracy, hours to the source's levels and for some arms the whole curve: means over the seeds."""
    for arm, config in configs.items():
        runs, name = hours_of(table, arm, config), names.get(arm, arm)
        best = interval([max(run.accuracy) for run in runs])
        record(f"s5.az.{name}.accuracy", best.mean, best.half, best.count)
        stated = record.source.claim(f"s5.az.{name}.hours").value
        assert isinstance(stated, dict)
        mean = {level: float(np.mean([run.hours_to(int(level)) for run in runs])) for level in stated}
        record(f"s5.az.{name}.hours", mean, runs=len(runs))
        if arm in CURVES:
            for claim in (f"s5.curve.{arm}", f"s5.curve.{arm}.early"):
                at = record.source.claim(claim).x
                assert at is not None
                known = [x for x in at if all(run.hours[0] <= x <= run.hours[-1] for run in runs)]
                if len(known) > 1:
                    record.curve(
                        claim, known, [float(np.mean([np.interp(x, run.hours, run.accuracy) for run in runs])) for x in known]
                    )


def best_on_easy(record: Recorder, table: Table, config: AlphaZeroConfig, arm: str, sweep: Path) -> None:
    """Accuracy of the last networks of an arm on the easy set (section 3.7)."""
    test, found = graded(config.rules(), EASY), []
    with record.progress(f"{arm} on the easy set") as report:
        for seed, rows in table.values("mcts_accuracy", arm).items():
            learner = trained_learner(RunFolder(sweep / "arms" / arm / f"seed{seed}" / "run"), config, max(rows))
            evaluators = [learner.evaluator(1) for _ in range(cores())]
            found.append(search_accuracy(evaluators, test, config.test_search, config.evaluation.simulations)["mcts_accuracy"])
            report(len(found), len(table.values("mcts_accuracy", arm)))
    easy = interval([100 * share for share in found])
    record(f"s5.az.{arm}.easy", easy.mean, easy.half, easy.count)
