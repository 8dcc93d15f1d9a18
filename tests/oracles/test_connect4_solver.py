"""Our Connect 4 solver against exhaustive search, against BitBully and against 10,000 published positions."""

import os
import subprocess
import sys

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.formats import datasets
from azlab.games.connect4 import Connect4
from azlab.games.count import children, distinct, exact_value
from azlab.oracles import connect4_engines, connect4_grading
from azlab.oracles.connect4 import Connect4Oracle
from azlab.oracles.connect4_grading import Store, grade

GAME = Connect4()


def random_states(game: Connect4, count: int, plies: range, seed: int) -> np.ndarray:
    """Positions after random moves that are not over, `count` tries for each ply."""
    rng = np.random.default_rng(seed)
    found = []
    for ply in plies:
        states = game.new_states(count)
        for _ in range(ply):
            states = states[~states["over"]]
            actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in game.legal_mask(states)], np.int64)
            game.kernels.play(states, actions)
        found.append(states[~states["over"]])
    return np.concatenate(found)


@pytest.fixture(scope="module")
def solver() -> Connect4Oracle:
    return Connect4Oracle(GAME, "azlab")


@pytest.mark.parametrize("name", ["azlab", "bitbully"])
def test_the_first_best_column_of_any_order(need, name):
    if name == "bitbully":
        need.package("bitbully")
    engine, rng = connect4_engines.new_engine(GAME, name, book=False), np.random.default_rng(3)
    places = set()
    for state in random_states(GAME, 6, range(20, 40), seed=9):
        row = engine.find_best(state)
        for _ in range(3):
            order = rng.permutation(np.flatnonzero(row != connect4_engines.ILLEGAL))
            best = [int(col) for col in order if row[col] == row.max()]
            assert engine.first_best(state, order) == best[0]
            places.add(order.tolist().index(best[0]))
    assert places >= {0, 1, 2, 3}


# --- scores -------------------------------------------------------------------------------------------------------


def test_the_empty_board_and_the_first_moves(need, solver):
    need.package("bitbully_databases")
    assert solver.value(GAME.start()) == 1  # won with the 41st stone
    assert list(solver.scores(GAME.start()).values()) == [-2, -1, 0, 1, 0, -1, -2]
    assert solver.best_moves(GAME.start()) == ["4"]
    assert list(solver.scores(GAME.from_moves("444444")).values()) == [-1, 0, 1, 1, 0, -1]
    assert solver.best_moves(GAME.from_moves("4")) == ["4"]


def test_a_score_counts_the_winners_stones_left(solver):
    three = GAME.from_moves("1122334")  # over: four in the bottom row, the first player's fourth of 21 stones
    assert three.over and solver.value(three) == 18 and solver.result(three) == 1
    at_hand = GAME.from_moves("112233")
    assert solver.value(at_hand) == 18 and solver.best_moves(at_hand) == ["4"]
    second = GAME.from_moves("1424647")  # the second player has three in column 4
    assert second.to_move == 1 and solver.scores(second)["4"] == -18.0 and solver.result(second) == -1


def test_a_full_board_is_a_draw_and_has_no_best_moves(solver):
    states = GAME.playout(GAME.new_states(3000), seed=5)
    drawn = states[states["result"] == 0][:1]
    assert len(drawn) and solver.values(drawn).tolist() == [0.0]
    assert not solver.best_actions(drawn).any() and np.isnan(solver.action_scores(drawn)).all()


def all_states(game: Connect4, every: int) -> np.ndarray:
    """Every `every`th reachable position of a small board, in the order of plies."""
    layer, found = game.new_states(1), []
    while len(layer):
        found.append(layer[:: every if len(layer) > every else 1])
        layer, _ = distinct(children(game, layer)[0])
    return np.concatenate(found)


@pytest.mark.parametrize("rows, cols", [(4, 4), (3, 5), (1, 6), (6, 3), (2, 2)])
@pytest.mark.slow
def test_every_position_of_small_boards_by_trying_everything(rows, cols):
    game = Connect4(rows, cols)
    states = all_states(game, every=50)
    values = Connect4Oracle(game).values(states)
    np.testing.assert_array_equal(np.sign(values), exact_value(game, states))


@pytest.mark.parametrize("rows, cols", [(4, 5), (5, 4)])
@pytest.mark.slow
def test_positions_of_larger_boards_by_trying_everything(rows, cols):
    game = Connect4(rows, cols)
    states = np.concatenate([game.new_states(1), random_states(game, 200, range(8, 9), seed=6)])
    values = Connect4Oracle(game).values(states)
    np.testing.assert_array_equal(np.sign(values[:1]), exact_value(game, states[:1]))
    np.testing.assert_array_equal(np.sign(values[1:]), exact_value(game, states[1:]))


