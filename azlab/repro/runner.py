"""Runs the notebooks of the reproductions, each in a folder of its own, and goes on where a run was stopped.

runs/<run>/
  run.json            what was asked, with which parameters, and how far it came
  report.html, .md    everything known so far, beside what the sources say
  <notebook>/         notebook.ipynb (executed), log.txt, metrics.json, result.json (once finished), figures/, work/
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.files import locked, make_folder
from azlab.repro import execute, profiles, results
from azlab.repro.reading import is_number, is_text, is_time, is_whole, read_json, refuse
from azlab.repro.record import METRICS, write_json
from azlab.repro.sources import PROFILES, notebook_path, source_names

RUN, RESULT = "run.json", "result.json"
REMEDY = "Nothing of it was run: restore the file, or start a new run without --resume."
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
Say = Callable[[str], None]  # takes one line of progress
OnCell = Callable[[str, int, int, str], None]  # (notebook, number of the cell, cells in all, its first line)


@dataclass
class Step:
    """One notebook of a run."""

    source: str
    notebook: str
    parameters: dict[str, Any]
    parts: list[str] = field(default_factory=list)  # of the notebook; none means all
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
    steps: list[Step]
    started: str = ""

    @property
    def failed(self) -> list[Step]:
        return [step for step in self.steps if step.state == FAILED]

    @property
    def finished(self) -> bool:
        return all(step.state == DONE for step in self.steps)

    def save(self) -> None:
        content = {
            "profile": self.profile,
            "seed": self.seed,
            "started": self.started,
            "steps": [asdict(one) for one in self.steps],
        }
        write_json(self.folder / RUN, content)


def new_run(notebooks: list[profiles.NotebookProfiles], profile: str, seed: int, folder: Path, parts: Sequence[str] = ()) -> Run:
    """A run that has not started. Every parameter is checked here, before the first kernel starts."""
    _see_that_it_is_new(folder)
    steps = []
    for one in notebooks:
        parameters = dict(one.at(profile))
        profiles.check_parameters(one.path, {**parameters, "profile": profile, "seed": seed, "out": ""})
        known = profiles.notebook_parts(one.path) if parts else []
        for part in parts:
            if part not in known:
                raise AzlabError(f"{one.notebook} has no part {part!r}; its parts are: {', '.join(known) or 'none'}.")
        steps.append(Step(one.source, one.notebook, parameters, list(parts)))
    run = Run(make_folder(folder), profile, seed, steps, results.now())
    with held(run.folder):
        _see_that_it_is_new(folder)  # another process may have been quicker
        run.save()
    return run


def _see_that_it_is_new(folder: Path) -> None:
    if os.path.lexists(folder / RUN):
        raise AzlabError(f"{folder} already holds a run: go on with it by --resume, or name another folder with --out.")


def old_run(folder: Path) -> Run:
    """The run in `folder`, as far as it came. It may be anyone's: all is checked, and only notebooks of this checkout run."""
    file = folder / RUN
    if not os.path.lexists(file):
        raise AzlabError(f"There is no run in {folder} to go on with.")
    content = read_json(file, REMEDY)
    if set(content) != {"profile", "seed", "started", "steps"} or not isinstance(content["steps"], list) or not content["steps"]:
        refuse(file, "a run has a profile, a seed, when it started, and steps", REMEDY)
    good = {
        "profile": content["profile"] in PROFILES,
        "seed": is_whole(content["seed"]),
        "started": is_time(content["started"]),
    }
    for name, holds in good.items():
        if not holds:
            refuse(file, f"{name} cannot be {content[name]!r}", REMEDY)
    known = {one.notebook: one for source in source_names() for one in profiles.load(source)}
    steps = [_old_step(step, known, file) for step in content.pop("steps")]
    if len({step.notebook for step in steps}) < len(steps):
        refuse(file, "it names a notebook twice", REMEDY)
    link = next((path for path in folder.rglob("*") if path.is_symlink()), None)
    if link is not None:  # what the notebooks write there would land somewhere else
        refuse(link, "it is a link, and a run that has one does not go on", "Put what it leads to in its place.")
    return Run(make_folder(folder), steps=steps, **content)


def _old_step(content: Any, known: dict[str, profiles.NotebookProfiles], file: Path) -> Step:
    names = {one.name for one in fields(Step)}
    if not isinstance(content, dict) or not {"source", "notebook", "parameters"} <= set(content) <= names:
        refuse(file, f"a step is a table with some of {', '.join(sorted(names))}, and source, notebook and parameters", REMEDY)
    step = Step(**content)
    one = known.get(step.notebook) if isinstance(step.notebook, str) else None
    if one is None:
        refuse(file, f"{step.notebook!r} is no notebook of this checkout, and only those are run: {', '.join(known)}", REMEDY)
    good = {
        "source": step.source == one.source,
        "parameters": isinstance(step.parameters, dict) and not set(step.parameters) & set(profiles.OF_THE_RUNNER),
        "parts": isinstance(step.parts, list) and all(part in profiles.notebook_parts(one.path) for part in step.parts),
        "state": step.state in (WAITING, RUNNING, DONE, FAILED),
        "began": step.began == "" or is_time(step.began),
        "seconds": is_number(step.seconds) and step.seconds >= 0,
        "error": is_text(step.error),
    }
    for name, holds in good.items():
        if not holds:
            refuse(f"{file}, {one.notebook}", f"{name} cannot be {getattr(step, name)!r}", REMEDY)
    try:
        profiles.check_parameters(one.path, step.parameters)
        profiles.check_texts(one, step.parameters)
    except AzlabError as error:
        refuse(file, str(error).rstrip("."), REMEDY)
    return step


