"""S5's trainings on solved positions: sets drawn as said, every arm runs, and questions to the answers by hand."""

from dataclasses import replace

import numpy as np
import pytest

import azlab
from azlab.learning import connect4_set
from azlab.learning.position_sets import PositionSet, leak
from azlab.learning.sweep_table import Table
from azlab.nets.residual import ResidualConfig, ResidualNet, count_parameters
from azlab.repro import experiments
from azlab.repro.record import Recorder
from azlab.repro.verdict import Measured, decide
from azlab_reproductions.s5_connect4 import answers, datasets, supervised
from azlab_reproductions.s5_connect4.answers import Answers

BASE = {
    "net": {"kind": "residual", "encoding": "single", "blocks": 5, "filters": 8, "stem": 8, "head": 2}, "draw": "many",
    "train": 160, "pool": 200, "labels": "right", "lines": 3000, "tested": 40, "epochs": 2, "steps": [1, 2],
}  # fmt: skip


@pytest.fixture
def million(need):
    for name in (datasets.MILLION, *datasets.TESTS.values()):
        need.data(name)
    return connect4_set(datasets.MILLION, 20_000)


def settings(profile):
    return experiments.find("s5.supervised").at(profile)


def arms_of(profile):
    """The arms of a profile, with its sizes."""
    own = settings(profile)
    base = BASE | {"net": BASE["net"] | {name: own[name] for name in ("filters", "stem", "head")}}
    return (supervised.table_arms if own["design"] == "table" else supervised.small_arms)(base)


# --- data -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", datasets.DRAWS)
def test_training_sets_are_drawn_as_said(million, how):
    hard = datasets.plies_of(connect4_set(datasets.TESTS["hard"]))
    rows = datasets.drawn(million, 1000, how, hard, np.random.default_rng(1))
    again = datasets.drawn(million, 1000, how, hard, np.random.default_rng(1))
    other = datasets.drawn(million, 1000, how, hard, np.random.default_rng(2))
    assert len(np.unique(rows)) == 1000 and np.array_equal(rows, again) and not np.array_equal(rows, other)
    found = million.take(rows)
    games = len(np.unique(found.games))
    assert games == 1000 if how.startswith("one") else games < 200
    wanted = hard if how.endswith("_hard") else datasets.plies_of(million)
    apart = abs(datasets.plies_of(found) / 1000 - wanted / wanted.sum()).sum() / 2
    assert apart < (0.2 if how == "many" else 0.03)  # whole games are drawn as they come


def test_many_a_game_takes_whole_games(million):
    rows = datasets.drawn(million, 1000, "many", np.ones(datasets.PLIES), np.random.default_rng(1))
    games, counts = np.unique(million.games[rows], return_counts=True)
    is_whole = counts == np.bincount(million.games)[games]
    assert is_whole.sum() >= len(games) - 1  # the last one is cut


def test_more_positions_than_there_are_cannot_be_drawn(million):
    few = million.take(slice(0, 300))
    games = len(np.unique(few.games))
    for how, most in (("many", 300), ("one", games), ("many_hard", 300), ("one_hard", games)):
        assert len(datasets.drawn(few, 10**6, how, datasets.plies_of(million), np.random.default_rng(0))) <= most


def test_facts_of_a_set_by_hand():
    game = azlab.game("connect4")
    states = np.concatenate([game.from_moves(line).state for line in ("", "4", "44")])
    moves, results = np.array([[3, -1], [3, 2], [3, -1]], np.int16), np.array([1, 1, -1], np.int8)
    found = datasets.facts(PositionSet(game, states, moves, results, np.array([0, 1, 1])))
    assert (found["positions"], found["games"], found["ply"]) == (3, 2, 1)
    assert found["correct"] == pytest.approx(4 / 3) and found["random"] == pytest.approx(4 / 21)
    assert found["won"] == pytest.approx(1 / 3) and found["lost"] == pytest.approx(2 / 3)  # for whom it is to move
    assert found["mislabelled"] == pytest.approx(1 / 3)  # "44" alone is lost for the first player, to move


def result_of(position):
    """For the player to move, by trying everything."""
    if position.over:
        return 0 if position.winner is None else -1  # whoever moved last has won
    return max(-result_of(position.play(action)) for action in position.legal_actions)


