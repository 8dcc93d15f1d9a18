"""PUCT: the search of AlphaZero, for many games at once, with any evaluator.

The variants are settings (`azlab.search.config`). A search of another kind is a subclass of `Searcher` with `kernels` of its own
(`azlab.search.tree.with_kernels`), or one that overrides `prepare`, `simulate`, `is_decided`, `root_visits` or `choose`.
"""

import functools
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.games.game import Game, Position
from azlab.games.kernel import kernel, specialise
from azlab.search import tree as trees
from azlab.search.analysis import Analysis, from_tree
from azlab.search.budget import draw_budgets
from azlab.search.config import Budget, Explore, Search, as_budget
from azlab.search.evaluators import Evaluator, Native, checked
from azlab.search.tree import Kernels, add_nodes, expand, select


def puct(
    positions: Position | Sequence[Position] | np.ndarray,
    evaluator: Evaluator,
    search: Search | None = None,
    budget: Budget | int | None = None,
    explore: Explore | None = None,
    *,
    leaves: int = 1,
    game: Game | None = None,
    seed: int = 0,
) -> "Analysis | list[Analysis]":
    """Search one position, or a list of positions of one game, or an array of states (then say which `game`).

    `budget` may be a plain number of simulations; `leaves` as in `Searcher`.
    """
    one = isinstance(positions, Position)
    if isinstance(positions, np.ndarray):
        if game is None:
            raise AzlabError("An array of states does not say its game; pass game=...")
        listed = [game.position(state) for state in positions]
    else:
        listed = [positions] if isinstance(positions, Position) else list(positions)
    if not listed or len({position.game for position in listed}) > 1:
        raise AzlabError("A search takes one or more positions, all of one game.")
    if game is not None and game != listed[0].game:
        raise AzlabError(f"The positions are of {listed[0].game!r}, not of {game!r}.")
    searcher = Searcher(listed[0].game, len(listed), evaluator, search or Search(), budget, explore, seed, leaves=leaves)
    searcher.start(np.concatenate([position.state for position in listed]))
    searcher.run()
    found = [searcher.analysis(g, position) for g, position in enumerate(listed)]
    return found[0] if one else found


NOT_FINITE = "The evaluator returned a number that is infinite or not a number; look at its training."


