"""Supervised training: its arithmetic on scripted learners, and real networks that learn."""

from dataclasses import replace

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.learning import SupervisedConfig, connect4_set, go_set, several_runs, split_set, train_supervised
from azlab.learning.alphazero import new_learner
from azlab.learning.evaluation import UNKNOWN
from azlab.learning.learner import KerasLearner, LossConfig, TorchLearner
from azlab.learning.position_sets import PositionSet, SplitSets
from azlab.learning.supervised import Plateau, SupervisedTraining, Watched, WeightAverage, measure
from azlab_reproductions.s5_connect4.program import losses_as_draws

TRAIN, PRO = "connect4/train_100k.txt.gz", "go/9x9_pro.tar.gz"
SIZES = {"blocks": 1, "filters": 32, "stem": 32, "head": 8}


# --- a learner that follows a script ----------------------------------------------------------------------------------


def first_moves(count: int = 20) -> PositionSet:
    """Empty boards of tic-tac-toe, the middle being right and the game a draw."""
    game = azlab.game("tictactoe")
    return PositionSet(game, game.new_states(count), np.full((count, 1), 4, np.int16), np.zeros(count, np.int8), np.arange(count))


SETS = SplitSets(first_moves(), first_moves(), first_moves())


class Scripted:
    """After n steps it takes the right move in script[n - 1] of 20 positions; its only weight is n."""

    suffix, has_value = ".none", False

    def __init__(self, script, interrupt_at: int = 0) -> None:
        self.game, self.script, self.interrupt_at = SETS.train.game, script, interrupt_at
        self.number = np.zeros(1, np.float32)
        self.rates: list[float] = []

    def step(self, examples, rate, momentum, rng):
        if len(self.rates) + 1 == self.interrupt_at:
            raise KeyboardInterrupt
        self.number += 1
        self.rates.append(rate)
        return {"loss": 1.0}

    def weights(self):
        return [self.number.copy()]

    def set_weights(self, weights):
        self.number[:] = weights[0]

    def evaluator(self, threads=None):
        return self

    def evaluate(self, states, legal):
        priors = np.full(legal.shape, 1 / 9, np.float32)
        right = self.script[max(0, round(float(self.number[0])) - 1)]
        priors[:right, 4], priors[right:, 0] = 0.5, 0.5
        return priors, np.zeros(len(states), np.float32)


def one_step_epochs(**changes) -> SupervisedConfig:
    return SupervisedConfig(**{"batch": 20, "epoch_steps": 1, "rate": ((1, 0.2),)} | changes)


def test_the_plateau_cuts_the_rate_after_8_epochs_and_stops_after_12():
    plateau = Plateau(factor=10, patience=8, stop_after=12)
    scores = [0.5, 0.6, *[0.6] * 7, 0.7, *[0.1] * 12]  # 7 without gain are not enough; an equal score is no gain
    gains, shares, ends = zip(*((plateau.note(score), plateau.share, plateau.is_over) for score in scores), strict=True)
    assert [k for k, is_gain in enumerate(gains) if is_gain] == [0, 1, 9]
    assert list(shares) == [1.0] * 17 + [0.1] * 5
    assert list(ends) == [False] * 21 + [True]


def test_the_plateau_cuts_again_and_gain_starts_the_count_anew():
    plateau = Plateau(factor=2, patience=2, stop_after=0)
    shares = []
    for loss in (3.0, 3.0, 3.0, 3.5, 3.1, 2.0, 2.5, 2.5, 2.5):
        plateau.note(-loss)
        shares.append(plateau.share)
    assert shares == [1, 1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125]
    assert not plateau.is_over
    never = Plateau(patience=0, stop_after=0)
    for _ in range(50):
        never.note(0.0)
    assert (never.share, never.is_over) == (1.0, False)


def test_early_stopping_goes_back_to_the_best_epoch():
    learner = Scripted([5, 12, 11, 10, 9, 8, 7])
    result = train_supervised(learner, SETS, one_step_epochs(patience=2, stop_after=4))
    assert [row["validation_move_accuracy"] for row in result.curve] == [0.25, 0.6, 0.55, 0.5, 0.45, 0.4]
    assert learner.rates == pytest.approx([0.2, 0.2, 0.2, 0.2, 0.02, 0.02])
    assert result.best_epoch == 2
    assert learner.number == 2
    assert result.test["move_accuracy"] == 0.6
    assert result.complete
    assert "validation_result_accuracy" not in result.curve[0]


