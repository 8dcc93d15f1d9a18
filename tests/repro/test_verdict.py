"""Verdicts are arithmetic: every kind of claim, at and beside its boundary."""

import pytest

from azlab.repro.claims import Claim
from azlab.repro.verdict import NOT_REPRODUCED, NOT_RUN, PARTLY, REPRODUCED, UNCHECKED, Measured, decide


def claim(**keys):
    return Claim(**{"id": "s9.a", "where": "w", "metric": "m", "profile": "laptop", "experiment": "n", **keys})


def verdict(one, value=None, profile="laptop", others=None, curves=()):
    return decide(one, Measured(profile, value, list(curves)), others or {})


@pytest.mark.parametrize(
    ("keys", "ours", "expected"),
    [
        ({"value": 0.2, "tolerance": 0.1}, 0.3, REPRODUCED),  # 0.3 - 0.2 > 0.1 in binary; rounding must not decide
        ({"value": 0.2, "tolerance": 0.1}, 0.1, REPRODUCED),
        ({"value": 0.2, "tolerance": 0.1}, 0.3001, NOT_REPRODUCED),
        ({"value": 0.0, "tolerance": 0.0}, 0.0, REPRODUCED),
        ({"value": 0.0, "tolerance": 0.0}, 0.001, NOT_REPRODUCED),
        ({"value": 384, "tolerance": 0}, 384, REPRODUCED),
        ({"value": -100, "relative": 0.1}, -110, REPRODUCED),
        ({"value": -100, "relative": 0.1}, -110.1, NOT_REPRODUCED),
        ({"value": 5, "direction": "at least"}, 5, REPRODUCED),
        ({"value": 5, "direction": "at least"}, 4.99, NOT_REPRODUCED),
        ({"value": 5, "direction": "at most"}, 5, REPRODUCED),
        ({"value": 5, "direction": "at most"}, 5.01, NOT_REPRODUCED),
        ({"value": 5, "direction": "above"}, 5, NOT_REPRODUCED),
        ({"value": 5, "direction": "above"}, 5.01, REPRODUCED),
        ({"value": 5, "direction": "below"}, 5, NOT_REPRODUCED),
        ({"value": 5, "direction": "below"}, 4.99, REPRODUCED),
        ({"value": 5, "tolerance": 100}, None, NOT_REPRODUCED),  # no number came out
        ({"value": [1, 2], "tolerance": 0}, [1, 2], REPRODUCED),
        ({"value": [1, 2], "tolerance": 0}, [1, 3], PARTLY),
        ({"value": [1, 2], "tolerance": 0}, [0, 3], NOT_REPRODUCED),
        ({"value": {"a": 1, "b": 2}, "relative": 0.5}, {"b": 3, "a": 1.5}, REPRODUCED),
        ({"value": {"a": 1, "b": 2}, "relative": 0.5}, {"b": 3.1, "a": 1.5}, PARTLY),
        ({"value": "centre"}, ["centre"], REPRODUCED),
        ({"value": "centre"}, ["edge"], NOT_REPRODUCED),
        ({"value": "centre"}, ["edge", "centre"], PARTLY),  # two seeds
        ({"value": True}, [False], NOT_REPRODUCED),
        ({"value": True}, [True], REPRODUCED),
    ],
)
def test_numbers_and_words(keys, ours, expected):
    assert verdict(claim(**keys), ours) == expected


@pytest.mark.parametrize(
    ("measured_at", "expected"), [("smoke", NOT_RUN), ("laptop", REPRODUCED), ("paper", REPRODUCED), (None, NOT_RUN)]
)
def test_a_claim_is_checked_at_its_profile_or_a_larger_one(measured_at, expected):
    one = claim(value=1, tolerance=0)
    assert decide(one, Measured(measured_at, 1) if measured_at else None, {}) == expected


def test_what_cannot_be_checked_says_so_whatever_was_measured():
    assert verdict(claim(value=1, unchecked="lost"), 1) == UNCHECKED


