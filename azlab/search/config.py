"""The numbers of a PUCT search, in three parts: the formula, how self-play explores, and how much a move may cost.

A match or a test has no `Explore`: no noise, the best move, the whole budget. Every default is AlphaZero's, or off.
"""

import math
from dataclasses import dataclass
from typing import Any

from azlab.errors import AzlabError, finite_number, one_of, whole_number


@dataclass(frozen=True)
class Search:
    """The formula. Values Q lie in [-1, 1] for the player to move."""

    cpuct: float = 1.25
    # weight of the exploration term U = c(N) * P * sqrt(N) / (1 + n), N counting the node's own evaluation
    cpuct_base: float = 19652.0
    # c(N) = cpuct + log((1 + N + base) / base); 0 keeps cpuct constant
    fpu: float = 0.0
    # first-play urgency: the Q of a move not tried yet
    fpu_relative: bool = False
    # if set, a move not tried yet counts as the mean of its node minus `fpu`
    draw_value: float = 0.0
    # what a draw is worth to either player
    gumbel: int = 0
    # if positive, Gumbel search (Danihelka et al. 2022) with so many moves considered at the root, by sequential halving
    solve: bool = False
    # carry proven wins and losses up the tree
    margin: bool = False
    # a finished game counts by the lead in points (as a share of all points), not as won or lost; the evaluator must do so too
    horizon: bool = False
    # in a game of two phases, look no farther than the end of the first: a position there is worth what the evaluator says of it

    def __post_init__(self) -> None:
        whole_number("gumbel", self.gumbel, 0, 10**6)
        for name in ("fpu_relative", "solve", "margin", "horizon"):
            one_of(name, getattr(self, name), (True, False))
        _numbers(self, ("fpu", "draw_value"), low=None)
        _numbers(self, ("cpuct", "cpuct_base"))
        if self.margin and (self.solve or self.draw_value):
            raise AzlabError("A search for the margin knows neither proven wins nor draws: leave out `solve` and `draw_value`.")
        if self.margin and self.horizon:
            raise AzlabError("What a margin will be is not known at a horizon: use `margin` or `horizon`, not both.")


@dataclass(frozen=True)
class Explore:
    """How self-play explores. `Explore()` explores nothing yet, but lets the playout caps of the budget draw."""

    noise: float = 0.0
    # share of Dirichlet noise in the root's priors (AlphaZero: 0.25)
    noise_alpha: float = 0.3
    # parameter of that noise (AlphaZero: 0.3 in chess, 0.03 in Go)
    noise_alpha_base: float = 0.0
    # if positive, the parameter is this divided by the number of legal moves (KataGo: 10.83)
    temperature: tuple[tuple[int, float], ...] = ((0, 0.0),)
    # (from ply, temperature): moves are drawn by visits ** (1 / temperature); 0 takes the most visited
    forced_playouts: float = 0.0
    # a root move visited at all gets at least sqrt(k * P * N) visits (KataGo: k = 2); targets are then pruned
    capped_noise: float = 1.0
    # searches that a playout cap makes small have this share of the noise (KataGo: 0, since nothing is learnt from them)

    def __post_init__(self) -> None:
        _numbers(self, ("noise", "capped_noise"), high=1)
        _numbers(self, ("noise_alpha", "noise_alpha_base", "forced_playouts"))
        if self.noise and self.noise_alpha <= 0 and self.noise_alpha_base <= 0:
            raise AzlabError("Root noise needs a positive noise_alpha or noise_alpha_base.")
        parts = self.temperature if isinstance(self.temperature, tuple) else ()
        is_list = all(
            isinstance(part, tuple) and len(part) == 2 and all(isinstance(x, int | float) and abs(x) < math.inf for x in part)
            for part in parts
        )
        plies = [part[0] for part in parts] if is_list else []
        if not plies or plies[0] != 0 or plies != sorted(plies) or min(t for _, t in parts) < 0:
            raise AzlabError("temperature is a tuple of (from ply, temperature), from ply 0 on, e.g. ((0, 1.0), (30, 0.0)).")

    def temperature_at(self, ply: int) -> float:
        """The temperature for the move at `ply`."""
        return [t for start, t in self.temperature if start <= ply][-1]

    def alpha(self, legal_moves: int) -> float:
        """The noise's parameter at a root with so many moves."""
        return self.noise_alpha_base / legal_moves if self.noise_alpha_base else self.noise_alpha


@dataclass(frozen=True)
class Budget:
    """How much a move may cost. An empty pair () switches its idea off."""

    simulations: int = 800
    # new positions evaluated for each move (AlphaZero: 800)
    cap: tuple[float, ...] = ()
    # (share, simulations): in self-play only this share of searches is full, the others have so many (playout caps of KataGo)
    gain: tuple[float, ...] = ()
    # (bits, simulations): a search goes on only while so many simulations more change its visits by more bits of KL divergence
    clock: tuple[int, ...] = ()
    # (start, per turn): in self-play each player's budget for a whole game, as a chess clock is one of time; it needs `gain`

    def __post_init__(self) -> None:
        whole_number("simulations", self.simulations, 1, 10**9)
        for name in ("cap", "gain", "clock"):
            pair = getattr(self, name)
            if pair and not (
                isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(x, int | float) and x < math.inf for x in pair)
            ):
                raise AzlabError(f"{name} is a pair of numbers, or () for none, not {pair!r}.")
            if pair:
                whole_number(f"the second number of {name}", pair[1], 1, 10**9)
        if self.cap and not 0 <= self.cap[0] <= 1:
            raise AzlabError(f"The first number of cap is a share and must lie between 0 and 1, not {self.cap[0]}.")
        if self.gain and self.gain[0] < 0:
            raise AzlabError(f"The first number of gain must not be negative, not {self.gain[0]}.")
        if self.clock:
            whole_number("the first number of clock", self.clock[0], 1, 10**9)
            if not self.gain:
                raise AzlabError("A node clock saves nodes only where searches stop early: set `gain` too.")


def as_budget(budget: Budget | int | None) -> Budget:
    """A budget, also from a plain number of simulations."""
    return budget if isinstance(budget, Budget) else Budget() if budget is None else Budget(budget)


def _numbers(config: Any, names: tuple[str, ...], low: float | None = 0, high: float | None = None) -> None:
    for name in names:
        value = getattr(config, name)
        finite_number(name, value)
        if high is not None and not 0 <= value <= high:
            raise AzlabError(f"{name} is a share and must lie between 0 and 1, not {value}.")
        if low is not None and value < low:
            raise AzlabError(f"{name} must not be negative, not {value}.")
