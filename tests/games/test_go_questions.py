"""Questions to Go states: one move at a time is judged as the mask of all moves, and eyes are those that a person would name."""

import numpy as np
import pytest

import azlab


@pytest.mark.parametrize(("size", "ko"), [(2, "simple"), (5, "simple"), (3, "positional")])
def test_one_move_is_judged_as_the_mask_judges_it(size, ko):
    game, rng = azlab.game("go", size=size, ko=ko), np.random.default_rng(size)
    states, refused = game.new_states(30), 0
    for _ in range(40):
        legal = game.legal_mask(states)
        asked = rng.integers(game.num_actions, size=len(states))
        assert np.array_equal(game.are_legal(states, asked), legal[np.arange(len(states)), asked])
        refused += int((~legal[np.arange(len(states)), asked]).sum())
        going = states[~states["over"]]
        if not len(going):
            break
        game.kernels.play(going, game.random_actions(going, rng))
        states[~states["over"]] = going
    assert refused > 30  # taken points, suicide, ko, finished games
    assert game.are_legal(states[:0], np.zeros(0, np.int64)).shape == (0,)


def test_the_point_of_a_ko_is_refused_for_one_move():
    game = azlab.game("go", size=5, komi=0)
    # Black takes the stone on c3 by playing b3; White may not take back at once
    position = game.set_up(["b4", "a3", "b2"], ["c4", "d3", "c2", "b3"], 0).play("c3")
    back = np.array([game.action("b3")])
    assert position.legal_actions.count(back[0]) == 0 and not game.are_legal(position.state, back)[0]
    later = position.play("e5").play("e1")
    assert game.are_legal(later.state, back)[0]


def eyes(game, position):
    return {game.move_name(int(action)) for action in np.flatnonzero(game.own_eyes(position.state)[0])}


def test_eyes_in_the_corner_at_the_edge_and_in_the_middle():
    game = azlab.game("go", size=5, komi=0)
    assert eyes(game, game.set_up(["a2", "b1", "b2"], [], 0)) == {"a1"}
    assert eyes(game, game.set_up(["a2", "b1"], ["b2"], 0)) == set()  # a diagonal at the edge makes it false
    assert eyes(game, game.set_up(["a2", "b1", "b2"], [], 1)) == set()  # it is the other's
    middle = ["c4", "b3", "d3", "c2"]
    assert eyes(game, game.set_up(middle, ["b4"], 0)) == {"c3"}  # one of four diagonals does no harm
    assert eyes(game, game.set_up(middle, ["b4", "d2"], 0)) == set()
    assert eyes(game, game.start()) == set()