@pytest.mark.parametrize(
    ("direction", "margin", "ours", "expected"),
    [
        ("above", 0, 2.1, REPRODUCED), ("above", 0, 2.0, NOT_REPRODUCED),
        ("above", 0.5, 2.5, NOT_REPRODUCED), ("above", 0.5, 2.6, REPRODUCED), ("at least", 0.5, 2.5, REPRODUCED),
        ("below", 0.5, 1.4, REPRODUCED), ("below", 0.5, 1.6, NOT_REPRODUCED), ("at most", 0, 2.0, REPRODUCED),
    ],
)  # fmt: skip
def test_two_of_our_numbers_are_compared(direction, margin, ours, expected):
    one = claim(direction=direction, than="s9.b", margin=margin)
    assert verdict(one, ours, others={"s9.b": Measured("laptop", 2.0)}) == expected


def test_two_numbers_of_different_scale_are_not_compared():
    one = claim(direction="above", than="s9.b")
    assert verdict(one, 5, others={"s9.b": Measured("paper", 2.0)}) == NOT_RUN
    assert verdict(one, 5) == NOT_RUN


def test_curves():
    one = claim(value=[1, 2, 3], x=[10, 20, 30], tolerance=0.1)
    assert verdict(one, curves=[([10, 30], [1, 3])]) == REPRODUCED  # ours is read off between its points
    assert verdict(one, curves=[([10, 20, 30], [1, 2.2, 3])]) == PARTLY
    assert verdict(one, curves=[([10, 20, 30], [5, 5, 5])]) == NOT_REPRODUCED
    assert verdict(one, curves=[([40, 50], [1, 3])]) == NOT_REPRODUCED  # not one point in common
    assert verdict(one, curves=[([10, 20], [1, 2])]) == PARTLY  # a shorter run shows a part at most
    assert verdict(one, curves=[([10, 30], [1, 3]), ([10, 30], [7, 9])]) == PARTLY  # two seeds


def test_trends():
    rises, falls = claim(direction="rises", margin=1), claim(direction="falls")
    assert verdict(rises, curves=[([1, 2, 3], [0, 5, 1.5])]) == REPRODUCED
    assert verdict(rises, curves=[([1, 2, 3], [0, 5, 1])]) == NOT_REPRODUCED
    assert verdict(falls, curves=[([1, 2], [3, 2])]) == REPRODUCED
    assert verdict(falls, curves=[([1, 2], [3, 3])]) == NOT_REPRODUCED


# --- sure -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "ours", "half", "expected"),
    [
        ({"value": 5, "direction": "above"}, 6, 0.9, REPRODUCED),
        ({"value": 5, "direction": "above"}, 6, 1.0, PARTLY),  # the interval begins at 5, which is not above 5
        ({"value": 5, "direction": "above"}, 5, 0.1, NOT_REPRODUCED),
        ({"value": 5, "direction": "above"}, 4, 9.0, NOT_REPRODUCED),  # a part of the interval is not the value
        ({"value": 5, "direction": "at least"}, 6, 1.0, REPRODUCED),
        ({"value": 5, "direction": "at least"}, 6, 1.1, PARTLY),
        ({"value": 5, "direction": "below"}, 4, 0.9, REPRODUCED),
        ({"value": 5, "direction": "below"}, 4, 1.0, PARTLY),
        ({"value": 5, "direction": "below"}, 6, 2.0, NOT_REPRODUCED),
        ({"value": 5, "direction": "at most"}, 4, 1.0, REPRODUCED),
        ({"value": 5, "direction": "at most"}, 4, 1.1, PARTLY),
        ({"value": 5, "tolerance": 1}, 5.5, 0.5, REPRODUCED),
        ({"value": 5, "tolerance": 1}, 5.5, 0.6, PARTLY),
        ({"value": 5, "tolerance": 1}, 4.5, 0.6, PARTLY),  # the other end
        ({"value": 5, "tolerance": 1}, 6.5, 0.1, NOT_REPRODUCED),
        ({"value": -10, "relative": 0.1}, -10.5, 0.5, REPRODUCED),
        ({"value": -10, "relative": 0.1}, -10.5, 0.6, PARTLY),
        ({"value": 5, "direction": "above"}, 6, 0, REPRODUCED),  # known exactly
        ({"value": 5, "direction": "above"}, 6, None, PARTLY),  # without an interval nothing is sure
        ({"value": 5, "direction": "above"}, 4, None, NOT_REPRODUCED),
        ({"value": 5, "direction": "above"}, 6, -0.1, PARTLY),  # no width
        ({"value": 5, "direction": "above"}, 6, [0.1], PARTLY),  # not of the value's form
        ({"value": 5, "direction": "above"}, None, 0.1, NOT_REPRODUCED),
        ({"value": [1, 2], "tolerance": 1}, [1, 2], [1, 1], REPRODUCED),
        ({"value": [1, 2], "tolerance": 1}, [1, 2], [1, 1.1], PARTLY),
        ({"value": [1, 2], "tolerance": 1}, [1, 9], [1, 1], PARTLY),
        ({"value": [1, 2], "tolerance": 1}, [9, 9], [0, 0], NOT_REPRODUCED),
        ({"value": [1, 2], "tolerance": 1}, [1, 2], [1, None], PARTLY),
        ({"value": [1, 2], "tolerance": 1}, [1, 2], [1], PARTLY),
        ({"value": [1, 2], "tolerance": 1}, [1, 2], 0.1, PARTLY),
        ({"value": {"a": 1, "b": 2}, "tolerance": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 1}, REPRODUCED),
        ({"value": {"a": 1, "b": 2}, "tolerance": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}, PARTLY),
        ({"value": {"a": 1, "b": 2}, "tolerance": 1}, {"a": 1, "b": 2}, {"a": 1}, PARTLY),
        ({"value": {"a": 1, "b": 2}, "tolerance": 1}, {"a": 9, "b": 9}, {"a": 0, "b": 0}, NOT_REPRODUCED),
    ],
)
def test_sure_asks_for_the_whole_interval(keys, ours, half, expected):
    measured = Measured("laptop", ours, half=half)
    assert decide(claim(**keys, sure=True), measured, {}) == expected
    if expected == PARTLY and not isinstance(ours, list | dict):  # what holds for the value is enough without `sure`
        assert decide(claim(**keys), measured, {}) == REPRODUCED


