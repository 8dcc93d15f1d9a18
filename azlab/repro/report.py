"""The report: every claim of every source beside what came out here, as one HTML page and the same in Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from azlab.errors import AzlabError
from azlab.files import make_folder, write_aside
from azlab.repro import claims, page, results
from azlab.repro.results import Result
from azlab.repro.rows import Section, section
from azlab.repro.sources import source_names


@dataclass(frozen=True)
class Report:
    """A section for each source, and a sentence on each file that had to be left out."""

    sections: list[Section]
    faults: list[str]


def gather(runs: Sequence[Path] = ()) -> Report:
    """The report of the committed results and those in the folders `runs`. One bad file does not hide what the others hold."""
    files = [*results.committed_files(), *(file for run in runs for file in results.files_of_run(run))]
    sources, faults = {}, []
    for name in source_names():
        try:
            sources[name] = claims.load(name)
        except AzlabError as error:
            faults.append(str(error))
    measured = []
    for file in files:
        try:
            measured.append(_usable(file, sources))
        except AzlabError as error:
            faults.append(str(error))
    return Report([section(source, measured) for source in sources.values()], faults)


def _usable(file: Path, sources: dict[str, claims.Source]) -> Result:
    """The result in a file, if it can be set beside the claims of its source."""
    result = results.read(file)
    if result.source not in sources:
        raise AzlabError(f"{file}: it is of the source {result.source}, whose claims are not here or cannot be read.")
    wrong = results.misfit(result, sources[result.source])
    if wrong:
        raise AzlabError(f"{file}: {wrong}. {results.REMEDY}")
    return result


def write(folder: Path, content: Report) -> tuple[Path, Path]:
    """Write report.html and report.md into `folder`; return both files."""
    folder = make_folder(folder)
    texts = {
        "report.html": page.html(content.sections, content.faults),
        "report.md": page.markdown(content.sections, content.faults),
    }
    for name, text in texts.items():
        write_aside(folder / name, lambda aside, text=text: aside.write_text(text, encoding="utf-8"))  # type: ignore[misc]
    return folder / "report.html", folder / "report.md"
