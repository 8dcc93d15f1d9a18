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
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.games.game import Game
from azlab.games.packed import as_bytes, from_bytes
from azlab.intact import check_arrays
from azlab.learning.horizon import chances
from azlab.learning.parts import Parts
from azlab.learning.recording import Recording, outcomes
from azlab.learning.window import Examples, joined, no_examples
from azlab.search.budget import NodeClock
from azlab.search.config import Budget, Explore, Search, as_budget
from azlab.search.evaluators import Evaluator, cached, checked
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
    # count only positions that are not in the window; goes with merged duplicates
    random_plies: int = 0
    # up to so many random moves open each game; their positions are not learnt
    random_least: int = 0
    # but at least so many; as many as random_plies, and every game begins there: 24 and 24 are the full boards of Seega
    search_value: float = 0.0
    # share of the search's own value in the value target; the rest is the game's result
    bootstrap: float = 0.0
    # share by which a value target stops at the search of the next position, instead of going on towards the result; 0 is
    # AlphaZero, 1 learns from the next search alone (TD(lambda) with lambda = 1 - bootstrap)
    discount: float = 1.0
    # the result counts for less the farther away it is, by this factor a move; the rest becomes a draw. 1 is AlphaZero
    cache: int = 0
    # evaluations remembered by each worker within an iteration; 0 remembers none
    reuse_tree: bool = False
    # a search goes on with the part of the last one's tree below the move played
    at_horizon: str = "sign"
    # with a horizon, what a game that ends there counts: won or lost by the "sign" of the judge's value (S4), or that "value"

    def __post_init__(self) -> None:
        for name, low, high in (("games", 1, 10**6), ("workers", 1, 256), ("positions", 1, 10**9), ("random_plies", 0, 1000)):
            whole_number(name, getattr(self, name), low, high)
        whole_number("random_least", self.random_least, 0, 1000)
        if self.random_least > self.random_plies:
            raise AzlabError(f"random_least is {self.random_least}, more than random_plies, {self.random_plies}: raise that too.")
        one_of("at_horizon", self.at_horizon, ("sign", "value"))
        whole_number("cache", self.cache, 0, 10**9)
        for name in ("search_value", "bootstrap", "discount"):
            if not isinstance(getattr(self, name), int | float) or not 0 <= getattr(self, name) <= 1:
                raise AzlabError(f"{name} must lie between 0 and 1, not {getattr(self, name)!r}.")
        if self.bootstrap and self.discount != 1:
            raise AzlabError("Targets that bootstrap are not discounted too: leave `discount` at 1.")
        for name in ("count_new", "reuse_tree"):
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
    searches: int = 0
    evaluations: int = 0  # asked for: simulations and roots; a simulation that meets the end of the game counts too
    computed: int = 0  # of those, by the evaluator: neither remembered nor the end of a game


