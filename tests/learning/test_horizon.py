"""Trainings that begin in the midst of a game, gates against the untrained network, and games that end at a horizon."""

import dataclasses
import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import azlab
from azlab.arena.phases import PhaseAgent
from azlab.arena.results import Tally
from azlab.errors import AzlabError
from azlab.learning.alphazero import AlphaZero
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.horizon import chances, judged_match
from azlab.learning.player import TrainedAgent
from azlab.learning.selfplay import SelfPlay, SelfPlayConfig, Worker
from azlab.nets.weights import read_safetensors
from azlab.search.config import Budget, Explore, Search
from azlab.search.evaluators import PhaseEvaluator

SEEGA = azlab.game("seega", size=3)  # eight stones are placed, then they move
PLAY = Budget(6), Explore(temperature=((0, 1.0),))


class Says:
    """An evaluator whose value of a full board for seat 0 grows with what stands in its first row; 0.1 elsewhere."""

    game = SEEGA

    def evaluate(self, states, legal):
        row = np.where(states["board"][:, 0] == 0, 1, -1).sum(axis=1) / 4  # -0.75, -0.25, 0.25 or 0.75
        values = np.where(states["placing"], 0.1, row).astype(np.float32)
        draws = np.full(len(states), 0.125, np.float32)
        return (legal / legal.sum(axis=1, keepdims=True)).astype(np.float32), values, draws


@pytest.fixture(scope="session")
def moving(tmp_path_factory):
    """The config of a tiny training of the moving phase, and the folder where it was done."""
    config = AlphaZeroConfig.from_toml(MOVING)
    folder = tmp_path_factory.mktemp("moving") / "run"
    AlphaZero.from_config(config, folder).train()
    return config, folder


MOVING = """
game = "seega"
iterations = 2
[options]
size = 3
chain = "mandatory"
[net]
blocks = 1
filters = 4
stem = 4
head = 2
[search]
cpuct_base = 0.0
[explore]
temperature = [[0, 1.0]]
[budget]
simulations = 4
[selfplay]
games = 4
workers = 1
positions = 30
random_plies = 8
random_least = 8
[training]
batch = 16
[gate]
score = 0.55
games = 6
openings = 8
first = "untrained"
[evaluation]
simulations = 4
games = 2
openings = 8
opponents = ["random"]
"""
PLACING = {
    "search.horizon": True, "test_search.horizon": True, "selfplay.random_plies": 0, "selfplay.random_least": 0,
    "gate.openings": 2, "evaluation.openings": 2, "seed": 5, "iterations": 3,
}  # fmt: skip


def placing(moving, **settings):
    """The config of a tiny training of the placing phase, judged by `moving`."""
    config, folder = moving
    own = {name.replace("__", "."): value for name, value in settings.items()}
    return config.changed(PLACING | {"begin.judge": str(folder)} | own)


def found(row):
    """What the gate found in an iteration."""
    return Tally(row["gate_wins"], row["gate_draws"], row["gate_losses"])


def nets(folder, *iterations):
    """The numbers of a run's networks; their order in the files is left to chance."""
    return [numbers(folder / "nets" / f"{iteration:05}.safetensors") for iteration in iterations]


def numbers(file):
    return {name: tensor.numpy().tobytes() for name, tensor in read_safetensors(file)[1].items()}


# --- openings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "most", "plies"), [(8, 8, {8}), (3, 5, {3, 4, 5}), (0, 2, {0, 1, 2})])
def test_games_open_with_at_least_so_many_random_moves(least, most, plies):
    config = SelfPlayConfig(games=60, workers=1, random_plies=most, random_least=least)
    worker = Worker(SEEGA, 60, Says(), Search(), *PLAY, config)
    worker._open(np.arange(60), np.random.default_rng(0))
    assert set(worker.states["ply"].tolist()) == plies


def test_only_what_follows_the_opening_is_learnt(moving):
    run = AlphaZero.from_config(None, moving[1])
    for iteration in (1, 2):
        states = run.folder.load_games(iteration, run.game).states
        assert not states["placing"].any() and states["ply"].min() == 8


