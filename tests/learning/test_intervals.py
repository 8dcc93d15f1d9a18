import math

import pytest

from azlab.learning.intervals import interval, t_quantile


# The usual tables of Student's t, two-sided 95 %.
@pytest.mark.parametrize(
    ("freedom", "value"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (7, 2.365), (10, 2.228), (29, 2.045), (120, 1.980)]
)
def test_quantiles_of_the_tables(freedom, value):
    assert t_quantile(freedom) == pytest.approx(value, abs=5.1e-4)


def test_many_numbers_come_near_the_normal_distribution():
    assert t_quantile(100_000) == pytest.approx(1.959988, abs=1e-5)


def test_a_mean_and_its_interval():
    found = interval([1.0, 2.0, 3.0, 6.0])
    assert (found.mean, found.count) == (3.0, 4) and found.deviation == pytest.approx(math.sqrt(14 / 3))
    assert found.half == pytest.approx(3.182446 * math.sqrt(14 / 3) / 2, rel=1e-6)
    assert found.low + found.high == pytest.approx(6.0) and str(found) == "3 ± 3.44 (4 seeds)"


def test_one_number_has_no_interval():
    found = interval([5.0])
    assert (found.deviation, found.half, found.low, found.high) == (None, None, -math.inf, math.inf)
    assert str(found) == "5 (1 seed)"
