"""Minimax with and without pruning, against the full tree and a slow reference."""

import subprocess
import sys

import numpy as np
import pytest

import azlab
from azlab.games.count import exact_value
from azlab.search import minimax
from azlab.search.minimax import HORIZON, SOONER


def slow_minimax(position, depth):
    """Straight from the definition; the value for seat 0."""
    if position.over:
        return position.result * (1 + SOONER * depth)
    if depth == 0:
        if position.game.kernels.lead is None:
            return 0.0
        lead = np.zeros(1)
        position.game.kernels.lead(position.state, lead)
        return HORIZON * lead[0]
    values = [slow_minimax(position.play(action), depth - 1) for action in position.legal_actions]
    return max(values) if position.to_move == 0 else min(values)


def random_position(game, plies, seed):
    rng = np.random.default_rng(seed)
    position = game.start()
    while position.ply < plies and not position.over:
        position = position.play(int(rng.choice(position.legal_actions)))
    return position


@pytest.mark.parametrize(
    ("name", "options", "plies", "depth"),
    [
        ("tictactoe", {}, 2, 5),
        ("connect4", {}, 14, 4),
        ("dots_and_boxes", {"rows": 2, "cols": 2}, 5, 5),
        ("dots_and_boxes", {}, 16, 4),
        ("seega", {}, 40, 4),
        ("go", {"size": 3, "komi": 0.5}, 4, 3),
    ],
)
def test_pruning_changes_nothing_but_the_number_of_nodes(name, options, plies, depth):
    game = azlab.game(name, **options)
    for seed in range(6):
        position = random_position(game, plies, seed)
        if position.over:
            continue
        expected = np.clip(slow_minimax(position, depth), -1, 1)
        plain, pruned = minimax(position, depth, prune=False), minimax(position, depth)
        assert plain.value == pytest.approx(expected) and pruned.value == pytest.approx(expected)
        after = np.clip(slow_minimax(position.play(pruned.best_action), depth - 1), -1, 1)
        assert after == pytest.approx(expected)
        for action in position.legal_actions:  # without pruning every move's value is exact
            value = np.clip(slow_minimax(position.play(action), depth - 1), -1, 1)
            assert plain.values[action] == pytest.approx(value)


def test_the_whole_tree_of_tic_tac_toe_has_549946_nodes():
    """255,168 games; the nodes of all lengths are a known count too: 1 + 9 + 72 + 504 + 3,024 + ... = 549,946."""
    start = azlab.game("tictactoe").start()
    plain = minimax(start, 9, prune=False)
    assert plain.nodes == 549_946 and plain.value == 0
    assert minimax(start, 9).nodes < 30_000


def test_extra_turns_have_the_right_sign():
    for rows, cols in ((1, 2), (1, 3), (2, 2)):
        game = azlab.game("dots_and_boxes", rows=rows, cols=cols)
        margin = exact_value(game, game.new_states(1))[0]
        assert minimax(game.start(), game.max_length).value == np.sign(margin)


def test_a_sooner_win_is_preferred_and_a_loss_put_off():
    win = minimax(azlab.game("connect4").from_moves("445566"), 6)
    assert win.best_move in ("3", "7") and win.value == 1 and len(win.line) == 1
    assert minimax(azlab.game("connect4").from_moves("41414"), 6).best_move == "4"


def test_an_evaluation_of_ones_own():
    @azlab.kernel
    def prefers_the_edge(states, values):
        for i in range(len(states)):
            values[i] = 0.5 if states[i].stones[0] & np.uint64(1) else 0.0  # a stone of the first player at the lower left

    position = azlab.game("connect4").start()
    assert minimax(position, 1, prefers_the_edge).best_move == "1"
    assert minimax(position, 1, prefers_the_edge).value == pytest.approx(0.5 * HORIZON)


def test_the_principal_line_can_be_played_and_has_the_value():
    position = azlab.game("dots_and_boxes", rows=2, cols=2).start()
    found = minimax(position, 12)
    for move in found.line:
        position = position.play(move)
    assert position.over and position.result == found.value


def test_a_time_limit_gives_the_last_complete_depth():
    found = minimax(azlab.game("connect4").start(), 40, seconds=0.5)
    assert 4 < found.depth < 40 and found.seconds["search"] < 10


def test_what_is_marked_as_proven_is_true():
    oracle, rng = azlab.oracle("tictactoe"), np.random.default_rng(3)
    marked = 0
    for _ in range(40):
        position = azlab.game("tictactoe").start()
        while not position.over:
            for prune in (True, False):
                found = minimax(position, 6, prune=prune)
                for action in np.flatnonzero(found.proven != 2):
                    marked += 1
                    assert np.sign(oracle.value(position.play(int(action)))) == found.proven[action]
            position = position.play(int(rng.choice(position.legal_actions)))
    assert marked > 100


INTERRUPTED = """
import os, signal, threading, time, azlab
from azlab.search import minimax
minimax(azlab.game("go", size=9).start(), 1)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
begin = time.perf_counter()
try:
    minimax(azlab.game("go", size=9).start(), 6, prune=False)
except KeyboardInterrupt:
    print("stopped after", time.perf_counter() - begin)
"""


@pytest.mark.slow
def test_ctrl_c_stops_a_long_search():
    """Six moves ahead on 9x9 without pruning would take days."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("stopped after")


@azlab.kernel
def nowhere(states, values):
    values[:] = np.nan


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda p: minimax(p, 0), "depth must be a whole number from 1 to 10000, not 0"),
        (lambda p: minimax(p, 2.5), "depth must be a whole number"),
        (lambda p: minimax(p, 3, seconds=1, prune=False), "A time limit needs deepening and pruning"),
        (lambda p: minimax(p, 2, nowhere), "not a number"),
        (lambda p: minimax(p.game.from_moves("4141414"), 3), "The position is over"),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(azlab.AzlabError, match=sentence):
        call(azlab.game("connect4").start())
