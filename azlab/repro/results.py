"""Results of notebooks: one JSON file for each notebook, profile and seed (and parts, if only some were run).

A run leaves `result.json` in the notebook's folder. Those worth keeping are committed as
`reproductions/<source>/results/<notebook>-<profile>-seed<k>.json`, with `-<part>` after the seed for parts. Fields: see `Result`.
"""

import dataclasses
import datetime
import json
import os
import platform
import re
import statistics
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from azlab import __version__
from azlab.errors import AzlabError
from azlab.files import root
from azlab.repro.claims import Claim, Source, is_number
from azlab.repro.record import write_json
from azlab.repro.sources import PROFILES, source_names
from azlab.repro.verdict import Measured

PACKAGES = ("numpy", "numba", "torch", "tensorflow", "keras")


@dataclass(frozen=True)
class Result:
    """What one run of one notebook measured, and how it was run."""

    source: str
    notebook: str
    profile: str
    seed: int
    command: str  # gives this result again
    parameters: dict[str, Any]
    started: str  # UTC, ISO 8601
    seconds: float
    machine: dict[str, Any]
    versions: dict[str, str]
    claims: dict[str, dict[str, Any]]  # by id: value, and spread, runs, note where there are
    curves: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # by id: label, x, y of each

    @property
    def run_id(self) -> str:
        parts = re.findall(r"--part (\S+)", self.command)  # a run of some parts does not stand for the whole notebook
        return "-".join([self.notebook, self.profile, f"seed{self.seed}", *parts])

    def write(self, file: Path) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, dataclasses.asdict(self))
        return file

    def keep(self) -> Path:
        """Write it among the results that are committed."""
        return self.write(root() / "reproductions" / self.source / "results" / f"{self.run_id}.json")


def read(file: Path) -> Result:
    """A result file, checked."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise AzlabError(f"{file} cannot be read as a result: {error}.") from None
    names = {one.name for one in dataclasses.fields(Result)}
    if not isinstance(content, dict) or set(content) != names:
        wrong = sorted(names ^ set(content)) if isinstance(content, dict) else ["everything"]
        raise AzlabError(f"{file} is not a result: missing or unknown: {', '.join(wrong)}.")
    if content["profile"] not in PROFILES:
        raise AzlabError(f"{file}: there is no profile {content['profile']!r}.")
    return Result(**content)


def committed() -> list[Result]:
    """Every result that is kept in `reproductions/`."""
    folders = (root() / "reproductions" / name / "results" for name in source_names())
    return [read(file) for folder in folders for file in sorted(folder.glob("*.json"))]


def of_run(folder: Path) -> list[Result]:
    """The results in the folder of a run."""
    if not (folder / "run.json").is_file():
        raise AzlabError(f"{folder} is not the folder of a run: it has no run.json.")
    return [read(file) for file in sorted(folder.glob("*/result.json"))]


@dataclass(frozen=True)
class Ours:
    """What we have for one claim: its measurement for the verdict, and what the report shows beside it."""

    measured: Measured
    results: list[Result]  # one for each seed, newest of each
    spread: Any = None
    runs: int | None = None
    notes: tuple[str, ...] = ()


def ours(source: Source, results: list[Result]) -> dict[str, Ours]:
    """Our measurement for each claim that has one: the largest profile wins, and in it the newest result of each seed.

    Over several seeds, numbers become means, and the spread is their standard deviation.
    """
    found = {}
    for claim in source.claims:
        fit = [one for one in results if one.source == source.name and _has(one, claim)]
        if not fit:
            continue
        largest = max((one.profile for one in fit), key=PROFILES.index)
        newest: dict[int, Result] = {}
        for one in sorted(fit, key=lambda result: result.started):
            if one.profile == largest:
                newest[one.seed] = one
        found[claim.id] = _together(claim, [newest[seed] for seed in sorted(newest)], largest)
    return found


def _has(result: Result, claim: Claim) -> bool:
    return claim.id in (result.curves if claim.is_curve else result.claims)


def _together(claim: Claim, results: list[Result], profile: str) -> Ours:
    if claim.is_curve:
        curves = [(one["x"], one["y"]) for result in results for one in result.curves[claim.id]]
        return Ours(Measured(profile, curves=curves), results, runs=len(curves))
    entries = [result.claims[claim.id] for result in results]
    values = [entry["value"] for entry in entries]
    notes = tuple(dict.fromkeys(entry["note"] for entry in entries if entry.get("note")))
    if claim.kind in ("text", "truth"):
        return Ours(Measured(profile, values), results, runs=len(values), notes=notes)
    if len(entries) == 1:
        return Ours(Measured(profile, values[0]), results, entries[0].get("spread"), entries[0].get("runs"), notes)
    return Ours(Measured(profile, _over(values, _mean)), results, _over(values, _deviation), len(values), notes)


def _over(values: list[Any], combine: Any) -> Any:
    """`combine` over the seeds, part by part."""
    if isinstance(values[0], list):
        return [combine(list(parts)) for parts in zip(*values, strict=True)]
    if isinstance(values[0], dict):
        return {key: combine([value[key] for value in values]) for key in values[0]}
    return combine(values)


def _mean(numbers: list[Any]) -> float | None:
    return statistics.fmean(numbers) if all(map(is_number, numbers)) else None


def _deviation(numbers: list[Any]) -> float | None:
    return statistics.stdev(numbers) if all(map(is_number, numbers)) else None


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def machine() -> dict[str, Any]:
    """What the report says of the machine. Names of hosts and users stay out."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text(errors="replace").splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return {"processor": model, "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"}


def versions() -> dict[str, str]:
    """Versions of azlab, Python and the packages that numbers depend on."""
    found = {"azlab": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def duration(seconds: float) -> str:
    """A time for people: 42 s, 3 min 10 s, 5 h 20 min, 3 days."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 2 * 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole / 86400:.0f} days"
