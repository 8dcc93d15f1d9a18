"""What `azlab reproduce` and `azlab report` say, and their exit codes, when they cannot do what was asked."""

import json
import shutil
import subprocess
import sys

import pytest

from azlab.cli import main
from azlab.repro import runner

from .test_results import result
from .test_runner import new_run


@pytest.fixture
def azlab(toy, monkeypatch, capfd):
    """`azlab ...` in the folder of the toy, in this process: (exit code, lines of its output)."""
    toy.source()
    toy.notebook()
    monkeypatch.chdir(toy.folder)

    def run(*arguments):
        capfd.readouterr()
        code = main(arguments)
        printed = capfd.readouterr()
        return code, (printed.out + printed.err).splitlines()

    return run


@pytest.mark.parametrize("out", ["file", "file/below", "n" * 300, "/proc/azlab"])
@pytest.mark.parametrize("command", [("report",), ("reproduce", "s9")])
def test_a_folder_that_cannot_be_written_gets_one_sentence(command, out, toy, azlab):
    (toy.folder / "file").write_text("mine")
    code, lines = azlab(*command, "--out", out)
    assert code == 2 and len(lines) == 1 and "cannot be written" in lines[0] and out in lines[0]
    assert (toy.folder / "file").read_text() == "mine"


def test_a_folder_of_a_run_that_cannot_be_gets_one_sentence(azlab):
    code, lines = azlab("reproduce", "--resume", "--out", "n" * 300)
    assert code == 2 and len(lines) == 1 and "no run in nnn" in lines[0]
    code, lines = azlab("report", "n" * 300)
    assert code == 2 and len(lines) == 1 and "not the folder of a run" in lines[0]


def test_a_full_disk_gets_one_sentence_and_leaves_the_old_report(toy, azlab):
    """The system itself refuses: no file of the process may grow beyond 2,000 bytes."""
    resource = pytest.importorskip("resource")
    assert azlab("report", "--out", "here")[0] == 0
    before = (toy.folder / "here" / "report.html").read_bytes()
    result().keep()
    toy.limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    code, output = toy.azlab("report", "--out", "here")
    assert code == 2 and len(output.splitlines()) == 1 and "report.html cannot be written" in output
    assert (toy.folder / "here" / "report.html").read_bytes() == before
    assert sorted(path.name for path in (toy.folder / "here").iterdir()) == ["report.html", "report.md"]


def test_a_notebook_beside_a_run_of_someone_else_is_not_executed(toy, azlab):
    folder = new_run(toy).folder
    content = json.loads((folder / "run.json").read_text())
    content["notebooks"][0]["name"] = "../evil"
    (folder / "run.json").write_text(json.dumps(content))
    shutil.move(toy.notebook("open('executed', 'w')", name="evil"), toy.folder / "evil.ipynb")
    code, lines = azlab("reproduce", "--resume", "--out", "run")
    assert code == 2 and len(lines) == 1 and "name cannot be '../evil'" in lines[0]
    assert not list(toy.folder.rglob("executed"))


def test_a_link_in_a_run_of_someone_else_is_not_written_through(toy, azlab):
    folder = new_run(toy).folder
    (toy.folder / "precious").write_text("old")
    (folder / "01_toy").mkdir()
    (folder / "01_toy" / "log.txt").symlink_to(toy.folder / "precious")
    code, lines = azlab("reproduce", "--resume", "--out", "run")
    assert code == 2 and "log.txt: it is a link" in lines[0] and (toy.folder / "precious").read_text() == "old"


def test_resume_passes_over_a_run_that_cannot_be_read(toy, azlab):
    folder = new_run(toy, "runs/good").folder
    shutil.copytree(folder, toy.folder / "runs" / "bad")
    (toy.folder / "runs" / "bad" / "run.json").write_bytes(b"\xff")
    with runner.held(folder):  # so that it gets as far as the lock, and no notebook has to run for this
        code, lines = azlab("reproduce", "--resume")
    assert code == 2 and len(lines) == 2
    assert "runs/bad/run.json: it is not text in UTF-8" in lines[0] and "runs/good is still running" in lines[1]


def test_one_process_runs_in_a_folder_and_its_lock_dies_with_it(toy, azlab):
    folder = new_run(toy).folder
    hold = f"import time; from pathlib import Path; from azlab.repro import runner\nwith runner.held(Path({str(folder)!r})):\n"
    hold += "    print('held', flush=True); time.sleep(300)"
    with subprocess.Popen([sys.executable, "-c", hold], env=toy.environment(), stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "held\n"
            code, lines = azlab("reproduce", "--resume", "--out", "run")
            assert (code, lines) == (
                2,
                [f"The run in {folder} is still running in another process: wait for it, or stop it first."],
            )
            assert not (folder / "01_toy").exists()
        finally:
            child.kill()  # SIGKILL
    with runner.held(folder):
        pass
