"""A finished search, simulation by simulation: what the tree looked like after each of them.

Nothing is written down while the search runs. A node's number tells when it was added, its value and priors are in the tree,
and the choices on the way follow from these; so one pass over the finished tree finds where each simulation ended, one
number for each. The tree after any simulation is then counted anew from these numbers, in the order of the search, so that it
equals the search's own arrays to the last bit.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.games.game import Position
from azlab.games.kernel import kernel, new_rng, specialise
from azlab.search import tree as trees
from azlab.search.config import Budget, Explore, Search
from azlab.search.evaluators import Evaluator, PlayoutEvaluator
from azlab.search.puct import Searcher
from azlab.search.tree import ILLEGAL, UNPROVEN, UNVISITED, Params, Tree, backup, choose_puct, prove
from azlab.search.uct import UctSearch, check_settings, choose_uct

NO_RAVE = (np.zeros((1, 1), np.int32), np.zeros((1, 1), np.float32))


@dataclass(frozen=True)
class Choice:
    """A legal move at a node, with the numbers that decide whether the search takes it. Values are for the player to move."""

    action: int
    name: str
    node: int | None  # where it leads; None if it was never tried
    visits: int
    value: float  # mean of its visits; if never tried, what the search assumes (PUCT), or NaN (UCT tries it anyway)
    prior: float
    bonus: float  # what is added for exploration: U of PUCT, c * sqrt(ln N / n) of UCT
    proven: bool  # the result is known exactly; `value` is that result
    is_next: bool  # a simulation that comes here now takes it; several, if it draws one of them

    @property
    def score(self) -> float:
        """The sum that is compared."""
        return self.value + self.bonus


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The tree after `step` simulations: arrays of one tree, as `Tree` describes them, with `tree.size[0]` nodes."""

    steps: "Steps"
    step: int
    tree: Tree

    @property
    def size(self) -> int:
        return int(self.tree.size[0])

    def value(self, node: int, seat: int) -> float:
        """The mean value of a node for `seat`, or its proven result."""
        return float(trees.mean_for(self.tree, 0, node, seat, self.steps.draw_value))

    def path(self) -> list[int]:
        """The nodes of the last simulation, from the root on; before the first one only the root."""
        return self.steps.path_to(int(self.steps.leaf[self.step - 1])) if self.step else [0]

    def choices(self, node: int = 0) -> list[Choice]:
        """All legal moves at a node, in the order of the game's actions."""
        tree, steps = self.tree, self.steps
        seat, name = int(tree.to_move[0, node]), steps.position.game.move_name
        children = tree.children[0, node]
        following = self._next_actions(node)
        found = []
        for action in np.flatnonzero(children != ILLEGAL).tolist():
            child = int(children[action])
            visits = int(tree.visits[0, child]) if child >= 0 else 0
            value = self.value(child, seat) if child >= 0 else self._unvisited_value(node)
            is_proven = child >= 0 and steps.solve and tree.proven[0, child] != UNPROVEN
            prior = float(tree.prior[0, node, action])
            bonus = 0.0 if is_proven else steps.bonus(int(tree.visits[0, node]), visits, prior)
            where = child if child >= 0 else None
            found.append(Choice(action, name(action), where, visits, value, prior, bonus, bool(is_proven), action in following))
        return found

    def _unvisited_value(self, node: int) -> float:
        params = self.steps.params
        if params is None:
            return math.nan
        seat = int(self.tree.to_move[0, node])
        return self.value(node, seat) - params.fpu if params.fpu_relative else params.fpu

    def _next_actions(self, node: int) -> list[int]:
        """What a simulation that comes to `node` would do; UCT draws one of the moves never tried."""
        tree, steps = self.tree, self.steps
        if tree.over[0, node] or (steps.solve and tree.proven[0, node] != UNPROVEN):
            return []
        if steps.params is not None:
            return [int(choose_puct(tree, 0, node, steps.params))]
        untried = np.flatnonzero(tree.children[0, node] == UNVISITED).tolist()
        return untried or [int(choose_uct(tree, node, steps.c, 0.0, steps.solve, new_rng(0, 1), *NO_RAVE))]


