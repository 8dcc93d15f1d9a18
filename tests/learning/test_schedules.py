import pytest
from hypothesis import given
from hypothesis import strategies as st

from azlab.errors import AzlabError
from azlab.learning.schedules import check_points, linear, stepped

RATES = ((1, 0.2), (7, 0.02), (14, 0.002))
WINDOW = ((5, 500_000), (12, 2_000_000))


@pytest.mark.parametrize(
    ("at", "value"), [(0, 0.2), (1, 0.2), (6, 0.2), (6.99, 0.2), (7, 0.02), (13, 0.02), (14, 0.002), (99, 0.002)]
)
def test_steps(at, value):
    assert stepped(RATES, at) == value


@pytest.mark.parametrize(
    ("at", "value"),
    [(1, 500_000), (5, 500_000), (6, 500_000 + 1_500_000 / 7), (8.5, 1_250_000), (12, 2_000_000), (40, 2_000_000)],
)
def test_straight_lines(at, value):
    assert linear(WINDOW, at) == pytest.approx(value)


def test_a_cycle_within_an_iteration():
    cycle = ((0, 0.02), (0.35, 0.2), (0.7, 0.02))
    assert [linear(cycle, at) for at in (0, 0.35, 0.7, 1)] == pytest.approx([0.02, 0.2, 0.02, 0.02])
    assert linear(cycle, 0.175) == pytest.approx(0.11) == pytest.approx(linear(cycle, 0.525))


@given(st.dictionaries(st.integers(0, 50), st.floats(-5, 5), min_size=1, max_size=6), st.floats(-5, 60))
def test_between_two_points_lies_between_their_values(values, at):
    points = tuple(sorted(values.items()))
    check_points("rate", points)
    left = max((point for point in points if point[0] <= at), default=points[0])
    right = min((point for point in points if point[0] >= at), default=points[-1])
    low, high = sorted((left[1], right[1]))
    assert low - 1e-9 <= linear(points, at) <= high + 1e-9
    assert stepped(points, at) == left[1]


@pytest.mark.parametrize("points", [(), 0.1, ((1, 0.1), (1, 0.2)), ((2, 0.1), (1, 0.2)), ((1,),), ((1, "a"),), "12", (("1", 2),)])
def test_what_is_no_schedule(points):
    with pytest.raises(AzlabError, match="rate is a list of pairs"):
        check_points("rate", points)
