"""The rows of the report: each claim of a source beside what came out here, as text."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from azlab.repro import claims, results
from azlab.repro.claims import Claim, Source, is_number
from azlab.repro.plot import Line, number, plot
from azlab.repro.results import Ours, Result
from azlab.repro.sources import PROFILES
from azlab.repro.verdict import NOT_REPRODUCED, NOT_RUN, REPRODUCED, VERDICTS, Measured, decide, half_width

SHOWN_PARTS = 8  # of a list; the rest is in the plot or the table of the source


@dataclass(frozen=True)
class Row:
    """One claim as the report shows it; everything is text."""

    claim: Claim
    verdict: str
    source_value: str
    our_value: str
    criterion: str
    interval: str  # of a claim that has to be sure: our interval, and whether all of it meets the criterion
    runs: tuple[Result, ...]
    note: str
    picture: str  # SVG as markupsafe.Markup, or nothing


@dataclass(frozen=True)
class Section:
    source: Source
    rows: list[Row]

    @property
    def counts(self) -> Counter:
        return Counter(row.verdict for row in self.rows)


def section(source: Source, measured: list[Result]) -> Section:
    """The rows of one source."""
    found = results.ours(source, measured)
    others = {claim_id: one.measured for claim_id, one in found.items()}
    rows = []
    for claim in source.claims:
        one = found.get(claim.id)
        verdict = decide(claim, one.measured if one else None, others)
        note = " ".join((claim.unchecked and _sentence(claim.unchecked), *(one.notes if one else ()))).strip()
        value, ours = _value(claim.value, claim.unit), _our_value(claim, one, verdict)
        runs = tuple(one.results) if one else ()
        interval = _interval(claim, one.measured, others.get(claim.than), verdict) if one and claim.sure else ""
        rows.append(Row(claim, verdict, value, ours, criterion(claim), interval, runs, note, _picture(claim, one)))
    return Section(source, rows)


def counts_line(counts: Counter) -> str:
    """One sentence: "3 reproduced, 1 not reproduced"."""
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])


def criterion(claim: Claim) -> str:
    """What counts as reproduced, in words."""
    if claim.unchecked:
        return ""
    return _criterion(claim) + (", for the whole 95 % interval" if claim.sure else "")


def _criterion(claim: Claim) -> str:
    if claim.tolerance is not None:
        return "equal" if claim.tolerance == 0 else f"within {number(claim.tolerance)}{_unit(claim.unit)} of the source"
    if claim.relative is not None:
        return f"within {number(100 * claim.relative)} % of the source's value"
    margin = f", {number(claim.margin)}{_unit(claim.unit)} apart" if claim.margin else ""
    if claim.direction in claims.TRENDS:
        return f"our curve {claim.direction}{margin}"
    if claim.direction:
        return f"{claim.direction} {f'our {claim.than}' if claim.than else 'the source'}{margin}"
    return "equal"


def _interval(claim: Claim, measured: Measured, other: Measured | None, verdict: str) -> str:
    """A sentence on the interval of a claim that has to be sure."""
    if verdict == NOT_RUN:
        return ""
    half, value = half_width(measured, other), measured.value
    if verdict == REPRODUCED:
        word = "sure: it holds for the whole interval"
    elif verdict == NOT_REPRODUCED:
        word = "it does not hold for the value"
    else:
        word = "not sure: it holds for the value, not for the whole interval" if half is not None else "not sure: no interval"
    if not is_number(value) or not is_number(half):  # parts have theirs beside them
        return _sentence(word)
    unit = _unit(claim.unit)
    if other is not None and is_number(other.value):
        apart = value - other.value
        return f"{_sentence(word)} The difference is {number(apart)} ± {half:.2g}{unit}."
    return f"{_sentence(word)} The interval is {number(value - half)} to {number(value + half)}{unit}."


def _our_value(claim: Claim, one: Ours | None, verdict: str) -> str:
    if one is None:
        return "–"
    if claim.is_curve:
        ends = [f"{number(y[0])} to {number(y[-1])}{_unit(claim.unit)}" for _, y in one.measured.curves]
        text = "; ".join(ends)
    elif claim.kind in ("text", "truth"):
        text = "; ".join(dict.fromkeys(_value(value, claim.unit) for value in one.measured.value))
    else:
        text = _value(one.measured.value, claim.unit, one.spread)
    if one.runs and one.runs > 1:
        text += f" ({one.runs} runs)"
    return f"{text} (at {one.measured.profile})" if verdict == NOT_RUN else text


def _value(value: Any, unit: str, spread: Any = None) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        spreads = spread if isinstance(spread, dict) else {}
        return "; ".join(f"{key} {_one(part, unit, spreads.get(key))}" for key, part in value.items())
    if isinstance(value, list):
        spreads_by_place = spread if isinstance(spread, list) and len(spread) == len(value) else [None] * len(value)
        parts = [_one(part, unit, by) for part, by in zip(value, spreads_by_place)]
        if len(parts) > SHOWN_PARTS:
            return f"{', '.join(parts[:3])}, …, {parts[-1]} ({len(parts)} values)"
        return ", ".join(parts)
    return _one(value, unit, spread)


def _one(value: Any, unit: str, spread: Any) -> str:
    if not is_number(value):
        return "no number"
    return f"{number(value)}{f' ± {spread:.2g}' if is_number(spread) else ''}{_unit(unit)}"


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:].rstrip(".") + "."


def _picture(claim: Claim, one: Ours | None) -> str:
    lines = []
    if claim.x is not None and isinstance(claim.value, list) and len(claim.x) > 1:
        lines.append(Line("source", "source", claim.x, claim.value))
    for result in one.results if one else ():
        for curve in result.curves.get(claim.id, []):
            name = " ".join(part for part in ("ours", curve["label"], f"seed {result.seed}") if part)
            lines.append(Line(name, "ours", curve["x"], curve["y"]))
    return plot(f"{claim.metric}: {' and '.join(line.name for line in lines)}", lines) if lines else ""


def all_runs(sections: Sequence[Section]) -> list[Result]:
    """Every result that some row rests on, once, by source, experiment, profile and seed."""
    by_id = {result.run_id: result for one in sections for row in one.rows for result in row.runs}
    return sorted(by_id.values(), key=lambda one: (one.source, one.experiment, PROFILES.index(one.profile), one.seed))
