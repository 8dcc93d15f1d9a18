"""The exam of the player that ships for Connect 4, taken by very small players that are made here."""

import inspect
import itertools
import json

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.learning import shipped
from azlab.learning.alphazero import new_learner
from azlab.learning.config import preset
from azlab.learning.evaluation import graded_by_oracle
from azlab.repro import experiments
from azlab.repro.record import Recorder
from azlab_reproductions.s5_connect4 import exam as exams

SETTINGS = {
    "player": "az", "simulations": [3, 6], "hard": 30, "easy": 10, "games": 4, "players": [3], "plies": 14, "uct": 50,
}  # fmt: skip


@pytest.fixture
def az(tmp_path, monkeypatch):
    """A player with a tiny network, in a folder that stands for data/players."""
    config = preset("connect4").changed(exams.UNTRAINED)
    (tmp_path / "data" / "players").mkdir(parents=True)
    file = tmp_path / "data" / "players" / "connect4.safetensors"
    shipped.save_player(new_learner(config.rules(), config.net, config.loss, 3), config, file)
    monkeypatch.setattr(shipped, "data_folder", lambda: tmp_path / "data")
    return file


def take(folder, **changes):
    record = Recorder("s5_connect4", "smoke", 1, folder)
    experiment, settings = experiments.find("s5.exam"), SETTINGS | changes
    experiment.check(settings)
    experiment.function()(record, **settings)
    return record.kept


@pytest.mark.slow
def test_the_exam_of_the_shipped_player(az, tmp_path):
    kept = take(tmp_path / "run")
    assert kept["player"]["bytes"] == az.stat().st_size and kept["player"]["blocks"] == 1
    hard, easy = kept["exams"]["hard"], kept["exams"]["easy"]
    assert (hard["positions"], easy["positions"]) == (30, 10) and list(hard["best"]) == ["net", "3", "6"]
    wrong = kept["mistakes"]
    assert sum(wrong["positions"]) == 30
    for way, share in hard["best"].items():
        assert sum(wrong["not best"][way]) == round(30 * (1 - share))
        assert all(lost <= slow for lost, slow in zip(wrong["result given away"][way], wrong["not best"][way], strict=True))
    for seat in kept["against perfect"]["3"].values():
        assert seat["won"] + seat["drawn"] + seat["lost"] == 2 and len(seat["let go"]) == 2 - seat["won"]
        assert all(ply >= 14 for ply in seat["let go"]) and 0 <= seat["interval"][0] < seat["interval"][1] <= 1
    match = kept["against uct"]["3"]
    assert match["won"] + match["drawn"] + match["lost"] == 4
    json.dumps(kept)


@pytest.mark.slow
def test_what_was_found_is_not_searched_again_unless_the_player_is_another(az, tmp_path, monkeypatch):
    kept = take(tmp_path / "run")
    with monkeypatch.context() as patch:
        for name in ("search_moves", "match"):
            patch.setattr(exams, name, lambda *_, **__: pytest.fail("it was done before"))
        assert take(tmp_path / "run") == kept
    config = preset("connect4").changed(exams.UNTRAINED)
    shipped.save_player(new_learner(config.rules(), config.net, config.loss, 4), config, az)
    assert take(tmp_path / "run")["exams"] != kept["exams"]


def test_mistakes_are_those_that_the_solver_finds(tmp_path):
    """Every move in a few late positions, judged by all their scores instead of by the position after the move."""
    game, rng = azlab.game("connect4"), np.random.default_rng(0)
    states = game.new_states(12)
    while (states["ply"] < 26).any():
        before = states.copy()
        game.kernels.play(states, game.random_actions(states, rng))
        states[states["over"]] = before[states["over"]]
    states = states[: np.count_nonzero(~states["over"])]
    test = graded_by_oracle(game, states)
    legal = game.legal_mask(states)
    for action in range(7):
        rows = np.flatnonzero(legal[:, action])
        part = test.take(rows)
        found = exams._mistakes(Recorder("s5_connect4", "smoke", 0, tmp_path), part, {"net": np.full(len(rows), action)})
        assert sum(found["not best"]["net"]) == np.count_nonzero(~part.best[:, action])
        assert sum(found["result given away"]["net"]) == np.count_nonzero(~part.holding[:, action])
        assert dict(zip(found["ply"], found["positions"])) == {
            int(ply): len(list(group)) for ply, group in itertools.groupby(sorted(part.states["ply"]))
        }


def test_the_move_that_let_a_win_go():
    """Both have three stones on top of each other; the first player could win and plays elsewhere."""
    game = azlab.game("connect4")
    positions = list(itertools.accumulate("17171747", lambda position, move: position.play(move), initial=game.start()))
    assert positions[-1].result == -1
    assert exams._let_go(positions, 0, azlab.oracle(game)) == 6


def test_without_a_player_the_exam_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "data_folder", lambda: tmp_path)
    with pytest.raises(AzlabError, match=r"No trained player ships for azlab.game\('connect4'"):
        take(tmp_path / "run")


def test_profiles_examine_what_ships():
    one = experiments.find("s5.exam")
    assert {profile: one.at(profile)["player"] for profile in ("smoke", "laptop", "paper")} == {
        "smoke": "untrained", "laptop": "az", "paper": "az"
    }  # fmt: skip
    assert set(inspect.signature(one.function()).parameters) - {"record"} == set(one.at("laptop"))
