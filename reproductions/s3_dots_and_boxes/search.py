"""How the program searches: walks to the end of the game, values at the root alone, a sign flipped at every ply, drawn moves.

Each oddity is a switch of `Program`, so that notebooks can show what it alone does.
"""

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Game, Position
from azlab.games.kernel import kernel, specialise
from azlab.search import Analysis, Budget, Searcher
from azlab.search.tree import ILLEGAL, UNPROVEN, UNVISITED, Kernels, backup, choose_puct, with_kernels

EQUAL_SHARE = 0.25  # part of equal chances in drawn visits, the program's share of root noise


@functools.cache
def searcher(program: Any) -> type["ProgramSearcher"]:
    """The class of searches that `program` makes."""
    return type("ProgramSearcher", (ProgramSearcher,), {"program": program, "__module__": __name__})


class ProgramSearcher(Searcher):
    """A search with the switches of `program`; signs are flipped and moves drawn in self-play only, where it has an `Explore`."""

    program: Any = None

    def __init__(self, *settings: Any, **more: Any) -> None:
        super().__init__(*settings, **more)
        if self.search.gumbel or self.search.solve or self.params.forced_playouts or self.leaves > 1:
            raise AzlabError("The program of S3 searches without gumbel, solve, forced_playouts and leaves: leave them out.")
        if self.program.root_values_only and (self.search.fpu_relative or self.reuse_tree):
            raise AzlabError("With root_values_only no node but the root has a value: leave out fpu_relative and reuse_tree.")
        flips = self.program.flip_every_ply and self.explore is not None
        self.kernels = kernels_of(self.program.root_values_only, self.program.to_the_end, flips)
        self.is_drawn = np.zeros(self.games, np.bool_)  # the root is before ply `drawn_plies`: not searched
        self._drawn = np.zeros((self.games, self.game.num_actions), np.int64)  # visits of such roots

    @classmethod
    def room(cls, game: Game, budget: Budget, leaves: int = 1, reuse_tree: bool = False) -> int:
        walked = game.max_length if cls.program.to_the_end else 1
        return super().room(game, Budget(budget.simulations * walked), leaves, reuse_tree)

    def prepare(self, games: np.ndarray) -> None:
        super().prepare(games)
        if self.explore is not None:
            self.is_drawn[games] = self.root_states()["ply"][games] < self.program.drawn_plies
            self._drawn[games] = 0

    def simulate(self, budgets: np.ndarray, active: np.ndarray) -> None:
        """Draw the visits of roots that are not searched.

        The program descends at random in its training mode, and mixes into the priors the mean of a Dirichlet distribution,
        which is the same for all moves. It counts the new nodes of each descent, so that its shares are a little flatter.
        """
        for g in active[self.is_drawn[active]]:
            legal = self.tree.children[g, 0] != ILLEGAL
            prior = self.tree.prior[g, 0].astype(np.float64)
            chances = (1 - EQUAL_SHARE) * prior / max(prior.sum(), 1e-30) + EQUAL_SHARE * legal / legal.sum()
            self._drawn[g] += self.rng.multinomial(max(0, budgets[g] - self.done[g]), chances / chances.sum())
            self.done[g] = max(self.done[g], budgets[g])
        super().simulate(budgets, active[~self.is_drawn[active]])

    def is_decided(self, games: np.ndarray, budgets: np.ndarray) -> np.ndarray:
        last = self.tree.size[games] - 1
        is_walking = (last > 0) & ~self.tree.over[games, last] & self.program.to_the_end
        return super().is_decided(games, budgets) & ~is_walking

    def root_visits(self, g: int) -> np.ndarray:
        return self._drawn[g].copy() if self.is_drawn[g] else super().root_visits(g)

    def choose(self, g: int, ply: int) -> int:
        """The most visited move where visits are drawn, which is random enough; with `random_ties` any one of several."""
        if not self.is_drawn[g] and self.explore is not None and self.explore.temperature_at(ply) > 0:
            return super().choose(g, ply)
        visits = self.policy(g)
        if self.program.random_ties:
            return int(self.rng.choice(np.flatnonzero(visits == visits.max())))
        return int(np.argmax(visits))

    def analysis(self, g: int, position: Position) -> Analysis:
        found = super().analysis(g, position)
        if self.is_drawn[g]:
            visits = self.root_visits(g)
            found = replace(found, visits=visits, line=[self.game.move_name(int(np.argmax(visits)))])
        return found


