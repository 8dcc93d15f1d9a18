"""A supervised training on disk: it goes on after a kill as if nothing had happened, and damage gets a sentence."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from azlab.errors import AzlabError
from azlab.learning import SupervisedConfig, connect4_set, split_set
from azlab.learning.alphazero import new_learner
from azlab.learning.learner import LossConfig
from azlab.learning.supervised import SupervisedTraining
from azlab.learning.supervised_folder import clear, rows_in_folder

TRAIN = "connect4/train_100k.txt.gz"
NET = {"kind": "residual", "blocks": 1, "filters": 8, "stem": 8, "head": 2}
CONFIG = SupervisedConfig(batch=32, epochs=4, rate=((1, 0.1),), patience=1, stop_after=0, average=0.9, seed=3)


@pytest.fixture
def parts(need, one_thread):
    need.data(TRAIN)
    sets = split_set(connect4_set(TRAIN, 500), seed=1)
    return (lambda: new_learner(sets.train.game, NET, LossConfig(), 5)), sets


def without_times(rows):
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("stop", [1, 3])
def test_a_training_goes_on_as_if_it_had_not_been_stopped(parts, stop, tmp_path):
    learner, sets = parts
    whole = SupervisedTraining(alone := learner(), sets, CONFIG)
    curve = without_times(whole.rows())
    whole.restore_best()
    first = rows_in_folder(learner(), sets, CONFIG, tmp_path)
    for _ in range(stop):
        next(first)
    del first
    (tmp_path / f"epoch{stop + 1}.npz").write_bytes(b"half a file")  # a kill while the next epoch was being written
    resumed = learner()
    assert without_times(rows_in_folder(resumed, sets, CONFIG, tmp_path)) == curve
    assert all(np.array_equal(one, other) for one, other in zip(alone.weights(), resumed.weights(), strict=True))
    again = learner()
    assert without_times(rows_in_folder(again, sets, CONFIG, tmp_path)) == curve  # all of it was done: nothing is trained
    assert all(np.array_equal(one, other) for one, other in zip(alone.weights(), again.weights(), strict=True))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "epoch4.npz", "epoch4.optimiser.safetensors", "epoch4.safetensors", "training.json"
    ]  # fmt: skip
    clear(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_damaged_training_says_what_to_do(parts, tmp_path):
    learner, sets = parts
    next(rows_in_folder(learner(), sets, CONFIG, tmp_path))
    for name in ("epoch1.npz", "epoch1.safetensors", "training.json"):
        file = tmp_path / name
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(AzlabError, match="begins anew"):
            next(rows_in_folder(learner(), sets, CONFIG, tmp_path))
        file.write_bytes(whole)


KILLED = """
import os, signal, sys
from pathlib import Path
from azlab.nets.threads import set_threads
set_threads(1)
sys.path.insert(0, sys.argv[1])
from test_supervised_folder import by_steps
from azlab.learning import supervised_folder
kill_at, folder = int(sys.argv[2]), Path(sys.argv[3])
write, count = supervised_folder.write_aside, 0
def counted(*given):
    global count
    count += 1
    if count == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    write(*given)
supervised_folder.write_aside = counted
for row in by_steps(folder)[1]:
    print(row["epoch"], row["steps"], repr(row["test_move_accuracy"]), repr(row["average_test_policy_loss"]), flush=True)
"""


def by_steps(folder):
    """A training by steps without validation, as S2's: the learner, and its rows."""
    from azlab.learning import go_set
    from azlab.learning.learner import KerasLearner
    from azlab.learning.supervised import Watched
    from azlab.nets.keras_nets import go_net, load_keras

    load_keras().utils.set_random_seed(1)
    sets = split_set(go_set("go/9x9_pro.tar.gz", 9, first=6, passes=False), (0.8, 0.0, 0.2))
    loss = LossConfig(weight_decay=5e-4, decay_biases=False, symmetries=False)
    learner = KerasLearner(sets.train.game, go_net(2, 9, 4, logits=True), loss, momentum=0.0, encoding="go", logits=True)
    config = SupervisedConfig(16, 3, 2, ((1, 0.1),), patience=0, stop_after=0, momentum=0.0, average=0.9999, seed=2)
    return learner, rows_in_folder(learner, sets, config, folder, Watched({"test": sets.test}))


@pytest.mark.slow
def test_a_training_by_steps_survives_kill_9(need, tmp_path):
    need.data("go/9x9_pro.tar.gz")
    need.package("keras")

    def run(folder, kill_at):
        words = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(kill_at), str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        assert done.returncode == (-9 if kill_at else 0), done.stderr
        return done.stdout.splitlines()

    whole = run(tmp_path / "whole", 0)
    assert [line.split()[:2] for line in whole] == [["1", "2"], ["2", "4"], ["3", "6"]]
    assert run(tmp_path / "killed", 3) == whole[:1]  # two files an epoch: while the second epoch was being written
    assert run(tmp_path / "killed", 2) == whole[:1]  # then its state was not written
    assert run(tmp_path / "killed", 0) == whole
