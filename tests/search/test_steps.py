"""A replayed search equals the engine's own arrays after every number of simulations."""

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.search import Explore, Search, Searcher, puct, uct
from azlab.search.evaluators import PlayoutEvaluator, UniformEvaluator
from azlab.search.steps import steps_of_puct, steps_of_uct
from azlab.search.tree import UNVISITED, Tree
from azlab.search.uct import UctSearch


def agree(snapshot, tree: Tree, ignore=()):
    """Every array of the snapshot is that of `tree`, an engine's, as far as it is in use."""
    size = int(tree.size[0])
    assert snapshot.size == size
    for name in Tree._fields:
        if name not in ("size", *ignore):
            theirs = getattr(tree, name)[:, :size]
            np.testing.assert_array_equal(getattr(snapshot.tree, name), theirs, err_msg=f"{name} after {snapshot.step}")


CONFIGS = {
    "default": lambda budget: (Search(), budget),
    "draws": lambda budget: (Search(draw_value=0.3, cpuct=3.0), budget),
    "fpu": lambda budget: (Search(fpu=0.2, fpu_relative=True, cpuct_base=0.0), budget),
    "noise": lambda budget: (Search(), budget, Explore(noise=0.25)),
    "solve": lambda budget: (Search(solve=True), budget),
    "forced": lambda budget: (Search(), budget, Explore(forced_playouts=2.0)),
}


@pytest.mark.parametrize("settings", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("name", ["tictactoe", "connect4", "dots_and_boxes"])
def test_puct_equals_a_searcher_of_that_budget(name, settings, hash_evaluator):
    position = azlab.game(name).start()
    for evaluator in (
        hash_evaluator,
        lambda: PlayoutEvaluator(position.game),
        UniformEvaluator,
    ):  # new ones: one counts its playouts
        steps = steps_of_puct(position, evaluator(), *settings(120), seed=3)
        for budget in (0, 1, 2, 7, 40, 119, 120):
            search = Searcher(position.game, 1, evaluator(), *settings(max(1, budget)), seed=3)
            search.start(position.state)
            search.run(None if budget else 0)
            agree(steps.at(min(budget, steps.simulations)), search.tree)


@pytest.mark.parametrize("plies", [0, 14, 18])
def test_a_search_for_the_margin_equals_a_searcher_of_that_budget(plies, hash_evaluator):
    """Its values of finished games are ninths, which no float holds exactly; near the end it comes to them again and again."""
    position = azlab.game("dots_and_boxes").start()
    for _ in range(plies):
        position = position.play(position.legal_actions[0])
    steps = steps_of_puct(position, hash_evaluator(), Search(margin=True), 120, seed=3)
    for budget in (1, 7, 40, 120):
        search = Searcher(position.game, 1, hash_evaluator(), Search(margin=True), budget, seed=3)
        search.start(position.state)
        search.run()
        agree(steps.at(budget), search.tree)


@pytest.mark.parametrize("solve", [False, True])
@pytest.mark.parametrize("moves", ["", "a1 b2 c3", "a1 b1 a2 b2 c1"])
def test_uct_equals_a_search_of_that_budget(moves, solve):
    position = azlab.game("tictactoe").from_moves(moves)
    steps = steps_of_uct(position, 300, c=0.9, solve=solve, seed=5)
    for budget in (0, 1, 5, 33, 150, 299, 300):
        search = UctSearch(position, 0.9, 0.0, solve, seed=5)
        search.run(budget)
        agree(steps.at(min(budget, steps.simulations)), search.tree)


def test_the_end_is_what_the_public_functions_report():
    position = azlab.game("connect4").start()
    found = puct(position, PlayoutEvaluator(position.game), Search(), 90, seed=1)
    assert [c.visits for c in steps_of_puct(position, PlayoutEvaluator(position.game), Search(), 90, seed=1)
            .at(90).choices()] == found.visits.tolist()  # fmt: skip
    found = uct(position, 90, seed=1)
    assert [c.visits for c in steps_of_uct(position, 90, seed=1).at(90).choices()] == found.visits.tolist()


def test_choices_are_those_of_the_formula_and_tell_the_next_move(hash_evaluator):
    position = azlab.game("connect4").start()
    steps = steps_of_puct(position, hash_evaluator(False), Search(cpuct=2.0, cpuct_base=0.0), 60)
    for step in (0, 10, 59):
        now = steps.at(step)
        for choice in now.choices():
            assert choice.bonus == pytest.approx(2.0 * choice.prior * np.sqrt(step + 1) / (1 + choice.visits))
        (taken,) = [choice for choice in now.choices() if choice.is_next]
        assert taken.score == max(choice.score for choice in now.choices())
        node = steps.at(step + 1).path()[1]
        assert steps.tree.action[0, node] == taken.action


def test_uct_draws_moves_never_tried_and_then_takes_the_largest_bound():
    position = azlab.game("tictactoe").start()
    steps = steps_of_uct(position, 50, c=1.0)
    first = steps.at(3).choices()
    assert sum(choice.is_next for choice in first) == 6 and sum(choice.visits == 0 for choice in first) == 6
    assert all(np.isnan(choice.value) == choice.is_next for choice in first)
    later = steps.at(20).choices()
    best = max(later, key=lambda choice: choice.score)
    assert best.is_next and best.score == pytest.approx(best.value + np.sqrt(np.log(21) / best.visits))


def test_paths_and_positions_belong_together():
    steps = steps_of_uct(azlab.game("tictactoe").start(), 200)
    for step in range(1, 201):
        path = steps.at(step).path()
        assert path[0] == 0 and path[-1] == steps.leaf[step - 1]
    position = steps.position_at(path[-1])
    assert position.state.tobytes() == steps.tree.state[0, path[-1]].tobytes() and len(position.moves) == len(path) - 1
    assert steps.at(0).path() == [0] and (steps.at(0).tree.children != -1).sum() == 0 and UNVISITED == -1


def test_what_cannot_be_followed_is_refused():
    position = azlab.game("tictactoe").start()
    with pytest.raises(AzlabError, match="Gumbel"):
        steps_of_puct(position, search=Search(gumbel=4))
    with pytest.raises(AzlabError, match="step"):
        steps_of_uct(position, 10).at(11)
    with pytest.raises(AzlabError, match="over"):
        steps_of_uct(azlab.game("tictactoe").from_moves("a1 b1 a2 b2 a3"), 10)
