"""Value networks by generations: what the network sees, how games are played, and that it learns tic-tac-toe."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import azlab
from azlab.learning import generations as module
from azlab.learning.generations import ValueAgent, ValueGenerations
from azlab_reproductions.s1_value_generations.exam import against_every_line

GAME = azlab.game("tictactoe")


def test_the_network_sees_afterstates_as_source_s1_describes():
    net = ValueGenerations(GAME, seed=1)
    planes = net.planes(GAME.from_moves("a1 b2").state)[0]  # X to move again
    assert planes.shape == (3, 3, 3)
    assert planes[2, 0].tolist() == [1, 0, 1] and planes[1, 1].tolist() == [0, 1, 1] and planes[0, 0].tolist() == [0, 0, 1]
    assert net.planes(GAME.from_moves("a1").state)[0, 2, 0].tolist() == [0, 1, 0]  # O to move: the stone is the other's
    go = azlab.game("simple_go")
    assert np.array_equal(ValueGenerations(go).planes(go.start().state), go.encode(go.start().state).transpose(0, 2, 3, 1))


def test_black_takes_the_afterstate_black_likes_and_white_the_opposite():
    net = ValueGenerations(GAME, seed=1)
    for moves in ("", "a1", "a1 b2 c3"):
        position = GAME.from_moves(moves)
        worth = {}
        for action in position.legal_actions:
            _, black, white = net.chances(position.play(action).state)[0]
            worth[action] = black - white
        pick = max if position.to_move == 0 else min
        assert worth[net.choose_actions(position.state)[0]] == pytest.approx(pick(worth.values()), abs=1e-6)


def test_games_of_the_first_generation_are_random_and_complete():
    net = ValueGenerations(GAME, seed=1)
    states, results = net.play_games(4000)
    finished = states["over"]
    assert finished.sum() == 4000 and np.array_equal(states["result"][finished], results[finished])
    shares = [(results[finished] == result).mean() for result in (1, -1, 0)]
    assert shares == pytest.approx([0.585, 0.288, 0.127], abs=0.03)  # exact: 58.49%, 28.81%, 12.70%


def test_later_generations_mix_their_own_moves_with_random_ones():
    net = ValueGenerations(GAME, seed=1)
    states, _ = net.play_games(300, at_random=False)
    first = states[states["ply"] == 1]
    greedy = GAME.from_moves([int(net.choose_actions(GAME.new_states(1))[0])])
    same = sum(state.tobytes() == greedy.state.tobytes() for state in first)
    assert 60 < same < 280  # neither all greedy nor all random


@pytest.mark.learns
def test_three_small_generations_learn_tic_tac_toe():
    """A twentieth of S1's games and less work for each: few lines are lost, where the untrained network loses half of them.

    Three seeds, with SSE and AVX: 7 to 16% of the lines lost before, 0.92 to 0.95 against random moves (untrained 0.45 to 0.52),
    and a loss of 0.63 to 0.70 times the first epoch's.
    """
    net = ValueGenerations(GAME, seed=3)

    def lost():
        return sum(against_every_line(GAME, net.choose_actions, seat)["lines"][2] for seat in (0, 1))

    before = lost()
    for _ in range(3):
        net.next_generation(1500, epochs=5, symmetries="one", batch=128)
    assert lost() < 0.5 * before and net.losses[-1] < 0.85 * net.losses[0]
    assert azlab.arena.match(ValueAgent(net), "random", 400, GAME, openings=0, seed=1).score > 0.75


@pytest.mark.learns
def test_boards_merged_in_a_batch_give_the_gradient_of_the_plain_batch(monkeypatch):
    states, results = ValueGenerations(GAME, seed=1).play_games(800)
    states, results = np.tile(states[:700], 10), np.tile(results[:700], 10)  # few boards, many times: they are merged
    nets = [ValueGenerations(GAME, seed=2), ValueGenerations(GAME, seed=2)]
    sizes = []
    step = nets[0]._step
    nets[0]._step = lambda planes, counts: (sizes.append(len(planes)), step(planes, counts))[1]
    nets[0].train(states, results, 1)
    monkeypatch.setattr(module, "_looks", lambda planes, turns: np.arange(len(planes) * len(turns)))
    monkeypatch.setattr(module, "_merged", lambda keys, classes: (keys, np.eye(3, dtype=np.float32)[classes]))
    nets[1].train(states, results, 1)
    assert max(sizes) < 1024  # a batch has 1,024 positions
    assert nets[0].losses == pytest.approx(nets[1].losses, abs=1e-4)
    for one, other in zip(nets[0].net.get_weights(), nets[1].net.get_weights()):
        assert np.allclose(one, other, atol=2e-3)


@pytest.mark.parametrize("symmetries", ["all", "one"])
def test_an_epoch_sees_each_position_in_all_symmetries_or_in_one(symmetries):
    net = ValueGenerations(GAME, seed=1)
    states = GAME.from_moves("a1").state  # a corner: four different looks
    seen = np.zeros((3, 3))

    def step(planes, counts):
        seen[:] += (planes[..., 1] * counts.sum(axis=1)[:, None, None]).sum(axis=0)
        return 0.0

    net._step = step
    net.train(np.tile(states, 50), np.ones(50), 2, symmetries)
    assert seen.sum() == 50 * 2 * (8 if symmetries == "all" else 1)
    assert (seen[[0, 0, 2, 2], [0, 2, 0, 2]] > 0).all() and seen[1].sum() == 0
    if symmetries == "all":
        assert (seen[[0, 0, 2, 2], [0, 2, 0, 2]] == 200).all()


def weights_of(folder, games):
    net = ValueGenerations(GAME, seed=4)
    players = net.run(games, 1, folder)
    return net, [player.net.get_weights() for player in players]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_run_goes_on_after_the_last_finished_generation_as_if_never_stopped(tmp_path):
    whole, weights = weights_of(tmp_path / "whole", [60, 50, 40])
    weights_of(tmp_path / "parts", [60])
    (tmp_path / "parts" / "nets" / "00002.keras").write_bytes(b"half a file of a run that was killed")
    net, again = weights_of(tmp_path / "parts", [60, 50, 40])
    assert net.losses == whole.losses and [row["games"] for row in net.metrics] == [60, 50, 40]
    assert all(same(one, other) for one, other in zip(weights, again, strict=True))
    assert not same(weights[0], weights[2])
    checkpoint = ["metrics.json", "optimiser.npz", "state.json"]
    assert names(tmp_path / "parts") == [
        ".lock", *(f"checkpoint/{number}/{name}" for number in ("00002", "00003") for name in checkpoint), "config.toml",
        "metrics.jsonl", "nets/00001.keras", "nets/00002.keras", "nets/00003.keras",
    ]  # fmt: skip
    before = {path: path.read_bytes() for path in (tmp_path / "parts").rglob("*") if path.is_file()}
    assert same(weights_of(tmp_path / "parts", [60, 50, 40])[1][1], weights[1])  # nothing is left to do
    assert all(path.read_bytes() == data for path, data in before.items())


def test_a_generation_that_was_interrupted_is_begun_again(tmp_path):
    """Ctrl-C in the second generation: the same learner takes over the first one again."""
    whole, weights = weights_of(tmp_path / "whole", [60, 50])

    def interrupt(what, done, total):
        if what == "epochs" and net.generation == 1:
            raise KeyboardInterrupt

    net = ValueGenerations(GAME, seed=4)
    with pytest.raises(KeyboardInterrupt):
        net.run([60, 50], 1, tmp_path / "parts", progress=interrupt)
    again = net.run([60, 50], 1, tmp_path / "parts")
    assert net.losses == whole.losses and same(again[1].net.get_weights(), weights[1])


def test_a_learner_that_has_learned_cannot_begin_a_run(tmp_path):
    net = ValueGenerations(GAME, seed=4)
    net.play_games(3)
    with pytest.raises(azlab.AzlabError, match="cannot begin with a learner that has learned"):
        net.run([60], 1, tmp_path)
    assert names(tmp_path) == [".lock"]


def test_other_settings_are_refused_in_the_folder_of_a_run(tmp_path):
    weights_of(tmp_path, [60, 50])
    before = (tmp_path / "config.toml").read_text()
    for change, games, epochs, named in (
        ({}, [61], 1, "games"), ({}, [60], 2, "epochs"), ({"seed": 5}, [60], 1, "seed"), ({"filters": (3,)}, [60], 1, "filters"),
        ({"learning_rate": 0.01, "decay": 0.0}, [60], 1, "learning_rate, decay"),
    ):  # fmt: skip
        with pytest.raises(azlab.AzlabError, match=rf"begun with other settings \({named}\)"):
            ValueGenerations(GAME, **{"seed": 4, **change}).run(games, epochs, tmp_path)
    with pytest.raises(azlab.AzlabError, match=r"other settings \(game"):
        ValueGenerations(azlab.game("simple_go"), seed=4).run([60], 1, tmp_path)
    assert (tmp_path / "config.toml").read_text() == before


def test_games_of_a_generation_that_a_kill_left_without_its_line_are_compared_too(tmp_path):
    weights_of(tmp_path, [60, 50])
    file = tmp_path / "metrics.jsonl"
    file.write_bytes(file.read_bytes().split(b"\n")[0] + b"\n")
    with pytest.raises(azlab.AzlabError, match=r"other settings \(games\)"):
        weights_of(tmp_path, [60, 51])
    assert len(weights_of(tmp_path, [60, 50])[0].metrics) == 2


def test_a_folder_in_the_format_of_before_is_refused(tmp_path):
    for name in ("state.json", "generation_1.keras", "optimiser_1.npz"):
        (tmp_path / name).write_text("old")
    with pytest.raises(azlab.AzlabError, match=r"format of azlab 0\.2.*train anew"):
        weights_of(tmp_path, [60])
    assert names(tmp_path) == [".lock", "generation_1.keras", "optimiser_1.npz", "state.json"]


KILLED = """
import os, signal, sys
from pathlib import Path
import azlab
from azlab.learning.generations import ValueGenerations

