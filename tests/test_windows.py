"""azlab where Python lacks what only Unix has. A child process plays Windows: for it they are not there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

# Packages of others are made for one system when they are installed: they come first and keep what Linux has.
AS_ON_WINDOWS = """
import sys
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None  # importing it fails
import importlib, os, pkgutil, select, signal, types
import numba, papermill, torch, matplotlib.figure, anywidget
for place, names in ((os, "chown geteuid getuid killpg sched_getaffinity sched_setaffinity sysconf set_blocking"),
                     (select, "poll"), (signal, "SIGKILL SIGHUP SIGALRM")):
    for name in names.split():
        delattr(place, name)
locked = []
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda handle, mode, length: locked.append(length))
import azlab, azlab.files, azlab.machine
azlab.machine.IS_WINDOWS = True
"""
IMPORT_ALL = """
for module in pkgutil.walk_packages(azlab.__path__, "azlab."):
    importlib.import_module(module.name)
    print(module.name)
"""
WORK = """
from azlab import cli
folder = sys.argv[1]
assert cli.main(["train", "tictactoe", "iterations=1", "selfplay.positions=200", "evaluation.games=2", "--out", folder]) == 0
assert locked == [1], locked
assert cli.main(["match", "tictactoe", f"az:{folder},simulations=4", "random", "--games", "4"]) == 0
assert cli.main(["doctor"]) == 0
for text in ("old", "new"):
    azlab.files.write_aside(azlab.files.Path(folder) / "text", lambda aside: aside.write_text(text))
assert azlab.game("connect4").start().play("4").svg.startswith("<svg")
from azlab.games import kernel
assert kernel.CACHE_WORKS
assert cli.main(["match", "go", "gtp:gnugo", "random", "size=5"]) == 2
"""


def child(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", AS_ON_WINDOWS + code, str(folder / "run")]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder)


def test_every_module_can_be_imported(tmp_path):
    done = child(IMPORT_ALL, tmp_path)
    assert done.returncode == 0, done.stderr
    files = [file.relative_to(ROOT).with_suffix("") for file in (ROOT / "azlab").rglob("*.py")]
    assert {".".join(file.parts).removesuffix(".__init__") for file in files} == {"azlab", *done.stdout.split()}


@pytest.mark.slow
def test_it_trains_plays_and_draws(tmp_path):
    done = child(WORK, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "use GNU Go and other engines in WSL" in done.stderr
