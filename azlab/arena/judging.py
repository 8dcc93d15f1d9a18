"""Games judged by perfect play: what did each move give away, and what would a random mover have given away there?

judged = judge(records)                       # GameRecords of a match, or of a source (azlab.repro.sources.source_games)
mine = judged.of("uct:1000")                  # the moves of one player
mine.is_best.mean(), mean_interval(mine.is_best, mine.game)
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from azlab.arena.results import GameRecord
from azlab.errors import AzlabError

if TYPE_CHECKING:
    from azlab.oracles.oracle import Oracle

DRAWS = 2000  # of a bootstrap: enough for the second digit of an interval's ends


class Judged(NamedTuple):
    """M moves. Points are those of the game's oracle: the margin in Dots and Boxes."""

    player: np.ndarray  # str [M]: who moved
    game: np.ndarray  # int64 [M]: the number of the game; one that repeats an earlier one, move by move, has its number
    ply: np.ndarray  # int64 [M]: lines or stones on the board before the move
    lost: np.ndarray  # float64 [M]: points given away
    is_best: np.ndarray  # bool [M]: none was
    random_lost: np.ndarray  # float64 [M]: the mean over all legal moves
    random_best: np.ndarray  # float64 [M]: the share of legal moves that are best

    def of(self, player: str) -> "Judged":
        """The moves of one player."""
        return self.take(self.player == player)

    def take(self, rows: np.ndarray) -> "Judged":
        """Some of the moves."""
        return Judged(*(part[rows] for part in self))


def judge(records: Sequence[GameRecord], perfect: "Oracle | None" = None) -> Judged:
    """All moves of finished games that were not given by an opening, by an oracle; None is `azlab.oracle` of the game.

    Where the oracle knows endgames only, moves in positions that it does not know are left out.
    """
    from azlab.oracles import oracle
    from azlab.oracles.oracle import losses

    players, numbers, states, actions = [], [], [], []
    known: dict[tuple, int] = {}
    for record in records:
        number = known.setdefault((record.players, record.start, record.moves), len(known))
        for position, move in list(zip(record.positions, record.moves))[record.opening :]:
            players.append(record.players[position.to_move])
            numbers.append(number)
            states.append(position.state)
            actions.append(position.game.action(move))
    if not states:
        raise AzlabError("There are no moves to judge.")
    perfect, asked = perfect or oracle(records[0].game), np.concatenate(states)
    rows = np.flatnonzero(perfect.knows(asked))
    if not len(rows):
        raise AzlabError("The oracle knows none of the positions in which these moves were made.")
    asked = asked[rows]
    lost = losses(perfect.action_scores(asked), asked["to_move"])
    chosen = lost[np.arange(len(lost)), np.array(actions)[rows]]
    legal = ~np.isnan(lost)
    return Judged(
        np.array(players)[rows], np.array(numbers)[rows], asked["ply"].astype(np.int64), chosen, chosen == 0,
        np.nanmean(lost, axis=1), (lost == 0).sum(axis=1) / legal.sum(axis=1),
    )  # fmt: skip


def mean_interval(values: np.ndarray, groups: np.ndarray, seed: int = 0) -> tuple[float, float]:
    """A 95% interval of the mean of `values` [M], by bootstrap over whole `groups` [M]: moves of one game are not independent."""
    names, rows = np.unique(groups, return_inverse=True)
    sums, counts = np.bincount(rows, values), np.bincount(rows)
    drawn = np.random.default_rng(seed).integers(len(names), size=(DRAWS, len(names)))
    low, high = np.quantile(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1), (0.025, 0.975))
    return float(low), float(high)
