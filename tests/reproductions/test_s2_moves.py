"""Source S2 on move prediction: its tables, its way of counting, its arms, its games; every experiment at a tiny scale."""

import itertools
import json

import numpy as np
import pytest

import azlab
from azlab.arena.policy_agent import PolicyAgent
from azlab.errors import AzlabError
from azlab.learning.position_sets import leak
from azlab.learning.sweep_table import Table
from azlab.repro import Recorder, claims, experiments
from azlab.repro.sources import source_table
from azlab_reproductions.s2_go import datasets, moves, play, protocol
from azlab_reproductions.s2_go.precision import counted

SIZES = {"filters": 4, "steps": 4, "every": 1, "batch": 8, "tested": 20}


def named(experiment):
    """The claims that an experiment measures."""
    return {claim.id for claim in claims.load("s2").claims if claim.experiment == experiment}


# --- data -------------------------------------------------------------------------------------------------------------


def test_the_tables_of_the_source_by_arithmetic():
    record = Recorder("s2_go", "smoke")
    datasets.tables(record)
    years = source_table("s2_kgs_games.csv")
    assert years["year"] == [str(year) for year in range(2001, 2017)]
    assert record.claims["s2.data.year_sum"]["value"] == 199_131
    assert record.claims["s2.data.four_of_five"]["value"] == {
        "kgs train": 2_776_980, "kgs test": 385_694, "gogod train": 4_608, "gogod test": 643
    }  # fmt: skip
    other = record.kept["table 5.3"]["if all were printed"]
    assert other["kgs test"] < 320_000 and other["gogod test"] < 530  # that would not give the printed numbers


def test_the_experiment_counts_parts_of_archives(need):
    for name in datasets.SIZES:
        need.data(name)
    record = Recorder("s2_go", "smoke")
    experiments.find("s2.data").function()(record, games=3)
    assert set(record.claims) == {"s2.data.year_sum", "s2.data.four_of_five"}  # whole archives were not read
    found = record.kept["archives"]
    assert all(own["games"] == 3 for own in found.values()) and found[datasets.PRO]["positions"] > 60


@pytest.mark.slow
def test_training_sets_are_whole_games_and_belong_to_their_seed(need):
    for name in (datasets.PRO, *datasets.KGS.values()):
        need.data(name)
    nine, again, other = (datasets.training_sets(9, 146, seed) for seed in (1, 1, 2))
    numbers = {len(np.unique(np.concatenate([one.train.games, one.test.games]))) for one in (nine, other)}
    assert numbers == {146} and leak(nine) == 0 and nine.validation.size == 0
    assert nine.test.states.tobytes() == again.test.states.tobytes() != other.test.states.tobytes()
    assert nine.train.size / (nine.train.size + nine.test.size) == pytest.approx(0.9, abs=0.02)
    large = datasets.training_sets(19, 20, 1)
    assert leak(large) == 0 and len(np.unique(large.train.games)) + len(np.unique(large.test.games)) == 40
    assert (large.train.moves < 361).all()


def test_parts_of_sets_keep_their_rows_together(need):
    need.data(datasets.PRO)
    sets = datasets.training_sets(9, 20, 1)
    both = datasets.joined([sets.train, sets.test])
    assert both.size == sets.train.size + sets.test.size

    def rows(*parts):
        return sorted((one.states[k].tobytes(), one.moves[k, 0], one.games[k]) for one in parts for k in range(one.size))

    assert rows(both) == rows(sets.train, sets.test)
    few = datasets.some(both, 30, 1)
    assert few.size == 30 and set(rows(few)) <= set(rows(both)) and rows(few) == rows(datasets.some(both, 30, 1))
    assert rows(few) != rows(datasets.some(both, 30, 2)) and datasets.some(both, 10**6, 1).size == both.size


# --- counting ---------------------------------------------------------------------------------------------------------


