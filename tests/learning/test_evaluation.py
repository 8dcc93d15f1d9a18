import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.games.count import children
from azlab.learning.evaluation import graded, network_accuracy, search_accuracy, search_moves
from azlab.oracles import oracle
from azlab.search.config import Search
from azlab.search.evaluators import OracleEvaluator

HARD = "connect4/hard_test.txt.gz"
SEARCH = Search(cpuct_base=0.0), 20


class Perfect(OracleEvaluator):
    """Knows the game it is for; `is_mad` turns it round: the worst moves and the wrong results."""

    def __init__(self, game, is_mad=False):
        super().__init__(oracle(game))
        self.game, self.is_mad = game, is_mad

    def evaluate(self, states, legal):
        priors, values, draws = super().evaluate(states, legal)
        if self.is_mad:
            rest = legal & (priors == 0)
            rest = np.where(rest.any(axis=1, keepdims=True), rest, legal)
            return rest / rest.sum(axis=1, keepdims=True), -values, draws
        return priors, values, draws


class Even:
    """Knows nothing."""

    def __init__(self, game):
        self.game = game

    def evaluate(self, states, legal):
        return legal / legal.sum(axis=1, keepdims=True), np.zeros(len(states), np.float32)


@pytest.mark.parametrize(("name", "options"), [("tictactoe", {}), ("dots_and_boxes", {"rows": 1, "cols": 2})])
def test_perfect_play_is_always_right_and_its_contrary_never(name, options):
    game = azlab.game(name, **options)
    test = graded(game, "reachable")
    one = Perfect(game)
    assert network_accuracy(one, test) == {"network_accuracy": 1.0, "result_accuracy": 1.0}
    assert search_accuracy([one, one], test, *SEARCH) == {"mcts_accuracy": 1.0, "holding_accuracy": 1.0, "mean_loss": 0.0}
    mad = network_accuracy(Perfect(game, is_mad=True), test)
    forced = (test.best == game.legal_mask(test.states)).all(axis=1).mean()  # where nothing can be wrong
    assert mad["network_accuracy"] == pytest.approx(forced)
    assert mad["result_accuracy"] == pytest.approx((test.results == 0).mean())


