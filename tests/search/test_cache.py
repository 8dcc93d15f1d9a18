"""The cache around an evaluator: the same answers with fewer questions, whatever the table goes through."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import azlab
from azlab.search import Explore, Search, puct
from azlab.search.evaluators import CachedEvaluator, UniformEvaluator


class Counting:
    """Counts the states that `evaluator` is asked about."""

    def __init__(self, evaluator):
        self.evaluator, self.asked = evaluator, 0

    def evaluate(self, states, legal):
        self.asked += len(states)
        return self.evaluator.evaluate(states, legal)


def positions(game, count, seed=0):
    """States of random games, `count` of them, many of them equal, with their legal moves."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        states = game.new_states(1)
        while not states["over"][0] and len(found) < count:
            found.append(states.copy())
            legal = np.flatnonzero(game.legal_mask(states)[0])
            game.kernels.play(states, rng.choice(legal, 1))
    states = np.concatenate(found)[rng.permutation(count)]
    return states, game.legal_mask(states)


def assert_same(found, expected):
    """The same floats, and chances of a draw of zero where the evaluator knows none."""
    if len(expected) == 2:
        expected = (*expected, np.zeros(len(expected[1]), np.float32))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == np.float32 and one.shape == other.shape and (one == other).all()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("tictactoe", {}),
        ("connect4", {"leaves": 4}),
        ("dots_and_boxes", {"search": Search(gumbel=4)}),
        ("go", {"explore": Explore(noise=0.25)}),
    ],
)
def test_a_cache_gives_the_same_search_with_fewer_evaluations(hash_evaluator, name, settings):
    roots, settings = [azlab.game(name).start()] * 3, {"budget": 150} | settings
    plain, behind = Counting(hash_evaluator()), Counting(hash_evaluator())
    cached = CachedEvaluator(behind)
    expected = puct(roots, plain, **settings)
    for one, other in zip(puct(roots, cached, **settings), expected, strict=True):
        assert (one.visits == other.visits).all() and one.value == other.value
    assert behind.asked == cached.misses < plain.asked == cached.hits + cached.misses
    small = CachedEvaluator(hash_evaluator(), capacity=5)
    assert all((one.visits == other.visits).all() for one, other in zip(puct(roots, small, **settings), expected, strict=True))


@pytest.mark.parametrize("with_draws", [True, False])
@pytest.mark.parametrize("capacity", [1, 2, 3, 50, 1000])
def test_equal_states_of_a_batch_are_evaluated_once_even_beyond_the_capacity(hash_evaluator, capacity, with_draws):
    states, legal = positions(azlab.game("tictactoe"), 300)
    behind = Counting(hash_evaluator(with_draws))
    cached = CachedEvaluator(behind, capacity)
    distinct = len({states[k : k + 1].tobytes() for k in range(len(states))})
    assert_same(cached.evaluate(states, legal), hash_evaluator(with_draws).evaluate(states, legal))
    assert behind.asked == cached.misses == distinct < 300 == cached.hits + cached.misses
    assert_same(cached.evaluate(states, legal), hash_evaluator(with_draws).evaluate(states, legal))
    assert (cached.misses == distinct) == (capacity >= distinct)


def test_answers_are_the_callers_own(hash_evaluator):
    states, legal = positions(azlab.game("connect4"), 20)
    cached = CachedEvaluator(hash_evaluator())
    for _ in range(3):
        for part in cached.evaluate(states, legal):
            part[:] = 7
    assert_same(cached.evaluate(states, legal), hash_evaluator().evaluate(states, legal))


def test_clear_forgets_what_the_evaluator_said_before_it_changed(hash_evaluator):
    states, legal = positions(azlab.game("connect4"), 40)
    cached = CachedEvaluator(hash_evaluator(), capacity=60)
    cached.clear()
    before = cached.evaluate(states, legal)
    misses = cached.misses
    cached.evaluator = UniformEvaluator()
    assert_same(cached.evaluate(states, legal), before)
    assert cached.misses == misses
    cached.clear()
    assert_same(cached.evaluate(states, legal), UniformEvaluator().evaluate(states, legal))
    assert cached.misses == 2 * misses


def test_an_empty_batch_asks_nobody():
    game = azlab.game("connect4")
    cached = CachedEvaluator(None)
    assert cached.evaluate(game.new_states(0), np.zeros((0, 7), np.bool_)) == ()
    assert cached.hits == cached.misses == 0


