"""Means over seeds, with intervals by Student's t.

interval([0.781, 0.790, 0.779, 0.786])          # 0.784 ± 0.0079 (4 seeds)
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

SURENESS = 0.95  # of every interval


@dataclass(frozen=True)
class Interval:
    """The mean of some numbers, and how sure it is."""

    mean: float
    deviation: float | None  # of a single number, estimated with n - 1; None for one number
    half: float | None  # half the width of the interval of the mean; None for one number
    count: int

    @property
    def low(self) -> float:
        return self.mean - (math.inf if self.half is None else self.half)

    @property
    def high(self) -> float:
        return self.mean + (math.inf if self.half is None else self.half)

    def __str__(self) -> str:
        sure = "" if self.half is None else f" ± {self.half:.3g}"
        return f"{self.mean:.4g}{sure} ({self.count} {'seed' if self.count == 1 else 'seeds'})"


def interval(values: Sequence[float]) -> Interval:
    """The mean of independent numbers, at least one, with its interval."""
    mean, count = statistics.fmean(values), len(values)
    if count == 1:
        return Interval(mean, None, None, 1)
    deviation = statistics.stdev(values)
    return Interval(mean, deviation, t_quantile(count - 1) * deviation / math.sqrt(count), count)


@cache
def t_quantile(freedom: int) -> float:
    """How many standard errors the interval reaches to each side, with so many degrees of freedom."""
    low, high = 0.0, 1000.0  # one degree of freedom, the largest case, has 12.7
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < SURENESS else (low, middle)
    return (low + high) / 2


def _within(t: float, freedom: int) -> float:
    """The chance that Student's t lies between -t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (k - 1) / k
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total