def test_a_rate_of_pairs_changes_by_epoch():
    learner = Scripted([1] * 6)
    train_supervised(learner, SETS, one_step_epochs(epochs=5, rate=((1, 0.3), (3, 0.1)), patience=4))
    assert learner.rates == pytest.approx([0.3, 0.3, 0.1, 0.1, 0.1])
    assert train_supervised(learner, SETS, one_step_epochs(epochs=5)).curve[-1]["rate"] == 0.2


def test_what_is_watched_decides_what_is_best():
    for watch in ("accuracy", "move_accuracy", "policy_loss"):
        assert train_supervised(Scripted([1, 9, 3]), SETS, one_step_epochs(epochs=3, watch=watch)).best_epoch == 2


def test_an_interrupted_training_returns_what_it_has():
    learner = Scripted([5, 12, 11, 10], interrupt_at=4)
    result = train_supervised(learner, SETS, one_step_epochs())
    assert not result.complete
    assert (len(result.curve), result.best_epoch, result.test) == (3, 2, {})
    assert learner.number == 2
    at_once = Scripted([5], interrupt_at=1)
    result = train_supervised(at_once, SETS, one_step_epochs())
    assert (result.curve, result.best_epoch, result.complete) == ([], 0, False)
    assert at_once.number == 0


def test_the_average_of_weights_is_what_is_measured_and_kept():
    learner = Scripted(range(20))
    average = WeightAverage(learner, 0.5)
    expected = 0.0
    for step, hold in enumerate((2 / 11, 3 / 12, 4 / 13, 5 / 14, 6 / 15, 7 / 16, 8 / 17, 9 / 18, 0.5, 0.5), 1):
        learner.number[:] = step
        average.add(learner)
        expected = hold * expected + (1 - hold) * step
    assert average.weights[0][0] == pytest.approx(expected, rel=1e-5)
    with average.applied(learner):
        assert learner.number == pytest.approx(expected, rel=1e-5)
    assert learner.number == 10
    learner = Scripted(range(20))
    train_supervised(learner, SETS, one_step_epochs(epochs=10, average=0.5))
    assert learner.number == pytest.approx(expected, rel=1e-5)


def test_tests_are_measured_with_the_weights_and_with_their_average():
    learner, asked = Scripted(range(20)), []

    def count(learner, positions, evaluator):
        asked.append((positions.size, float(learner.number[0])))
        return {"number": float(learner.number[0])}

    watched = Watched({"few": first_moves(3), "many": first_moves(7)}, count)
    training = SupervisedTraining(learner, SETS, one_step_epochs(epochs=2, average=0.5), watched=watched)
    rows = list(training.rows())
    averages = [9 / 11, (1 - 0.25) * 2 + 0.25 * 9 / 11]  # after one and two steps, see above
    for row, number, average in zip(rows, (1, 2), averages, strict=True):
        assert (row["few_number"], row["many_number"]) == (number, number)
        assert row["average_few_number"] == pytest.approx(average, rel=1e-5) == row["average_many_number"]
    assert [size for size, _ in asked] == [3, 7] * 4
    plain = SupervisedTraining(Scripted(range(20)), SETS, one_step_epochs(epochs=1), watched=watched)
    assert [name for name in next(plain.rows()) if name.endswith("number")] == ["few_number", "many_number"]


def test_a_training_that_nothing_steers_needs_no_validation_and_keeps_its_last_weights():
    bare = SETS._replace(validation=first_moves(0))
    learner = Scripted([9, 5, 7, 1])
    result = train_supervised(learner, bare, one_step_epochs(epochs=4, patience=0, stop_after=0))
    assert result.best_epoch == 4 and learner.number == 4 and result.test["move_accuracy"] == 0.05
    assert not any(name.startswith("validation") for name in result.curve[0])
    for steered in ({"patience": 3, "stop_after": 0}, {"patience": 0, "stop_after": 3}):
        with pytest.raises(AzlabError, match="no positions to validate on"):
            train_supervised(learner, bare, one_step_epochs(epochs=4, **steered))


