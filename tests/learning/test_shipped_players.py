"""The players in data/players: they load, and play as well as the documentation says."""

import numpy as np
import pytest

from azlab.arena.agents import agent, ready
from azlab.games import game
from azlab.learning.evaluation import graded_by_oracle, own_positions, search_accuracy
from azlab.learning.shipped import load_player, player_for, players
from azlab.oracles import oracle


def test_every_player_is_small_and_knows_its_game():
    found = players()
    assert found
    for path, rules in found.items():
        learner, config = load_player(path)
        assert learner.game == rules == config.rules() and path == player_for(rules)
        assert path.stat().st_size < 8_000_000


@pytest.mark.learns
def test_the_player_of_3x3_boxes_hardly_ever_gives_anything_away():
    """Its training reached 99%; a network that had been damaged, or seen through a wrong encoding, is far below.

    Other seeds and instructions (SSE, AVX2) gave 99.0 to 99.8% best moves, and all moves held the result.
    """
    rules = game("dots_and_boxes")
    player = ready(agent("az"), rules)._player
    states = own_positions([player.evaluator], player.search, player.budget, games=20, random_plies=8, seed=5)
    found = search_accuracy([player.evaluator], graded_by_oracle(rules, states), player.search, player.budget)
    assert found["mcts_accuracy"] > 0.96 and found["holding_accuracy"] > 0.98


@pytest.mark.learns
@pytest.mark.parametrize("seed", [0, 1])
def test_as_second_it_wins_against_the_perfect_player(seed):
    """3x3 is a win for the second player, who must not let it go; the first tries everything with best moves."""
    rules = game("dots_and_boxes")
    player, perfect = ready(agent("az", seed), rules), agent("perfect", seed)
    position = rules.start()
    while not position.over:
        position = position.play((player if position.to_move == 1 else perfect).choose(position))
    assert position.result == -1
    assert np.sign(oracle(rules).value(rules.start())) == -1
