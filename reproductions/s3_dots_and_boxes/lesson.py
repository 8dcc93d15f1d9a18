"""Which mistake matters? A training in which all is right, and the same with one thing at a time as in the source."""

from typing import Any

import numpy as np

import azlab
from azlab.learning import AlphaZero, AlphaZeroConfig
from azlab.learning.evaluation import Graded, graded
from azlab.learning.player import TrainedAgent
from azlab.repro.record import Recorder
from azlab.search import Explore
from azlab_reproductions.s3_dots_and_boxes.program import Program
from azlab_reproductions.s3_dots_and_boxes.search import searcher

MEASURES = ("holding_accuracy", "mcts_accuracy", "mean_loss", "network_accuracy")
SAMPLE = 96  # positions searched with both signs


def right(seed: int) -> AlphaZeroConfig:
    """A training in which all is right: values used along the way, the proper sign, visit shares as targets, the score seen."""
    return AlphaZeroConfig().changed(
        {
            "game": "dots_and_boxes",
            "net": {"kind": "dots_and_boxes", "encoding": "lines_and_score", "dropout": 0.0},
            "seed": seed,
            "search.cpuct": 1.0,
            "explore.temperature": [[0, 1.0], [6, 0.0]],
            "test_search.cpuct": 1.0,
            "selfplay.random_plies": 12,
            "selfplay.cache": 100_000,
            "loss.optimiser": "adam",
            "loss.weight_decay": 0.0,
            "training.rate": [[1, 0.001]],
        }
    )


def kinds(simulations: int) -> dict[str, dict[str, Any]]:
    """What each kind of training changes; the source's oddities are in self-play alone, so that all take the same exam."""
    program = {"parts.program": "s3_dots_and_boxes", "parts.in_tests": False}
    return {
        "all right": {},
        "score not in the input": {"net.encoding": "lines"},
        "sign flipped at every ply": program | {"parts.flip_every_ply": True},
        "values at the root only": program | {"parts.root_values_only": True},
        "walks to the end": program | {"parts.to_the_end": True, "budget.simulations": max(2, simulations // 10)},
        "one-hot targets": program | {"parts.one_hot_from": 3},
    }


def lesson(
    record: Recorder, *, seeds: int, iterations: int, positions: int, layers: list, simulations: int, test_positions: int
) -> None:
    """One mistake of the source at a time, with several seeds, measured from outside (S3, section 5.2.4).

    seeds: trainings of each kind
    positions: examples an iteration
    simulations: a move; walks to the end are a tenth as many
    test_positions: random positions of the exam
    """
    sizes: dict[str, Any] = {"net.layers": layers, "iterations": iterations, "selfplay.positions": positions}
    sizes |= {"selfplay.games": min(256, positions // 8)}
    sizes |= {"budget.simulations": simulations, "evaluation.simulations": simulations}
    sizes |= {"training.window": [[1, positions], [6, 6 * positions]]}
    sizes |= {"evaluation.positions": "random", "evaluation.count": test_positions}
    base = right(record.seed).changed(sizes)
    curves: dict[str, dict[str, np.ndarray]] = {}
    for kind, change in kinds(simulations).items():
        found = []
        with record.progress(kind) as report:
            for number in range(seeds):
                config = base.changed(change | {"seed": 100 * record.seed + number})
                found.append(AlphaZero.from_config(config, _folder(record, kind, number), report).train())
        curves[kind] = {what: np.array([[row[what] for row in rows] for rows in found]) for what in MEASURES}
    record.data("curves", curves)  # of each kind and measure [seeds, iterations]
    tests = [graded(base.rules(), "random", test_positions, 100 * record.seed + number) for number in range(seeds)]
    record.data("moving at random", {what: np.mean([at_random(one)[what] for one in tests]) for what in MEASURES[:3]})
    for claim, kind in (("s3.sign.right", "all right"), ("s3.sign.wrong", "sign flipped at every ply")):
        last = curves[kind]["mcts_accuracy"][:, -1]
        spread = last.std(ddof=1) if seeds > 1 else None
        note = "share of best moves in a search that uses values; in the source's own search the sign changes no move"
        record(claim, last.mean(), spread=spread, runs=seeds, note=note)
    evaluator = TrainedAgent(_folder(record, "all right", 0)).evaluator
    differ = {
        where: signs_differ(evaluator, base, at_root, record.seed)
        for where, at_root in (("along the way", False), ("at the root only", True))
    }
    record.data("positions in which the sign changes visits", {"of": SAMPLE, **differ})


def _folder(record: Recorder, kind: str, number: int) -> Any:
    return record.folder / "lesson" / f"{kind.replace(' ', '_')}_{number}"


def at_random(test: Graded) -> dict[str, float]:
    """What a player that moves at random would get in an exam."""
    moves = azlab.game("dots_and_boxes").legal_mask(test.states).sum(axis=1)
    tables = dict(zip(MEASURES[:3], (test.holding, test.best, test.lost)))
    return {what: float((table.sum(axis=1) / moves).mean()) for what, table in tables.items()}


def signs_differ(evaluator: Any, base: AlphaZeroConfig, at_root: bool, seed: int) -> int:
    """In how many positions some visit changes with the sign, if values are added `at_root` only or along the way."""
    sample = graded(base.rules(), "random", SAMPLE, seed).states
    visits = []
    for flip in (False, True):
        kind = searcher(Program(root_values_only=at_root, flip_every_ply=flip))
        search = kind(base.rules(), SAMPLE, evaluator, base.search, 64, Explore(), seed)
        search.start(sample)
        search.run()
        visits.append(np.stack([search.root_visits(g) for g in range(SAMPLE)]))
    return int((visits[0] != visits[1]).any(axis=1).sum())
