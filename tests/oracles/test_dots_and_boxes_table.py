"""The table of Dots and Boxes: published margins, agreement with the rules, and its file."""

import os

import numpy as np
import pytest

import azlab
from azlab.games.count import exact_value
from azlab.oracles import dots_and_boxes as table
from azlab.oracles import oracle


@pytest.fixture(scope="module")
def perfect():
    return oracle("dots_and_boxes")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "azlab" / "oracles"


def board(rows: int, cols: int):
    return azlab.game("dots_and_boxes", rows=rows, cols=cols)


def states_along_random_games(game, count: int, seed: int = 0) -> np.ndarray:
    """One state of each of `count` random games, at a random depth."""
    rng = np.random.default_rng(seed)
    states = game.new_states(count)
    plies = rng.integers(0, game.max_length + 1, count)
    for ply in range(game.max_length):
        moving = np.flatnonzero(plies > ply)
        some = states[moving]
        game.kernels.play(some, np.array([rng.choice(np.flatnonzero(mask)) for mask in game.legal_mask(some)], np.int64))
        states[moving] = some
    return states


@pytest.mark.parametrize(
    ("rows", "cols", "margin"),
    [(1, 1, -1), (1, 2, 0), (2, 1, 0), (1, 3, -1), (2, 2, 2), (2, 3, -2), (3, 2, -2), (2, 4, 2)],
)
def test_the_first_player_gets_the_published_margin(rows, cols, margin):
    perfect = oracle("dots_and_boxes", rows=rows, cols=cols)
    assert perfect.value(perfect.game.start()) == margin


@pytest.mark.slow
def test_the_largest_board_gets_its_published_margin():
    assert table.build(2, 5)[0] == -2


def test_3x3_is_lost_by_three_boxes_whatever_the_first_line(perfect):
    start = perfect.game.start()
    assert (perfect.value(start), perfect.result(start)) == (-3, -1)
    assert perfect.scores(start) == dict.fromkeys(start.legal_moves, -3.0) and len(start.legal_moves) == 24


def test_the_table_agrees_with_trying_everything_on_a_small_board():
    game = board(2, 2)
    perfect = oracle(game)
    states = states_along_random_games(game, 200)
    assert (perfect.values(states) == exact_value(game, states)).all()


def test_the_table_agrees_with_trying_everything_at_the_end_of_3x3_games(perfect):
    states = states_along_random_games(perfect.game, 300)
    late = states[states["ply"] >= 16]
    assert len(late) > 50 and (perfect.values(late) == exact_value(perfect.game, late)).all()


def test_scores_are_the_values_after_each_line(perfect):
    states = states_along_random_games(perfect.game, 300)
    scores = perfect.action_scores(states)
    assert np.array_equal(scores, super(type(perfect), perfect).action_scores(states), equal_nan=True)  # by playing every line
    going_on = ~states["over"]
    assert 0 < going_on.sum() < 300
    assert (perfect.best_actions(states) == (scores == perfect.values(states)[:, None])).all()
    assert (perfect.best_actions(states).any(axis=1) == going_on).all()


def test_a_finished_game_is_worth_its_margin(perfect):
    final = perfect.game.playout(perfect.game.new_states(50))
    assert (perfect.values(final) == final["boxes"][:, 0] - final["boxes"][:, 1]).all()
    assert (np.sign(perfect.values(final)) == final["result"]).all()


def test_best_moves_of_both_lead_to_the_value(perfect):
    rng = np.random.default_rng(0)
    for _ in range(5):
        position = perfect.game.start()
        for _ in range(4):
            position = position.play(int(rng.choice(position.legal_actions)))
        value = perfect.value(position)
        while not position.over:
            position = position.play(str(rng.choice(perfect.best_moves(position))))
        assert position.scores[0] - position.scores[1] == value


def test_nobody_beats_the_table(perfect):
    rng = np.random.default_rng(1)
    position = perfect.game.start()
    while not position.over:  # seat 1 is perfect, seat 0 is not
        moves = perfect.best_moves(position) if position.to_move == 1 else position.legal_moves
        position = position.play(str(rng.choice(moves)))
    assert position.scores[0] - position.scores[1] <= -3


def test_progress_is_told_up_to_the_end(cache):
    told: list[float] = []
    oracle("dots_and_boxes", rows=2, cols=4, progress=told.append)
    assert len(told) == 4 and told == sorted(told) and told[-1] == 1.0
    oracle("dots_and_boxes", rows=2, cols=4, progress=told.append)
    assert len(told) == 4  # the second one found the file


def test_the_table_is_kept_and_mapped_into_memory(cache, monkeypatch):
    first = oracle(board(2, 2))
    assert [path.name for path in cache.iterdir()] == ["dots_and_boxes_2x2.npy"]
    monkeypatch.setattr(table, "build", None)  # the second oracle must not need it
    second = oracle(board(2, 2))
    assert (first.table == second.table).all() and not second.table.flags.writeable and not first.table.flags.writeable
    assert second.value(second.game.start()) == 2 and type(second.table) is np.ndarray


def damage_byte(data: bytes, place: int) -> bytes:
    changed = bytearray(data)
    changed[place] ^= 0x55
    return bytes(changed)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:5],
        lambda data: data[:100],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: b"no table at all",
        lambda data: data + b"more",
        *[lambda data, place=place: damage_byte(data, place) for place in (0, 6, 8, 9, 12, 20, 30, 60, 100, 127, 128, 1000, -1)],
    ],
)
def test_a_damaged_file_is_made_anew(cache, damage):
    oracle(board(2, 2))
    path = cache / "dots_and_boxes_2x2.npy"
    good = path.read_bytes()
    path.write_bytes(damage(good))
    assert oracle(board(2, 2)).value(board(2, 2).start()) == 2
    assert table.load(path, 1 << 12) is not None
    assert [path.name for path in cache.iterdir()] == ["dots_and_boxes_2x2.npy"]


def test_a_file_of_another_board_is_not_taken(cache):
    oracle(board(2, 2))
    os.rename(cache / "dots_and_boxes_2x2.npy", cache / "dots_and_boxes_1x2.npy")
    assert oracle(board(1, 2)).value(board(1, 2).start()) == 0


def test_without_a_folder_to_write_to_the_table_is_made_each_time(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("a file where the cache folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert oracle(board(2, 2)).value(board(2, 2).start()) == 2


def test_a_disk_that_fills_up_leaves_nothing_behind(cache, monkeypatch):
    def full(*args, **kwargs):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "save", full)
    assert oracle(board(2, 2)).value(board(2, 2).start()) == 2
    assert list(cache.iterdir()) == []