@pytest.mark.parametrize(
    ("direction", "margin", "ours", "half", "other", "other_half", "paired", "expected"),
    [
        ("above", 0, 7.1, 3, 2, 4, None, REPRODUCED),  # 3 and 4 give 5
        ("above", 0, 6.9, 3, 2, 4, None, PARTLY),
        ("above", 0, 6.9, 3, 2, 4, 4.8, REPRODUCED),  # seed by seed it is narrower
        ("above", 0, 7.1, 3, 2, 4, 5.2, PARTLY),  # or wider
        ("above", 0, 2.0, 3, 2, 4, 0.1, NOT_REPRODUCED),
        ("above", 1, 8.1, 3, 2, 4, None, REPRODUCED),
        ("above", 1, 7.9, 3, 2, 4, None, PARTLY),
        ("at least", 0, 7, 3, 2, 4, None, REPRODUCED),
        ("at least", 0, 7, 3, 2, 4.1, None, PARTLY),
        ("below", 0, -3.1, 3, 2, 4, None, REPRODUCED),
        ("below", 0, -2.9, 3, 2, 4, None, PARTLY),
        ("at most", 1, -4, 3, 2, 4, None, REPRODUCED),
        ("at most", 1, -3.9, 3, 2, 4, None, PARTLY),
        ("below", 0, 3, 3, 2, 4, None, NOT_REPRODUCED),
        ("above", 0, 99, None, 2, 4, None, PARTLY),  # one of the two has no interval
        ("above", 0, 99, 3, 2, None, None, PARTLY),
        ("above", 0, 99, None, 2, None, 5, REPRODUCED),  # the difference has
        ("above", 0, 99, 3, None, 4, None, NOT_REPRODUCED),
    ],
)
def test_sure_comparisons_have_the_interval_of_the_difference(direction, margin, ours, half, other, other_half, paired, expected):
    one = claim(direction=direction, than="s9.b", margin=margin, sure=True)
    others = {"s9.b": Measured("laptop", other, half=other_half)}
    assert decide(one, Measured("laptop", ours, half=half, paired=paired), others) == expected


def test_sure_changes_nothing_about_scale_and_what_cannot_be_checked():
    assert decide(claim(value=1, tolerance=1, sure=True), Measured("smoke", 1, half=0), {}) == NOT_RUN
    assert decide(claim(value=1, unchecked="lost", sure=True), Measured("laptop", 1, half=0), {}) == UNCHECKED
    one = claim(direction="above", than="s9.b", sure=True)
    assert decide(one, Measured("laptop", 5, half=0), {"s9.b": Measured("paper", 2.0, half=0)}) == NOT_RUN
