"""UCT: Monte Carlo tree search with random playouts, in one compiled loop for each game.

RAVE is the variant that source S2 explains: a move is also judged by all playouts in which the same player made it later.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.games.game import Game, Position
from azlab.games.kernel import kernel, new_rng, random_below, specialise
from azlab.search import tree as trees
from azlab.search.analysis import Analysis, from_tree
from azlab.search.tree import ILLEGAL, UNPROVEN, UNVISITED, backup, prove


def uct(
    position: Position,
    simulations: int | None = None,
    *,
    seconds: float | None = None,
    c: float = 1.41,
    rave: float = 0.0,
    solve: bool = False,
    seed: int = 0,
) -> Analysis:
    """Search `position` with so many simulations (default 1,000), or until `seconds` have passed, or both.

    c: weight of the exploration term c * sqrt(ln N / n); values lie in [-1, 1]
    rave: if positive, the number of visits at which RAVE and the plain mean count equally
    solve: carry proven wins and losses up the tree, and stop when the position is decided
    """
    if position.over:
        raise AzlabError("The position is over; there is no move to look for.")
    check_settings(simulations, seconds, c, rave)
    if simulations is None:
        simulations = 1000 if seconds is None else 1_000_000_000
    search = UctSearch(position, c, rave, solve, seed)
    search.run(0)  # compiled from here on: the clock measures the search
    begin = time.perf_counter()
    spent, step = 0.0, 100
    while search.simulations < simulations and not search.is_decided and (seconds is None or spent < seconds):
        search.run(min(step, simulations - search.simulations))
        spent = time.perf_counter() - begin
        # steps of about 50 ms, to look at the clock and to let Ctrl-C through
        step = max(100, int(search.simulations / spent * min(0.05, (seconds or 1e9) - spent)))
    return search.analysis({"search": time.perf_counter() - begin})


def check_settings(simulations: int | None, seconds: float | None, c: float, rave: float) -> None:
    """Raise a sentence for settings that no search can have."""
    if (simulations is not None and simulations < 1) or (seconds is not None and not 0 < seconds < math.inf):
        raise AzlabError("A search needs at least one simulation, or a positive time.")
    if simulations is not None:
        whole_number("simulations", simulations, 1, 10**12)
    if not (0 <= rave < math.inf and 0 <= c < math.inf):
        raise AzlabError("c and rave must not be negative, nor infinite.")


class UctSearch:
    """A UCT search that can be run in steps; its tree grows as needed."""

    def __init__(self, position: Position, c: float = 1.41, rave: float = 0.0, solve: bool = False, seed: int = 0):
        self.position, self.c, self.rave, self.solve = position, float(c), float(rave), solve
        self.simulations = 0
        self.tree = trees.new_tree(position.game, 1, 64)
        self._rave_visits = np.zeros((1, position.game.num_actions), np.int32)
        self._rave_sum = np.zeros((1, position.game.num_actions), np.float32)
        self._rng = new_rng(seed, 1)
        self._loop = kernel_for(position.game)
        self._make_room(64)
        state = position.state
        trees.set_roots(self.tree, np.zeros(1, np.int64), state.view(np.uint8).reshape(1, -1), trees.offsets(position.game))
        self.tree.visits[0, 0] = 1  # as if the root had been evaluated
        self.tree.children[0, 0] = np.where(position.game.legal_mask(state)[0], UNVISITED, ILLEGAL)

    @property
    def is_decided(self) -> bool:
        """Whether the result of the position is proven."""
        return bool(self.tree.proven[0, 0] != UNPROVEN)

    def run(self, simulations: int) -> None:
        """Add so many simulations."""
        self._make_room(int(self.tree.size[0]) + simulations)
        game = self.position.game
        scratch, action = np.zeros(1, game.dtype), np.zeros(1, np.int64)
        legal = np.zeros((1, game.num_actions), np.bool_)
        trace = np.full((1, game.max_length if self.rave else 0), -1, np.int32)
        nodes = self.tree.state.view(game.dtype).reshape(-1)
        self.simulations += self._loop(
            self.tree, nodes, scratch, action, legal, trace, self._rng, simulations, self.c, self.rave, self.solve,
            self._rave_visits, self._rave_sum,
        )  # fmt: skip

    def _make_room(self, nodes: int) -> None:
        """Double the arrays until they hold so many nodes; what is in them stays."""
        have = self.tree.parent.shape[1]
        if nodes > have:
            bigger = trees.new_tree(self.position.game, 1, max(nodes, 2 * have) if have > 64 else nodes + 1)
            for old, new in zip(self.tree, bigger, strict=True):
                if old.ndim > 1:
                    new[:, :have] = old
                else:
                    new[:] = old
            self.tree = bigger
        if self.rave and len(self._rave_visits) < self.tree.parent.shape[1]:
            rows = self.tree.parent.shape[1] - len(self._rave_visits)
            self._rave_visits = np.pad(self._rave_visits, ((0, rows), (0, 0)))
            self._rave_sum = np.pad(self._rave_sum, ((0, rows), (0, 0)))

    def analysis(self, seconds: dict[str, float] | None = None) -> Analysis:
        """What was found so far."""
        legal = self.tree.children[0, 0] != ILLEGAL
        return from_tree(self.tree, 0, self.position, legal / legal.sum(), seconds or {}, self.simulations)


def kernel_for(game: Game) -> Callable[..., int]:
    """The loop below with the rules of `game` in it."""
    kernels = game.kernels
    return specialise(_loop, play=kernels.play, legal_moves=kernels.legal, playout=kernels.playout)


play: Any = None  # these three stand for the game's kernels; `specialise` fills them in
legal_moves: Any = None
playout: Any = None


def _loop(tree, nodes, scratch, action, legal, trace, rng, simulations, c, rave, solve, rave_visits, rave_sum):
    """Run simulations on tree 0 and return how many were made; `nodes` are the tree's states as records."""
    history = np.empty((2, 2 * trace.shape[1] + 1), np.int64)  # seats and actions of one simulation, for RAVE
    for k in range(simulations):
        if solve and tree.proven[0, 0] != UNPROVEN:
            return k
        node, child, depth = 0, UNVISITED, 0
        while not (tree.over[0, node] or (solve and tree.proven[0, node] != UNPROVEN)):
            choice = choose_uct(tree, node, c, rave, solve, rng, rave_visits, rave_sum)
            if rave > 0:
                history[0, depth], history[1, depth] = tree.to_move[0, node], choice
            depth += 1
            child = tree.children[0, node, choice]
            if child == UNVISITED:
                break
            node = child
        if child != UNVISITED:  # a finished or proven position
            result = np.float64(tree.proven[0, node])
            backup(tree, 0, node, result, 1.0 if result == 0 else 0.0, True)
            continue
        child = tree.size[0]
        tree.size[0] += 1
        tree.children[0, node, choice] = child
        tree.parent[0, child], tree.action[0, child] = node, choice
        scratch[0] = nodes[node]
        action[0] = choice
        play(scratch, action)
        nodes[child] = scratch[0]
        tree.to_move[0, child] = scratch[0].to_move
        tree.over[0, child] = scratch[0].over
        if scratch[0].over:
            tree.proven[0, child] = scratch[0].result
            tree.children[0, child, :] = ILLEGAL
            if solve:
                prove(tree, 0, child)
        else:
            legal_moves(scratch, legal)
            for a in range(legal.shape[1]):
                tree.children[0, child, a] = UNVISITED if legal[0, a] else ILLEGAL
            first = scratch[0].ply
            playout(scratch, rng, trace)
            length = scratch[0].ply - first
        result = np.float64(scratch[0].result)
        backup(tree, 0, child, result, 1.0 if result == 0 else 0.0, True)
        if rave > 0:
            if not tree.over[0, child]:  # play the playout again to know whose move each was
                scratch[0] = nodes[child]
                for turn in range(length):
                    history[0, depth], history[1, depth] = scratch[0].to_move, trace[0, turn]
                    depth += 1
                    action[0] = trace[0, turn]
                    play(scratch, action)
            count_rave(tree, child, history, depth, result, rave_visits, rave_sum)
    return simulations


