"""Stones on a Go board: chains, liberties, captures, eyes, area and hashes. Shared by `go`, `go_playout` and `simple_go`.

The board is a flat int8 array with a border, so that no neighbour needs an edge test. For a board of N x N points a row
takes N+1 places: one border place at its left, then its points; a border row lies above and below. The border place to
the right of a row is the left one of the next. `stride` = N+1 is the step to the point below.

Scratch memory is allocated once for a batch: `marks` int64 [length] and `stack` int64 [length]. `marks[0]` (a border
place) holds a stamp; raising it by one unmarks all points at once.
"""

import numpy as np

from azlab.games.kernel import kernel

BLACK, WHITE, EMPTY, BORDER = 0, 1, 2, 3  # a stone is the number of its seat


def empty_board(size: int) -> np.ndarray:
    """The array of an empty board of size x size points."""
    board = np.full((size + 2) * (size + 1) + 1, BORDER, np.int8)
    board[points(size)] = EMPTY
    return board


def points(size: int) -> np.ndarray:
    """The place of every point in the array, row by row from the top."""
    return (np.arange(1, size + 1)[:, None] * (size + 1) + np.arange(1, size + 1)).ravel()


@kernel
def point_of(cell, stride):
    """The place of cell number `cell`, counted row by row from the top."""
    size = stride - 1
    return (cell // size + 1) * stride + cell % size + 1


@kernel
def point_of_action(action, stride):
    """The place of an action, 0 for the pass."""
    return 0 if action == (stride - 1) * (stride - 1) else point_of(action, stride)


@kernel
def action_of_point(point, stride):
    """The reverse of `point_of_action`."""
    size = stride - 1
    return size * size if point == 0 else (point // stride - 1) * size + point % stride - 1


@kernel
def liberties(board, point, limit, stride, marks, stack):
    """The liberties of the chain at `point`; counting stops at `limit`, which makes most calls short."""
    colour = board[point]
    marks[0] += 1
    stamp = marks[0]
    marks[point] = stamp
    stack[0] = point
    top = 1
    found = 0
    while top:
        top -= 1
        place = stack[top]
        for step in (1, -1, stride, -stride):
            near = place + step
            if marks[near] == stamp:
                continue
            if board[near] == EMPTY:
                marks[near] = stamp
                found += 1
                if found == limit:
                    return found
            elif board[near] == colour:
                marks[near] = stamp
                stack[top] = near
                top += 1
    return found


@kernel
def touches_empty(board, point, stride):
    """Whether a neighbour of `point` is empty."""
    return (
        board[point + 1] == EMPTY or board[point - 1] == EMPTY or board[point + stride] == EMPTY or board[point - stride] == EMPTY
    )


@kernel
def may_place(board, point, colour, ko, stride, marks, stack):
    """Whether `colour` may put a stone on `point`: empty, not the ko point, and no suicide."""
    if board[point] != EMPTY or point == ko:
        return False
    if touches_empty(board, point, stride):
        return True
    for step in (1, -1, stride, -stride):
        near = point + step
        if board[near] == colour:  # joins a chain that keeps another liberty
            if liberties(board, near, 2, stride, marks, stack) == 2:
                return True
        elif board[near] == 1 - colour and liberties(board, near, 2, stride, marks, stack) == 1:
            return True  # captures
    return False


@kernel
def remove_chain(board, point, stride, captured, count):
    """Take the chain at `point` off the board and append its points to `captured[count:]`; return the new count."""
    colour = board[point]
    board[point] = EMPTY
    captured[count] = point
    done = count
    count += 1
    while done < count:
        for step in (1, -1, stride, -stride):
            near = captured[done] + step
            if board[near] == colour:
                board[near] = EMPTY
                captured[count] = near
                count += 1
        done += 1
    return count


@kernel
def place_stone(board, point, colour, stride, marks, stack, captured):
    """Put a stone down and take off what it captures: `captured[:n]`. Return (n, the ko point or 0)."""
    board[point] = colour
    count = 0
    friends_or_empty = 0
    for step in (1, -1, stride, -stride):
        near = point + step
        if board[near] == 1 - colour:
            if liberties(board, near, 1, stride, marks, stack) == 0:
                count = remove_chain(board, near, stride, captured, count)
        elif board[near] != BORDER:
            friends_or_empty += 1
    # Ko: a lone stone took exactly one stone and its only liberty is the point just vacated.
    if count == 1 and friends_or_empty == 0:
        return count, captured[0]
    return count, np.int64(0)


@kernel
def is_eye(board, point, colour, stride):
    """Whether `point` is empty and all four neighbours are stones of `colour` or border."""
    if board[point] != EMPTY:
        return False
    for step in (1, -1, stride, -stride):
        near = board[point + step]
        if near != colour and near != BORDER:
            return False
    return True


@kernel
def is_safe_eye(board, point, colour, stride):
    """An eye that random play should not fill: at most one diagonal is the opponent's, none at the edge."""
    if not is_eye(board, point, colour, stride):
        return False
    enemies = 0
    at_edge = 0
    for step in (stride + 1, stride - 1, -stride + 1, -stride - 1):
        if board[point + step] == 1 - colour:
            enemies += 1
        elif board[point + step] == BORDER:
            at_edge = 1
    return enemies + at_edge < 2


@kernel
def area(board, stride, marks, stack):
    """Points of each seat by area: its stones, and empty regions that touch stones of that seat only."""
    black, white = 0, 0
    marks[0] += 1
    stamp = marks[0]
    for start in range(stride + 1, len(board) - stride):
        if board[start] == BLACK:
            black += 1
        elif board[start] == WHITE:
            white += 1
        elif board[start] == EMPTY and marks[start] != stamp:
            marks[start] = stamp
            stack[0] = start
            top, region, touches_black, touches_white = 1, 0, False, False
            while top:
                top -= 1
                place = stack[top]
                region += 1
                for step in (1, -1, stride, -stride):
                    near = place + step
                    if board[near] == BLACK:
                        touches_black = True
                    elif board[near] == WHITE:
                        touches_white = True
                    elif board[near] == EMPTY and marks[near] != stamp:
                        marks[near] = stamp
                        stack[top] = near
                        top += 1
            if touches_black and not touches_white:
                black += region
            elif touches_white and not touches_black:
                white += region
    return black, white


@kernel
def all_have_liberties(board, stride, marks, stack):
    """Whether the position can stand on a board: every chain has a liberty."""
    for point in range(stride + 1, len(board) - stride):
        if board[point] < EMPTY and liberties(board, point, 1, stride, marks, stack) == 0:
            return False
    return True


@kernel
def is_ko(board, point, taker, stride):
    """Whether `taker` may just have taken a lone stone on `point` with a stone that could be taken back there."""
    if not is_eye(board, point, taker, stride):
        return False
    for step in (1, -1, stride, -stride):
        if board[point + step] != taker:
            continue
        enclosed = 0
        for other in (1, -1, stride, -stride):
            near = board[point + step + other]
            enclosed += near == 1 - taker or near == BORDER
        if enclosed == 3:
            return True
    return False


@kernel
def look_at(boards, kos, to_move, stride, stands, is_right):
    """For boards int8 [B, length] write whether each can stand, and whether its ko point (0 for none) is one: bool [B] each."""
    marks, stack = np.zeros(boards.shape[1], np.int64), np.empty(boards.shape[1], np.int64)
    for i in range(len(boards)):
        stands[i] = all_have_liberties(boards[i], stride, marks, stack)
        is_right[i] = kos[i] == 0 or is_ko(boards[i], kos[i], 1 - to_move[i], stride)


# --- superko: positions by their hashes -------------------------------------------------------------------------------


def _zobrist_keys() -> np.ndarray:
    """One random key for each colour and place, and a last row whose first key stands for White to move."""
    return np.random.Generator(np.random.PCG64(2016)).integers(1, 2**63, (3, 20 * 21 + 1)).astype(np.uint64)


KEYS = _zobrist_keys()


@kernel
def situation(board_hash, state, to_move):
    """What superko compares: the board, and for the situational kind also whose turn it is."""
    return board_hash ^ KEYS[2, 0] if state.situational and to_move == 1 else board_hash


@kernel
def record(state, board_hash):
    """Remember the position just reached."""
    state.hash = board_hash
    if state.ply < len(state.history):
        state.history[state.ply] = situation(board_hash, state, state.to_move)
