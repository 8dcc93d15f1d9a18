"""Position sets: positions with the moves and results to learn from, read from data files, and split without a leak.

    positions = connect4_set("connect4/train_100k.txt.gz")
    sets = split_set(positions)

Targets are kept as move numbers, not as shares of all moves: a million Go positions then need little more memory than their
states. `PositionSet.examples` makes a batch of what a learner reads.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.formats.sgf import PASS, SgfError, SgfGame, main_line
from azlab.games.game import Game
from azlab.games.go import Go
from azlab.learning.evaluation import UNKNOWN, Graded
from azlab.learning.window import Examples

Rows = np.ndarray | slice


@dataclass(frozen=True, eq=False)
class PositionSet:
    """N positions, what is right in them, and the game each was taken from."""

    game: Game
    states: np.ndarray
    # records [N]
    moves: np.ndarray
    # int16 [N, K]: the right moves of each, filled up with -1
    results: np.ndarray
    # int8 [N]: for seat 0, UNKNOWN where the file does not tell
    games: np.ndarray
    # int64 [N]: positions with the same number come from the same game
    labels: Callable[["PositionSet"], np.ndarray] | None = None
    # what is taught as the results, int8 [N] for seat 0, where that is not the truth; `graded` has the true ones all the same
    left_out: Mapping[str, int] = field(default_factory=dict)
    # how many games of the file are not in the set, by reason

    def __post_init__(self) -> None:
        sizes = {len(part) for part in (self.states, self.moves, self.results, self.games)}
        if len(sizes) != 1 or self.moves.ndim != 2:
            raise AzlabError("A position set needs a row of moves, a result and a game for each of its states.")
        if self.states.dtype != self.game.dtype:
            raise AzlabError(f"The states of this position set are not of {self.game!r}.")
        if self.moves.size and not -1 <= self.moves.min() <= self.moves.max() < self.game.num_actions:
            raise AzlabError(f"A position set has a move that {self.game!r} does not have.")

    @property
    def size(self) -> int:
        """N."""
        return len(self.states)

    def take(self, rows: Rows) -> "PositionSet":
        """The positions of these rows."""
        parts = {name: getattr(self, name)[rows] for name in ("states", "moves", "results", "games")}
        return replace(self, **parts)

    def best(self) -> np.ndarray:
        """The right moves as a mask, bool [N, A]."""
        mask = np.zeros((self.size, self.game.num_actions + 1), np.bool_)
        mask[np.arange(self.size)[:, None], self.moves] = True  # the filler -1 marks the column too many
        return mask[:, :-1]

    def examples(self, rows: Rows = slice(None)) -> Examples:
        """What a learner reads: equal shares for all right moves (S5 section 3.4), the result for the player to move.

        Where the result is unknown all three chances are 0, so that no loss comes of it; the same holds for replies.
        """
        part = self.take(rows)
        best = part.best()
        policy = (best / best.sum(axis=1, keepdims=True)).astype(np.float16)
        is_first = part.states["to_move"] == 0
        results = part.results if self.labels is None else self.labels(part)
        for_mover = np.where(is_first | (results == UNKNOWN), results, -results)
        chances = (for_mover[:, None] == np.array([0, 1, -1])).astype(np.float32)
        return Examples(part.states, policy, chances, np.zeros_like(policy))

    def graded(self) -> Graded:
        """The positions as a test, with the true results."""
        best = self.best()
        return Graded(self.states, best, best, self.results, np.zeros((len(best), 0), np.float32))


# --- Connect 4 --------------------------------------------------------------------------------------------------------


def connect4_set(name: str, first: int | None = None) -> PositionSet:
    """The positions of a Connect 4 file, or its `first` ones; all best columns are right (S5 section 3.3, strong labels).

    The training files list the positions of a game one after the other, each longer than the one before; so a line that does not
    go on from the line before begins a new game. The test files have one position of each game.
    """
    from azlab.formats.datasets import connect4_positions
    from azlab.games.connect4 import Connect4

    texts, answers, outcomes = [], [], bytearray()  # a list of a million tuples would take three times as long
    number_of: dict[tuple[int, ...], int] = {}  # few different answers occur
    for text, best, outcome in itertools.islice(connect4_positions(name), _checked(first)):
        texts.append(text)
        answers.append(number_of.setdefault(best, len(number_of)))
        outcomes.append(outcome)
    is_new = [not after.startswith(before) for before, after in itertools.pairwise(texts)]
    moves = np.array([best + (0,) * (7 - len(best)) for best in number_of], np.int16)[answers] - np.int16(1)
    game = Connect4()
    states = _after_columns(game, texts)
    for_mover = np.frombuffer(outcomes, np.int8) - np.int8(1)
    results = np.where(states["to_move"] == 0, for_mover, -for_mover)
    return PositionSet(game, states, moves, results, np.cumsum([0, *is_new]))


def _checked(first: int | None) -> int | None:
    return None if first is None else whole_number("first", first, 1, 10**9)


def _after_columns(game: Game, texts: list[str]) -> np.ndarray:
    """The states after these moves, each a text of column numbers; [N]. Shorter ones are sorted to the front while playing."""
    lengths = np.array([len(text) for text in texts])
    order = np.argsort(lengths, kind="stable")
    width = max(1, int(lengths.max()))
    columns = np.array(texts, f"S{width}").view(np.uint8).reshape(-1, width)[order].astype(np.int64) - ord("1")
    states = game.new_states(len(texts))
    for ply in range(int(lengths.max())):
        start = np.searchsorted(lengths[order], ply, side="right")
        moves = np.ascontiguousarray(columns[start:, ply])
        is_legal = game.legal_mask(states[start:])[np.arange(len(moves)), moves]
        if not is_legal.all():
            raise AzlabError(
                f"{texts[order[start + is_legal.argmin()]]} are no moves of a game of {game.name}: one is not legal."
            )
        game.kernels.play(states[start:], moves)
    placed = np.empty_like(states)
    placed[order] = states
    return placed


# --- Go ---------------------------------------------------------------------------------------------------------------


def go_set(name: str, size: int, first: int | None = None, handicap: bool = True, passes: bool = True) -> PositionSet:
    """The positions before each move of the games in an archive of SGF files, or of its `first` games; the move played is right.

    Games on other boards, games that cannot be read and games with moves that our rules forbid (simple ko, no suicide, players in
    turn) are left out, and `left_out` counts them. `handicap=False` also leaves out games that begin with stones on the
    board, `passes=False` the positions in which somebody passed: S2's nets have no output for it.
    """
    from azlab.formats.datasets import sgf_games

    left_out: Counter[str] = Counter()
    game = Go(size)
    records, starts = [], []
    for _, text in itertools.islice(sgf_games(name), _checked(first)):
        try:
            record = _usable(main_line(text), size, handicap)
            starts.append(_first_state(game, record))
            records.append(record)
        except SgfError:
            left_out["cannot be read"] += 1
        except AzlabError as error:
            left_out[str(error)] += 1
    if not records:
        raise AzlabError(f"{name} has no games that can be used on {size}x{size}: {dict(left_out)}.")
    found = _followed(game, np.concatenate(starts), records, left_out)
    is_wanted = passes | (found.moves[:, 0] != size * size)
    return replace(found.take(is_wanted), left_out=dict(left_out))


def _usable(record: SgfGame, size: int, handicap: bool) -> SgfGame:
    """The record, or the reason to leave it out as an AzlabError."""
    if record.size != size:
        raise AzlabError("another board size")
    if not record.moves:
        raise AzlabError("no moves")
    if (record.black or record.white) and not handicap:
        raise AzlabError("stones at the start")
    return record


def _first_state(game: Go, record: SgfGame) -> np.ndarray:
    """The state before the first move, [1], with the record's stones, player and komi."""
    state = game.new_states(1)
    if record.black or record.white:
        try:
            state = game.set_up(record.black, record.white, record.to_move).state
        except AzlabError:
            raise AzlabError("impossible set-up") from None
    state["to_move"] = record.to_move
    if record.komi is not None:
        state["komi"] = record.komi
    return state


