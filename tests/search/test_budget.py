"""Playout caps and the node clock."""

import numpy as np
import pytest

import azlab
from azlab.search import Budget, Search, Searcher
from azlab.search.budget import NodeClock, draw_budgets
from azlab.search.evaluators import UniformEvaluator


def test_playout_caps_give_the_named_share_of_full_searches():
    config = Budget(343, cap=(0.25, 30))
    budgets, is_full = draw_budgets(config, 40_000, np.random.default_rng(0))
    assert set(budgets) == {343, 30} and (budgets[is_full] == 343).all() and (budgets[~is_full] == 30).all()
    assert is_full.mean() == pytest.approx(0.25, abs=0.01)
    assert draw_budgets(Budget(10), 50, np.random.default_rng(0))[1].all()
    matches, is_full = draw_budgets(config, 50, np.random.default_rng(0), explores=False)
    assert (matches == 343).all() and is_full.all()  # a match has the whole budget


def test_each_game_stops_at_its_own_budget():
    game = azlab.game("connect4")
    search = Searcher(game, 3, UniformEvaluator(), Search(), 100)
    search.start(game.new_states(3))
    search.run(np.array([5, 100, 30]))
    assert search.done.tolist() == [5, 100, 30]
    assert [search.root_visits(g).sum() for g in range(3)] == [5, 100, 30]
    with pytest.raises(azlab.AzlabError, match="room for 100 simulations, not 101"):
        search.run(101)


def test_each_player_saves_on_a_clock_of_its_own_what_easy_moves_do_not_use():
    clock = NodeClock(2, start=200, per_turn=50)
    first, second = np.array([0, 0]), np.array([1, 1])
    assert clock.budgets(1000, first).tolist() == [250, 250] and clock.budgets(120, first).tolist() == [120, 120]
    clock.spend(np.array([250, 10]), first)
    assert clock.budgets(1000, second).tolist() == [250, 250]  # what the other spent is its own affair
    clock.spend(np.array([0, 60]), second)
    assert clock.budgets(1000, first).tolist() == [50, 290]  # a turn's share is always there
    clock.spend(np.array([60, 0]), np.array([0, 1]))  # overdrawn; and in game 1 seat 1 has moved twice
    assert clock.left.tolist() == [[0, 250], [240, 240]]
    clock.reset(np.array([0]))
    assert clock.left.tolist() == [[200, 200], [240, 240]]
    with pytest.raises(azlab.AzlabError, match="node clock"):
        NodeClock(1, start=0)
