"""The endgame solver of Dots and Boxes against the table of the whole board, and on boards that have none."""

import numpy as np
import pytest

from azlab.arena import match
from azlab.arena.agents import agent, ready
from azlab.errors import AzlabError
from azlab.games import game
from azlab.oracles import oracle
from azlab.oracles.dots_and_boxes import MAX_ENDGAME, endgame_scores


def after_random_moves(rules, moves, seed):
    rng, state = np.random.default_rng(seed), rules.new_states(1)
    for _ in range(moves):
        rules.kernels.play(state, rules.random_actions(state, rng))
    return rules.position(state)


@pytest.mark.parametrize("left", [1, 2, 5, 9, 14])
def test_it_agrees_with_the_table_of_the_whole_board(left):
    rules = game("dots_and_boxes")
    for seed in range(20):
        position = after_random_moves(rules, 24 - left, seed)
        assert np.array_equal(endgame_scores(position), oracle(rules).action_scores(position.state)[0], equal_nan=True)


def margin(position):
    """The final margin for seat 0 under perfect play, by trying everything."""
    if position.over:
        return position.scores[0] - position.scores[1]
    values = [margin(position.play(action)) for action in position.legal_actions]
    return max(values) if position.to_move == 0 else min(values)


@pytest.mark.parametrize("options", [{"rows": 4, "cols": 4}, {"rows": 2, "cols": 7}])
def test_it_knows_the_end_of_boards_without_a_table(options):
    rules = game("dots_and_boxes", **options)
    for seed in range(3):
        position = after_random_moves(rules, rules.num_actions - 6, seed)
        scores = endgame_scores(position)
        for action in position.legal_actions:
            assert scores[action] == margin(position.play(action))


def test_a_player_that_solves_the_end_never_loses_a_box_there():
    rules = game("dots_and_boxes")
    player = ready(agent("minimax:1,endgame=12"), rules)
    for seed in range(10):
        position = after_random_moves(rules, 12, seed)
        assert oracle(rules).best_actions(position.state)[0, player.choose(position)]
    assert match(player, "random", 4, rules).wins == 4


def test_wrong_uses_are_said():
    with pytest.raises(AzlabError, match=f"1 to {MAX_ENDGAME} lines"):
        endgame_scores(game("dots_and_boxes").start())
    with pytest.raises(AzlabError, match="for Dots and Boxes"):
        ready(agent("minimax:2,endgame=5"), game("connect4"))
    with pytest.raises(AzlabError, match="endgame"):
        agent("minimax:2,endgame=99")
