"""AlphaZero's baseline, its parameter sets and the five switches of the extended baseline (sections 3.5 to 3.7).

At laptop all of it is done with the twin (preset connect4_small), a fortieth of the source's sizes; at paper with those.
What is compared, by which endpoints, was fixed before the runs: no arm is dropped or given more seeds after a look at it.
"""

import math
from typing import Any

import numpy as np

from azlab.learning.alphazero import trained_learner
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.evaluation import graded, sample, search_accuracy
from azlab.learning.intervals import Interval, interval
from azlab.learning.run_folder import RunFolder
from azlab.learning.sweep_table import Table
from azlab.machine import cores
from azlab.repro.record import Recorder
from azlab.repro.sweeps import of_metric, preset_with, swept
from azlab_reproductions.s5_connect4 import arms
from azlab_reproductions.s5_connect4.endpoints import LEVEL, Endpoints, differences, effects, endpoints
from azlab_reproductions.s5_connect4.hours import best_on_easy, compare_with_hours, hours_of

METRICS = ("evaluations", "network_accuracy", "mcts_accuracy", "diversity", "computed", "searches")  # kept for figures
ARITHMETIC = 582e6 * 65.4e6  # multiplications that the source's baseline had spent at 84 %: evaluations x those of one


def base_config(name: str, settings: list) -> AlphaZeroConfig:
    """A preset with other settings, written as in a config: "iterations = 2"."""
    config = preset_with(name, settings)
    graded(config.rules(), config.evaluation.positions)  # if the positions are not there, say so before anything runs
    return config


def pilot(record: Recorder, *, preset: str, settings: list, simulations: list, value_weights: list, seeds: int) -> None:
    """How the twin was fixed: simulations a move, and the weight of the value in the loss; seeds 900 on, the baseline alone.

    The rule: the cheapest with 78 % for the search after 16 iterations. (The source's weight, 0.01, goes with 40 times as many
    steps an iteration.) Twice as many runs of the twin itself give the level of E1: their median accuracy after iteration 10.
    simulations: with the second of the weights; value_weights: with the first of the simulations
    """
    base = base_config(preset, settings)
    tried = [(simulations[0], weight) for weight in value_weights] + [(count, value_weights[1]) for count in simulations[1:]]
    configs = {
        f"{count}_{weight:g}": base.changed({"budget.simulations": count, "loss.value_weight": float(weight)})
        for count, weight in tried
    }
    table = swept(record, "pilot", configs, range(900, 900 + seeds))
    keep(record, table)
    twin = next(arm for arm, config in configs.items() if config == base)
    more = swept(record, "level", {twin: base}, range(900 + seeds, 900 + 2 * seeds))
    at = min(10, base.iterations)
    found = [row["network_accuracy"] for row in (*table.rows, *more.rows) if (row["arm"], row["iteration"]) == (twin, at)]
    record.data("level", {"twin": twin, "iteration": at, "accuracy": found, "median": float(np.median(found))})


def sets(record: Recorder, *, preset: str, settings: list, seeds: int) -> None:
    """Parameter sets, playout caps, and the baseline against the extended baseline, with equal seeds (figures 3, 8 and 11).

    preset, settings: the baseline
    seeds: runs of each arm
    """
    base = base_config(preset, settings)
    configs = arms.sets(base) | {"extended": arms.switched(base, arms.SWITCHES)}
    table = swept(record, "sets", configs, [100 * record.seed + number for number in range(seeds)])
    keep(record, table)
    if record.profile == "paper":
        compare_with_hours(record, table, configs, {"caps": "playout_caps"})
        for arm in ("baseline", "extended"):
            best_on_easy(record, table, configs[arm], arm, record.folder / "sets")
        return
    found = endpoints(table)
    record.data("endpoints", _kept(found))
    record.data("tested alike", tested_alike(record, configs, ("hyperopt1", "prevwork"), list(found["baseline"])))
    for arm, claim in (("baseline", "baseline"), ("extended", "extended"), ("prevwork", "prevwork"), ("caps", "playout_caps")):
        accuracy = interval([run.accuracy for run in found[arm].values()])
        apart = _difference(found, arm, "extended" if arm == "baseline" else "baseline", "accuracy")
        record(f"s5.small.{claim}", accuracy.mean, accuracy.half, accuracy.count, f"difference {_told(apart)}", paired=apart.half)
    apart = _difference(found, "hyperopt1", "baseline", "accuracy")
    record("s5.small.hyperopt1", apart.mean, apart.half, apart.count)
    for arm in ("prevwork", "caps", "extended"):
        apart = _difference(found, arm, "baseline", "log_evaluations")
        late = sum(not run.reached for run in found[arm].values())
        note = f"{math.expm1(apart.mean):+.0%} evaluations" + (f"; {late} runs never came so far" if late else "")
        record(f"s5.small.{arm}.cost", apart.mean, apart.half, apart.count, note)


