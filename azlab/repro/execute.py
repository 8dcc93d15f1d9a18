"""Runs one notebook with papermill in a folder of its own: executed notebook, log, figures."""

import base64
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nbformat
import papermill
from jupyter_client.manager import AsyncKernelManager
from papermill.engines import NBClientEngine, papermill_engines

import azlab
from azlab.repro.profiles import PART

PACKAGE_FOLDER = str(Path(azlab.__file__).resolve().parents[1])
EXECUTED, LOG, FIGURES = "notebook.ipynb", "log.txt", "figures"
# ipykernel writes this at every start of a kernel; it tells a reader of the log nothing about the notebook
KERNEL_NOISE = re.compile(r"^.*Kernel is running over TCP without encryption.*\n?", re.MULTILINE)
OnCell = Callable[[int, int, str], None]  # (number of the cell from 1, code cells in all, first line of its code)


class NotebookFailed(Exception):
    """A cell raised an error; the message is the error's own last line and the cell's number."""


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
        parts: Sequence[str] = (),
        **kwargs: Any,
    ) -> Any:
        _skip_other_parts(nb_man.nb, parts)
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


def _skip_other_parts(notebook: Any, parts: Sequence[str]) -> None:
    """Leave out the cells that belong to other parts than these; no parts mean all."""
    for cell in notebook.cells if parts else []:
        own = {tag.removeprefix(PART) for tag in cell.metadata.get("tags", []) if tag.startswith(PART)}
        if own and not own & set(parts):
            cell.metadata["tags"] = [*cell.metadata["tags"], "skip-execution"]  # nbclient's word
            cell["outputs"] = []


def execute(
    notebook: Path, folder: Path, parameters: dict[str, Any], on_cell: OnCell | None = None, parts: Sequence[str] = ()
) -> None:
    """Run `notebook` with `parameters`, or only some parts of it; raise NotebookFailed if a cell does. What is in `folder` stays,
    so that trainings go on from their files there."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / LOG
    log.write_text("", encoding="utf-8")
    try:
        with log.open("a", encoding="utf-8") as stream:
            papermill.execute_notebook(
                str(notebook), str(folder / EXECUTED), parameters, engine_name="azlab", kernel_name="python3", language="python",
                cwd=str(notebook.parent), progress_bar=False,
                stdout_file=stream, stderr_file=stream, start_timeout=120, log_file=log, on_cell=on_cell,
                parts=parts,
            )  # fmt: skip
    except papermill.PapermillExecutionError as error:
        raise NotebookFailed(f"cell {error.exec_count}: {error.ename}: {_plain(error.evalue)}") from None
    finally:
        _clean(log)
        if (folder / EXECUTED).exists():
            _save_figures(folder)


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