def test_an_epoch_shows_every_example_once_and_reports():
    shown, told = [], []
    learner = Scripted([1] * 8)
    positions = first_moves()
    positions.states["ply"] = np.arange(20)  # to tell them apart
    inner = learner.step
    learner.step = lambda examples, *rest: (shown.extend(examples.states["ply"].tolist()), inner(examples, *rest))[1]
    config = SupervisedConfig(batch=5, epochs=2, seed=1)
    sets = SETS._replace(train=positions)
    train_supervised(learner, sets, config, lambda what, done, total, **facts: told.append((what, done, total, len(facts) > 4)))
    assert sorted(shown[:20]) == sorted(shown[20:]) == list(range(20))
    assert shown[:20] != shown[20:]
    assert told == [("training", 4, 4, False), ("epoch", 1, 2, True), ("training", 4, 4, False), ("epoch", 2, 2, True)]


def test_several_runs_give_mean_and_deviation():
    seeds = []

    def make(seed: int) -> Scripted:
        seeds.append(seed)
        return Scripted([(10, 12, 17)[len(seeds) - 1]])

    found = several_runs(make, SETS, one_step_epochs(epochs=1, seed=5), runs=3)
    assert seeds == [5, 6, 7]
    assert found.values["move_accuracy"] == [0.5, 0.6, 0.85]
    assert found.mean["move_accuracy"] == pytest.approx(0.65)
    assert found.deviation["move_accuracy"] == pytest.approx(0.18027756)
    assert found.complete


def test_several_runs_survive_an_interruption():
    stops = iter((0, 1, 0))
    found = several_runs(lambda seed: Scripted([10], next(stops)), SETS, one_step_epochs(epochs=1), runs=3)
    assert not found.complete
    assert (found.values["move_accuracy"], len(found.results), found.deviation["move_accuracy"]) == ([0.5], 2, 0.0)


# --- networks ---------------------------------------------------------------------------------------------------------


def trained(positions: PositionSet) -> tuple[TorchLearner, SplitSets, dict]:
    sets = split_set(positions, (0.9, 0.05, 0.05))
    learner = new_learner(positions.game, SIZES | {"encoding": "single"}, LossConfig(optimiser="adam"), 0)
    result = train_supervised(learner, sets, SupervisedConfig(epochs=2, rate=((1, 0.003), (2, 0.001))))
    return learner, sets, result.test


def lost_and_seen(learner: TorchLearner, test: PositionSet) -> float:
    """How many of the positions that the first player, to move, has lost are predicted as lost."""
    lost = test.take((test.states["to_move"] == 0) & (test.results == -1))
    _, values, draws = learner.evaluator().evaluate(lost.states, lost.game.legal_mask(lost.states))
    return float(((-values > 0) & ((1 - draws - values) / 2 > draws)).mean())


@pytest.fixture(scope="module")
def honest(need):
    need.data(TRAIN)
    return trained(connect4_set(TRAIN, 20_000))


@pytest.mark.learns
def test_a_small_net_learns_connect4_and_beats_a_random_mover(honest):
    learner, sets, test = honest
    graded = sets.test.graded()
    chance = (graded.best.sum(axis=1) / sets.test.game.legal_mask(graded.states).sum(axis=1)).mean()
    assert chance < 0.3
    # Five runs of seeds 0 to 3, with SSE and AVX2: moves 0.41 to 0.45 (untrained 0.21 to 0.30),
    # results 0.68 to 0.72 (always "win" gives 0.59).
    assert test["move_accuracy"] > chance + 0.08
    assert test["result_accuracy"] > 0.62
    assert measure(learner, sets.test) == pytest.approx(test)  # the learner has the weights that were tested


@pytest.mark.learns
def test_a_net_with_wrong_labels_does_not_see_what_the_first_player_has_lost(honest):
    learner, sets, test = trained(replace(connect4_set(TRAIN, 20_000), labels=losses_as_draws))
    seen, rightly = lost_and_seen(learner, sets.test), lost_and_seen(honest[0], honest[1].test)
    assert rightly > 0.3  # 0.43 to 0.71 in the same runs, and 0.03 to 0.10 with wrong labels
    assert seen < rightly / 2
    assert test["result_accuracy"] < honest[2]["result_accuracy"]  # by 0.06 to 0.16


def test_weights_of_a_torch_learner_come_back(honest):
    learner, sets, _ = honest
    part = sets.test.take(slice(0, 64))
    before, kept = measure(learner, part), learner.weights()
    learner.set_weights([np.zeros_like(array) for array in kept])
    assert measure(learner, part)["policy_loss"] != pytest.approx(before["policy_loss"])
    learner.set_weights(kept)
    assert measure(learner, part) == before


