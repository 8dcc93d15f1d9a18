"""Runs experiments, each in a folder of its own, then the notebooks that show them; goes on where a run was stopped.

runs/<run>/
  run.json            what was asked, with which settings, and how far it came
  report.html, .md    everything known so far, beside what the sources say
  s2.tabular/         an experiment: work/, metrics.json, result.json (azlab/repro/perform.py), error.txt if it failed
  05_tabular_go/      a notebook: notebook.ipynb (executed), log.txt, figures/
"""

import os
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.files import locked, make_folder
from azlab.repro import experiments, results
from azlab.repro.experiments import Experiment
from azlab.repro.perform import RUN, perform
from azlab.repro.reading import is_name, is_number, is_text, is_time, is_whole, read_json, refuse
from azlab.repro.record import write_json
from azlab.repro.results import RESULT
from azlab.repro.sources import PROFILES, has_notebook, notebook_path
from azlab.show.progress import Progress

ERROR = "error.txt"  # where a failed experiment's traceback is
REMEDY = "Nothing of it was run: restore the file, or start a new run without --resume."
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
Say = Callable[[str], None]  # takes one line of progress
OnCell = Callable[[str, int, int, str], None]  # (notebook, number of the cell, cells in all, its first line)


@dataclass
class Step:
    """One experiment of a run, or one notebook that shows what its experiments found."""

    name: str  # s2.tabular, or 05_tabular_go
    settings: dict[str, Any] = field(default_factory=dict)  # of an experiment
    state: str = WAITING
    began: str = ""  # its first try; UTC, ISO 8601
    seconds: float = 0.0  # of all tries: what an earlier one trained, a later one goes on with
    error: str = ""


@dataclass
class Run:
    """A run and its folder; `save` after every change, so that a killed run can go on."""

    folder: Path
    profile: str
    seed: int
    experiments: list[Step]
    notebooks: list[Step]
    started: str = ""

    @property
    def steps(self) -> list[Step]:
        return [*self.experiments, *self.notebooks]

    @property
    def failed(self) -> list[Step]:
        return [step for step in self.steps if step.state == FAILED]

    @property
    def finished(self) -> bool:
        return all(step.state == DONE for step in self.steps)

    def save(self) -> None:
        write_json(self.folder / RUN, {key: value for key, value in asdict(self).items() if key != "folder"})


def new_run(chosen: list[Experiment], profile: str, seed: int, folder: Path) -> Run:
    """A run that has not started. Every setting is checked here, before anything is run."""
    _see_that_it_is_new(folder)
    for one in chosen:
        one.check(one.at(profile))
    steps = [Step(one.id, dict(one.at(profile))) for one in chosen]
    run = Run(make_folder(folder), profile, seed, steps, [Step(name) for name in _notebooks(chosen)], results.now())
    with held(run.folder):
        _see_that_it_is_new(folder)  # another process may have been quicker
        run.save()
    return run


def _notebooks(chosen: list[Experiment]) -> list[str]:
    """The notebooks that show these experiments, as far as they are here."""
    return sorted({one.notebook for one in chosen if has_notebook(one.notebook)})


def _see_that_it_is_new(folder: Path) -> None:
    if os.path.lexists(folder / RUN):
        raise AzlabError(f"{folder} already holds a run: go on with it by --resume, or name another folder with --out.")


def old_run(folder: Path) -> Run:
    """The run in `folder`, as far as it came. It may be anyone's: all is checked, and only what is in this checkout runs."""
    file = folder / RUN
    if not os.path.lexists(file):
        raise AzlabError(f"There is no run in {folder} to go on with.")
    content = read_json(file, REMEDY)
    good = set(content) == {"profile", "seed", "started", "experiments", "notebooks"} and bool(content["experiments"])
    if not good or not isinstance(content["experiments"], list) or not isinstance(content["notebooks"], list):
        refuse(file, "a run has a profile, a seed, when it started, experiments and notebooks", REMEDY)
    checks = {
        "profile": content["profile"] in PROFILES,
        "seed": is_whole(content["seed"]),
        "started": is_time(content["started"]),
    }
    for name, holds in checks.items():
        if not holds:
            refuse(file, f"{name} cannot be {content[name]!r}", REMEDY)
    steps = [_old_step(step, file) for step in content.pop("experiments")]
    notebooks = [_old_step(step, file) for step in content.pop("notebooks")]
    try:
        known = [experiments.find(step.name) for step in steps]
        for step, experiment in zip(steps, known, strict=True):
            experiment.check(step.settings)
            experiment.check_texts(step.settings)
    except AzlabError as error:
        refuse(file, str(error).rstrip("."), REMEDY)
    for step in notebooks:
        if step.settings or step.name not in _notebooks(known):
            refuse(file, f"{step.name!r} is no notebook that shows its experiments; only those are executed", REMEDY)
    names = [step.name for step in (*steps, *notebooks)]
    if len(set(names)) < len(names):
        refuse(file, "it names an experiment or notebook twice", REMEDY)
    link = next((path for path in folder.rglob("*") if path.is_symlink()), None)
    if link is not None:  # what is written there would land somewhere else
        refuse(link, "it is a link, and a run that has one does not go on", "Put what it leads to in its place.")
    return Run(make_folder(folder), experiments=steps, notebooks=notebooks, **content)


