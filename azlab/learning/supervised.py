"""Supervised training: a network learns positions whose right moves and results are known.

    sets = split_set(connect4_set("connect4/train_1m_hard.txt.gz"))
    learner = TorchLearner(sets.train.game, residual_net(sets.train.game, encoding="single", blocks=5), LossConfig())
    result = train_supervised(learner, sets, SupervisedConfig())

The defaults are S5's (table 3). Where a training counts steps, not passes through its positions, an epoch is so many steps
between two measurements. S2's move predictors are trained for 20,000 by

    SupervisedConfig(epochs=20, epoch_steps=1000, rate=((1, 0.1),), patience=0, stop_after=0, momentum=0.0, average=0.9999)

and `LossConfig(weight_decay=5e-4, decay_biases=False, clip=0, symmetries=False)`. Whether positions are shown in the board's
symmetries, and how results weigh against moves, is a matter of the learner's `LossConfig`.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.learning.alphazero import Progress, silent
from azlab.learning.evaluation import UNKNOWN, accuracy_of
from azlab.learning.learner import FixesMomentum, Learner
from azlab.learning.position_sets import PositionSet, SplitSets
from azlab.learning.schedules import Points, check_points, stepped
from azlab.search.evaluators import refresh

CHUNK = 8192  # positions measured at once, so that memory stays small
TINY = 1e-30  # so that a chance of 0 has a logarithm


@dataclass(frozen=True)
class SupervisedConfig:
    """How to train on position sets."""

    batch: int = 128
    # examples a step
    epochs: int = 200
    # at most
    epoch_steps: int = 0
    # steps of an epoch; 0 for one pass through the training set
    rate: Points = ((1, 0.2),)
    # learning rate by epoch, in steps
    factor: float = 10.0
    # the rate is divided by this
    patience: int = 8
    # after so many epochs without gain on the validation set; 0 for never
    stop_after: int = 12
    # the training ends after so many epochs without gain; 0 for never. S5's program, told 8, divides after 7 and ends after 11
    watch: str = "accuracy"
    # what counts as gain: "accuracy", the mean of move and result accuracy as in S5, "move_accuracy", or a lower "policy_loss"
    momentum: float = 0.9
    average: float = 0.0
    # measure and keep a running average of the weights that holds on to this share a step (S2: 0.9999); 0 for the weights
    seed: int = 0

    def __post_init__(self) -> None:
        for name, low in (("batch", 1), ("epochs", 1), ("epoch_steps", 0), ("patience", 0), ("stop_after", 0), ("seed", 0)):
            whole_number(name, getattr(self, name), low, 2**31)
        check_points("rate", self.rate)
        if any(value <= 0 for _, value in self.rate):
            raise AzlabError(f"Learning rates are positive, not {self.rate!r}.")
        if not isinstance(self.factor, int | float) or self.factor <= 1:
            raise AzlabError(f"factor divides the learning rate, so it is greater than 1, not {self.factor!r}.")
        for name in ("momentum", "average"):
            if not isinstance(getattr(self, name), int | float) or not 0 <= getattr(self, name) < 1:
                raise AzlabError(f"{name} lies between 0 and 1, not {getattr(self, name)!r}.")
        one_of("watch", self.watch, ("accuracy", "move_accuracy", "policy_loss"))


class Plateau:
    """What a training does when it gains no more: the rate is cut again and again, then it ends (S5 table 3)."""

    def __init__(self, factor: float = 10.0, patience: int = 8, stop_after: int = 12) -> None:
        self.factor, self.patience, self.stop_after = factor, patience, stop_after
        self.best = -np.inf
        self.share = 1.0  # of the learning rate, from now on
        self.since_gain = 0  # epochs
        self.since_cut = 0

    def note(self, score: float) -> bool:
        """Take in an epoch's score, higher being better; return whether it is the best so far."""
        self.since_cut += 1
        self.since_gain += 1
        is_gain = score > self.best
        if is_gain:
            self.best, self.since_gain = score, 0
        if self.patience and min(self.since_gain, self.since_cut) >= self.patience:
            self.share, self.since_cut = self.share / self.factor, 0
        return is_gain

    @property
    def is_over(self) -> bool:
        """Whether the training should end."""
        return 0 < self.stop_after <= self.since_gain


