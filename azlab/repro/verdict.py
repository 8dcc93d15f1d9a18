"""What a measurement says about a claim. A verdict is always computed, never typed."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from azlab.repro.claims import Claim, is_number
from azlab.repro.sources import PROFILES

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly", "not reproduced"
NOT_RUN, UNCHECKED = "not run at this scale", "cannot be checked here"
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_RUN, UNCHECKED)


@dataclass(frozen=True)
class Measured:
    """What was measured for a claim at one profile, over all seeds of it.

    Numbers, lists and tables are means over the seeds. Texts and truths are compared seed by seed, and so are curves.
    """

    profile: str
    value: Any = None  # number, list or table of numbers; texts and truths: a list with one for each seed
    curves: list[tuple[list[float], list[float]]] = field(default_factory=list)  # (x, y) of each seed
    half: Any = None  # half the width of the interval around it, in the form of the value; None where there is none
    paired: float | None = None  # that of the difference from the claim it is compared with, if it was taken seed by seed


def decide(claim: Claim, measured: Measured | None, others: Mapping[str, Measured]) -> str:
    """The verdict on `claim`; `others` are measurements by claim id, for claims that compare two of ours."""
    if claim.unchecked:
        return UNCHECKED
    if measured is None or PROFILES.index(measured.profile) < PROFILES.index(claim.profile):
        return NOT_RUN
    other = others.get(claim.than)
    if claim.than and (other is None or other.profile != measured.profile):
        return NOT_RUN  # two numbers of different scales say nothing about each other
    parts = list(_parts(claim, measured, other))
    if parts and all(parts) and (not claim.sure or is_sure(claim, measured, other)):
        return REPRODUCED
    return PARTLY if any(parts) else NOT_REPRODUCED


def is_sure(claim: Claim, measured: Measured, other: Measured | None = None) -> bool:
    """Whether the criterion holds for the whole interval around each of our numbers. Of numbers, lists and tables alone."""
    ends = [list(_parts(claim, _moved(measured, sign, other), other)) for sign in (-1, 1)]
    return all(parts and all(parts) for parts in ends)


def half_width(measured: Measured, other: Measured | None = None) -> Any:
    """Half the width of the interval around our value, or around its difference from `other`, as the value has its form."""
    if other is None:
        return measured.half
    if measured.paired is not None:
        return measured.paired
    both = (measured.half, other.half)
    return math.hypot(*both) if all(map(_is_width, both)) else None


def _moved(measured: Measured, sign: int, other: Measured | None) -> Measured:
    """One end of the interval; None in place of numbers that have none."""
    value, half = measured.value, half_width(measured, other)
    end = lambda one, by: one + sign * by if is_number(one) and _is_width(by) else None  # noqa: E731
    if isinstance(value, list):
        fits = isinstance(half, list) and len(half) == len(value)
        return replace(measured, value=[end(one, by) for one, by in zip(value, half if fits else [None] * len(value))])
    if isinstance(value, dict):
        widths = half if isinstance(half, dict) else {}
        return replace(measured, value={key: end(one, widths.get(key)) for key, one in value.items()})
    return replace(measured, value=end(value, half))


def _is_width(half: Any) -> bool:
    return is_number(half) and 0 <= half < math.inf


def _parts(claim: Claim, measured: Measured, other: Measured | None) -> Iterable[bool]:
    """Whether each part of the claim holds."""
    if claim.kind == "curve":
        for x, y in measured.curves:
            yield from _curve_parts(claim, x, y)
    elif claim.kind in ("text", "truth"):
        yield from (value == claim.value for value in measured.value)
    elif claim.kind == "list":
        assert isinstance(claim.value, list)
        yield from (_holds(claim, ours, theirs) for ours, theirs in zip(measured.value, claim.value, strict=True))
    elif claim.kind == "table":
        assert isinstance(claim.value, dict)
        yield from (_holds(claim, measured.value[key], theirs) for key, theirs in claim.value.items())
    else:
        yield _holds(claim, measured.value, other.value if other else claim.value)


def _curve_parts(claim: Claim, x: list[float], y: list[float]) -> Iterable[bool]:
    """A trend is one part. A curve has one for each point of the source; where ours does not reach, it does not hold."""
    if claim.direction in ("rises", "falls"):
        change = (y[-1] - y[0]) * (1 if claim.direction == "rises" else -1)
        yield math.isfinite(change) and change > claim.margin
        return
    assert isinstance(claim.value, list) and claim.x is not None
    for at, theirs in zip(claim.x, claim.value):
        yield x[0] <= at <= x[-1] and _holds(claim, float(np.interp(at, np.array(x, float), np.array(y, float))), theirs)


def _holds(claim: Claim, ours: Any, theirs: Any) -> bool:
    """Whether our number meets the criterion. What cannot be told apart from rounding counts as equal."""
    if not is_number(ours) or not is_number(theirs) or not math.isfinite(ours):
        return False
    slack = 1e-9 * max(1.0, abs(theirs))
    if claim.tolerance is not None:
        return abs(ours - theirs) <= claim.tolerance + slack
    if claim.relative is not None:
        return abs(ours - theirs) <= claim.relative * abs(theirs) + slack
    lead = (ours - theirs) * (1 if claim.direction in ("at least", "above") else -1) - claim.margin
    return lead >= -slack if claim.direction in ("at least", "at most") else lead > slack
