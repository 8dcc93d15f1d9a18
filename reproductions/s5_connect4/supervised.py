"""Networks that learn from solved positions (section 3.4, table 3), and the riddle of their low win accuracy.

Every training is a unit of a sweep. It draws its positions, its network and its batches from its seed, so arms with equal seeds
share what they can, and differences are taken seed by seed. All arms are tested on the same hard positions, and on a split of
their own as in the source: an eighth as many positions as it trains on, dealt out one by one, so that their neighbours in the
same game may be among those it learnt.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from azlab.learning.alphazero import new_learner
from azlab.learning.intervals import Interval, interval
from azlab.learning.learner import LossConfig
from azlab.learning.position_sets import PositionSet, SplitSets, connect4_set, leak, split_set
from azlab.learning.supervised import SupervisedConfig
from azlab.learning.supervised_folder import clear, rows_in_folder
from azlab.learning.sweep_table import Table
from azlab.repro.record import Recorder
from azlab.repro.sweeps import of_metric, swept
from azlab_reproductions.s5_connect4 import answers, datasets
from azlab_reproductions.s5_connect4.program import losses_as_draws

LOSS = LossConfig(symmetries=False)  # the program's: moves and results count alike, boards are not mirrored
TESTED = ("hard", "easy")
METRICS = [f"{test}_{score}" for test in ("own", *TESTED) for score in ("moves", "wins", "recall")]
FACTS = ("games", "ply", "leak", "cpu_seconds")  # of each training


def supervised(
    record: Recorder, *, design: str, lines: int, positions: int, filters: int, stem: int, head: int, epochs: int, steps: list,
    tested: int, seeds: int,
) -> None:  # fmt: skip
    """Train on solved positions, and ask what matters: blocks, positions, games, plies, labels.

    design: "small", our nine arms, or "table", those of the source's table 3 with the data that are public
    lines: positions of the million that are read, 0 for all
    positions: learnt ones; half of them where an arm asks for that
    filters, stem, head: of the network
    epochs: at most
    steps: epochs from which on the rate is 0.2, 0.02 and 0.002; none: as the source, cut when the validation set shows no gain
    tested: positions of each test set, 0 for all
    seeds: trainings of each arm
    """
    base = {
        "net": {"kind": "residual", "encoding": "single", "blocks": 5, "filters": filters, "stem": stem, "head": head},
        "draw": "many", "train": positions, "pool": positions + positions // 4, "labels": "right", "lines": lines,
        "tested": tested, "epochs": epochs, "steps": steps,
    }  # fmt: skip
    configs = (table_arms if design == "table" else small_arms)(base)
    seeded = [100 * record.seed + 20 + number for number in range(seeds)]
    table = swept(record, "supervised", configs, seeded, work=train, steps=epochs + 1)
    record.data("tests", {metric: of_last(table, metric) for metric in METRICS}, digits=5)
    record.data("trainings", {fact: of_last(table, fact) for fact in FACTS})
    curves = ("validation_move_accuracy", "validation_result_accuracy")
    record.data("curves", {name: _without_last(of_metric(table, name)) for name in curves})
    reference = "wrong_labels" if design == "table" else "base"
    compare_sizes(record, table, reference)
    compare_labels(record, table)
    if design == "table":
        compare_with_table(record, table)
    else:
        both = {part: _difference(table, "hard_moves", *arms) for part, arms in GAMES.items()}
        _record_parts(record, "s5.supervised.one_a_game", both)
    question(record, configs, seeded, tested)


# --- arms -------------------------------------------------------------------------------------------------------------

GAMES = {"own plies": ("one", "base"), "hard plies": ("one_hard", "many_hard")}  # one position a game, many


def small_arms(base: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The base and seven others, each with one change; `one` to `many_hard` and the base are all ways to draw positions.

    Arms train for equal epochs, so half of the positions are half of the steps, too: `half_long` takes as many as the base.
    """
    longer = {"epochs": 2 * base["epochs"], "steps": [2 * epoch - 1 for epoch in base["steps"]]}
    return {
        "base": base,
        "wrong_labels": base | {"labels": "program"},
        "blocks2": _with_blocks(base, 2),
        "blocks10": _with_blocks(base, 10),
        "half": base | {"train": base["train"] // 2},
        "one": base | {"draw": "one"},
        "one_hard": base | {"draw": "one_hard"},
        "many_hard": base | {"draw": "many_hard"},
        "half_long": base | {"train": base["train"] // 2} | longer,
    }


def table_arms(base: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Table 3 of the source and the smaller sets and nets of its final version, with its program's labels; and with right ones.

    Its second version of the million, one position a game, is not public.
    """
    program = base | {"labels": "program"}
    sizes = {f"blocks{blocks}": _with_blocks(program, blocks) for blocks in (2, 10, 20)}
    halves = {f"half{blocks}": _with_blocks(program, blocks) | {"train": base["train"] // 2} for blocks in (10, 20)}
    return {"base": base, "wrong_labels": program, **sizes, "half": program | {"train": base["train"] // 2}, **halves}


def _with_blocks(config: dict[str, Any], blocks: int) -> dict[str, Any]:
    return config | {"net": config["net"] | {"blocks": blocks}}


# --- the unit ---------------------------------------------------------------------------------------------------------


def train(config: dict[str, Any], seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    """The unit of a training: a row for each epoch, and one for the tests. Answers to the test sets stay in the folder."""
    begin = time.process_time()
    sets = training_sets(config, seed)
    learner = new_learner(sets.train.game, config["net"], LOSS, seed)
    for row in rows_in_folder(learner, sets, training_config(config, seed), folder):
        yield {"iteration": row["epoch"], **{name: value for name, value in row.items() if name != "epoch"}}
    learner.save(folder / f"net{learner.suffix}", folder / f"epoch.optimiser{learner.suffix}")
    tests = {"own": sets.test} | {name: test_set(name, config["tested"]) for name in TESTED}
    found = {name: answers.ask(learner, positions) for name, positions in tests.items()}
    answers.save(folder / "answers.npz", {name: found[name] for name in TESTED})
    scored = {name: answers.scores(found[name], positions) for name, positions in tests.items()}
    games = len(np.unique(sets.train.games))
    yield {
        "iteration": config["epochs"] + 1,
        **{f"{name}_{score}": value for name, own in scored.items() for score, value in own.items()},
        "games": games, "ply": float(sets.train.states["ply"].mean()), "leak": leak(sets),
        "cpu_seconds": time.process_time() - begin,
    }  # fmt: skip
    clear(folder)


def training_sets(config: dict[str, Any], seed: int) -> SplitSets:
    """What is learnt, validated and tested on; arms that draw alike share all of it, smaller sets are parts of larger ones."""
    million = connect4_set(datasets.MILLION, config["lines"] or None)
    rng = np.random.default_rng(seed)
    hard = datasets.plies_of(connect4_set(datasets.TESTS["hard"]))
    pool = million.take(datasets.drawn(million, config["pool"], config["draw"], hard, rng))
    sets = split_set(pool, (0.8, 0.1, 0.1), seed=seed, by_position=True)
    learnt = sets.train.take(slice(0, config["train"]))
    return sets._replace(train=replace(learnt, labels=losses_as_draws) if config["labels"] == "program" else learnt)


def training_config(config: dict[str, Any], seed: int) -> SupervisedConfig:
    if not config["steps"]:
        return SupervisedConfig(epochs=config["epochs"], seed=seed)
    rate = tuple(zip(config["steps"], (0.2, 0.02, 0.002), strict=False))
    return SupervisedConfig(epochs=config["epochs"], rate=rate, patience=0, stop_after=0, seed=seed)


def test_set(name: str, count: int) -> PositionSet:
    """A test set, or so many of its positions, always the same ones."""
    positions = connect4_set(datasets.TESTS[name])
    if not 0 < count < positions.size:
        return positions
    return positions.take(np.sort(np.random.default_rng(0).permutation(positions.size)[:count]))


# --- claims -----------------------------------------------------------------------------------------------------------


def compare_sizes(record: Recorder, table: Table, reference: str) -> None:
    """More blocks, more positions: points of move accuracy on the hard positions."""
    pairs = {"5 - 2": (reference, "blocks2"), "10 - 5": ("blocks10", reference)}
    _record_parts(record, "s5.supervised.blocks", {name: _difference(table, "hard_moves", *pair) for name, pair in pairs.items()})
    apart = _difference(table, "hard_moves", reference, "half")
    equal = _difference(table, "hard_moves", reference, "half_long") if "half_long" in table.arms else None
    note = f"in equal epochs; in equal steps {equal.mean:+.2f}" if equal else ""
    record("s5.supervised.size", apart.mean, apart.half, apart.count, note)


def compare_labels(record: Recorder, table: Table) -> None:
    """Right labels against those of the source's program, on the split of their own, as the source tests."""
    apart = _difference(table, "own_wins", "base", "wrong_labels")
    for claim, arm in (("wins_as_run", "wrong_labels"), ("wins_right", "base")):
        wins = table.mean("own_wins", arm)
        paired = apart.half if claim == "wins_right" else None
        record(f"s5.labels.{claim}", wins.mean, wins.half, wins.count, paired=paired)
    moves = _difference(table, "own_moves", "base", "wrong_labels")
    record("s5.labels.moves", moves.mean, moves.half, moves.count)
    for claim, arm in (("recall_as_run", "wrong_labels"), ("recall_right", "base")):
        recall = table.mean("own_recall", arm)
        record(f"s5.labels.{claim}", recall.mean, recall.half, recall.count)


def compare_with_table(record: Recorder, table: Table) -> None:
    """The source's table 3: means on the split of their own."""
    names = {"v1.5": "wrong_labels", "v1.10": "blocks10", "v1.20": "blocks20", "2_blocks": "blocks2"}
    for claim, arm in names.items():
        found = {part: table.mean(f"own_{part}", arm) for part in ("moves", "wins")}
        _record_parts(record, f"s5.supervised.{claim}", found)
    for claim, arm in (("400k", "half"), ("400k.10", "half10"), ("400k.20", "half20")):
        moves = table.mean("own_moves", arm)
        record(f"s5.supervised.{claim}", moves.mean, moves.half, moves.count)


def question(record: Recorder, configs: dict[str, Any], seeds: list[int], tested: int) -> None:
    """What the answers of the base tell: by ply, with weak labels, and by result, there and with wrong labels."""
    sets = {name: test_set(name, tested) for name in TESTED}

    def of(arm: str) -> list[dict[str, answers.Answers]]:
        folders = [record.folder / "supervised" / "arms" / arm / f"seed{seed}" / "run" for seed in seeds]
        return [answers.load(folder / "answers.npz") for folder in folders]

    base = of("base")
    right = {name: np.array([own[name].right_moves(sets[name].best()) for own in base]) for name in TESTED}
    ply = {name: answers.groups(positions) for name, positions in sets.items()}
    found = answers.explained_by_plies(right["hard"], right["easy"], ply["hard"], ply["easy"])
    halves = None if None in found["halves"].values() else found["halves"]
    record("s5.data.ply", found["parts"], halves, len(base), "intervals over networks and positions")
    each = {name: answers.by_ply(right[name], ply[name]) for name in TESTED}
    chance = {name: datasets.random_chance(positions) for name, positions in sets.items()}
    moved = answers.reweighted(chance["hard"], ply["hard"], ply["easy"])
    found["random mover"] = {name: 100 * own.mean() for name, own in chance.items()} | {"hard with easy's plies": moved}
    record.data("plies", found | {"first": answers.FIRST, "by ply": each})
    with record.progress("solving for weak labels") as report:
        holding = datasets.weak_moves(sets["hard"], report)
    weak = [100 * float(own["hard"].right_moves(holding).mean()) for own in base]
    record.data("weak", {"strong": (100 * right["hard"].mean(axis=1)).tolist(), "weak": weak})
    told = {arm: answers.confusion([own["hard"] for own in of(arm)], sets["hard"]) for arm in ("base", "wrong_labels")}
    record.data("told", told)


def of_last(table: Table, metric: str) -> dict[str, list[float]]:
    """A metric of the tests by arm, a number for each seed."""
    return {arm: [max(own.items())[1] for own in table.values(metric, arm).values()] for arm in table.arms}


def _without_last(curves: dict[str, list[list[float | None]]]) -> dict[str, list[list[float | None]]]:
    """Without the row of the tests, which has no epoch."""
    return {arm: [run[:-1] for run in runs] for arm, runs in curves.items()}


def _difference(table: Table, metric: str, arm: str, other: str) -> Interval:
    one, two = of_last(table, metric)[arm], of_last(table, metric)[other]
    return interval([a - b for a, b in zip(one, two, strict=True)])


def _record_parts(record: Recorder, claim: str, parts: dict[str, Interval]) -> None:
    halves = {name: one.half for name, one in parts.items()}
    known = None if None in halves.values() else halves
    record(claim, {name: one.mean for name, one in parts.items()}, known, next(iter(parts.values())).count)