class WeightAverage:
    """A running average of a network's weights (S2 evaluates with it). It starts quickly: after n steps it holds on to at most
    (1 + n) / (10 + n) of itself, as TensorFlow's does. Statistics of batch norms are averaged too."""

    def __init__(self, learner: Learner, hold: float) -> None:
        self.hold, self.steps = hold, 0
        self.weights = learner.weights()

    def add(self, learner: Learner) -> None:
        """Take in the weights after a step."""
        self.steps += 1
        new = np.float32(1 - min(self.hold, (1 + self.steps) / (10 + self.steps)))
        for mean, now in zip(self.weights, learner.weights(), strict=True):
            mean[...] = mean + new * (now - mean) if mean.dtype.kind == "f" else now

    @contextlib.contextmanager
    def applied(self, learner: Learner) -> Iterator[None]:
        """Within this, the learner has the average as its weights."""
        own = learner.weights()
        learner.set_weights(self.weights)
        try:
            yield
        finally:
            learner.set_weights(own)


@dataclass(frozen=True)
class SupervisedResult:
    """What came of a training. The learner has the weights of `best_epoch`."""

    curve: list[dict[str, Any]]
    # of each epoch: epoch, steps, rate, losses of the training, validation_* as in `measure`, seconds
    best_epoch: int
    # 0 if no epoch was finished
    test: dict[str, float]
    # `measure` of the test set; empty if there is none, or the training was interrupted
    complete: bool
    # whether it was not interrupted


def measure(learner: Learner, positions: PositionSet, evaluator: Any = None) -> dict[str, float]:
    """How good the network is without any search: "move_accuracy" (precision at 1), "policy_loss", and "result_accuracy".

    Illegal moves do not count as answers. Results are the true ones, also where wrong ones were learnt; a network without a
    value, or a set without results, has no "result_accuracy".
    """
    if not positions.size:
        raise AzlabError("There are no positions to measure on.")
    evaluator = evaluator or learner.evaluator()
    sums, known = {"move_accuracy": 0.0, "policy_loss": 0.0, "result_accuracy": 0.0}, 0
    for start in range(0, positions.size, CHUNK):
        test = positions.take(slice(start, start + CHUNK)).graded()
        answers = evaluator.evaluate(test.states, positions.game.legal_mask(test.states))
        found = accuracy_of(answers, test)
        count = int((test.results != UNKNOWN).sum())
        sums["move_accuracy"] += found["network_accuracy"] * len(test.states)
        sums["policy_loss"] -= float((test.best * np.log(answers[0] + TINY)).sum(axis=1) @ (1 / test.best.sum(axis=1)))
        sums["result_accuracy"] += found["result_accuracy"] * count
        known += count
    means = {name: sums[name] / positions.size for name in ("move_accuracy", "policy_loss")}
    return means | ({"result_accuracy": sums["result_accuracy"] / known} if known and learner.has_value else {})


class Watched(NamedTuple):
    """Position sets that are measured after every epoch, for curves; nothing in the training depends on them.

    A row of the curve then has test_move_accuracy and so on for a set called "test", and average_test_move_accuracy of the
    averaged weights where there are some: which of the two is better is then seen, not assumed.
    """

    sets: Mapping[str, PositionSet]
    measure: Callable[[Learner, PositionSet, Any], dict[str, float]] = measure
    # (learner, positions, its evaluator) -> numbers by name


