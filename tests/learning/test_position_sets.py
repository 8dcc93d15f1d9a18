"""Position sets: do they say what the files say, is no game on two sides?"""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.formats import datasets
from azlab.learning import connect4_set, split_set
from azlab.learning.evaluation import accuracy_of, graded
from azlab.learning.position_sets import PositionSet, _after_columns, leak
from azlab_reproductions.s5_connect4.program import losses_as_draws

TRAIN, HARD, PRO = "connect4/train_100k.txt.gz", "connect4/hard_test.txt.gz", "go/9x9_pro.tar.gz"


@pytest.fixture(scope="module")
def connect4(need) -> PositionSet:
    need.data(TRAIN)
    return connect4_set(TRAIN, 20_000)


# --- Connect 4 --------------------------------------------------------------------------------------------------------


def test_a_connect4_set_is_what_the_file_says(connect4):
    examples, lines = connect4.examples(), list(datasets.connect4_positions(TRAIN))[:20_000]
    for row in [0, 1, 2, *range(10, 20_000, 397)]:
        line = lines[row]
        position = azlab.game("connect4").from_moves(line.moves)
        assert position.state.tobytes() == connect4.states[row : row + 1].tobytes()
        shares = np.zeros(7)
        shares[[column - 1 for column in line.best]] = 1 / len(line.best)
        np.testing.assert_allclose(examples.policy[row], shares, atol=1e-3)
        assert examples.result[row].tolist() == [line.result == 1, line.result == 2, line.result == 0]
        assert connect4.results[row] == (line.result - 1) * (1 if position.to_move == 0 else -1)
    assert not examples.reply.any()


def test_games_are_told_apart_by_where_a_line_does_not_go_on(connect4):
    texts = [line.moves for line, _ in zip(datasets.connect4_positions(TRAIN), range(20_000), strict=False)]
    for game in (0, 5, 700):
        rows = np.flatnonzero(connect4.games == game)
        assert (np.diff(rows) == 1).all()
        assert all(texts[b].startswith(texts[a]) for a, b in itertools.pairwise(rows))
        assert not texts[rows[-1] + 1].startswith(texts[rows[-1]])
    assert 5 < connect4.size / len(np.unique(connect4.games)) < 20


def test_graded_positions_of_a_file_come_from_the_same_reader(need):
    need.data(HARD)
    test = graded(azlab.game("connect4"), HARD)
    assert len(test.states) == 10_000
    assert test.best.sum(axis=1).mean() == pytest.approx(1.6895)  # S5 section 3.3
    legal = azlab.game("connect4").legal_mask(test.states)
    chance = (test.best.sum(axis=1) / legal.sum(axis=1)).mean()
    assert chance == pytest.approx(0.25639, abs=1e-5)
    assert chance == pytest.approx(0.2581, abs=0.0044)  # S5's random mover; 0.0044 is the standard error of one trial each


def test_the_wrong_labels_of_s5_cap_the_result_accuracy(connect4, need):
    wrong = replace(connect4_set(TRAIN, 20_000), labels=losses_as_draws)
    is_hit = (connect4.states["to_move"] == 0) & (connect4.results == -1)
    assert 0.15 < is_hit.mean() < 0.2
    labels, right = wrong.examples().result, connect4.examples().result
    assert (labels[is_hit] == [1, 0, 0]).all()
    assert (right[is_hit] == [0, 0, 1]).all()
    assert (labels[~is_hit] == right[~is_hit]).all()
    # a network that has learnt the wrong labels to perfection
    sign = np.where(wrong.states["to_move"] == 0, 1, -1)
    answers = (wrong.examples().policy, sign * (labels[:, 1] - labels[:, 2]), labels[:, 0])
    found = accuracy_of(answers, wrong.graded())
    assert found["network_accuracy"] == 1
    assert found["result_accuracy"] == pytest.approx(1 - is_hit.mean())