def _old_step(content: Any, file: Path) -> Step:
    names = {one.name for one in fields(Step)}
    if not isinstance(content, dict) or not {"name"} <= set(content) <= names:
        refuse(file, f"a step is a table with a name and some of {', '.join(sorted(names))}", REMEDY)
    step = Step(**content)
    good = {
        "name": is_name(step.name),
        "settings": isinstance(step.settings, dict),
        "state": step.state in (WAITING, RUNNING, DONE, FAILED),
        "began": step.began == "" or is_time(step.began),
        "seconds": is_number(step.seconds) and step.seconds >= 0,
        "error": is_text(step.error),
    }
    for name, holds in good.items():
        if not holds:
            refuse(f"{file}, a step", f"{name} cannot be {getattr(step, name)!r}", REMEDY)
    return step


def newest_unfinished(folder: Path, say: Say) -> Run:
    """The newest run in `folder` that has something left to do. Of one that cannot be read, `say` gets a sentence."""
    runs = []
    for file in sorted(folder.glob(f"*/{RUN}")):
        try:
            runs.append(old_run(file.parent))
        except AzlabError as error:
            say(f"Passed over: {error}")
    unfinished = sorted((run for run in runs if not run.finished), key=lambda run: run.started)
    if not unfinished:
        raise AzlabError(f"There is no unfinished run in {folder}; start one without --resume.")
    return unfinished[-1]


def held(folder: Path) -> AbstractContextManager[None]:
    """While this process runs something in `folder`, no other may."""
    return locked(folder, f"The run in {folder} is still running in another process: wait for it, or stop it first.")


def go(run: Run, say: Say, on_cell: OnCell | None = None, progress: Callable[[str], Progress] = Progress) -> None:
    """Run every experiment that is not done, then the notebooks. One that fails is noted, and the others go on."""
    for number, step in enumerate(run.steps, start=1):
        title = f"[{number}/{len(run.steps)}] {step.name}"
        if step.state == DONE:
            say(f"{title}: already done")
            continue
        again = " again" if step.state in (RUNNING, FAILED) else ""
        if number > len(run.experiments):
            say(f"{title}: executing the notebook")
            _run_step(run, step, partial(_show, run, step, on_cell))
        else:
            say(f"{title}: running{again} at profile {run.profile}")
            _run_step(run, step, partial(_perform, run, step, progress))
        if step.state == DONE:
            say(f"{title}: done in {results.duration(step.seconds)}")
        else:
            say(f"{title}: FAILED after {results.duration(step.seconds)}: {step.error}.")


def _run_step(run: Run, step: Step, work: Callable[[], None]) -> None:
    step.state, step.error, step.began = RUNNING, "", step.began or results.now()
    run.save()
    started = time.perf_counter() - step.seconds
    try:
        work()
        step.state = DONE
    except Exception as error:
        step.state, step.error = FAILED, _reason(error, run.folder / step.name)
    finally:
        step.seconds = time.perf_counter() - started
        run.save()


def _reason(error: Exception, folder: Path) -> str:
    """A sentence without its full stop; where our own code or an experiment's went wrong, the traceback is put into a file."""
    if isinstance(error, AzlabError):
        return str(error).rstrip(".")
    make_folder(folder)
    (folder / ERROR).write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first} (see {folder / ERROR})"


def _perform(run: Run, step: Step, progress: Callable[[str], Progress]) -> None:
    (run.folder / step.name / ERROR).unlink(missing_ok=True)
    experiment, folder = experiments.find(step.name), run.folder / step.name
    perform(experiment, run.profile, step.settings, run.seed, folder, step.began, step.seconds, progress)


def _show(run: Run, step: Step, on_cell: OnCell | None) -> None:
    """Execute a notebook on what the run found."""
    from azlab.repro import execute  # papermill takes a second to import

    lacking = [one.name for one in run.experiments if experiments.find(one.name).notebook == step.name and one.state != DONE]
    if lacking:
        raise AzlabError(f"it shows {', '.join(lacking)}, which is not done")
    parameters = {"profile": run.profile, "seed": run.seed, "out": str(run.folder.resolve())}
    tell = (lambda cell, cells, line: on_cell(step.name, cell, cells, line)) if on_cell else None
    execute.execute(notebook_path(step.name), run.folder / step.name, parameters, tell)


def results_of(run: Run) -> Iterator[results.Result]:
    """The results of the run's experiments that are done. A file that says it comes from elsewhere is refused."""
    for step in run.experiments:
        file = run.folder / step.name / RESULT
        if step.state == DONE and os.path.lexists(file):
            result, experiment = results.read(file), experiments.find(step.name)
            wanted = (experiment.source, experiment.name, run.profile, run.seed)
            if (result.source, result.experiment, result.profile, result.seed) != wanted:
                refuse(file, "it is the result of another experiment, profile or seed than the run's", results.REMEDY)
            yield result


def estimate(one: Experiment, profile: str, folder: Path, progress: Callable[[str], Progress] = Progress) -> float:
    """Seconds that an experiment would take at `profile` here: smoke and probe are timed, and a line is put through both.

    Smoke is run twice and timed the second time, so that kernels compiled for the first time do not count as start-up.
    """
    needed = ("smoke", "probe", profile)
    missing = [name for name in needed if name not in one.work or name not in one.settings]
    if missing:
        raise AzlabError(f"{one.id} cannot be estimated: its profiles.toml gives no work or profile {missing[0]!r}.")
    seconds = {}
    for name in ("smoke", "smoke", "probe"):
        try:
            result = perform(one, "smoke", one.at(name), 0, folder / f"{name}-{time.monotonic_ns()}", progress=progress)
        except Exception as error:
            raise AzlabError(f"{one.id} cannot be estimated: it failed at {name}: {error}.") from error
        seconds[name] = result.seconds
    work = one.work
    a_unit = max(seconds["probe"] - seconds["smoke"], 0) / (work["probe"] - work["smoke"])
    start_up = max(seconds["smoke"] - a_unit * work["smoke"], 0)
    return start_up + a_unit * work[profile]
