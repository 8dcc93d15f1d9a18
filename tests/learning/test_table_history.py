"""Histories of tables: what is written down and when, and the distance from perfect play, checked by slower means."""

import numpy as np
import pytest

import azlab
from azlab.learning import MonteCarloControl, TableHistory
from azlab.learning.table_history import times

TWO = azlab.game("go", size=2, komi=0)
EXACT = azlab.oracle(TWO)
STATES = EXACT.positions()


def history(games=0, **settings):
    one = TableHistory(MonteCarloControl(TWO, seed=1, **{"key": "board", **settings}), STATES, EXACT.action_scores(STATES))
    return one.run(games) if games else one


def test_times_hold_the_powers_of_ten_and_double_every_three():
    assert times(1) == [1] and times(2500)[-1] == 2500
    grid = times(1_000_000)
    assert {1, 10, 100, 1000, 10_000, 100_000, 1_000_000} <= set(grid) and grid == sorted(set(grid))
    assert all(grid[k + 3] / grid[k] == pytest.approx(2, rel=0.01) for k in range(grid.index(100), len(grid) - 3))


def test_a_history_learns_what_the_table_would_learn_alone():
    table = MonteCarloControl(TWO, seed=1, key="board")
    table.run(3000)
    one = history(3000)
    assert one.games[-1] == one.table.games == 3000
    assert one.table.values(TWO.start()) == table.values(TWO.start())
    values = one.values_of(TWO.start())
    assert {move: pytest.approx(line[-1], abs=1e-6) for move, line in values.items()} == table.values(TWO.start())
    assert len(values["a1"]) == len(one.games) == len(one.perfect) == len(one.met)


def test_pairs_are_the_legal_moves_of_the_rows_a_table_can_have():
    """57 boards (OEIS A094777) and two players; on 2x2 simple ko never forbids a move of a row altogether."""
    rows = len({(state["board"].tobytes(), int(state["to_move"])) for state in STATES})
    assert rows == 114 and history()._pairs.shape == (114, 5)
    moves = {
        (s["board"].tobytes(), int(s["to_move"]), a) for s, m in zip(STATES, TWO.legal_mask(STATES)) for a in np.flatnonzero(m)
    }
    assert history(10).q.shape == (len(times(10)), len(moves))
    assert history(key="situation")._pairs.sum() > len(moves)


def test_the_perfect_play_rate_is_what_asking_position_by_position_gives():
    one = history(300)
    kept, asked = 0, 0
    for k in range(len(STATES)):
        position = TWO.position(STATES[k : k + 1])
        results = {move: np.sign(score) * (1 - 2 * position.to_move) for move, score in EXACT.scores(position).items()}
        if min(results.values()) < max(results.values()):
            asked += 1
            kept += results[TWO.move_name(one.table.best_action(position))] == max(results.values())
    assert one.perfect[-1] == one.perfect_rate() == pytest.approx(kept / asked) and 0.5 < kept / asked < 1
    assert one.matters.sum() == asked


def test_2x2_is_played_perfectly_after_100_000_games():
    one = history(100_000, epsilon=0.5, optimistic=True)
    assert one.perfect[-1] == 1 and one.met[-1] == 1
    games, changes = one.changes()
    assert games[-1] == 100_000 and changes[-1] == one.change(100_000) < 0.05 < changes[0]
    means = one.mean_by_result()
    assert means[1][-1] > 0.4 and abs(means[0][-1]) < 0.2 and means[-1][-1] < -0.4


def test_a_change_is_measured_on_pairs_that_were_tried_before():
    one = history(200)
    half = one.games.index(100)
    before, after = one.q[half], one.q[-1]
    known = ~np.isnan(before)
    assert one.change(200) == pytest.approx(np.abs(after - before)[known].mean(), rel=1e-5)
    assert one.change(200, updated=True) >= one.change(200)


def test_bad_input_gets_one_sentence():
    for call, sentence in (
        (lambda: times(0), "at least one game"),
        (lambda: history(10).at(7777), "Nothing was written down after 7,777 games"),
        (lambda: history(10).values_of(TWO.from_moves("a1 pass pass")), "not among the states"),
    ):
        with pytest.raises(azlab.AzlabError, match=sentence):
            call()
