"""Evaluators: what a position is worth and which moves look good, for many states at once.

An evaluator is anything with `evaluate(states [B], legal bool [B, A]) -> (priors [B, A], values [B])` or, where it knows
how likely draws are, `(priors, values, draws [B])`. Priors are zero on illegal moves and sum to 1; values are for seat 0,
in [-1, 1]; draws are chances of a draw. It is never asked about finished games. A network, a table, random playouts: all
are evaluators.

An evaluator that is compiled itself may offer `native`, a kernel (states, legal, priors, values, draws, rng) that writes
into the last arrays. The search then never leaves compiled code, which a single position gains most from.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import NO_TRACE, Game
from azlab.games.kernel import kernel, random_bits, specialise


@runtime_checkable
class Evaluator(Protocol):
    """See the module's description."""

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        """Priors, values (and chances of a draw) of `states`."""
        ...


@runtime_checkable
class Native(Protocol):
    """An evaluator that is a kernel too."""

    native: Callable


@runtime_checkable
class Refreshable(Protocol):
    """An evaluator with a copy of a network that learns."""

    def refresh(self) -> None:
        """Take over the network's present weights."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """An evaluator that knows best what to remember of a position."""

    def cached(self, capacity: int) -> Any:
        """The same evaluator with a memory of so many positions."""
        ...


def refresh(evaluator: Any) -> None:
    """Let an evaluator that copies a network take over its present weights; others stay as they are."""
    if isinstance(evaluator, Refreshable):
        evaluator.refresh()


@kernel
def _share_equally(legal, priors):
    for i in range(len(legal)):
        share = np.float32(1.0 / max(1, np.sum(legal[i])))
        for action in range(legal.shape[1]):
            priors[i, action] = share if legal[i, action] else 0.0


def uniform_priors(legal: np.ndarray) -> np.ndarray:
    """Equal priors for the legal moves: float32 [B, A]."""
    priors = np.empty(legal.shape, np.float32)
    _share_equally(np.ascontiguousarray(legal), priors)
    return priors


@kernel
def evaluate_uniformly(states, legal, priors, values, draws, rng):
    """The native form of `UniformEvaluator`."""
    _share_equally(legal, priors)
    values[:] = 0.0
    draws[:] = 0.0


class UniformEvaluator:
    """Knows nothing: equal priors, value 0. The null evaluator of speed measurements."""

    native = staticmethod(evaluate_uniformly)

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        return uniform_priors(legal), np.zeros(len(states), np.float32)


playout: Any = None  # stands for the game's kernel; `specialise` fills it in


def _evaluate_by_playout(states, legal, priors, values, draws, rng):
    """The native form of `PlayoutEvaluator` with one playout. A template: see `specialise`."""
    _share_equally(legal, priors)
    final = states.copy()
    streams = np.empty(len(states), np.uint64)
    for i in range(len(states)):
        streams[i] = random_bits(rng, 0) | np.uint64(1)
    playout(final, streams, np.zeros((0, 0), np.int32))
    for i in range(len(states)):
        values[i] = final[i].result
        draws[i] = final[i].result == 0


class PlayoutEvaluator:
    """Equal priors, and the mean result of random playouts."""

    def __init__(self, game: Game, playouts: int = 1, seed: int = 0) -> None:
        if playouts < 1:
            raise AzlabError(f"An evaluation needs at least one playout, not {playouts}.")
        self.game, self.playouts = game, playouts
        self._rng = np.random.default_rng(seed)
        if playouts == 1:
            self.native = specialise(_evaluate_by_playout, playout=game.kernels.playout)

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        final = np.repeat(states, self.playouts)
        streams = self._rng.integers(1, 2**64, len(final), np.uint64)  # a stream must not start at zero
        self.game.kernels.playout(final, streams, NO_TRACE)
        results = final["result"].reshape(len(states), self.playouts)
        return uniform_priors(legal), results.mean(axis=1, dtype=np.float32), (results == 0).mean(axis=1, dtype=np.float32)


class OracleEvaluator:
    """Perfect values, and equal priors for the best moves. `oracle` is one of azlab.oracles."""

    def __init__(self, oracle: "object") -> None:
        self.oracle = oracle

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        values = np.sign(self.oracle.values(states)).astype(np.float32)  # type: ignore[attr-defined]
        return uniform_priors(self.oracle.best_actions(states)), values, (values == 0).astype(np.float32)  # type: ignore[attr-defined]


class RestEvaluator:
    """For searches with `margin`: adds the lead so far to what `evaluator` expects of the rest of the game.

    `evaluator` is asked about positions in normal form (`Game.normal_form`): it need not know the score, it sees one of all
    symmetric positions, and a memory around it (`cached`) finds the same board whatever the score and however turned. The
    chance of a draw is 1 where less than half a point is expected.
    """

    def __init__(self, evaluator: Any, game: Game) -> None:
        game.normal_form(game.new_states(1))  # a sentence where that is not possible
        self.evaluator, self.game = evaluator, game
        self._half_point = 0.5 / game.points

    def cached(self, capacity: int) -> "RestEvaluator":
        """The same, remembering so many positions."""
        return RestEvaluator(CachedEvaluator(self.evaluator, capacity), self.game)

    @property
    def misses(self) -> int:
        """Positions that a memory around the evaluator did not know."""
        return self.evaluator.misses

    def refresh(self) -> None:
        """Take over the net's present weights."""
        refresh(self.evaluator)

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        leads = np.empty(len(states))
        self.game.kernels.lead(states, leads)  # type: ignore[misc]
        plain, turns = self.game.normal_form(states)
        priors, rest, *_ = self.evaluator.evaluate(plain, self.game.legal_mask(plain))
        values = np.clip(leads + np.where(states["to_move"] == 0, rest, -rest), -1, 1).astype(np.float32)
        return np.take_along_axis(priors, turns, axis=1), values, (np.abs(values) < self._half_point).astype(np.float32)