def newest_unfinished(folder: Path, say: Say) -> Run:
    """The newest run in `folder` that has notebooks left to do. Of one that cannot be read, `say` gets a sentence."""
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
    """While this process runs notebooks in `folder`, no other may."""
    return locked(folder, f"The run in {folder} is still running in another process: wait for it, or stop it first.")


def go(run: Run, say: Say, on_cell: OnCell | None = None) -> None:
    """Run every notebook that is not done. One that fails is noted, and the others go on."""
    for number, step in enumerate(run.steps, start=1):
        title = f"[{number}/{len(run.steps)}] {step.notebook}"
        if step.state == DONE:
            say(f"{title}: already done")
            continue
        again = " again" if step.state in (RUNNING, FAILED) else ""
        say(f"{title}: running{again} at profile {run.profile}")
        _run_step(run, step, on_cell)
        if step.state == DONE:
            say(f"{title}: done in {results.duration(step.seconds)}")
        else:
            log = run.folder / step.notebook / execute.LOG
            say(f"{title}: FAILED after {results.duration(step.seconds)}: {step.error}. Log: {log}")


def _run_step(run: Run, step: Step, on_cell: OnCell | None) -> None:
    folder = run.folder / step.notebook
    path = notebook_path(step.notebook)
    parameters = {**step.parameters, "profile": run.profile, "seed": run.seed, "out": str(folder)}
    step.state, step.error = RUNNING, ""
    run.save()
    step.began = step.began or results.now()
    started = time.perf_counter() - step.seconds
    try:
        (folder / METRICS).unlink(missing_ok=True)  # of an earlier try
        profiles.check_parameters(path, parameters)
        tell = (lambda cell, cells, line: on_cell(step.notebook, cell, cells, line)) if on_cell else None
        execute.execute(path, folder, parameters, tell, step.parts)
        step.seconds = time.perf_counter() - started
        _write_result(run, step)
        step.state = DONE
    except (execute.NotebookFailed, AzlabError, RuntimeError, OSError) as error:  # RuntimeError: the kernel died or did not start
        step.state, step.error = FAILED, str(error).rstrip(".")
    finally:
        step.seconds = time.perf_counter() - started
        run.save()


def _write_result(run: Run, step: Step) -> None:
    """Put the notebook's measurements and how they came about into one file. A notebook that recorded nothing leaves none."""
    metrics = run.folder / step.notebook / METRICS
    if not os.path.lexists(metrics):
        return
    remedy = "Leave this file to azlab.repro.recorder, and run the notebook again with --resume."
    measured = read_json(metrics, remedy)
    if set(measured) != {"source", "profile", "claims", "curves"}:
        refuse(metrics, "it does not hold source, profile, claims and curves", remedy)
    results.check_measured(measured["claims"], measured["curves"], metrics, remedy)
    if measured["source"] != step.source:
        raise AzlabError(f"{step.notebook} belongs to {step.source}, but its recorder was made for {measured['source']}.")
    command = f"azlab reproduce {step.notebook} --profile {run.profile} --seed {run.seed}"
    command += "".join(f" --part {part}" for part in step.parts)
    results.Result(
        source=step.source, notebook=step.notebook, profile=run.profile, seed=run.seed, command=command,
        parameters=step.parameters, started=step.began, seconds=round(step.seconds, 1), machine=results.machine(),
        versions=results.versions(), claims=measured["claims"], curves=measured["curves"],
    ).write(run.folder / step.notebook / RESULT)  # fmt: skip


def results_of(run: Run) -> Iterator[results.Result]:
    """The results of the run's notebooks that are done. A file that says it comes from elsewhere is refused."""
    for step in run.steps:
        file = run.folder / step.notebook / RESULT
        if step.state == DONE and os.path.lexists(file):
            result = results.read(file)
            if (result.source, result.notebook, result.profile, result.seed) != (
                step.source,
                step.notebook,
                run.profile,
                run.seed,
            ):
                refuse(file, "it is the result of another notebook, profile or seed than the run's", results.REMEDY)
            yield result


def estimate(one: profiles.NotebookProfiles, profile: str, folder: Path, on_cell: OnCell | None = None) -> float:
    """Seconds that a notebook would take at `profile` here: its smoke and probe runs are timed, and a line is put through both.

    Smoke is run twice and timed the second time, so that kernels compiled for the first time do not count as start-up.
    """
    needed = ("smoke", "probe", profile)
    missing = [name for name in needed if name not in one.work or name not in one.parameters]
    if missing:
        raise AzlabError(f"{one.notebook} cannot be estimated: its profiles.toml gives no work or profile {missing[0]!r}.")
    seconds = {}
    for name in ("smoke", "smoke", "probe"):
        run = new_run([one], "smoke", 0, folder / f"{name}-{time.monotonic_ns()}")
        run.steps[0].parameters = dict(one.parameters[name])
        profiles.check_parameters(one.path, run.steps[0].parameters)
        go(run, lambda line: None, on_cell)
        if run.failed:
            raise AzlabError(f"{one.notebook} cannot be estimated: it failed at {name}: {run.failed[0].error}.")
        seconds[name] = run.steps[0].seconds
    work = one.work
    a_unit = max(seconds["probe"] - seconds["smoke"], 0) / (work["probe"] - work["smoke"])
    start_up = max(seconds["smoke"] - a_unit * work["smoke"], 0)
    return start_up + a_unit * work[profile]
