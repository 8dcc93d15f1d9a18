"""Players whose moves are kept: a match that is played again repeats them, and goes on as if nothing had happened."""

import json

import pytest

import azlab
from azlab.arena import match
from azlab.errors import AzlabError
from azlab_reproductions.s3_dots_and_boxes.kept import Kept

BOXES = azlab.game("dots_and_boxes", rows=2, cols=2)


def games(player):
    """What six games of `player` against a fixed opponent were."""
    return [one.moves for one in match(player, azlab.agent("uct:3", 9), 6, BOXES, openings=0, seed=1).records]


@pytest.mark.parametrize("name", ["uct:5", "onesided:100", "minimax:2", "minimax:2,endgame=6"])
def test_keeping_changes_no_move_and_a_match_that_was_cut_goes_on_to_the_same_end(name, tmp_path):
    file = tmp_path / "moves.jsonl"
    plain, kept = games(azlab.agent(name, 4)), games(Kept(name, 4, file))
    assert kept == plain
    whole = file.read_text().splitlines()
    for left in (0, 1, len(whole) // 2, len(whole)):
        file.write_text("".join(line + "\n" for line in whole[:left]) + '["aA Ab", "b')
        assert games(Kept(name, 4, file)) == plain
        if left < len(whole):
            assert file.read_text().splitlines() == whole


def test_kept_moves_are_not_searched_again(tmp_path, monkeypatch):
    file = tmp_path / "moves.jsonl"
    before = games(Kept("uct:5", 4, file))
    again = Kept("uct:5", 4, file)
    monkeypatch.setattr(again.player, "choose", None)
    assert games(again) == before


def test_moves_of_other_games_give_way(tmp_path):
    file = tmp_path / "moves.jsonl"
    games(Kept("uct:5", 4, file))
    assert games(Kept("uct:5", 8, file)) == games(azlab.agent("uct:5", 8))  # another seed
    lines = file.read_text().splitlines()
    assert json.loads(lines[0]) == ["uct:5", "8"]
    lines[3] = '["bC", "aA"]'  # not what was played
    file.write_text("\n".join(lines) + "\n")
    assert games(Kept("uct:5", 8, file)) == games(azlab.agent("uct:5", 8))


def test_it_is_called_as_its_player_is_and_refuses_the_same_games(tmp_path):
    kept = Kept("minimax:1,endgame=8", 0, tmp_path / "moves.jsonl")
    assert kept.name == azlab.agent("minimax:1,endgame=8").name
    with pytest.raises(AzlabError, match="Dots and Boxes"):
        kept.prepare(azlab.game("tictactoe"))