def switches(record: Recorder, *, preset: str, settings: list, seeds: int, design: str) -> None:
    """The five switches of the extended baseline (figures 4, 6, 7, 9, 10): what each brings, and whether the gains add up.

    design: "factorial", 16 combinations of all switches and each seed a block; or "single", one switch at a time as in the source
    """
    base = base_config(preset, settings)
    seeded = [100 * record.seed + 50 + number for number in range(seeds)]
    if design == "single":
        configs = arms.singles(base)
        table = swept(record, "switches", configs, seeded)
        keep(record, table)
        names = {"merge2": "dedup2", "merge5": "dedup5", "merge": "dedup8", "window": "slow_window"}
        compare_with_hours(record, table, configs, names)
        return
    table = swept(record, "switches", arms.factorial(base), seeded)
    keep(record, table)
    found = endpoints(table)
    record.data("endpoints", _kept(found))
    kept: dict[str, Any] = {}
    for name in ("accuracy", "log_evaluations", "log_minutes"):
        each, total = effects({arm: {seed: getattr(run, name) for seed, run in own.items()} for arm, own in found.items()})
        kept[name] = {effect: [one.value, one.half] for effect, one in each.items()} | {"sum": [total.value, total.half]}
    record.data("effects", kept)  # on each endpoint: main ones and interactions of two, [value, half the width of the interval]
    runs = len(found) * seeds
    for claim, switch, endpoint in (
        ("dedup.accuracy", "merge", "accuracy"),
        ("dedup.cost", "merge", "log_evaluations"),
        ("cyclic.accuracy", "cyclic", "accuracy"),
        ("cyclic.cost", "cyclic", "log_evaluations"),
        ("slow_window.no_harm", "window", "accuracy"),
        ("reply.no_harm", "reply", "accuracy"),
        ("squeeze.no_harm", "squeeze", "accuracy"),
    ):
        value, half = kept[endpoint][switch]
        record(f"s5.small.{claim}", value, half, runs, "main effect of a factorial")
    value, half = kept["accuracy"]["sum"]
    record("s5.small.sum", value, half, runs, "sum of the five main effects")


def curves(record: Recorder, *, preset: str, settings: list, seeds: int) -> None:
    """Long runs of the baseline and the extended baseline, to lie over the source's curves (figure 11) at equal arithmetic.

    preset, settings: the baseline, larger than the twin
    """
    base = base_config(preset, settings)
    configs = {"baseline": base, "extended": arms.switched(base, arms.SWITCHES)}
    table = swept(record, "curves", configs, [100 * record.seed + 80 + number for number in range(seeds)])
    keep(record, table)
    found = {arm: hours_of(table, arm, config) for arm, config in configs.items()}
    record.data("hours", {arm: [run.hours for run in runs] for arm, runs in found.items()})
    for claim, arm in (("arithmetic_84", "extended"), ("arithmetic_84_baseline", "baseline")):
        shares = [run.multiplications_to(84) / ARITHMETIC for run in found[arm]]
        record(f"s5.beyond.{claim}", float(np.mean(shares)), runs=len(shares), note="share of the arithmetic of the source's")


def tested_alike(
    record: Recorder, configs: dict[str, AlphaZeroConfig], names: tuple[str, ...], seeds: list[int]
) -> dict[str, list[float]]:
    """Accuracy in percent of some arms' last networks, searched with the baseline's parameters in place of their own."""
    base = configs["baseline"]
    found: dict[str, list[float]] = {arm: [] for arm in names}
    test = sample(graded(base.rules(), base.evaluation.positions), base.evaluation.count)
    with record.progress("tested alike") as report:
        for arm in names:
            for seed in seeds:
                folder = RunFolder(record.folder / "sets" / "arms" / arm / f"seed{seed}" / "run")
                learner = trained_learner(folder, configs[arm], configs[arm].iterations)
                evaluators = [learner.evaluator(1) for _ in range(cores())]
                share = search_accuracy(evaluators, test, base.test_search, base.evaluation.simulations)["mcts_accuracy"]
                found[arm].append(100 * share)
                report(sum(len(own) for own in found.values()), len(names) * len(seeds))
    return found


def keep(record: Recorder, table: Table) -> None:
    """Keep the curves of all runs, and what a figure's axis needs."""
    record.data("curves", {metric: of_metric(table, metric) for metric in METRICS if metric in table.metrics})


def _difference(found: dict[str, dict[int, Endpoints]], arm: str, other: str, name: str) -> Interval:
    """How much an arm lies above another in an endpoint, from equal seeds."""
    one, two = ({seed: getattr(run, name) for seed, run in found[which].items()} for which in (arm, other))
    return interval(differences(one, two))


def _told(one: Interval) -> str:
    return f"{one.mean:+.2f}" + ("" if one.half is None else f" ± {one.half:.2f}") + " points"


def _kept(found: dict[str, dict[int, Endpoints]]) -> dict[str, Any]:
    """All endpoints, and the level of the costs."""
    kept = {
        arm: [[math.exp(run.log_evaluations), run.accuracy, math.exp(run.log_minutes), run.reached] for run in own.values()]
        for arm, own in found.items()
    }
    return {"level": LEVEL, "runs": kept}  # of each run: evaluations, accuracy, core minutes, whether the level was reached
