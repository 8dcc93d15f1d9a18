"""How the program of S3 searches: the switches of `Program`, against the slow reference and what its logs print."""

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.search import Explore, Search
from azlab.search.evaluators import UniformEvaluator
from azlab_reproductions.s3_dots_and_boxes.program import Program
from azlab_reproductions.s3_dots_and_boxes.search import searcher

POSITIONS = [
    azlab.game("tictactoe").from_moves("a1 b2"),
    azlab.game("connect4").from_moves("4453"),
    azlab.game("dots_and_boxes", rows=2, cols=2).from_moves("aA aB Aa"),  # an extra turn is near
    azlab.game("go", size=3, komi=0.5).start(),
    azlab.game("seega").start(),
]
NO_EXPLORATION = Explore()  # as in self-play, but without noise


def searched(program, position, evaluator, formula, budget, explore=NO_EXPLORATION):
    search = searcher(program)(position.game, 1, evaluator, formula, budget, explore)
    search.start(position.state)
    search.run()
    return search


@pytest.mark.parametrize(
    ("switches", "formula", "simulations"),
    [
        ({"root_values_only": True}, Search(), 120),
        ({"to_the_end": True}, Search(), 20),
        ({"to_the_end": True, "root_values_only": True}, Search(cpuct=1, cpuct_base=0), 20),
    ],
    ids=["values at the root alone", "walks to the end", "both"],
)
@pytest.mark.parametrize("position", POSITIONS, ids=lambda p: p.game.name)
def test_the_fast_search_visits_the_same_nodes_as_the_slow_one(
    position, switches, formula, simulations, plain_puct, hash_evaluator
):
    root = plain_puct.search(position, hash_evaluator(), formula, simulations, **switches)
    search = searched(Program(**switches), position, hash_evaluator(), formula, simulations, explore=None)
    plain_puct.compare(root, search.tree, 0)


def test_the_wrong_sign_can_be_switched_on(hash_evaluator):
    """Orange can take a box and move again; with the sign flipped at every ply its next move looks like Blue's."""
    position = azlab.game("dots_and_boxes", rows=2, cols=2).from_moves("aA aB Aa")
    found = {}
    for flip in (False, True):
        found[flip] = searched(Program(flip_every_ply=flip), position, hash_evaluator(), Search(), 300)
    right, wrong = (found[flip].tree for flip in (False, True))
    child = right.children[0, 0, position.game.action("Ab")]  # completes the box: the same player moves on
    assert right.to_move[0, child] == position.to_move
    assert wrong.to_move[0, wrong.children[0, 0, position.game.action("Ab")]] == 1 - position.to_move
    assert not np.array_equal(found[False].root_visits(0), found[True].root_visits(0))


class OneMove:
    """Expects the first legal move with certainty."""

    def evaluate(self, states, legal):
        priors = np.zeros(legal.shape, np.float32)
        priors[np.arange(len(legal)), legal.argmax(axis=1)] = 1
        return priors, np.zeros(len(states), np.float32)


def walked(position, evaluator, walks=100, **switches):
    """A search as the program makes it in self-play."""
    program = Program(to_the_end=True, root_values_only=True, **switches)
    return searched(program, position, evaluator, Search(cpuct=1.0, cpuct_base=0.0), walks)


def test_walks_to_the_end_visit_as_often_as_the_program_prints():
    """From its logs: 2,325 visits for 100 walks with even priors, 121 at ply 3 with a prior of 1, 101 and 100 with a line left.

    Walks with even priors: the first 24 begin with the 24 lines and add 24 nodes each, the other 76 add 23 each below known
    first moves: 1 + 24 * 24 + 76 * 23. With a prior of 1: one walk of 21 nodes, then 99 along it to its known end.
    """
    game = azlab.game("dots_and_boxes", rows=3, cols=3)
    search = walked(game.start(), UniformEvaluator())
    assert search.tree.visits[0, 0] == 2325 and search.done[0] == 100
    assert walked(game.start().play(0).play(4).play(20), OneMove()).tree.visits[0, 0] == 121
    position = game.start()
    while len(position.legal_actions) > 1:
        position = position.play(position.legal_actions[0])
    search = walked(position, UniformEvaluator())
    assert search.tree.visits[0, 0] == 101 and search.root_visits(0).max() == 100


