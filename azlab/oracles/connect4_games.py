"""Makes solved Connect 4 positions from semi-perfect games, as S5 has them (section 3.3): `azlab data make connect4`.

In a semi-perfect game each move is, with a certain chance, one of the best (fastest win, slowest loss), otherwise any legal
one. From these games S5's program takes positions that are

- not trivial: some legal move is not a best one;
- new: no earlier game of the same player has been there, taken or not. S5's program plays with several processes, its
  players, which know nothing of each other; positions that two of them offer are taken once.

It takes all of them (its first training set), or one of each game at random (its second, and the test sets).

The work is cut into units of some games. A unit is *played*, and when all units before it have been played and it is therefore
known which of its positions are new, *labelled*. Both draw their random numbers from (seed, unit), so the data depends on neither
the number of processes nor on kills. Which engine answers does not matter either, because all answers are exact.
"""

import functools
import itertools
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError, finite_number, whole_number
from azlab.files import load_arrays, save_arrays
from azlab.games.connect4 import Connect4
from azlab.oracles.connect4_engines import Engine, new_engine, opening_book
from azlab.oracles.connect4_grading import position_keys
from azlab.oracles.connect4_solver import ILLEGAL
from azlab.oracles.making import Maker, Progress
from azlab.oracles.workers import Workers, check_stop

GAMES = 100  # of a unit: some seconds of work, which is what a kill may cost
PLIES = 42
PLAY, LABEL, ORDER = range(3)  # what random numbers are for
REMEMBERED_PLIES = 11  # positions with at most so many stones come up again and again; their answers are kept
MOST_REMEMBERED = 200_000
PATIENCE = 50  # units in succession without anything new before it counts as hopeless


@dataclass(frozen=True)
class SemiPerfect:
    """What games, and what is taken from them."""

    perfect: float = 0.5
    one_a_game: bool = False
    count: int = 10_000
    seed: int = 0
    players: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "perfect", float(finite_number("perfect", self.perfect, 0)))
        if self.perfect > 1:
            raise AzlabError(f"perfect is the chance of a perfect move, from 0 to 1, not {self.perfect!r}.")
        if not isinstance(self.one_a_game, bool):
            raise AzlabError(f"one_a_game is true or false, not {self.one_a_game!r}.")
        whole_number("count", self.count, 1, 10**8)
        whole_number("seed", self.seed, 0, 2**63 - 1)
        whole_number("players", self.players, 1, 1024)


def name_of(options: SemiPerfect) -> str:
    parts = [
        f"perfect_{options.perfect:g}",
        "one_a_game" if options.one_a_game else "all",
        str(options.count),
        f"seed_{options.seed}",
    ]
    parts += [f"players_{options.players}"] if options.players > 1 else []
    return f"connect4/made/{'_'.join(parts)}.txt.gz"


def describe(options: SemiPerfect) -> str:
    taken = "one a game from" if options.one_a_game else "all positions of"
    random_share = f"{100 * (1 - options.perfect):g}% random moves"
    return f"{options.count:,} Connect 4 positions, {taken} games with {random_share}, with all best moves"


def advice(options: SemiPerfect) -> str:
    if len(opening_book()[0]):
        return ""
    return "Without an opening book this takes many times as long: pip install bitbully-databases brings one."


# --- one unit ---------------------------------------------------------------------------------------------------------


