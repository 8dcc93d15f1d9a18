"""A supervised training on disk: it goes on after a kill as if nothing had happened, and damage gets a sentence."""

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