def test_walks_without_python_equal_those_with_it():
    """`UniformEvaluator` has a kernel, so its search runs compiled; a plain copy of it does not."""

    class Plain:
        def evaluate(self, states, legal):
            return UniformEvaluator().evaluate(states, legal)

    game = azlab.game("dots_and_boxes", rows=2, cols=2)
    assert UniformEvaluator().native is not None
    native, plain = (walked(game.start(), evaluator, 200).tree for evaluator in (UniformEvaluator(), Plain()))
    assert native.size[0] == plain.size[0]
    for one, other in zip(native, plain, strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def test_without_values_below_the_root_no_sign_matters(hash_evaluator):
    """The mistake and the right sign of source S3 make the same visits everywhere if values go to the root alone."""
    position = azlab.game("dots_and_boxes", rows=3, cols=3).from_moves("aA aB Aa")  # boxes and extra turns are near
    right, wrong = (walked(position, hash_evaluator(), flip_every_ply=flip).tree for flip in (False, True))
    size = right.size[0]
    assert not np.array_equal(right.to_move[0, :size], wrong.to_move[0, :size])
    assert right.value_sum[0, 0] != wrong.value_sum[0, 0] and not right.value_sum[0, 1:size].any()
    assert size == wrong.size[0] and np.array_equal(right.visits[0, :size], wrong.visits[0, :size])
    assert np.array_equal(right.action[0, :size], wrong.action[0, :size])


def test_a_walking_search_keeps_the_tree_below_its_move(hash_evaluator):
    game = azlab.game("dots_and_boxes", rows=2, cols=2)
    search = searcher(Program(to_the_end=True))(game, 2, hash_evaluator(), Search(), 30, reuse_tree=True)
    search.start(game.new_states(2))
    search.run()
    best = np.array([search.choose(g, 0) for g in range(2)])
    kept = search.root_visits(0)[best[0]]
    search.advance(best)
    assert search.tree.visits[0, 0] == kept > 30
    search.run()
    assert (search.done == 30).all() and broken_nodes(search.tree) == []


def test_ties_are_broken_at_random_if_wanted():
    game = azlab.game("dots_and_boxes", rows=1, cols=1)
    chosen = {}
    for random_ties in (False, True):
        kind = searcher(Program(random_ties=random_ties))
        search = kind(game, 1, UniformEvaluator(), Search(), 4)  # each of the 4 lines once
        search.start(game.new_states(1))
        search.run()
        assert search.root_visits(0).tolist() == [1, 1, 1, 1]
        chosen[random_ties] = [search.choose(0, 0) for _ in range(100)]
    assert set(chosen[False]) == {0} and set(chosen[True]) == {0, 1, 2, 3}


def test_before_a_ply_visits_are_drawn_and_not_searched():
    """3/4 of the prior, all on the first legal move, and 1/4 shared by all; later plies are searched."""
    game = azlab.game("dots_and_boxes", rows=3, cols=3)
    explore = Explore(temperature=((0, 1.0),))
    search = searcher(Program(drawn_plies=4))(game, 2, OneMove(), Search(), 20_000, explore, seed=3)
    early, late = game.from_moves("aA aD Ca"), game.from_moves("aA aD Ca Cd")
    search.start(np.concatenate([early.state, late.state]))
    search.run()
    drawn = search.root_visits(0) / 20_000
    legal = early.legal_actions
    expected = np.zeros(24)
    expected[legal] = 0.25 / len(legal)
    expected[legal[0]] += 0.75
    assert drawn.sum() == 1 and drawn == pytest.approx(expected, abs=5 * np.sqrt(0.25 / 20_000))
    assert search.tree.size.tolist()[0] == 1 and search.tree.size[1] > 20
    assert {search.choose(0, 3) for _ in range(20)} == {legal[0]}  # whatever the temperature
    analysis = search.analysis(0, early)
    assert np.array_equal(analysis.visits, search.root_visits(0)) and analysis.best_action == legal[0]
    assert (search.done == 20_000).all()


def test_a_match_searches_every_ply_with_the_right_sign(hash_evaluator):
    """Without an `Explore` nothing is drawn and no sign flipped."""
    position = azlab.game("dots_and_boxes", rows=2, cols=2).from_moves("aA aB Aa")
    odd, plain = Program(drawn_plies=9, flip_every_ply=True), Program()
    found = [searched(program, position, hash_evaluator(), Search(), 60, explore=None) for program in (odd, plain)]
    for one, other in zip(found[0].tree, found[1].tree, strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


@pytest.mark.parametrize(
    ("formula", "explore", "more"),
    [
        (Search(gumbel=4), None, {}),
        (Search(solve=True), None, {}),
        (Search(), Explore(forced_playouts=2.0), {}),
        (Search(), None, {"leaves": 2}),
        (Search(fpu_relative=True), None, {}),
        (Search(), None, {"reuse_tree": True}),
    ],
)
def test_settings_that_make_no_sense_together_are_refused(formula, explore, more):
    game = azlab.game("dots_and_boxes", rows=1, cols=1)
    with pytest.raises(AzlabError, match="leave"):
        searcher(Program(root_values_only=True))(game, 1, UniformEvaluator(), formula, 4, explore, **more)


def broken_nodes(tree, g=0):
    """Nodes whose visits are not one plus those of their children."""
    found = []
    for node in range(tree.size[g]):
        children = [c for c in tree.children[g, node] if c >= 0]
        if children and tree.visits[g, node] != 1 + tree.visits[g, children].sum():
            found.append(node)
    return found
