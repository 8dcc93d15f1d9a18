"""Go against published numbers of positions and published values of tiny boards, and against a slow model.

Legal positions: John Tromp, Gunnar Farnebäck, "Combinatorics of Go" (2007), https://tromp.github.io/go/legal.html;
also the sequence A094777 of the On-Line Encyclopedia of Integer Sequences.
"""

import numba
import numpy as np
import pytest

import azlab
from azlab.games import stones
from azlab.games.game import Position

LEGAL_POSITIONS = {2: 57, 3: 12_675, 4: 24_318_165}


def reachable_boards(size: int) -> np.ndarray:
    """All boards that play can reach, found with the game's own kernels: a row of `size * size` marks each.

    Every legal position can be reached: leave out its stones one by one and each board on the way is legal, so
    in the reverse order no stone is suicide or captures. Both sides move from each board, as passes are allowed.
    """
    game = azlab.game("go", size=size)
    where = stones.points(size)
    known: set[bytes] = set()
    fresh = game.new_states(1)
    while True:
        boards = np.unique(fresh["board"][:, where], axis=0)
        boards = boards[[row.tobytes() not in known for row in boards]]
        if not len(boards):
            break
        known.update(row.tobytes() for row in boards)
        states = game.new_states(2 * len(boards))
        states["board"][:, where] = np.concatenate([boards, boards])
        states["to_move"][len(boards) :] = 1
        origin, actions = np.nonzero(game.legal_mask(states))
        fresh = states[origin]
        game.kernels.play(fresh, actions)
    return np.array([np.frombuffer(row, np.int8) for row in known])


@pytest.mark.parametrize("size", [2, 3])
def test_play_reaches_every_legal_position_and_no_other(size):
    boards = reachable_boards(size)
    assert len(boards) == LEGAL_POSITIONS[size]
    game, scratch = azlab.game("go", size=size), np.zeros((2, len(stones.empty_board(size))), np.int64)
    states = game.new_states(len(boards))
    states["board"][:, stones.points(size)] = boards
    assert all(stones.all_have_liberties(board, size + 1, *scratch) for board in states["board"])


@numba.njit
def count_legal(board, stride, places, marks, stack):
    """Count the boards without a dead chain among all 3 ** len(places), going through them like a counter."""
    count = 0
    for place in places:
        board[place] = 0
    while True:
        count += stones.all_have_liberties(board, stride, marks, stack)
        k = 0
        while k < len(places) and board[places[k]] == 2:
            board[places[k]] = 0
            k += 1
        if k == len(places):
            return count
        board[places[k]] += 1


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.slow
def test_the_published_number_of_boards_have_a_liberty_for_every_chain(size):
    board = stones.empty_board(size)
    scratch = np.zeros((2, len(board)), np.int64)
    assert count_legal(board, size + 1, stones.points(size), *scratch) == LEGAL_POSITIONS[size]


def best_result(position: Position, alpha: int = -1, beta: int = 1) -> int:
    """The result under perfect play, by alpha-beta search; a pass is answered by a pass first."""
    if position.over:
        assert position.ply < position.game.max_length  # no line of play was cut off by the limit of moves
        return position.result
    answers = position.legal_actions
    if position.actions and position.actions[-1] == position.game.num_actions - 1:
        answers = answers[::-1]
    for action in answers:
        if position.to_move == 0:
            alpha = max(alpha, best_result(position.play(action), alpha, beta))
        else:
            beta = min(beta, best_result(position.play(action), alpha, beta))
        if alpha >= beta:
            break
    return alpha if position.to_move == 0 else beta


@pytest.mark.parametrize("ko", ["positional", "situational"])
@pytest.mark.parametrize(("komi", "result"), [(0, 1), (0.5, 1), (1, 0), (1.5, -1)])
def test_black_wins_2x2_by_one_point_under_superko(ko, komi, result):
    # Published by Tromp and Farnebäck in the paper above
    assert best_result(azlab.game("go", size=2, komi=komi, ko=ko).start()) == result


def marks_of(position: Position) -> str:
    return "".join("XO."[stone] for stone in position.game.board(position.state).ravel())


def neighbours(size: int) -> list[list[int]]:
    """The cells next to each cell."""
    steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
    at = [divmod(cell, size) for cell in range(size * size)]
    return [[(r + y) * size + c + x for y, x in steps if 0 <= r + y < size and 0 <= c + x < size] for r, c in at]


def model_move(cells: str, cell: int, colour: str, near: list[list[int]]) -> str | None:
    """The board after a stone, as a string of X, O and dots; None for suicide. Slow and plain."""

    def chain_without_liberty(cells: str, start: int) -> set[int]:
        chain, todo = {start}, [start]
        for place in todo:
            for other in near[place]:
                if cells[other] == ".":
                    return set()
                if cells[other] == cells[start] and other not in chain:
                    chain.add(other)
                    todo.append(other)
        return chain

    cells = cells[:cell] + colour + cells[cell + 1 :]
    for other in near[cell]:
        if cells[other] not in (".", colour):
            taken = chain_without_liberty(cells, other)
            cells = "".join("." if place in taken else mark for place, mark in enumerate(cells))
    return None if chain_without_liberty(cells, cell) else cells


@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_random_games_on_small_boards_agree_with_a_slow_model(size, ko):
    game, near, rng = azlab.game("go", size=size, ko=ko), neighbours(size), np.random.default_rng(size)
    forbidden_by_superko = 0
    for _ in range(25):
        position, cells, ko_cell = game.start(), "." * size * size, None
        seen = {(cells, 0)}
        while not position.over:
            expected = {}
            for cell in [k for k, mark in enumerate(cells) if mark == "." and k != ko_cell]:
                after = model_move(cells, cell, "XO"[position.to_move], near)
                if after is None:
                    continue
                turns = {"simple": (), "positional": (0, 1), "situational": (1 - position.to_move,)}[ko]
                if any((after, turn) in seen for turn in turns):
                    forbidden_by_superko += 1
                else:
                    expected[cell] = after
            assert position.legal_actions == [*expected, size * size], position
            stone = expected and (position.ply < 2 or rng.random() < 0.9)
            action = int(rng.choice(list(expected))) if stone else size * size
            after, ko_cell = expected.get(action, cells), None
            taken = [k for k in range(size * size) if cells[k] != "." and after[k] == "."]
            if len(taken) == 1 and after.count(".") == cells.count("."):
                alone = all(after[k] != "XO"[position.to_move] for k in near[action])
                in_atari = sum(after[k] == "." for k in near[action]) == 1
                ko_cell = taken[0] if alone and in_atari else None
            position, cells = position.play(action), after
            seen.add((cells, position.to_move))
            assert marks_of(position) == cells
    assert (forbidden_by_superko > 0) == (ko != "simple") or size == 4  # on 4x4 superko is rarely needed