def _followed(game: Go, states: np.ndarray, records: list[SgfGame], left_out: Counter[str]) -> PositionSet:
    """Play all games at once, move by move, and keep each state before a move. Two passes end a game, whatever follows."""
    seats, actions = _as_table(records, game.num_actions - 1)
    going = np.arange(len(records))
    parts: list[tuple[np.ndarray, ...]] = []
    broken: list[np.ndarray] = []
    for ply in range(actions.shape[1]):
        going = going[(actions[going, ply] >= 0) & ~states["over"][going]]
        now, action = states[going], actions[going, ply]
        is_legal = game.legal_mask(now)[np.arange(len(now)), action] & (now["to_move"] == seats[going, ply])
        broken.append(going[~is_legal])
        going, now, action = going[is_legal], now[is_legal], action[is_legal]
        if not len(going):
            break
        parts.append((now.copy(), action.astype(np.int16), going))
        game.kernels.play(now, action)
        states[going] = now
    before, moves, games = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    bad = np.concatenate(broken)
    if len(bad):
        left_out["moves against the rules"] += len(bad)
    rows = np.argsort(games, kind="stable")
    rows = rows[~np.isin(games[rows], bad)]
    results = np.array([_result(record.result) for record in records], np.int8)
    return PositionSet(game, before[rows], moves[rows, None], results[games[rows]], games[rows])


