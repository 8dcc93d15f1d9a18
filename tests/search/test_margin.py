"""Searches that play for the margin, not for the result."""

import numpy as np
import pytest

from azlab.errors import AzlabError
from azlab.games import game
from azlab.oracles import oracle
from azlab.search import Search, puct
from azlab.search.evaluators import PlayoutEvaluator, RestEvaluator, UniformEvaluator, cached
from azlab.search.puct import Searcher

BOXES = game("dots_and_boxes")


def late_states(left, count, seed=0):
    """Positions of random games with `left` lines to draw."""
    rng, states = np.random.default_rng(seed), BOXES.new_states(count)
    for _ in range(BOXES.num_actions - left):
        BOXES.kernels.play(states, BOXES.random_actions(states, rng))
    return states


def best_shares(states, search, budget):
    """The share of states in which the search takes a move of the best margin."""
    found = puct(states, RestEvaluator(UniformEvaluator(), BOXES), search, budget, game=BOXES)
    best = oracle(BOXES).best_actions(states)
    return np.mean([best[k, analysis.best_action] for k, analysis in enumerate(found)])


@pytest.mark.parametrize("gumbel", [0, 8])
def test_an_exhausted_endgame_is_played_for_every_box(gumbel):
    states = late_states(5, 60)
    assert best_shares(states, Search(cpuct_base=0.0, gumbel=gumbel, margin=True), 2000) == 1


def test_where_the_result_is_decided_only_the_margin_tells_moves_apart():
    """Blue has five boxes of nine: every move wins, but not every move keeps the margin."""
    states = late_states(6, 40_000, seed=1)
    states = states[(states["boxes"][:, 0] >= 5) & (states["to_move"] == 0)]
    scores = oracle(BOXES).action_scores(states)
    states = states[(np.nanmax(scores, axis=1) - np.nanmin(scores, axis=1)) >= 2][:40]
    assert len(states) == 40
    assert best_shares(states, Search(cpuct_base=0.0, margin=True), 3000) == 1
    without = puct(states, UniformEvaluator(), Search(cpuct_base=0.0), 3000, game=BOXES)
    best = oracle(BOXES).best_actions(states)
    assert np.mean([best[k, analysis.best_action] for k, analysis in enumerate(without)]) < 0.9


class Known:
    """The exact margin of the boxes to come, and a count of the positions asked about."""

    def __init__(self):
        self.asked = 0

    def evaluate(self, states, legal):
        self.asked += len(states)
        assert (states["boxes"] == 0).all() and (states["to_move"] == 0).all()
        return legal / legal.sum(axis=1, keepdims=True), oracle(BOXES).values(states).astype(np.float32) / 9


def test_the_lead_is_added_for_the_seat_that_has_it():
    states = np.concatenate([late_states(left, 50, left) for left in (3, 8, 14)])
    _, values, draws = RestEvaluator(Known(), BOXES).evaluate(states, BOXES.legal_mask(states))
    assert np.allclose(values * 9, oracle(BOXES).values(states), atol=1e-5)
    assert (draws == 0).all()  # nine boxes cannot be shared


def test_a_memory_finds_the_same_lines_whatever_the_score():
    states = late_states(10, 1)
    other = states.copy()
    other["boxes"] = states["boxes"][:, ::-1]
    other["to_move"] = 1 - states["to_move"]
    inner = Known()
    evaluator = cached(RestEvaluator(inner, BOXES), 100)
    one = evaluator.evaluate(states, BOXES.legal_mask(states))
    two = evaluator.evaluate(other, BOXES.legal_mask(other))
    assert inner.asked == 1
    assert np.allclose(one[1], -two[1]) and np.array_equal(one[0], two[0])


def test_compiled_rounds_give_the_same_tree():
    """A native evaluator never leaves compiled code; the same answers through Python must give the same visits."""

    class Plain:
        def evaluate(self, states, legal):
            return UniformEvaluator().evaluate(states, legal)

    position, search = BOXES.position(late_states(7, 1)), Search(cpuct_base=0.0, margin=True)
    visits = [puct(position, evaluator, search, 300).visits for evaluator in (UniformEvaluator(), Plain())]
    assert np.array_equal(*visits)


def test_what_makes_no_sense_is_said():
    with pytest.raises(AzlabError, match="margin"):
        Search(margin=True, solve=True)
    chess_like = game("tictactoe")
    with pytest.raises(AzlabError, match="counts no points"):
        puct(chess_like.start(), UniformEvaluator(), Search(margin=True), 10)
    with pytest.raises(AzlabError, match="depends on more than the board"):
        RestEvaluator(PlayoutEvaluator(chess_like), chess_like)


def test_what_gumbel_search_teaches_is_the_value_of_good_moves():
    """It tries bad moves as often as good ones at first; their mean would be far from what the position is worth."""
    states = late_states(6, 200, seed=3)
    exact = oracle(BOXES).values(states)
    searcher = Searcher(BOXES, len(states), RestEvaluator(Known(), BOXES), Search(gumbel=16, margin=True), 32)
    searcher.start(states)
    searcher.run()
    results = searcher.root_results()
    expected = 9 * (results[:, 1] - results[:, 2])
    by_visits = 9 * searcher.tree.value_sum[:, 0] / searcher.tree.visits[:, 0]
    assert np.abs(expected - exact).mean() < 0.7 * np.abs(by_visits - exact).mean()
