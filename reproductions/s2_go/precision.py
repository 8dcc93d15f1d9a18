"""How the source counts right moves (its program's evaluation), beside how one would.

TensorFlow's `in_top_k` takes a move for predicted if no other has a larger logit, so a tie at the top counts as right. The source
cuts logits below 0 by a ReLU; where all of them are cut, any move is "predicted".
"""

from typing import Any

import numpy as np

from azlab.learning.learner import Learner
from azlab.learning.position_sets import PositionSet
from azlab.nets.evaluators import SIZES, in_fixed_sizes

CHUNK = 4096  # positions measured at once


def counted(logits: np.ndarray, moves: np.ndarray, legal: np.ndarray) -> dict[str, np.ndarray]:
    """What is counted of each position: logits [B, points], the moves played [B], which points are legal [B, points].

    precision: as the source counts; strict: no other point has as large a logit; legal: the best legal point, the first of
    equals; tied: several points have the largest logit; zero: all logits are 0; loss: of the move played, over all points
    """
    rows = np.arange(len(moves))
    own, top = logits[rows, moves], logits.max(axis=1)
    is_top, count = own >= top, (logits >= top[:, None]).sum(axis=1)
    best = np.where(legal, logits, -np.inf).argmax(axis=1)
    return {
        "precision": is_top,
        "strict": is_top & (count == 1),
        "legal": best == moves,
        "tied": count > 1,
        "zero": (logits == 0).all(axis=1),
        "loss": np.log(np.exp((logits - top[:, None]).astype(np.float64)).sum(axis=1)) + top - own,
    }


def precision(learner: Learner, positions: PositionSet, evaluator: Any) -> dict[str, float]:
    """Means of what `counted` gives; for nets that give logits and no output for the pass."""
    sums: dict[str, float] = {}
    game = positions.game
    for start in range(0, positions.size, CHUNK):
        part = positions.take(slice(start, start + CHUNK))
        logits = in_fixed_sizes(evaluator.encoding.encode(game, part.states), SIZES, evaluator.forward)[0]
        found = counted(logits, part.moves[:, 0], game.legal_mask(part.states)[:, : logits.shape[1]])
        for name, values in found.items():
            sums[name] = sums.get(name, 0.0) + float(values.sum())
    return {name: total / positions.size for name, total in sums.items()}
