"""Tic-tac-toe and Connect 4 written the easy way (`azlab.easy_game`), to measure what that costs."""

import numpy as np

from azlab.games.easy import easy_game


def empty_3x3():
    return np.zeros((3, 3), np.int8)


def free_cells(board, player):
    return board == 0


def put_mark(board, player, action):
    board[action // 3, action % 3] = player


def three_in_a_row(board, player):
    for k in range(3):
        if (board[k] == player).all() or (board[:, k] == player).all():
            return player
    if (np.diag(board) == player).all() or (np.diag(board[::-1]) == player).all():
        return player
    return 0 if (board != 0).all() else None


def empty_board(rows=6, cols=7):
    return np.zeros((rows, cols), np.int8)


def open_columns(board, player):
    return board[0] == 0


def drop(board, player, action):
    row = board.shape[0] - 1
    while board[row, action] != 0:
        row -= 1
    board[row, action] = player


def is_four(board, player, row, col, down, right):
    for k in range(4):
        r, c = row + k * down, col + k * right
        if not (0 <= r < board.shape[0] and 0 <= c < board.shape[1]) or board[r, c] != player:
            return False
    return True


def four_in_a_row(board, player):
    for row in range(board.shape[0]):
        for col in range(board.shape[1]):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if is_four(board, player, row, col, down, right):
                    return player
    return None if (board[0] == 0).any() else 0


def easy_tictactoe(compiled=True):
    """Tic-tac-toe; `compiled=False` for plain Python."""
    return easy_game(
        "easy_tictactoe", empty_3x3, free_cells, put_mark, three_in_a_row, symmetric=True, compiled=compiled
    )  # fmt: skip


def easy_connect4(compiled=True):
    """Connect 4, with the options rows and cols."""
    return easy_game(
        "easy_connect4", empty_board, open_columns, drop, four_in_a_row, actions="columns", symmetric=True, compiled=compiled
    )  # fmt: skip