@pytest.mark.slow
def test_the_share_of_wrong_labels_is_that_of_the_source(need):
    need.data("connect4/train_1m_hard.txt.gz")
    positions = replace(connect4_set("connect4/train_1m_hard.txt.gz"), labels=losses_as_draws)
    assert positions.size == 1_000_000
    share = ((positions.states["to_move"] == 0) & (positions.results == -1)).mean()
    assert share == pytest.approx(0.1707, abs=5e-5)


# --- splitting --------------------------------------------------------------------------------------------------------


def test_a_split_has_no_game_on_two_sides(connect4):
    sets = split_set(connect4, (0.7, 0.2, 0.1), seed=3)
    sides = [set(part.games.tolist()) for part in sets]
    assert not sides[0] & sides[1]
    assert not sides[0] & sides[2]
    assert not sides[1] & sides[2]
    assert sum(part.size for part in sets) == connect4.size
    assert set().union(*sides) == set(connect4.games.tolist())
    for part, share in zip(sets, (0.7, 0.2, 0.1), strict=True):
        assert part.size / connect4.size == pytest.approx(share, abs=0.01)
    assert (np.diff(sets.train.games) != 0).mean() > 0.9  # shuffled: neighbours are of different games
    assert leak(sets) == 0


def test_a_split_belongs_to_its_seed(connect4):
    first, again, other = (split_set(connect4, seed=seed) for seed in (1, 1, 2))
    assert first.test.states.tobytes() == again.test.states.tobytes()
    assert first.test.states.tobytes() != other.test.states.tobytes()


def test_splitting_by_position_leaks(connect4):
    sets = split_set(connect4, by_position=True)
    assert [part.size for part in sets] == [16_000, 2_000, 2_000]
    assert leak(sets) > 0.9


def test_a_part_of_a_set_keeps_its_rows_together(connect4):
    rows = np.array([17, 4000, 3])
    part = connect4.take(rows)
    for mine, theirs in zip(part.examples(), connect4.examples(rows), strict=True):
        assert mine.tobytes() == theirs.tobytes()
    assert part.games.tolist() == connect4.games[rows].tolist()


# --- bad input --------------------------------------------------------------------------------------------------------


def test_bad_input_is_answered_by_sentences(connect4, need):
    for shares in ((0.5, 0.5), (0.8, 0.3, 0.1), (1.2, -0.1, -0.1)):
        with pytest.raises(AzlabError, match="add up to 1"):
            split_set(connect4, shares)
    with pytest.raises(AzlabError, match="1 games are too few"):
        split_set(connect4.take(slice(0, 1)))
    with pytest.raises(AzlabError, match="first must be"):
        connect4_set(TRAIN, 0)
    with pytest.raises(AzlabError, match="no data set called"):
        connect4_set("connect4/none.txt.gz")
    need.data(PRO)
    with pytest.raises(AzlabError, match="holds no Connect 4 positions"):
        connect4_set(PRO)
    with pytest.raises(AzlabError, match="a row of moves"):
        PositionSet(connect4.game, connect4.states, connect4.moves[:5], connect4.results, connect4.games)


def test_columns_that_are_full_are_refused():
    connect4 = azlab.game("connect4")
    with pytest.raises(azlab.AzlabError, match="1111111 are no moves of a game of connect4"):
        _after_columns(connect4, ["12", "1111111"])
    with pytest.raises(azlab.AzlabError, match="11223344 are no moves"):  # over after seven
        _after_columns(connect4, ["11223344"])


def test_moves_and_states_of_another_game_are_refused():
    connect4, zeros = azlab.game("connect4"), np.zeros(2, np.int64)
    with pytest.raises(azlab.AzlabError, match="a move that .* does not have"):
        PositionSet(connect4, connect4.new_states(2), np.array([[1], [7]]), zeros, zeros)
    with pytest.raises(azlab.AzlabError, match="are not of"):
        PositionSet(connect4, azlab.game("tictactoe").new_states(2), zeros[:, None], zeros, zeros)
