"""How a table changes while it learns, and how far it is from perfect play.

    history = TableHistory(table, states, oracle.action_scores(states))
    history.run(1_000_000)
    history.games       # numbers of games at which the values were written down
    history.q           # the values then, [times, pairs]; NaN where the move had not been made yet
    history.perfect     # the share of positions in which the greedy move was perfect, [times]

A pair is a row that the table can have and a move that is legal in one of its states.
"""

from collections.abc import Callable

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Position
from azlab.learning.tabular import MonteCarloControl

A_DECADE = 10  # times at which values are written down from 100 games to 1,000, from 1,000 to 10,000 and so on
DOUBLING = 3  # so many times later the number of games has doubled: 10 ** (3 / 10) = 1.995

Progress = Callable[[int, int], None]


def times(games: int) -> list[int]:
    """Numbers of games up to `games` at equal distances on a logarithmic scale; powers of ten and `games` are among them."""
    if games < 1:
        raise AzlabError(f"A history needs at least one game, not {games}.")
    grid = {round(10 ** (k / A_DECADE)) for k in range(A_DECADE * len(str(games)))}
    return sorted({one for one in grid if one < games} | {games})


class TableHistory:
    """Trains a table and writes its values down on the way.

    states [B]: the positions to watch, none of them over
    scores [B, A]: what perfect play makes of each move, for seat 0, NaN where it is illegal (`Oracle.action_scores`)
    """

    def __init__(self, table: MonteCarloControl, states: np.ndarray, scores: np.ndarray) -> None:
        self.table, self.states = table, states
        self.legal = legal = ~np.isnan(scores)
        self.result = np.sign(scores)  # [B, A] of the game after each move, for seat 0
        for_mover = np.where(legal, self.result * (1 - 2 * states["to_move"])[:, None], -np.inf)
        self.keeps = for_mover == for_mover.max(axis=1, keepdims=True)  # [B, A] moves that give nothing away
        self.matters = (legal & ~self.keeps).any(axis=1)  # [B] positions in which some move does
        _, self._first, self._row = np.unique(table.keys_of(states), return_index=True, return_inverse=True)
        self._pairs = np.zeros((len(self._first), legal.shape[1]), np.bool_)  # bool [rows, A]
        np.logical_or.at(self._pairs, self._row, legal)
        self.games: list[int] = []
        self._q: list[np.ndarray] = []
        self._counts: list[np.ndarray] = []
        self._perfect: list[float] = []

    def run(self, games: int, progress: Progress | None = None) -> "TableHistory":
        """Play until the table has learned from so many games in all."""
        for time in times(games):
            if time <= self.table.games:
                continue
            self.table.run(time - self.table.games)
            self._write_down()
            if progress is not None:
                progress(time, games)
        return self

    def _write_down(self) -> None:
        q, counts = self.table.look_up(self.states[self._first])
        self.games.append(self.table.games)
        self._q.append(np.where(counts > 0, q, np.nan)[self._pairs].astype(np.float32))
        self._counts.append(counts[self._pairs])
        self._perfect.append(self.perfect_rate())

    def perfect_rate(self) -> float:
        """The share of positions in which the greedy move gives nothing away, among those in which some move would."""
        kept = np.take_along_axis(self.keeps, self.table.greedy_actions(self.states, self.legal)[:, None], axis=1)[:, 0]
        return float(kept[self.matters].mean())

    @property
    def q(self) -> np.ndarray:
        """[times, pairs]"""
        return np.array(self._q)

    @property
    def perfect(self) -> np.ndarray:
        """[times]"""
        return np.array(self._perfect)

    @property
    def met(self) -> np.ndarray:
        """The share of pairs that have been tried, [times]."""
        return np.array([np.mean(counts > 0) for counts in self._counts])

    def at(self, games: int) -> int:
        """The index of the time at which so many games had been played."""
        if games not in self.games:
            raise AzlabError(f"Nothing was written down after {games:,} games; ask for one of history.games.")
        return self.games.index(games)

    def change(self, games: int, updated: bool = False) -> float:
        """By how much a value changed, on average, in the second half of the first `games` games.

        Of all pairs that had been tried in the first half, or, with `updated`, of those that were tried again in the second.
        """
        later = self.at(games)
        half = int(np.argmin(np.abs(np.array(self.games) - games / 2)))
        counted = (self._counts[half] > 0) & ((self._counts[later] > self._counts[half]) | (not updated))
        return float(np.abs(self._q[later] - self._q[half])[counted].mean()) if counted.any() else 0.0

    def changes(self, first: int = 100, updated: bool = False) -> tuple[list[int], list[float]]:
        """`change` by games, a point for each doubling, backwards from the last time to about `first` games."""
        chosen = [games for games in self.games[::-1][::DOUBLING] if games >= first][::-1]
        return chosen, [self.change(games, updated) for games in chosen]

    def values_of(self, position: Position) -> dict[str, np.ndarray]:
        """The values of each legal move of a watched position over time: arrays [times] by the name of the move."""
        same = np.flatnonzero(self.states == position.state[0])
        if not len(same):
            raise AzlabError("This position is not among the states that the history watches.")
        row = self._row[same[0]]
        pair = np.cumsum(self._pairs.ravel()).reshape(self._pairs.shape) - 1
        q = self.q
        return {self.table.game.move_name(action): q[:, pair[row, action]] for action in position.legal_actions}

    def mean_by_result(self) -> dict[int, np.ndarray]:
        """The mean value of the moves tried so far, [times], by what perfect play makes of them: +1, 0, -1."""
        dense = np.full(self._pairs.shape, np.nan, np.float32)
        means: dict[int, list[float]] = {1: [], 0: [], -1: []}
        for q in self._q:
            dense[self._pairs] = q
            of_state = dense[self._row]
            for result, values in means.items():
                chosen = of_state[(self.result == result) & ~np.isnan(of_state)]
                values.append(float(chosen.mean()) if len(chosen) else float("nan"))
        return {result: np.array(values) for result, values in means.items()}