@pytest.mark.parametrize(("name", "options"), [("tictactoe", {}), ("dots_and_boxes", {"rows": 1, "cols": 2})])
def test_reachable_positions_are_all_of_them_graded_as_the_oracle_says(name, options):
    game = azlab.game(name, **options)
    test = graded(game, "reachable")
    known, level = set(), game.new_states(1)
    while len(level):
        known |= {state.tobytes() for state in level}
        level = children(game, level)[0]
        level = np.unique(level[~level["over"]])
    assert {state.tobytes() for state in test.states} == known and len(known) == len(test.states)
    perfect = oracle(game)
    for state, best, holding, result, lost in list(zip(*test))[:: max(1, len(known) // 200)]:
        position = game.position(np.array([state], game.dtype))
        scores = {position.game.move_name(action): None for action in position.legal_actions} | perfect.scores(position)
        names = [game.move_name(action) for action in range(game.num_actions)]
        assert result == perfect.result(position)
        assert {name for name, is_best in zip(names, best) if is_best} == set(perfect.best_moves(position))
        assert {name for name, holds in zip(names, holding) if holds} == {
            n for n, score in scores.items() if np.sign(score) == result
        }
        best_score = max(scores.values()) if position.to_move == 0 else min(scores.values())
        assert all(lost[game.action(move)] == abs(best_score - score) for move, score in scores.items())
        assert not holding[[a for a in range(game.num_actions) if a not in position.legal_actions]].any()


def test_some_of_the_positions():
    game = azlab.game("tictactoe")
    every, some = graded(game, "reachable"), graded(game, "reachable", 100, seed=1)
    assert len(every.states) == 4520 and len(some.states) == 100  # 5478 positions, 958 of them over
    assert {state.tobytes() for state in some.states} < {state.tobytes() for state in every.states}
    assert not np.array_equal(some.states, graded(game, "reachable", 100, seed=2).states)


def test_random_positions():
    game = azlab.game("dots_and_boxes", rows=2, cols=2)
    test = graded(game, "random", 300, seed=3)
    assert len(test.states) == 300 and not test.states["over"].any() and len(np.unique(test.states["ply"])) > 8
    assert np.array_equal(test.states, graded(game, "random", 300, seed=3).states)
    assert np.array_equal(test.results, np.sign(oracle(game).values(test.states)))
    with pytest.raises(AzlabError, match="how many"):
        graded(game, "random")


@pytest.mark.slow
def test_what_cannot_be_graded():
    with pytest.raises(AzlabError, match="is for Connect 4 on 6x7"):
        graded(azlab.game("tictactoe"), HARD)
    with pytest.raises(AzlabError, match="more than 1,000,000 positions"):
        graded(azlab.game("connect4"), "reachable")


def test_the_hard_positions_of_connect_4(need):
    """S5: a random mover finds a best move in 25.81% of them. That is a sample; its expectation is 25.64 ± 0.44%."""
    need.data(HARD)
    game = azlab.game("connect4")
    test = graded(game, HARD)
    assert len(test.states) == 10_000
    legal = game.legal_mask(test.states)
    assert not (test.best & ~legal).any()
    assert (test.best.sum(axis=1) / legal.sum(axis=1)).mean() == pytest.approx(0.2581, abs=0.0044)
    moves = search_moves([Even(game)], test.states, Search(cpuct_base=0.0), 1)  # one visit: the first of equal moves
    assert legal[np.arange(10_000), moves].all()
    late = test.take(np.flatnonzero(test.states["ply"] >= 26)[:60])  # quickly solved
    assert len(late.states) > 20
    perfect = oracle(game)
    assert np.array_equal(late.results, np.sign(perfect.values(late.states)))
    scores = perfect.action_scores(late.states)
    for k in range(len(late.states)):
        keeps = np.sign(scores[k]) == late.results[k]
        assert late.best[k].any() and (keeps | ~late.best[k]).all()


def test_a_random_mover_finds_what_chance_finds(need):
    """All visits equal: chance decides among the most visited moves, not their order."""
    need.data(HARD)
    game = azlab.game("connect4")
    test = graded(game, HARD, 3000)
    test = test.take(game.legal_mask(test.states).all(axis=1))
    found = search_accuracy([Even(game)], test, Search(cpuct_base=0.0, cpuct=100.0, solve=False), 7)
    expected = (test.best.sum(axis=1) / 7).mean()
    assert found["mcts_accuracy"] == pytest.approx(expected, abs=4 * (0.25 / len(test.states)) ** 0.5)


def test_threads_and_batches_change_nothing_but_who_does_the_work():
    game = azlab.game("tictactoe")
    states = graded(game, "reachable").states[:700]
    reported = []
    one = search_moves([Perfect(game)], states, *SEARCH, progress=reported.append)
    assert sum(reported) == 700 and len(reported) == 3
    again = search_moves([Perfect(game)], states, *SEARCH)
    assert np.array_equal(one, again)
    assert len(search_moves([Perfect(game)] * 4, states[:2], *SEARCH)) == 2  # more threads than positions


def test_a_search_that_fails_stops_the_others():
    class Broken(Even):
        def evaluate(self, states, legal):
            raise AzlabError("The evaluator broke.")

    class Counting(Even):
        calls = 0

        def evaluate(self, states, legal):
            self.calls += 1
            return super().evaluate(states, legal)

    game = azlab.game("tictactoe")
    states = np.repeat(game.new_states(1), 100_000)
    counting = Counting(game)
    with pytest.raises(AzlabError, match="The evaluator broke"):
        search_moves([counting, Broken(game)], states, *SEARCH)
    assert counting.calls < 50_000 / 256 * 20 / 2  # less than half of its share