def test_gate_and_evaluation_play_openings_of_the_length_asked_for(moving, tmp_path, monkeypatch):
    asked = []
    for module in ("parts", "alphazero"):
        plain = importlib.import_module(f"azlab.learning.{module}").match

        def watched(*arguments, plain=plain, module=module):
            played = plain(*arguments)
            asked.append((module, {record.opening for record in played.records}))
            return played

        monkeypatch.setattr(f"azlab.learning.{module}.match", watched)
    config = moving[0].changed({"iterations": 1, "gate.openings": 5, "evaluation.openings": 7})
    AlphaZero.from_config(config, tmp_path / "set").train()
    AlphaZero.from_config(config.changed({"gate.openings": -1, "evaluation.openings": -1}), tmp_path / "open").train()
    assert asked == [("parts", {5}), ("alphazero", {7}), ("parts", {2}), ("alphazero", {2})]


# --- the first gate ---------------------------------------------------------------------------------------------------


def test_the_first_network_meets_the_untrained_one_or_nobody(moving, tmp_path):
    closed = moving[0].changed({"gate.score": 1.0, "gate.games": 12, "iterations": 2})
    rows = AlphaZero.from_config(closed, tmp_path / "untrained").train()
    assert [(row["gate_against"], row["accepted"]) for row in rows] == [(0, False), (0, False)]
    assert all(found(row).games == 12 for row in rows)
    first, *others = nets(tmp_path / "untrained", 0, 1, 2)
    assert others == [first, first]  # a network that did not win went back to the untrained one
    rows = AlphaZero.from_config(closed.changed({"gate.first": "accepted"}), tmp_path / "nobody").train()
    assert rows[0]["accepted"] and rows[0]["gate_score"] is None and rows[1]["gate_against"] == 1
    assert nets(tmp_path / "nobody", 1) != [first]


def test_what_the_gate_found_is_in_the_metrics_with_elo(moving, tmp_path):
    """The untrained network stands at 0, and every other one by its score above the one that it met."""
    rows = AlphaZero.from_config(moving[0].changed({"gate.score": 0.4, "gate.games": 20, "iterations": 4}), tmp_path).train()
    ratings, best = {0: 0.0}, 0
    for row in rows:
        result = found(row)
        assert result.games == 20 and row["gate_score"] == result.score and row["accepted"] == (result.score >= 0.4)
        assert row["gate_against"] == best
        share = min(max(result.score, 0.025), 0.975)
        ratings[row["iteration"]] = ratings[best] + 400 * np.log10(share / (1 - share))
        assert row["gate_elo"] == pytest.approx(ratings[row["iteration"]])
        best = row["iteration"] if row["accepted"] else best
    again = AlphaZero.from_config(None, tmp_path)
    again.resume()
    assert again.metrics == rows


# --- self-play that ends at the horizon -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sign", "value"])
def test_games_end_at_the_horizon_and_count_what_the_judge_says(kind):
    config = SelfPlayConfig(games=5, workers=1, positions=80, at_horizon=kind)
    play = SelfPlay(SEEGA, [Says()], Search(horizon=True), *PLAY, config)
    played = play.play(80, [1])
    assert played.examples.states["placing"].all() and played.lengths == 8 * played.games == played.examples.size
    assert sum(played.wins) == played.games and played.wins[0] and played.wins[2] and not played.wins[1]
    for game in np.split(np.arange(played.examples.size), played.games):
        moves = played.examples.take(game)
        last = moves.states[-1:].copy()
        SEEGA.kernels.play(last, np.flatnonzero(SEEGA.legal_mask(last)[0]))  # a single cell is left
        value = float(np.where(last["board"][0, 0] == 0, 1, -1).sum() / 4)
        sign = np.where(moves.states["to_move"] == 0, 1, -1)
        np.testing.assert_allclose(moves.values, sign * (np.sign(value) if kind == "sign" else value), atol=1e-6)
        np.testing.assert_allclose(moves.result[:, 0], 0 if kind == "sign" else 0.125, atol=1e-6)


def test_without_a_horizon_the_same_games_go_on():
    played = SelfPlay(SEEGA, [Says()], Search(), *PLAY, SelfPlayConfig(games=5, workers=1)).play(80, [1])
    assert not played.examples.states["placing"].all()


def test_random_openings_stop_before_the_horizon():
    config = SelfPlayConfig(games=20, workers=1, random_plies=20, random_least=20)
    worker = Worker(SEEGA, 20, Says(), Search(horizon=True), *PLAY, config)
    worker._open(np.arange(20), np.random.default_rng(0))
    assert (worker.states["ply"] == 7).all() and worker.states["placing"].all()


def test_chances():
    values, draws = np.array([0.5, -0.5, 0.0, 0.9], np.float32), np.array([0.2, 0.0, 0.5, 0.4], np.float32)
    assert chances(values, draws, "sign").tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
    found = chances(values, draws, "value")
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found[:, 1] - found[:, 2], values)
    np.testing.assert_allclose(found[:, 0], [0.2, 0, 0.5, 0.1], atol=1e-6)  # of 0.4 only 0.1 can be


