"""What a net sees of Dots and Boxes: lines, and lines with the score. The other encodings are tested with their nets."""

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.nets.encodings import ENCODINGS, encode, input_shape, outputs_of_actions

PADS = [3, 11, 19, 27]  # S3, figure 4.1: the places of the 28 numbers that are no line


@pytest.fixture(scope="module")
def game():
    return azlab.game("dots_and_boxes")


def test_lines_say_nothing_of_the_score_and_lines_and_score_does(game):
    blue = game.from_moves("aA Aa Ab bA aB")  # Blue draws the fourth side
    orange = game.from_moves("aA Aa Ab aB bA")  # Orange does, and then draws on
    assert blue.scores == (1, 0) and orange.scores == (0, 1) and blue.to_move == orange.to_move == 0
    states = np.concatenate([blue.state, orange.state])
    lines = encode(game, states, "lines").reshape(2, 28)
    assert (lines[0] == lines[1]).all() and lines[0].sum() == 5 and not lines[:, PADS].any()

    scored = encode(game, states, "lines_and_score").reshape(2, 28)
    assert scored[:, 3] == pytest.approx([1 / 9, -1 / 9]) and not scored[:, PADS[1:]].any()
    assert (np.delete(scored, 3, axis=1) == np.delete(lines, 3, axis=1)).all()


def test_the_lead_is_that_of_the_player_to_move(game):
    orange = game.from_moves("aA Aa Ab aB")
    assert orange.to_move == 1 and orange.scores == (0, 1)
    assert encode(game, orange.state, "lines_and_score")[0, 0, 3] == pytest.approx(1 / 9)
    assert encode(game, orange.play("bA").state, "lines_and_score")[0, 0, 3] == pytest.approx(-1 / 9)


def test_a_turned_board_keeps_its_score(game):
    planes = game.encode(game.from_moves("aA Aa Ab bA aB").state)
    for symmetry in game.symmetries:
        turned = ENCODINGS["lines_and_score"].inputs(symmetry.on_planes(planes)).ravel()
        assert turned[3] == pytest.approx(1 / 9) and np.delete(turned, 3).sum() == 5


def test_other_boards_and_other_games(game):
    assert input_shape(azlab.game("dots_and_boxes", rows=1, cols=2), "lines_and_score") == (3, 3)
    with pytest.raises(
        AzlabError, match="'lines_and_score' is for games in which every move marks a cell of its own, .*, unlike go"
    ):
        encode(azlab.game("go"), azlab.game("go").new_states(1), "lines_and_score")


def test_a_net_may_have_an_output_for_each_cell_on_which_a_stone_is_put():
    seega = azlab.game("seega")
    found = outputs_of_actions(seega, 25, "signed_cells")
    assert (found >= 0).sum() == 24  # all cells but the centre, on which none is put
    for action in np.flatnonzero(found >= 0):
        assert seega.move_name(action) == "ABCDE"[found[action] // 5] + str(found[action] % 5 + 1)
    assert outputs_of_actions(azlab.game("go", size=5), 25, "signed_cells").tolist() == [*range(25), -1]  # the pass has none
    with pytest.raises(AzlabError, match="gives 24 policy outputs"):
        outputs_of_actions(seega, 24, "signed_cells")
