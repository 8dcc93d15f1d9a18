"""Move prediction on 9x9 and 19x19 (sections 5.4, 6.2 and 6.3, figures 6.4 and 6.6).

Every training is a unit of a sweep and draws its games, network and batches from its seed. After every thousand steps the
precision is measured as the source counts it, on test positions and on as many training positions, with the weights and
with their running average: the source's curves may be of either kind, see claims.toml.
"""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from azlab.learning.config import AlphaZeroConfig
from azlab.learning.intervals import Interval, interval
from azlab.learning.learner import KerasLearner, LossConfig
from azlab.learning.shipped import save_player
from azlab.learning.supervised import SupervisedConfig, Watched
from azlab.learning.supervised_folder import clear, rows_in_folder
from azlab.learning.sweep_table import Table
from azlab.nets.kinds import new_net
from azlab.repro.record import Recorder
from azlab.repro.sweeps import swept
from azlab_reproductions.s2_go.datasets import some, training_sets
from azlab_reproductions.s2_go.precision import precision

# The program's: kernels alone decay, gradients are not cut, boards are not turned.
LOSS = LossConfig(weight_decay=5e-4, decay_biases=False, clip=0.0, symmetries=False)
AVERAGE = 0.9999  # held on to by the running average at each step
RATES = {"text": 0.1, "program": 0.01}
LAST, AVERAGED = "last.safetensors", "average.safetensors"  # the networks of a training, as players
MEASURED = ("precision", "strict", "legal", "zero", "loss")
CURVES = [f"{kind}{part}_{what}" for kind in ("", "average_") for part in ("test", "train") for what in MEASURED]


def moves(
    record: Recorder, *, boards: list, layers: list, compared: list, filters: int, steps: int, every: int, batch: int,
    tested: int, games_9: int, games_19: int, seeds: int,
) -> None:  # fmt: skip
    """Train the source's networks, and ask what its numbers mean: depth, rates, the ReLU on the logits, averages, training set.

    boards, layers: sizes of boards, and of networks, each with each
    compared: layers of the networks that are also trained with the program's rate, and without the ReLU on the logits
    filters: of each layer but the last
    steps, every, batch: of a training; between two measurements; positions of a step
    tested: positions of the test and of the training set that are measured
    games_9, games_19: see `training_sets`
    seeds: trainings of each arm
    """
    games = {9: games_9, 19: games_19}
    sizes = {"filters": filters, "steps": steps, "every": every, "batch": batch, "tested": tested}
    configs = arms(boards, layers, compared, games, sizes)
    seeded = [100 * record.seed + number for number in range(seeds)]
    table = swept(record, "moves", configs, seeded, work=train, steps=steps)
    record.data("curves", {name: curves_of(table, name) for name in CURVES}, digits=5)
    record.data(
        "trainings", {fact: facts_of(table, fact) for fact in ("train_positions", "test_positions", "games", "cpu_seconds")}
    )
    deepest = max(layers)
    for size in boards:
        claims_of(record, table, size, f"{size}x{size}_{deepest}")
    compare_depths(record, table, layers)


def arms(boards: list, layers: list, compared: list, games: dict[int, int], sizes: dict[str, int]) -> dict[str, dict[str, Any]]:
    """The networks on each board with the text's rate and the program's ReLU, and what is compared with them."""
    found: dict[str, dict[str, Any]] = {}
    for size, depth in itertools.product(boards, layers):
        base = {"size": size, "layers": depth, "games": games[size], "rate": RATES["text"], "relu": True, **sizes}
        name = f"{size}x{size}_{depth}"
        found[name] = base
        if depth in compared:
            found[f"{name}_slow"] = base | {"rate": RATES["program"]}
            found[f"{name}_linear"] = base | {"relu": False}
    if 9 in boards and games[9]:  # the source's few games, and all there are
        name = f"9x9_{max(layers)}"
        found[f"{name}_all"] = found[name] | {"games": 0}
    return found


# --- the unit ---------------------------------------------------------------------------------------------------------