# --- the gate at the horizon ------------------------------------------------------------------------------------------


class Row:
    """Places stones in the first row, or anywhere else, as long as it can."""

    def __init__(self, is_first, name):
        self.is_first, self.name = is_first, name

    def choose(self, position):
        assert position.state["placing"][0]
        order = sorted(position.legal_actions, key=lambda action: (action - 36 >= 3) == self.is_first)
        return order[0]


def test_a_judged_match_ends_at_the_horizon_and_swaps_seats(moving):
    gate = dataclasses.replace(moving[0].gate, openings=0, games=6)
    told = []
    result = judged_match(Row(True, "row"), Row(False, "rest"), SEEGA, gate, Says(), 0, lambda *now: told.append(now))
    assert result == Tally(6, 0, 0) and told[-1] == (6, 6)
    assert judged_match(Row(False, "rest"), Row(True, "row"), SEEGA, gate, Says(), 0, lambda *_: None) == Tally(0, 0, 6)
    with pytest.raises(AzlabError, match="lead beyond the horizon.*set gate.openings lower"):
        judged_match(Row(True, "row"), Row(False, "rest"), SEEGA, dataclasses.replace(gate, openings=8), Says(), 0, print)


@pytest.mark.parametrize("beyond", ["judged", "played"])
def test_the_gate_is_judged_at_the_horizon_or_played_to_the_end(moving, tmp_path, beyond, monkeypatch):
    whole = []
    plain = importlib.import_module("azlab.learning.parts").match
    monkeypatch.setattr("azlab.learning.parts.match", lambda *args: whole.append(plain(*args)) or whole[-1])
    run = AlphaZero.from_config(placing(moving, gate__beyond=beyond, iterations=1), tmp_path)
    rows = run.train()
    assert found(rows[0]).games == 6 and rows[0]["gate_against"] == 0
    assert len(whole) == (beyond == "played")
    for played in whole:
        assert all(record.positions[-1].over for record in played.records)


# --- whole runs -------------------------------------------------------------------------------------------------------


def test_a_run_with_a_horizon_learns_the_first_phase_and_plays_both(moving, tmp_path):
    run = AlphaZero.from_config(placing(moving), tmp_path / "run")
    rows = run.train()
    assert all(row["game_length"] == 8 and row["examples"] == 8 * row["games"] and "score random" in row for row in rows)
    assert all(run.folder.load_games(iteration, run.game).states["placing"].all() for iteration in (1, 2, 3))
    player = azlab.agent(f"az:{tmp_path / 'run'}")
    assert isinstance(player, PhaseAgent) and isinstance(player.before, TrainedAgent)
    position = run.game.start()
    while not position.over:
        position = position.play(player.choose(position))
    with pytest.raises(AzlabError, match="beyond the horizon"):
        TrainedAgent(tmp_path / "run").choose(run.game.from_moves("A1 A2 A3 B1 B3 C1 C2 C3"))


def test_a_run_keeps_its_judge(moving, tmp_path):
    config, folder = moving[0], tmp_path / "judge"
    shutil.copytree(moving[1], folder)
    begun = placing((config, folder), iterations=1)
    before = AlphaZero.from_config(begun, tmp_path / "run").train()
    shutil.rmtree(folder)
    run = AlphaZero.from_config(begun.changed({"iterations": 2}), tmp_path / "run")
    assert run.train()[:1] == before and run.iteration == 2
    states = run.game.new_states(1)
    while states["placing"][0]:
        run.game.kernels.play(states, run.game.random_actions(states, np.random.default_rng(0)))
    legal, first = run.game.legal_mask(states), AlphaZero.from_config(None, moving[1])
    first.resume()
    assert isinstance(run.evaluators[0], PhaseEvaluator)
    assert run.evaluators[0].evaluate(states, legal)[1] == first.evaluators[0].evaluate(states, legal)[1]


def test_a_player_file_judges_too(moving, tmp_path):
    from azlab.learning.alphazero import trained_learner
    from azlab.learning.run_folder import RunFolder
    from azlab.learning.shipped import save_player

    file = tmp_path / "moving.safetensors"
    save_player(trained_learner(RunFolder(moving[1]), moving[0], 2), moving[0], file)
    run = AlphaZero.from_config(placing((moving[0], file), iterations=1), tmp_path / "run")
    assert run.train()[0]["game_length"] == 8
    with pytest.raises(AzlabError, match="needs its judge too"):
        save_player(run.learner, run.config, tmp_path / "placing.safetensors")