@kernel
def choose_uct(tree, node, c, rave, solve, rng, rave_visits, rave_sum):
    """An action never tried, at random; when all were tried, the one with the largest upper bound."""
    sign = 1 - 2 * tree.to_move[0, node]
    log_total = np.log(np.float64(tree.visits[0, node]))
    best, best_score, untried, any_untried = -1, -np.inf, 0, -1
    for action in range(tree.children.shape[2]):
        child = tree.children[0, node, action]
        if child == ILLEGAL:
            continue
        knows_rave = rave > 0 and rave_visits[node, action] > 0
        rave_mean = sign * rave_sum[node, action] / rave_visits[node, action] if knows_rave else 0.0
        if child == UNVISITED:
            if not knows_rave:
                untried += 1
                if random_below(rng, 0, untried) == 0:
                    any_untried = action
                continue
            score = rave_mean + c  # known from other playouts, so it need not be tried first
        else:
            visits = tree.visits[0, child]
            mean = sign * tree.value_sum[0, child] / visits
            if solve and tree.proven[0, child] != UNPROVEN:  # known exactly: nothing to explore
                result = sign * tree.proven[0, child]
                if result == 1:
                    return action
                score = -1e9 if result == -1 else 0.0  # a lost move only if all are lost
            else:
                if knows_rave:
                    weight = rave / (rave + visits)
                    mean = (1 - weight) * mean + weight * rave_mean
                score = mean + c * np.sqrt(log_total / visits)
        if score > best_score:
            best, best_score = action, score
    return any_untried if untried else best


@kernel
def count_rave(tree, leaf, history, length, result, rave_visits, rave_sum):
    """Count for every node on the path the moves its player made later in this simulation, each once."""
    depth = 0
    node = leaf
    while tree.parent[0, node] >= 0:
        depth += 1
        node = tree.parent[0, node]
    counted = np.full(tree.children.shape[2], -1, np.int64)
    node = tree.parent[0, leaf]
    while node >= 0:
        depth -= 1
        for turn in range(depth, length):
            action = history[1, turn]
            if history[0, turn] == tree.to_move[0, node] and counted[action] != depth:
                counted[action] = depth
                rave_visits[node, action] += 1
                rave_sum[node, action] += result
        node = tree.parent[0, node]
