"""The report's two forms: one HTML page that needs no network and no script, and Markdown."""

from collections.abc import Sequence
from html import escape

from azlab.repro.results import Result, duration
from azlab.repro.rows import Row, Section, all_runs, counts_line
from azlab.repro.verdict import VERDICTS

INTRODUCTION = (
    "What five published works on game-playing programs reported, and what came out when their experiments were rebuilt with "
    "azlab. Verdicts are computed from the numbers: each claim says beforehand what counts as reproduced."
)
HEADINGS = ("Where", "What was measured", "Source", "Ours", "Verdict", "Checked at")
COLUMNS = "".join(f'<col style="width:{share}%">' for share in (14, 34, 15, 15, 11, 11))
MARKS = dict(zip(VERDICTS, ("✔", "◐", "✘", "·", "–")))  # verdicts differ in shape, not only in colour

# Colours by Okabe and Ito, dark enough for text on the paper they stand on.
STYLE = """
:root { --paper: #fdfcf9; --ink: #24262a; --soft: #5f646c; --edge: #d9d5cb; --head: #f1eee6;
  --good: #00664b; --half: #8a5300; --bad: #a83c00; --source: #8a8f98; --ours: #0072b2; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --paper: #1d2024; --ink: #e4e4e1; --soft: #a4a9b1; --edge: #3c4149; --head: #272b31;
  --good: #45c89f; --half: #e6ac3c; --bad: #f08a4b; --source: #8f96a1; --ours: #56b4e9; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 76rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; } h2 { font-size: 1.3rem; margin: 3rem 0 .5rem; }
p { max-width: 46rem; } a { color: inherit; } code { font-size: .875em; }
.soft, small { color: var(--soft); font-size: .875rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; border-bottom: 1px solid var(--edge); }
thead th { background: var(--head); position: sticky; top: 0; } tbody th { font-weight: normal; }
td.verdict { font-weight: 600; } small { display: block; overflow-wrap: anywhere; } table.stacked { table-layout: fixed; }
.reproduced { color: var(--good); } .partly { color: var(--half); } .not-reproduced { color: var(--bad); }
.not-run-at-this-scale, .cannot-be-checked-here { color: var(--soft); font-weight: normal !important; }
figure { margin: 1rem 0; max-width: 36rem; } figcaption { font-size: .875rem; color: var(--soft); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1rem; }
.plot { width: 100%; height: auto; } .plot text { fill: var(--soft); font-size: 15px; }
.plot .grid { stroke: var(--edge); } .plot .axis { stroke: var(--soft); }
.plot polyline { fill: none; } .plot .source { stroke: var(--source); stroke-width: 3; stroke-dasharray: 7 4; }
.plot .ours { stroke: var(--ours); stroke-width: 2; }
@media (min-width: 50.01rem) { .numbers td, .numbers thead th:not(:first-child) { text-align: right; } }
@media (max-width: 50rem) {
  .stacked thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacked, .stacked tbody, .stacked tr, .stacked th, .stacked td { display: block; width: 100%; }
  .stacked tr { padding: .6rem 0; border-bottom: 1px solid var(--edge); }
  .stacked col { display: none; } .stacked th, .stacked td { border: 0; padding: .1rem 0; }
  .stacked tbody th { font-weight: 600; }
  .stacked td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); font-weight: normal; }
}
@media print { thead th { position: static; } }
"""


def html(sections: Sequence[Section]) -> str:
    """The whole page."""
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>azlab: reproductions</title>',
        f"<style>{STYLE}</style></head><body><main><h1>azlab: reproductions</h1><p>{escape(INTRODUCTION)}</p>",
        _overview(sections),
        *(_section(section) for section in sections),
        _runs(all_runs(sections)),
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


def _overview(sections: Sequence[Section]) -> str:
    head = "".join(f'<th scope="col" role="columnheader">{text}</th>' for text in ("Source", "Claims", *VERDICTS))
    rows = []
    for section in sections:
        link = f'<a href="#{escape(section.source.name)}">{escape(_heading(section))}</a>'
        cells = {"claims": len(section.rows), **{verdict: section.counts[verdict] for verdict in VERDICTS}}
        texts = "".join(f'<td role="cell" data-label="{label}">{count}</td>' for label, count in cells.items())
        rows.append(f'<tr role="row"><th scope="row" role="rowheader">{link}</th>{texts}</tr>')
    return (
        '<table class="stacked numbers" role="table" aria-label="Verdicts by source"><col style="width:36%">'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{"".join(rows)}</tbody></table>'
    )


