"""Runs one notebook with papermill in a folder of its own: executed notebook, log, figures."""

import ast
import base64
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import papermill
from jupyter_client.manager import AsyncKernelManager
from papermill.engines import NBClientEngine, papermill_engines

import azlab
from azlab.errors import AzlabError

PACKAGE_FOLDER = str(Path(azlab.__file__).resolve().parents[1])
EXECUTED, LOG, FIGURES = "notebook.ipynb", "log.txt", "figures"
# ipykernel writes this at every start of a kernel; it tells a reader of the log nothing about the notebook
KERNEL_NOISE = re.compile(r"^.*Kernel is running over TCP without encryption.*\n?", re.MULTILINE)
OnCell = Callable[[int, int, str], None]  # (number of the cell from 1, code cells in all, first line of its code)


class LoggedKernel(AsyncKernelManager):
    """A kernel whose process writes into the log of its notebook, not over the runner's progress lines.

    It starts in another folder than the runner, and yet imports the same azlab.
    """

    log_file: Path

    async def start_kernel(self, **kwargs: Any) -> None:  # type: ignore[override]  # AsyncKernelManager makes it a coroutine
        env = dict(kwargs.pop("env", None) or os.environ)
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (PACKAGE_FOLDER, env.get("PYTHONPATH"))))
        # ipykernel would show what is written to the process's own stderr, such as compile notices, as output of the cell
        options = [*kwargs.pop("extra_arguments", []), "--IPKernelApp.capture_fd_output=False"]
        with self.log_file.open("ab") as log:
            await super().start_kernel(stdout=log, stderr=log, env=env, extra_arguments=options, **kwargs)


class Engine(NBClientEngine):
    """papermill's engine, which also tells which cell it is at."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: Any,
        kernel_name: str,
        log_file: Path,
        on_cell: OnCell | None = None,
        **kwargs: Any,
    ) -> Any:
        code_cells = [index for index, cell in enumerate(nb_man.nb.cells) if cell.cell_type == "code"]
        start = nb_man.cell_start

        def cell_start(cell: Any, cell_index: int, **more: Any) -> None:
            if on_cell and cell_index in code_cells:
                first_line = next((line for line in cell.source.splitlines() if line.strip()), "")
                on_cell(code_cells.index(cell_index) + 1, len(code_cells), first_line)
            start(cell, cell_index, **more)

        nb_man.cell_start = cell_start
        kernel = type(
            "NotebookKernel", (LoggedKernel,), {"log_file": log_file}
        )  # nbclient wants a class, and makes one kernel of it
        return super().execute_managed_notebook(nb_man, kernel_name, kernel_manager_class=kernel, **kwargs)


papermill_engines.register("azlab", Engine)


def execute(notebook: Path, folder: Path, parameters: dict[str, Any], on_cell: OnCell | None = None) -> None:
    """Run `notebook` with `parameters`, which it has to declare; a cell that raises an error ends it with a sentence."""
    lacking = set(parameters) - set(declared_parameters(notebook))
    if lacking:  # papermill would only warn
        raise AzlabError(f"{notebook.name} has no parameter {sorted(lacking)[0]!r}; CONTRIBUTING.md says which a notebook has.")
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / LOG
    log.write_text("", encoding="utf-8")
    try:
        with log.open("a", encoding="utf-8") as stream:
            papermill.execute_notebook(
                str(notebook), str(folder / EXECUTED), parameters, engine_name="azlab", kernel_name="python3", language="python",
                cwd=str(notebook.parent), progress_bar=False,
                stdout_file=stream, stderr_file=stream, start_timeout=120, log_file=log, on_cell=on_cell,
            )  # fmt: skip
    except papermill.PapermillExecutionError as error:
        raise AzlabError(f"cell {error.exec_count}: {error.ename}: {_plain(error.evalue)} (see {log})") from None
    except RuntimeError as error:  # the kernel died, or did not start
        raise AzlabError(f"{_plain(str(error))} (see {log})") from None
    finally:
        _clean(log)
        if (folder / EXECUTED).exists():
            _save_figures(folder)


def read_notebook(path: Path) -> Any:
    """A notebook of the checkout as nbformat has it."""
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.ValidationError, AttributeError, KeyError, TypeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:100]
        raise AzlabError(f"{path} cannot be read as a notebook ({reason}). Restore it with git.") from None


def declared_parameters(path: Path) -> list[str]:
    """The parameters that a notebook declares in its cell tagged `parameters`."""
    cells = [cell for cell in read_notebook(path).cells if "parameters" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise AzlabError(
            f"{path.name} needs one cell tagged `parameters` and has {len(cells)}; CONTRIBUTING.md says what belongs there."
        )
    try:
        lines = ast.parse(cells[0].source).body
    except (SyntaxError, ValueError) as error:
        raise AzlabError(f"{path.name}: the cell tagged `parameters` is not Python ({error}).") from None
    annotated = [line.target for line in lines if isinstance(line, ast.AnnAssign)]
    plain = [target for line in lines if isinstance(line, ast.Assign) for target in line.targets]
    return [target.id for target in (*annotated, *plain) if isinstance(target, ast.Name)]


def _plain(text: str) -> str:
    """The first line of an error's message without terminal colours."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).strip().splitlines()
    return lines[0] if lines else ""


def _clean(log: Path) -> None:
    text = log.read_text(encoding="utf-8", errors="replace")
    log.write_text(KERNEL_NOISE.sub("", text), encoding="utf-8")


def _save_figures(folder: Path) -> None:
    """Every picture of the executed notebook as a file: figures/cell04-1.png is the first of the fourth cell."""
    for index, cell in enumerate(nbformat.read(folder / EXECUTED, as_version=4).cells, start=1):
        pictures = [output.data for output in cell.get("outputs", []) if "data" in output]
        for number, data in enumerate(pictures, start=1):
            name = folder / FIGURES / f"cell{index:02d}-{number}"
            if "image/svg+xml" in data or "image/png" in data:
                name.parent.mkdir(exist_ok=True)
            if "image/svg+xml" in data:
                name.with_suffix(".svg").write_text("".join(data["image/svg+xml"]), encoding="utf-8")
            elif "image/png" in data:
                name.with_suffix(".png").write_bytes(base64.b64decode("".join(data["image/png"])))
