"""Connect 4 against the published number of positions, and a slow reference."""

import numpy as np
import pytest

import azlab
from azlab.games.count import exact_value, positions_by_ply

GAME = azlab.game("connect4")


@pytest.mark.slow
def test_positions_by_ply_are_the_published_ones():
    # OEIS A212693
    assert positions_by_ply(GAME, 10) == [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275, 558186, 1662623]


@pytest.mark.parametrize(
    ("rows", "cols", "value"),
    # solved small boards (J. Tromp's table of Connect-4 results by board size): 4x4, 4x5, 5x4 are draws
    [(4, 4, 0), (4, 5, 0), (5, 4, 0)],
)
@pytest.mark.slow
def test_small_boards_have_their_published_value(rows, cols, value):
    small = azlab.game("connect4", rows=rows, cols=cols)
    assert exact_value(small, small.new_states(1))[0] == value


def four_in_a_row(cells, seat):
    """Straight from the rule: some cell starts a line of four."""
    rows, cols = cells.shape
    for row, col in np.ndindex(rows, cols):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            line = [(row + k * down, col + k * right) for k in range(4)]
            if all(0 <= r < rows and 0 <= c < cols and cells[r, c] == seat + 1 for r, c in line):
                return True
    return False


@pytest.mark.parametrize("size", [(6, 7), (4, 4), (7, 8), (5, 9), (3, 12), (1, 5), (9, 5)])
def test_random_games_agree_with_a_slow_reference(size):
    game = azlab.game("connect4", rows=size[0], cols=size[1])
    rng = np.random.default_rng(7)
    for _ in range(60):
        cells = np.zeros(size, np.int64)
        position, seat = game.start(), 0
        while not position.over:
            assert position.legal_actions == [c for c in range(size[1]) if cells[0, c] == 0]
            assert position.to_move == seat
            col = int(rng.choice(position.legal_actions))
            row = max(r for r in range(size[0]) if cells[r, col] == 0)
            cells[row, col] = seat + 1
            position = position.play(col)
            assert np.array_equal(game.board(position.state), cells)
            won = four_in_a_row(cells, seat)
            assert position.over == (won or (cells != 0).all())
            if position.over:
                assert position.result == (0 if not won else 1 - 2 * seat)
            seat = 1 - seat


def test_columns_are_named_from_one_and_lines_need_no_spaces():
    position = GAME.from_moves("4433")
    assert position.moves == ["4", "4", "3", "3"] and position == GAME.from_moves([3, 3, 2, 2])
    assert position == GAME.from_moves("4 4, 3 3")
    assert azlab.game("connect4", rows=3, cols=12).from_moves("12 11").actions == (11, 10)


def test_text_shows_the_stones():
    lines = GAME.from_moves("445").text.splitlines()
    assert lines[4:7] == [". . . O . . .", ". . . X X . .", "1 2 3 4 5 6 7"]


def test_a_line_does_not_run_over_the_edge_of_the_board():
    # three stones at the top of column 1 and one at the bottom of column 2 are neighbours as bits, not on the board
    position = GAME.from_moves("7 1 7 1 6 1 1 7 1 2 1 3")
    assert not position.over


def test_encoding_shows_own_and_other_stones_with_the_top_row_first():
    planes = GAME.encode(GAME.from_moves("112").state)[0]  # Red to move
    assert planes.sum() == 3 and planes[0, 4, 0] == 1 and planes[1, 5, 0] == 1 and planes[1, 5, 1] == 1
