"""Small games in full, positions that count, and AlphaZero in plain Python: what the lessons stand on."""

import numpy as np
import pytest

import azlab
from azlab.course import plain_alphazero as plain
from azlab.course.counting import counted
from azlab.course.small_game import SmallGame
from azlab.errors import AzlabError


def test_all_of_tictactoe_is_a_small_game_in_which_positions_come_before_those_that_follow():
    small = SmallGame(azlab.game("tictactoe").start())
    assert len(small) == 5478  # the published number
    assert all(after > s for s, moves in enumerate(small.children) for after in moves.values())
    assert sum(result is not None for result in small.result) == 958  # 626 won by X, 316 by O, 16 drawn, as published
    assert [small.result.count(result) for result in (1, -1, 0)] == [626, 316, 16]
    assert len(small.going_on) == 5478 - 958


def test_a_large_game_is_refused():
    with pytest.raises(AzlabError, match="nearer to the end"):
        SmallGame(azlab.game("connect4").start())


def test_a_counted_position_counts_every_move_below_it_and_stays_what_it_is():
    position = azlab.game("tictactoe").from_moves("b2")
    mine, other = counted(position), counted(position)
    after = mine.play("a1").play("c1")
    mine.play("a1")
    assert (mine.moves_made, after.moves_made, other.moves_made) == (3, 3, 0)
    assert mine == position and after.moves == ["b2", "a1", "c1"]


def test_the_plain_search_makes_the_same_visits_as_the_compiled_one():
    """With priors that are all alike and values of 0 nothing but the rules and the formula decides."""
    from azlab.search import Search, puct
    from azlab.search.evaluators import UniformEvaluator

    def all_alike(position):
        return dict.fromkeys(position.legal_actions, 1 / len(position.legal_actions)), 0.0

    for moves in ("b2 a1 c1", "b2 a1 c1 a3", "a1 b2 c3"):
        position = azlab.game("tictactoe").from_moves(moves)
        shares = plain.search(position, all_alike, 200)
        visits = puct(position, UniformEvaluator(), Search(cpuct=1.5, cpuct_base=0.0), 200).visits
        assert np.abs(shares - visits / visits.sum()).max() <= 0.02, moves  # ties are broken in different ways


def test_noise_reaches_the_priors_only_where_it_is_asked_for():
    def surely_first(position):
        return {action: float(k == 0) for k, action in enumerate(position.legal_actions)}, 0.0

    start, rng = azlab.game("tictactoe").start(), np.random.default_rng(1)
    assert plain.search(start, surely_first, 50)[0] == 1
    assert plain.search(start, surely_first, 50, rng)[0] < 1
    assert plain.drawn(np.array([0.2, 0.5, 0.3]), 0, rng) == 1
