"""A root of its own for reproductions: tiny sources, experiments and notebooks in a temporary folder."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

CHECKOUT = Path(__file__).parents[2]
PARAMETERS = 'profile: str = ""\nseed: int = 1\nout: str = ""'
CLAIMS = """
title = "A toy"
summary = "Nothing to see."
[[group]]
where = "Table 1"
profile = "smoke"
experiment = "toy"
tolerance = 0.1
claims = [
    { id = "s9.number", metric = "a number", value = 1.0 },
    { id = "s9.word", metric = "a word", value = "yes" },
    { id = "s9.curve", metric = "a curve", value = [1, 2, 3], x = [1, 2, 3] },
]
"""
SMOKE = '[toy]\nnotebook = "01_toy"\n[toy.smoke]\ngames = 3\n'
TOY = 'def toy(record, *, games: int) -> None:\n    record("s9.number", 1.05)\n    record.data("games", games)\n'
SHOWS = 'import azlab\nfound = azlab.repro.result("s9.toy", profile, seed, out)\nprint(found, found.data["games"])'


class Root:
    """A folder with the parts of a checkout, filled by the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.limit = None  # a function that the started process calls first
        for part in ("notebooks", "data/sources", "reproductions"):
            (folder / part).mkdir(parents=True)

    def source(self, claims=CLAIMS, profiles=SMOKE, code=TOY, name="s9_toy"):
        home = self.folder / "reproductions" / name
        home.mkdir(exist_ok=True)
        (home / "claims.toml").write_text(claims)
        (home / "profiles.toml").write_text(profiles)
        (home / "experiment.py").write_text(code)
        return home

    def notebook(self, *cells, name="01_toy", parameters=PARAMETERS):
        book = nbformat.v4.new_notebook()
        first = [nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})] if parameters else []
        book.cells = first + [nbformat.v4.new_code_cell(cell) for cell in cells]
        path = self.folder / "notebooks" / f"{name}.ipynb"
        nbformat.write(book, path)
        return path

    def environment(self):
        return {**os.environ, "AZLAB_ROOT": str(self.folder), "PYTHONPATH": str(CHECKOUT)}

    def start(self, *arguments):
        """`azlab ...` in this folder, as a process whose output is piped."""
        return subprocess.Popen(
            [sys.executable, "-m", "azlab.cli", *arguments],
            cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=self.limit,
        )  # fmt: skip

    def azlab(self, *arguments):
        """The same, to its end: (exit code, output)."""
        process = self.start(*arguments)
        output = process.communicate(timeout=300)[0]
        return process.returncode, output


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.setenv("AZLAB_ROOT", str(tmp_path))
    return Root(tmp_path)