replace, left = Path.replace, [int(sys.argv[2])]

def counted(path, target):  # every file of a run comes into being by this call
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(path, target)

Path.replace = counted
ValueGenerations(azlab.game("tictactoe"), seed=4).run([60, 50, 40], 1, sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("write", [1, 2, 3, 5, 6, 7, 9, 11, 12, 18])
def test_a_run_killed_before_any_write_goes_on_with_the_same_numbers(tmp_path, write):
    """A generation writes its network, the two files and the metrics of its checkpoint, the checkpoint's name, metrics.jsonl."""
    command = [sys.executable, "-c", KILLED, str(tmp_path / "killed"), str(write)]
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True)
    assert ended.returncode == -signal.SIGKILL
    nets = [weights_of(tmp_path / folder, [60, 50, 40]) for folder in ("killed", "whole")]
    assert nets[0][0].losses == nets[1][0].losses and all(map(same, nets[0][1], nets[1][1]))
    assert names(tmp_path / "killed") == names(tmp_path / "whole")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ValueGenerations(azlab.game("connect4")), "takes square boards"),
        (lambda: ValueGenerations(GAME).next_generation(0, 1), "games must be a whole number"),
        (lambda: ValueGenerations(GAME).next_generation(5, 1, symmetries="two"), "symmetries"),
        (lambda: ValueGenerations(GAME).next_generation(5, 1, batch=0), "batch must be a whole number"),
        (lambda: ValueGenerations(GAME).choose_actions(GAME.new_states(1), 0), "plies must be a whole number"),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(azlab.AzlabError, match=sentence):
        call()
