"""By what the runs of the twin are judged; all of it was fixed before the first of them.

E1  cost: evaluations asked until the network alone, on all 10,000 hard positions, reaches a level; its logarithm is compared
E2  accuracy of the search with 343 nodes after the last iteration, in percent, on the same positions in every run
E3  diversity: the share of positions played that the run had never met
E4  minutes of one core, playing and training, until the same level
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from azlab.learning.intervals import t_quantile
from azlab.learning.sweep_table import Table
from azlab_reproductions.s5_connect4.arms import SWITCHES

LEVEL = 0.65  # network accuracy of E1 and E4: the median of the pilot's four baselines after iteration 10, 0.649, rounded
COSTS = ("evaluations", "core_minutes")


@dataclass(frozen=True)
class Endpoints:
    """What one run is judged by."""

    log_evaluations: float  # E1, natural logarithm
    accuracy: float  # E2
    log_minutes: float  # E4
    reached: bool  # if not, both costs are those of the whole run: the true ones are larger


def smoothed(values: np.ndarray) -> np.ndarray:
    """Means of three neighbours, of two at the ends."""
    padded = np.pad(values.astype(float), 1, constant_values=np.nan)
    return np.nanmean([padded[:-2], padded[1:-1], padded[2:]], axis=0)


def reach(accuracy: np.ndarray, cost: np.ndarray, level: float) -> tuple[float, bool]:
    """The cost at which a smoothed curve first reaches the level, on straight lines from (0, 0); that of all if it never does."""
    curve = np.concatenate([[0.0], smoothed(accuracy)])
    costs = np.concatenate([[0.0], cost])
    above = np.flatnonzero(curve >= level)
    if not len(above):
        return float(costs[-1]), False
    at = above[0]
    share = (level - curve[at - 1]) / (curve[at] - curve[at - 1])
    return float(costs[at - 1] + share * (costs[at] - costs[at - 1])), True


def endpoints(table: Table, level: float = LEVEL) -> dict[str, dict[int, Endpoints]]:
    """The endpoints of all runs of a sweep, by arm and seed."""
    found: dict[str, dict[int, Endpoints]] = {}
    for (arm, seed), rows in itertools.groupby(table.rows, key=lambda row: (row["arm"], row["seed"])):
        own = list(rows)
        accuracy = np.array([row["network_accuracy"] for row in own])
        evaluations = np.cumsum([row["evaluations"] for row in own])
        minutes = np.cumsum([row["play_cpu_seconds"] + row["train_cpu_seconds"] for row in own]) / 60
        cost, reached = reach(accuracy, evaluations, level)
        time, _ = reach(accuracy, minutes, level)
        last = 100 * own[-1]["mcts_accuracy"]
        found.setdefault(arm, {})[seed] = Endpoints(math.log(cost), last, math.log(time), reached)
    return found


@dataclass(frozen=True)
class Effect:
    """An effect with half the width of its 95 % interval."""

    value: float
    half: float


def effects(measured: dict[str, dict[int, float]]) -> tuple[dict[str, Effect], Effect]:
    """Main effects and interactions of two of the factorial, by name ("merge", "merge_cyclic"), and the sum of the main ones.

    An effect is the mean with the switch on less that with it off; an interaction is half the difference that one switch makes
    to the effect of the other. Every seed is a block with a mean of its own. With one block the interactions serve as the error,
    with more of them the rest that all effects leave.
    """
    runs = [(arm, seed, value) for arm, own in measured.items() for seed, value in own.items()]
    seeds = sorted({seed for _, seed, _ in runs})
    on = np.array([[1.0 if name in arm.split("_") else -1.0 for name in SWITCHES] for arm, _, _ in runs])
    blocks = np.array([[float(seed == own) for seed in seeds] for _, own, _ in runs])
    pairs = list(itertools.combinations(range(len(SWITCHES)), 2))
    both = np.array([on[:, a] * on[:, b] for a, b in pairs]).T
    values = np.array([value for _, _, value in runs])
    main = [blocks, on] if len(seeds) == 1 else [blocks, on, both]
    scale = _error(np.hstack(main), values)
    design = np.hstack([blocks, on, both])
    found = np.linalg.lstsq(design, values, rcond=None)[0][len(seeds) :]
    spread = np.sqrt(np.diag(np.linalg.inv(design.T @ design)))[len(seeds) :]
    names = [*SWITCHES, *(f"{SWITCHES[a]}_{SWITCHES[b]}" for a, b in pairs)]
    each = {name: Effect(2 * float(one), 2 * float(scale * width)) for name, one, width in zip(names, found, spread)}
    summed = [each[name] for name in SWITCHES]  # columns of the design are at right angles: errors add as squares
    return each, Effect(sum(one.value for one in summed), math.hypot(*(one.half for one in summed)))


def _error(design: np.ndarray, values: np.ndarray) -> float:
    """Half the width of an interval in units of a coefficient's unscaled standard error."""
    fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    freedom = len(values) - np.linalg.matrix_rank(design)
    return t_quantile(int(freedom)) * math.sqrt(float(((values - fitted) ** 2).sum()) / freedom)


def differences(one: dict[int, float], other: dict[int, float]) -> Sequence[float]:
    """Of equal seeds."""
    return [one[seed] - other[seed] for seed in one if seed in other]
