"""Executes the notebooks in `notebooks/` with their own defaults, which are the smoke profile, and stores the outputs in place.

    python -m azlab.repro.refresh [NAME ...]         (or: make notebooks)

What is stored is the same on every machine: no widget state, no times, no versions, a plain kernel name. `faults` says what does
not belong in a stored notebook; a test asks it about every one.
"""

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from azlab.errors import AzlabError
from azlab.files import notebooks_folder, write_aside
from azlab.repro.execute import LoggedKernel
from azlab.repro.sources import notebook_path

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
CELL_METADATA = ("tags", "jupyter", "collapsed", "slideshow", "nbgrader")  # what a cell may keep

ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])/(home|tmp|root|work|Users|var|usr|opt|mnt)/[\w.-]+")
WARNING = re.compile(r"\b\w*Warning:|\bWARNING\b|oneDNN")
TQDM = re.compile(r"\d+%\|.*\||it/s\]|s/it\]")
ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")
WIDGET = "application/vnd.jupyter.widget-view+json"


def notebooks() -> list[Path]:
    return sorted(notebooks_folder().glob("*.ipynb"))


def refresh(path: Path) -> None:
    """Execute one notebook and store it, cleaned. If a cell fails, the file stays as it was."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="azlab-") as folder:
        kernel = type("NotebookKernel", (LoggedKernel,), {"log_file": Path(folder) / "log.txt"})
        client = NotebookClient(
            notebook, timeout=None, kernel_name="python3", kernel_manager_class=kernel, coalesce_streams=True,
            resources={"metadata": {"path": str(path.parent)}},
        )  # fmt: skip
        try:
            client.execute()
        except CellExecutionError as error:
            raise AzlabError(f"{path.name} was not stored, since a cell failed: {error.ename}: {error.evalue}") from None
    clean(notebook)
    write_aside(path, lambda aside: nbformat.write(notebook, aside))


def clean(notebook: Any) -> None:
    """Keep code, text and outputs; drop what differs from machine to machine."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({key: value for key, value in cell.metadata.items() if key in CELL_METADATA})
        for output in cell.get("outputs", []):
            if WIDGET in output.get("data", {}) and len(output.data) > 1:
                del output.data[
                    WIDGET
                ]  # without its kernel it is an error message; the picture or text beside it is shown instead
            if "metadata" in output:
                output.metadata = nbformat.from_dict({key: value for key, value in output.metadata.items() if key != "papermill"})


def faults(notebook: Any) -> list[str]:
    """What does not belong in a stored notebook, a sentence for each; none is good."""
    found = [f"the metadata hold {key}" for key in ("widgets", "papermill") if key in notebook.metadata]
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        found.append("the kernel is not python3")
    number = 0
    for index, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type != "code":
            continue
        found += [f"cell {index}: the metadata hold {key}" for key in cell.metadata if key not in CELL_METADATA]
        if cell.source.strip():
            number += 1
            if cell.execution_count != number:
                found.append(f"cell {index}: it was not executed in order (count {cell.execution_count}, expected {number})")
        for output in cell.outputs:
            found += [
                f"cell {index}: {fault}" for fault in _output_faults(output, "raises-exception" in cell.metadata.get("tags", []))
            ]
    return found


def _output_faults(output: Any, may_raise: bool) -> list[str]:
    if output.output_type == "error":
        return [] if may_raise else [f"it ends with {output.ename}"]
    found = []
    if output.output_type == "stream":
        texts = {"text": output.text}
        if output.name == "stderr":
            found.append(f"text on stderr: {output.text.strip()[:80]!r}")
    else:
        texts = {kind: str(text) for kind, text in output.data.items() if not kind.startswith("image/png")}
        if WIDGET in output.data and not {"text/plain", "image/svg+xml"} & set(output.data):
            found.append("a widget without a picture or text to show in its place")
    for kind, text in texts.items():
        for what, pattern in (
            ("a warning", WARNING),
            ("a bar of tqdm", TQDM),
            ("a path", ABSOLUTE_PATH),
            ("an address", ADDRESS),
        ):
            match = pattern.search(text)
            if match:
                found.append(f"{what} in {kind}: {match.group()!r}")
    return found


def main(names: Sequence[str]) -> int:
    paths = [notebook_path(Path(name).name.removesuffix(".ipynb")) for name in names] or notebooks()
    failed = 0
    for path in paths:
        try:
            if not path.exists():
                raise AzlabError(f"There is no notebook {path}.")
            refresh(path)
            wrong = faults(nbformat.read(path, as_version=4))
        except AzlabError as error:
            wrong = [str(error)]
        print(f"{path.name}: {'; '.join(wrong) or 'stored'}", flush=True)
        failed += bool(wrong)
    if not paths:
        print("There are no notebooks yet.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