class Searcher:
    """A batch of searches that goes on from move to move: `start`, `run`, `advance`, `run`, ...

    explore: how self-play explores; a match has none
    leaves: taken from one tree before an evaluation; more than 1 uses virtual losses and suits a single position
    reuse_tree: keep the part of the tree below the move played

    `done` [G] counts the simulations of the current move, `seconds` where the time went, `asked` the positions that the evaluator
    was asked about, and `roots` those of them that were roots.
    """

    kernels = Kernels()

    def __init__(
        self,
        game: Game,
        games: int,
        evaluator: Evaluator,
        search: Search,
        budget: Budget | int | None = None,
        explore: Explore | None = None,
        seed: int = 0,
        *,
        leaves: int = 1,
        reuse_tree: bool = False,
    ) -> None:
        if not isinstance(evaluator, Evaluator):
            raise AzlabError(f"An evaluator has a method evaluate(states, legal); {evaluator!r} has none.")
        if search.margin and game.kernels.lead is None:
            raise AzlabError(f"{game.name} counts no points, so there is no margin to play for.")
        if search.horizon and game.kernels.horizon is None:
            raise AzlabError(f"{game.name} has one phase, so there is no horizon to stop at: leave out `horizon`.")
        if search.gumbel and (leaves > 1 or reuse_tree):
            raise AzlabError("Gumbel search takes one leaf at a time and starts each move afresh: no `leaves`, no `reuse_tree`.")
        self.game, self.games, self.evaluator = game, games, evaluator
        self.search, self.budget, self.explore = search, as_budget(budget), explore
        self.leaves, self.reuse_tree = whole_number("leaves", leaves, 1, 10**6), reuse_tree
        self.rng = np.random.default_rng(seed)
        room = self.room(game, self.budget, leaves, reuse_tree)
        self.tree = trees.new_tree(game, games, room)
        self.params = _params(search, explore, room)
        self.done = np.zeros(games, np.int64)
        self.raw_prior = np.zeros((games, game.num_actions), np.float32)  # of the root, before noise
        self.noise = np.zeros((games, game.num_actions), np.float64)
        self.is_full = np.ones(games, np.bool_)
        self.seconds = {"search": 0.0, "evaluator": 0.0}
        self.roots = self.asked = 0
        self._schedule = np.zeros((games, 1), np.int64)
        self._offsets = trees.offsets(game)
        rows = games * leaves
        self._leaf_game = np.zeros(rows, np.int64)
        self._leaf_node = np.zeros(rows, np.int64)
        self._leaf_action = np.zeros(rows, np.int64)
        self._leaf_states = np.zeros(rows, game.dtype)
        self._leaf_bytes = self._leaf_states.view(np.uint8).reshape(rows, -1)
        self._leads = np.zeros(rows, np.float32)
        self._pending = np.zeros(rows, np.int64)

    @classmethod
    def room(cls, game: Game, budget: Budget, leaves: int = 1, reuse_tree: bool = False) -> int:
        """The number of nodes that a tree may come to have."""
        nodes = budget.simulations + leaves + 1
        return 2 * nodes if reuse_tree else nodes

    # --- roots ------------------------------------------------------------------------------------------------

    def start(self, states: np.ndarray, games: np.ndarray | None = None) -> None:
        """Begin new trees at `states`, for all games or for the given ones; no state may be over."""
        games = np.arange(self.games) if games is None else np.ascontiguousarray(games, np.int64)
        if states["over"].any():
            raise AzlabError("A position to search is over; there is no move to look for.")
        if self.search.horizon and self.game.at_horizon(states).any():
            raise AzlabError("A position to search lies beyond the horizon, where others move: leave out `horizon` there.")
        states = np.ascontiguousarray(states)
        trees.set_roots(self.tree, games, states.view(np.uint8).reshape(len(states), -1), self._offsets)
        self._evaluate(states, games, np.zeros(len(games), np.int64), np.arange(len(games)), leaves=1)
        self.roots += len(games)
        self.prepare(games)

    def advance(self, actions: np.ndarray, games: np.ndarray | None = None) -> None:
        """Play an action in all games, or in the given ones; with `reuse_tree` the part of the tree below is kept.

        No game may end by it: a finished game is left out here and begun anew by `start`.
        """
        games = np.arange(self.games) if games is None else np.asarray(games)
        states = self.root_states()[games]
        self.game.kernels.play(states, np.ascontiguousarray(actions, np.int64))
        is_kept = np.zeros(len(games), np.bool_)
        if self.reuse_tree:
            is_kept[:] = [trees.advance(self.tree, g, action) for g, action in zip(games, actions, strict=True)]
        if not is_kept.all():
            self.start(states[~is_kept], games[~is_kept])
        if is_kept.any():
            self.prepare(games[is_kept])

    def root_states(self) -> np.ndarray:
        """The states at the roots: an array of G records."""
        return np.ascontiguousarray(self.tree.state[:, 0]).view(self.game.dtype).reshape(-1)

    def prepare(self, games: np.ndarray) -> None:
        """Noise and counters for a new move."""
        self.done[games] = 0
        legal = self.tree.children[games, 0] != trees.ILLEGAL
        prior = self.tree.prior[games, 0]
        self.raw_prior[games] = prior
        if self.search.gumbel:
            self.noise[games] = self.rng.gumbel(size=prior.shape)
        elif self.explore is not None and self.explore.noise:
            self.noise[games] = 0
            for k, g in enumerate(games):
                moves = np.flatnonzero(legal[k])
                self.noise[g, moves] = self.rng.dirichlet(np.full(len(moves), self.explore.alpha(len(moves))))
            self._mix_noise(games, self.explore.noise)

    def _mix_noise(self, games: np.ndarray, share: float) -> None:
        """Give the roots of these games this share of their noise."""
        self.tree.prior[games, 0] = (1 - share) * self.raw_prior[games] + share * self.noise[games]

    # --- simulations ------------------------------------------------------------------------------------------

    def run(self, budget: np.ndarray | int | None = None, games: np.ndarray | None = None) -> None:
        """Simulate until each game has `budget` simulations or its search is decided.

        Without a budget the playout caps of self-play draw it; `is_full` [G] then tells the full searches.
        """
        if budget is None:
            budgets, self.is_full = draw_budgets(self.budget, self.games, self.rng, self.explore is not None)
            self._calm_small_searches()
        else:
            budgets, self.is_full = np.full(self.games, budget, np.int64), np.ones(self.games, np.bool_)
        if budgets.max() > self.budget.simulations:
            raise AzlabError(f"The trees have room for {self.budget.simulations} simulations, not {budgets.max()}.")
        self.simulate(budgets, np.arange(self.games) if games is None else np.ascontiguousarray(games, np.int64))

    def _calm_small_searches(self) -> None:
        """Less noise where nothing is learnt from a search."""
        explore = self.explore
        if explore is not None and explore.noise and explore.capped_noise != 1 and not self.search.gumbel:
            self._mix_noise(np.flatnonzero(self.is_full), explore.noise)
            self._mix_noise(np.flatnonzero(~self.is_full), explore.noise * explore.capped_noise)

    def simulate(self, budgets: np.ndarray, active: np.ndarray) -> None:
        """Bring the games `active` to `budgets[g]` simulations each."""
        if self.search.gumbel:
            self._schedule = np.zeros((self.games, int(budgets.max())), np.int64)
            legal = (self.tree.children[:, 0] != trees.ILLEGAL).sum(axis=1)
            for g in active:
                considered = min(self.search.gumbel, int(legal[g]))
                self._schedule[g, : budgets[g]] = halving_schedule(int(budgets[g]), considered)
        if self.budget.gain:
            self._run_while_gaining(budgets, active)
        else:
            self._run_to(budgets, active)

    def _run_to(self, budgets: np.ndarray, active: np.ndarray) -> None:
        if isinstance(self.evaluator, Native) and len(active) and not self.search.horizon:
            self._run_natively(budgets, active, self.evaluator)
            return
        tree, params, leaves = self.tree, self.params, self.leaves
        while len(active):
            begin = time.perf_counter()
            found = self.kernels.select(
                tree, params, active, budgets, leaves, self.noise, self._schedule, self.done,
                self._leaf_game, self._leaf_node, self._leaf_action, self._leaf_bytes,
            )  # fmt: skip
            if found:
                self.game.kernels.play(self._leaf_states[:found], self._leaf_action[:found])
                if params.margin:
                    self.game.kernels.lead(self._leaf_states[:found], self._leads[:found])  # type: ignore[misc]
                waiting = self.kernels.add_nodes(
                    tree, params, leaves, found, self._leaf_game, self._leaf_node, self._leaf_bytes, self._leads, self._offsets,
                    self._pending,
                )  # fmt: skip
                self.seconds["search"] += time.perf_counter() - begin
                if waiting:
                    pending = self._pending[:waiting]
                    self._evaluate(self._leaf_states, self._leaf_game, self._leaf_node, pending, leaves)
            else:
                self.seconds["search"] += time.perf_counter() - begin
            if found < len(active) * leaves:  # some tree had nothing to do: it may be finished
                active = active[~self.is_decided(active, budgets)]

    def _run_natively(self, budgets: np.ndarray, active: np.ndarray, evaluator: Native) -> None:
        """As `_run_to`, for an evaluator that is a kernel: whole rounds in compiled code, with pauses for Ctrl-C."""
        begin, grown, sizes = time.perf_counter(), active, self.tree.size[active]
        kernels, rows, actions = self.game.kernels, len(self._leaf_game), self.game.num_actions
        rules = {"play": kernels.play, "legal_moves": kernels.legal, "lead": kernels.lead or no_lead}
        loop = specialise(_native_rounds, **rules, **self.kernels._asdict(), evaluate=evaluator.native)
        scratch = (
            np.zeros(rows, self.game.dtype), np.zeros((rows, actions), np.bool_), np.zeros((rows, actions), np.float32),
            np.zeros(rows, np.float32), np.zeros(rows, np.float32), self.rng.integers(1, 2**64, 1, np.uint64),
        )  # fmt: skip
        rounds = max(1, 100_000 // rows)
        while len(active):
            is_finite = loop(
                rounds, self.tree, self.params, active, budgets, self.leaves, self.noise, self._schedule, self.done,
                self._leaf_game, self._leaf_node, self._leaf_action, self._leaf_states, self._leaf_bytes,
                self._leads, self._offsets, self._pending, *scratch,
            )  # fmt: skip
            if not is_finite:
                raise AzlabError(NOT_FINITE)
            active = active[~self.is_decided(active, budgets)]
        self.asked += trees.count_open(self.tree.over, self.tree.size, grown, sizes)
        self.seconds["search"] += time.perf_counter() - begin

    def is_decided(self, games: np.ndarray, budgets: np.ndarray) -> np.ndarray:
        """Which of `games` need no further simulation: bool [games]."""
        proven = self.tree.proven[games, 0] != trees.UNPROVEN
        return (self.done[games] >= budgets[games]) | (proven if self.search.solve else False)

    def _evaluate(self, states: np.ndarray, games: np.ndarray, nodes: np.ndarray, rows: np.ndarray, leaves: int) -> None:
        """Ask the evaluator about `states[rows]` and expand their nodes."""
        begin = time.perf_counter()
        asked = states[: len(rows)] if rows[-1] == len(rows) - 1 else states[rows]  # mostly all of them: no copy
        legal = self.game.legal_mask(asked)
        middle = time.perf_counter()
        parts = self.evaluator.evaluate(asked, legal)
        end = time.perf_counter()
        self.asked += len(rows)
        priors, values, draws = checked(parts, len(rows), self.game.num_actions)
        if not self.kernels.expand(self.tree, leaves, rows, games, nodes, legal, priors, values, draws):
            raise AzlabError(NOT_FINITE)
        if self.search.horizon:
            self._close(games[rows], nodes[rows], self.game.at_horizon(asked))
        self.seconds["evaluator"] += end - middle
        self.seconds["search"] += middle - begin + time.perf_counter() - end

    def _close(self, games: np.ndarray, nodes: np.ndarray, is_beyond: np.ndarray) -> None:
        """Make ends of the nodes that lie at the horizon: what the evaluator said of them stays."""
        games, nodes = games[is_beyond], nodes[is_beyond]
        self.tree.over[games, nodes] = True
        self.tree.children[games, nodes] = trees.ILLEGAL

    def _run_while_gaining(self, budgets: np.ndarray, active: np.ndarray) -> None:
        """KL-gain stopping (Leela Chess Zero): a tree grows step by step while the last step still changed its visits.

        The visits of the first step are compared with the priors, without noise, of the moves visited.
        """
        threshold, step = self.budget.gain
        before = np.zeros((self.games, self.game.num_actions))
        while len(active):
            target = np.minimum(budgets, self.done + int(step))
            self._run_to(target, active)
            going = []
            for g in active:
                after = self.root_visits(g) / max(1, self.root_visits(g).sum())
                if not before[g].any():
                    priors = np.where(after > 0, self.raw_prior[g], 0.0)
                    before[g] = priors / max(1e-12, priors.sum())
                gain = kl_divergence(before[g], after) if before[g].any() else math.inf
                before[g] = after
                if gain > threshold and self.done[g] < budgets[g]:
                    going.append(g)
            active = np.array(going, np.int64)
            active = active[~self.is_decided(active, budgets)]

    # --- results ----------------------------------------------------------------------------------------------

    def root_visits(self, g: int) -> np.ndarray:
        """Visits of the actions at the root of game `g`: int64 [A]."""
        children = self.tree.children[g, 0]
        return np.where(children >= 0, self.tree.visits[g, np.maximum(children, 0)], 0).astype(np.int64)

    def policy(self, g: int) -> np.ndarray:
        """What the search teaches a network: float64 [A], the shares of the visits, or the improved policy of Gumbel search."""
        if self.search.gumbel:
            scores = np.empty(self.game.num_actions)
            trees.completed_scores(self.tree, g, 0, self.params, scores)
            shares = np.exp(scores - scores.max())
            return shares / shares.sum()
        visits = self.root_visits(g).astype(np.float64)
        if self.params.forced_playouts:
            visits = self._without_forced(g, visits)
        if not visits.any():  # proven before the first visit
            visits = (self.tree.children[g, 0] != trees.ILLEGAL).astype(np.float64)
        return visits / visits.sum()

    def policies(self) -> np.ndarray:
        """`policy` of all games: float64 [G, A]."""
        return np.stack([self.policy(g) for g in range(self.games)])

    def root_results(self) -> np.ndarray:
        """Mean chances of draw, win and loss of seat 0 at the roots, as the evaluator and finished games gave them: [G, 3].

        Gumbel search visits moves that it drops again; there the moves count by the improved policy, not by their visits.
        """
        visits = np.maximum(1, self.tree.visits[:, 0])
        values, draws = self.tree.value_sum[:, 0] / visits, self.tree.draw_sum[:, 0] / visits
        if self.search.gumbel:
            for g in range(self.games):
                values[g], draws[g] = self._expected(g)
        draws = np.clip(draws, 0, 1)
        proven = self.tree.proven[:, 0]
        values = np.where(proven == trees.UNPROVEN, values, proven)
        draws = np.where(proven == trees.UNPROVEN, draws, proven == 0)
        decided = np.maximum(1 - draws, np.abs(values))
        return np.stack([1 - decided, (decided + values) / 2, (decided - values) / 2], axis=1)

    def _expected(self, g: int) -> tuple[float, float]:
        """Value and chance of a draw for seat 0 when the visited moves of game `g` are played by the improved policy."""
        children = self.tree.children[g, 0]
        tried = np.flatnonzero(children >= 0)
        if not len(tried):
            return float(self.tree.own_value[g, 0]), 0.0
        nodes = children[tried]
        shares = self.policy(g)[tried]
        shares = shares / shares.sum() / self.tree.visits[g, nodes]
        return float(shares @ self.tree.value_sum[g, nodes]), float(shares @ self.tree.draw_sum[g, nodes])

    def _without_forced(self, g: int, visits: np.ndarray) -> np.ndarray:
        """Take back forced visits that the best move's score does not justify (KataGo's target pruning)."""
        tree, params = self.tree, self.params
        children, seat = tree.children[g, 0], int(tree.to_move[g, 0])
        total = tree.visits[g, 0]
        weight = params.weights[min(total, len(params.weights) - 1)]
        best = int(np.argmax(visits))

        def mean(action: int) -> float:
            return trees.mean_for(tree, g, int(children[action]), seat, params.draw_value)

        limit = mean(best) + weight * float(tree.prior[g, 0, best]) / (1 + visits[best])
        pruned = visits.copy()
        for action in np.flatnonzero(visits).tolist():
            if action == best:
                continue
            prior = float(tree.prior[g, 0, action])
            forced = math.sqrt(params.forced_playouts * prior * (total - 1))
            while pruned[action] > 0 and visits[action] - pruned[action] < forced:
                if mean(action) + weight * prior / pruned[action] > limit:  # with one visit fewer it would be chosen
                    break
                pruned[action] -= 1
            if pruned[action] == 1:
                pruned[action] = 0
        return pruned

    def choose(self, g: int, ply: int) -> int:
        """The action to play in game `g`: a proven win, else by the temperature, proven losses only if all lose."""
        children = self.tree.children[g, 0]
        sign = 1 - 2 * int(self.tree.to_move[g, 0])
        results = np.where(children >= 0, self.tree.proven[g, np.maximum(children, 0)], trees.UNPROVEN)
        if self.search.solve and (results == sign).any():
            return int(np.argmax(results == sign))
        if self.search.gumbel:
            return self._choose_gumbel(g)
        visits = self.policy(g)
        if self.search.solve and visits[results != -sign].any():
            visits = np.where(results == -sign, 0.0, visits)
        temperature = self.explore.temperature_at(ply) if self.explore is not None else 0.0
        if temperature == 0:
            return int(np.argmax(visits))
        shares = (visits / visits.max()) ** (1 / temperature)
        return int(self.rng.choice(len(shares), p=shares / shares.sum()))

    def _choose_gumbel(self, g: int) -> int:
        """The most visited action, by noisy score among equals (sequential halving's winner)."""
        scores = np.empty(self.game.num_actions)
        trees.completed_scores(self.tree, g, 0, self.params, scores)
        visits = self.root_visits(g)
        return int(np.argmax(np.where(visits == visits.max(), self.noise[g] + scores, -np.inf)))

    def root_value(self, g: int) -> float:
        """The mean value of the root for seat 0."""
        return float(self.tree.value_sum[g, 0] / self.tree.visits[g, 0])

    def analysis(self, g: int, position: Position) -> Analysis:
        """What the search found in game `g`, whose root is `position`."""
        return from_tree(self.tree, g, position, self.raw_prior[g], dict(self.seconds), int(self.done[g]))


@kernel
def no_lead(states, leads):
    """Stands for the lead of a game that counts no points."""


play: Any = None  # these four stand for the game's kernels and the evaluator's; `specialise` fills them in
legal_moves: Any = None
lead: Any = None
evaluate: Any = None


def _native_rounds(
    rounds, tree, params, active, budgets, leaves, noise, schedule, done, leaf_game, leaf_node, leaf_action,
    leaf_states, leaf_bytes, leads, offsets, pending, asked, legal, priors, values, draws, rng,
):  # fmt: skip
    """Up to `rounds` rounds of select, play, add, evaluate and expand; return False if a number is not finite."""
    for _ in range(rounds):
        found = select(
            tree, params, active, budgets, leaves, noise, schedule, done, leaf_game, leaf_node, leaf_action, leaf_bytes
        )
        if found == 0:
            return True
        play(leaf_states[:found], leaf_action[:found])
        if params.margin:
            lead(leaf_states[:found], leads[:found])
        waiting = add_nodes(tree, params, leaves, found, leaf_game, leaf_node, leaf_bytes, leads, offsets, pending)
        if waiting == 0:
            continue
        for k in range(waiting):
            asked[k] = leaf_states[pending[k]]
        legal_moves(asked[:waiting], legal[:waiting])
        evaluate(asked[:waiting], legal[:waiting], priors[:waiting], values[:waiting], draws[:waiting], rng)
        if not expand(
            tree, leaves, pending[:waiting], leaf_game, leaf_node, legal[:waiting], priors[:waiting], values[:waiting],
            draws[:waiting],
        ):  # fmt: skip
            return False
    return True


def _params(search: Search, explore: Explore | None, room: int) -> trees.Params:
    visits = np.arange(room + 1)
    weights = np.full(room + 1, float(search.cpuct))
    if search.cpuct_base:
        weights += np.log((1 + visits + search.cpuct_base) / search.cpuct_base)
    return trees.Params(
        weights=weights * np.sqrt(visits),
        inverse=1 / np.maximum(1, np.arange(min(room, 4096) + 2)),
        fpu=float(search.fpu),
        fpu_relative=search.fpu_relative,
        draw_value=float(search.draw_value),
        forced_playouts=float(explore.forced_playouts) if explore is not None else 0.0,
        solve=search.solve,
        margin=search.margin,
        gumbel=search.gumbel > 0,
    )


@functools.cache
def halving_schedule(simulations: int, considered: int) -> np.ndarray:
    """Sequential halving as a list: how many visits the root action of each simulation has had before. int64 [simulations].

    With m actions left, each gets the same number of visits; then the better half stays. All phases get equal budgets.
    """
    if considered <= 1:
        return np.arange(simulations)
    phases = math.ceil(math.log2(considered))
    schedule: list[int] = []
    visits, left = 0, considered
    while len(schedule) < simulations:
        rounds = max(1, simulations // (phases * left))
        for _ in range(rounds):
            schedule += [visits] * left
            visits += 1
        left = max(2, left // 2)
    return np.array(schedule[:simulations])


def kl_divergence(before: np.ndarray, after: np.ndarray) -> float:
    """KL(before || after) in bits, for two distributions of visits over actions."""
    used = before > 0
    return float((before[used] * np.log2(before[used] / np.maximum(after[used], 1e-12))).sum())
