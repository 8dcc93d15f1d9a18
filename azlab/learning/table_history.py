"""How a table changes while it learns, and how far it is from perfect play.

    history = TableHistory(table, states, oracle.action_scores(states))
    history.run(1_000_000)
    history.games       # numbers of games at which the values were written down
    history.q           # the values then, [times, pairs]; NaN where the move had not been made yet
    history.perfect     # the share of positions in which the greedy move was perfect, [times]

A pair is a row that the table can have and a move that is legal in one of its states.

    history.run(1_000_000, folder="runs/table")     # the same call goes on after an interruption

The folder is that of a run (run_files.py); values/00001.npz has what an iteration wrote down, a checkpoint the table.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.files import load_arrays, save_arrays
from azlab.games.game import Position
from azlab.games.packed import as_bytes
from azlab.intact import check_arrays, checksum
from azlab.learning.run_files import RunFiles, clock, spent
from azlab.learning.tabular import MonteCarloControl

A_DECADE = 10  # times at which values are written down from 100 games to 1,000, from 1,000 to 10,000 and so on
DOUBLING = 3  # so many times later the number of games has doubled: 10 ** (3 / 10) = 1.995
FEW = 10_000  # games before the first iteration ends: fewer are sooner played again than written

Progress = Callable[[int, int], None]


def times(games: int) -> list[int]:
    """Numbers of games up to `games` at equal distances on a logarithmic scale; powers of ten and `games` are among them."""
    if games < 1:
        raise AzlabError(f"A history needs at least one game, not {games}.")
    grid = {round(10 ** (k / A_DECADE)) for k in range(A_DECADE * len(str(games)))}
    return sorted({one for one in grid if one < games} | {games})


@dataclass(frozen=True)
class TableConfig:
    """The settings of a run, for its folder: those of the table, a checksum of what is watched, and the games in all."""

    game: str = ""
    epsilon: float = 0.2
    optimistic: bool = False
    key: str = "planes"
    seed: int = 0
    discount: float = 1.0
    taught: str = ""
    watched: str = ""
    games: int = 1
    iterations: int = 1


class TableRun(RunFiles[TableConfig]):
    """The folder of a run."""

    learner = "MonteCarloControl"
    kind = TableConfig
    may_change = {"games", "iterations"}

    def values_file(self, iteration: int) -> Path:
        """What an iteration wrote down."""
        return self.path / "values" / f"{iteration:05}.npz"


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
        self._watched = checksum("", {"states": as_bytes(states), "scores": scores})
        self.metrics: list[dict[str, Any]] = []  # of every iteration of a run in a folder, as in its metrics.jsonl
        self._forget()

    def _forget(self) -> None:
        self.games: list[int] = []
        self._q: list[np.ndarray] = []
        self._counts: list[np.ndarray] = []
        self._perfect: list[float] = []

    def run(self, games: int, progress: Progress | None = None, folder: str | Path | None = None) -> "TableHistory":
        """Play until the table has learned from so many games in all; with a folder, go on with what it holds."""
        run = None if folder is None else TableRun(folder)
        ends = [time for time in times(games) if time >= FEW or time == games]
        with nullcontext(0) if run is None else run.at_work(self._config(games, len(ends)), not self.table.counts.any()) as done:
            if run is not None and done:
                self._take_over(run, done)
            self._began = clock()
            for time in times(games):
                if time <= self.table.games:
                    continue
                self.table.run(time - self.table.games)
                self._write_down()
                if run is not None and time in ends:
                    self._keep(run)
                if progress is not None:
                    progress(time, games)
        return self

    def _config(self, games: int, iterations: int) -> TableConfig:
        table = self.table
        settings = repr(table.game), table.epsilon, bool(table.optimistic), table.key, table.seed, table.discount
        return TableConfig(*settings, f"{table.taught.__module__}.{table.taught.__name__}", self._watched, games, iterations)

    def _keep(self, run: TableRun) -> None:
        """Make the games since the last iteration count as one."""
        before = {name: sum(row[name] for row in self.metrics) for name in ("games", "moves", "times")}
        new = slice(before["times"], None)
        values = {"games": self.games[new], "q": self._q[new], "counts": self._counts[new], "perfect": self._perfect[new]}
        row = {"iteration": len(self.metrics) + 1, "games": self.table.games - before["games"], "times": len(self.games[new])}
        row |= {"moves": int(self.table.counts.sum()) - before["moves"], "rows": self.table.rows}
        row |= {"met": float(np.mean(self._counts[-1] > 0)), "perfect": self._perfect[-1]}
        times = spent(self._began, self.metrics)
        self.metrics.append(row | times | {"play_seconds": times["seconds"]})
        save_arrays(run.values_file(row["iteration"]), {name: np.array(parts) for name, parts in values.items()})
        run.count(row["iteration"], lambda checkpoint: self.table.save(checkpoint / "table.npz"), self.metrics[-1])
        self._began = clock()

    def _take_over(self, run: TableRun, done: int) -> None:
        """Go on where `_keep` left off."""
        self._forget()
        pairs = "times", int(self._pairs.sum())
        wanted: dict[str, Any] = {"games": (np.int64, ("times",)), "perfect": (np.float64, ("times",))}
        wanted |= {"q": (np.float32, pairs), "counts": (np.int32, pairs)}
        for iteration in range(1, done + 1):
            file = run.values_file(iteration)
            with run.remedy(done) if iteration == done else nullcontext():
                arrays = load_arrays(file)
                check_arrays(file, arrays, wanted)
            self.games += arrays["games"].tolist()
            self._perfect += arrays["perfect"].tolist()
            self._q += list(arrays["q"])
            self._counts += list(arrays["counts"])
        with run.remedy(done):
            self.table.load(run.checkpoint(done) / "table.npz")
        self.metrics = run.all_metrics(done)

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
