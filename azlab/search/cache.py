"""A memory around any evaluator: a compiled hash table of the positions it was asked about.

What it said about up to `capacity` positions lies in dense arrays, in the order of arrival, so that only the part in use
takes memory. An open-addressing table of `slots` finds a position by a hash of its state; the state itself is compared in
full, so equal hashes cost time but never give a wrong answer. In a full memory a new position takes the place of the
oldest one.
"""

from typing import NamedTuple

import numpy as np

from azlab.errors import AzlabError
from azlab.games.kernel import kernel, mix
from azlab.games.packed import as_words
from azlab.search.evaluators import Evaluator, checked

MOST = 2**30  # positions; the slots are int32


class Table(NamedTuple):
    """N positions at most, of W words of 8 bytes and A actions. The kernels change the arrays in place."""

    slots: np.ndarray  # int32 [a power of two, over 4/3 N]: 1 + the number of a position, 0 where free
    hashes: np.ndarray  # uint64 [N]
    keys: np.ndarray  # uint64 [N, W]: the states
    rows: np.ndarray  # float32 [N, A + 2]: priors, value, chance of a draw
    stored: np.ndarray  # int64 [1]: how many were ever stored; the next one gets the number `stored` modulo N


def new_table(capacity: int, words: int, actions: int) -> Table:
    """An empty table. Its pages are not touched here, so the system gives memory as it fills."""
    try:
        return Table(
            slots=np.zeros(1 << (capacity * 4 // 3).bit_length(), np.int32),
            hashes=np.empty(capacity, np.uint64),
            keys=np.empty((capacity, words), np.uint64),
            rows=np.empty((capacity, actions + 2), np.float32),
            stored=np.zeros(1, np.int64),
        )
    except MemoryError:
        size = capacity * (8 * words + 4 * actions + 24) / 1e9
        raise AzlabError(f"A cache of {capacity} such positions takes {size:.1f} GB; choose a smaller capacity.") from None


@kernel
def hash_of(words):
    """A hash of a state, uint64 [W]: four chains side by side, faster than one for large states.

    They are turned before they meet, by no whole bytes, or the same change to bytes of two words could cancel out. The last
    two rounds carry every bit to the high bits, which `first_slot` takes.
    """
    a = b = c = d = np.uint64(0x9E3779B97F4A7C15)
    fours = len(words) // 4 * 4
    for k in range(0, fours, 4):
        a = mix(a, words[k])
        b = mix(b, words[k + 1])
        c = mix(c, words[k + 2])
        d = mix(d, words[k + 3])
    for k in range(fours, len(words)):
        a = mix(a, words[k])
    b = b << np.uint64(11) | b >> np.uint64(53)
    c = c << np.uint64(29) | c >> np.uint64(35)
    d = d << np.uint64(47) | d >> np.uint64(17)
    return mix(mix(a ^ b ^ c ^ d, np.uint64(0)), np.uint64(0))


@kernel
def first_slot(value, slots):
    """Where the search for a hash begins in `slots`, an array whose length is a power of two below 2**32."""
    return np.int64(((value >> np.uint64(32)) * np.uint64(len(slots))) >> np.uint64(32))


@kernel
def is_equal(one, other):
    """Whether two states are the same: uint64 [W] each."""
    for k in range(len(one)):
        if one[k] != other[k]:
            return False
    return True


@kernel
def look_up(table, words, priors, values, draws, missing, source, hashes):
    """Fill in what is known about the states `words`, uint64 [B, W], and list the others.

    `priors` float32 [B, A], `values` and `draws` float32 [B] are written where a state is known; `source` int64 [B] is then
    -1. Each unknown state is listed once in `missing` int64 [B], by its first row, with its hash in `hashes`
    uint64 [B], and `source` says at which place. Return how many are missing.
    """
    batch, actions = priors.shape
    mask = len(table.slots) - 1
    size = 2
    while size < 2 * batch:
        size *= 2
    listed = np.zeros(size, np.int32)  # a table like `slots`, of 1 + the place in `missing`
    count = 0
    for i in range(batch):
        value = hash_of(words[i])
        source[i] = -1
        slot = first_slot(value, table.slots)
        while table.slots[slot] != 0:
            known = table.slots[slot] - 1
            if table.hashes[known] == value and is_equal(table.keys[known], words[i]):
                for action in range(actions):
                    priors[i, action] = table.rows[known, action]
                values[i] = table.rows[known, actions]
                draws[i] = table.rows[known, actions + 1]
                break
            slot = (slot + 1) & mask
        if table.slots[slot] != 0:
            continue
        slot = first_slot(value, listed)
        while listed[slot] != 0:
            place = listed[slot] - 1
            if hashes[place] == value and is_equal(words[missing[place]], words[i]):
                source[i] = place
                break
            slot = (slot + 1) & (size - 1)
        if listed[slot] == 0:
            source[i] = count
            missing[count] = i
            hashes[count] = value
            count += 1
            listed[slot] = count
    return count


@kernel
def forget(table, known):
    """Free the slot of a position, and move those behind it up, so that no search for them ends at the gap."""
    mask = len(table.slots) - 1
    gap = first_slot(table.hashes[known], table.slots)
    while table.slots[gap] != known + 1:
        gap = (gap + 1) & mask
    slot = (gap + 1) & mask
    while table.slots[slot] != 0:
        first = first_slot(table.hashes[table.slots[slot] - 1], table.slots)
        if (slot - first) & mask >= (slot - gap) & mask:  # its search passes the gap
            table.slots[gap] = table.slots[slot]
            gap = slot
        slot = (slot + 1) & mask
    table.slots[gap] = 0


@kernel
def store(table, words, count, missing, source, hashes, new_priors, new_values, new_draws, priors, values, draws):
    """Remember what was said about the first `count` states of `missing`, and copy it to all their rows.

    `new_priors` float32 [count, A], `new_values` and `new_draws` float32 [count] are what was said; the rest is as in
    `look_up`.
    """
    batch, actions = priors.shape
    capacity, mask = len(table.keys), len(table.slots) - 1
    for j in range(count):
        known = table.stored[0] % capacity
        if table.stored[0] >= capacity:
            forget(table, known)
        table.hashes[known] = hashes[j]
        table.keys[known] = words[missing[j]]
        for action in range(actions):
            table.rows[known, action] = new_priors[j, action]
        table.rows[known, actions] = new_values[j]
        table.rows[known, actions + 1] = new_draws[j]
        slot = first_slot(hashes[j], table.slots)
        while table.slots[slot] != 0:
            slot = (slot + 1) & mask
        table.slots[slot] = known + 1
        table.stored[0] += 1
    for i in range(batch):
        j = source[i]
        if j >= 0:
            for action in range(actions):
                priors[i, action] = new_priors[j, action]
            values[i] = new_values[j]
            draws[i] = new_draws[j]


class CachedEvaluator:
    """Remembers what another evaluator said; shared by all games of a batch.

    Equal states of one batch are evaluated once, and count as one miss. When full, the memory forgets what it learnt first.
    It is for one game: states of another kind begin a new memory. One thread at a time may use an instance; threads with
    an instance each run in parallel.
    """

    def __init__(self, evaluator: Evaluator, capacity: int = 200_000) -> None:
        if capacity < 1:
            raise AzlabError(f"A cache needs room for at least one position, not {capacity}.")
        if capacity > MOST:
            raise AzlabError(f"A cache has room for at most {MOST} positions, not {capacity}.")
        self.evaluator, self.capacity = evaluator, int(capacity)
        self.hits = self.misses = 0
        self._table: Table | None = None
        self._kind: tuple[np.dtype, int] | None = None

    def clear(self) -> None:
        """Forget everything, after the evaluator behind has changed."""
        if self._table is not None:
            self._table.slots[:] = 0
            self._table.stored[:] = 0

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        count, actions = legal.shape
        if count == 0:  # nothing to say, and nothing to ask
            return ()
        words = as_words(states)
        if self._table is None or self._kind != (states.dtype, actions):
            self._table, self._kind = new_table(self.capacity, words.shape[1], actions), (states.dtype, actions)
        found = np.empty((count, actions), np.float32), np.empty(count, np.float32), np.empty(count, np.float32)
        lists = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.uint64)
        new = look_up(self._table, words, *found, *lists)
        self.misses += new
        self.hits += count - new
        if new:
            missing = lists[0][:new]
            asked = (states, legal) if new == count else (states[missing], legal[missing])
            parts = checked(self.evaluator.evaluate(*asked), new, actions)
            store(self._table, words, new, *lists, *parts, *found)
        return found
