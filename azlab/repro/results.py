"""Results of experiments: one JSON file for each experiment, profile and seed.

A run leaves `result.json` in the experiment's folder. Those worth keeping are committed as
`reproductions/<source>/results/<experiment>-<profile>-seed<k>.json`. Fields: see `Result`.
"""

import dataclasses
import datetime
import itertools
import os
import platform
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from azlab import __version__
from azlab.errors import AzlabError
from azlab.files import checkout, reproductions_folder
from azlab.learning.intervals import interval
from azlab.repro.claims import Claim, Source
from azlab.repro.reading import is_name, is_number, is_text, is_time, is_whole, read_json, refuse
from azlab.repro.record import write_json
from azlab.repro.sources import PROFILES, short_name, source_folder, source_names
from azlab.repro.verdict import Measured

REMEDY = "Restore it with git or from a copy, or remove it and run its experiment again."
RESULT = "result.json"
KEPT = "Results are kept"  # ... only in a checkout
PACKAGES = ("numpy", "numba", "torch", "tensorflow", "keras")


@dataclass(frozen=True)
class Result:
    """What one run of one experiment found, and how it was run."""

    source: str
    experiment: str
    profile: str
    seed: int
    command: str  # gives this result again
    settings: dict[str, Any]
    started: str  # UTC, ISO 8601
    seconds: float
    machine: dict[str, Any]
    versions: dict[str, str]
    claims: dict[str, dict[str, Any]]  # by id: value, and spread, runs, note, paired where there are
    curves: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # by id: label, x, y of each
    data: dict[str, Any] = field(default_factory=dict)  # by name: what the notebook's figures and tables need

    @property
    def run_id(self) -> str:
        """Its name in the report."""
        return f"{short_name(self.source)}.{self.experiment}-{self.profile}-seed{self.seed}"

    def value(self, claim_id: str) -> Any:
        """What was measured for a claim."""
        if claim_id not in self.claims:
            raise AzlabError(f"{self.run_id} has nothing for {claim_id!r}; it has {', '.join(self.claims) or 'no claim'}.")
        return self.claims[claim_id]["value"]

    def __str__(self) -> str:
        cores = f" on {self.machine['cores']} cores" if self.machine.get("cores") else ""
        processor = self.machine.get("processor", "unknown")
        return f"{self.command}: {self.started[:10]}, {duration(self.seconds)}{cores} ({processor})"

    def write(self, file: Path) -> Path:
        write_json(file, dataclasses.asdict(self))
        return file

    def keep(self) -> Path:
        """Write it among the results that are committed."""
        checkout(KEPT)
        return self.write(source_folder(self.source) / "results" / f"{self.run_id.partition('.')[2]}.json")


def read(file: Path) -> Result:
    """A result file, with everything in it checked."""
    content = read_json(file, REMEDY)
    names = {one.name for one in dataclasses.fields(Result)}
    if set(content) != names:
        refuse(file, f"it is not a result; missing or unknown: {', '.join(sorted(names ^ set(content)))}", REMEDY)
    checks = {
        "source": is_name(content["source"]), "experiment": is_name(content["experiment"]),
        "profile": content["profile"] in PROFILES, "seed": is_whole(content["seed"]), "command": is_text(content["command"]),
        "settings": isinstance(content["settings"], dict), "started": is_time(content["started"]),
        "seconds": is_number(content["seconds"]) and content["seconds"] >= 0,
        "machine": _holds(content["machine"], lambda fact: fact is None or isinstance(fact, str) or is_number(fact)),
        "versions": _holds(content["versions"], is_text), "data": isinstance(content["data"], dict),
    }  # fmt: skip
    for name, good in checks.items():
        if not good:
            refuse(file, f"{name} cannot be {_short(content[name])}", REMEDY)
    check_measured(content["claims"], content["curves"], file, REMEDY)
    return Result(**content)


