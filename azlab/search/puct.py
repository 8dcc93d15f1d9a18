"""PUCT: the search of AlphaZero, for many games at once, with any evaluator. The variants are settings of `SearchConfig`."""

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Game, Position
from azlab.games.kernel import kernel, specialise
from azlab.search import tree as trees
from azlab.search.analysis import Analysis, from_tree
from azlab.search.budget import draw_budgets
from azlab.search.config import SearchConfig
from azlab.search.evaluators import Evaluator, checked
from azlab.search.tree import add_nodes, expand, select


def puct(
    positions: Position | Sequence[Position] | np.ndarray,
    evaluator: Evaluator,
    config: SearchConfig | None = None,
    *,
    game: Game | None = None,
    seed: int = 0,
) -> "Analysis | list[Analysis]":
    """Search one position, or a list of positions of one game, or an array of states (then say which `game`)."""
    config = config or SearchConfig()
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
    search = Searcher(listed[0].game, len(listed), evaluator, config, seed)
    search.start(np.concatenate([position.state for position in listed]))
    search.run()
    found = [search.analysis(g, position) for g, position in enumerate(listed)]
    return found[0] if one else found


EQUAL_SHARE = 0.25  # part of equal chances in drawn visits, the program's share of root noise (source S3)
NOT_FINITE = "The evaluator returned a number that is infinite or not a number; look at its training."


