"""The report's two forms: one HTML page that needs no network and no script, and Markdown.

Claims and results may be anyone's. The page is a template that escapes all that is put into it; in Markdown, `plain` does.
"""

import re
from collections.abc import Sequence

from azlab.repro.plot import template
from azlab.repro.results import Result, duration
from azlab.repro.rows import Row, Section, all_runs, counts_line
from azlab.repro.verdict import VERDICTS

INTRODUCTION = (
    "What five published works on game-playing programs reported, and what came out when their experiments were rebuilt with "
    "azlab. Verdicts are computed from the numbers: each claim says beforehand what counts as reproduced."
)
HEADINGS = ("Where", "What was measured", "Source", "Ours", "Verdict", "Checked at")
WIDTHS = (14, 34, 15, 15, 11, 11)  # of these columns, in percent
MARKS = dict(zip(VERDICTS, ("✔", "◐", "✘", "·", "–")))  # verdicts differ in shape, not only in colour
RUN_HEADINGS = ("Run", "Command", "Started (UTC)", "Took", "Machine", "Versions")


def html(sections: Sequence[Section], faults: Sequence[str] = ()) -> str:
    """The whole page; `faults` are sentences on files that had to be left out."""
    return template("report.html").render(
        introduction=INTRODUCTION, sections=sections, faults=faults, runs=all_runs(sections), verdicts=list(VERDICTS),
        marks=MARKS, headings=HEADINGS, widths=WIDTHS, run_headings=RUN_HEADINGS, heading=_heading, counts_line=counts_line,
        checked_at=_checked_at, run_cells=_run_cells,
    )  # fmt: skip


def _heading(section: Section) -> str:
    return f"{section.source.short.upper()}: {section.source.title}"


def _checked_at(row: Row) -> str:
    return row.claim.profile if row.claim.profile and not row.claim.unchecked else "–"


def _run_cells(run: Result) -> tuple[str, ...]:
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    machine = f"{run.machine.get('processor')}, {run.machine.get('cores')} cores, {run.machine.get('system')}"
    return run.run_id, run.command, run.started, duration(run.seconds), machine, versions


def markdown(sections: Sequence[Section], faults: Sequence[str] = ()) -> str:
    """The same as Markdown, without the plots."""
    lines = ["# azlab: reproductions", "", plain(INTRODUCTION), ""]
    if faults:
        lines += ["## Left out", "", "These files could not be used, so the report lacks what they hold.", ""]
        lines += [*(f"- {plain(fault)}" for fault in faults), ""]
    for section in sections:
        counts = counts_line(section.counts).capitalize() + "."
        lines += [f"## {plain(_heading(section))}", "", plain(section.source.summary), "", plain(counts), ""]
        lines += [*_table(HEADINGS, [_cells(row) for row in section.rows]), ""]
    runs = all_runs(sections)
    if runs:
        cells = [_run_cells(run) for run in runs]
        lines += ["## Runs", "", *_table(RUN_HEADINGS, [[code(name), *map(plain, others)] for name, *others in cells])]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    claim = row.claim
    counts = f"; counts if {plain(row.criterion)}" if row.criterion else ""
    what = f"{plain(claim.metric)} ({code(claim.id)}{counts}) {plain(row.note)}".strip()
    ours = f"{row.our_value} {row.interval}".strip()
    checked = " ".join([plain(_checked_at(row)), *(code(run.run_id) for run in row.runs)])
    verdict = f"{MARKS[row.verdict]} {row.verdict}"
    return [plain(claim.where), what, *map(plain, (row.source_value, ours, verdict)), checked]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (headings, ["---"] * len(headings), *rows)]


ENTITIES = {letter: f"&#{ord(letter)};" for letter in "<>&|\\"}  # not all readers of Markdown know these with a backslash
MARKUP = str.maketrans(ENTITIES | {letter: f"\\{letter}" for letter in "`*_[]~$"})


def plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line: no link, picture, HTML, code or further cell of a table comes of it."""
    one_line = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    # a paragraph that begins so would be a heading, a list or a rule
    return re.sub(r"^(\d*)([#+.)-])(?=[ #+-]|$)", r"\1\\\2", one_line.translate(MARKUP))


def code(text: str) -> str:
    """A name as code; one that holds anything else than letters, digits, points, dashes and underscores is plain text."""
    return f"`{text}`" if re.fullmatch(r"[A-Za-z0-9_.-]+", text) else plain(text)
