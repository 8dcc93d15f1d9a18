"""S5's axis of hours: levels, curves, and claims that agree with the source's own curves."""

import math

import pytest

from azlab.learning.config import preset
from azlab.learning.sweep_table import Table
from azlab.repro import claims
from azlab.repro.record import Recorder
from azlab_reproductions.s5_connect4 import arms
from azlab_reproductions.s5_connect4.curves import source_mean
from azlab_reproductions.s5_connect4.hours import compare_with_hours, hours_of


def table_of(curve, arm="baseline", seeds=(1, 2)):
    """A table of runs whose accuracy is a function of hours; an iteration is 300,000 positions, as in the source."""
    hours = 300_000 / 135.8 / 3600
    rows = [
        {
            "arm": arm,
            "seed": seed,
            "iteration": k,
            "evaluations": 344 * 300_000,
            "mcts_accuracy": curve(hours * k) / 100,
            "moves": 1,
        }
        for seed in seeds
        for k in range(1, 41)
    ]
    return Table(tuple(rows))


def test_an_iteration_of_the_source_is_the_hours_it_states():
    run = hours_of(table_of(lambda hours: 90.0), "baseline", preset("connect4_baseline"))[0]
    assert run.hours[0] == pytest.approx(0.6136, abs=1e-4) and len(run.hours) == 40


def test_the_sources_own_curve_would_be_reproduced_and_a_worse_one_not():
    for below, verdict in ((0.0, True), (1.0, False)):
        record = Recorder("s5", "paper")
        curve = lambda hours, below=below: source_mean("baseline", min(max(hours, 3.8), 18.4)) - below  # noqa: E731
        compare_with_hours(record, table_of(curve), {"baseline": preset("connect4_baseline")}, {})
        one = record.curves["s5.curve.baseline"][0]
        claim = record.source.claim("s5.curve.baseline")
        apart = [abs(ours - theirs) for ours, theirs in zip(one["y"], claim.value, strict=True)]
        assert (max(apart) <= claim.tolerance) == verdict
        assert (
            record.claims["s5.az.baseline.hours"]["value"]["90"] == pytest.approx(12.0 if verdict else math.inf, abs=0.4) or below
        )


def test_claims_on_curves_are_the_means_of_the_sources_curves():
    for claim in claims.load("s5").claims:
        if claim.id.startswith("s5.curve."):
            arm = claim.id.split(".")[2]
            assert [source_mean(arm, hours) for hours in claim.x] == pytest.approx(claim.value, abs=0.006)


def test_every_single_run_of_the_source_has_its_claims():
    names = {"merge2": "dedup2", "merge5": "dedup5", "merge": "dedup8", "window": "slow_window"}
    base = preset("connect4_baseline")
    record = Recorder("s5", "paper")
    for arm, config in arms.singles(base).items():
        compare_with_hours(record, table_of(lambda hours: 91.5, arm), {arm: config}, names)
    assert (
        sum(name.endswith(".accuracy") for name in record.claims) == 7
        and sum(name.endswith(".hours") for name in record.claims) == 7
    )