def _heading(section: Section) -> str:
    return f"{section.source.short.upper()}: {section.source.title}"


def _section(section: Section) -> str:
    name = escape(section.source.name)
    head = "".join(f'<th scope="col" role="columnheader">{text}</th>' for text in HEADINGS)
    pictures = "".join(
        f"<figure>{row.picture}<figcaption>{escape(row.claim.where)}: {escape(row.claim.metric)}</figcaption></figure>"
        for row in section.rows
        if row.picture
    )
    return (
        f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(_heading(section))}</h2>'
        f"<p>{escape(section.source.summary)}</p><p class='soft'>{escape(counts_line(section.counts))}</p>"
        f'<table class="stacked" role="table" aria-label="Claims of {escape(section.source.short.upper())}">{COLUMNS}'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(_row(row) for row in section.rows)}</tbody></table>'
        f'<div class="plots">{pictures}</div></section>'
    )


def _row(row: Row) -> str:
    claim = row.claim
    details = f"<small>{escape(claim.id)}{f'; counts if {escape(row.criterion)}' if row.criterion else ''}</small>"
    if row.note:
        details += f"<small>{escape(row.note)}</small>"
    seeds = ", ".join(f'<a href="#{escape(run.run_id, quote=True)}">seed {run.seed}</a>' for run in row.runs)
    runs = f"<small>{escape(row.runs[0].notebook)} at {row.runs[0].profile}: {seeds}</small>" if row.runs else ""
    where = escape(claim.profile or "–") if not claim.unchecked else "–"
    kind = row.verdict.replace(" ", "-")
    return (
        f'<tr role="row"><th scope="row" role="rowheader">{escape(claim.where)}</th>'
        f'<td role="cell">{escape(claim.metric)}{details}</td>'
        f'<td role="cell" class="value" data-label="Source">{escape(row.source_value)}</td>'
        f'<td role="cell" class="value" data-label="Ours">{escape(row.our_value)}</td>'
        f'<td role="cell" data-label="Verdict" class="verdict {kind}">{MARKS[row.verdict]} {row.verdict}</td>'
        f'<td role="cell" data-label="Checked at">{where}{runs}</td></tr>'
    )


RUN_HEADINGS = ("Run", "Command", "Started (UTC)", "Took", "Machine", "Versions")


def _run_cells(run: Result) -> tuple[str, ...]:
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    machine = f"{run.machine.get('processor')}, {run.machine.get('cores')} cores, {run.machine.get('system')}"
    return run.run_id, run.command, run.started, duration(run.seconds), machine, versions


def _runs(runs: Sequence[Result]) -> str:
    if not runs:
        return "<h2>Runs</h2><p>Nothing has been run yet: <code>azlab reproduce</code> runs the notebooks.</p>"
    head = "".join(f'<th scope="col" role="columnheader">{text}</th>' for text in RUN_HEADINGS)
    rows = []
    for run in runs:
        name, command, *others = (escape(cell) for cell in _run_cells(run))
        labels = zip(RUN_HEADINGS[2:], others)
        rows.append(
            f'<tr role="row" id="{name}"><th scope="row" role="rowheader">{name}<small>seed {run.seed}</small></th>'
            f'<td role="cell"><code>{command}</code></td>'
            + "".join(f'<td role="cell" data-label="{label}">{cell}</td>' for label, cell in labels)
            + "</tr>"
        )
    return (
        f'<h2>Runs</h2><table class="stacked" role="table"><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(rows)}</tbody></table>'
    )


def markdown(sections: Sequence[Section]) -> str:
    """The same as Markdown, without the plots."""
    lines = ["# azlab: reproductions", "", INTRODUCTION, ""]
    for section in sections:
        lines += [f"## {_heading(section)}", "", section.source.summary, "", counts_line(section.counts).capitalize() + ".", ""]
        lines += [_line(HEADINGS), _line(["---"] * len(HEADINGS))]
        for row in section.rows:
            claim = row.claim
            what = f"{claim.metric} (`{claim.id}`{f'; counts if {row.criterion}' if row.criterion else ''}) {row.note}".strip()
            checked = " ".join([claim.profile if not claim.unchecked else "–", *(run.run_id for run in row.runs)])
            lines.append(
                _line([claim.where, what, row.source_value, row.our_value, f"{MARKS[row.verdict]} {row.verdict}", checked])
            )
        lines.append("")
    runs = all_runs(sections)
    if runs:
        lines += ["## Runs", "", _line(RUN_HEADINGS), _line(["---"] * len(RUN_HEADINGS))]
        lines += [_line(_run_cells(run)) for run in runs]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ") for cell in cells) + " |"
