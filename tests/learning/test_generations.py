"""Value networks by generations: what the network sees, how games are played, and that it learns tic-tac-toe."""

import numpy as np
import pytest

import azlab
from azlab.learning.generations import ValueAgent, ValueGenerations, against_every_line

GAME = azlab.game("tictactoe")


def test_the_network_sees_afterstates_as_source_s1_describes():
    net = ValueGenerations(GAME, seed=1)
    planes = net.planes(GAME.from_moves("a1 b2").state)[0]  # X to move again
    assert planes.shape == (3, 3, 3)
    assert planes[2, 0].tolist() == [1, 0, 1] and planes[1, 1].tolist() == [0, 1, 1] and planes[0, 0].tolist() == [0, 0, 1]
    assert net.planes(GAME.from_moves("a1").state)[0, 2, 0].tolist() == [0, 1, 0]  # O to move: the stone is the other's
    go = azlab.game("simple_go")
    assert np.array_equal(ValueGenerations(go).planes(go.start().state), go.encode(go.start().state).transpose(0, 2, 3, 1))


def test_black_takes_the_afterstate_black_likes_and_white_the_opposite():
    net = ValueGenerations(GAME, seed=1)
    for moves in ("", "a1", "a1 b2 c3"):
        position = GAME.from_moves(moves)
        worth = {}
        for action in position.legal_actions:
            _, black, white = net.chances(position.play(action).state)[0]
            worth[action] = black - white
        pick = max if position.to_move == 0 else min
        assert worth[net.choose_actions(position.state)[0]] == pytest.approx(pick(worth.values()), abs=1e-6)


def test_games_of_the_first_generation_are_random_and_complete():
    net = ValueGenerations(GAME, seed=1)
    states, results = net.play_games(4000)
    finished = states["over"]
    assert finished.sum() == 4000 and np.array_equal(states["result"][finished], results[finished])
    shares = [(results[finished] == result).mean() for result in (1, -1, 0)]
    assert shares == pytest.approx([0.585, 0.288, 0.127], abs=0.03)  # exact: 58.49%, 28.81%, 12.70%


def test_later_generations_mix_their_own_moves_with_random_ones():
    net = ValueGenerations(GAME, seed=1)
    net.generation = 1
    states, _ = net.play_games(300)
    first = states[states["ply"] == 1]
    greedy = GAME.from_moves([int(net.choose_actions(GAME.new_states(1))[0])])
    same = sum(state.tobytes() == greedy.state.tobytes() for state in first)
    assert 60 < same < 280  # neither all greedy nor all random


def test_every_line_is_counted_as_in_the_source():
    """A player who takes the first free cell: 384 = 8*6*4*2 and 945 = 9*7*5*3 lines, fewer different games."""

    def first_cell(states):
        return GAME.legal_mask(states).argmax(axis=1)

    for seat, lines in ((0, 384), (1, 945)):
        counted = against_every_line(GAME, first_cell, seat)
        assert sum(counted["lines"]) == lines and 0 < sum(counted["games"]) < lines
    with pytest.raises(azlab.AzlabError, match="move in turn|same number of moves"):
        dots = azlab.game("dots_and_boxes", rows=1, cols=2)
        against_every_line(dots, lambda states: dots.legal_mask(states).argmax(axis=1), 0)


def test_a_perfect_player_loses_no_line():
    oracle = azlab.oracle(GAME)
    for seat in (0, 1):
        counted = against_every_line(GAME, lambda states: oracle.best_actions(states).argmax(axis=1), seat)
        assert counted["lines"][2] == 0 and counted["games"][2] == 0


def test_three_small_generations_learn_tic_tac_toe():
    """A tenth of S1's games and less: nearly no line is lost, where the untrained network loses many."""
    net = ValueGenerations(GAME, seed=3)
    before = sum(against_every_line(GAME, net.choose_actions, seat)["lines"][2] for seat in (0, 1))
    for games in (1500, 2500, 2500):
        net.next_generation(games, epochs=4)
    after = sum(against_every_line(GAME, net.choose_actions, seat)["lines"][2] for seat in (0, 1))
    assert before > 100 and after < 50 and net.losses[-1] < net.losses[0]
    result = azlab.arena.match(ValueAgent(net), "random", 40, GAME, openings=0, seed=1)
    assert result.interval[0] > 0.75


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ValueGenerations(azlab.game("connect4")), "takes square boards"),
        (lambda: ValueGenerations(GAME).next_generation(0, 1), "games must be a whole number"),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(azlab.AzlabError, match=sentence):
        call()
