"""An agent's search in steps: it can be watched, given a time, and stopped. What the Go Text Protocol's analysis is made of.

An agent that can do so has `think(position, seconds, endless)`, see `ThinksInSteps` in `azlab.arena.agents`; without a time it
then chooses what `choose` would. All others think as a whole (`Whole`), in one step.
"""

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from azlab.games.game import Game, Position
from azlab.search.analysis import Analysis, principal_line
from azlab.search.puct import Searcher
from azlab.search.tree import UNPROVEN
from azlab.search.uct import UctSearch

TREE_BYTES = 10**9  # memory for the trees of positions searched together, and for one that is searched without end
SLICE = 0.05  # seconds of a step, after which whoever watches may stop it
_FIRST = 16  # simulations of the first step, when the speed is not known yet
_SIMULATIONS = 64  # of a step without a time: the same steps give the same random numbers


class Thinking(Protocol):
    """A search that is going on."""

    def step(self, seconds: float | None = None) -> bool:
        """Think on for about so long, or for a fixed piece; False if there is nothing more to think about."""
        ...

    def action(self) -> int:
        """The move to play, by what is known so far."""
        ...

    def analysis(self) -> Analysis:
        """What is known so far; at least one step must have been made."""
        ...

    def line(self, action: int) -> list[int]:
        """The most visited moves that begin with `action`."""
        ...


def nodes_in_memory(game: Game) -> int:
    """How many nodes of a tree fit into TREE_BYTES."""
    return TREE_BYTES // (35 + 8 * game.num_actions + game.dtype.itemsize)


class _Paced:
    """How many simulations fit into a step; `most` ends the search, `seconds` too."""

    def __init__(self, most: int, seconds: float | None) -> None:
        self._most, self._seconds, self._spent = most, seconds, 0.0

    def _count(self, done: int, seconds: float | None) -> int:
        if seconds is None:
            return min(_SIMULATIONS, self._most - done)
        wanted = int(done / self._spent * seconds) if done and self._spent else _FIRST
        return max(1, min(wanted, 8 * max(done, _FIRST), self._most - done))

    def _goes_on(self, done: int) -> bool:
        return done < self._most and (self._seconds is None or self._spent < self._seconds)


class UctThinking(_Paced):
    """`azlab.search.uct` in steps."""

    def __init__(self, search: UctSearch, most: int, seconds: float | None) -> None:
        super().__init__(most, seconds)
        self._search = search
        search.run(0)  # compiled from here on: the clock measures the search

    def step(self, seconds: float | None = None) -> bool:
        begin = time.perf_counter()
        self._search.run(self._count(self._search.simulations, seconds))
        self._spent += time.perf_counter() - begin
        return self._goes_on(self._search.simulations) and not self._search.is_decided

    def action(self) -> int:
        return self.analysis().best_action

    def analysis(self) -> Analysis:
        return self._search.analysis({"search": self._spent})

    def line(self, action: int) -> list[int]:
        return principal_line(self._search.tree, 0, action)


class PuctThinking(_Paced):
    """A `Searcher` of one game in steps. Searches that plan their whole budget (Gumbel, KL-gain stopping) take a single step."""

    def __init__(self, searcher: Searcher, position: Position, most: int) -> None:
        super().__init__(most, None)
        self._searcher, self._position = searcher, position
        self._is_whole = bool(searcher.search.gumbel or searcher.budget.gain)
        searcher.start(position.state)

    def step(self, seconds: float | None = None) -> bool:
        begin, done = time.perf_counter(), int(self._searcher.done[0])
        self._searcher.run(self._most if self._is_whole else done + self._count(done, seconds))
        self._spent += time.perf_counter() - begin
        budgets = np.full(1, self._most, np.int64)
        return not self._is_whole and not self._searcher.is_decided(np.zeros(1, np.int64), budgets)[0]

    def action(self) -> int:
        return self._searcher.choose(0, self._position.ply)

    def analysis(self) -> Analysis:
        return self._searcher.analysis(0, self._position)

    def line(self, action: int) -> list[int]:
        return principal_line(self._searcher.tree, 0, action)


class Whole:
    """Any way to choose that cannot be stopped in the middle; `choose` is given if the move is not that of the analysis."""

    def __init__(
        self, position: Position, find: Callable[[Position], Analysis], choose: Callable[[Position], int] | None = None
    ) -> None:
        self._position, self._find, self._choose = position, find, choose
        self._found: Analysis | None = None

    def step(self, seconds: float | None = None) -> bool:
        if self._choose is None:
            self.analysis()
        return False

    def action(self) -> int:
        return self.analysis().best_action if self._choose is None else int(self._choose(self._position))

    def analysis(self) -> Analysis:
        if self._found is None:
            self._found = self._find(self._position)
        return self._found

    def line(self, action: int) -> list[int]:
        found, game = self.analysis(), self._position.game
        return [game.action(move) for move in found.line] if action == found.best_action else [action]


def only_choice(position: Position, action: int) -> Analysis:
    """What is known of an agent that only chooses: all of its attention on that move."""
    visits = np.zeros(position.game.num_actions, np.int64)
    visits[action] = 1
    nothing = np.full(len(visits), np.nan)
    proven = np.full(len(visits), UNPROVEN, np.int8)
    name = position.game.move_name(action)
    return Analysis(position, visits, nothing, visits / 1.0, proven, 0.0, [name], 1, 1, 1, choice=action)
