"""The report: every claim of every source beside what came out here, as one HTML page and the same in Markdown."""

from collections.abc import Sequence
from pathlib import Path

from azlab.repro import claims, page, results
from azlab.repro.rows import Section, section


def sections(runs: Sequence[Path] = ()) -> list[Section]:
    """The report of the committed results and those in the folders `runs`, source by source."""
    measured = results.committed() + [result for run in runs for result in results.of_run(run)]
    return [section(source, measured) for source in claims.load_all()]


def write(folder: Path, content: Sequence[Section]) -> tuple[Path, Path]:
    """Write report.html and report.md into `folder`; return both files."""
    folder.mkdir(parents=True, exist_ok=True)
    html, markdown = folder / "report.html", folder / "report.md"
    html.write_text(page.html(content), encoding="utf-8")
    markdown.write_text(page.markdown(content), encoding="utf-8")
    return html, markdown
