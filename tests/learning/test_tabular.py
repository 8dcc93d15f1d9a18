"""Monte Carlo control on a table: the books, and the update rule by hand."""

import numpy as np
import pytest

import azlab
from azlab.arena import match
from azlab.files import load_arrays, save_arrays
from azlab.learning.tabular import MonteCarloControl, TableAgent, choose_by_table, find_row, learn

TWO = azlab.game("go", size=2, komi=0)
THREE = azlab.game("go", size=3, komi=0)


def test_the_update_is_the_mean_of_all_returns():
    q, counts = np.ones((3, 2)), np.zeros((3, 2), np.int32)
    path = np.array([[0, 1], [2, 0], [0, 1]])  # the same move twice: every visit counts
    learn(path, 3, -1.0, 1.0, q, counts)
    learn(path, 1, 1.0, 1.0, q, counts)
    assert q[0, 1] == pytest.approx((-1 - 1 + 1) / 3) and q[2, 0] == -1 and q[1, 1] == 1
    assert counts.tolist() == [[0, 3], [0, 0], [1, 0]]


def test_a_discounted_result_is_worth_less_the_longer_it_takes():
    q, counts = np.zeros((3, 1)), np.zeros((3, 1), np.int32)
    learn(np.array([[0, 0], [1, 0], [2, 0]]), 3, -1.0, 0.5, q, counts)
    assert q[:, 0].tolist() == [-0.25, -0.5, -1.0]


def test_seat_0_takes_the_largest_and_seat_1_the_smallest_value_equals_at_random():
    from azlab.games.kernel import new_rng

    legal, values, rng = np.array([[True, False, True, True]]), np.array([0.5, 9.0, 0.5, -1.0]), new_rng(1, 1)
    assert {choose_by_table(legal, values, 0, 0.0, rng) for _ in range(50)} == {0, 2}
    assert {choose_by_table(legal, values, 1, 0.0, rng) for _ in range(50)} == {3}
    drawn = [choose_by_table(legal, values, 1, 1.0, rng) for _ in range(3000)]
    assert all(abs(drawn.count(action) - 1000) < 120 for action in (0, 2, 3)) and 1 not in drawn


def test_the_table_grows_and_loses_nothing():
    table = MonteCarloControl(THREE, seed=1)
    table.run(300)
    before = {int(key): table.q[find_row(table.keys, key)].copy() for key in table.keys[table.keys != 0]}
    size = len(table.keys)
    table._grow()
    assert len(table.keys) == 2 * size
    for key, q in before.items():
        assert np.array_equal(table.q[find_row(table.keys, np.uint64(key))], q)
    table.run(20_000)
    assert table.games == 20_300 and table.rows == (table.keys != 0).sum() and table.results.sum() == 20_300


def test_the_counts_of_the_start_are_the_games():
    table = MonteCarloControl(TWO, seed=1)
    table.run(1000)
    assert table.counts[table.row(TWO.start())].sum() >= 1000  # passes can lead back to the empty board


def test_an_optimistic_start_tries_every_move_soon():
    """Without random moves, a cautious start can stay with what it tried first; an optimistic one looks at all."""
    seen = {}
    for optimistic in (False, True):
        table = MonteCarloControl(TWO, epsilon=0.0, optimistic=optimistic, key="board", seed=2)
        table.run(100)
        seen[optimistic] = int((table.counts[table.row(TWO.start())] > 0).sum())
    assert seen[True] == 5


def test_only_the_key_of_a_situation_sees_a_pass_and_a_ko():
    before, after = TWO.from_moves("a1"), TWO.from_moves("a1 pass")
    passed = TWO.set_up(["a1"], [], to_move=0)  # as after a1 pass, but nobody has passed
    for key, apart in (("board", False), ("situation", True)):
        table = MonteCarloControl(TWO, key=key)
        keys = [int(table.keys_of(position.state)[0]) for position in (after, passed, before)]
        assert (keys[0] != keys[1]) == apart and keys[2] not in keys[:2]
        states = THREE.new_states(2)
        states["ko"] = [0, 5]
        of_ko = MonteCarloControl(THREE, key=key).keys_of(states)
        assert (of_ko[0] != of_ko[1]) == apart


def test_many_states_are_looked_up_as_one_is():
    table = MonteCarloControl(TWO, optimistic=True, key="board", seed=1)
    table.run(20)
    positions = [TWO.start(), TWO.from_moves("a1"), TWO.from_moves("a1 b2"), TWO.from_moves("a1 b2 b1")]
    states = np.concatenate([position.state for position in positions])
    q, counts = table.look_up(states)
    for k, position in enumerate(positions):
        known = {TWO.move_name(a): q[k, a] if counts[k, a] else np.nan for a in position.legal_actions}
        assert table.values(position) == pytest.approx(known, nan_ok=True)
        assert table.greedy_actions(states)[k] == table.best_action(position)
    empty = MonteCarloControl(TWO, optimistic=True, key="board")
    assert empty.look_up(states)[0][:, 0].tolist() == [1, -1, 1, -1] and not empty.look_up(states)[1].any()
    assert empty.best_action(positions[1]) == positions[1].legal_actions[0]