@functools.cache
def kernels_of(root_values_only: bool, to_the_end: bool, flips: bool) -> Kernels:
    """The kernels of a simulation with these oddities."""
    ways = {(False, False): backup, (True, False): at_root, (False, True): flipped, (True, True): flipped_at_root}
    way = ways[root_values_only, flips]
    kernels = with_kernels(backup=way)
    return kernels._replace(select=specialise(walk, backup=way)) if to_the_end else kernels


@kernel
def at_root(tree, g, node, value, draw, is_new):
    """Add values to the root alone: every other Q stays 0, so that visits follow the priors."""
    while node >= 0:
        if is_new:
            tree.visits[g, node] += 1
        if node == 0:
            tree.value_sum[g, node] += value
            tree.draw_sum[g, node] += draw
        node = tree.parent[g, node]


@kernel
def as_if_the_turn_passed(tree, g, node, value):
    """The value of a new node if the turn passed with every move; the node's player and what it stores are changed with it."""
    if node > 0 and tree.visits[g, node] == 0:
        seat = 1 - tree.to_move[g, tree.parent[g, node]]
        if seat != tree.to_move[g, node]:
            tree.to_move[g, node] = seat
            tree.own_value[g, node] = -tree.own_value[g, node]
            if tree.proven[g, node] != UNPROVEN:
                tree.proven[g, node] = -tree.proven[g, node]
            return -value
    return value


@kernel
def flipped(tree, g, node, value, draw, is_new):
    """As `backup`, with a sign that changes at every ply."""
    backup(tree, g, node, as_if_the_turn_passed(tree, g, node, value), draw, is_new)


@kernel
def flipped_at_root(tree, g, node, value, draw, is_new):
    """As `at_root`, with a sign that changes at every ply."""
    at_root(tree, g, node, as_if_the_turn_passed(tree, g, node, value), draw, is_new)


@kernel
def new_child(tree, g, node, action):
    """Room for the node that `action` leads to, to be filled by the other kernels."""
    child = tree.size[g]
    tree.size[g] += 1
    tree.children[g, node, action] = child
    tree.parent[g, child] = node
    tree.action[g, child] = action
    tree.own_value[g, child] = np.nan
    tree.visits[g, child] = 0  # the arrays may hold an earlier search
    tree.value_sum[g, child] = tree.draw_sum[g, child] = 0.0
    tree.over[g, child], tree.proven[g, child] = False, UNPROVEN
    return child


def walk(tree, params, active, budget, leaves, noise, schedule, done, leaf_game, leaf_node, leaf_action, leaf_state):
    """In the place of `select`: a simulation goes on from its new node to the end of the game, and every node is evaluated.

    All nodes that follow a new one are new, too. So a walk is under way as long as the newest node of its tree is not over. Walks
    along known nodes to a known end are made at once. A template: see `specialise`.
    """
    found = 0
    for i in range(len(active)):
        g = active[i]
        node = tree.size[g] - 1
        is_walking = node > 0 and not tree.over[g, node]
        while is_walking or done[g] < budget[g]:
            if not is_walking:
                node = 0
                done[g] += 1
            action = -1
            while not tree.over[g, node]:
                action = choose_puct(tree, g, node, params)
                if tree.children[g, node, action] == UNVISITED:
                    break
                node = tree.children[g, node, action]
            if not tree.over[g, node]:
                leaf_game[found], leaf_node[found], leaf_action[found] = g, new_child(tree, g, node, action), action
                for b in range(leaf_state.shape[1]):
                    leaf_state[found, b] = tree.state[g, node, b]
                found += 1
                break
            is_walking = False
            value = np.float64(tree.own_value[g, node] if params.margin else tree.proven[g, node])
            backup(tree, g, node, value, 1.0 if value == 0 else 0.0, True)
    return found