def check_measured(claims: Any, curves: Any, place: object, remedy: str) -> None:
    """Refuse measurements by claim id that no recorder writes; whether they have their claims' form, `misfit` says."""
    if not _holds(claims, lambda entry: isinstance(entry, dict)) or not _holds(curves, lambda given: isinstance(given, list)):
        refuse(place, "claims and curves have to be tables by claim id, of tables and of lists", remedy)
    for claim_id, entry in claims.items():
        good = "value" in entry and set(entry) <= {"value", "spread", "runs", "note", "paired"}
        good = good and (isinstance(entry["value"], str | bool) or _numbers(entry["value"])) and _numbers(entry.get("spread"))
        good = good and (entry.get("paired") is None or is_number(entry["paired"]))
        if not good or not is_whole(entry.get("runs", 1)) or not is_text(entry.get("note", "")):
            refuse(place, f"what it has for {_short(claim_id)} is no measurement: {_short(entry)}", remedy)
    for claim_id, given in curves.items():
        for curve in given:
            if not _is_curve(curve):
                refuse(place, f"what it has for {_short(claim_id)} is no curve with a label, x that increases and y", remedy)


def _is_curve(curve: Any) -> bool:
    if not isinstance(curve, dict) or set(curve) != {"label", "x", "y"} or not isinstance(curve["label"], str):
        return False
    x, y = curve["x"], curve["y"]
    if not isinstance(x, list) or not isinstance(y, list) or len(x) != len(y) or len(x) < 2 or not all(map(is_number, x + y)):
        return False
    return all(a < b for a, b in itertools.pairwise(x))


def _numbers(value: Any) -> bool:
    """Whether it is a number, or a list or table of them; None stands for one that was not finite."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return all(part is None or is_number(part) for part in parts)


def _holds(value: Any, good: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(map(good, value.values()))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def misfit(result: Result, source: Source) -> str:
    """Which of its values has another form than the claim it is for, so that the two cannot be compared; empty if none has."""
    for claim in source.claims:
        if not claim.is_curve and claim.id in result.claims:
            wanted = claim.takes(result.claims[claim.id]["value"])
            if wanted:
                return f"{claim.id} takes {wanted}, not {_short(result.claims[claim.id]['value'])}"
    return ""


def committed_files() -> list[Path]:
    """Every result file that is kept in `reproductions/`."""
    folders = (reproductions_folder() / name / "results" for name in source_names())
    return [file for folder in folders for file in sorted(folder.glob("*.json"))]


def committed() -> list[Result]:
    """Every result that is kept in `reproductions/`; one that cannot be read raises a sentence."""
    return [read(file) for file in committed_files()]


def kept(source: str, experiment: str, seed: int) -> Result:
    """The committed result of an experiment at its largest profile: that of the seed, or of the lowest one there is."""
    folder = source_folder(source) / "results"
    found = [read(file) for file in sorted(folder.glob(f"{experiment}-*-seed*.json"))]
    found = [one for one in found if one.experiment == experiment]
    if not found:
        name = f"{short_name(source)}.{experiment}"
        raise AzlabError(f"No result of {name} is kept yet: `azlab reproduce {name} --profile laptop --keep` makes one.")
    return min(found, key=lambda one: (-PROFILES.index(one.profile), one.seed != seed, one.seed))


def files_of_run(folder: Path) -> list[Path]:
    """The result files in the folder of a run."""
    if not os.path.isfile(folder / "run.json"):
        raise AzlabError(f"{folder} is not the folder of a run: it has no run.json.")
    return sorted(folder.glob(f"*/{RESULT}"))


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

    Over several seeds, numbers become means, and the spread is their standard deviation; of claims that have to be sure, half
    the width of the mean's 95 % interval.
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
        spread, runs, paired = (entries[0].get(name) for name in ("spread", "runs", "paired"))
        return Ours(Measured(profile, values[0], half=spread, paired=paired), results, spread, runs, notes)
    half = _over(values, _half)
    spread = half if claim.sure else _over(values, _deviation)
    return Ours(Measured(profile, _over(values, _mean), half=half), results, spread, len(values), notes)


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


def _half(numbers: list[Any]) -> float | None:
    return interval(numbers).half if all(map(is_number, numbers)) else None


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
