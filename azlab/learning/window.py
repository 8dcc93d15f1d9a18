"""What self-play teaches: examples, and the window of examples a training draws from.

The window forgets the oldest positions first. With `merge`, a position that is in it already is not added again: its targets move
towards the new ones (S5 section 3.6.1).
"""

from typing import NamedTuple

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.games.packed import as_words


class Examples(NamedTuple):
    """B positions and what a network should say of them. Policies are stored in half precision, as they are on disk."""

    states: np.ndarray  # records [B]
    policy: np.ndarray  # float16 [B, A]: the moves' shares
    result: np.ndarray  # float32 [B, 3]: chances of draw, win, loss for the player to move
    reply: np.ndarray  # float16 [B, A]: the opponent's shares one move later; all 0 where there is no such move

    @property
    def size(self) -> int:
        """B."""
        return len(self.states)

    def take(self, rows: np.ndarray | slice) -> "Examples":
        """The examples of these rows."""
        return Examples(*(part[rows] for part in self))

    @property
    def values(self) -> np.ndarray:
        """Expected results for the player to move, float32 [B]."""
        return self.result[:, 1] - self.result[:, 2]


def no_examples(game: Game, count: int = 0) -> Examples:
    """`count` empty examples."""
    shape = count, game.num_actions
    return Examples(
        np.zeros(count, game.dtype), np.zeros(shape, np.float16), np.zeros((count, 3), np.float32), np.zeros(shape, np.float16)
    )


def joined(game: Game, parts: list[Examples]) -> Examples:
    """All examples of `parts`, in order."""
    return Examples(*(np.concatenate(arrays) for arrays in zip(no_examples(game), *parts, strict=True)))


def fingerprints(states: np.ndarray) -> np.ndarray:
    """A number for each state, uint64 [B]; two different states share one with a chance of about 1 in 10^19."""
    words = as_words(states)
    found = np.full(len(states), 0x9E3779B97F4A7C15, np.uint64)
    for column in range(words.shape[1]):  # multiply and shift, as SplitMix64 does
        found = (found ^ words[:, column]) * np.uint64(0xBF58476D1CE4E5B9)
        found ^= found >> np.uint64(31)
        found *= np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(29)
    return found


class Window:
    """The window. `examples()` are those in it, the oldest first."""

    def __init__(self, game: Game, merge: float = 0.0) -> None:
        if not 0 <= merge <= 1:
            raise AzlabError(f"merge is the weight of a repeated position's new targets, from 0 (off) to 1, not {merge}.")
        self.game, self.merge = game, merge
        self._store = no_examples(game, 1024)
        self._first, self._end = 0, 0  # the window is rows first..end of the store
        self._seen = np.zeros(0, np.uint64)  # fingerprints of all positions ever added, sorted
        self._rows: dict[int, int] = {}  # with `merge`: row of each fingerprint, counted from the first position ever stored
        self._dropped = 0  # rows cut off the front of the store so far

    def __len__(self) -> int:
        return self._end - self._first

    def examples(self) -> Examples:
        """All examples of the window; not to be written to."""
        return self._store.take(slice(self._first, self._end))

    def add(self, examples: Examples) -> int:
        """Take in examples; return how many of them were positions never seen before."""
        marks = fingerprints(examples.states)
        fresh = np.setdiff1d(marks, self._seen)
        self._seen = np.union1d(self._seen, fresh)
        if self.merge:
            examples = self._merged(examples, marks)
        self._make_room(examples.size)
        for part, new in zip(self._store, examples, strict=True):
            part[self._end : self._end + examples.size] = new
        self._end += examples.size
        return len(fresh)

    def _merged(self, examples: Examples, marks: np.ndarray) -> Examples:
        """Fold known positions into the window; return the others."""
        examples = Examples(*(part.copy() for part in examples))
        weight, new = np.float32(self.merge), []
        pending: dict[int, int] = {}  # fingerprint: row of `examples`, for those that repeat within it
        for k, mark in enumerate(marks.tolist()):
            if mark in self._rows:
                store, row = self._store, self._rows[mark] - self._dropped
            elif mark in pending:
                store, row = examples, pending[mark]
            else:
                pending[mark] = k
                new.append(k)
                continue
            for part in ("policy", "result", "reply"):
                old, now = getattr(store, part), getattr(examples, part)
                if part != "reply" or now[k].any():
                    old[row] = old[row] * (1 - weight) + now[k] * weight if part != "reply" or old[row].any() else now[k]
        for place, k in enumerate(new):
            self._rows[int(marks[k])] = self._dropped + self._end + place
        return examples.take(np.array(new, np.int64))

    def trim(self, size: int) -> None:
        """Forget the oldest positions beyond `size`."""
        surplus = len(self) - size
        if surplus <= 0:
            return
        if self.merge:
            for mark in fingerprints(self._store.states[self._first : self._first + surplus]).tolist():
                del self._rows[mark]
        self._first += surplus

    def _make_room(self, count: int) -> None:
        if self._end + count <= self._store.size:
            return
        kept = len(self)
        store = no_examples(self.game, max(2 * kept, kept + count, 1024))
        for part, old in zip(store, self._store, strict=True):
            part[:kept] = old[self._first : self._end]
        self._dropped += self._first
        self._store, self._first, self._end = store, 0, kept