def train_supervised(
    learner: Learner, sets: SplitSets, config: SupervisedConfig | None = None, progress: Progress | None = None
) -> SupervisedResult:
    """Train until the validation set shows no more gain, go back to the best epoch, and test.

    Ctrl-C ends the training early: the learner has the best weights so far, and the result says `complete=False`. `progress` is
    called as progress("training", step, steps) and, after each epoch, progress("epoch", epoch, epochs, **its row of the curve).
    """
    training = SupervisedTraining(learner, sets, config or SupervisedConfig(), progress or silent)
    test: dict[str, float] = {}
    complete = False
    try:
        for _ in training.rows():
            pass
        training.restore_best()
        test = measure(learner, sets.test, training.evaluator) if sets.test.size else {}
        complete = True
    except KeyboardInterrupt:
        test = {}
    finally:
        training.restore_best()
    return SupervisedResult(training.curve, training.best_epoch, test, complete)


class SupervisedTraining:
    """A training epoch by epoch; azlab.learning.supervised_folder keeps one on disk.

    A training that neither cuts its rate nor stops by a validation set needs none: its last weights then count as the best.
    """

    def __init__(
        self,
        learner: Learner,
        sets: SplitSets,
        config: SupervisedConfig,
        progress: Progress = silent,
        watched: Watched | None = None,
    ) -> None:
        is_steered = bool(config.patience or config.stop_after)
        for part, what, is_needed in ((sets.train, "train", True), (sets.validation, "validate", is_steered)):
            if is_needed and not part.size:
                raise AzlabError(f"There are no positions to {what} on.")
        if any(part.game.name != learner.game.name or part.game.dtype != learner.game.dtype for part in sets):
            raise AzlabError(f"The learner plays {learner.game!r}, the positions are of {sets.train.game!r}.")
        if isinstance(learner, FixesMomentum) and learner.momentum != config.momentum:
            raise AzlabError(
                f"The learner was made with momentum {learner.momentum}, the config says {config.momentum}; give both the same."
            )
        self.learner, self.sets, self.config, self.progress, self.watched = learner, sets, config, progress, watched
        self.evaluator = learner.evaluator()
        self.plateau = Plateau(config.factor, config.patience, config.stop_after)
        self.average = WeightAverage(learner, config.average) if config.average else None
        self.rng = np.random.default_rng(config.seed)
        self.order = np.zeros(0, np.int64)  # rows that have yet to come before any comes again
        self.curve: list[dict[str, Any]] = []
        self.best_epoch, self.best = 0, learner.weights()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Train epoch by epoch, and give each one's row of the curve. Rows of earlier epochs, if there are, come first."""
        yield from list(self.curve)
        steps = self.config.epoch_steps or max(1, round(self.sets.train.size / self.config.batch))
        for epoch in range(len(self.curve) + 1, self.config.epochs + 1):
            if self.plateau.is_over:
                return
            begin = time.perf_counter()
            rate = stepped(self.config.rate, epoch) * self.plateau.share
            row = {"epoch": epoch, "steps": epoch * steps, "rate": rate} | self._learn(steps, rate)
            row["train_seconds"] = time.perf_counter() - begin
            self._validate(epoch, row)
            row["seconds"] = time.perf_counter() - begin
            self.curve.append(row)
            self.progress("epoch", epoch, self.config.epochs, **row)
            yield row

    def _learn(self, steps: int, rate: float) -> dict[str, float]:
        """The steps of one epoch; the means of their losses."""
        losses = []
        for step in range(1, steps + 1):
            examples = self.sets.train.examples(self._next_batch())
            losses.append(self.learner.step(examples, rate, self.config.momentum, self.rng))
            if not np.isfinite(losses[-1]["loss"]):
                raise AzlabError(f"The training has diverged: its loss is no number any more. Use a lower rate than {rate:g}.")
            if self.average:
                self.average.add(self.learner)
            if step % 10 == 0 or step == steps:
                self.progress("training", step, steps)
        return {name: float(np.mean([row[name] for row in losses])) for name in losses[0]}

    def _next_batch(self) -> np.ndarray:
        """Row numbers; no row comes again before all had their turn."""
        while len(self.order) < self.config.batch:
            self.order = np.concatenate([self.order, self.rng.permutation(self.sets.train.size)])
        batch, self.order = self.order[: self.config.batch], self.order[self.config.batch :]
        return batch

    def _validate(self, epoch: int, row: dict[str, Any]) -> None:
        """Measure the weights, or their average; keep them if they are the best so far."""
        if self.average:
            row |= self._watch("")
        with self.average.applied(self.learner) if self.average else contextlib.nullcontext():
            row |= self._watch("average_" if self.average else "")
            found = {}
            if self.sets.validation.size:
                found = measure(self.learner, self.sets.validation, self.evaluator)
            if not found or self.plateau.note(_score(found, self.config.watch)):
                self.best_epoch, self.best = epoch, self.learner.weights()
        row |= {f"validation_{name}": value for name, value in found.items()}

    def _watch(self, start: str) -> dict[str, float]:
        """What the watched sets say of the present weights, by names that begin with `start`."""
        self._refresh()
        watched = self.watched or Watched({})
        found = {name: watched.measure(self.learner, positions, self.evaluator) for name, positions in watched.sets.items()}
        return {f"{start}{name}_{what}": value for name, own in found.items() for what, value in own.items()}

    def _refresh(self) -> None:
        refresh(self.evaluator)

    def restore_best(self) -> None:
        """Give the learner the weights of the best epoch, or those it began with."""
        self.learner.set_weights(self.best)
        self._refresh()