@dataclass(frozen=True, eq=False)
class Steps:
    """A search that can be looked at after each simulation, `steps.at(17).choices()`; from `steps_of_puct` or `steps_of_uct`."""

    position: Position
    tree: Tree  # as the search left it, without unused room
    leaf: np.ndarray  # int32 [simulations]: the node in which each simulation ended
    proven_at: np.ndarray  # int32 [nodes]: the simulation that proved a node's result; one more than there are for never
    own_value: np.ndarray  # float64 [nodes]: the value that each node brought when it was added, for seat 0
    own_draw: np.ndarray  # float64 [nodes]: and its chance of a draw
    params: Params | None  # of PUCT
    c: float  # of UCT
    solve: bool

    @property
    def kind(self) -> str:
        return "UCT" if self.params is None else "PUCT"

    @property
    def simulations(self) -> int:
        return len(self.leaf)

    @property
    def draw_value(self) -> float:
        return 0.0 if self.params is None else self.params.draw_value

    @functools.cached_property
    def sizes(self) -> np.ndarray:
        """Nodes after 0, 1, ... simulations: int32 [simulations + 1]."""
        return np.maximum.accumulate(np.concatenate([[0], self.leaf])).astype(np.int32) + 1

    def bonus(self, total: int, visits: int, prior: float) -> float:
        """The exploration term of a move with `visits` visits at a node with `total`."""
        if self.params is not None:
            return float(self.params.weights[min(total, len(self.params.weights) - 1)]) * prior / (1 + visits)
        return self.c * math.sqrt(math.log(total) / visits) if visits else math.inf

    def at(self, step: int) -> Snapshot:
        """The tree after `step` simulations."""
        step = whole_number("step", step, 0, self.simulations)
        size = int(self.sizes[step])
        full = self.tree
        tree = full._replace(
            size=np.array([size], np.int32),
            proven=np.where(self.proven_at[:size] <= step, full.proven[0, :size], UNPROVEN).astype(np.int8)[None],
            visits=np.zeros((1, size), np.int32),
            value_sum=np.zeros((1, size), np.float64),
            draw_sum=np.zeros((1, size), np.float64),
            children=np.where(full.children[:, :size] >= size, UNVISITED, full.children[:, :size]),
            **{
                name: np.ascontiguousarray(getattr(full, name)[:, :size])
                for name in ("parent", "action", "to_move", "over", "own_value", "prior", "state")
            },
        )
        _count(
            tree.parent[0], self.leaf[:step], full.proven[0], full.over[0], self.own_value, self.own_draw,
            tree.visits[0], tree.value_sum[0], tree.draw_sum[0],
        )  # fmt: skip
        return Snapshot(self, step, tree)

    def path_to(self, node: int) -> list[int]:
        """The nodes from the root to `node`."""
        path = [node]
        while path[-1] > 0:
            path.append(int(self.tree.parent[0, path[-1]]))
        return path[::-1]

    def position_at(self, node: int) -> Position:
        """The position of a node."""
        position = self.position
        for step in self.path_to(node)[1:]:
            position = position.play(int(self.tree.action[0, step]))
        return position


def steps_of_puct(
    position: Position,
    evaluator: Evaluator | None = None,
    search: Search | None = None,
    budget: Budget | int | None = None,
    explore: Explore | None = None,
    seed: int = 0,
) -> Steps:
    """Search as `puct` does, by default with a random playout as evaluator, and return every step of it."""
    search = search or Search()
    if search.gumbel:
        raise AzlabError("Gumbel search does not choose by Q + U; set gumbel=0 to follow a search step by step.")
    evaluator = evaluator or PlayoutEvaluator(position.game, seed=seed)
    searcher = Searcher(position.game, 1, evaluator, search, budget, explore, seed)
    searcher.start(position.state)
    searcher.run()
    return _steps_of(position, searcher.tree, int(searcher.done[0]), searcher.params, 0.0, search.solve)


def steps_of_uct(position: Position, simulations: int = 1000, c: float = 1.41, solve: bool = False, seed: int = 0) -> Steps:
    """Search as `uct` does and return every step of it."""
    if position.over:
        raise AzlabError("The position is over; there is no move to look for.")
    check_settings(simulations, None, c, 0.0)
    search = UctSearch(position, c, 0.0, solve, seed)
    search.run(simulations)
    return _steps_of(position, search.tree, search.simulations, None, float(c), solve)


