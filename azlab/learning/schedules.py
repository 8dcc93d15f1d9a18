"""Schedules: numbers that change during a training, written as pairs (from where on, value), so that a config file can hold them.

((1, 0.2), (7, 0.02), (14, 0.002))      learning rate by iteration, in steps (S5 section 3.5)
((0, 0.02), (0.35, 0.2), (0.7, 0.02))   learning rate within an iteration, in straight lines (S5 section 3.6.2)
((5, 500_000), (12, 2_000_000))         a window that grows from iteration 5 to 12 (S5 section 3.6.3)
"""

import itertools
import math
from collections.abc import Sequence

from azlab.errors import AzlabError

Points = Sequence[tuple[float, float]]


def check_points(name: str, points: Points) -> None:
    """A sentence if `points` is not a list of pairs that go up."""
    is_pairs = isinstance(points, tuple | list) and all(
        isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(x, int | float) and abs(x) < math.inf for x in pair)
        for pair in points
    )
    if not is_pairs or not points or any(a[0] >= b[0] for a, b in itertools.pairwise(points)):
        raise AzlabError(f"{name} is a list of pairs (from where on, value), such as ((1, 0.2), (7, 0.02)), not {points!r}.")


def stepped(points: Points, at: float) -> float:
    """The value of the last pair that begins at `at` or before; before the first pair, its value."""
    return [value for start, value in points if start <= at or start == points[0][0]][-1]


def linear(points: Points, at: float) -> float:
    """The value on straight lines through the pairs, level before the first and after the last."""
    if at <= points[0][0]:
        return points[0][1]
    for (left, low), (right, high) in itertools.pairwise(points):
        if at <= right:
            return low + (high - low) * (at - left) / (right - left)
    return points[-1][1]
