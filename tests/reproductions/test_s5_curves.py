"""The source's curves, read off its figures, against what it says of them in words and tables."""

import tomllib

import numpy as np
import pytest

from azlab.errors import AzlabError
from azlab.repro.sources import source_folder, source_table
from azlab_reproductions.s5_connect4.curves import source_mean, source_runs

HOURS = [4, 5, 6, 8, 10, 12, 15, 18]
# means over the runs, worked out from the figures apart from this code; None: not all runs are there yet, or any more
MEANS = {
    "baseline": [85.25, 87.08, 87.79, 88.55, 89.53, 90.01, 90.48, 90.60],
    "extended": [87.02, 87.83, 88.40, 89.09, 89.84, 90.59, 91.29, 91.64],
    "prevwork": [None, 85.02, 86.00, 86.51, 87.14, 87.54, 88.18, 88.70],
    "service": [87.46, 88.36, 88.79, 89.79, 90.99, 91.38, 91.49, None],
    "grow": [88.63, 88.31, 89.08, 89.74, 90.63, 91.04, 91.20, None],
}


@pytest.mark.parametrize("arm", MEANS)
def test_means_at_equal_hours(arm):
    for hours, mean in zip(HOURS, MEANS[arm], strict=True):
        found = source_mean(arm, hours)
        assert np.isnan(found) if mean is None else found == pytest.approx(mean, abs=0.006)


def test_runs_of_an_arm_differ_by_a_fifth_of_a_point_at_equal_cost():
    at_10 = [np.interp(10, *run.T) for run in source_runs("baseline")]
    assert len(at_10) == 5 and np.std(at_10, ddof=1) == pytest.approx(0.22, abs=0.01)
    assert sorted(run[:, 1].max() for run in source_runs("baseline")) == [90.41, 90.70, 90.72, 91.00, 91.00]


def test_the_best_of_every_single_run_is_what_the_text_says():
    claims = tomllib.loads((source_folder("s5") / "claims.toml").read_text())
    said = {claim["id"]: claim["value"] for group in claims["group"] for claim in group["claims"] if "value" in claim}
    arms = [arm for arm in dict.fromkeys(source_table("s5_curves.csv")["arm"]) if f"s5.az.{arm}.accuracy" in said]
    single = [arm for arm in arms if len(source_runs(arm)) == 1]
    assert len(single) == 19
    for arm in single:
        assert source_runs(arm)[0][:, 1].max() == pytest.approx(said[f"s5.az.{arm}.accuracy"], abs=0.011), arm
    hours = np.arange(3.45, 15, 0.01)
    mean = np.mean([np.interp(hours, *run.T) for run in source_runs("baseline")], axis=0)
    for level, reached in said["s5.az.baseline.hours"].items():
        assert hours[np.argmax(mean >= int(level))] == pytest.approx(reached, abs=0.1)


def test_diversity_is_a_share():
    assert source_mean("extended", 3, "diversity") == pytest.approx(0.68, abs=0.006)
    assert source_mean("retry", 3, "diversity") == pytest.approx(0.31, abs=0.006)
    assert source_mean("extended", 10, "easy") > source_mean("extended", 10) + 3


def test_curves_that_there_are_not():
    with pytest.raises(AzlabError, match="no curve 'dedup9' of 'hard'; it has .*dedup8"):
        source_runs("dedup9")
    with pytest.raises(AzlabError, match="it has hard, easy, diversity"):
        source_runs("baseline", "soft")


def test_the_points_of_the_parameter_search():
    table = {name: np.array(cells, float) for name, cells in source_table("s5_hyperopt.csv").items()}
    assert table["point"].tolist() == list(range(1, 66))
    first, second = np.argsort(-table["accuracy"])[:2]
    names = ("accuracy", "cpuct", "fpu", "alpha_base", "draw_value")
    assert [table[name][first] for name in names] == [81.74, 0.9267, 0.9168, 12.5, 0.4815]  # hyperopt1
    assert [table[name][second] for name in names] == [81.61, 1.545, 0.8545, 20.38, 0.6913]  # hyperopt2, the baseline
