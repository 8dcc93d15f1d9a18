"""What self-play teaches: examples, and the window of examples a training draws from.

The window forgets the oldest positions first. With `merge`, a position that is in it already is not added again: its targets move
towards the new ones (S5 section 3.6.1), and it counts as new again, so that openings, which every game repeats, never leave.
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
    """The window. `examples()` are those in it, in the order in which their positions first came."""

    def __init__(self, game: Game, merge: float = 0.0) -> None:
        if not 0 <= merge <= 1:
            raise AzlabError(f"merge is the weight of a repeated position's new targets, from 0 (off) to 1, not {merge}.")
        self.game, self.merge = game, merge
        self._store = no_examples(game, 1024)
        self._first, self._end = 0, 0  # the window is rows first..end of the store
        self._seen = np.zeros(0, np.uint64)  # fingerprints of all positions ever added, sorted
        self._rows: dict[int, int] = {}  # with `merge`: row of each fingerprint
        self._last = np.zeros(1024, np.int64)  # with `merge`: when each row last came, counted in examples
        self._added = 0  # examples so far

    def __len__(self) -> int:
        return self._end - self._first

    def examples(self) -> Examples:
        """All examples of the window; not to be written to."""
        return self._store.take(slice(self._first, self._end))

    def count_new(self, examples: Examples) -> int:
        """How many different positions of `examples` are not in the window."""
        marks = np.unique(fingerprints(examples.states))
        if self.merge:
            return sum(mark not in self._rows for mark in marks.tolist())
        return len(np.setdiff1d(marks, fingerprints(self.examples().states)))

    def add(self, examples: Examples) -> int:
        """Take in examples; return how many of them were positions never seen before."""
        marks = fingerprints(examples.states)
        fresh = np.setdiff1d(marks, self._seen)
        self._seen = np.union1d(self._seen, fresh)
        if self.merge:
            self._merge(examples, marks)
        else:
            self._append(examples)
        self._added += examples.size
        return len(fresh)

    def _append(self, examples: Examples) -> None:
        self._make_room(examples.size)
        for part, new in zip(self._store, examples, strict=True):
            part[self._end : self._end + examples.size] = new
        self._end += examples.size

    def _merge(self, examples: Examples, marks: np.ndarray) -> None:
        """Append the positions that are new to the window, then fold the repetitions into it, one after another."""
        known, end = self._rows, self._end
        new: list[int] = []
        repeated: list[int] = []
        for k, mark in enumerate(marks.tolist()):
            if mark in known:
                repeated.append(k)
            else:
                known[mark] = end + len(new)
                new.append(k)
        self._append(examples.take(np.array(new, np.int64)))
        self._last[end : self._end] = self._added + np.array(new, np.int64)
        weight, store = np.float32(self.merge), self._store
        for k in repeated:
            row = known[int(marks[k])]
            self._last[row] = self._added + k
            for part in ("policy", "result", "reply"):
                old, now = getattr(store, part), getattr(examples, part)
                if part != "reply" or now[k].any():
                    old[row] = old[row] * (1 - weight) + now[k] * weight if part != "reply" or old[row].any() else now[k]

    def trim(self, size: int) -> None:
        """Forget the oldest positions beyond `size`."""
        surplus = len(self) - size
        if surplus <= 0:
            return
        if not self.merge:
            self._first += surplus
            return
        kept = np.sort(np.argsort(self._last[: self._end])[surplus:])
        for part in (*self._store, self._last):
            part[:size] = part[kept]
        self._end = size
        self._rows = {mark: row for row, mark in enumerate(fingerprints(self.examples().states).tolist())}

    def _make_room(self, count: int) -> None:
        if self._end + count <= self._store.size:
            return
        kept = len(self)
        store = no_examples(self.game, max(2 * kept, kept + count, 1024))
        for part, old in zip(store, self._store, strict=True):
            part[:kept] = old[self._first : self._end]
        self._last = np.concatenate([self._last[self._first : self._end], np.zeros(store.size - kept, np.int64)])
        self._store, self._first, self._end = store, 0, kept
