"""Players that judge afterstates: looking ahead, the exam by every line, the positions a player may meet."""

import pytest

import azlab
from azlab.learning.afterstates import ValueAgent, against_every_line, most_wins_without_loss, positions_met
from azlab.learning.generations import ValueGenerations

GAME = azlab.game("tictactoe")


def first_cell(states):
    return GAME.legal_mask(states).argmax(axis=1)


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


def test_every_line_is_counted_as_in_the_source():
    """A player who takes the first free cell: 384 = 8*6*4*2 and 945 = 9*7*5*3 lines, fewer different games."""
    for seat, lines in ((0, 384), (1, 945)):
        counted = against_every_line(GAME, first_cell, seat)
        assert sum(counted["lines"]) == lines and 0 < sum(counted["games"]) < lines
    with pytest.raises(azlab.AzlabError, match="move in turn|same number of moves"):
        dots = azlab.game("dots_and_boxes", rows=1, cols=2)
        against_every_line(dots, lambda states: dots.legal_mask(states).argmax(axis=1), 0)


def test_a_perfect_player_loses_no_line_and_wins_no_more_than_the_bound():
    oracle = azlab.oracle(GAME)
    for seat in (0, 1):
        counted = against_every_line(GAME, lambda states: oracle.best_actions(states).argmax(axis=1), seat)
        assert counted["lines"][2] == 0 and counted["games"][2] == 0
        assert counted["lines"][0] / sum(counted["lines"]) <= most_wins_without_loss(GAME, seat)


def test_the_bound_of_players_who_never_lose():
    """By a separate count on strings. As White the source's network, 0.9164, is at the bound."""
    assert most_wins_without_loss(GAME, 0) == pytest.approx(382 / 384)
    assert most_wins_without_loss(GAME, 1) == pytest.approx(866 / 945)


def test_positions_met_are_those_of_all_games_against_every_reply():
    for seat in (0, 1):
        met = positions_met(GAME, first_cell, seat)
        found, todo = set(), [GAME.start()]
        while todo:
            position = todo.pop()
            if position.over:
                continue
            if position.to_move == seat:
                found.add(position.state.tobytes())
            own = position.to_move == seat
            todo += [position.play(action) for action in (position.legal_actions[:1] if own else position.legal_actions)]
        assert {state.tobytes() for state in met} == found and len(met) == len(found)
