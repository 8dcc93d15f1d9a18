"""Dots and Boxes: the extra turn, two boxes at once, names and inputs of source S3, exact margins."""

import numpy as np
import pytest

import azlab
from azlab.games.count import exact_value

GAME = azlab.game("dots_and_boxes")


@pytest.mark.parametrize(("rows", "cols", "margin"), [(1, 1, -1), (1, 2, 0), (1, 3, -1), (2, 2, 2), (1, 4, 0)])
def test_small_boards_have_their_published_margin(rows, cols, margin):
    small = azlab.game("dots_and_boxes", rows=rows, cols=cols)
    assert exact_value(small, small.new_states(1))[0] == margin


def test_a_board_and_its_transpose_have_the_same_margin():
    small = azlab.game("dots_and_boxes", rows=3, cols=1)
    assert exact_value(small, small.new_states(1))[0] == -1


def test_without_a_box_the_turn_passes_with_one_it_does_not():
    position = GAME.from_moves("aA aB Aa")
    assert (position.to_move, position.scores) == (1, (0, 0))
    boxed = position.play("Ab")
    assert (boxed.to_move, boxed.scores) == (1, (0, 1))
    assert boxed.play("cC").to_move == 0


def test_one_line_can_finish_two_boxes():
    position = GAME.from_moves("aA aB Aa bA bB Ac")  # all of the two upper left boxes but the line between them
    assert (position.to_move, position.scores) == (0, (0, 0))
    both = position.play("Ab")
    assert (both.to_move, both.scores) == (0, (2, 0))
    assert GAME.owners(both) == {(0, 0): 0, (0, 1): 0}


def test_the_game_is_over_when_all_lines_are_drawn_and_more_boxes_win():
    final = GAME.playout(GAME.new_states(500))
    assert (final["ply"] == 24).all() and (final["boxes"].sum(axis=1) == 9).all()
    assert (final["result"] == np.sign(final["boxes"][:, 0] - final["boxes"][:, 1])).all()
    even = azlab.game("dots_and_boxes", rows=1, cols=2)
    assert set(even.playout(even.new_states(500))["result"]) == {-1, 0, 1}


def test_lines_have_the_names_of_the_source():
    names = GAME.start().legal_moves
    assert names[:7] == ["aA", "bA", "cA", "Aa", "Ab", "Ac", "Ad"] and names[-3:] == ["aD", "bD", "cD"]
    assert len(names) == 24
    assert GAME.from_moves("aABc").moves == ["aA", "Bc"]


def test_the_first_plane_holds_the_28_inputs_of_the_source():
    inputs = GAME.encode(GAME.from_moves("aA Ad bD").state)[0, 0].ravel()
    assert len(inputs) == 28 and set(np.flatnonzero(inputs)) == {0, 7, 25}
    full = GAME.encode(GAME.playout(GAME.new_states(1)))[0, 0].ravel()
    assert np.flatnonzero(full == 0).tolist() == [3, 11, 19, 27]  # the pads


def test_the_second_plane_is_the_lead_of_the_player_to_move():
    position = GAME.from_moves("aA aB Aa Ab")  # the second player has a box and moves again
    assert np.allclose(GAME.encode(position.state)[0, 1], 1 / 9)
    assert np.allclose(GAME.encode(position.play("cC").state)[0, 1], -1 / 9)


def reference_game(rows, cols, rng):
    """Play a random game with sets of dot pairs; yield the lines, who is to move and the boxes after each move."""
    lines = {((r, c), (r, c + 1)) for r in range(rows + 1) for c in range(cols)}
    lines |= {((r, c), (r + 1, c)) for r in range(rows) for c in range(cols + 1)}
    boxes = {
        (r, c): {((r, c), (r, c + 1)), ((r + 1, c), (r + 1, c + 1)), ((r, c), (r + 1, c)), ((r, c + 1), (r + 1, c + 1))}
        for r in range(rows) for c in range(cols)
    }  # fmt: skip
    drawn, seat, score = set(), 0, [0, 0]
    for k in rng.permutation(len(lines)):
        line = sorted(lines)[k]
        drawn.add(line)
        won = sum(line in sides and sides <= drawn for sides in boxes.values())
        score[seat] += won
        seat = seat if won else 1 - seat
        yield line, seat, tuple(score)


@pytest.mark.parametrize(("rows", "cols"), [(3, 3), (2, 3), (1, 1), (4, 2), (5, 5)])
def test_random_games_agree_with_a_slow_reference(rows, cols):
    game = azlab.game("dots_and_boxes", rows=rows, cols=cols)
    for seed in range(20):
        position = game.start()
        for ((r, c), (r2, _)), seat, score in reference_game(rows, cols, np.random.default_rng(seed)):
            low, high = "abcdefghijkl"[c], "ABCDEFGHIJKL"[r]
            position = position.play(low + high if r == r2 else high + low)
            assert (position.to_move, position.scores) == (seat, score)
        assert position.over


@pytest.mark.parametrize("rows, cols", [(2, 2), (3, 3), (2, 4), (5, 5)])
def test_symmetric_positions_have_one_normal_form(rows, cols):
    """Turned by hand in every way, with any score, a board always comes out the same, and moves go with it."""
    rules, rng = azlab.game("dots_and_boxes", rows=rows, cols=cols), np.random.default_rng(0)
    states = rules.new_states(40)
    for _ in range(rules.num_actions // 2):
        rules.kernels.play(states, rules.random_actions(states, rng))
    plain, turns = rules.normal_form(states)
    assert (plain["boxes"] == 0).all() and (plain["to_move"] == 0).all()
    legal = rules.legal_mask(states)
    assert np.array_equal(np.take_along_axis(rules.legal_mask(plain), turns, axis=1), legal)
    for symmetry in rules.symmetries:
        turned = states.copy()
        turned["lines"] = symmetry.on_planes(states["lines"][:, None].astype(np.float32))[:, 0]
        turned["boxes"] = rng.integers(0, 3, (40, 2))
        assert np.array_equal(rules.normal_form(turned)[0], plain)
        moves = rules.random_actions(states, rng)  # a move and its turned like lead to the same normal form
        one, other = states.copy(), turned.copy()
        rules.kernels.play(one, moves)
        rules.kernels.play(other, np.ascontiguousarray(symmetry.actions[moves]))
        assert np.array_equal(rules.normal_form(one)[0]["lines"], rules.normal_form(other)[0]["lines"])
    with pytest.raises(azlab.AzlabError, match="64 lines"):
        azlab.game("dots_and_boxes", rows=6, cols=6).normal_form(azlab.game("dots_and_boxes", rows=6, cols=6).new_states(1))