def test_ties_at_the_top_count_as_right_for_the_source_alone():
    logits = np.array([[0, 0, 0], [2, 2, 1], [2, 1, 0], [1, 3, 0], [3, 1, 0]], np.float32)
    legal = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1], [1, 1, 1]], bool)
    found = counted(logits, np.array([2, 1, 0, 0, 1]), legal)
    assert found["precision"].tolist() == [True, True, True, False, False]
    assert found["strict"].tolist() == [False, False, True, False, False]
    assert found["legal"].tolist() == [False, False, True, True, False]  # the first of equals; illegal points do not count
    assert found["tied"].tolist() == [True, True, False, False, False]
    assert found["zero"].tolist() == [True, False, False, False, False]
    wanted = -np.log(np.exp(logits)[np.arange(5), [2, 1, 0, 0, 1]] / np.exp(logits).sum(axis=1))
    np.testing.assert_allclose(found["loss"], wanted, rtol=1e-5)
    huge = counted(np.array([[1000.0, 0.0]], np.float32), np.array([1]), np.ones((1, 2), bool))
    assert huge["loss"].tolist() == [1000.0]


def test_arms_differ_by_one_thing_each():
    found = moves.arms([9, 19], [2, 3, 13], [3], {9: 146, 19: 0}, SIZES)
    bases = [f"{board}_{depth}" for board, depth in itertools.product(("9x9", "19x19"), (2, 3, 13))]
    assert set(found) == {*bases, "9x9_3_slow", "9x9_3_linear", "19x19_3_slow", "19x19_3_linear", "9x9_13_all"}
    for name, base, changed in (
        ("19x19_3_slow", "19x19_3", {"rate": 0.01}),
        ("9x9_3_linear", "9x9_3", {"relu": False}),
        ("9x9_13_all", "9x9_13", {"games": 0}),
    ):
        assert found[name] == found[base] | changed
    assert {found[name]["rate"] for name in bases} == {0.1} and all(found[name]["relu"] for name in bases)


def test_the_profiles_have_the_source_s_settings():
    laptop = experiments.find("s2.moves").at("laptop")
    assert (laptop["steps"], laptop["batch"], laptop["filters"], laptop["layers"]) == (20_000, 128, 32, [2, 3, 13])
    said = moves.training_config({**SIZES, **laptop, "rate": 0.1}, 0)
    assert said.epochs == 20 and said.epoch_steps == 1000 and (said.momentum, said.average) == (0.0, 0.9999)
    assert (moves.LOSS.weight_decay, moves.LOSS.decay_biases, moves.LOSS.symmetries) == (5e-4, False, False)
    shared = ("filters", "steps", "every", "batch", "tested", "games_9", "games_19")
    for profile in ("smoke", "laptop", "paper"):  # so that the networks of one run serve both
        own, other = (experiments.find(f"s2.{name}").at(profile) for name in ("moves", "play"))
        assert all(other[name] == own[name] for name in shared) and other["layers"] in own["layers"]


def test_gains_are_points_between_shares_of_the_training():
    rows = {("9x9_13", seed): [{"iteration": step, "m": (step + seed) / 100} for step in (0, 2, 4, 6, 8)] for seed in (1, 2)}
    table = Table.of(rows)
    assert moves.gains(table, "9x9_13", "m", 0.75, 1.0).mean == pytest.approx(2)
    assert moves.gains(table, "9x9_13", "m", 0.0, 0.25).mean == pytest.approx(2)
    assert moves.curves_of(table, "m")["9x9_13"] == {
        "steps": [0, 2, 4, 6, 8], "seeds": [[(step + seed) / 100 for step in (0, 2, 4, 6, 8)] for seed in (1, 2)]
    }  # fmt: skip


@pytest.mark.slow
def test_a_training_begins_as_the_source_s_and_leaves_two_players(need, tmp_path):
    need.data(datasets.PRO)
    need.package("keras")
    config = moves.arms([9], [2], [], {9: 20}, SIZES)["9x9_2"]
    weights = moves.new_learner(config, 1).weights()
    assert (weights[-1] == np.float32(0.1)).all() and abs(weights[0]).max() <= 0.2
    rows = list(moves.train(config, 1, tmp_path))
    assert [row["iteration"] for row in rows] == [0, 1, 2, 3, 4]
    assert rows[-1]["cpu_seconds"] > 0 and set(moves.CURVES) <= set(rows[0]) & set(rows[-1])
    assert rows[0]["test_loss"] == rows[0]["average_test_loss"] and rows[4]["test_loss"] != rows[4]["average_test_loss"]
    assert sorted(file.name for file in tmp_path.iterdir()) == [moves.AVERAGED, moves.LAST]
    last, average = (azlab.agent(f"net:{tmp_path / name}") for name in (moves.LAST, moves.AVERAGED))
    chances = [player.chances([player.game.start()])[0] for player in (last, average)]
    assert chances[0].shape == (82,) and not np.array_equal(*chances) and last.game.komi == 0