def test_a_table_that_sees_passes_and_likes_early_wins_passes_where_a_pass_wins():
    """Source S2, section 6.1: its program never learned when to pass."""
    states = azlab.oracle(TWO).positions()
    states = states[states["passes"] == 1]
    leads = np.zeros(len(states))
    TWO.kernels.lead(states, leads)
    ahead = states[leads * (1 - 2 * states["to_move"]) > 0]
    table = MonteCarloControl(TWO, epsilon=0.5, key="situation", discount=0.95, seed=1)
    table.run(5000)
    tried = table.look_up(ahead)[1][:, 4] > 0
    assert tried.sum() > 30 and (table.greedy_actions(ahead)[tried] == TWO.action("pass")).all()


@pytest.mark.parametrize("name", ["tictactoe", "dots_and_boxes"])
def test_other_small_games_learn_to_beat_a_random_player(name):
    game = azlab.game(name, rows=1, cols=2) if name == "dots_and_boxes" else azlab.game(name)
    table = MonteCarloControl(game, seed=1)
    table.run(60_000)
    result = match(TableAgent(table), "random", 60, game, openings=0 if name == "tictactoe" else 1, seed=4)
    assert result.interval[0] > 0.55, str(result)


def test_the_same_seed_learns_the_same_table_also_in_steps():
    at_once, in_steps = MonteCarloControl(TWO, seed=5), MonteCarloControl(TWO, seed=5)
    at_once.run(500)
    for _ in range(5):
        in_steps.run(100)
    assert at_once.values(TWO.start()) == in_steps.values(TWO.start())


def test_a_saved_table_goes_on_where_it_stopped(tmp_path):
    one = MonteCarloControl(TWO, seed=6)
    one.run(200)
    one.save(tmp_path / "table.npz")
    other = MonteCarloControl(TWO, seed=99)
    other.load(tmp_path / "table.npz")
    one.run(200)
    other.run(200)
    assert one.values(TWO.start()) == other.values(TWO.start()) and other.games == 400
    assert not (tmp_path / "table.npz.part").exists()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda path: MonteCarloControl(TWO, epsilon=2), "epsilon is a share"),
        (lambda path: MonteCarloControl(azlab.game("connect4"), key="board"), "connect4 has no field `board`"),
        (lambda path: MonteCarloControl(azlab.game("tictactoe"), key="situation"), "tictactoe has no field `ko`"),
        (lambda path: MonteCarloControl(TWO, discount=0), "discount must be above 0"),
        (lambda path: MonteCarloControl(TWO).load(path / "none.npz"), "cannot be read"),
        (lambda path: MonteCarloControl(TWO).load(damaged(path)), "cannot be read"),
        (lambda path: MonteCarloControl(TWO).load(other_game(path)), "is the table of another game"),
        (lambda path: MonteCarloControl(TWO).run(-1), "must not be negative"),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence, tmp_path):
    with pytest.raises(azlab.AzlabError) as raised:
        call(tmp_path)
    assert sentence in str(raised.value)


def damaged(path):
    (path / "damaged.npz").write_bytes(b"PK\x03\x04 this is no archive")
    return path / "damaged.npz"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("keys", lambda keys: keys.astype(np.int64)),
        ("keys", lambda keys: keys * np.uint64(0)),
        ("keys", lambda keys: keys[1:]),
        ("seats", lambda seats: seats + np.int8(2)),
        ("q", lambda q: q[:, 0]),
        ("q", lambda q: q * np.nan),
        ("counts", lambda counts: counts[:, :2]),
        ("rng", lambda rng: rng[:0]),
        ("results", lambda results: results[:1]),
        ("previous", lambda previous: previous.astype(np.int8)),
        ("games", lambda games: np.zeros(2)),
        ("games", None),
    ],
)
def test_a_table_with_other_arrays_is_refused(name, change, tmp_path):
    table = MonteCarloControl(TWO, seed=1)
    table.run(10)
    table.save(tmp_path / "table.npz")
    arrays = load_arrays(tmp_path / "table.npz")
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name])
    save_arrays(tmp_path / "table.npz", arrays)
    with pytest.raises(azlab.AzlabError, match="table.npz is damaged|cannot be read|another game"):
        MonteCarloControl(TWO).load(tmp_path / "table.npz")


def other_game(path):
    table = MonteCarloControl(THREE, seed=1)
    table.run(10)
    table.save(path / "three.npz")
    return path / "three.npz"
