"""The table of a sweep: a row for each arm, seed and iteration, with all its numbers; means, intervals and differences from it.

table = Table.load("runs/my_sweep/metrics.csv")
table.mean("mcts_accuracy", "more", iteration=10)          # over the seeds
table.difference("mcts_accuracy", "more", "baseline")      # seed by seed
"""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.files import write_aside
from azlab.learning.intervals import Interval, interval
from azlab.learning.progress import SHOWN

KEYS = ("arm", "seed", "iteration")


@dataclass(frozen=True)
class Table:
    """Rows with arm, seed, iteration and metrics: numbers, or None where nothing was measured."""

    rows: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, rows: Mapping[tuple[str, int], Iterable[dict[str, Any]]]) -> "Table":
        """The table of units: their rows by (arm, seed)."""
        return cls(tuple({"arm": arm, "seed": seed, **row} for (arm, seed), own in rows.items() for row in own))

    @property
    def arms(self) -> list[str]:
        return list(dict.fromkeys(row["arm"] for row in self.rows))

    @property
    def metrics(self) -> list[str]:
        """The names of all metrics, as they come."""
        return [name for name in dict.fromkeys(name for row in self.rows for name in row) if name not in KEYS]

    def values(self, metric: str, arm: str) -> dict[int, dict[int, float]]:
        """The numbers of a metric by seed and iteration."""
        if metric not in self.metrics:
            raise AzlabError(f"There is no metric {metric!r}; there are {', '.join(self.metrics) or 'none yet'}.")
        if arm not in self.arms:
            raise AzlabError(f"The table has no arm {arm!r}; it has {', '.join(self.arms)}.")
        found: dict[int, dict[int, float]] = {}
        for row in self.rows:
            if row["arm"] == arm and row.get(metric) is not None:
                found.setdefault(row["seed"], {})[row["iteration"]] = row[metric]
        return found

    def mean(self, metric: str, arm: str, iteration: int | None = None) -> Interval:
        """Mean, deviation and interval over the seeds; without an iteration the last that all seeds with the metric have."""
        found = self.values(metric, arm)
        at = _common(found.values(), iteration, f"{metric} of {arm}")
        return interval([own[at] for own in found.values() if at in own])

    def difference(self, metric: str, arm: str, other: str, iteration: int | None = None) -> Interval:
        """How much `arm` is above `other`: mean and interval of the differences between equal seeds."""
        one, two = self.values(metric, arm), self.values(metric, other)
        seeds = [seed for seed in one if seed in two]
        pairs = {seed: one[seed].keys() & two[seed].keys() for seed in seeds}
        at = _common(pairs.values(), iteration, f"{metric} of {arm} and {other} at a common seed")
        return interval([one[seed][at] - two[seed][at] for seed in seeds if at in pairs[seed]])

    def iteration(self, metric: str, arm: str) -> int:
        """The last iteration that all seeds with the metric have."""
        return _common(self.values(metric, arm).values(), None, f"{metric} of {arm}")

    # --- as a file ------------------------------------------------------------------------------------------------

    def save(self, file: str | Path) -> None:
        """Write it as CSV; a cell is empty where nothing was measured."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = [*KEYS, *self.metrics]
        writer.writerow(names)
        writer.writerows([[_cell(row.get(name)) for name in names] for row in self.rows])
        write_aside(Path(file), lambda aside: aside.write_text(text.getvalue(), encoding="utf-8"))

    @classmethod
    def load(cls, file: str | Path) -> "Table":
        """Read what `save` wrote."""
        try:
            with Path(file).open(encoding="utf-8", newline="") as stream:
                lines = list(csv.reader(stream, strict=True))
            if not lines or tuple(lines[0][:3]) != KEYS:
                raise ValueError(f"it does not begin with {', '.join(KEYS)}")
            if any(len(line) != len(lines[0]) for line in lines):
                raise ValueError("its lines differ in length")
            rows = [
                {"arm": arm, "seed": int(seed), "iteration": int(at)}
                | {name: _number(cell) for name, cell in zip(lines[0][3:], cells) if cell}
                for arm, seed, at, *cells in lines[1:]
            ]
        except (OSError, ValueError, csv.Error) as error:
            raise AzlabError(f"{file} is no table of a sweep: {error}. The sweep's command writes it anew.") from None
        return cls(tuple(rows))

    # --- for people -----------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The arms' metrics that people want to see first, with intervals, and their differences from the first arm."""
        shown = [metric for metric in SHOWN if metric in self.metrics]
        if not shown:
            shown = self.metrics[:6]
        lines = [["arm", "seeds", "iteration", *(SHOWN[metric][0] if metric in SHOWN else metric for metric in shown)]]
        for arm in self.arms:
            lines.append([arm, *self._facts(arm), *(self._told(metric, arm) for metric in shown)])
        for arm in self.arms[1:]:
            cells = [self._told(metric, arm, self.arms[0]) for metric in shown]
            lines.append([f"{arm} - {self.arms[0]}", "", "", *cells])
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)

    def _facts(self, arm: str) -> list[str]:
        """How many seeds an arm has, and to which iteration all of them came."""
        last: dict[int, int] = {}
        for row in self.rows:
            if row["arm"] == arm:
                last[row["seed"]] = max(row["iteration"], last.get(row["seed"], 0))
        return [str(len(last)), str(min(last.values()))]

    def _told(self, metric: str, arm: str, other: str = "") -> str:
        try:
            found = self.difference(metric, arm, other) if other else self.mean(metric, arm)
        except AzlabError:  # nothing to tell
            return "-"
        form = SHOWN[metric][1] if metric in SHOWN else "{:.4g}"
        bare = form.replace(":+", ":")
        shown = (bare.replace(":", ":+") if other else form).format(found.mean)
        return shown if found.half is None else f"{shown} ± {bare.format(found.half)}"


def _common(found: Iterable[Iterable[int]], iteration: int | None, what: str) -> int:
    """The iteration asked for, or the last that all have; a sentence if there is none."""
    kept = [set(own) for own in found]
    if iteration is not None:
        if not any(iteration in own for own in kept):
            raise AzlabError(f"There is no {what} at iteration {iteration}.")
        return iteration
    if not kept or not (common := set.intersection(*kept)):
        raise AzlabError(f"There is no iteration with the {what}.")
    return max(common)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool) else value if isinstance(value, str) else repr(value)


def _number(cell: str) -> int | float:
    try:
        return int(cell)
    except ValueError:
        return float(cell)