class PhaseEvaluator:
    """For games of two phases: asks `before` about positions of the first and `beyond` about those of the second.

    A search with `horizon` asks `beyond` only what positions at the horizon are worth.
    """

    def __init__(self, game: Game, before: Any, beyond: Any) -> None:
        game.at_horizon(game.new_states(1))  # a sentence where there are not two phases
        self.game, self.before, self.beyond = game, before, beyond

    def cached(self, capacity: int) -> "PhaseEvaluator":
        """The same, each of the two remembering so many positions."""
        return PhaseEvaluator(self.game, cached(self.before, capacity), cached(self.beyond, capacity))

    @property
    def misses(self) -> int:
        """Positions that memories around the evaluators did not know."""
        return self.before.misses + self.beyond.misses

    def refresh(self) -> None:
        """Take over the present weights of nets that learn."""
        refresh(self.before)
        refresh(self.beyond)

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        is_beyond = self.game.at_horizon(states)
        if not is_beyond.any() or is_beyond.all():  # mostly: a batch of games keeps in step
            return (self.beyond if len(states) and is_beyond[0] else self.before).evaluate(states, legal)
        found = np.empty(legal.shape, np.float32), np.empty(len(states), np.float32), np.empty(len(states), np.float32)
        for evaluator, rows in ((self.before, ~is_beyond), (self.beyond, is_beyond)):
            parts = checked(evaluator.evaluate(states[rows], legal[rows]), int(rows.sum()), legal.shape[1])
            for whole, part in zip(found, parts, strict=True):
                whole[rows] = part
        return found


def cached(evaluator: Any, capacity: int) -> Any:
    """The evaluator with a memory of so many positions."""
    return evaluator.cached(capacity) if isinstance(evaluator, Remembering) else CachedEvaluator(evaluator, capacity)


def checked(parts: tuple[np.ndarray, ...], count: int, actions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Priors, values and draws as the tree takes them; a sentence if the evaluator returned something else."""
    if not isinstance(parts, tuple) or len(parts) not in (2, 3):
        raise AzlabError("An evaluator returns (priors, values) or (priors, values, draws).")
    priors, values = np.asarray(parts[0]), np.asarray(parts[1])
    draws = np.asarray(parts[2]) if len(parts) == 3 else np.zeros(count, np.float32)
    if priors.shape != (count, actions) or values.shape != (count,) or draws.shape != (count,):
        shapes = f"{priors.shape}, {values.shape} and {draws.shape}"
        raise AzlabError(
            f"The evaluator returned shapes {shapes}; wanted are ({count}, {actions}) priors and ({count},) values and draws."
        )
    return (
        np.ascontiguousarray(priors, np.float32),
        np.ascontiguousarray(values, np.float32),
        np.ascontiguousarray(draws, np.float32),
    )


from azlab.search.cache import CachedEvaluator as CachedEvaluator  # noqa: E402  (at the end: it needs `checked`)
