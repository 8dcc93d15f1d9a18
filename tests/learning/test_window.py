import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.learning.window import Window, fingerprints, joined, no_examples


class SlowWindow:
    """The window in plain Python: a list of [bytes of the state, policy, result, reply, when it last came]."""

    def __init__(self, merge):
        self.merge, self.rows, self.seen, self.time = np.float32(merge), [], set(), 0

    def count_new(self, examples):
        return len({state.tobytes() for state in examples.states} - {row[0] for row in self.rows})

    def add(self, examples):
        fresh = set()
        for state, policy, result, reply in zip(*examples):
            mark = state.tobytes()
            self.time += 1
            if mark not in self.seen:
                fresh.add(mark)
            known = [row for row in self.rows if row[0] == mark] if self.merge else []
            if known:
                row = known[0]
                row[4] = self.time
                row[1] = self._mixed(row[1], policy).astype(np.float16)
                row[2] = self._mixed(row[2], result)
                if reply.any():
                    row[3] = self._mixed(row[3], reply).astype(np.float16) if row[3].any() else reply.copy()
            else:
                self.rows.append([mark, policy.copy(), result.copy(), reply.copy(), self.time])
        self.seen |= fresh
        return len(fresh)

    def _mixed(self, old, new):
        return old.astype(np.float32) * (1 - self.merge) + new.astype(np.float32) * self.merge

    def trim(self, size):
        times = sorted(row[4] for row in self.rows)[-size:]
        self.rows = [row for row in self.rows if row[4] >= times[0]]


def assert_same(window, slow):
    found = window.examples()
    assert [state.tobytes() for state in found.states] == [row[0] for row in slow.rows]
    for column, part in enumerate(found[1:], 1):
        assert np.array_equal(part, np.array([row[column] for row in slow.rows]).reshape(part.shape)), column


@pytest.mark.parametrize("merge", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_window_is_that_of_plain_code(merge, seed, random_examples):
    """Repetitions in one batch and between batches, positions dropped and seen again, and room that runs out."""
    game, rng = azlab.game("tictactoe"), np.random.default_rng(seed)
    window, slow = Window(game, merge), SlowWindow(merge)
    repeated, stores = 0, [window._store]
    for step in range(14):
        new = random_examples(game, int(rng.integers(1, 1200)), seed=100 * seed + step, plies=int(rng.integers(3, 9)))
        before = len(window)
        assert window.count_new(new) == slow.count_new(new)
        assert window.add(new) == slow.add(new)
        repeated += before + new.size - len(window)
        assert_same(window, slow)
        stores += [window._store] if window._store is not stores[-1] else []
        size = int(rng.integers(20, 1500))
        window.trim(size)
        slow.trim(size)
        assert_same(window, slow)
    assert (repeated > 500) == bool(merge)
    assert len(stores) > 1  # the room had run out


def test_a_merged_position_is_young_again(random_examples):
    """Every game repeats the openings, so they never leave the window, though they were its first positions."""
    game = azlab.game("connect4")
    examples = random_examples(game, 4000, plies=12)
    examples = examples.take(np.unique(fingerprints(examples.states), return_index=True)[1])  # each position once
    opening, others = examples.take(slice(0, 1)), examples.take(slice(1, 31))
    window = Window(game, 0.5)
    for k in range(3):
        window.add(opening)
        window.add(others.take(slice(10 * k, 10 * k + 10)))
        window.trim(12)
        assert window.count_new(opening) == 0 and window.examples().states[0].tobytes() == opening.states[0].tobytes()
    assert window.count_new(others) == 19  # of those, all but the last ten and the youngest of the ten before


def test_merged_targets_keep_their_precision(random_examples):
    """0.8 new and 0.2 old are mixed in single precision and rounded once."""
    game = azlab.game("tictactoe")
    one, two = (random_examples(game, 1, seed=seed, plies=0) for seed in (1, 2))
    window = Window(game, 0.8)
    assert (window.add(one), window.add(two), len(window)) == (1, 0, 1)
    exact = 0.2 * one.policy[0].astype(float) + 0.8 * two.policy[0].astype(float)
    assert np.abs(window.examples().policy[0] - exact).max() <= np.spacing(np.float16(exact.max())) / 2 + 1e-7
    assert window.examples().result[0] == pytest.approx(0.2 * one.result[0] + 0.8 * two.result[0], abs=1e-6)
    assert one.policy[0].tolist() == random_examples(game, 1, seed=1, plies=0).policy[0].tolist()  # what was given is unchanged


def test_a_reply_is_kept_where_the_new_game_has_none(random_examples):
    game = azlab.game("tictactoe")
    with_reply = random_examples(game, 30, plies=0)
    none = with_reply._replace(reply=np.zeros_like(with_reply.reply)).take(slice(0, 1))
    some = with_reply.take(np.flatnonzero(with_reply.reply.any(axis=1))[:1])
    for order in ([none, some], [some, none]):
        window = Window(game, 0.5)
        for examples in order:
            window.add(examples)
        assert np.array_equal(window.examples().reply, some.reply)


def test_one_batch_or_several_is_the_same(random_examples):
    """A resumed run adds an iteration's games at once, a running one in rounds."""
    game = azlab.game("tictactoe")
    batches = [random_examples(game, 200, seed=seed) for seed in range(5)]
    rounds, at_once = Window(game, 0.6), Window(game, 0.6)
    for pair in (batches[:3], batches[3:]):
        fresh = sum(rounds.add(batch) for batch in pair)
        assert at_once.add(joined(game, pair)) == fresh
        for window in (rounds, at_once):
            window.trim(150)
        assert all(np.array_equal(a, b) for a, b in zip(rounds.examples(), at_once.examples()))


def test_fingerprints_are_those_of_the_bytes(random_examples):
    for name in ("tictactoe", "go"):  # states of fewer and of more bytes than one word
        states = random_examples(azlab.game(name), 500).states
        marks = fingerprints(states)
        assert len(set(marks.tolist())) == len({state.tobytes() for state in states}) > 5
        assert np.array_equal(fingerprints(states[::-1]), marks[::-1])
    assert len(fingerprints(states[:0])) == 0


def test_nothing_can_be_added():
    game = azlab.game("tictactoe")
    window = Window(game, 0.5)
    assert window.add(no_examples(game)) == 0 == len(window)


@pytest.mark.parametrize("merge", [-0.1, 1.5])
def test_merge_is_a_share(merge):
    with pytest.raises(AzlabError, match="from 0"):
        Window(azlab.game("tictactoe"), merge)
