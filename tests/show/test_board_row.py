"""Boards side by side: one SVG that holds them all, and a text that says what they are."""

import xml.etree.ElementTree as ET

import pytest

import azlab
from azlab.errors import AzlabError


def test_boards_stand_in_rows_with_their_captions():
    position = azlab.game("tictactoe").start()
    row = azlab.show.boards([position.play(move) for move in ("a1", "b2", "c3")], ["corner", "centre", "<other>"], columns=2)
    root = ET.fromstring(row.svg)
    boards = [element for element in root if element.tag.endswith("svg")]
    places = [(float(board.get("x")), float(board.get("y"))) for board in boards]
    assert len(boards) == 3 and places[0][1] == places[1][1] < places[2][1] and places[0][0] == places[2][0] < places[1][0]
    assert float(root.get("width")) >= places[1][0] + float(boards[1].get("width"))
    assert repr(row) == "<3 boards: corner; centre; <other>>" and row._repr_mimebundle_()["text/plain"] == repr(row)
    assert row.svg == azlab.show.boards(row.positions, row.captions, columns=2).svg


def test_without_captions_a_board_says_whose_turn_it_is():
    assert repr(azlab.show.boards([azlab.game("simple_go").start()])).startswith("<1 boards: Black to move")
    for positions, captions in (([], ()), ([azlab.game("tictactoe").start()], ("a", "b"))):
        with pytest.raises(AzlabError, match="a caption for each"):
            azlab.show.boards(positions, captions)
