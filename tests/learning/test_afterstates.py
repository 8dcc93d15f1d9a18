"""Players that judge afterstates: looking ahead, and many positions at once."""

import pytest

import azlab
from azlab.learning.afterstates import ValueAgent
from azlab.learning.generations import ValueGenerations

GAME = azlab.game("tictactoe")


def worth_by_hand(net, position, plies):
    """The definition, move by move: what `AfterstateNet.worth` does for many at once."""
    if position.over:
        return 0.5 * (1 + position.result)
    if plies == 0:
        _, black, white = net.chances(position.state)[0]
        return 0.5 * (1 + black - white)
    following = [worth_by_hand(net, position.play(action), plies - 1) for action in position.legal_actions]
    return max(following) if position.to_move == 0 else min(following)


@pytest.mark.parametrize(("name", "moves"), [("tictactoe", "a1 b2 c3"), ("tictactoe", "a1 b2 c3 a2 b1"), ("simple_go", "")])
def test_looking_ahead_is_minimax_over_the_network(name, moves):
    game = azlab.game(name) if name == "tictactoe" else azlab.game(name, size=3)
    net = ValueGenerations(game, seed=1)
    position = game.from_moves(moves)
    for plies in (2, 3):
        by_hand = {action: worth_by_hand(net, position.play(action), plies - 1) for action in position.legal_actions}
        best = (max if position.to_move == 0 else min)(by_hand.values())
        chosen = ValueAgent(net, plies=plies).choose(position)
        assert by_hand[chosen] == pytest.approx(best, abs=1e-5)


def test_two_plies_see_a_win_and_a_threat_whatever_the_network_says():
    for seed in range(3):
        net = ValueGenerations(GAME, seed=seed)
        wins, threatened = GAME.from_moves("a1 b1 a2 b2"), GAME.from_moves("a1 b2 c3 a2")
        assert ValueAgent(net, plies=2).choose(wins) == GAME.action("a3")
        assert ValueAgent(net, plies=2).choose(threatened) == GAME.action("c2")


def test_many_positions_are_judged_like_each_alone():
    net = ValueGenerations(GAME, seed=1)
    states, _ = net.play_games(60)
    states = states[~states["over"]]
    for plies in (1, 2):
        alone = [net.choose_actions(states[k : k + 1], plies)[0] for k in range(len(states))]
        assert (net.choose_actions(states, plies) == alone).mean() > 0.98  # rounding may differ where moves are equal
