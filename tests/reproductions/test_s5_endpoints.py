"""The endpoints of S5's comparisons, on curves and designs whose answers are known."""

import math

import numpy as np
import pytest

from azlab.learning.config import preset
from azlab.learning.intervals import t_quantile
from azlab.learning.sweep_table import Table
from azlab_reproductions.s5_connect4 import arms
from azlab_reproductions.s5_connect4.endpoints import effects, endpoints, reach, smoothed

NAMES = list(arms.factorial(preset("connect4_small")))


def signs(name):
    return np.array([1.0 if switch in name.split("_") else -1.0 for switch in arms.SWITCHES])


def test_smoothing_takes_three_neighbours_and_two_at_the_ends():
    assert smoothed(np.array([1.0, 4.0, 1.0, 7.0])) == pytest.approx([2.5, 2.0, 4.0, 4.0])


def test_a_level_is_reached_on_a_straight_line_between_two_iterations():
    straight, cost = np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.array([10.0, 20.0, 30.0, 40.0, 50.0])
    assert reach(straight, cost, 0.25) == (pytest.approx(25.0), True)  # smoothing leaves a straight line as it is
    assert reach(straight, cost, 0.9) == (50.0, False)
    assert reach(straight, cost, 0.05)[0] == pytest.approx(10 / 3)  # of the first point, which is the mean of two, 0.15


def test_endpoints_of_a_table():
    rows = [
        {"arm": arm, "seed": seed, "iteration": k, "network_accuracy": 0.1 * k, "evaluations": 1000 * pace,
         "mcts_accuracy": 0.08 * k, "play_cpu_seconds": 50, "train_cpu_seconds": 10}
        for arm, pace in (("slow", 2), ("fast", 1)) for seed in (1, 2) for k in range(1, 11)
    ]  # fmt: skip
    found = endpoints(Table(tuple(rows)), level=0.65)
    assert math.exp(found["fast"][1].log_evaluations) == pytest.approx(6500)
    assert found["slow"][2].log_evaluations - found["fast"][2].log_evaluations == pytest.approx(math.log(2))
    assert math.exp(found["slow"][1].log_minutes) == pytest.approx(6.5) and found["slow"][1].accuracy == pytest.approx(80)
    assert found["slow"][1].reached and not endpoints(Table(tuple(rows)), level=2.0)["slow"][1].reached


def test_effects_of_a_design_without_noise_are_those_put_in():
    main, pair = np.array([1.0, -0.5, 0.25, 0.0, 2.0]), 0.75  # half effects, and one interaction

    def value(name, seed):
        on = signs(name)
        return 70 + 3 * seed + float(on @ main) + pair * on[0] * on[3]

    each, total = effects({name: {seed: value(name, seed) for seed in (5, 6)} for name in NAMES})
    assert [each[switch].value for switch in arms.SWITCHES] == pytest.approx(2 * main)
    assert each["merge_reply"].value == pytest.approx(2 * pair) and each["cyclic_squeeze"].value == pytest.approx(0)
    assert total.value == pytest.approx(2 * main.sum()) and all(one.half < 1e-9 for one in each.values())


@pytest.mark.parametrize(("seeds", "freedom"), [((5,), 10), ((5, 6), 15)])
def test_intervals_hold_the_truth_as_often_as_they_say(seeds, freedom):
    """Noise of deviation 0.6: the standard error of an effect is 2 * 0.6 / sqrt(runs)."""
    rng, inside, widths = np.random.default_rng(1), 0, []
    for _ in range(400):
        each, _ = effects({name: {seed: rng.normal(0, 0.6) + 10 * seed for seed in seeds} for name in NAMES})
        inside += sum(abs(each[switch].value) <= each[switch].half for switch in arms.SWITCHES)
        widths.append(each["merge"].half ** 2)
    assert 0.93 < inside / 2000 < 0.97
    runs = 16 * len(seeds)
    assert math.sqrt(np.mean(widths)) == pytest.approx(t_quantile(freedom) * 2 * 0.6 / math.sqrt(runs), rel=0.05)
