"""The experiments of S1: each records its claims and the data of its figures, and goes on after a kill with the same numbers."""

import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import azlab
from azlab.learning.generations import ValueGenerations
from azlab.learning.run_files import RunFiles
from azlab.repro import experiments
from azlab.repro.record import Recorder
from azlab_reproductions.s1_value_generations import experiment

pytestmark = pytest.mark.slow

SOURCE = "s1_value_generations"
TINY = {
    "tictactoe": {"games": [60, 60, 60], "epochs": 1},
    "simple_go": {
        "games": [4, 4, 4, 4, 4], "epochs": 1, "symmetries": "one", "batch": 64, "elo_games": 2, "lookahead_games": [2, 2]
    },
}  # fmt: skip
DATA = {
    "tictactoe": {"losses", "generations", "exam", "worth", "mistakes", "worst mistakes", "lines lost by plies"},
    "simple_go": {
        "losses", "generations", "worth of first moves", "matches", "ratings", "rating steps", "first seat", "draw rate",
        "look-ahead",
    },
}  # fmt: skip
PLAYERS = {
    "tictactoe": ["untrained", *(f"generation {number}" for number in (1, 2, 3))],
    "simple_go": [f"generation {number}" for number in (1, 2, 3, 4, 5)],
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Runs an experiment at tiny settings, once; gives its folder and its recorder."""

    @functools.cache
    def run(name):
        folder = tmp_path_factory.mktemp(name)
        record = Recorder(SOURCE, "smoke", 3, folder)
        getattr(experiment, name)(record, **TINY[name])
        return folder, record

    return run


@pytest.mark.parametrize("name", TINY)
def test_every_claim_is_recorded_and_every_figure_has_its_data(ran, name):
    folder, record = ran(name)
    assert set(record.claims) == {claim.id for claim in record.source.claims if claim.experiment == name}
    assert set(record.kept) == DATA[name]
    assert json.loads((folder / "metrics.json").read_text())["data"] == record.kept
    generations = record.kept["generations"]
    assert len(record.kept["losses"]) == sum(one["epochs"] for one in generations)
    assert [one["games"] for one in generations] == TINY[name]["games"]
    assert all(one["positions"] > 0 and set(one["seconds"]) == {"playing", "training"} for one in generations)


def test_settings_of_all_profiles_fit():
    known = experiments.load(SOURCE)
    assert [one.name for one in known] == list(TINY)
    for one in known:
        for settings in (*one.settings.values(), TINY[one.name]):
            one.check(settings)
        assert set(one.work) == set(one.settings) == {"smoke", "probe", "laptop", "paper"}


def test_what_tic_tac_toe_keeps_fits_together(ran):
    folder, record = ran("tictactoe")
    kept, game = record.kept, azlab.game("tictactoe")
    for what in ("exam", "worth", "mistakes", "lines lost by plies"):
        assert list(kept[what]) == PLAYERS["tictactoe"]
    for player, seats in kept["exam"].items():
        assert [sum(seats[colour]["lines"]) for colour in ("black", "white")] == [384, 945]
        assert kept["lines lost by plies"][player][0] == sum(seats[colour]["lines"][2] for colour in ("black", "white"))
        assert set(kept["worth"][player]) == set(game.from_moves(experiment.WATCHED).legal_moves)
    last = kept["exam"]["generation 3"]["white"]
    assert record.claims["s1.tictactoe.white.losses"]["value"] == last["lines"][2] / 945
    assert record.claims["s1.tictactoe.games.white"]["value"]["wins"] == last["games"][0] / sum(last["games"])
    net = ValueGenerations(game, experiment.FILTERS["tictactoe"], seed=3).of_generation(3, folder / "work" / "tictactoe")
    position = game.from_moves(experiment.WATCHED)
    worth = {move: float(net.worth(position.play(move).state)[0]) for move in position.legal_moves}
    assert kept["worth"]["generation 3"] == pytest.approx(worth, abs=1e-3)
    check_mistakes(kept["worst mistakes"], net)


def check_mistakes(shown, net):
    """Each is a position in which the network's move gives something away and the others named do not."""
    perfect = azlab.oracle("tictactoe")
    assert len(shown) == experiment.SHOWN
    for one in shown:
        position = net.game.from_moves(one["moves"])
        lost = {move: perfect.given_away(position.state, np.array([net.game.action(move)]))[0] for move in position.legal_moves}
        assert net.game.move_name(int(net.choose_actions(position.state)[0])) == one["played"] and lost[one["played"]] > 0
        assert sorted(one["better"]) == sorted(move for move in lost if lost[move] == 0)


def test_what_simple_go_keeps_fits_together(ran):
    _, record = ran("simple_go")
    kept, names = record.kept, PLAYERS["simple_go"]
    for what in ("worth of first moves", "matches", "ratings"):
        assert list(kept[what]) == names
    assert all(len(worth) == 25 for worth in kept["worth of first moves"].values())
    for one, against in kept["matches"].items():
        for other, count in against.items():
            assert sum(count) == 2 and kept["matches"][other][one] == count[::-1]
    assert list(kept["rating steps"]) == names[1:] and kept["ratings"]["generation 1"]["value"] == 0
    assert all(one["low"] <= one["value"] <= one["high"] for one in (*kept["ratings"].values(), *kept["rating steps"].values()))
    assert [sum(one["counts"]) for one in kept["look-ahead"].values()] == [2, 2]
    scores = np.array(record.claims["s1.go.round_robin"]["value"]).reshape(5, 5)
    points = record.claims["s1.go.points"]["value"]
    assert sum(points) == 20 and points[0] == sum((1 + scores[0, 1:]) / 2) + sum((1 - scores[1:, 0]) / 2)


KILLED = """
import os, signal, sys
from pathlib import Path
from azlab.repro.record import Recorder
from azlab_reproductions.s1_value_generations import experiment
from azlab.learning.generations import ValueGenerations

keep = ValueGenerations._keep

def keep_and_die(self, run):
    keep(self, run)
    if self.generation == 2:
        os.kill(os.getpid(), signal.SIGKILL)

ValueGenerations._keep = keep_and_die
getattr(experiment, sys.argv[1])(Recorder("s1_value_generations", "smoke", 3, Path(sys.argv[2])), **eval(sys.argv[3]))
"""


def without_times(record):
    """Claims and data but for seconds, which differ from try to try."""
    kept = record.kept | {"generations": [one | {"seconds": None} for one in record.kept["generations"]]}
    claims = {claim: {key: part for key, part in entry.items() if key != "note"} for claim, entry in record.claims.items()}
    return claims, kept


@pytest.mark.parametrize("name", TINY)
def test_a_killed_experiment_goes_on_with_the_same_numbers(ran, name, tmp_path):
    command = [sys.executable, "-c", "import azlab.repro\n" + KILLED, name, str(tmp_path), repr(TINY[name])]
    environment = {**os.environ, "PYTHONPATH": str(Path(azlab.__file__).parents[1])}
    assert subprocess.run(command, env=environment, capture_output=True).returncode == -signal.SIGKILL
    assert RunFiles(tmp_path / "work" / name).iteration() == 2
    record = Recorder(SOURCE, "smoke", 3, tmp_path)
    getattr(experiment, name)(record, **TINY[name])
    assert without_times(record) == without_times(ran(name)[1])
