"""Position sets of Go: the positions before each move of the games in an archive of SGF files; the move played is right.

    positions = go_set("go/kgs_2015.tar.gz", 19)
    positions.left_out                       # {"cannot be read": 3, ...}: games that are not in the set, by reason

Parsing takes most of the time, so what was parsed is kept in the user's cache, a few bytes a move; the positions are played anew,
by the rules as they are now. A kept file counts only for the same archive (its checksum) and the same code that parsed it.
"""

import contextlib
import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from azlab.errors import AzlabError
from azlab.files import load_arrays, save_arrays, user_cache
from azlab.formats import datasets, sgf, sgf_tree
from azlab.formats.records import EMPTY, OTHER, OWN, Records
from azlab.formats.sgf import PASS, SgfError, SgfGame, main_line
from azlab.games.go import Go
from azlab.intact import check_arrays
from azlab.learning.alphazero import Progress, silent
from azlab.learning.evaluation import UNKNOWN
from azlab.learning.position_sets import PositionSet, checked_first

AT_ONCE = 500  # games that are followed together, so that little memory is needed beside the positions
REPORT = 50  # files between two reports
BAD_FILES = ("cannot be read", "another board size", "no moves")  # why a file gives no game


class Games(NamedTuple):
    """Records as arrays, of G games with M moves in all."""

    lengths: np.ndarray  # int32 [G], moves of each game
    seats: np.ndarray  # int8 [M]
    points: np.ndarray  # int16 [M], PASS for a pass
    boards: np.ndarray  # int8 [G, size * size], stones before the first move: a seat, or 2
    first: np.ndarray  # int8 [G], the seat that begins
    komi: np.ndarray  # float32 [G], NaN where the file does not say
    results: np.ndarray  # int8 [G], for Black
    bad: np.ndarray  # int64 [3], files that gave no game, in the order of BAD_FILES


def go_set(
    name: str,
    size: int,
    first: int | None = None,
    handicap: bool = True,
    passes: bool = True,
    progress: Progress = silent,
) -> PositionSet:
    """The positions of an archive's games on this board, or of the games in its `first` files.

    Games on other boards, games that cannot be read and games with moves that our rules forbid (simple ko, no suicide, players in
    turn) are left out, and `left_out` counts them. `handicap=False` also leaves out games that begin with stones on the
    board, `passes=False` the positions in which somebody passed: S2's nets have no output for it.
    `progress` is called as progress("reading", files, all files) and progress("playing", games, all games).
    """
    game = Go(size)
    games = read_games(name, size, first, progress)
    left_out = Counter({reason: int(count) for reason, count in zip(BAD_FILES, games.bad, strict=True) if count})
    parts = list(_followed_in_parts(game, games, left_out, handicap, passes, progress))
    if not sum(part.size for part in parts):
        raise AzlabError(f"{name} has no games that can be used on {size}x{size}: {dict(left_out)}.")
    states, moves, results, numbers = (
        np.concatenate([getattr(part, field) for part in parts]) for field in ("states", "moves", "results", "games")
    )
    return PositionSet(game, states, moves, results, numbers, left_out=dict(left_out))


def as_records(positions: PositionSet) -> Records:
    """The positions as S2's program stores them (azlab.formats.records); those in which somebody passed have no record."""
    part = positions.take(positions.moves[:, 0] < positions.game.num_actions - 1)
    planes = part.game.encode(part.states)
    boards = np.full((part.size, *planes.shape[2:]), EMPTY, np.int8)
    boards[planes[:, 0] > 0], boards[planes[:, 1] > 0] = OWN, OTHER
    return Records(part.moves[:, 0], boards)


# --- games ----------------------------------------------------------------------------------------------------------


def read_games(name: str, size: int, first: int | None = None, progress: Progress = silent) -> Games:
    """The records of an archive as arrays: from the cache if they are there, else parsed, and kept."""
    file = _cache_file(name, size, checked_first(first))
    if file is not None and file.is_file():
        try:
            return _loaded(file, size)
        except AzlabError:  # damaged: parse again, and replace it
            file.unlink(missing_ok=True)
    games = _parsed(list(itertools.islice(datasets.sgf_games(name), first)), size, progress)
    if file is not None:
        with contextlib.suppress(AzlabError):  # the cache only saves time, so one that cannot be written is no reason to fail
            save_arrays(file, games._asdict())
    return games


def _cache_file(name: str, size: int, first: int | None) -> Path | None:
    folder = user_cache()
    if folder is None:
        return None
    key = f"{datasets.checksum(name)} {size} {first} {_code_version()}"
    return folder / "go_games" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"


@cache
def _code_version() -> str:
    """The contents of the files that parse: after any change nothing kept by the old code counts."""
    parts = [Path(str(place)).read_bytes() for place in (sgf.__file__, sgf_tree.__file__, __file__)]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _loaded(file: Path, size: int) -> Games:
    arrays = load_arrays(file)
    wanted = {
        "lengths": (np.int32, ("G",)), "seats": (np.int8, ("M",)), "points": (np.int16, ("M",)),
        "boards": (np.int8, ("G", size * size)), "first": (np.int8, ("G",)), "komi": (np.float32, ("G",)),
        "results": (np.int8, ("G",)), "bad": (np.int64, (len(BAD_FILES),)),
    }  # fmt: skip
    check_arrays(file, arrays, wanted)
    games = Games(**arrays)
    if games.lengths.sum() != len(games.seats) or (len(games.lengths) and games.lengths.min() < 1):
        raise AzlabError(f"{file} is damaged: its games do not have the moves that it says.")
    return games