@pytest.mark.slow
def test_the_experiment_measures_every_claim_that_names_it(need):
    for name in (datasets.PRO, *datasets.KGS.values()):
        need.data(name)
    need.package("keras")
    record = Recorder("s2_go", "smoke", seed=1)
    experiments.find("s2.moves").function()(record, **experiments.find("s2.moves").at("smoke"))
    assert named("moves") == set(record.claims) | set(record.curves)
    assert len(record.curves["s2.cnn.19x19.precision"][0]["x"]) == 5


# --- play -------------------------------------------------------------------------------------------------------------


def test_the_two_players_differ_in_eyes_and_passes_alone():
    assert play.PLAYERS["source"] == {"own_eyes": True, "passes": "after_opponent"}
    assert play.PLAYERS["repaired"] == {"own_eyes": False, "passes": "eyes_left"}


class Flat:
    """An evaluator that likes all points alike."""

    def evaluate(self, states, legal):
        chances = legal.astype(np.float32)
        chances[:, -1] = ~legal[:, :-1].any(axis=1)
        return chances / chances.sum(axis=1, keepdims=True), np.zeros(len(states), np.float32)


class Engine:
    """Stands for GNU Go: passes always, or fails at its second move."""

    name, fails = "engine", False
    one_game = True

    def __init__(self, *settings, **named):
        self.moves = 0

    def choose(self, position):
        self.moves += 1
        if self.fails and self.moves == 2:
            raise AzlabError("The engine did not answer within 120 s.")
        return position.game.action("pass")

    def close(self):
        pass


RULES = azlab.game("go", size=9, komi=0.0)


def test_a_game_has_its_moves_and_margin():
    one = play.one_game(PolicyAgent(Flat(), RULES, own_eyes=True, passes="after_opponent"), Engine(), RULES)
    assert one["moves"].split()[1:] == ["pass", "pass"] and one["margin"] == 81 and not one["failed"]
    assert play.as_row(3, one) == {"iteration": 3, "margin": 81, "plies": 3, "failed": False}


def test_an_engine_that_fails_costs_its_game_only(tmp_path, monkeypatch):
    class Failing(Engine):
        fails = True

    made = []

    def engine(level, timeout, seed):
        made.append(seed)
        return (Failing if len(made) == 2 else Engine)()

    class Learner:
        game = RULES

        def evaluator(self):
            return Flat()

    monkeypatch.setattr(play, "GnuGoAgent", engine)
    monkeypatch.setattr(play, "load_player", lambda file: (Learner(), None))
    folder = tmp_path / "work" / "play" / "arms" / "one" / "seed1" / "run"
    folder.mkdir(parents=True)
    config = {"net": "9x9_2", "size": 9, "level": 1, "games": 4, "sampled": 3, "own_eyes": True, "passes": "eyes_left"}
    rules = azlab.game("go", size=9, komi=0.0, max_moves=12)
    monkeypatch.setattr(play, "Go", lambda size, komi: rules)
    first = play.games(config, 1, folder)
    begun = [next(first) for _ in range(3)]
    assert [row["failed"] for row in begun] == [False, True, False] and begun[1]["margin"] is None
    del first  # killed: the rest is played by another process
    rows = list(play.games(config, 1, folder))
    assert rows[:3] == begun and [row["iteration"] for row in rows] == [1, 2, 3, 4]
    assert len(made) == len(set(made)) == 4  # each game has a seed of its own, and none was played twice
    found = play.summary(play.read_games(folder))
    assert (found["games"], found["failed"], found["distinct"]) == (4, 1, 3)
    (folder / play.GAMES).write_text(json.dumps({"games": []})[:-2], encoding="utf-8")
    with pytest.raises(AzlabError, match="played anew"):
        play.read_games(folder)