def train_and_kill(folder, config, moments):
    """[[moment, exit code or minus signal, iterations finished]] of processes killed at `moments` (see killing.py)."""
    file, script = folder.with_suffix(".toml"), Path(__file__).with_name("killing.py")
    file.write_text(config.to_toml())
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(file)], input=json.dumps(moments), capture_output=True, text=True,
        timeout=900, env=os.environ | {"PYTHONPATH": os.pathsep.join([str(script.parents[2]), os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def kept(folder):
    """All that a run comes to but the times it took."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    facts = [
        {name: row[name] for name in row if "seconds" not in name and name not in ("network_share", "sha256")} for row in rows
    ]
    return facts, nets(folder, 0, 1, 2, 3), numbers(folder / "judge" / "net.safetensors")


@pytest.mark.slow
def test_a_run_with_a_horizon_killed_anywhere_equals_one_that_never_was(moving, tmp_path):
    config = placing(moving, selfplay__positions=20, selfplay__games=3)
    train_and_kill(tmp_path / "whole", config, [["never"]])
    writes = [["before write", n] for n in range(1, 12)]  # the copy of the judge, the first weights, an iteration
    phases = [["progress", what, 1] for what in ("playing", "training", "gate", "playing random", "iteration")]
    ended = train_and_kill(tmp_path / "killed", config, [*writes, *phases, ["after write", 9], ["never"]])
    assert ended[-1][1:] == [0, 3] and sum(code == -9 for _, code, _ in ended) > 10
    assert kept(tmp_path / "whole") == kept(tmp_path / "killed")


def test_a_gate_that_was_handed_in_gets_players_of_whole_games(moving, tmp_path):
    from azlab.learning.parts import Parts

    met = []

    def gate(new, old, game, config, seed, progress):
        met.extend([new, old])
        return 0.5

    rows = AlphaZero.from_config(placing(moving, iterations=1), tmp_path, parts=Parts(gate=gate)).train()
    assert all(isinstance(player, PhaseAgent) for player in met) and rows[0]["gate_score"] == 0.5
    assert "gate_elo" not in rows[0] and not rows[0]["accepted"]


# --- what cannot be ---------------------------------------------------------------------------------------------------

HORIZON = {"search.horizon": True, "test_search.horizon": True, "begin.judge": "runs/moving"}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"selfplay.random_least": 3}, "random_least is 3, more than random_plies, 0"),
        ({"selfplay.at_horizon": "no"}, "at_horizon must be one of"),
        ({"gate.first": "untrained"}, "only where there is a gate: set gate.score"),
        ({"gate.first": "nobody"}, "gate.first must be one of"),
        ({"gate.beyond": "guessed"}, "gate.beyond must be one of"),
        ({"gate.openings": -2}, "openings"),
        ({"evaluation.openings": -2}, "openings"),
        ({"search.horizon": True}, "set `horizon` in .search. and .test_search. alike"),
        ({"search.horizon": True, "test_search.horizon": True}, "needs a network that judges"),
        ({"begin.judge": "runs/moving"}, "needs a network that judges"),
        ({**HORIZON, "evaluation.positions": "random"}, "Graded positions may lie beyond the horizon"),
    ],
)
def test_settings_that_do_not_fit_get_a_sentence(settings, says):
    with pytest.raises(AzlabError, match=says):
        AlphaZeroConfig().changed(settings)


def test_judges_that_cannot_judge_get_a_sentence(moving, tiny, tmp_path):
    def begin(config):
        AlphaZero.from_config(config, tmp_path / "run")

    with pytest.raises(AzlabError, match="tictactoe has one phase"):
        begin(tiny(search__horizon=True, test_search__horizon=True, begin__judge=str(moving[1])))
    with pytest.raises(AzlabError, match="neither a run nor a player's file .*nothing that could judge"):
        begin(placing((moving[0], tmp_path / "nothing")))
    with pytest.raises(AzlabError, match="was trained for .*mandatory.*not for .*optional"):
        begin(placing(moving, options__chain="optional"))
    AlphaZero.from_config(placing(moving, iterations=1), tmp_path / "placing").train()
    with pytest.raises(AzlabError, match="does not tell who wins"):
        begin(placing((moving[0], tmp_path / "placing")))
    assert not (tmp_path / "run").exists()