class Answers:
    """The engine, and its answers about early positions."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._kept: dict[tuple[int, int], np.ndarray] = {}

    def scores(self, state: np.record) -> np.ndarray:
        """As `Engine.find_best`."""
        if state["ply"] > REMEMBERED_PLIES:
            return self.engine.find_best(state)
        key = int(state["stones"][0]), int(state["stones"][1])
        row = self._kept.get(key)
        if row is None:
            row = self.engine.find_best(state)
            if len(self._kept) < MOST_REMEMBERED:
                self._kept[key] = row
        return row

    def first_best(self, state: np.record, order: np.ndarray) -> int:
        """As `Engine.first_best`."""
        if state["ply"] > REMEMBERED_PLIES:
            return self.engine.first_best(state, order)
        return int(order[self.scores(state)[order].argmax()])


@functools.cache
def _answers() -> Answers:
    """Those of this process."""
    return Answers(new_engine(Connect4()))


def play_unit(options: SemiPerfect, unit: int, answers: Answers) -> np.ndarray:
    """The games of a unit: columns from 0 on, int8 [GAMES, PLIES], -1 after the end."""
    rng = np.random.default_rng([options.seed, unit, PLAY])
    game = Connect4()
    games = np.full((GAMES, PLIES), -1, np.int8)
    for moves in games:
        check_stop()
        state = game.new_states(1)
        for ply in itertools.count():
            is_perfect = rng.random() < options.perfect
            order = np.argsort(rng.random(game.cols))
            order = order[game.legal_mask(state)[0, order]]  # the legal columns as chance has them
            moves[ply] = answers.first_best(state[0], order) if is_perfect else order[0]
            game.kernels.play(state, moves[ply : ply + 1].astype(np.int64))
            if state["over"][0]:
                break
    return games


def label_unit(options: SemiPerfect, unit: int, games: np.ndarray, is_new: np.ndarray, answers: Answers) -> np.ndarray:
    """The positions to take: int16 [N, 4] of game, ply, best columns as bits, and result for the player to move as S5 writes it.

    is_new: bool [GAMES, PLIES]
    """
    rng = np.random.default_rng([options.seed, unit, LABEL])
    found = []
    for g, moves in enumerate(games):
        check_stop()
        states = _states(moves)
        plies = [int(ply) for ply in np.argsort(rng.random(PLIES)) if is_new[g, ply]]  # drawn for all, whatever is new
        if not options.one_a_game:
            plies.sort(reverse=True)  # what is proved of later positions helps with the earlier ones
        taken = []
        for ply in plies:
            row = answers.scores(states[ply])
            best = row == row.max()
            if best.sum() < (row != ILLEGAL).sum():
                taken.append((g, ply, int(best @ (1 << np.arange(7))), 1 + int(np.sign(row.max()))))
                if options.one_a_game:
                    break
        found += sorted(taken)
    return np.array(found, np.int16).reshape(-1, 4)


def _states(moves: np.ndarray) -> np.ndarray:
    """The states before each move of a game, [its length]."""
    game = Connect4()
    state, states = game.new_states(1), []
    for move in moves[moves >= 0]:
        states.append(state.copy())
        game.kernels.play(state, np.array([move], np.int64))
    return np.concatenate(states)


def keys_of(games: np.ndarray) -> np.ndarray:
    """A number for the position before each move, uint64 [G, PLIES], different for different positions; 0 after the end."""
    game = Connect4()
    keys = np.zeros(games.shape, np.uint64)
    rows, states = np.arange(len(games)), game.new_states(len(games))
    for ply in range(PLIES):
        is_on = games[rows, ply] >= 0
        rows, states = rows[is_on], states[is_on]
        # one more, because the empty board has 0
        keys[rows, ply] = position_keys(states) + np.uint64(1)
        game.kernels.play(states, games[rows, ply].astype(np.int64))
    return keys


class Seen:
    """The positions that have come up, as a sorted array of numbers: a tenth of the memory of a set."""

    def __init__(self) -> None:
        self._numbers = np.empty(0, np.uint64)

    def add(self, keys: np.ndarray) -> np.ndarray:
        """Which of `keys`, of any shape, have not come up before, be it earlier among them; 0 is none. Now they have."""
        is_new = np.zeros(keys.size, np.bool_)
        numbers, first = np.unique(keys.ravel(), return_index=True)
        places = np.searchsorted(self._numbers, numbers)
        is_known = np.append(self._numbers, np.uint64(0))[places] == numbers
        fresh = (numbers != 0) & ~is_known
        is_new[first[fresh]] = True
        self._numbers = np.insert(self._numbers, places[fresh], numbers[fresh])
        return is_new.reshape(keys.shape)


# --- all units --------------------------------------------------------------------------------------------------------


def _compile() -> None:
    """Have the engine compiled here, once, before the other processes want it."""
    state = Connect4().from_moves("655456441524325231125").state[0]  # any that is quickly solved
    engine = new_engine(Connect4())
    engine.first_best(state, np.flatnonzero(engine.find_best(state) != ILLEGAL))


def _play(options: SemiPerfect, unit: int, file: Path) -> None:
    save_arrays(file, {"games": play_unit(options, unit, _answers())})


def _label(options: SemiPerfect, unit: int, games: np.ndarray, is_new: np.ndarray, file: Path) -> None:
    save_arrays(file, {"positions": label_unit(options, unit, games, is_new, _answers())})


class _Making:
    """The order of the work: what has been played and labelled in a folder, and what can be done next."""

    def __init__(self, options: SemiPerfect, folder: Path, workers: Workers) -> None:
        self.options, self.folder, self.workers = options, folder, workers
        self.running: dict[Path, Future[Any]] = {}
        self.known: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # games, keys and new positions of units, in their order
        self.seen = [Seen() for _ in range(options.players)]
        self.has_worked = False  # or all so far was there from an earlier start

    def labelled(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Games, keys [GAMES, PLIES] and positions to take [N, 4] of one unit after the other, without end."""
        for unit in itertools.count():
            file = self._file("labels", unit)
            while not file.exists():
                self.has_worked = True
                self._give_work(unit)
                self.workers.wait(self.running.values())
            self._note_played()
            games, keys, _ = self.known[unit]
            self.known[unit] = (np.empty(0), np.empty(0), np.empty(0))  # a million games need not stay in memory
            yield games, keys, load_arrays(file)["positions"]

    def _give_work(self, unit: int) -> None:
        """Keep the processes busy: first with labels, then with games, but not far beyond the unit that is waited for."""
        self.running = {file: future for file, future in self.running.items() if not future.done()}
        self._note_played()
        ahead = range(unit, unit + (2 * self.workers.processes if self.workers.processes > 1 else 1))
        for k in ahead[: len(self.known) - unit]:
            games, _, is_new = self.known[k]
            self._submit(_label, k, self._file("labels", k), games, is_new)
        for k in ahead:
            self._submit(_play, k, self._file("games", k))

    def _submit(self, work: Any, unit: int, file: Path, *arguments: Any) -> None:
        if len(self.running) < 2 * self.workers.processes and file not in self.running and not file.exists():
            self.running[file] = self.workers.submit(work, self.options, unit, *arguments, file)

    def _note_played(self) -> None:
        """Find out what is new in the units that have been played since."""
        while (file := self._file("games", len(self.known))).exists():
            games = load_arrays(file)["games"]
            keys = keys_of(games)
            self.known.append((games, keys, self.seen[len(self.known) % self.options.players].add(keys)))

    def _file(self, what: str, unit: int) -> Path:
        return self.folder / f"{what}_{unit:06d}.npz"