@pytest.mark.slow
def test_large_states(hash_evaluator):
    game = azlab.game("go", size=19, ko="positional")
    states, legal = positions(game, 60)
    assert game.dtype.itemsize > 10_000
    cached = CachedEvaluator(hash_evaluator(), capacity=40)
    for rows in (slice(0, 30), slice(10, 40), slice(30, 60), slice(0, 60)):
        assert_same(cached.evaluate(states[rows], legal[rows]), hash_evaluator().evaluate(states[rows], legal[rows]))
    assert cached.misses == 30 + 10 + 20 + 60 - 40  # the fourth batch knows the last 40, of 20 to 59
    words = game.dtype.itemsize // 8
    changed = np.repeat(states[-1:], words)
    changed.view(np.uint8).reshape(words, -1)[np.arange(words), np.arange(words) * 8 + np.arange(words) % 8] ^= 1
    cached = CachedEvaluator(UniformEvaluator())
    cached.evaluate(changed, np.repeat(legal[-1:], words, axis=0))
    assert cached.misses == words  # a change anywhere is a new state


def test_states_may_lie_anywhere_in_memory(hash_evaluator):
    for name in ("connect4", "tictactoe"):  # of three words, and of 14 bytes
        states, legal = positions(azlab.game(name), 30)
        size = states.dtype.itemsize
        read_only = np.frombuffer(states.tobytes(), states.dtype)
        shifted = np.frombuffer(bytearray(b"x" + states.tobytes()), states.dtype, offset=1)
        strided = np.repeat(states, 2)[::2]
        cached = CachedEvaluator(hash_evaluator())
        for same in (states, read_only, shifted, strided):
            assert same.dtype.itemsize == size
            assert_same(cached.evaluate(same, legal), hash_evaluator().evaluate(states, legal))
        assert cached.misses <= 30


def test_an_evaluator_that_fails_leaves_the_memory_whole(hash_evaluator):
    states, legal = positions(azlab.game("connect4"), 40)
    cached = CachedEvaluator(hash_evaluator(), capacity=25)
    cached.evaluate(states[:20], legal[:20])
    cached.evaluator = None
    with pytest.raises(AttributeError):
        cached.evaluate(states, legal)
    assert_same(cached.evaluate(states[:20], legal[:20]), hash_evaluator().evaluate(states[:20], legal[:20]))
    cached.evaluator = hash_evaluator()
    assert_same(cached.evaluate(states, legal), hash_evaluator().evaluate(states, legal))


def test_states_of_another_game_begin_a_new_memory(hash_evaluator):
    cached = CachedEvaluator(hash_evaluator())
    for name in ("connect4", "tictactoe", "connect4"):
        states, legal = positions(azlab.game(name), 20)
        assert_same(cached.evaluate(states, legal), hash_evaluator().evaluate(states, legal))


def test_bad_capacities_get_one_sentence():
    for capacity, sentence in ((0, "at least one position, not 0"), (2**40, "at most 1073741824 positions")):
        with pytest.raises(azlab.AzlabError, match=sentence):
            CachedEvaluator(UniformEvaluator(), capacity)


# Random batches of few different states, in ever fuller tables, next to a dict that forgets the oldest. Prints how
# many were missing in each batch.
SCRIPT = """
import json
import sys
import numpy as np
from azlab.search import cache

class Echo:
    def evaluate(self, states, legal):
        n = states["n"].astype(np.float32)
        return np.stack([n, n + 0.25, -n], axis=1), n / 1000, n / 2000

if sys.argv[1] != "none":
    cache.hash_of = lambda words: np.uint64(int(sys.argv[1]))
rng = np.random.default_rng(0)
missed = []
for capacity in (1, 2, 5, 6, 30, 100):
    cached, model = cache.CachedEvaluator(Echo(), capacity), {}
    for size in (1, 3, 10, 40) * 6:
        states = np.zeros(size, [("n", np.int32), ("filler", np.int8, 9)])
        states["n"] = rng.integers(0, 60, size)
        before = cached.misses
        found = cached.evaluate(states, np.ones((size, 3), np.bool_))
        for part, expected in zip(found, Echo().evaluate(states, None), strict=True):
            assert (part == expected).all()
        new = [n for n in dict.fromkeys(states["n"].tolist()) if n not in model]
        assert cached.misses - before == len(new)
        model = dict.fromkeys(([*model, *new])[-capacity:])
        table = cached._table
        assert sorted(table.slots[table.slots > 0]) == list(range(1, len(model) + 1))
        missed.append(len(new))
print(json.dumps(missed))
"""


def run(constant_hash, **environment):
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", SCRIPT, str(constant_hash)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_oldest_is_forgotten_compiled_as_plain_python_and_when_all_hashes_are_equal():
    compiled = run("none")
    assert sum(compiled) > 500
    assert run("none", NUMBA_DISABLE_JIT="1") == compiled
    for value in (0, 2**64 - 1):  # the search begins at the first slot, or at the last and goes round
        assert run(value, NUMBA_DISABLE_JIT="1") == compiled
