"""Runs one experiment in a folder of its own, and finds what a notebook shows: a result of its run, or one that is kept.

<folder>/
  work/           the experiment's own files: trainings that go on after a kill
  metrics.json    what it has recorded so far
  result.json     all of it and how it came about, once it is done
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from azlab.repro import experiments, results
from azlab.repro.experiments import Experiment
from azlab.repro.record import METRICS, Recorder
from azlab.repro.results import RESULT, Result
from azlab.show.progress import Progress

RUN = "run.json"  # in the folder of a run of `azlab reproduce`


def perform(
    experiment: Experiment,
    profile: str,
    settings: dict[str, Any],
    seed: int,
    folder: Path,
    began: str = "",
    seconds: float = 0.0,
    progress: Callable[[str], Progress] = Progress,
) -> Result:
    """Run an experiment and write its result; `began` and `seconds` are of an earlier try, which it goes on with."""
    experiment.check(settings)
    began, start = began or results.now(), time.perf_counter() - seconds
    (folder / METRICS).unlink(missing_ok=True)  # of an earlier try
    record = Recorder(experiment.source, profile, seed, folder, progress)
    experiment.function()(record, **settings)
    command = f"azlab reproduce {experiment.id} --profile {profile} --seed {seed}"
    result = Result(
        source=experiment.source, experiment=experiment.name, profile=profile, seed=seed, command=command, settings=settings,
        started=began, seconds=round(time.perf_counter() - start, 1), machine=results.machine(), versions=results.versions(),
        claims=record.claims, curves=record.curves, data=record.kept,
    )  # fmt: skip
    result.write(folder / RESULT)
    return results.read(folder / RESULT)  # as a later reader has it


def result(name: str, profile: str = "", seed: int = 1, out: str = "") -> Result:
    """What a notebook shows of an experiment ("s2.tabular"); the other arguments are the notebook's parameters.

    Without a profile it is the committed result of the largest profile. With one the experiment is run; in a notebook that
    `azlab reproduce` executes, what its run found is there already, and what was not part of it is shown as committed.
    """
    experiment = experiments.find(name)
    if out and os.path.lexists(Path(out) / name / RESULT):
        return results.read(Path(out) / name / RESULT)
    if not profile or (out and os.path.lexists(Path(out) / RUN)):
        return results.kept(experiment.source, experiment.name, seed)
    settings = experiment.at(profile)
    if out:
        return perform(experiment, profile, settings, seed, Path(out) / name)
    with tempfile.TemporaryDirectory(prefix="azlab-") as folder:
        return perform(experiment, profile, settings, seed, Path(folder))