def train(config: dict[str, Any], seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    """The unit of a training: a row before it and after every so many steps. Its networks stay in the folder, as players."""
    begin = time.process_time()
    sets = training_sets(config["size"], config["games"], seed)
    learner = new_learner(config, seed)
    few = {name: some(getattr(sets, name), config["tested"], seed) for name in ("test", "train")}
    watched = Watched(few, precision)
    yield {"iteration": 0, **untrained(learner, watched)}
    last = learner.weights()
    for row in rows_in_folder(learner, sets, training_config(config, seed), folder, watched):
        last = learner.weights()
        if row["steps"] < config["steps"]:
            yield as_row(row)
    average = learner.weights()
    for weights, name in ((last, LAST), (average, AVERAGED)):
        learner.set_weights(weights)
        save_player(learner, player_config(config, seed), folder / name)
    facts = {"train_positions": sets.train.size, "test_positions": sets.test.size, "games": len(np.unique(sets.train.games))}
    yield as_row(row) | facts | {"cpu_seconds": time.process_time() - begin}
    clear(folder)


def as_row(row: dict[str, Any]) -> dict[str, Any]:
    return {"iteration": row["steps"], **{name: value for name, value in row.items() if name not in ("epoch", "steps")}}


def untrained(learner: KerasLearner, watched: Watched) -> dict[str, float]:
    """Where the curves begin; the average is then the network itself."""
    found = {name: watched.measure(learner, positions, learner.evaluator()) for name, positions in watched.sets.items()}
    rows = {f"{name}_{what}": value for name, own in found.items() for what, value in own.items()}
    return rows | {f"average_{name}": value for name, value in rows.items()}


def player_config(config: dict[str, Any], seed: int) -> AlphaZeroConfig:
    """What a player's file has to say: the game without komi, as the source played, and the network."""
    net = {"kind": "go", "layers": config["layers"], "filters": config["filters"], "relu_on_logits": config["relu"]}
    start = {"deviation": 0.1, "last_bias": 0.1}
    return AlphaZeroConfig(game="go", options={"size": config["size"], "komi": 0.0}, net=net | start, loss=LOSS, seed=seed)


def new_learner(config: dict[str, Any], seed: int) -> KerasLearner:
    said = player_config(config, seed)
    model, encoding = new_net(said.rules(), said.net, seed)
    return KerasLearner(said.rules(), model, LOSS, seed, momentum=0.0, encoding=encoding, logits=True)


def training_config(config: dict[str, Any], seed: int) -> SupervisedConfig:
    """Steps of plain descent with one rate; an epoch is what lies between two measurements."""
    return SupervisedConfig(
        batch=config["batch"], epochs=config["steps"] // config["every"], epoch_steps=config["every"],
        rate=((1, config["rate"]),), patience=0, stop_after=0, momentum=0.0, average=AVERAGE, seed=seed,
    )  # fmt: skip


# --- claims -----------------------------------------------------------------------------------------------------------


def curves_of(table: Table, metric: str) -> dict[str, dict[str, Any]]:
    """A metric by arm: the steps, and the numbers of each seed."""
    found = {}
    for arm in table.arms:
        runs = table.values(metric, arm)
        steps = sorted(next(iter(runs.values())))
        found[arm] = {"steps": steps, "seeds": [[own[at] for at in steps] for own in runs.values()]}
    return found


def facts_of(table: Table, fact: str) -> dict[str, list[float]]:
    return {arm: [max(own.items())[1] for own in table.values(fact, arm).values()] for arm in table.arms}


def gains(table: Table, arm: str, metric: str, begin: float, end: float) -> Interval:
    """How many points a metric gains between two shares of the training, over the seeds."""
    runs = []
    for own in table.values(metric, arm).values():
        steps = sorted(own)
        at = [min(steps, key=lambda step, share=share: abs(step - share * steps[-1])) for share in (begin, end)]  # type: ignore[misc]
        runs.append(100 * (own[at[1]] - own[at[0]]))
    return interval(runs)


def claims_of(record: Recorder, table: Table, size: int, arm: str) -> None:
    """The curve of the deepest network on the test positions, with averaged weights and ties as right, as in the source."""
    board = f"{size}x{size}"
    metric = "average_test_precision"
    curve = curves_of(table, metric)[arm]
    record.curve(f"s2.cnn.{board}.precision", curve["steps"], 100 * np.mean(curve["seeds"], axis=0))
    late = gains(table, arm, metric, 0.75, 1.0)
    raw = gains(table, arm, "test_precision", 0.75, 1.0)
    record(f"s2.cnn.{board}.late_gain", late.mean, late.half, late.count, f"with the last weights {raw.mean:+.2f}")
    if size == 19:
        early = gains(table, arm, metric, 0.0, 0.25)
        record("s2.cnn.19x19.early_gain", early.mean, early.half, early.count)
    else:
        trained = gains(table, arm, "average_train_precision", 0.75, 1.0)
        both = {name: 100 * table.mean(f"average_{name}_precision", arm).mean for name in ("train", "test")}
        note = f"{both['train']:.1f} against {both['test']:.1f}; in the last quarter {trained.mean:+.2f} and {late.mean:+.2f}"
        record("s2.cnn.9x9.train_minus_test", both["train"] - both["test"], runs=late.count, note=note)
    zero, strict = (table.mean(f"average_test_{name}", arm).mean for name in ("zero", "strict"))
    note = f"a tie not counted, the precision is {100 * strict:.2f}"
    record(f"s2.cnn.{board}.ties", 100 * zero, runs=late.count, note=note)


def compare_depths(record: Recorder, table: Table, layers: list) -> None:
    """How the networks differ at the end, in points of precision, the next deeper from the flatter; and the deepest from all."""
    metric = "average_test_precision"
    found: dict[str, dict[str, float]] = {}
    for board in ("9x9", "19x19"):
        known = [f"{board}_{depth}" for depth in sorted(layers) if f"{board}_{depth}" in table.arms]
        found[board] = {
            f"{deep} - {flat}": 100 * table.difference(metric, deep, flat).mean for flat, deep in itertools.pairwise(known)
        }
        if board == "19x19" and len(known) > 1:
            apart = table.difference(metric, known[-1], known[0])
            record("s2.cnn.19x19.depth", 100 * apart.mean, runs=apart.count, note=f"{known[-1]} minus {known[0]}")
    record.data("depths", found)