class Searcher:
    """A batch of searches that goes on from move to move: `start`, `run`, `advance`, `run`, ...

    `done` [G] counts the simulations of the current move, `seconds` where the time went.
    """

    def __init__(
        self, game: Game, games: int, evaluator: Evaluator, config: SearchConfig, seed: int = 0, flip_every_ply: bool = False
    ):
        if not hasattr(evaluator, "evaluate"):
            raise AzlabError(f"An evaluator has a method evaluate(states, legal); {evaluator!r} has none.")
        if config.margin and game.kernels.lead is None:
            raise AzlabError(f"{game.name} counts no points, so there is no margin to play for.")
        self.game, self.games, self.evaluator, self.config = game, games, evaluator, config
        self.rng = np.random.default_rng(seed)
        room = config.room(game.max_length)
        self.tree = trees.new_tree(game, games, room)
        self.params = _params(config, room, flip_every_ply)
        self.done = np.zeros(games, np.int64)
        self._cursor = np.zeros(games, np.int64)  # the node where each simulation begins: with `to_the_end` where it goes on
        self.raw_prior = np.zeros((games, game.num_actions), np.float32)  # of the root, before noise
        self.noise = np.zeros((games, game.num_actions), np.float64)
        self.is_full = np.ones(games, np.bool_)
        self.is_drawn = np.zeros(games, np.bool_)  # the root is before ply `drawn_plies`: not searched
        self._drawn = np.zeros((games, game.num_actions), np.int64)  # visits of such roots
        self.seconds = {"search": 0.0, "evaluator": 0.0}
        self._schedule = np.zeros((games, 1), np.int64)
        self._offsets = trees.offsets(game)
        rows = games * config.leaves
        self._leaf_game = np.zeros(rows, np.int64)
        self._leaf_node = np.zeros(rows, np.int64)
        self._leaf_action = np.zeros(rows, np.int64)
        self._leaf_states = np.zeros(rows, game.dtype)
        self._leaf_bytes = self._leaf_states.view(np.uint8).reshape(rows, -1)
        self._leads = np.zeros(rows, np.float32)
        self._pending = np.zeros(rows, np.int64)

    # --- roots ------------------------------------------------------------------------------------------------

    def start(self, states: np.ndarray, games: np.ndarray | None = None) -> None:
        """Begin new trees at `states`, for all games or for the given ones; no state may be over."""
        games = np.arange(self.games) if games is None else np.ascontiguousarray(games, np.int64)
        if states["over"].any():
            raise AzlabError("A position to search is over; there is no move to look for.")
        states = np.ascontiguousarray(states)
        trees.set_roots(self.tree, games, states.view(np.uint8).reshape(len(states), -1), self._offsets)
        self._evaluate(states, games, np.zeros(len(games), np.int64), np.arange(len(games)), leaves=1)
        self._prepare(games)

    def advance(self, actions: np.ndarray, games: np.ndarray | None = None) -> None:
        """Play an action in all games, or in the given ones; with `reuse_tree` the part of the tree below is kept.

        No game may end by it: a finished game is left out here and begun anew by `start`.
        """
        games = np.arange(self.games) if games is None else np.asarray(games)
        states = self.root_states()[games]
        self.game.kernels.play(states, np.ascontiguousarray(actions, np.int64))
        is_kept = np.zeros(len(games), np.bool_)
        if self.config.reuse_tree:
            is_kept[:] = [trees.advance(self.tree, g, action) for g, action in zip(games, actions, strict=True)]
        if not is_kept.all():
            self.start(states[~is_kept], games[~is_kept])
        if is_kept.any():
            self._prepare(games[is_kept])

    def root_states(self) -> np.ndarray:
        """The states at the roots: an array of G records."""
        return np.ascontiguousarray(self.tree.state[:, 0]).view(self.game.dtype).reshape(-1)

    def _prepare(self, games: np.ndarray) -> None:
        """Noise and counters for a new move."""
        self.done[games] = 0
        self._cursor[games] = 0
        legal = self.tree.children[games, 0] != trees.ILLEGAL
        prior = self.tree.prior[games, 0]
        self.raw_prior[games] = prior
        config = self.config
        if config.drawn_plies:
            self.is_drawn[games] = self.root_states()["ply"][games] < config.drawn_plies
            self._drawn[games] = 0
        if config.gumbel:
            self.noise[games] = self.rng.gumbel(size=prior.shape)
        elif config.noise:
            for k, g in enumerate(games):
                moves = np.flatnonzero(legal[k])
                alpha = config.noise_alpha_base / len(moves) if config.noise_alpha_base else config.noise_alpha
                drawn = self.rng.dirichlet(np.full(len(moves), alpha))
                self.tree.prior[g, 0, moves] = (1 - config.noise) * prior[k, moves] + config.noise * drawn

    # --- simulations ------------------------------------------------------------------------------------------

    def run(self, budget: np.ndarray | int | None = None, games: np.ndarray | None = None) -> None:
        """Simulate until each game has `budget` simulations or its search is decided.

        Without a budget the config's playout cap draws it; `is_full` [G] then tells the full searches.
        """
        if budget is None:
            budgets, self.is_full = draw_budgets(self.config, self.games, self.rng)
        else:
            budgets, self.is_full = np.full(self.games, budget, np.int64), np.ones(self.games, np.bool_)
        if budgets.max() > self.config.simulations:
            raise AzlabError(f"The trees have room for {self.config.simulations} simulations, not {budgets.max()}.")
        active = np.arange(self.games) if games is None else np.ascontiguousarray(games, np.int64)
        if self.is_drawn.any():
            self._draw(budgets, active[self.is_drawn[active]])
            active = active[~self.is_drawn[active]]
        if self.config.gumbel:
            self._schedule = np.zeros((self.games, int(budgets.max())), np.int64)
            legal = (self.tree.children[:, 0] != trees.ILLEGAL).sum(axis=1)
            for g in active:
                considered = min(self.config.gumbel, int(legal[g]))
                self._schedule[g, : budgets[g]] = halving_schedule(int(budgets[g]), considered)
        if self.config.kl_threshold:
            self._run_while_gaining(budgets, active)
        else:
            self._run_to(budgets, active)

    def _draw(self, budgets: np.ndarray, games: np.ndarray) -> None:
        """Draw the visits of roots that are not searched.

        S3's program descends at random in its training mode, and mixes into the priors the mean of a Dirichlet distribution,
        which is the same for all moves. It counts the new nodes of each descent, so that its shares are a little flatter.
        """
        for g in games:
            legal = self.tree.children[g, 0] != trees.ILLEGAL
            prior = self.tree.prior[g, 0].astype(np.float64)
            chances = (1 - EQUAL_SHARE) * prior / max(prior.sum(), 1e-30) + EQUAL_SHARE * legal / legal.sum()
            self._drawn[g] += self.rng.multinomial(max(0, budgets[g] - self.done[g]), chances / chances.sum())
            self.done[g] = max(self.done[g], budgets[g])

    def _run_to(self, budgets: np.ndarray, active: np.ndarray) -> None:
        if getattr(self.evaluator, "native", None) is not None and len(active):
            self._run_natively(budgets, active)
            return
        leaves = self.config.leaves
        tree, params = self.tree, self.params
        while len(active):
            begin = time.perf_counter()
            found = trees.select(
                tree, params, active, budgets, leaves, self.noise, self._schedule, self.done, self._cursor,
                self._leaf_game, self._leaf_node, self._leaf_action, self._leaf_bytes,
            )  # fmt: skip
            if found:
                self.game.kernels.play(self._leaf_states[:found], self._leaf_action[:found])
                if params.margin:
                    self.game.kernels.lead(self._leaf_states[:found], self._leads[:found])  # type: ignore[misc]
                waiting = trees.add_nodes(
                    tree, params, leaves, found, self.done, self._cursor, self._leaf_game, self._leaf_node, self._leaf_bytes,
                    self._leads, self._offsets, self._pending,
                )  # fmt: skip
                self.seconds["search"] += time.perf_counter() - begin
                if waiting:
                    pending = self._pending[:waiting]
                    self._evaluate(self._leaf_states, self._leaf_game, self._leaf_node, pending, leaves)
            else:
                self.seconds["search"] += time.perf_counter() - begin
            if found < len(active) * leaves:  # some tree had nothing to do: it may be finished
                active = active[~self._is_decided(active, budgets)]

    def _run_natively(self, budgets: np.ndarray, active: np.ndarray) -> None:
        """As `_run_to`, for an evaluator that is a kernel: whole rounds in compiled code, with pauses for Ctrl-C."""
        begin = time.perf_counter()
        kernels, rows, actions = self.game.kernels, len(self._leaf_game), self.game.num_actions
        parts = {"play": kernels.play, "legal_moves": kernels.legal, "lead": kernels.lead or no_lead}
        loop = specialise(_native_rounds, **parts, evaluate=self.evaluator.native)  # type: ignore[attr-defined]
        scratch = (
            np.zeros(rows, self.game.dtype), np.zeros((rows, actions), np.bool_), np.zeros((rows, actions), np.float32),
            np.zeros(rows, np.float32), np.zeros(rows, np.float32), self.rng.integers(1, 2**64, 1, np.uint64),
        )  # fmt: skip
        rounds = max(1, 100_000 // rows)
        while len(active):
            is_finite = loop(
                rounds, self.tree, self.params, active, budgets, self.config.leaves, self.noise, self._schedule, self.done,
                self._cursor, self._leaf_game, self._leaf_node, self._leaf_action, self._leaf_states, self._leaf_bytes,
                self._leads, self._offsets, self._pending, *scratch,
            )  # fmt: skip
            if not is_finite:
                raise AzlabError(NOT_FINITE)
            active = active[~self._is_decided(active, budgets)]
        self.seconds["search"] += time.perf_counter() - begin

    def _is_decided(self, games: np.ndarray, budgets: np.ndarray) -> np.ndarray:
        proven = self.tree.proven[games, 0] != trees.UNPROVEN
        return (self.done[games] >= budgets[games]) | (proven if self.config.solve else False)

    def _evaluate(self, states: np.ndarray, games: np.ndarray, nodes: np.ndarray, rows: np.ndarray, leaves: int) -> None:
        """Ask the evaluator about `states[rows]` and expand their nodes."""
        begin = time.perf_counter()
        asked = states[: len(rows)] if rows[-1] == len(rows) - 1 else states[rows]  # mostly all of them: no copy
        legal = self.game.legal_mask(asked)
        middle = time.perf_counter()
        parts = self.evaluator.evaluate(asked, legal)
        end = time.perf_counter()
        priors, values, draws = checked(parts, len(rows), self.game.num_actions)
        state_bytes = states.view(np.uint8).reshape(len(states), -1)
        is_finite = trees.expand(
            self.tree, self.params, leaves, rows, games, nodes, state_bytes, self._offsets, legal, priors, values, draws
        )
        if not is_finite:
            raise AzlabError(NOT_FINITE)
        self.seconds["evaluator"] += end - middle
        self.seconds["search"] += middle - begin + time.perf_counter() - end

    def _run_while_gaining(self, budgets: np.ndarray, active: np.ndarray) -> None:
        """KL-gain stopping (S5 section 4.1): a tree grows by `kl_step` while the last step still changed its visits."""
        before = np.zeros((self.games, self.game.num_actions))
        while len(active):
            target = np.minimum(budgets, self.done + self.config.kl_step)
            self._run_to(target, active)
            going = []
            for g in active:
                after = self.root_visits(g) / max(1, self.root_visits(g).sum())
                gain = kl_divergence(before[g], after) if before[g].any() else math.inf
                before[g] = after
                if gain > self.config.kl_threshold and self.done[g] < budgets[g]:
                    going.append(g)
            active = np.array(going, np.int64)
            active = active[~self._is_decided(active, budgets)]

    # --- results ----------------------------------------------------------------------------------------------

    def root_visits(self, g: int) -> np.ndarray:
        """Visits of the actions at the root of game `g`: int64 [A]."""
        if self.is_drawn[g]:
            return self._drawn[g].copy()
        children = self.tree.children[g, 0]
        return np.where(children >= 0, self.tree.visits[g, np.maximum(children, 0)], 0).astype(np.int64)

    def policy(self, g: int) -> np.ndarray:
        """What the search teaches a network: float64 [A], the shares of the visits, or the improved policy of Gumbel search."""
        if self.config.gumbel:
            scores = np.empty(self.game.num_actions)
            trees.completed_scores(self.tree, g, 0, self.params, scores)
            shares = np.exp(scores - scores.max())
            return shares / shares.sum()
        visits = self.root_visits(g).astype(np.float64)
        if self.config.forced_playouts and not self.is_drawn[g]:
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
        if self.config.gumbel:
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
        """The action to play in game `g`: a proven win, else by the config's temperature, proven losses only if all lose."""
        children = self.tree.children[g, 0]
        sign = 1 - 2 * int(self.tree.to_move[g, 0])
        results = np.where(children >= 0, self.tree.proven[g, np.maximum(children, 0)], trees.UNPROVEN)
        if self.config.solve and (results == sign).any():
            return int(np.argmax(results == sign))
        if self.config.gumbel:
            return self._choose_gumbel(g)
        visits = self.policy(g)
        if self.config.solve and visits[results != -sign].any():
            visits = np.where(results == -sign, 0.0, visits)
        temperature = 0.0 if self.is_drawn[g] else self.config.temperature_at(ply)  # drawn visits are random enough
        if temperature == 0 and self.config.random_ties:
            return int(self.rng.choice(np.flatnonzero(visits == visits.max())))
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
        found = from_tree(self.tree, g, position, self.raw_prior[g], dict(self.seconds), int(self.done[g]))
        if self.is_drawn[g]:
            visits = self.root_visits(g)
            found = replace(found, visits=visits, line=[self.game.move_name(int(np.argmax(visits)))])
        return found


@kernel
def no_lead(states, leads):
    """Stands for the lead of a game that counts no points."""


play: Any = None  # these four stand for the game's kernels and the evaluator's; `specialise` fills them in
legal_moves: Any = None
lead: Any = None
evaluate: Any = None


def _native_rounds(
    rounds, tree, params, active, budgets, leaves, noise, schedule, done, cursor, leaf_game, leaf_node, leaf_action,
    leaf_states, leaf_bytes, leads, offsets, pending, asked, legal, priors, values, draws, rng,
):  # fmt: skip
    """Up to `rounds` rounds of select, play, add, evaluate and expand; return False if a number is not finite."""
    for _ in range(rounds):
        found = select(
            tree, params, active, budgets, leaves, noise, schedule, done, cursor, leaf_game, leaf_node, leaf_action, leaf_bytes
        )
        if found == 0:
            return True
        play(leaf_states[:found], leaf_action[:found])
        if params.margin:
            lead(leaf_states[:found], leads[:found])
        waiting = add_nodes(tree, params, leaves, found, done, cursor, leaf_game, leaf_node, leaf_bytes, leads, offsets, pending)
        if waiting == 0:
            continue
        for k in range(waiting):
            asked[k] = leaf_states[pending[k]]
        legal_moves(asked[:waiting], legal[:waiting])
        evaluate(asked[:waiting], legal[:waiting], priors[:waiting], values[:waiting], draws[:waiting], rng)
        if not expand(
            tree, params, leaves, pending[:waiting], leaf_game, leaf_node, leaf_bytes, offsets, legal[:waiting],
            priors[:waiting], values[:waiting], draws[:waiting],
        ):  # fmt: skip
            return False
    return True


def _params(config: SearchConfig, room: int, flip_every_ply: bool) -> trees.Params:
    visits = np.arange(room + 1)
    weights = np.full(room + 1, float(config.cpuct))
    if config.cpuct_base:
        weights += np.log((1 + visits + config.cpuct_base) / config.cpuct_base)
    double = 2.0 if config.unit_values else 1.0  # Q in [-1, 1] is twice as wide as in [0, 1], so U must be too
    fpu = config.fpu * double if config.fpu_relative else config.signed(config.fpu)
    return trees.Params(
        weights=double * weights * np.sqrt(visits),
        inverse=1 / np.maximum(1, np.arange(min(room, 4096) + 2)),
        fpu=float(fpu),
        fpu_relative=config.fpu_relative,
        draw_value=float(config.signed(config.draw_value)),
        forced_playouts=float(config.forced_playouts),
        solve=config.solve,
        margin=config.margin,
        flip_every_ply=flip_every_ply,
        gumbel=config.gumbel > 0,
        gumbel_visit_offset=float(config.gumbel_visit_offset),
        gumbel_value_scale=float(config.gumbel_value_scale),
        root_values_only=config.root_values_only,
        to_the_end=config.to_the_end,
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