def _steps_of(position: Position, tree: Tree, simulations: int, params: Params | None, c: float, solve: bool) -> Steps:
    size = int(tree.size[0])
    full = Tree(*(np.ascontiguousarray(part[:, :size]) if part.ndim > 1 else part for part in tree))
    own_value, own_draw = _own_values(full, is_stored=params is not None)
    growing = full._replace(
        size=np.ones(1, np.int32),
        proven=np.full((1, size), UNPROVEN, np.int8),
        visits=np.zeros((1, size), np.int32),
        value_sum=np.zeros((1, size), np.float64),
        draw_sum=np.zeros((1, size), np.float64),
        children=np.where(full.children == ILLEGAL, ILLEGAL, UNVISITED).astype(np.int32),
    )
    leaf, proven_at = np.zeros(simulations, np.int32), np.full(size, simulations + 1, np.int32)
    used = params or _NO_PARAMS
    again = specialise(_grow_again)
    again(full, growing, own_value, own_draw, params is not None, used, c, solve, leaf, proven_at, new_rng(0, 1), *NO_RAVE)
    for mine, theirs in zip(growing, full, strict=True):
        if not np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"):
            raise AzlabError("This search cannot be followed step by step: it did not choose by its values and priors alone.")
    return Steps(position, full, leaf, proven_at, own_value, own_draw, params, c, solve)


_NO_PARAMS = Params(np.zeros(1), np.zeros(1), 0.0, False, 0.0, 0.0, False, False, False)


def _own_values(tree: Tree, is_stored: bool) -> tuple[np.ndarray, np.ndarray]:
    """What each node brought when it was added: its sum, less what came from below and from visits after it was decided."""
    parent, visits = tree.parent[0, 1:], tree.visits[0]
    size = len(visits)
    again = visits - 1 - np.bincount(parent, visits[1:], size)
    decided = np.where(tree.proven[0] == UNPROVEN, 0, tree.proven[0]).astype(np.float64)

    def rest(sums: np.ndarray, each: np.ndarray) -> np.ndarray:
        return sums - np.bincount(parent, sums[1:], size) - again * each

    values = tree.own_value[0].astype(np.float64) if is_stored else np.round(rest(tree.value_sum[0], decided))
    ends = tree.over[0]
    if not is_stored:
        values[ends] = decided[ends]
    is_draw = np.where(ends, values == 0, tree.proven[0] == 0)
    draws = rest(tree.draw_sum[0], is_draw.astype(np.float64)).astype(np.float32).astype(np.float64)
    draws[ends] = tree.draw_sum[0][ends] / visits[ends]  # every visit brought the same
    return values, draws


def _grow_again(full, tree, own_value, own_draw, is_puct, params, c, solve, leaf, proven_at, rng, rave_visits, rave_sum):
    """Grow `tree` as the search grew `full`, and note where each simulation ended. A template: see `specialise`."""
    backup(tree, 0, 0, own_value[0], own_draw[0], True)
    for k in range(len(leaf)):
        node = 0
        while not (tree.over[0, node] or (solve and tree.proven[0, node] != UNPROVEN)):
            if is_puct:
                action = choose_puct(tree, 0, node, params)
            else:
                action = choose_uct(tree, node, c, 0.0, solve, rng, rave_visits, rave_sum)
            child = tree.children[0, node, action]
            if child == UNVISITED:
                child = tree.size[0]
                if child == len(proven_at):
                    return
                if not is_puct:  # drawn from those never tried: the finished tree tells which
                    action = full.action[0, child]
                tree.size[0] += 1
                tree.children[0, node, action] = child
                node = child
                break
            node = child
        is_new = tree.visits[0, node] == 0
        leaf[k] = node
        if is_new and tree.over[0, node]:
            tree.proven[0, node] = full.proven[0, node]
            proven_at[node] = k + 1
        value, draw = own_value[node], own_draw[node]
        if not is_new and not tree.over[0, node]:
            value = np.float64(tree.proven[0, node])
            draw = 1.0 if value == 0 else 0.0
        backup(tree, 0, node, value, draw, True)
        if solve and is_new and tree.over[0, node]:
            prove(tree, 0, node)
            while node >= 0 and tree.proven[0, node] != UNPROVEN:
                proven_at[node] = min(proven_at[node], k + 1)
                node = tree.parent[0, node]


@kernel
def _count(parent, leaves, proven, over, own_value, own_draw, visits, value_sum, draw_sum):
    """Count the root's own evaluation and the simulations that ended in `leaves`."""
    for k in range(-1, len(leaves)):
        node = leaves[k] if k >= 0 else 0
        value, draw = own_value[node], own_draw[node]
        if k >= 0 and visits[node] > 0 and not over[node]:
            value = np.float64(proven[node])
            draw = 1.0 if value == 0 else 0.0
        while node >= 0:
            visits[node] += 1
            value_sum[node] += value
            draw_sum[node] += draw
            node = parent[node]
