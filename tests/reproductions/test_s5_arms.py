"""The arms of S5's comparisons: the source's numbers, a design that confuses nothing, and every one of them runs."""

from itertools import combinations

import numpy as np
import pytest

from azlab.learning import AlphaZero
from azlab.learning.as_toml import differences
from azlab.learning.config import preset
from azlab_reproductions.s5_connect4 import arms

TINY = {
    "iterations": 2, "selfplay.positions": 20, "selfplay.games": 4, "selfplay.workers": 1, "budget.simulations": 4,
    "training.batch": 16, "training.window": [[1, 64]], "evaluation.positions": "", "evaluation.patience": 0,
}  # fmt: skip


def test_all_five_switches_at_the_sources_size_are_its_extended_baseline():
    assert arms.switched(preset("connect4_baseline"), arms.SWITCHES) == preset("connect4_extended")


def test_the_twin_is_the_baseline_at_a_fortieth_of_its_size():
    twin, full = preset("connect4_small"), preset("connect4_baseline")
    sizes = {"iterations", "net.blocks", "net.filters", "net.stem", "net.head", "net.encoding", "budget.simulations"}
    sizes |= {
        "selfplay.games",
        "selfplay.workers",
        "selfplay.positions",
        "selfplay.cache",
        "loss.value_weight",
        "training.window",
    }
    tests = {"evaluation.count", "evaluation.search_every", "evaluation.patience"}
    assert set(differences(twin, full)) == sizes | tests
    assert full.selfplay.positions == 40 * twin.selfplay.positions
    assert full.training.window[0][1] == 40 * twin.training.window[0][1]


def test_the_sources_parameters_for_values_between_0_and_1():
    """cpuct, fpu and drawValue of table 5, turned to values from -1 to 1 and back."""
    found = arms.sets(preset("connect4_baseline"))
    table = {"baseline": (1.545, 0.8545, 20.38, 0.6913), "hyperopt1": (0.9267, 0.9168, 12.5, 0.4815), "prevwork": (4, 0, 7, 0.5)}
    for arm, stated in table.items():
        config = found[arm]
        assert config.search == config.test_search
        own = (
            config.search.cpuct / 2,
            (1 + config.search.fpu) / 2,
            config.explore.noise_alpha_base,
            (1 + config.search.draw_value) / 2,
        )
        assert own == pytest.approx(stated), arm
    caps = found["caps"]
    assert caps.budget.cap == (0.25, 30) and caps.explore.noise * caps.explore.capped_noise == pytest.approx(0.025)


def test_singles_have_the_schedules_of_the_sources_single_runs():
    found = arms.singles(preset("connect4_baseline"))
    assert set(found) == {"merge", "merge2", "merge5", "cyclic", "window", "reply", "squeeze"}
    assert [found[name].training.merge for name in ("merge2", "merge5", "merge")] == [0.2, 0.5, 0.8]
    assert found["window"].training.window == ((5, 500_000), (12, 2_000_000))
    assert found["cyclic"].training.rate == ((1, 1.0), (25, 0.5))


def test_the_factorial_confuses_no_effect_with_another():
    names = list(arms.factorial(preset("connect4_small")))
    on = np.array([[1 if switch in name.split("_") else -1 for switch in arms.SWITCHES] for name in names])
    columns = [np.ones(16), *on.T, *(on[:, a] * on[:, b] for a, b in combinations(range(5), 2))]
    products = np.array(columns) @ np.array(columns).T
    assert len(names) == 16 and arms.EXTENDED in names
    assert (products == 16 * np.eye(16)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["connect4_small", "connect4_baseline"])
def test_every_arm_trains_for_two_tiny_iterations(name, tmp_path):
    base = preset(name).changed(TINY)
    every = arms.sets(base) | arms.singles(base) | {"extended": arms.switched(base, arms.SWITCHES)}
    for arm, config in every.items():
        rows = AlphaZero.from_config(config, tmp_path / arm).train()
        assert [row["iteration"] for row in rows] == [1, 2] and np.isfinite(rows[-1]["loss"]), arm
        assert ("reply_loss" in rows[-1]) == (arm in ("reply", "extended")), arm
