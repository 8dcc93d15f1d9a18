"""What a notebook calls to hand over its measurements.

    record = azlab.repro.recorder("s1_value_generations", profile, out)
    record("s1.tictactoe.black.losses", 0.0)
    record("s1.tictactoe.black.wins", 0.989, spread=0.004, runs=3, note="mean of 3 networks")
    record.curve("s2.tabular.2x2.values", games, values)
    record.folder        # where trainings keep their files: the run's own folder, so that a resumed run finds them

Opened by hand, without a runner (`out` is empty), everything works the same, but nothing is written: `folder` is then a temporary
folder that goes when the kernel does.
"""

import itertools
import json
import math
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError, one_of
from azlab.files import write_aside
from azlab.repro import claims
from azlab.repro.sources import PROFILES

METRICS = "metrics.json"


class Recorder:
    """Measurements of one notebook by claim id; see the top of this file."""

    def __init__(self, source: str, profile: str, out: str = "") -> None:
        one_of("profile", profile, PROFILES)
        self.source = claims.load(source)
        self.profile = profile
        self.claims: dict[str, dict[str, Any]] = {}
        self.curves: dict[str, list[dict[str, Any]]] = {}
        self._out = Path(out) if out else None
        self._temporary: tempfile.TemporaryDirectory | None = None

    @property
    def folder(self) -> Path:
        """A folder for the notebook's own files; it is kept only when a runner gave `out`."""
        if self._out is not None:
            folder = self._out / "work"
            folder.mkdir(parents=True, exist_ok=True)
            return folder
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="azlab-")
        return Path(self._temporary.name)

    def __call__(self, claim_id: str, value: Any, spread: Any = None, runs: int | None = None, note: str = "") -> None:
        """Record what was measured for a claim: a number, text, truth, or a list or table of numbers, as the claim has it.

        spread: standard deviation, or half the width of an interval
        runs: how many the value is the mean of
        note: one sentence for the report
        """
        claim = self.source.claim(claim_id)
        if claim.is_curve:
            raise AzlabError(f"{claim_id} is a curve: use record.curve({claim_id!r}, x, y).")
        entry: dict[str, Any] = {"value": _plain(value)}
        wanted = claim.takes(entry["value"])
        if wanted:
            raise AzlabError(f"The claim {claim_id} takes {wanted}, not {entry['value']!r}.")
        if spread is not None:
            entry["spread"] = _plain(spread)
        if runs is not None:
            entry["runs"] = int(runs)
        if note:
            entry["note"] = str(note)
        self.claims[claim_id] = entry
        self._write()

    def curve(self, claim_id: str, x: Sequence[float], y: Sequence[float], label: str = "") -> None:
        """Record a curve for a claim; on claims that are no curve it is only drawn. A second one needs another label."""
        self.source.claim(claim_id)
        label = str(label)
        points = [(_plain(a), _plain(b)) for a, b in zip(x, y, strict=True)]
        if len(points) < 2 or not all(claims.is_number(number) for point in points for number in point):
            raise AzlabError(f"A curve for {claim_id} needs at least two points, all of them numbers.")
        if any(b[0] <= a[0] for a, b in itertools.pairwise(points)):
            raise AzlabError(f"The x values of a curve have to increase; those for {claim_id} do not.")
        others = [one for one in self.curves.get(claim_id, []) if one["label"] != label]
        self.curves[claim_id] = [*others, {"label": label, "x": [a for a, _ in points], "y": [b for _, b in points]}]
        self._write()

    def _write(self) -> None:
        if self._out is not None:
            self._out.mkdir(parents=True, exist_ok=True)
            content = {"source": self.source.name, "profile": self.profile, "claims": self.claims, "curves": self.curves}
            write_json(self._out / METRICS, content)

    def __repr__(self) -> str:
        where = "written by the runner" if self._out else "nothing is written, since no runner started this notebook"
        return f"<recorder of {self.source.name} at profile {self.profile}: {len(self.claims)} values, {where}>"


def recorder(source: str, profile: str, out: str = "") -> Recorder:
    """The recorder of a notebook: `source` is s1 or the folder's name, `profile` and `out` are the notebook's parameters."""
    return Recorder(source, profile, out)


def write_json(file: Path, content: Any) -> None:
    """Write aside and rename, so that a reader, or a run that is killed, never leaves half a file."""
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)
    text = re.sub(r"\[[^\[\]{}\"]*\]", lambda numbers: " ".join(numbers.group().split()), text)  # a list of numbers on one line
    write_aside(file, lambda aside: aside.write_text(text + "\n", encoding="utf-8"))


def _plain(value: Any) -> Any:
    """numpy's numbers and arrays as Python's; a number that is not finite becomes None, which no criterion accepts."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    raise AzlabError(f"A measured value is a number, text, truth, list or table, not {type(value).__name__}.")