def _score(found: dict[str, float], watch: str) -> float:
    """What the plateau looks at, higher being better."""
    if watch == "accuracy":
        return float(np.mean([found[name] for name in ("move_accuracy", "result_accuracy") if name in found]))
    return -found["policy_loss"] if watch == "policy_loss" else found[watch]


@dataclass(frozen=True)
class SeveralRuns:
    """The test metrics of several trainings that differ only in their seeds."""

    values: dict[str, list[float]]
    # of each metric of `measure`, a number for each complete run
    results: list[SupervisedResult]
    # also that of an interrupted one, the last

    @property
    def mean(self) -> dict[str, float]:
        """Means over the complete runs."""
        return {name: float(np.mean(values)) for name, values in self.values.items()}

    @property
    def deviation(self) -> dict[str, float]:
        """Standard deviations of single runs, estimated with n - 1 (S5's program prints those with n); 0 for one run."""
        return {name: float(np.std(values, ddof=1)) if len(values) > 1 else 0.0 for name, values in self.values.items()}

    @property
    def complete(self) -> bool:
        """Whether no run was interrupted."""
        return all(result.complete for result in self.results)


def several_runs(
    make_learner: Callable[[int], Learner],
    sets: SplitSets,
    config: SupervisedConfig | None = None,
    runs: int = 5,
    progress: Progress | None = None,
) -> SeveralRuns:
    """Train `runs` new learners, made by `make_learner(seed)`, on the same sets (S5 table 3: 5 runs); Ctrl-C ends it early.

    `progress` is also called as progress("run", run, runs, **its test metrics).
    """
    config = config or SupervisedConfig()
    whole_number("runs", runs, 1, 10_000)
    if not sets.test.size:
        raise AzlabError("Several runs are compared on a test set, and there is none.")
    results: list[SupervisedResult] = []
    for run in range(runs):
        seed = config.seed + run
        results.append(train_supervised(make_learner(seed), sets, replace(config, seed=seed), progress))
        if not results[-1].complete:
            break
        (progress or silent)("run", run + 1, runs, **results[-1].test)
    complete = [result.test for result in results if result.complete]
    return SeveralRuns({name: [test[name] for test in complete] for name in (complete[0] if complete else {})}, results)
