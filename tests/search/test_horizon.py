"""Searches that look no farther than the end of a phase, against the slow reference on a game that is cut off there."""

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.search import Explore, Search, Searcher
from azlab.search.evaluators import CachedEvaluator, PhaseEvaluator, PlayoutEvaluator, cached
from azlab.search.steps import steps_of_puct

SEEGA = azlab.game("seega", size=3)  # eight stones are placed, then they move
CONFIGS = {"plain": Search(horizon=True), "draws": Search(horizon=True, draw_value=0.3), "flat": Search(0.5, 0.0, horizon=True)}


class Cut:
    """A position of a game that ends at the horizon, with the evaluator's word as its result."""

    def __init__(self, position, evaluator):
        self.position, self.evaluator, self.game = position, evaluator, position.game
        self.state, self.to_move = position.state, position.to_move
        self.over = position.over or bool(self.game.at_horizon(position.state)[0])
        self.legal_actions = [] if self.over else position.legal_actions

    def play(self, action):
        return Cut(self.position.play(action), self.evaluator)


class Says:
    """An evaluator with one value, which counts the positions it was asked about."""

    def __init__(self, value):
        self.value, self.asked = np.float32(value), 0

    def evaluate(self, states, legal):
        self.asked += len(states)
        return (legal / legal.sum(axis=1, keepdims=True)).astype(np.float32), np.full(len(states), self.value)


def placed(stones, seed=0):
    """A position after so many random placements."""
    rng, position = np.random.default_rng(seed), SEEGA.start()
    for _ in range(stones):
        position = position.play(int(rng.choice(position.legal_actions)))
    return position


def searched(position, evaluator, search, simulations=60, **more):
    found = Searcher(position.game, 1, evaluator, search, simulations, **more)
    found.start(position.state)
    found.run()
    return found


@pytest.mark.parametrize("search", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("stones", [0, 5, 6, 7])
@pytest.mark.parametrize("with_draws", [True, False])
def test_the_tree_is_that_of_a_game_which_ends_at_the_horizon(
    stones, search, with_draws, hash_evaluator, plain_puct, monkeypatch
):
    evaluator, plain = hash_evaluator(with_draws), plain_puct.evaluate

    def evaluate(node, judge):
        if not node.position.over:
            return plain(node, judge)
        state = node.position.state
        _, values, *draws = judge.evaluate(state, SEEGA.legal_mask(state))
        return float(values[0]), float(draws[0][0]) if draws else 0.0

    monkeypatch.setattr(plain_puct, "evaluate", evaluate)
    position = placed(stones)
    fast = searched(position, evaluator, search).tree
    plain_puct.compare(plain_puct.search(Cut(position, evaluator), evaluator, search, 60), fast, 0)
    assert (fast.over[0, : fast.size[0]]).any() == (stones >= 5)  # 60 simulations come as far


def test_without_the_setting_the_search_goes_on(hash_evaluator):
    assert searched(placed(7), hash_evaluator(), Search(horizon=True)).analysis(0, placed(7)).depth == 1
    assert searched(placed(7), hash_evaluator(), Search()).analysis(0, placed(7)).depth > 1


def test_the_evaluator_is_asked_once_about_each_position_at_the_horizon():
    search = searched(placed(6), Says(0.5), Search(horizon=True), 200)
    assert search.tree.size[0] == 1 + 2 + 2 and search.done[0] == 200
    assert search.asked == search.evaluator.asked == 5
    assert searched(placed(6), Says(0.5), Search(), 200).asked > 100


@pytest.mark.parametrize(
    "more", [{"leaves": 4}, {"reuse_tree": True}, {"explore": Explore(noise=0.25)}, {"search": Search(gumbel=4, horizon=True)}]
)
def test_other_kinds_of_search_stop_there_too(more, hash_evaluator):
    search = searched(placed(5), hash_evaluator(), **{"search": Search(horizon=True), **more})
    states = np.ascontiguousarray(search.tree.state[0, : search.tree.size[0]]).view(SEEGA.dtype).reshape(-1)
    ends = SEEGA.at_horizon(states)
    assert ends.any() and (search.tree.over[0, : len(states)] == ends).all()
    assert not ends[search.tree.parent[0, 1 : len(states)]].any()


def test_a_compiled_evaluator_stops_there_too():
    search = searched(placed(7), PlayoutEvaluator(SEEGA), Search(horizon=True))
    assert search.tree.size[0] == 2 and search.asked == 2


@pytest.mark.parametrize("with_draws", [True, False])
def test_its_steps_can_be_followed(with_draws, hash_evaluator):
    steps = steps_of_puct(placed(5), hash_evaluator(with_draws), Search(horizon=True, draw_value=0.2), 70, seed=1)
    for budget in (1, 30, 70):
        tree = searched(placed(5), hash_evaluator(with_draws), Search(horizon=True, draw_value=0.2), budget, seed=1).tree
        np.testing.assert_array_equal(steps.at(budget).tree.value_sum[0], tree.value_sum[0, : tree.size[0]])


def test_what_cannot_be_is_said(hash_evaluator):
    with pytest.raises(AzlabError, match="connect4 has one phase, so there is no horizon"):
        Searcher(azlab.game("connect4"), 1, hash_evaluator(), Search(horizon=True))
    with pytest.raises(AzlabError, match="beyond the horizon"):
        searched(placed(8), hash_evaluator(), Search(horizon=True))
    with pytest.raises(AzlabError, match="use `margin` or `horizon`"):
        Search(margin=True, horizon=True)
    with pytest.raises(AzlabError, match="tictactoe has one phase"):
        PhaseEvaluator(azlab.game("tictactoe"), hash_evaluator(), hash_evaluator())


def test_each_phase_has_its_evaluator_and_its_memory():
    states = np.concatenate([placed(stones, seed).state for stones, seed in ((2, 0), (8, 1), (8, 2), (7, 3))])
    before, beyond = Says(0.25), Says(-0.5)
    both = PhaseEvaluator(SEEGA, before, beyond)
    for rows in ([0, 1, 2, 3], [0, 3], [1, 2], [2]):
        _, values, *_ = both.evaluate(states[rows], SEEGA.legal_mask(states[rows]))
        assert values.tolist() == [-0.5 if row in (1, 2) else 0.25 for row in rows]
    assert (before.asked, beyond.asked) == (4, 5)
    remembering = cached(both, 10)
    assert isinstance(remembering.before, CachedEvaluator)
    for _ in range(2):
        remembering.evaluate(states, SEEGA.legal_mask(states))
    assert remembering.misses == 4 and (before.asked, beyond.asked) == (6, 7)
