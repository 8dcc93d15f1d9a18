"""The commands `azlab reproduce` and `azlab report`: what they print, and their exit codes."""

import argparse
import datetime
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.files import checkout
from azlab.repro import experiments, results, runner
from azlab.repro.runner import Run
from azlab.repro.sources import PROFILES, source_names
from azlab.show.progress import Progress
from azlab.watching import watcher

PATIENCE = 30.0  # seconds between two lines on how far a part is, where nobody watches


def reproduce(args: argparse.Namespace) -> int:
    """Run experiments and show them in their notebooks, then report. Exit code 0 if all went through, 1 if one failed."""
    if args.list:
        return _list()
    profile = args.profile or "smoke"
    if args.estimate:
        return _estimate(args.what, profile)
    if args.keep:
        checkout(results.KEPT)  # said now, not after hours
    run = _resumed(args) if args.resume else _started(args, profile)
    if isinstance(run, int):
        return run
    with runner.held(run.folder):
        if args.resume:
            run = runner.old_run(run.folder)  # as a process left it that may have ended just now
        return _go(run, args.keep)


def _go(run: Run, keep: bool) -> int:
    print(f"The run is in {run.folder}. Ctrl-C stops it; `azlab reproduce --resume --out {run.folder}` goes on.", flush=True)
    cells = _CellLine()
    try:
        runner.go(run, cells.line, cells, PartLine)
    except KeyboardInterrupt:
        cells.clear()
        print(f"Stopped. `azlab reproduce --resume --out {run.folder}` goes on.", file=sys.stderr)
        return 130
    complete = _write_report(run.folder, [run.folder])
    if run.failed:
        print(f"{len(run.failed)} of {len(run.steps)} steps failed: {', '.join(step.name for step in run.failed)}.")
    for result in runner.results_of(run) if keep else ():
        print(f"Kept: {result.keep()}")
    return 0 if complete and not run.failed else 1


def report(args: argparse.Namespace) -> int:
    """Write the report. Exit code 0 if all of it is there, 1 if a file could not be used, which the report and stderr name."""
    return 0 if _write_report(Path(args.out), [Path(run) for run in args.runs]) else 1


def _write_report(folder: Path, runs: list[Path]) -> bool:
    """Write the report and say where it is; False if it lacks what a damaged file held."""
    from azlab.repro import report
    from azlab.repro.rows import counts_line

    content = report.gather(runs)
    html, markdown = report.write(folder, content)
    for section in content.sections:
        print(f"{section.source.name}: {counts_line(section.counts)}")
    print(f"The report is {html} (and {markdown.name} beside it).", flush=True)
    for fault in content.faults:
        print(f"Left out of the report: {fault}", file=sys.stderr)
    return not content.faults


def _started(args: argparse.Namespace, profile: str) -> Run | int:
    """A new run; an exit code when there is no experiment for what was asked, which is only reported then."""
    chosen, empty = experiments.select(args.what)
    for source in empty:
        print(f"{source}: no experiment yet; its claims count as not run.")
    if not chosen:
        return 0 if _write_report(Path(args.out or "runs/report"), []) else 1
    if args.out:
        return runner.new_run(chosen, profile, args.seed or 0, Path(args.out))
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    return runner.new_run(chosen, profile, args.seed or 0, Path("runs") / f"{stamp}-{profile}")


def _resumed(args: argparse.Namespace) -> Run:
    passed_over = lambda line: print(line, file=sys.stderr)  # noqa: E731
    run = runner.old_run(Path(args.out)) if args.out else runner.newest_unfinished(Path("runs"), passed_over)
    if args.profile not in (None, run.profile) or args.seed not in (None, run.seed):
        raise AzlabError(
            f"The run in {run.folder} is at profile {run.profile} with seed {run.seed}, and goes on so: "
            "leave out --profile and --seed."
        )
    if args.what:
        wanted = {one.id for one in experiments.select(args.what)[0]}
        if wanted != {step.name for step in run.experiments}:
            raise AzlabError(f"The run in {run.folder} is of other experiments: name none to go on with it.")
    return run


def _list() -> int:
    for source in source_names():
        print(source)
        found = experiments.load(source)
        for one in found:
            scales = ", ".join(name for name in PROFILES if name in one.settings)
            print(f"  {one.id}: {scales} ({one.notebook})")
        if not found:
            print("  no experiment yet")
    return 0


def _estimate(what: list[str], profile: str) -> int:
    """Time smoke and probe runs of each experiment and say how long the profile would take here."""
    chosen, empty = experiments.select(what)
    for source in empty:
        print(f"{source}: no experiment yet.")
    total, code = 0.0, 0
    with tempfile.TemporaryDirectory(prefix="azlab-") as folder:
        for one in chosen:
            try:
                seconds = runner.estimate(one, profile, Path(folder), PartLine)
            except AzlabError as error:
                print(error, flush=True)
                code = 1
                continue
            total += seconds
            print(f"{one.id} at {profile}: about {results.duration(seconds)} here ({seconds / 3600:.2f} hours)", flush=True)
    print(f"Together about {results.duration(total)} ({total / 3600:.2f} hours). Nothing has been kept.")
    return code


class PartLine(Progress):
    """How far a part of an experiment is: a bar on a terminal; elsewhere, in a log, a line twice a minute and one at the end."""

    def __init__(self, label: str) -> None:
        super().__init__(f"  {label}")
        self._told = time.monotonic()

    def __call__(self, *report: Any, **facts: Any) -> None:
        super().__call__(*report, **facts)
        if not watcher() and time.monotonic() - self._told >= PATIENCE:
            self._told = time.monotonic()
            print(self.line, flush=True)


class _CellLine:
    """Progress: on a terminal one line that is written over, otherwise a line for each cell."""

    def __init__(self) -> None:
        self.live = sys.stdout.isatty()

    def __call__(self, notebook: str, cell: int, cells: int, first_line: str) -> None:
        text = f"  {notebook}: cell {cell} of {cells}: {first_line}"[:110]
        print(f"\r\033[K{text}" if self.live else text, end="" if self.live else "\n", flush=True)

    def line(self, text: str) -> None:
        self.clear()
        print(text, flush=True)

    def clear(self) -> None:
        if self.live:
            print("\r\033[K", end="", flush=True)