def test_strong_scores_of_a_small_board_by_trying_everything():
    """The same as above, but with the exact number of stones: the values of the children decide."""
    game = Connect4(4, 4)
    oracle = Connect4Oracle(game)
    states = all_states(game, every=20)
    values, scores = oracle.values(states), oracle.action_scores(states)
    playing = ~states["over"]
    first = states["to_move"][playing] == 0
    np.testing.assert_array_equal(values[playing], np.where(first, np.nanmax(scores[playing], 1), np.nanmin(scores[playing], 1)))
    over = states[states["over"]]
    stones = (over["ply"] + (over["result"] == 1)) // 2  # the winner's; each seat has 8
    np.testing.assert_array_equal(oracle.values(over), over["result"] * (9 - stones))


def long_games(game: Connect4, count: int, empty: int, seed: int) -> np.ndarray:
    """Positions with `empty` cells left, by random moves that do not end the game; games without such a move are dropped."""
    rng = np.random.default_rng(seed)
    states = game.new_states(count)
    for _ in range(game.max_length - empty):
        following, parents = children(game, states)
        following, parents = following[~following["over"]], parents[~following["over"]]
        order = rng.permutation(len(following))
        _, chosen = np.unique(parents[order], return_index=True)
        states = following[order][chosen]
    return states


@pytest.mark.parametrize("rows, cols", [(20, 3), (3, 16), (7, 8), (15, 4)])
def test_the_end_of_games_on_large_boards(rows, cols):
    game = Connect4(rows, cols)
    for empty in (1, 5, 10):
        states = long_games(game, 200, empty, seed=3)
        assert len(states) > 5
        np.testing.assert_array_equal(np.sign(Connect4Oracle(game).values(states)), exact_value(game, states))


def test_mirror_images_are_worth_the_same(solver):
    lines = ["655456441524325231", "6554564415243252", "44444323166", "44"]
    for line in lines if len(connect4_engines.opening_book()[0]) else lines[:2]:
        mirrored = "".join(str(8 - int(move)) for move in line)
        here, there = solver.scores(GAME.from_moves(line)), solver.scores(GAME.from_moves(mirrored))
        assert {str(8 - int(move)): score for move, score in here.items()} == there


def test_the_solver_needs_no_book(solver):
    without = Connect4Oracle(GAME)
    without.engine = connect4_engines.AzlabEngine(GAME, book=False)
    state = GAME.from_moves("444422226666").state  # 12 stones: the book knows it
    assert without.values(state) == solver.values(state)


def test_best_actions_are_those_with_the_best_score(solver):
    states = random_states(GAME, 15, range(16, 42), seed=1)
    scores = solver.action_scores(states) * (1 - 2 * states["to_move"][:, None])
    np.testing.assert_array_equal(solver.best_actions(states), scores == np.nanmax(scores, axis=1, keepdims=True))
    np.testing.assert_array_equal(solver.values(states) * (1 - 2 * states["to_move"]), np.nanmax(scores, axis=1))


# --- the other engine, and the published positions ----------------------------------------------------------------


@pytest.mark.slow
def test_both_engines_agree(need, solver):
    need.package("bitbully")
    states = random_states(GAME, 12, range(0, 42), seed=7)
    assert len(states) > 250
    bitbully = Connect4Oracle(GAME, "bitbully")
    np.testing.assert_array_equal(solver.action_scores(states), bitbully.action_scores(states))
    np.testing.assert_array_equal(solver.values(states), bitbully.values(states))
    np.testing.assert_array_equal(solver.best_actions(states), bitbully.best_actions(states))


def agrees(positions: list, grades: connect4_grading.Grades) -> list[bool]:
    """For each position of a data set, whether best moves and result are the file's."""
    same = []
    for position, best, value in zip(positions, grades.best, grades.values):
        for_mover = value if len(position.moves) % 2 == 0 else -value
        same.append(set(np.flatnonzero(best) + 1) == set(position.best) and np.sign(for_mover) + 1 == position.result)
    return same


