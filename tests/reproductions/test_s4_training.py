"""The trainings of S4 at toy settings: they record what they are named for, and go on after a kill."""

import json
import shutil

import numpy as np
import pytest

import azlab
from azlab.arena.results import Tally
from azlab.learning.config import preset
from azlab.learning.run_folder import RunFolder
from azlab.repro import claims, experiments
from azlab.repro.record import Recorder
from azlab_reproductions.s4_seega.boards import diagram
from azlab_reproductions.s4_seega.gates import GAMES, ratings, record_gates
from azlab_reproductions.s4_seega.matches import kept_match

SOURCE = "s4_seega"
NET = {"filters": 4, "dense": [8, 4], "simulations": 2, "epochs": 1.0, "batch": 64, "iterations": 2, "gate_games": 2}
TOY = {
    "moving": NET | {
        "positions": 40, "games": 4, "quiet_limit": 10, "versions": [1, 7], "opponents": ["random"], "match_games": 2,
        "timed_moves": 2,
    },
    "positioning": NET | {
        "games": 3, "gate_score": 0.55, "gate_beyond": "judged", "at_horizon": "sign", "whole_games": 2, "uct": 3, "uct_games": 2,
    },
}  # fmt: skip


def run(name, folder, **other):
    """Run an experiment at toy settings: the recorder with what it found."""
    record = Recorder(SOURCE, "smoke", 1, folder / f"s4.{name}")
    experiment = experiments.find(f"s4.{name}")
    experiment.check(TOY[name] | other)
    experiment.function()(record, **TOY[name] | other)
    return record


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Both experiments in one folder, as `azlab reproduce s4` runs them; the second finds the network of the first."""
    folder = tmp_path_factory.mktemp("s4")
    with pytest.MonkeyPatch.context() as patch:  # to the end of this file
        patch.setattr(experiments.find("s4.moving").__class__, "at", lambda one, profile: TOY[one.name])
        yield run("moving", folder), run("positioning", folder), folder


def recorded(record):
    return {*record.claims, *record.curves}


def claimed(name):
    return {one.id for one in claims.load(SOURCE).claims if one.experiment == name and not one.unchecked}


@pytest.mark.slow
def test_the_experiments_record_their_claims_and_the_data_of_their_figures(both):
    moving, positioning, _ = both
    assert recorded(moving) == claimed("moving") | {"s4.moving.samples"}
    assert recorded(positioning) == claimed("positioning")
    assert set(moving.kept) == {"iterations", "parameters", "test board", "times", "matches"}
    assert set(positioning.kept) == {"iterations", "parameters", "whole games"}
    assert positioning.claims["s4.positioning.samples"]["value"] == 72  # of 3 games
    assert positioning.kept["iterations"]["game_length"] == [24, 24]
    assert [row["opponent"] for row in positioning.kept["whole games"]] == ["random", "uct:3"]
    assert [row["version"] for row in moving.kept["matches"]] == [1, 2]  # there is no seventh
    for row in (*moving.kept["matches"], *positioning.kept["whole games"]):
        assert row["low"] <= row["score"] <= row["high"] and row["games"] == 2


@pytest.mark.slow
def test_the_second_experiment_takes_the_network_of_the_first_or_trains_the_same(both, tmp_path):
    _, positioning, folder = both
    assert not (folder / "s4.positioning" / "work" / "moving").exists()
    alone = run("positioning", tmp_path)
    assert (tmp_path / "s4.positioning" / "work" / "moving" / "metrics.jsonl").is_file()
    assert (alone.claims, alone.curves) == (positioning.claims, positioning.curves)
    for record in (alone, positioning):
        record.kept["iterations"].pop("cpu_seconds", None)
    assert alone.kept == positioning.kept


@pytest.mark.slow
def test_killed_experiments_go_on_with_trainings_and_matches(both, tmp_path):
    moving, positioning, folder = both
    again = shutil.copytree(folder, tmp_path / "moved")  # to another place, too
    for name, match in (("moving", "version2-random.json"), ("positioning", "placing-uct_3.json")):
        (again / f"s4.{name}" / "work" / match).unlink()
    for name, whole in (("moving", moving), ("positioning", positioning)):
        record = run(name, again)
        assert {**record.claims, "s4.agent.time": 0} == {**whole.claims, "s4.agent.time": 0} and record.curves == whole.curves
        assert {**record.kept, "times": 0, "iterations": 0} == {**whole.kept, "times": 0, "iterations": 0}
        metrics = [one / f"s4.{name}" / "work" / "run" / "metrics.jsonl" for one in (folder, again)]
        assert metrics[0].read_bytes() == metrics[1].read_bytes()  # nothing was trained anew


@pytest.mark.slow
def test_the_switches_of_the_gate_and_of_self_play_reach_the_training(both, tmp_path):
    run("positioning", tmp_path, gate_beyond="played", at_horizon="value", gate_score=0.6)
    config = RunFolder(tmp_path / "s4.positioning" / "work" / "run").config()
    assert (config.gate.beyond, config.selfplay.at_horizon, config.gate.score) == ("played", "value", 0.6)


@pytest.mark.parametrize("profile", ["smoke", "laptop", "paper"])
@pytest.mark.parametrize("name", ["moving", "positioning"])
def test_every_profile_fits_its_experiment(name, profile):
    experiment = experiments.find(f"s4.{name}")
    experiment.check(experiment.settings[profile])


def test_the_presets_are_those_of_the_source():
    moving, placing = preset("s4_moving"), preset("s4_positioning")
    for config in (moving, placing):
        assert (config.budget.simulations, config.search.cpuct, config.explore.noise) == (25, 1.0, 0.0)
        assert (config.training.batch, config.training.passes, config.loss.symmetries) == (64, ((1, 10.0),), False)
        assert config.gate.games == GAMES and config.gate.first == "untrained"
        assert config.options == {"chain": "mandatory", "quiet_limit": 300}
    assert round(0.6 * GAMES) == 42 and 41 / GAMES < moving.gate.score <= 42 / GAMES
    assert 38 / GAMES < placing.gate.score <= 39 / GAMES  # what appendix A shows
    assert moving.explore.temperature == ((0, 1.0), (24 + 15, 0.0)) and placing.explore.temperature == ((0, 1.0), (15, 0.0))
    paper = {name: experiments.find(f"s4.{name}").settings["paper"] for name in ("moving", "positioning")}
    assert paper["moving"]["positions"] == moving.selfplay.positions == round(1_639_451 / 15)
    assert paper["positioning"]["iterations"] == placing.iterations == 111


def test_on_the_test_board_the_captures_of_the_text_happen():
    """Section 5.2: D3 steps up and takes C2, back down D2 and D4, and down E2; B4 takes A3 (figures 5.2 and 5.4)."""
    position = azlab.game("seega", chain="mandatory").from_diagram(diagram())
    assert position.play("B4-up").state["stones"][0].tolist() == [11, 10]
    for move, white in (("D3-up", 10), ("C3-down", 8), ("D3-down", 7)):
        position = position.play(move)
        assert position.state["stones"][0].tolist() == [11, white]


# --- what gates say ---------------------------------------------------------------------------------------------------


def gate(iteration, against, result, accepted, elo):
    row = dict.fromkeys(("examples", "games", "game_length", "first_wins", "loss", "policy_loss", "value_loss", "diversity"), 1)
    names = dict(zip(("gate_wins", "gate_draws", "gate_losses"), result, strict=True))
    return row | names | {
        "iteration": iteration, "gate_against": against, "accepted": accepted, "gate_elo": elo, "cpu_seconds": 1.0,
    }  # fmt: skip


def test_wins_are_brought_to_seventy_games_and_elo_is_counted_as_in_the_source():
    rows = [gate(1, 0, (6, 0, 4), True, 70.0), gate(2, 1, (0, 0, 10), False, -400.0)]
    record = Recorder(SOURCE, "smoke", 1)
    assert record_gates(record, "moving", rows) == [42, 0]
    assert record.claims["s4.moving.accepted"]["value"] == 1 and record.claims["s4.moving.mean_wins"]["value"] == 21
    assert record.curves["s4.moving.elo"][0]["y"] == [570, 100]
    wins, expected = [500.0, 500.0], []
    for score in (1, 0, 1, 0, 1, 1, 0, 1, 0, 1):  # six wins and four losses, evenly mixed
        change = 16 * (score - 1 / (1 + 10 ** ((wins[1] - wins[0]) / 400)))
        wins = [wins[0] + change, wins[1] - change]
    expected.append(wins[0])
    wins = [500.0, wins[0]]
    for _ in range(10):
        change = 16 * (0 - 1 / (1 + 10 ** ((wins[1] - wins[0]) / 400)))
        wins = [wins[0] + change, wins[1] - change]
    assert ratings(rows) == pytest.approx([*expected, wins[0]])


def test_a_match_in_parts_goes_on_after_a_kill_and_says_how_sure_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("azlab_reproductions.s4_seega.matches.PART", 4)
    game = azlab.game("seega", size=3)
    told = []

    def play(file, fact=None):
        players = lambda seed: (azlab.agent("uct:20", seed), azlab.agent("random", seed + 1))  # noqa: E731
        return kept_match(file, players, 10, game, 8, 3, lambda *now: told.append(now), fact)

    whole = play(tmp_path / "whole.json", lambda record: record.result == 1)
    assert told[-1] == (10, 10) and whole["games"] == 10 and 0 <= whole["fact"] <= 1
    parts = json.loads((tmp_path / "whole.json").read_text())
    assert [part["games"] for part in parts] == [4, 4, 2]
    seats = [Tally(*map(int, whole[seat].split("-"))) for seat in ("first", "second")]
    assert np.array(seats).sum(axis=0).tolist() == [int(part) for part in whole["result"].split("-")]
    (tmp_path / "half.json").write_text(json.dumps(parts[:1]))
    assert play(tmp_path / "half.json", lambda record: record.result == 1) == whole
    assert json.loads((tmp_path / "half.json").read_text()) == parts
