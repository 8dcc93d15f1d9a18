"""Grading many Connect 4 positions: over processes, with progress, and never the same position twice.

What has been solved is kept in ~/.cache/azlab/connect4 (or under XDG_CACHE_HOME), one file for each board and kind of question.
"""

import contextlib
import multiprocessing
import os
import signal
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.files import expanded, make_own_folder, user_cache
from azlab.games.connect4 import Connect4
from azlab.oracles.connect4 import finished_values
from azlab.oracles.connect4_engines import ENGINES, Engine, new_engine
from azlab.oracles.connect4_solver import BOOK_PLY, ILLEGAL

# Called as progress(positions so far, positions in all).
Progress = Callable[[int, int], None]

CHUNK = 8  # positions that a process takes at a time: enough to hide the cost of asking, few enough to end together
SAVE_SECONDS = 60
# What a damaged file raises while numpy reads it.
_READ_ERRORS = (OSError, EOFError, KeyError, ValueError, TypeError, RuntimeError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Grades:
    """What is known of B positions. Values and scores are for seat 0, as those of the oracle."""

    values: np.ndarray  # float64 [B]
    best: np.ndarray  # bool [B, A]: all best actions; none where the game is over
    scores: np.ndarray | None  # float64 [B, A], NaN where illegal; None if only the best actions were asked for


def grade(
    positions: np.ndarray | Sequence[str],
    game: Connect4 | None = None,
    *,
    all_scores: bool = False,
    engine: str = "auto",
    processes: int | None = None,
    progress: Progress | bool = False,
    cache: str | Path | None = "default",
) -> Grades:
    """Solve many positions, given as states or as lines of moves such as "4453".

    By default the value and the best actions, which is about twice as fast as `all_scores`. `processes` is the number of cores
    unless given; 1 stays in this process. `progress=True` shows a bar. `cache` is a folder, or None to keep nothing.
    Stopped by Ctrl-C, it keeps what was solved, and the next call goes on from there.
    """
    game = Connect4() if game is None else game
    one_of("engine", engine, ENGINES)
    cores = whole_number("processes", processes, 1, 1024) if processes is not None else os.cpu_count() or 1
    states = _as_states(positions, game)
    kind = "scores" if all_scores else "best"
    store = Store(_cache_file(game, kind, cache))
    keys = position_keys(states)
    open_ = np.flatnonzero(~states["over"])
    _, first = np.unique(keys[open_], return_index=True)
    todo = [k for k in open_[first] if int(keys[k]) not in store.rows]
    # Hardest first, so that no process is left with a long one at the end: the fewest stones beyond the book, then more.
    todo.sort(key=lambda k: (states["ply"][k] if states["ply"][k] >= BOOK_PLY else 30, states["ply"][k], keys[k]))
    with _reported(progress, len(todo)) as report, store:
        for k, row in _solve(game, states, todo, engine, kind, cores):
            store.add(int(keys[k]), row)
            report()
    return _grades(game, states, keys, store.rows, all_scores)


def _grades(game: Connect4, states: np.ndarray, keys: np.ndarray, rows: dict[int, np.ndarray], all_scores: bool) -> Grades:
    values = finished_values(states)
    best = np.zeros((len(states), game.num_actions), np.bool_)
    scores = np.full(best.shape, np.nan)
    for k in np.flatnonzero(~states["over"]):
        row = rows[int(keys[k])]
        sign = 1 - 2 * int(states["to_move"][k])
        values[k] = sign * int(row.max())
        best[k] = row == row.max()
        scores[k, row != ILLEGAL] = sign * row[row != ILLEGAL].astype(np.float64)
    return Grades(values, best, scores if all_scores else None)


def _as_states(positions: np.ndarray | Sequence[str], game: Connect4) -> np.ndarray:
    if isinstance(positions, np.ndarray):
        if positions.dtype != game.dtype or positions.ndim != 1:
            raise AzlabError(f"The positions are a one-dimensional array of states of {game!r}, or a list of lines of moves.")
        if (positions["rows"] != game.rows).any() or (positions["cols"] != game.cols).any():
            raise AzlabError(f"Some of the states are of another board than {game!r}; give their game as the second argument.")
        return positions
    if isinstance(positions, str) or not all(isinstance(line, str) for line in positions):
        raise AzlabError("The positions are an array of states or a list of lines of moves, such as ['44', '4453'].")
    return np.concatenate([game.new_states(0), *(game.from_moves(line).state for line in positions)])


def position_keys(states: np.ndarray) -> np.ndarray:
    """A number for each position, uint64 [B], different for different positions of one board."""
    stones = states["stones"]
    mine = np.where(states["to_move"] == 0, stones[:, 0], stones[:, 1])
    return mine + (stones[:, 0] | stones[:, 1])


# --- solving ------------------------------------------------------------------------------------------------------


def _solve(
    game: Connect4, states: np.ndarray, todo: list, engine: str, kind: str, processes: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Solve states[k] for every k in `todo`, in any order: pairs of k and the engine's row of scores."""
    if not todo:
        return
    # This process solves the last position, an easy one, in any case: what is wrong with the engine is said here, and its
    # kernels are compiled once, before the other processes want them.
    here = todo if processes == 1 or len(todo) <= CHUNK else [todo.pop()]
    solver = new_engine(game, engine)
    for k in here:
        yield k, _row(solver, states[k], kind)
    if here is todo:
        return
    del solver
    chunks = [todo[start : start + CHUNK] for start in range(0, len(todo), CHUNK)]
    # A process that starts afresh, not a copy of this one: copies of a process with threads (torch, Jupyter) may hang.
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(processes, len(chunks)), _start_worker, (game, engine, kind)) as pool:
        for ks, rows in pool.imap_unordered(_work, [(chunk, states[chunk]) for chunk in chunks]):
            yield from zip(ks, rows)


def _row(solver: Engine, state: np.record, kind: str) -> np.ndarray:
    return solver.score_moves(state) if kind == "scores" else solver.find_best(state)


_worker: tuple[Engine, str]  # of this process, if it is one of a pool


def _start_worker(game: Connect4, engine: str, kind: str) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one stops the others
    _worker = new_engine(game, engine), kind


def _work(job: tuple[list[int], np.ndarray]) -> tuple[list[int], list[np.ndarray]]:
    solver, kind = _worker
    return job[0], [_row(solver, state, kind) for state in job[1]]


@contextlib.contextmanager
def _reported(progress: Progress | bool, total: int) -> Iterator[Callable[[], None]]:
    """A function to call after each position."""
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if callable(progress):
            progress(done, total)
        elif bar is not None:
            bar.update()

    bar = None
    if progress is True:
        from tqdm.auto import tqdm

        bar = tqdm(total=total, unit="position", smoothing=0.05)
    try:
        yield count
    finally:
        if bar is not None:
            bar.close()


# --- what is known already ----------------------------------------------------------------------------------------


def _cache_file(game: Connect4, kind: str, cache: str | Path | None) -> Path | None:
    if cache is None:
        return None
    folder: Path | None = expanded(cache)
    if cache == "default":
        home = user_cache()
        folder = None if home is None else home / "connect4"
    return None if folder is None else folder / f"{game.rows}x{game.cols}_{kind}.npz"


class Store:
    """Rows of scores by key, in a file that is written aside and renamed. A damaged file counts as an empty one."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.rows = self._read()
        self.unsaved = 0
        self.saved_at = time.monotonic()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self.save()

    def add(self, key: int, row: np.ndarray) -> None:
        self.rows[key] = row
        self.unsaved += 1
        if time.monotonic() - self.saved_at > SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Write the rows, with those that another process has saved meanwhile; where that is not possible, go on without."""
        if self.file is None or not self.unsaved:
            return
        self.rows = {**self._read(), **self.rows}
        with contextlib.suppress(OSError):
            make_own_folder(self.file.parent)
            handle, aside = tempfile.mkstemp(dir=self.file.parent, prefix=f".{self.file.name}.")
            try:
                with os.fdopen(handle, "wb") as stream:
                    np.savez_compressed(stream, keys=_array(self.rows.keys()), rows=np.stack(list(self.rows.values())))
                os.chmod(aside, 0o644)  # mkstemp makes files that only their owner can read; a cache may be shared
                os.replace(aside, self.file)
            except BaseException:
                os.unlink(aside)
                raise
        self.unsaved, self.saved_at = 0, time.monotonic()

    def _read(self) -> dict[int, np.ndarray]:
        if self.file is None:
            return {}
        try:
            with self.file.open("rb") as stream, np.load(stream, allow_pickle=False) as content:
                keys, rows = content["keys"], content["rows"]
                cols = int(self.file.name.partition("x")[2].partition("_")[0])
                if keys.dtype != np.uint64 or rows.dtype != np.int8 or rows.shape != (len(keys), cols):
                    return {}
                return dict(zip(keys.tolist(), rows))
        except _READ_ERRORS:
            return {}


def _array(keys: Iterable[int]) -> np.ndarray:
    return np.fromiter(keys, np.uint64)
