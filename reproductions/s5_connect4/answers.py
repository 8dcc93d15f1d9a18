"""What trained networks answer on the test sets, kept move by move, and questions to these answers.

Shares of right answers by ply, with the plies of another set, with weak labels, and results told by who is to move.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from azlab.files import write_aside
from azlab.intact import read_npz
from azlab.learning.evaluation import choices
from azlab.learning.intervals import interval
from azlab.learning.learner import Learner
from azlab.learning.position_sets import PositionSet

CHUNK = 8192  # positions asked at once
FIRST, LAST = 5, 33  # plies before and after these are rare in the hard set: they count as these
DRAWS = 400  # of the bootstrap
# the easy set is easier; it is so with its plies alone; and these make more than half of the gap
PARTS = ("easy - hard", "easy's plies - hard", "easy's plies - half way")


@dataclass(frozen=True)
class Answers:
    """Of one network to N positions."""

    moves: np.ndarray  # int8 [N]
    results: np.ndarray  # int8 [N]: for the first player

    def right_moves(self, best: np.ndarray) -> np.ndarray:
        """Whether each move is among these, bool [N, 7]."""
        return best[np.arange(len(self.moves)), self.moves]


def ask(learner: Learner, positions: PositionSet) -> Answers:
    """The network alone, without search. Illegal moves do not count as answers."""
    evaluator, found = learner.evaluator(), []
    for start in range(0, positions.size, CHUNK):
        states = positions.states[start : start + CHUNK]
        found.append(choices(evaluator.evaluate(states, positions.game.legal_mask(states))))
    return Answers(*(np.concatenate(part).astype(np.int8) for part in zip(*found, strict=True)))


def scores(answers: Answers, positions: PositionSet) -> dict[str, float]:
    """Percent of right moves and results, and of the positions that the first player, to move, has lost: how many it calls so."""
    is_lost = lost_for_first(positions)
    return {
        "moves": 100 * float(answers.right_moves(positions.best()).mean()),
        "wins": 100 * float((answers.results == positions.results).mean()),
        "recall": 100 * float((answers.results[is_lost] == -1).mean()) if is_lost.any() else 0.0,
    }


def lost_for_first(positions: PositionSet) -> np.ndarray:
    """Positions with the first player to move who has lost, bool [N]: those that the source's program labels as drawn."""
    return (positions.states["to_move"] == 0) & (positions.results == -1)


def save(file: Path, answers: dict[str, Answers]) -> None:
    arrays = {f"{name}_{part}": getattr(own, part) for name, own in answers.items() for part in ("moves", "results")}
    write_aside(file, lambda aside: np.savez_compressed(aside, **arrays))


def load(file: Path) -> dict[str, Answers]:
    arrays = read_npz(file)
    names = dict.fromkeys(name.rpartition("_")[0] for name in arrays)
    return {name: Answers(arrays[f"{name}_moves"], arrays[f"{name}_results"]) for name in names}


# --- questions --------------------------------------------------------------------------------------------------------


def groups(positions: PositionSet) -> np.ndarray:
    """The ply of each position, rare ones drawn in; int64 [N], from 0."""
    return np.clip(positions.states["ply"].astype(np.int64), FIRST, LAST) - FIRST


def reweighted(is_right: np.ndarray, ply: np.ndarray, others: np.ndarray) -> float:
    """Percent of right answers if the positions had the plies of others; `ply` and `others` are `groups`."""
    size = LAST - FIRST + 1
    counts, wanted = np.bincount(ply, minlength=size), np.bincount(others, minlength=size)
    share = np.bincount(ply, is_right, minlength=size) / np.maximum(counts, 1)
    wanted = wanted * (counts > 0)  # what nobody was asked, nobody knows
    return 100 * float(share @ wanted / wanted.sum())


def explained_by_plies(hard: np.ndarray, easy: np.ndarray, ply_hard: np.ndarray, ply_easy: np.ndarray) -> dict[str, Any]:
    """Is the easy set easier, and because of its plies? Three differences in points, all positive if so (PARTS).

    hard, easy: whether each network is right at each position, bool [networks, N]
    Intervals have two parts: networks differ (Student's t), and positions are a sample (bootstrap, equal for all networks).
    """

    def measured(rows_hard: np.ndarray, rows_easy: np.ndarray) -> np.ndarray:
        """[networks, 3]: accuracy on hard, on easy, and on hard with easy's plies."""
        found = []
        for own, other in zip(hard, easy, strict=True):
            moved = reweighted(own[rows_hard], ply_hard[rows_hard], ply_easy[rows_easy])
            found.append([100 * own[rows_hard].mean(), 100 * other[rows_easy].mean(), moved])
        return np.array(found)

    def parts(accuracy: np.ndarray) -> np.ndarray:
        """[networks, 3]: PARTS."""
        below, above, moved = accuracy.T
        return np.stack([above - below, moved - below, moved - (above + below) / 2], axis=1)

    accuracy = measured(np.arange(len(ply_hard)), np.arange(len(ply_easy)))
    rng = np.random.default_rng(0)
    tries = [
        parts(measured(*(rng.integers(0, len(ply), len(ply)) for ply in (ply_hard, ply_easy)))).mean(axis=0) for _ in range(DRAWS)
    ]
    sampled = 1.96 * np.std(tries, axis=0, ddof=1)
    nets = [interval(own) for own in parts(accuracy).T.tolist()]
    halves = [None if one.half is None else float(np.hypot(one.half, other)) for one, other in zip(nets, sampled, strict=True)]
    return {name: accuracy[:, k] for k, name in enumerate(("hard", "easy", "hard with easy's plies"))} | {
        "easy with hard's plies": [reweighted(other, ply_easy, ply_hard) for other in easy],
        "parts": {name: one.mean for name, one in zip(PARTS, nets, strict=True)},
        "halves": dict(zip(PARTS, halves, strict=True)),
    }


def by_ply(is_right: np.ndarray, ply: np.ndarray) -> list[float | None]:
    """Percent of right answers at each group of plies, mean over networks; None where there is no position."""
    mean = is_right.mean(axis=0)
    return [100 * float(mean[ply == at].mean()) if (ply == at).any() else None for at in range(LAST - FIRST + 1)]


def confusion(answers: Sequence[Answers], positions: PositionSet) -> dict[str, list[list[float]]]:
    """Percent of each answer by true result, by who is to move: rows won, drawn, lost for the first player, answers alike."""
    found = {}
    for seat, name in enumerate(("first to move", "second to move")):
        table = np.zeros((3, 3))
        for own in answers:
            for row, true in enumerate((1, 0, -1)):
                rows = (positions.states["to_move"] == seat) & (positions.results == true)
                table[row] += [np.mean(own.results[rows] == said) if rows.any() else 0.0 for said in (1, 0, -1)]
        found[name] = (100 * table / len(answers)).tolist()
    return found
