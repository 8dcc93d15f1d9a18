"""The exams of S1: every line of an opponent, the positions a player may meet, the bound of players who never lose."""

import pytest

import azlab
from azlab_reproductions.s1_value_generations.exam import against_every_line, most_wins_without_loss, positions_met

GAME = azlab.game("tictactoe")


def first_cell(states):
    return GAME.legal_mask(states).argmax(axis=1)


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
