"""A supervised training in a folder: killed at any moment, the same call goes on after its last full epoch.

    for row in rows_in_folder(learner, sets, SupervisedConfig(), folder):      # a row of the curve for each epoch
        print(row["validation_move_accuracy"])
    measure(learner, sets.test)                                              # the learner has the best epoch's weights

    training.json                 the curve, and all else that is no array; it names the epoch whose files count
    epoch7.*                      weights, what the optimiser remembers, order of the rows to come, best weights so far

It gives what an uninterrupted training gives. With the rows of a sweep's unit (azlab.learning.units) it costs one line more.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.files import make_folder, write_aside
from azlab.intact import parsed, read_npz, sealed, unsealed
from azlab.learning.learner import Learner
from azlab.learning.position_sets import SplitSets
from azlab.learning.supervised import SupervisedConfig, SupervisedTraining, Watched

STATE = "training.json"
PLATEAU = ("best", "share", "since_gain", "since_cut")


def rows_in_folder(
    learner: Learner, sets: SplitSets, config: SupervisedConfig, folder: Path, watched: Watched | None = None
) -> Iterator[dict[str, Any]]:
    """Train epoch by epoch; first come the rows of epochs that an earlier try had finished.

    Learner, sets, config and watched sets have to be those of the earlier try. When a row comes, the learner has the weights of
    the last step so far; after the last row it has the best weights, or those of the running average.
    """
    training = SupervisedTraining(learner, sets, config, watched=watched)
    make_folder(folder)
    if (folder / STATE).is_file():
        _load(training, folder)
    known = len(training.curve)
    for row in training.rows():
        if row["epoch"] > known:
            _save(training, folder)
        yield row
    training.restore_best()


def _files(learner: Learner, folder: Path, epoch: int) -> tuple[Path, Path, Path]:
    return tuple(folder / f"epoch{epoch}{end}" for end in (learner.suffix, ".optimiser" + learner.suffix, ".npz"))  # type: ignore


def _save(training: SupervisedTraining, folder: Path) -> None:
    """Write the state after an epoch; until training.json names the new files, the old ones count."""
    epoch = len(training.curve)
    weights, optimiser, arrays = _files(training.learner, folder, epoch)
    training.learner.save(weights, optimiser)
    kept = {"order": training.order} | {f"best{k}": array for k, array in enumerate(training.best)}
    if training.average:
        kept |= {f"mean{k}": array for k, array in enumerate(training.average.weights)}
    write_aside(arrays, lambda aside: np.savez(aside, **kept))
    state = {
        "epoch": epoch,
        "curve": training.curve,
        "best_epoch": training.best_epoch,
        "plateau": [getattr(training.plateau, name) for name in PLATEAU],
        "averaged": training.average.steps if training.average else 0,
        "random": training.rng.bit_generator.state,
    }
    text = json.dumps(sealed(state)) + "\n"
    write_aside(folder / STATE, lambda aside: aside.write_text(text, encoding="utf-8"))
    for old in _files(training.learner, folder, epoch - 1):
        old.unlink(missing_ok=True)


def _load(training: SupervisedTraining, folder: Path) -> None:
    try:
        state = unsealed(parsed((folder / STATE).read_text("utf-8")))
        weights, optimiser, arrays = _files(training.learner, folder, state["epoch"])
        kept = read_npz(arrays)
        training.learner.load(weights, optimiser)
        for name, value in zip(PLATEAU, state["plateau"], strict=True):
            setattr(training.plateau, name, value)
        training.curve, training.best_epoch, training.order = state["curve"], state["best_epoch"], kept["order"]
        training.best = [kept[f"best{k}"] for k in range(len(training.best))]
        if training.average:
            training.average.weights = [kept[f"mean{k}"] for k in range(len(training.best))]
            training.average.steps = state["averaged"]
        training.rng.bit_generator.state = state["random"]
    except (OSError, ValueError, KeyError, TypeError, AzlabError) as error:
        raise AzlabError(f"The training in {folder} cannot go on ({error}). Delete the folder: it then begins anew.") from None


def clear(folder: Path) -> None:
    """Delete what only an unfinished training needs."""
    for file in [folder / STATE, *folder.glob("epoch*.*")]:
        file.unlink(missing_ok=True)
