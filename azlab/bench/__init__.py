"""Measured speeds of this machine: `azlab bench`. Each module measures one part of azlab and gives rows."""

import json
import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """One measured figure."""

    group: str  # which part of azlab
    what: str  # what was done
    who: str  # "azlab", or the peer measured beside it
    figure: float | None  # None if it could not be measured
    unit: str
    note: str = ""  # why it could not


def on_one_core(rows: Iterable[Row]) -> Iterator[Row]:
    """Measure with the whole process on one core, where the system lets us, so that every figure is one thread's."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    measured = iter(rows)
    while True:
        if cores:
            os.sched_setaffinity(0, {max(cores)})
        try:
            row = next(measured, None)
        finally:
            if cores:
                os.sched_setaffinity(0, cores)
        if row is None:
            return
        yield row


def table(rows: Iterable[Row]) -> str:
    """The rows for a terminal, the peers of a line beside ours."""
    lines = []
    rows = list(rows)
    width = max(len(row.what) for row in rows)
    order = list(dict.fromkeys((row.group, row.what) for row in rows))
    group = ""
    for row in sorted(rows, key=lambda row: order.index((row.group, row.what))):
        if row.group != group:
            group = row.group
            lines.append(f"\n{group}")
        ours = next((own.figure for own in rows if (own.group, own.what, own.who) == (row.group, row.what, "azlab")), None)
        ratio = f"  azlab is {ours / row.figure:.1f} x" if ours and row.figure and row.who != "azlab" else ""
        said = row.note if row.figure is None else f"{_readable(row.figure):>10} {row.unit}{ratio}"
        lines.append(f"  {row.what:<{width}}  {row.who:<10} {said}")
    return "\n".join(lines).lstrip()


def _readable(figure: float) -> str:
    return f"{figure / 1e6:,.2f} M" if figure >= 1e6 else f"{figure:,.0f}" if figure >= 100 else f"{figure:.2f}"


def as_json(rows: Iterable[Row]) -> str:
    """The rows and the machine, for scripts."""
    return json.dumps({"machine": platform.processor() or platform.machine(), "rows": [asdict(row) for row in rows]}, indent=1)