def test_wins_are_of_games_that_were_finished():
    own = [{"margin": margin, "moves": str(k), "failed": ""} for k, margin in enumerate((5.0, -3.0, -7.0, 0.0))]
    own.append({"margin": None, "moves": "", "failed": "it died"})
    record = Recorder("s2_go", "laptop")
    play.claims_of(record, 9, {"source": own, "repaired": own[:1]})
    assert record.claims["s2.play.9x9.wins"]["value"] == 0.25 and record.claims["s2.play.9x9.wins"]["runs"] == 4
    assert record.claims["s2.play.9x9.repaired"]["value"] == 1.0
    spreads = {}
    for different in (2, 40):  # however often they are played
        lost = [{"margin": -9.0, "moves": str(k % different), "failed": ""} for k in range(40)]
        play.claims_of(record, 9, {"source": lost, "repaired": []})
        spreads[different] = record.claims["s2.play.9x9.wins"]["spread"]
        assert f"{different} different games of 40" in record.claims["s2.play.9x9.wins"]["note"]
    assert spreads[2] > 1.3 * spreads[40] > 0.1
    assert play.summary(own)["margin quartiles"] == [-7.0, -4.0, -1.5, 1.25, 5.0]


def test_networks_are_lent_by_the_same_run(tmp_path):
    """The file of s2.moves is taken if its settings are the same; nothing is trained then."""
    config = moves.arms([9], [2], [], {9: 20}, SIZES)["9x9_2"]
    arm = tmp_path / "s2.moves" / "work" / "moves" / "arms" / "9x9_2"
    (arm / "seed100" / "run").mkdir(parents=True)
    (arm / "seed100" / "run" / moves.LAST).write_bytes(b"a network")
    (arm / "config.json").write_text(json.dumps(config), encoding="utf-8")
    record = Recorder("s2_go", "smoke", 1, tmp_path / "s2.play")
    play.lend_networks(record, {"9x9_2": dict(config)})
    assert (record.folder / "nets" / "9x9_2.safetensors").read_bytes() == b"a network"
    assert not (record.folder / "moves").exists()
    assert not play._same(arm / "config.json", config | {"steps": 5}) and not play._same(arm / "none.json", config)


@pytest.mark.slow
def test_the_games_at_smoke(need):
    need("gnugo")
    need.data(datasets.PRO)
    need.package("keras")
    record = Recorder("s2_go", "smoke", seed=1)
    experiments.find("s2.play").function()(record, **experiments.find("s2.play").at("smoke"))
    assert {"s2.play.9x9.wins", "s2.play.9x9.repaired"} == set(record.claims) <= named("play")
    found = record.kept["games"]
    assert set(found) == {"9x9_source_1", "9x9_repaired_1"} and all(own["failed"] == 0 for own in found.values())


# --- protocol ---------------------------------------------------------------------------------------------------------


def test_what_is_a_move():
    assert all(protocol.is_move(word, 9) for word in ("A1", "j9", "pass", "PASS"))
    assert not any(protocol.is_move(word, 9) for word in ("", "i5", "k5", "a0", "a10", "resign", "a", "5"))


@pytest.mark.slow
def test_every_command_of_the_source_is_answered():
    record = Recorder("s2_go", "smoke")
    experiments.find("s2.gtp").function()(record, **experiments.find("s2.gtp").at("smoke"))
    assert len(protocol.ASKED) == 12 and record.claims["s2.gtp.commands"]["value"] == 12


def test_an_engine_that_answers_wrongly_does_not_pass(monkeypatch):
    class Bad:
        def __init__(self, command, timeout):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def ask(self, text):
            if text.startswith("undo"):
                raise protocol.GtpError("cannot undo")
            return "" if text == "version" else "resign" if text.startswith("genmove") else "true"

    monkeypatch.setattr(protocol, "GtpEngine", Bad)
    found = protocol.answered("random", 9)
    assert {command for command, is_good in found.items() if is_good} == {"name", "known_command"}