def _parsed(files: list[tuple[str, str]], size: int, progress: Progress) -> Games:
    records: list[SgfGame] = []
    bad: Counter[str] = Counter()
    for number, (_, text) in enumerate(files, 1):
        try:
            record = main_line(text)
            why = "another board size" if record.size != size else "" if record.moves else "no moves"
        except SgfError:
            why = "cannot be read"
        if why:
            bad[why] += 1
        else:
            records.append(record)
        if number % REPORT == 0 or number == len(files):
            progress("reading", number, len(files))
    moves = np.array([move for record in records for move in record.moves], np.int16).reshape(-1, 2)
    boards = np.full((len(records), size * size), 2, np.int8)
    for k, record in enumerate(records):
        boards[k, list(record.black)], boards[k, list(record.white)] = 0, 1
    return Games(
        lengths=np.array([len(record.moves) for record in records], np.int32),
        seats=moves[:, 0].astype(np.int8),
        points=moves[:, 1].copy(),
        boards=boards,
        first=np.array([record.to_move for record in records], np.int8),
        komi=np.array([np.nan if record.komi is None else record.komi for record in records], np.float32),
        results=np.array([_result(record.result) for record in records], np.int8),
        bad=np.array([bad[reason] for reason in BAD_FILES], np.int64),
    )


def _result(text: str) -> int:
    """What an SGF file says of the result (RE), for Black."""
    text = text.strip().lower()
    if text in ("0", "draw", "jigo"):
        return 0
    return {"b+": 1, "w+": -1}.get(text[:2], UNKNOWN)


# --- positions --------------------------------------------------------------------------------------------------------


def _followed_in_parts(
    game: Go, games: Games, left_out: Counter[str], handicap: bool, passes: bool, progress: Progress
) -> Iterator[PositionSet]:
    """The positions of some hundred games after the other; games are numbered through."""
    ends = np.cumsum(games.lengths, dtype=np.int64)
    begins, count, total = ends - games.lengths, 0, len(games.lengths)
    for start in range(0, total, AT_ONCE):
        rows, states = [], []
        for k in range(start, min(start + AT_ONCE, total)):
            has_stones = bool((games.boards[k] != 2).any())
            try:
                if has_stones and not handicap:
                    raise AzlabError("stones at the start")
                states.append(_first_state(game, games, k, has_stones))
                rows.append(k)
            except AzlabError as error:
                left_out[str(error)] += 1
        if rows:
            table = _as_table(games, begins, np.array(rows), game.num_actions - 1)
            found = _followed(game, np.concatenate(states), *table, games.results[rows], left_out)
            wanted = found.take(passes | (found.moves[:, 0] != game.num_actions - 1))
            yield replace(wanted, games=wanted.games + count)
            count += len(rows)
        progress("playing", min(start + AT_ONCE, total), total)


def _first_state(game: Go, games: Games, k: int, has_stones: bool) -> np.ndarray:
    """The state before the first move, [1], with the record's stones, player and komi."""
    state = game.new_states(1)
    if has_stones:
        black, white = (np.flatnonzero(games.boards[k] == seat).tolist() for seat in (0, 1))
        try:
            state = game.set_up(black, white, int(games.first[k])).state
        except AzlabError:
            raise AzlabError("impossible set-up") from None
    state["to_move"] = games.first[k]
    if np.isfinite(games.komi[k]):
        state["komi"] = games.komi[k]
    return state


def _as_table(games: Games, begins: np.ndarray, rows: np.ndarray, pass_action: int) -> tuple[np.ndarray, np.ndarray]:
    """Seats int8 [R, L] and actions int64 [R, L] of these games' moves; -1 after the last."""
    shape = len(rows), int(games.lengths[rows].max())
    seats, actions = np.full(shape, -1, np.int8), np.full(shape, -1, np.int64)
    for k, row in enumerate(rows):
        own = slice(begins[row], begins[row] + games.lengths[row])
        seats[k, : games.lengths[row]] = games.seats[own]
        actions[k, : games.lengths[row]] = np.where(games.points[own] == PASS, pass_action, games.points[own])
    return seats, actions


def _followed(
    game: Go, states: np.ndarray, seats: np.ndarray, actions: np.ndarray, results: np.ndarray, left_out: Counter[str]
) -> PositionSet:
    """Play games at once, move by move, and keep each state before a move. Two passes end a game, whatever follows."""
    going = np.arange(len(states))
    before = np.empty(actions.shape, game.dtype)  # [R, L], filled as far as each game goes
    lengths, is_broken = np.zeros(len(states), np.int64), np.zeros(len(states), np.bool_)
    for ply in range(actions.shape[1]):
        going = going[(actions[going, ply] >= 0) & ~states["over"][going]]
        now, action = states[going], actions[going, ply]
        is_legal = game.are_legal(now, action) & (now["to_move"] == seats[going, ply])
        is_broken[going[~is_legal]] = True
        going, now, action = going[is_legal], now[is_legal], action[is_legal]
        if not len(going):
            break
        before[going, ply] = now
        lengths[going] = ply + 1
        game.kernels.play(now, action)
        states[going] = now
    if is_broken.any():
        left_out["moves against the rules"] += int(is_broken.sum())
    lengths[is_broken] = 0
    is_kept = np.arange(actions.shape[1]) < lengths[:, None]
    numbers = np.repeat(np.arange(len(states)), lengths)
    return PositionSet(game, before[is_kept], actions[is_kept].astype(np.int16)[:, None], results[numbers], numbers)