def test_late_positions_of_the_hard_file(need):
    need.data("connect4/hard_test.txt.gz")
    positions = [p for p in datasets.connect4_positions("connect4/hard_test.txt.gz") if len(p.moves) >= 18]
    assert len(positions) > 1500
    assert all(agrees(positions, grade([p.moves for p in positions], processes=1, cache=None)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hard", "easy", "perfect"])
def test_all_positions_of_a_test_file(need, name):
    need.data(f"connect4/{name}_test.txt.gz")
    need.package("bitbully_databases")
    positions = list(datasets.connect4_positions(f"connect4/{name}_test.txt.gz"))
    assert len(positions) == 10_000
    assert all(agrees(positions, grade([p.moves for p in positions], cache=None)))


# --- many positions -----------------------------------------------------------------------------------------------

LINES = ["655456441524325231125", "655456441524325231", "1122334", "655456441524325231125"]


def test_grades_are_the_oracles(solver, tmp_path):
    grades = grade(LINES, all_scores=True, processes=1, cache=tmp_path)
    states = np.concatenate([GAME.from_moves(line).state for line in LINES])
    np.testing.assert_array_equal(grades.values, solver.values(states))
    np.testing.assert_array_equal(grades.scores, solver.action_scores(states))
    np.testing.assert_array_equal(grades.best, solver.best_actions(states))
    assert grade(states, processes=1, cache=None).scores is None
    assert len(grade([], cache=None).values) == 0


def test_processes_give_the_same_as_one(tmp_path):
    states = random_states(GAME, 3, range(20, 40), seed=2)
    calls = []
    many = grade(states, processes=2, cache=tmp_path, progress=lambda done, total: calls.append((done, total)))
    one = grade(states, processes=1, cache=None)
    np.testing.assert_array_equal(many.best, one.best)
    np.testing.assert_array_equal(many.values, one.values)
    assert calls[-1][0] == calls[-1][1] == len(calls)


def test_the_cache_is_used_and_survives_damage(tmp_path, monkeypatch):
    first = grade(LINES, processes=1, cache=tmp_path)
    file = tmp_path / "6x7_best.npz"
    assert len(Store(file).rows) == 2

    def never(*args):
        raise AssertionError("solved again")

    monkeypatch.setattr(connect4_grading, "new_engine", never)
    np.testing.assert_array_equal(grade(LINES, processes=1, cache=tmp_path).best, first.best)
    monkeypatch.undo()
    whole = file.read_bytes()
    for damaged in (b"", b"nonsense", whole[: len(whole) // 2], whole[:60] + bytes(40) + whole[100:]):
        file.write_bytes(damaged)
        np.testing.assert_array_equal(grade(LINES, processes=1, cache=tmp_path).best, first.best)
    assert len(Store(file).rows) == 2 and list(tmp_path.iterdir()) == [file]


def test_an_interrupted_run_keeps_what_was_solved(tmp_path):
    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    states = random_states(GAME, 1, range(24, 36), seed=4)
    with pytest.raises(KeyboardInterrupt):
        grade(states, processes=2, cache=tmp_path, progress=stop)
    assert len(Store(tmp_path / "6x7_best.npz").rows) == 3
    calls = []
    grade(states, processes=1, cache=tmp_path, progress=lambda done, total: calls.append(total))
    assert calls[0] == len(states) - 3


def test_a_cache_folder_that_cannot_be_written_is_no_reason_to_fail(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert len(grade(LINES, processes=1, cache=tmp_path / "file" / "folder").values) == 4


# --- errors -------------------------------------------------------------------------------------------------------


def test_errors_are_sentences(monkeypatch):
    with pytest.raises(AzlabError, match="engine must be one of 'auto', 'azlab', 'bitbully', not 'stockfish'."):
        Connect4Oracle(GAME, "stockfish")
    with pytest.raises(AzlabError, match="BitBully plays on 6 x 7 only, not on 5 x 5; use engine='azlab'."):
        Connect4Oracle(Connect4(5, 5), "bitbully")
    with pytest.raises(AzlabError, match="such as \\['44', '4453'\\]"):
        grade("4453")
    with pytest.raises(AzlabError, match="processes must be a whole number"):
        grade(["4453"], processes=0)
    with pytest.raises(AzlabError, match="Some of the states are of another board"):
        grade(Connect4(5, 5).new_states(1))
    with pytest.raises(AzlabError, match="array of states"):
        grade(azlab.game("tictactoe").new_states(1))
    monkeypatch.setattr(connect4_engines.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AzlabError, match="BitBully is not installed"):
        Connect4Oracle(GAME, "bitbully")


def test_the_game_being_over_is_said(solver):
    over = GAME.from_moves("1122334")
    with pytest.raises(AzlabError, match="The game is over"):
        solver.scores(over)


def test_the_solver_runs_without_numba():
    code = (
        "from azlab.games.connect4 import Connect4; from azlab.oracles.connect4 import Connect4Oracle; "
        "game = Connect4(3, 4); print(Connect4Oracle(game).scores(game.from_moves('2233')))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-W", "error:::azlab", "-c", code],
            capture_output=True, text=True, check=True, env={**os.environ, "NUMBA_DISABLE_JIT": flag},
        ).stdout
        for flag in ("0", "1")
    ]  # fmt: skip
    assert runs[0] == runs[1] and "'1'" in runs[0]
