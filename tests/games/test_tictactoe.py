"""Tic-tac-toe against numbers that everybody can look up."""

import azlab
from azlab.games.count import count_games, exact_value, positions_by_ply

GAME = azlab.game("tictactoe")


def test_there_are_5478_positions():
    by_ply = positions_by_ply(GAME, 9)
    assert by_ply == [1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78]
    assert sum(by_ply) == 5478


def test_there_are_255168_games():
    assert count_games(GAME) == (131_184, 77_904, 46_080)
    assert sum(count_games(GAME)) == 255_168


def test_perfect_play_is_a_draw():
    assert exact_value(GAME, GAME.new_states(1))[0] == 0


def test_names_rows_and_columns():
    position = GAME.from_moves("a1 b2 c3")
    assert position.text == "3  . . X\n2  . O .\n1  X . .\n   a b c\nO to move"
    assert position.moves == ["a1", "b2", "c3"] and position.play("A2").moves[-1] == "a2"


def test_three_in_a_row_wins_for_either_seat():
    first = GAME.from_moves("a1 a2 b1 b2 c1")
    assert (first.over, first.result, first.winner, first.legal_moves) == (True, 1, 0, [])
    second = GAME.from_moves("a1 a3 b1 b3 c2 c3")
    assert (second.over, second.result, second.winner) == (True, -1, 1)


def test_a_full_board_without_a_line_is_a_draw():
    position = GAME.from_moves("a1 b1 c1 b2 a2 c2 b3 a3 c3")
    assert (position.over, position.result, position.winner, position.status) == (True, 0, None, "Draw")
    assert GAME.from_moves("a1").result is None