@pytest.mark.slow
def test_weak_labels_are_all_moves_that_keep_the_result(million, tmp_path, monkeypatch):
    """A slow win is as good as a quick one, and in a lost position everything is right."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    easy = connect4_set(datasets.TESTS["easy"])
    few = easy.take(np.flatnonzero(easy.states["ply"] == 36)[:30])
    weak, seen = datasets.weak_moves(few), set()
    for row in range(few.size):
        position = few.game.position(few.states[row : row + 1])
        values = {action: -result_of(position.play(action)) for action in position.legal_actions}
        right = {action for action, value in values.items() if value == max(values.values())}
        assert set(np.flatnonzero(weak[row])) == right
        assert set(few.moves[row]) - {-1} <= right
        seen.add((max(values.values()), len(right) > (few.moves[row] >= 0).sum()))
    assert (1, True) in seen and (-1, True) in seen  # wins and losses with more right moves than the strong labels have


# --- trainings --------------------------------------------------------------------------------------------------------


def test_arms_share_what_they_can(million):
    sets = {arm: supervised.training_sets(config, 7) for arm, config in supervised.small_arms(BASE).items()}
    base, half, wrong = (sets[arm].train for arm in ("base", "half", "wrong_labels"))
    assert base.size == 160 and half.size == 80
    assert np.array_equal(half.states, base.states[:80]) and np.array_equal(sets["half_long"].train.states, half.states)
    longer = supervised.training_config(supervised.small_arms(BASE | {"epochs": 8, "steps": [1, 5, 7]})["half_long"], 0)
    assert longer.epochs == 16 and longer.rate == ((1, 0.2), (9, 0.02), (13, 0.002))  # twice as long at each rate
    assert np.array_equal(wrong.states, base.states) and wrong.labels and not base.labels
    assert not sets["wrong_labels"].validation.labels  # tests and validation have the true results, as in the source's program
    assert leak(sets["one"]) == leak(sets["one_hard"]) == 0 and leak(sets["base"]) > 0.9 < leak(sets["many_hard"])
    assert all(len(part.states) == 20 for arm in ("base", "half") for part in sets[arm][1:])


def test_the_sources_table_has_its_networks_labels_and_sizes():
    found, own = arms_of("paper"), settings("paper")
    assert {name for name, config in found.items() if config["labels"] == "right"} == {"base"}
    for arm, count in (("wrong_labels", 1_574_730), ("blocks10", 3_053_130), ("blocks20", 6_009_930), ("half", 1_574_730)):
        sizes = {name: value for name, value in found[arm]["net"].items() if name != "kind"}
        config = ResidualConfig.for_game(azlab.game("connect4"), **sizes)
        assert count_parameters(ResidualNet(config)) == count  # table 3
    config = supervised.training_config(BASE | {"epochs": own["epochs"], "steps": own["steps"]}, 0)
    assert (config.rate, config.batch, config.patience, config.stop_after) == (((1, 0.2),), 128, 8, 12)
    assert own["positions"] + own["positions"] // 4 == 1_000_000  # 800,000 learnt, 100,000 and 100,000 beside


@pytest.mark.slow
@pytest.mark.parametrize("profile, arm", [(profile, arm) for profile in ("laptop", "paper") for arm in arms_of(profile)])
def test_every_arm_trains_at_a_tiny_size(million, one_thread, profile, arm, tmp_path):
    config = arms_of(profile)[arm]
    tiny = config | {
        "net": config["net"] | {"filters": 8, "stem": 8, "head": 2},
        "epochs": 1,
        "steps": settings(profile)["steps"][:1],
    }
    rows = list(supervised.train(tiny, 3, tmp_path))
    assert [row["iteration"] for row in rows] == [1, 2]
    assert all(0 <= rows[-1][metric] <= 100 for metric in supervised.METRICS)
    kept = answers.load(tmp_path / "answers.npz")
    positions = supervised.test_set("hard", 40)
    assert answers.scores(kept["hard"], positions)["moves"] == rows[-1]["hard_moves"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["answers.npz", "net.safetensors"]


@pytest.mark.slow
def test_a_unit_that_was_killed_gives_the_same(million, one_thread, tmp_path):
    def plain(rows):
        return [{name: value for name, value in row.items() if "seconds" not in name} for row in rows]

    whole = plain(supervised.train(BASE, 3, tmp_path / "whole"))
    next(supervised.train(BASE, 3, tmp_path / "cut"))
    assert plain(supervised.train(BASE, 3, tmp_path / "cut")) == whole and len(whole) == 3


# --- claims -----------------------------------------------------------------------------------------------------------


def table_of(values):
    """A table of finished units: values by metric, arm and seed."""
    arms = next(iter(values.values()))
    rows = [
        {"arm": arm, "seed": seed, "iteration": 9} | {metric: own[arm][seed] for metric, own in values.items()}
        for arm in arms
        for seed in range(len(arms[arm]))
    ]
    return Table(tuple(rows))


def verdict(record, claim):
    measured = {
        name: Measured(record.profile, one["value"], half=one.get("spread"), paired=one.get("paired"))
        for name, one in record.claims.items()
    }
    return decide(record.source.claim(claim), measured[claim], measured)


def test_sizes_are_judged_seed_by_seed():
    sure = {"base": [80.0, 82.0, 84.0], "blocks2": [78.0, 80.1, 82.0], "blocks10": [81.0, 82.9, 85.0], "half": [80.5, 81.0, 83.5]}
    record = Recorder("s5", "laptop")
    supervised.compare_sizes(record, table_of({"hard_moves": sure}), "base")
    assert record.claims["s5.supervised.blocks"]["value"] == pytest.approx({"5 - 2": 1.9667, "10 - 5": 0.9667}, abs=1e-4)
    assert verdict(record, "s5.supervised.blocks") == "reproduced"  # seeds differ by more than arms, pairs do not
    assert verdict(record, "s5.supervised.size") == "partly"  # one seed of three says otherwise


@pytest.mark.parametrize("gain, expected", [(8.0, "reproduced"), (4.0, "not reproduced"), (5.2, "partly")])
def test_the_riddle_of_the_labels_needs_more_than_five_points(gain, expected):
    wrong = [76.0, 76.4, 75.8]
    right = [value + gain + more for value, more in zip(wrong, (0.2, -0.2, 0.0))]
    moves, recall = (
        {"base": [78.0, 78.2, 78.1], "wrong_labels": [78.1, 78.1, 78.2]},
        {"base": [70, 72, 71], "wrong_labels": [0, 0.1, 0]},
    )
    record = Recorder("s5", "laptop")
    wins = {"base": right, "wrong_labels": wrong}
    supervised.compare_labels(record, table_of({"own_wins": wins, "own_moves": moves, "own_recall": recall}))
    assert verdict(record, "s5.labels.wins_right") == expected
    assert verdict(record, "s5.labels.moves") == "reproduced"
    assert verdict(record, "s5.labels.recall_as_run") == verdict(record, "s5.labels.recall_right") == "reproduced"


# --- questions to answers ---------------------------------------------------------------------------------------------


def test_reweighting_by_hand():
    ply = np.array([0, 0, 1, 1, 1, 1])
    is_right = np.array([1, 1, 0, 0, 0, 1])  # all of ply 0, a quarter of ply 1
    assert answers.reweighted(is_right, ply, np.array([0, 1])) == pytest.approx(62.5)
    assert answers.reweighted(is_right, ply, np.array([1, 1, 1])) == pytest.approx(25)
    assert answers.reweighted(is_right, ply, np.array([0, 5])) == pytest.approx(100)  # of ply 5 nothing is known


@pytest.mark.parametrize("early, late, gap", [(0.6, 0.9, True), (0.6, 0.6, True), (0.9, 0.6, False)])
def test_a_gap_that_comes_of_plies_is_told_from_others(early, late, gap):
    """Chances of a right answer by ply; without such a difference the easy set is easier by itself, or it is the harder one."""
    rng = np.random.default_rng(0)
    hard_late, easy_late = rng.random(4000) < 0.2, rng.random(4000) < 0.8
    ply_hard, ply_easy = (rng.integers(0, 10, 4000) + 10 * is_late for is_late in (hard_late, easy_late))
    chances = np.where(hard_late, late, early), np.where(easy_late, late, early) + (0.3 if early == late else 0)
    hard, easy = (rng.random((3, 4000)) < chance for chance in chances)
    found = answers.explained_by_plies(hard, easy, ply_hard, ply_easy)
    truth = {(0.6, 0.9): (18, 18, 9), (0.6, 0.6): (30, 0, -15), (0.9, 0.6): (-18, -18, -9)}[early, late]
    for name, value in zip(answers.PARTS, truth, strict=True):
        assert abs(found["parts"][name] - value) < found["halves"][name] < 6
    record = Recorder("s5", "laptop")
    record("s5.data.ply", found["parts"], found["halves"])
    expected = "reproduced" if late > early else "partly" if gap else "not reproduced"
    assert verdict(record, "s5.data.ply") == expected


def test_answers_are_kept_and_told_by_result(tmp_path):
    game = azlab.game("connect4")
    states = np.concatenate([game.from_moves(line).state for line in ("", "44", "4", "43")])
    positions = PositionSet(
        game, states, np.array([[3], [3], [3], [2]], np.int16), np.array([1, -1, -1, -1], np.int8), np.arange(4)
    )
    own = Answers(np.array([3, 3, 0, 0], np.int8), np.array([1, 0, -1, -1], np.int8))
    assert answers.scores(own, positions) == {"moves": 50, "wins": 75, "recall": 50}  # "44" and "43" are lost for the first
    table = answers.confusion([own], positions)
    assert table["first to move"] == [[100, 0, 0], [0, 0, 0], [0, 50, 50]]
    assert table["second to move"] == [[0, 0, 0], [0, 0, 0], [0, 0, 100]]
    answers.save(tmp_path / "answers.npz", {"hard": own})
    kept = answers.load(tmp_path / "answers.npz")["hard"]
    assert kept.moves.tolist() == [3, 3, 0, 0] and kept.results.tolist() == [1, 0, -1, -1]


def test_answers_are_those_of_the_network(million):
    learner = supervised.new_learner(million.game, BASE["net"], supervised.LOSS, 1)
    positions = million.take(slice(0, 50))
    found = answers.ask(learner, positions)
    priors, *_ = learner.evaluator().evaluate(positions.states, million.game.legal_mask(positions.states))
    assert found.moves.tolist() == priors.argmax(axis=1).tolist()
    perfect = replace(positions, moves=found.moves[:, None].astype(np.int16), results=found.results)
    assert answers.scores(found, perfect)["moves"] == answers.scores(found, perfect)["wins"] == 100
