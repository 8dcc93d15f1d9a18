"""Position sets: positions with the moves and results to learn from, read from data files, and split without a leak.

    positions = connect4_set("connect4/train_100k.txt.gz")      # of Go: azlab.learning.go_sets
    sets = split_set(positions)

Targets are kept as move numbers, not as shares of all moves: a million Go positions then need little more memory than their
states. `PositionSet.examples` makes a batch of what a learner reads.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.games.game import Game
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
    for text, best, outcome in itertools.islice(connect4_positions(name), checked_first(first)):
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


def checked_first(first: int | None) -> int | None:
    """How many of a file are read, None for all."""
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
