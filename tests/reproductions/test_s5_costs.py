"""The source's cost measure."""

import pytest

import azlab
from azlab.nets.residual import ResidualConfig, count_multiplications
from azlab_reproductions.s5_connect4.costs import equivalent_hours

CONNECT4 = azlab.game("connect4")


def test_an_iteration_of_the_source_takes_its_time():
    """300,000 positions of 344 evaluations at 135.8 positions a second."""
    multiplications = count_multiplications(ResidualConfig.for_game(CONNECT4, "single"))
    assert equivalent_hours(300_000 * 344, multiplications) == pytest.approx(300_000 / 135.8 / 3600)
    # 84, 88 and 90% after 582, 1,127 and 2,017 million evaluations: the baseline's hours in table 5
    hours = [equivalent_hours(millions * 1e6, multiplications) for millions in (582, 1127, 2017)]
    assert hours == pytest.approx([3.5, 6.7, 12.0], abs=0.05)


def test_a_smaller_network_costs_less_an_evaluation():
    small = count_multiplications(ResidualConfig.for_game(CONNECT4, "planes", blocks=4, stem=32, filters=32, head=8))
    whole = count_multiplications(ResidualConfig.for_game(CONNECT4, "single"))
    assert equivalent_hours(44.1e6, small) == pytest.approx(equivalent_hours(582e6, whole) / 261, rel=0.01)