class Worker:
    """One batch of games, played on from call to call of `play`."""

    def __init__(
        self,
        game: Game,
        games: int,
        evaluator: Evaluator,
        search: Search,
        budget: Budget,
        explore: Explore | None,
        config: SelfPlayConfig,
        parts: Parts | None = None,
    ) -> None:
        self.game, self.games, self.config, self.parts = game, games, config, parts or Parts()
        self.search, self.budget, self.explore = search, budget, explore
        self.net = evaluator
        self.states = game.new_states(games)
        self.recording = Recording(game, games, search.margin)
        self.clock = NodeClock(games, *budget.clock) if budget.clock else None
        self._is_new = True

    def play(self, positions: int, seed: Sequence[int], stop: Event, report: Callable[[int], None] | None = None) -> Collected:
        """Play until finished games have given `positions` examples."""
        begin, rng = time.perf_counter(), np.random.default_rng(seed)
        searcher = self._searcher(int(rng.integers(2**62)))
        if self._is_new:
            self._open(np.arange(self.games), rng)
            self._is_new = False
        clock = self.clock
        searcher.start(self.states)
        parts: list[Examples] = []
        found, moves, lengths, simulations = 0, 0, 0, 0
        wins = [0, 0, 0]
        while not stop.is_set():
            searcher.run(None if clock is None else clock.budgets(self.budget.simulations, self.states["to_move"]))
            simulations += int(searcher.done.sum())
            if clock is not None:
                clock.spend(searcher.done, self.states["to_move"])
            actions, over = self._move(searcher)
            moves += self.games
            before = found
            for g, outcome in zip(over, self._outcomes(over, searcher), strict=True):
                played = self.recording.finished(g, self.states[g : g + 1], outcome)
                parts.append(self.parts.targets(played, self.config))
                found += parts[-1].size
                lengths += int(self.states["ply"][g])
                wins[(1, 0, 2)[int(outcome.argmax())]] += 1
            self._open(over, rng)
            if clock is not None:
                clock.reset(over)
            if report is not None and found > before:
                report(found - before)
            if found >= positions:
                break
            self._go_on(searcher, actions, over)
        seconds = time.perf_counter() - begin
        computed = getattr(searcher.evaluator, "misses", searcher.asked) if self.config.cache else searcher.asked
        return Collected(
            joined(self.game, parts), sum(wins), moves, lengths, (wins[0], wins[1], wins[2]), simulations, seconds,
            searcher.seconds["evaluator"], moves, simulations + searcher.roots, computed,
        )  # fmt: skip

    def _searcher(self, seed: int) -> Searcher:
        evaluator = cached(self.net, self.config.cache) if self.config.cache else self.net
        settings = self.search, self.budget, self.explore
        return self.parts.searcher(self.game, self.games, evaluator, *settings, seed, reuse_tree=self.config.reuse_tree)

    def _move(self, searcher: Searcher) -> tuple[np.ndarray, np.ndarray]:
        """Write down what the searches found and play their moves; return these and the games that ended."""
        actions = np.empty(self.games, np.int64)
        policy, search = searcher.policies(), searcher.root_results()
        for g in range(self.games):
            actions[g] = searcher.choose(g, int(self.states["ply"][g]))
        self.recording.add(states=self.states, actions=actions, policy=policy, search=search, is_full=searcher.is_full)
        self.game.kernels.play(self.states, actions)
        return actions, np.flatnonzero(self._is_ended(self.states))

    def _is_ended(self, states: np.ndarray) -> np.ndarray:
        """Which games are not searched any more: bool [B]."""
        return states["over"] | self.game.at_horizon(states) if self.search.horizon else states["over"]

    def _outcomes(self, ended: np.ndarray, searcher: Searcher) -> np.ndarray:
        """Draw, win or loss of seat 0 in the games that ended, float32 [B, 3]; at a horizon the evaluator is the judge."""
        found = outcomes(self.states[ended])
        at_horizon = np.flatnonzero(~self.states["over"][ended])
        if len(at_horizon):
            states = self.states[ended[at_horizon]]
            answers = searcher.evaluator.evaluate(states, self.game.legal_mask(states))
            _, values, draws = checked(answers, len(states), self.game.num_actions)
            found[at_horizon] = chances(values, draws, self.config.at_horizon)
        return found

    def _go_on(self, searcher: Searcher, actions: np.ndarray, opened: np.ndarray) -> None:
        """Move the trees on to the next positions; games just opened get new ones."""
        if not self.config.reuse_tree:
            searcher.start(self.states)
            return
        going = np.setdiff1d(np.arange(self.games), opened)
        if len(going):
            searcher.advance(actions[going], going)
        if len(opened):
            searcher.start(self.states[opened], opened)

    def _open(self, games: np.ndarray, rng: np.random.Generator) -> None:
        """Put new games in these places, after random moves if the config says so."""
        self.recording.clear(games)
        self.states[games] = self.game.new_states(max(1, len(games)))[: len(games)]
        if not self.config.random_plies:
            return
        left = rng.integers(self.config.random_least, self.config.random_plies + 1, len(games))
        while len(games := games[left > 0]):
            left = left[left > 0] - 1
            states = self.states[games]
            self.game.kernels.play(states, self.game.random_actions(states, rng))
            is_ended = self._is_ended(states)
            self.states[games[~is_ended]] = states[~is_ended]  # a move that ends the game is not played
            left[is_ended] = 0

    # --- the state of the unfinished games ------------------------------------------------------------------------

    def unfinished(self) -> dict[str, np.ndarray]:
        """All there is to know to go on with the games: arrays of numbers and bytes."""
        kept = {"now": as_bytes(self.states), "is_new": np.array(self._is_new), **self.recording.unfinished()}
        return kept if self.clock is None else kept | {"clock": self.clock.left}

    @property
    def most_bytes(self) -> int:
        """The largest size of what `unfinished` gives."""
        return self.states.nbytes + sum(array.nbytes for array in self.recording.moves.values()) + 100 * self.games + 1000

    def resume(self, kept: dict[str, np.ndarray], file: Path = Path("games.npz")) -> None:
        """Take over what `unfinished` gave; `file` is where it was kept, for what is said if it is damaged."""
        size = self.game.dtype.itemsize
        wanted = {name: (array.dtype, ("rows", *array.shape[2:])) for name, array in self.recording.moves.items()}
        wanted |= {"states": (np.dtype(np.uint8), ("rows", size)), "now": (np.dtype(np.uint8), (self.games, size))}
        wanted |= {"played": (np.dtype(np.int64), (self.games,)), "is_new": (np.dtype(np.bool_), ())}
        if self.clock is not None:
            wanted["clock"] = self.clock.left.dtype, self.clock.left.shape
            if kept.get("clock", self.clock.left).ndim == 1:  # version 0.2 had one clock for both
                kept = kept | {"clock": np.stack([kept["clock"]] * 2, axis=1)}
        check_arrays(file, kept, wanted, optional=("is_new", "actions"))  # older versions did not write these
        played = kept["played"]
        if (played < 0).any() or (played > self.game.max_length).any() or played.sum() != len(kept["states"]):
            raise AzlabError(f"{file} is damaged: its numbers of moves do not fit its games. Use another copy.")
        try:
            now, states = from_bytes(kept["now"], self.game), from_bytes(kept["states"], self.game)
        except AzlabError as error:
            raise AzlabError(f"{file} does not hold unfinished games: {str(error).rstrip('.')}. Use another copy.") from None
        if now["over"].any() or states["over"].any() or (played > now["ply"]).any():
            raise AzlabError(f"{file} is damaged: its games are over, or shorter than what was played. Use another copy.")
        self.states = now.copy()
        self.recording.resume(kept | {"states": states})
        if self.clock is not None:
            self.clock.left = kept["clock"].copy()
        self._is_new = bool(np.any(kept.get("is_new", False)))  # the first iteration may have had no self-play


class SelfPlay:
    """All workers. `evaluators` gives one evaluator a worker."""

    def __init__(
        self,
        game: Game,
        evaluators: Sequence[Any],
        search: Search,
        budget: Budget | int,
        explore: Explore | None,
        config: SelfPlayConfig,
        parts: Parts | None = None,
    ) -> None:
        self.game, self.config = game, config
        if search.margin and config.discount != 1:
            raise AzlabError("With a margin to play for, results are not discounted: leave `discount` at 1.")
        if search.horizon:
            game.at_horizon(game.new_states(1))  # a sentence where the game has none
        shares = [len(part) for part in np.array_split(np.arange(config.games), len(evaluators))]
        settings = search, as_budget(budget), explore, config, parts
        self.workers = [Worker(game, share, net, *settings) for share, net in zip(shares, evaluators, strict=True)]

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
