"""What an experiment calls to hand over what it measured.

    record("s1.tictactoe.black.losses", 0.0)                                    # the value of a claim
    record("s1.tictactoe.black.wins", 0.989, spread=0.004, runs=3, note="mean of 3 networks")
    record.curve("s2.tabular.2x2.change", games, changes)                       # a curve of a claim
    record.data("first moves", {"centre": values})                              # what a figure or a table of the notebook needs
    record.folder                                                               # where its trainings keep their files
    with record.progress("2x2") as report: ...                                  # says how far it is

All of it is written at once, so a run that is killed leaves what it had; what becomes of it, `results` says.
"""

import itertools
import json
import math
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.files import write_aside
from azlab.repro import claims
from azlab.repro.reading import is_text
from azlab.repro.sources import PROFILES
from azlab.show.progress import Progress

METRICS, WORK = "metrics.json", "work"


class Recorder:
    """Measurements of one experiment by claim id, and data for its notebook; see the top of this file.

    out: the folder of the experiment in a run; without one nothing is written, and `folder` is a temporary one
    progress: makes what shows the progress of a part, by its label
    """

    def __init__(
        self, source: str, profile: str, seed: int = 0, out: str | Path = "", progress: Callable[[str], Progress] = Progress
    ) -> None:
        one_of("profile", profile, PROFILES)
        self.source = claims.load(source)
        self.profile, self.seed, self.progress = profile, whole_number("seed", seed, 0, 2**62), progress
        self.claims: dict[str, dict[str, Any]] = {}
        self.curves: dict[str, list[dict[str, Any]]] = {}
        self.kept: dict[str, Any] = {}
        self._out = Path(out) if out else None
        self._temporary: tempfile.TemporaryDirectory | None = None

    @property
    def folder(self) -> Path:
        """The experiment's own folder. A run that goes on finds there what it left."""
        if self._out is not None:
            folder = self._out / WORK
            folder.mkdir(parents=True, exist_ok=True)
            return folder
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="azlab-")
        return Path(self._temporary.name)

    def __call__(
        self, claim_id: str, value: Any, spread: Any = None, runs: int | None = None, note: str = "", paired: Any = None
    ) -> None:
        """Record what was measured for a claim: a number, text, truth, or a list or table of numbers, as the claim has it.

        spread: standard deviation, or half the width of an interval; for claims that have to be `sure`, and those they are
            compared with, half the width of a 95 % interval
        paired: half the width of the interval of the difference from the claim it is compared with (`than`), taken seed by seed
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
        if paired is not None:
            if not claim.than:
                raise AzlabError(f"{claim_id} is compared with no other claim, so it takes no `paired`: use `spread`.")
            entry["paired"] = _plain(paired)
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

    def data(self, name: str, value: Any, digits: int = 4) -> None:
        """Keep numbers, text, lists and tables for the notebook; fractions are rounded to so many digits that count."""
        if not is_text(name) or not name:
            raise AzlabError(f"Data of an experiment have a name, not {name!r}.")
        self.kept[name] = _plain(value, whole_number("digits", digits, 1, 17))
        self._write()

    def _write(self) -> None:
        if self._out is not None:
            self._out.mkdir(parents=True, exist_ok=True)
            content = {"source": self.source.name, "claims": self.claims, "curves": self.curves, "data": self.kept}
            write_json(self._out / METRICS, content)

    def __repr__(self) -> str:
        return f"<recorder of {self.source.name} at profile {self.profile}, seed {self.seed}: {len(self.claims)} values>"


def write_json(file: Path, content: Any) -> None:
    """Write aside and rename, so that a reader, or a run that is killed, never leaves half a file."""
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)
    text = re.sub(r"\[[^\[\]{}\"]*\]", lambda numbers: " ".join(numbers.group().split()), text)  # a list of numbers on one line
    write_aside(file, lambda aside: aside.write_text(text + "\n", encoding="utf-8"))


def _plain(value: Any, digits: int = 17) -> Any:
    """numpy's numbers and arrays as Python's; a number that is not finite becomes None, which no criterion accepts."""
    if isinstance(value, dict):
        return {str(key): _plain(part, digits) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist(), digits)
    if isinstance(value, list | tuple):
        return [_plain(part, digits) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    raise AzlabError(f"A measured value is a number, text, truth, list or table, not {type(value).__name__}.")