def make(options: SemiPerfect, folder: Path, processes: int, progress: Progress) -> bytes:
    """The lines of the data set. One position a game: in random order; all positions: game after game, as they were played."""
    lines: list[bytes] = []
    seen, idle = Seen(), 0
    if processes > 1:
        _compile()
    with Workers(processes) as workers:
        making = _Making(options, folder, workers)
        for games, keys, positions in making.labelled():
            is_new = seen.add(keys[positions[:, 0], positions[:, 1]])
            lines += [_line(games[g], ply, best, result) for g, ply, best, result in positions[is_new].tolist()]
            idle = 0 if is_new.any() else idle + 1
            if idle == PATIENCE:
                raise AzlabError(
                    f"These games no longer bring new positions: there are {len(lines):,} after {idle * GAMES:,} games in vain. "
                    "Ask for fewer."
                )
            if making.has_worked:
                progress(min(len(lines), options.count), options.count)
            if len(lines) >= options.count:
                break
    del lines[options.count :]
    if options.one_a_game:  # early positions are new in early games only, so the first lines would not be like the others
        rng = np.random.default_rng([options.seed, 0, ORDER])
        lines = [lines[k] for k in np.argsort(rng.random(len(lines)))]
    return b"".join(lines)


def _line(moves: np.ndarray, ply: int, best: int, result: int) -> bytes:
    before = "".join(str(move + 1) for move in moves[:ply].tolist())
    columns = "".join(str(col + 1) for col in range(7) if best >> col & 1)
    return f"{before} {columns} {result}\n".encode()


MAKER = Maker(
    options=SemiPerfect,
    name=name_of,
    describe=describe,
    make=make,
    meaning={
        "perfect": "the chance that a move is one of the best; else it is any legal one",
        "one_a_game": "take one position of each game, not all",
        "count": "how many positions",
        "seed": "of everything random",
        "players": "so many play, each remembering where it has been; source S5 had 4 for its test sets, 16 for a million",
    },
    advice=advice,
)
