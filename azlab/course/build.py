"""Makes the notebooks that students get from the instructor's: one source, two versions.

`notebooks/instructor/NAME.ipynb` has the solutions, between marks in the form that nbgrader uses:

    ### BEGIN SOLUTION          what stands between them becomes STUB in the student's version
    ### END SOLUTION
    ### BEGIN HIDDEN TESTS      what stands between them is left out, and back again when nbgrader grades
    ### END HIDDEN TESTS

The stub, three dots and a comment, is Python wherever a solution may stand: as the body of a function, as a statement, as an
argument. So the student's version runs from top to bottom, and `azlab.course.use` takes the library's function where the
student's is missing. A lesson without exercises to write has no instructor's version; its notebook is the same for both.

    azlab course build [NAME ...] --student DIR --instructor DIR
"""

import copy
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat

from azlab.errors import AzlabError
from azlab.files import make_folder, notebooks_folder, write_aside

STUB = "...  # your answer"  # also in notebooks/instructor/nbgrader_config.py
REGIONS = {"SOLUTION": STUB, "HIDDEN TESTS": None}
MARK = re.compile(r"^(\s*)### (BEGIN|END) (SOLUTION|HIDDEN TESTS)\s*$")


def instructor_folder() -> Path:
    return notebooks_folder() / "instructor"


def instructor_notebooks(names: Sequence[str] = ()) -> list[Path]:
    """The instructor's notebooks called `names`, with or without .ipynb; all of them if there are no names."""
    there = {path.stem: path for path in sorted(instructor_folder().glob("*.ipynb"))}
    wanted = [Path(name).name.removesuffix(".ipynb") for name in names] or list(there)
    for name in wanted:
        if name not in there:
            raise AzlabError(f"There is no instructor's notebook {name!r}; there are {', '.join(there) or 'none'}.")
    return [there[name] for name in wanted]


def without_solutions(source: str) -> str:
    """The source of a cell as students get it."""
    kept: list[str] = []
    region = ""
    for line in source.split("\n"):
        mark = MARK.match(line)
        if mark is None:
            kept += [line] * (not region)
            continue
        indent, side, kind = mark.groups()
        if (side == "BEGIN") == bool(region) or (region and kind != region):
            raise AzlabError(f"A cell has a mark that does not fit: {line.strip()!r}.")
        region = kind if side == "BEGIN" else ""
        stub = REGIONS[kind]
        if region and stub is not None:
            kept.append(indent + stub)
    if region:
        raise AzlabError(f"A cell has no ### END {region}.")
    return "\n".join(kept).rstrip("\n")


def student_version(notebook: Any) -> Any:
    """The notebook without solutions, hidden tests and outputs."""
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.source = without_solutions(cell.source)
            cell.outputs, cell.execution_count = [], None
    return made


def with_outputs_of(notebook: Any, stored: Any) -> Any:
    """The notebook with the outputs of `stored`, if its code is the same; otherwise as it is, without any."""
    cells, old_cells = _code(notebook), _code(stored)
    if [(cell.id, cell.source) for cell in cells] == [(cell.id, cell.source) for cell in old_cells]:
        for cell, old in zip(cells, old_cells, strict=True):
            cell.outputs, cell.execution_count = old.outputs, old.execution_count
    return notebook


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def build(names: Sequence[str] = (), student: Path | None = None, instructor: Path | None = None) -> list[Path]:
    """Write the versions that are asked for to their folders, and return the files. Outputs of a student's version that is there
    already, or in notebooks/, are kept if its code is the same."""
    if student is None and instructor is None:
        raise AzlabError("Nothing to build: name a folder with --student, --instructor, or both.")
    if instructor is not None and make_folder(instructor).resolve() == instructor_folder().resolve():
        raise AzlabError(f"{instructor} holds the source of both versions; name another folder.")
    written = []
    for path in instructor_notebooks(names):
        source = nbformat.read(path, as_version=4)
        if instructor is not None:
            written.append(_write(source, instructor / path.name))
        if student is not None:
            made = student_version(source)
            for folder in (make_folder(student), notebooks_folder()):
                if (folder / path.name).exists():
                    made = with_outputs_of(made, nbformat.read(folder / path.name, as_version=4))
                    break
            written.append(_write(made, student / path.name))
    return written


def _write(notebook: Any, path: Path) -> Path:
    write_aside(path, lambda aside: nbformat.write(notebook, aside))
    return path