def _as_table(records: list[SgfGame], pass_action: int) -> tuple[np.ndarray, np.ndarray]:
    """Seats int8 [G, L] and actions int64 [G, L] of the games' moves; -1 after the last."""
    shape = len(records), max(len(record.moves) for record in records)
    seats, actions = np.full(shape, -1, np.int8), np.full(shape, -1, np.int64)
    for k, record in enumerate(records):
        table = np.array(record.moves)
        seats[k, : len(table)] = table[:, 0]
        actions[k, : len(table)] = np.where(table[:, 1] == PASS, pass_action, table[:, 1])
    return seats, actions


def _result(text: str) -> int:
    """What an SGF file says of the result (RE), for Black."""
    text = text.strip().lower()
    if text in ("0", "draw", "jigo"):
        return 0
    return {"b+": 1, "w+": -1}.get(text[:2], UNKNOWN)


# --- splitting --------------------------------------------------------------------------------------------------------


class SplitSets(NamedTuple):
    """Three parts of a position set: to learn from, to steer the training by, and to test on at the end."""

    train: PositionSet
    validation: PositionSet
    test: PositionSet


def split_set(
    positions: PositionSet, shares: Sequence[float] = (0.8, 0.1, 0.1), seed: int = 0, by_position: bool = False
) -> SplitSets:
    """Split by game and then shuffle the positions, as S2 does: no game is on two sides.

    `by_position=True` deals out single positions, as S3 does and S5's program: neighbours in a game, which differ by one stone,
    then land on both sides, and the test asks what was learnt by heart. `leak` measures it. Sides are shares of positions,
    by game as near as games can be cut.
    """
    if len(shares) != 3 or any(not 0 <= share <= 1 for share in shares) or abs(sum(shares) - 1) > 1e-9:
        raise AzlabError(f"shares are three numbers from 0 on that add up to 1, such as (0.8, 0.1, 0.1), not {shares!r}.")
    rng = np.random.default_rng(whole_number("seed", seed, 0, 2**63))
    groups = np.arange(positions.size) if by_position else np.unique(positions.games, return_inverse=True)[1]
    sizes = np.bincount(groups)
    dealt = rng.permutation(len(sizes))
    middle = np.cumsum(sizes[dealt]) - sizes[dealt] / 2  # where each group lies when all are laid out in this order
    side_of_group = np.empty(len(sizes), np.int64)
    side_of_group[dealt] = np.searchsorted(np.cumsum(shares[:2]) * positions.size, middle, side="right")
    sides = [rng.permutation(np.flatnonzero(side_of_group[groups] == side)) for side in range(3)]
    if any(share > 0 and not len(rows) for share, rows in zip(shares, sides, strict=True)):
        raise AzlabError(f"{len(sizes)} {'positions' if by_position else 'games'} are too few to split by {tuple(shares)}.")
    return SplitSets(*(positions.take(rows) for rows in sides))


def leak(sets: SplitSets) -> float:
    """The share of test positions that come from games the training has seen; 0 if split by game."""
    return float(np.isin(sets.test.games, sets.train.games).mean()) if sets.test.size else 0.0
