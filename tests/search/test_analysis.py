"""What a search shows of itself."""

import numpy as np
import pytest

import azlab
from azlab.search import Search, minimax, puct, uct
from azlab.search.evaluators import UniformEvaluator


def searches(position):
    yield minimax(position, 3)
    yield uct(position, 300, seed=1)
    yield puct(position, UniformEvaluator(), Search(), 100)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "dots_and_boxes", "go", "simple_go", "seega"])
def test_every_search_of_every_game_shows_board_and_table(name):
    position = azlab.game(name).start()
    for found in searches(position):
        assert found.best_move in position.legal_moves
        assert found.best_move == found.line[0] or found.visits.max() > 0
        bundle = found._repr_mimebundle_()
        assert "<svg" in bundle["text/html"] and found.rows()[0][0] in bundle["text/html"]
        assert "value" in bundle["text/plain"] and " at 0x" not in repr(found)
        assert found.shares.sum() == pytest.approx(1)
        illegal = np.setdiff1d(np.arange(position.game.num_actions), position.legal_actions)
        assert (found.visits[illegal] == 0).all() and np.isnan(found.values[illegal]).all()


def test_values_are_for_seat_0_whoever_is_to_move():
    red_wins = azlab.game("connect4").from_moves("1737271")  # Red to move has three in column 7
    for found in searches(red_wins):
        assert found.best_move == "7" and found.values[6] == -1
    assert uct(red_wins, 500).value < -0.5 and minimax(red_wins, 3).value == -1


def test_the_time_is_split_between_search_and_evaluator(hash_evaluator):
    found = puct(azlab.game("connect4").start(), hash_evaluator(), Search(), 200)
    assert set(found.seconds) == {"search", "evaluator"} and min(found.seconds.values()) > 0


def test_a_proven_loss_is_avoided_even_if_visited_most():
    position = azlab.game("tictactoe").from_moves("b2 a1 a3")
    found = uct(position, 3000, solve=True)
    assert found.best_move == "c1"
    found.visits[position.game.action("c2")] = 10**6
    assert found.best_move == "c1"
