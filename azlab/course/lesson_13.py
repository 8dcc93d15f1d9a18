"""Exercises on comparing trainings: noise of single runs, factorial designs, scales of values, interactions."""

import math
from typing import Any

from azlab.course import exercise
from azlab.course.answers import number, whole


@exercise("13.1", "the variance of a difference is the sum of both: of one run, and of a mean of five")
def a_single_run_against_five(answer: Any) -> bool | str:
    points = number(answer)
    if abs(points - 1.96 * 0.2) < 2e-3:
        return "That takes the mean of the five runs as exact; it is uncertain too."
    return abs(points - 1.96 * math.sqrt(0.2**2 + 0.2**2 / 5)) < 6e-3


@exercise("13.2", "an effect of the factorial is the difference of two means of eight runs each")
def runs_one_at_a_time(answer: Any) -> bool | str:
    """The smallest number of seeds whose standard error is no larger, found by trying."""
    answer = whole(answer)
    factorial = math.sqrt(1 / 8 + 1 / 8)
    seeds = next(n for n in range(1, 100) if math.sqrt(2 / n) <= factorial + 1e-12)
    if answer == seeds:
        return "That is the number of seeds; how many runs are they with six arms?"
    if answer == 5 * seeds:
        return "The baseline needs its runs as well."
    return bool(answer == 6 * seeds)


@exercise("13.3", "0 becomes -1, a half becomes 0, and 1 stays")
def another_scale(answer: Any) -> bool | str:
    if abs(number(answer) - 2 * 0.8545) < 1e-4:
        return "Differences double; but where does the scale begin?"
    return abs(number(answer) - (2 * 0.8545 - 1)) < 1e-4


@exercise("13.4", "the effect of the first switch with the second on, less that with it off, by two")
def an_interaction(answer: Any) -> bool | str:
    with_second, without = 78.8 - 78.6, 79.0 - 78.0
    if abs(number(answer) - (with_second - without)) < 1e-6:
        return "That is the whole difference; the interaction is half of it."
    return abs(number(answer) - (with_second - without) / 2) < 1e-6
