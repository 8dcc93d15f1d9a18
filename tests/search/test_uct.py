"""UCT with random playouts: it finds what it must, keeps its books, and can be repeated."""

import time

import numpy as np
import pytest

import azlab
from azlab.search import uct
from azlab.search.uct import UctSearch

CONNECT4 = azlab.game("connect4")


def test_it_takes_a_win_and_stops_a_loss():
    assert uct(CONNECT4.from_moves("445566"), 500).best_move in ("3", "7")
    assert uct(CONNECT4.from_moves("41414"), 500).best_move == "4"  # Red must stop four in column 4


@pytest.mark.parametrize("rave", [0.0, 200.0])
@pytest.mark.parametrize("name", ["tictactoe", "connect4", "dots_and_boxes", "seega", "simple_go"])
def test_the_books_of_the_tree_are_right(name, rave):
    position = azlab.game(name).start()
    search = UctSearch(position, rave=rave, seed=4)
    search.run(300)
    search.run(200)
    tree, size = search.tree, int(search.tree.size[0])
    assert search.simulations == 500 and tree.visits[0, 0] == 501 and size <= 501
    for node in range(size):
        children = [int(c) for c in tree.children[0, node] if c >= 0]
        if children:
            assert tree.visits[0, node] == 1 + tree.visits[0, children].sum()
        state = tree.state[0, node].tobytes()
        replayed = replay(position, tree, node)
        assert state == replayed.state.tobytes() and tree.to_move[0, node] == replayed.to_move
        assert np.flatnonzero(tree.children[0, node] != -2).tolist() == replayed.legal_actions


def replay(position, tree, node):
    actions = []
    while node > 0:
        actions.append(int(tree.action[0, node]))
        node = int(tree.parent[0, node])
    for action in reversed(actions):
        position = position.play(action)
    return position


def test_the_same_seed_gives_the_same_search_another_seed_another():
    start = CONNECT4.start()
    assert (uct(start, 400, seed=1).visits == uct(start, 400, seed=1).visits).all()
    assert (uct(start, 400, seed=1).visits != uct(start, 400, seed=2).visits).any()


def test_running_in_steps_is_the_same_as_running_at_once():
    start = CONNECT4.start()
    steps = UctSearch(start, seed=9)
    for _ in range(10):
        steps.run(50)
    assert (steps.analysis().visits == uct(start, 500, seed=9).visits).all()


def test_the_value_approaches_that_of_random_play_with_one_simulation_a_move():
    """After one visit of every move, the root's value is the mean of random playouts: first player +0.11 or so."""
    values = [uct(CONNECT4.start(), 7, seed=seed).value for seed in range(400)]
    random_value = CONNECT4.playout(CONNECT4.new_states(20_000))["result"].mean()
    assert np.mean(values) * 8 / 7 == pytest.approx(random_value, abs=0.06)


def test_a_time_limit_is_kept():
    uct(CONNECT4.start(), 10)  # compiled now
    begin = time.perf_counter()
    found = uct(CONNECT4.start(), seconds=0.3)
    assert 0.25 < time.perf_counter() - begin < 3 and found.simulations > 1000


def test_proven_results_end_the_search():
    won = uct(CONNECT4.from_moves("445566"), 5000, solve=True)
    assert won.value == 1 and won.simulations < 5000 and won.best_move in ("3", "7")
    draw = uct(azlab.game("tictactoe").from_moves("b2 a1 a3"), 200_000, solve=True)  # O must block at c1, then it is a draw
    assert draw.value == 0 and draw.simulations < 200_000 and draw.best_move == "c1"
    lost = uct(azlab.game("tictactoe").from_moves("b2 a2 c1 a3 a1"), 5000, solve=True)  # X threatens twice
    assert lost.value == 1 and lost.simulations < 5000


def test_rave_learns_more_from_few_simulations_in_go():
    """On 5x5 the centre is best by far; with RAVE few simulations are enough to see it more often."""
    start = azlab.game("go", size=5, komi=0).start()
    centre = {}
    for rave in (0.0, 500.0):
        centre[rave] = sum(uct(start, 120, rave=rave, seed=seed).best_move == "c3" for seed in range(60))
    assert centre[500.0] > 2 * centre[0.0]


def test_rave_sums_are_over_later_moves_of_the_same_player():
    search = UctSearch(azlab.game("tictactoe").start(), rave=100.0, seed=2)
    search.run(300)
    visits, tree = search._rave_visits[0], search.tree
    own = np.array([tree.visits[0, c] if c >= 0 else 0 for c in tree.children[0, 0]])
    assert (visits >= own).all() and visits.sum() > 2 * own.sum()  # X makes three to five moves a game
    assert (np.abs(search._rave_sum[0]) <= visits).all()


def test_a_million_simulations_work():
    found = uct(CONNECT4.start(), 1_000_000)
    assert found.simulations == 1_000_000 and found.visits.sum() == 1_000_000 and found.depth > 10


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: uct(CONNECT4.start(), 0), "at least one simulation"),
        (lambda: uct(CONNECT4.start(), seconds=0), "at least one simulation"),
        (lambda: uct(CONNECT4.from_moves("4141414")), "The position is over"),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(azlab.AzlabError, match=sentence):
        call()