def unknown_results() -> PositionSet:
    positions = first_moves(8)
    positions.results[:] = UNKNOWN
    return positions


def test_unknown_results_teach_a_torch_net_nothing():
    learner = new_learner(SETS.train.game, SIZES | {"filters": 4}, LossConfig(), 0)
    losses = learner.step(unknown_results().examples(), 0.1, 0.9, np.random.default_rng(0))
    assert losses["value_loss"] == 0
    assert losses["policy_loss"] > 0
    assert "result_accuracy" not in measure(learner, unknown_results())


@pytest.mark.learns
def test_a_keras_net_without_a_value_learns_go_moves(need):
    need.data(PRO)
    need.package("keras")
    from azlab.nets.keras_nets import go_net, load_keras

    load_keras().utils.set_random_seed(0)
    sets = split_set(go_set(PRO, 9, first=60, passes=False))
    learner = KerasLearner(sets.train.game, go_net(3), LossConfig(weight_decay=5e-4), momentum=0.0, encoding="go")
    config = SupervisedConfig(epochs=1, rate=((1, 0.1),), momentum=0.0, average=0.9999)
    before = measure(learner, sets.validation)
    result = train_supervised(learner, sets, config)
    row = result.curve[0]
    assert row["validation_policy_loss"] < before["policy_loss"] - 0.2  # by 0.45 to 0.48 with other seeds
    assert "value_loss" not in row
    assert set(result.test) == {"move_accuracy", "policy_loss"}
    with pytest.raises(AzlabError, match=r"momentum 0\.0, the config says 0\.9"):
        train_supervised(learner, sets, SupervisedConfig())


@pytest.mark.learns
def test_a_keras_net_with_a_value_still_learns_it_and_unknown_results_cost_nothing(need):
    need.package("keras")
    from azlab.nets.keras_nets import dots_and_boxes_net

    game = azlab.game("dots_and_boxes")
    moves, games = np.zeros((8, 1), np.int16), np.arange(8)
    won = PositionSet(game, game.new_states(8), moves, np.ones(8, np.int8), games)
    learner = KerasLearner(game, dots_and_boxes_net((8,)), LossConfig(), encoding="lines")
    assert learner.has_value
    rng = np.random.default_rng(0)
    first = learner.step(won.examples(), 0.1, 0.9, rng)
    assert list(first) == ["loss", "policy_loss", "value_loss"]
    for _ in range(30):
        last = learner.step(won.examples(), 0.1, 0.9, rng)
    assert last["value_loss"] < first["value_loss"] / 4
    unknown = PositionSet(game, won.states, moves, np.full(8, UNKNOWN, np.int8), games)
    assert learner.step(unknown.examples(), 0.1, 0.9, rng)["value_loss"] == 0


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"batch": 0}, "batch must be a whole number"),
        ({"rate": 0.2}, "rate is a list of pairs"),
        ({"rate": ((1, -0.1),)}, "Learning rates are positive"),
        ({"factor": 1}, "greater than 1"),
        ({"average": 1.0}, "average lies between"),
        ({"watch": "loss"}, "watch must be one of"),
    ],
)
def test_bad_settings_are_answered_by_sentences(changes, sentence):
    with pytest.raises(AzlabError, match=sentence):
        SupervisedConfig(**changes)


def test_bad_sets_are_answered_by_sentences():
    none, learner = first_moves(0), Scripted([1])
    with pytest.raises(AzlabError, match="no positions to train on"):
        train_supervised(learner, SETS._replace(train=none))
    with pytest.raises(AzlabError, match="no positions to validate on"):
        train_supervised(learner, SETS._replace(validation=none))
    assert train_supervised(learner, SETS._replace(test=none), one_step_epochs(epochs=1)).test == {}
    with pytest.raises(AzlabError, match="there is none"):
        several_runs(Scripted, SETS._replace(test=none))
    learner.game = azlab.game("connect4")
    with pytest.raises(AzlabError, match="The learner plays"):
        train_supervised(learner, SETS)


def test_a_training_that_diverges_says_so_and_goes_back():
    learner = Scripted([5, 12])
    inner = learner.step
    learner.step = lambda *args: inner(*args) | ({"loss": np.nan} if len(learner.rates) > 2 else {})
    with pytest.raises(AzlabError, match=r"diverged.*lower rate than 0\.2"):
        train_supervised(learner, SETS, one_step_epochs())
    assert learner.number == 2
