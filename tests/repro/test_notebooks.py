"""Every notebook in notebooks/ gives its stored outputs again, and what is stored is fit to be read."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from azlab.repro import execute, experiments, refresh, runner
from azlab.repro.sources import notebook_path

from .conftest import CHECKOUT

NOTEBOOKS = sorted((CHECKOUT / "notebooks").glob("*.ipynb"))
RULES = Path(__file__).with_name("nbval_sanitize.cfg")
PROGRAMS = {"05_tabular_go": "gnugo", "11_go_moves": "gnugo"}  # what the experiments of a notebook need beside Python
TO_COME = {"11_go_moves"}  # notebooks whose experiments are there already
SHOWING = sorted({one.notebook for one in experiments.load_all().values()})  # notebooks that show experiments


def nbval(path, folder):
    """Run a notebook and compare every output with the stored one: (exit code, what nbval says)."""
    (folder / "pytest.ini").write_text("[pytest]\n")  # none of our own settings: they are for tests, not for cells
    pytest_alone = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        str(folder / "pytest.ini"),
        "--rootdir",
        str(path.parent),
    ]
    with_nbval = ["-p", "nbval.plugin", "--nbval", "--nbval-current-env", "--nbval-sanitize-with", str(RULES)]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, *pytest_alone, *with_nbval, str(path)],
        env=environment, capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_its_stored_outputs_again(path, tmp_path):
    code, output = nbval(path, tmp_path)
    assert code == 0, output


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_clean(path):
    assert refresh.faults(nbformat.read(path, as_version=4)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWING)
def test_its_experiments_run_at_smoke_and_the_notebook_shows_them(name, tmp_path, need):
    if name in PROGRAMS:
        need(PROGRAMS[name])
    run = runner.new_run(experiments.select([name])[0], "smoke", 0, tmp_path / "run")
    runner.go(run, print)
    assert run.finished, [step.error for step in run.failed]
    for result in runner.results_of(run):
        assert result.claims or result.data, result.run_id


@pytest.mark.parametrize("one", experiments.load_all().values(), ids=lambda one: one.id)
def test_every_profile_fits_its_experiment(one):
    for settings in one.settings.values():
        one.check(settings)
    assert {"smoke", "laptop", "paper"} <= set(one.settings)
    if one.notebook not in TO_COME:
        assert set(execute.declared_parameters(one.notebook_path)) == {"profile", "seed", "out"}


def test_a_notebook_that_is_to_come_is_not_there():
    assert not any(notebook_path(name).exists() for name in TO_COME)


# --- would these tests notice? --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_good_notebook_passes_and_a_broken_one_does_not(toy):
    good = "import time\nprint('sum', sum(range(4)))\nprint(f'took {time.perf_counter() % 1:.3f} s')"
    path = toy.notebook(good)
    assert refresh.main(["01_toy"]) == 0
    stored = nbformat.read(path, as_version=4)
    assert stored.cells[1].outputs[0].text.startswith("sum 6\ntook") and refresh.faults(stored) == []
    code, output = nbval(path, toy.folder)
    assert code == 0, output

    stored.cells[1].source = good.replace("range(4)", "range(5)")  # another number than the stored one
    nbformat.write(stored, path)
    code, output = nbval(path, toy.folder)
    assert code == 1 and "sum 6" in output and "sum 10" in output


def test_a_notebook_that_fails_is_not_stored(toy, capsys):
    path = toy.notebook("1 / 0")
    before = path.read_bytes()
    assert refresh.main([]) == 1 and path.read_bytes() == before
    assert "ZeroDivisionError" in capsys.readouterr().out
    assert refresh.main(["02_none"]) == 1


@pytest.mark.slow
def test_refreshing_twice_gives_the_same_bytes(toy):
    path = toy.notebook(
        "print(1)", "import azlab\nfor k in azlab.show.progress('work', range(3)): pass\nazlab.game('tictactoe').start()"
    )
    refresh.refresh(path)
    first = path.read_bytes()
    refresh.refresh(path)
    assert path.read_bytes() == first and b"work: 3 of 3" in first and b"svg" in first


def stored(*outputs, count=1, metadata=None):
    book = nbformat.v4.new_notebook(metadata={"kernelspec": refresh.KERNEL, **(metadata or {})})
    book.cells = [nbformat.v4.new_code_cell("1", outputs=list(outputs), execution_count=count)]
    return book


def stream(text, name="stdout"):
    return nbformat.v4.new_output("stream", name=name, text=text)


@pytest.mark.parametrize(
    ("book", "fault"),
    [
        (stored(stream("x", "stderr")), "text on stderr"),
        (stored(stream("UserWarning: old")), "a warning"),
        (stored(stream(" 50%|#####     | 1/2")), "a bar of tqdm"),
        (stored(stream("saved in /home/me/x")), "a path"),
        (stored(stream("saved in /tmp/x")), "a path"),
        (stored(nbformat.v4.new_output("display_data", {"text/html": '<a href="/root/x">'})), "a path"),
        (stored(stream("<Thing object at 0x7f6631a5>")), "an address"),
        (stored(nbformat.v4.new_output("display_data", {refresh.WIDGET: {}})), "a widget without"),
        (stored(nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])), "it ends with E"),
        (stored(count=None), "not executed in order"),
        (stored(count=2), "not executed in order"),
        (stored(metadata={"widgets": {}}), "the metadata hold widgets"),
        (stored(metadata={"kernelspec": {"name": "mine", "display_name": "Mine"}}), "the kernel is not python3"),
        (stored(metadata={"papermill": {}}), "the metadata hold papermill"),
    ],
)
def test_what_does_not_belong_in_a_stored_notebook_is_found(book, fault):
    assert any(fault in found for found in refresh.faults(book)), refresh.faults(book)


def test_a_stored_widget_is_its_picture():
    shown = {refresh.WIDGET: {"model_id": "random"}, "image/svg+xml": "<svg/>", "text/plain": "a tree"}
    book = stored(nbformat.v4.new_output("display_data", shown))
    refresh.clean(book)
    assert set(book.cells[0].outputs[0].data) == {"image/svg+xml", "text/plain"} and refresh.faults(book) == []


def test_what_belongs_there_is_no_fault():
    picture = nbformat.v4.new_output("display_data", {"image/png": "aGk=/tmp/x", "text/plain": "a board"})
    assert refresh.faults(stored(stream("57 of 57, 3/4, http://x.org/home/y"), picture)) == []
