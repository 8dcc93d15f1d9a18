"""Agents that think in steps choose what they would choose at once, can be stopped, and analyse beyond their budget."""

import numpy as np
import pytest

import azlab
from azlab.arena import thinking as thoughts
from azlab.arena.agents import PuctAgent, ThinksInSteps, UctAgent, analysis_of, thinking
from azlab.arena.thinking import Whole
from azlab.search import Budget, Search
from azlab.search.evaluators import UniformEvaluator

POSITION = azlab.game("go", size=5).from_moves("c3 b2 d2")


def steps(mind, seconds=None, most=10**6):
    """Think to the end; how many steps it took."""
    count = 1
    while mind.step(seconds) and count < most:
        count += 1
    return count


@pytest.mark.parametrize("name", ["uct:500", "uct:500,rave=50", "uct:2000,solve=True"])
def test_uct_in_steps_is_uct(name):
    whole, mind = azlab.agent(name, 3).analyse(POSITION), thinking(azlab.agent(name, 3), POSITION)
    assert steps(mind) > 1
    found = mind.analysis()
    assert (found.visits == whole.visits).all() and mind.action() == whole.best_action and found.simulations == whole.simulations
    assert [POSITION.game.move_name(action) for action in mind.line(mind.action())] == whole.line


class LowerRight:
    """An evaluator with even priors that likes stones the more, the further down and to the right they are."""

    def evaluate(self, states, legal):
        board = states["board"].astype(np.float64)
        worth = np.arange(board.shape[1]) / board.shape[1] ** 2
        return legal / legal.sum(axis=1, keepdims=True), ((board == 0) @ worth - (board == 1) @ worth).clip(-1, 1)


def test_puct_in_steps_is_puct():
    agents = [PuctAgent(LowerRight(), budget=300, seed=5) for _ in range(2)]
    mind = thinking(agents[0], POSITION)
    assert steps(mind) == 5  # 64 at a time
    assert (mind.analysis().visits == agents[1].analyse(POSITION).visits).all()
    assert mind.action() == agents[1].choose(POSITION) != POSITION.legal_actions[0]


@pytest.mark.parametrize("agent", [
    PuctAgent(UniformEvaluator(), Search(gumbel=4), 64), PuctAgent(UniformEvaluator(), budget=Budget(64, gain=(0.0, 8))),
])  # fmt: skip
def test_searches_that_plan_their_budget_take_one_step(agent):
    mind = thinking(agent, POSITION, endless=True)
    assert not mind.step(0.01)
    assert mind.analysis().simulations <= 64 and mind.action() in POSITION.legal_actions


def test_steps_with_a_time_are_short_at_first_and_end_in_time():
    mind = UctAgent(10**6).think(POSITION, seconds=0.2)
    mind.step(0.01)
    assert mind.analysis().simulations == 16
    steps(mind, 0.01)
    assert 16 < mind.analysis().simulations < 10**6


def test_a_time_makes_a_search_shorter_and_never_longer():
    mind = UctAgent(100).think(POSITION, seconds=1000.0)
    steps(mind, 0.05)
    assert mind.analysis().simulations == 100


@pytest.mark.parametrize("agent", [UctAgent(10), PuctAgent(UniformEvaluator(), budget=10)])
def test_an_endless_analysis_goes_on_beyond_the_budget_as_far_as_memory_goes(agent, monkeypatch):
    monkeypatch.setattr(thoughts, "TREE_BYTES", 4 * 2000 * (35 + 8 * 26 + POSITION.game.dtype.itemsize))
    mind = thinking(agent, POSITION, endless=True)
    steps(mind, 0.01)
    assert mind.analysis().simulations in (2000, 4000)


@pytest.mark.parametrize("name", ["random", "minimax:2", "uct:20", "puct:20"])
def test_every_agent_thinks_somehow(name):
    agent = azlab.agent(name, 1)
    mind = thinking(agent, POSITION)
    steps(mind)
    action = mind.action()
    assert action in POSITION.legal_actions and mind.line(action)[0] == action
    assert mind.analysis().visits.sum() > 0
    assert isinstance(agent, ThinksInSteps) == (name != "random")


def test_minimax_keeps_to_a_time():
    mind = azlab.agent("minimax:30").think(POSITION, seconds=0.2)
    assert isinstance(mind, Whole) and not mind.step() and mind.analysis().depth < 30


def test_a_perfect_player_still_chooses_among_its_best_moves():
    """Its analysis names one of them, its play draws one."""
    position = azlab.game("tictactoe").start()
    agent = azlab.agent("perfect", 1)
    assert len({thinking(agent, position).action() for _ in range(50)}) > 3


def test_an_agent_that_only_chooses_is_asked_once():
    class Counts:
        name, asked = "counts", 0

        def choose(self, position):
            self.asked += 1
            return position.legal_actions[self.asked]

    agent = Counts()
    mind = thinking(agent, POSITION)
    assert not mind.step() and mind.action() == mind.analysis().best_action == POSITION.legal_actions[1]
    assert agent.asked == 1 and np.isnan(mind.analysis().values).all()
    assert analysis_of(agent, POSITION).best_action == POSITION.legal_actions[2]
