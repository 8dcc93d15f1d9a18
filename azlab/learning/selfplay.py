"""Self-play: many games at once, each searched by the same network, every finished game replaced by a new one at once.

The games are split over `workers` threads. Each has trees and an evaluator of its own, so that while one waits for its network
another searches: on a CPU this keeps all cores busy, on a GPU it overlaps search and network. What a worker plays depends on its
seed and its evaluator alone, never on how fast the others are.

Games go on from one iteration to the next: no batch runs empty at the end of an iteration. The unfinished games are a part of a
training's state (`unfinished`, `resume`).
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.games.game import Game
from azlab.games.packed import as_bytes, from_bytes
from azlab.learning.replay import Examples, joined, no_examples
from azlab.search.budget import NodeClock
from azlab.search.config import SearchConfig
from azlab.search.evaluators import Evaluator, cached
from azlab.search.puct import Searcher


@dataclass(frozen=True)
class SelfPlayConfig:
    """How games for training are played, beside the search itself."""

    games: int = 256
    # games played at once, by all workers together
    workers: int = 2
    # threads that play; 1 for nets that use all cores by themselves
    positions: int = 10_000
    # examples collected for an iteration
    count_new: bool = False
    # count only positions never seen before in this training (S5 section 3.6.1, with merged duplicates)
    random_plies: int = 0
    # up to so many random moves open each game; their positions are not learnt
    search_value: float = 0.0
    # share of the search's own value in the value target; the rest is the game's result
    bootstrap: float = 0.0
    # share by which a value target stops at the search of the next position, instead of going on towards the result; 0 is
    # AlphaZero, 1 learns from the next search alone (TD(lambda) with lambda = 1 - bootstrap)
    discount: float = 1.0
    # the result counts for less the farther away it is, by this factor a move; the rest becomes a draw. 1 is AlphaZero
    cache: int = 0
    # evaluations remembered by each worker within an iteration; 0 remembers none
    clock_start: int = 0
    # nodes for a whole game (S5 section 4.1: 4,650), for searches that stop by KL gain; 0 plays without a clock
    clock_per_turn: int = 50
    # nodes added for each turn
    flip_every_ply: bool = False
    # the mistake of source S3: treat every move as if the turn passed
    one_hot_from: int = -1
    # from this ply on the policy target is the move played and nothing else (the program of source S3: 3); -1 never
    first_player: str = ""
    # if given, an agent such as "uct:1000", whose games against itself are the examples of the first iteration (S3 section 5.1.1)
    first_games: int = 500
    # the number of those games

    def __post_init__(self) -> None:
        for name, low, high in (("games", 1, 10**6), ("workers", 1, 256), ("positions", 1, 10**9), ("random_plies", 0, 1000)):
            whole_number(name, getattr(self, name), low, high)
        for name in ("cache", "clock_start", "clock_per_turn"):
            whole_number(name, getattr(self, name), 0, 10**9)
        whole_number("one_hot_from", self.one_hot_from, -1, 10**6)
        whole_number("first_games", self.first_games, 1, 10**7)
        if not isinstance(self.first_player, str):
            raise AzlabError(f'first_player is the name of an agent, such as "uct:1000", not {self.first_player!r}.')
        for name in ("search_value", "bootstrap", "discount"):
            if not isinstance(getattr(self, name), int | float) or not 0 <= getattr(self, name) <= 1:
                raise AzlabError(f"{name} must lie between 0 and 1, not {getattr(self, name)!r}.")
        if self.bootstrap and self.discount != 1:
            raise AzlabError("Targets that bootstrap are not discounted too: leave `discount` at 1.")
        for name in ("count_new", "flip_every_ply"):
            one_of(name, getattr(self, name), (True, False))
        if self.workers > self.games:
            raise AzlabError(f"{self.workers} workers have too little to do with {self.games} games; use fewer workers.")


class Collected(NamedTuple):
    """What a stretch of self-play gave."""

    examples: Examples
    games: int  # finished
    moves: int  # played in all, in finished and unfinished games
    lengths: int  # plies of the finished games, summed
    wins: tuple[int, int, int]  # of seat 0, draws, of seat 1
    simulations: int
    seconds: float  # summed over workers
    network_seconds: float  # of those, inside the evaluator


class Worker:
    """One batch of games. `history` holds what is known of their moves so far; row k of game g is its k-th move."""

    def __init__(self, game: Game, games: int, evaluator: Evaluator, search: SearchConfig, config: SelfPlayConfig) -> None:
        self.game, self.games, self.config, self.search = game, games, config, search
        self.net = evaluator
        self.states = game.new_states(games)
        self.played = np.zeros(games, np.int64)  # rows of each game in the history
        shape = games, game.max_length
        self.history = {
            "states": np.zeros(shape, game.dtype),
            "policy": np.zeros((*shape, game.num_actions), np.float16),
            "search": np.zeros((*shape, 3), np.float32),  # what the search expects for seat 0: draw, win, loss
            "is_full": np.zeros(shape, np.bool_),  # worth learning from
        }
        self.clock = NodeClock(games, config.clock_start, config.clock_per_turn) if config.clock_start else None
        self._is_new = True

    def play(self, positions: int, seed: Sequence[int], stop: Event, report: Callable[[int], None] | None = None) -> Collected:
        """Play until finished games have given `positions` examples."""
        begin, rng = time.perf_counter(), np.random.default_rng(seed)
        evaluator = cached(self.net, self.config.cache) if self.config.cache else self.net
        searcher = Searcher(
            self.game, self.games, evaluator, self.search, int(rng.integers(2**62)), flip_every_ply=self.config.flip_every_ply
        )
        if self._is_new:
            self._open(np.arange(self.games), rng)
            self._is_new = False
        clock = self.clock
        searcher.start(self.states)
        parts: list[Examples] = []
        found, moves, lengths, simulations = 0, 0, 0, 0
        wins = [0, 0, 0]
        while found < positions and not stop.is_set():
            searcher.run(None if clock is None else clock.budgets(self.search.simulations))
            simulations += int(searcher.done.sum())
            if clock is not None:
                clock.spend(searcher.done)
            over = self._move(searcher)
            moves += self.games
            before = found
            for g in over:
                parts.append(self._finish(g))
                found += parts[-1].size
                lengths += int(self.states["ply"][g])
                wins[1 - int(self.states["result"][g])] += 1
            self._open(over, rng)
            if clock is not None:
                clock.reset(over)
            self._go_on(searcher, over)
            if report is not None and found > before:
                report(found - before)
        seconds = time.perf_counter() - begin
        return Collected(
            joined(self.game, parts), sum(wins), moves, lengths, (wins[0], wins[1], wins[2]), simulations, seconds,
            searcher.seconds["evaluator"],
        )  # fmt: skip

    def _move(self, searcher: Searcher) -> np.ndarray:
        """Write down what the searches found, play their moves, and return the games that ended."""
        actions = np.empty(self.games, np.int64)
        rows = np.arange(self.games), self.played
        policy, search = searcher.policies(), searcher.root_results()
        for g in range(self.games):
            actions[g] = searcher.choose(g, int(self.states["ply"][g]))
        make_one_hot(policy, actions, self.states["ply"], self.config.one_hot_from)
        self.history["states"][rows] = self.states
        self.history["policy"][rows] = policy
        self.history["search"][rows] = search
        self.history["is_full"][rows] = searcher.is_full
        self.played += 1
        self._actions = actions
        self.game.kernels.play(self.states, actions)
        return np.flatnonzero(self.states["over"])

    def _go_on(self, searcher: Searcher, opened: np.ndarray) -> None:
        """Move the trees on to the next positions; games just opened get new ones."""
        if not self.search.reuse_tree:
            searcher.start(self.states)
            return
        going = np.setdiff1d(np.arange(self.games), opened)
        if len(going):
            searcher.advance(self._actions[going], going)
        if len(opened):
            searcher.start(self.states[opened], opened)

    def _open(self, games: np.ndarray, rng: np.random.Generator) -> None:
        """Put new games in these places, after random moves if the config says so."""
        self.played[games] = 0
        self.states[games] = self.game.new_states(max(1, len(games)))[: len(games)]
        if not self.config.random_plies:
            return
        left = rng.integers(0, self.config.random_plies + 1, len(games))
        while len(games := games[left > 0]):
            left = left[left > 0] - 1
            states = self.states[games]
            self.game.kernels.play(states, self.game.random_actions(states, rng))
            self.states[games[~states["over"]]] = states[~states["over"]]  # a move that ends the game is not played
            left[states["over"]] = 0

    def _finish(self, g: int) -> Examples:
        """The examples of a finished game."""
        count = int(self.played[g])
        states, policy, search, is_full = (self.history[name][g, :count] for name in ("states", "policy", "search", "is_full"))
        if self.search.margin:
            result = self._rest(g, states, search[:, 1] - search[:, 2])
            states, turns = self.game.normal_form(states)
            turned = np.empty_like(policy)
            np.put_along_axis(turned, turns, policy, axis=1)
            return Examples(states[is_full], turned[is_full], result[is_full], np.zeros_like(policy[is_full]))
        outcome = np.zeros(3, np.float32)
        outcome[[0, 1, 2][int(self.states["result"][g])]] = 1  # draw, win, loss of seat 0; -1 is the last
        nearness = np.float32(self.config.discount) ** np.arange(count - 1, -1, -1, dtype=np.float32)[:, None]
        result = nearness * outcome + (1 - nearness) * np.array([1, 0, 0], np.float32)
        result = self._target(result, search)
        is_second = states["to_move"] == 1
        result[is_second] = result[is_second][:, [0, 2, 1]]
        reply = np.zeros_like(policy)
        answered = is_full[1:] & (states["to_move"][1:] != states["to_move"][:-1])
        reply[:-1][answered] = policy[1:][answered]
        return Examples(states[is_full], policy[is_full], result[is_full].astype(np.float32), reply[is_full])

    def _target(self, results: np.ndarray, searched: np.ndarray) -> np.ndarray:
        """What the network learns of each move of a game, from its result and what the searches expected; both [moves, ...]."""
        share, targets = self.config.bootstrap, results.copy()
        if share:
            for k in range(len(targets) - 2, -1, -1):  # from the end: what follows is known
                targets[k] = (1 - share) * targets[k + 1] + share * searched[k + 1]
        return (1 - self.config.search_value) * targets + self.config.search_value * searched

    def _rest(self, g: int, states: np.ndarray, searched: np.ndarray) -> np.ndarray:
        """What the mover made of the rest of the game, as chances of winning and losing that differ by it: float32 [moves, 3]."""
        leads, final = np.empty(len(states)), np.empty(1)
        self.game.kernels.lead(states, leads)  # type: ignore[misc]
        self.game.kernels.lead(self.states[g : g + 1], final)  # type: ignore[misc]
        expected = self._target(np.repeat(final, len(states)), searched)
        rest = np.where(states["to_move"] == 0, expected - leads, leads - expected)
        return np.stack([np.zeros_like(rest), (1 + rest) / 2, (1 - rest) / 2], axis=1).astype(np.float32)

    # --- the state of the unfinished games ------------------------------------------------------------------------

    def unfinished(self) -> dict[str, np.ndarray]:
        """All there is to know to go on with the games: arrays of numbers and bytes."""
        used = np.arange(self.game.max_length) < self.played[:, None]
        kept = {name: array[used] for name, array in self.history.items()}
        kept["states"] = as_bytes(kept["states"])
        if self.clock is not None:
            kept["clock"] = self.clock.left
        return {"now": as_bytes(self.states), "played": self.played, "is_new": np.array(self._is_new), **kept}

    def resume(self, kept: dict[str, np.ndarray]) -> None:
        """Take over what `unfinished` gave."""
        self.states = from_bytes(kept["now"], self.game.dtype).copy()
        self.played = kept["played"].copy()
        used = np.arange(self.game.max_length) < self.played[:, None]
        states = from_bytes(kept["states"], self.game.dtype)
        for name, array in self.history.items():
            array[used] = states if name == "states" else kept[name]
        if self.clock is not None:
            self.clock.left = kept["clock"].copy()
        self._is_new = bool(kept.get("is_new", False))  # the first iteration may have had no self-play


def make_one_hot(policy: np.ndarray, actions: np.ndarray, plies: np.ndarray, start: int) -> None:
    """From ply `start` on, replace policy targets [B, A] by the moves played; a negative `start` leaves all as they are."""
    if start >= 0:
        late = plies >= start
        policy[late] = np.arange(policy.shape[1]) == actions[late, None]


class SelfPlay:
    """All workers. `evaluators` gives one evaluator a worker."""

    def __init__(self, game: Game, evaluators: Sequence[Any], search: SearchConfig, config: SelfPlayConfig) -> None:
        self.game, self.config = game, config
        shares = [len(part) for part in np.array_split(np.arange(config.games), len(evaluators))]
        if search.kl_threshold == 0 and config.clock_start:
            raise AzlabError("A node clock saves nodes only where searches stop by KL gain: set kl_threshold too.")
        if search.margin and config.discount != 1:
            raise AzlabError("With a margin to play for, results are not discounted: leave `discount` at 1.")
        search = replace(search, leaves=1)  # many games fill a batch by themselves
        self.workers = [Worker(game, share, net, search, config) for share, net in zip(shares, evaluators, strict=True)]

    def play(self, positions: int, seed: Sequence[int], progress: Callable[[int], None] | None = None) -> Collected:
        """Play on until about `positions` examples are there; Ctrl-C stops all workers and is raised again."""
        stop = Event()
        quota = -(-positions // len(self.workers))
        if len(self.workers) == 1:
            return self.workers[0].play(quota, [*seed, 0], stop, progress)
        with ThreadPoolExecutor(len(self.workers)) as pool:
            futures = [pool.submit(worker.play, quota, [*seed, k], stop, progress) for k, worker in enumerate(self.workers)]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                stop.set()  # where one failed or Ctrl-C came, the others need not go on
            return together(self.game, [future.result() for future in futures])


def together(game: Game, parts: Sequence[Collected]) -> Collected:
    """Several stretches of self-play as one."""
    wins = [sum(part.wins[k] for part in parts) for k in range(3)]
    totals = {name: sum(getattr(part, name) for part in parts) for name in Collected._fields if name not in ("examples", "wins")}
    return Collected(examples=joined(game, [part.examples for part in parts]), wins=(wins[0], wins[1], wins[2]), **totals)


def nothing_collected(game: Game) -> Collected:
    """The start of a sum."""
    return Collected(no_examples(game), 0, 0, 0, (0, 0, 0), 0, 0.0, 0.0)
