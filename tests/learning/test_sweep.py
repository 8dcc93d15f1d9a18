"""Sweeps: the numbers of their table, and that nothing that ends a process changes them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from azlab.arena import match
from azlab.cli import main
from azlab.errors import AzlabError
from azlab.files import locked
from azlab.learning.player import TrainedAgent
from azlab.learning.run_folder import RunFolder
from azlab.learning.sweep import Sweep, check_names, train_unit
from azlab.learning.sweep_table import Table

from . import sweeping
from .test_alphazero import facts, numbers

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ARMS = {"plain": {"gain": 1.0}, "steep": {"gain": 1.5, "steps": 2}}
GOLDEN = """arm,seed,iteration,score,square
plain,1,1,1.125,
plain,1,2,2.125,4
plain,1,3,3.125,9
plain,2,1,1.25,
plain,2,2,2.25,4
plain,2,3,3.25,9
plain,4,1,1.5,
plain,4,2,2.5,4
plain,4,3,3.5,9
steep,1,1,1.625,
steep,1,2,3.125,4
steep,2,1,1.75,
steep,2,2,3.25,4
steep,4,1,2.0,
steep,4,2,3.5,4
"""


def sweep(folder, arms=ARMS, seeds=(1, 2, 4)):
    return Sweep(arms, list(seeds), folder, sweeping.count, steps=3)


def journal(folder, arm, seed):
    return (folder / "arms" / arm / f"seed{seed}" / "run" / "journal.txt").read_text().split()


def pids(folder):
    return [int(line) for file in folder.glob("arms/*/*/run/pids.txt") for line in file.read_text().split()]


def rows_on_disk(folder):
    return [len(json.loads(file.read_text())["rows"]) for file in sorted(folder.glob("arms/*/*/unit.json"))]


def wait_for(holds, seconds=60):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- the table --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [1, 3])
def test_the_table_has_golden_numbers_however_many_processes_there_are(tmp_path, processes):
    table = sweep(tmp_path / "s").run(processes)
    assert (tmp_path / "s" / "metrics.csv").read_text() == GOLDEN
    assert Table.load(tmp_path / "s" / "metrics.csv").text() == table.text()
    last = table.mean("score", "plain")
    # 3.125, 3.25, 3.5: deviations of -1/6, -1/24 and 5/24; Student's t of two degrees of freedom is 4.302653
    assert (last.mean, last.count) == (pytest.approx(3.2916667), 3)
    assert last.deviation == pytest.approx(0.1909407) and last.half == pytest.approx(4.302653 * 0.1909407 / 3**0.5, rel=1e-6)
    assert table.mean("score", "plain", 1).mean == pytest.approx(1.2916667)
    apart = table.difference("score", "steep", "plain")  # at iteration 2, the last that both have
    assert (apart.mean, apart.deviation, apart.half, apart.count) == (1.0, 0.0, 0.0, 3)
    assert table.difference("score", "steep", "plain", 1).mean == 0.5


def test_finished_units_are_not_run_again_and_new_arms_and_seeds_are(tmp_path):
    sweep(tmp_path / "s", {"plain": ARMS["plain"]}, [1]).run(2)
    before = pids(tmp_path / "s")
    heard = []
    sweep(tmp_path / "s").run(2, progress=lambda *report, **facts: heard.append(report))
    assert len(before) == 1 and len(pids(tmp_path / "s")) == 6
    assert (tmp_path / "s" / "metrics.csv").read_text() == GOLDEN
    assert heard[0] == ("units", 1, 6) and heard[-1] == ("units", 6, 6) and ("steep seed 4", 2, 3) in heard
    sweep(tmp_path / "s").run(2)
    assert len(pids(tmp_path / "s")) == 6


def test_one_arm_alone(tmp_path):
    table = sweep(tmp_path / "s").run(2, only=["steep"])
    assert table.arms == ["steep"] and len(pids(tmp_path / "s")) == 3
    with pytest.raises(AzlabError, match="no arm 'other'; there are plain, steep"):
        sweep(tmp_path / "s").run(2, only=["other"])


def test_units_have_one_thread_and_a_log(tmp_path):
    one = Sweep({"a": {}}, [1], tmp_path / "s", sweeping.threads_here)
    row = one.run(1).rows[0]
    assert len(row) == 11 and {value for name, value in row.items() if name not in ("arm", "seed", "iteration")} == {1}
    assert (tmp_path / "s" / "arms" / "a" / "seed1" / "log.txt").read_text() == "for the log\n"


# --- trouble ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("fault", "ZeroDivisionError: nothing (its log.txt has more)."),
        ("sentence", "This cannot be."),
        ("killed", "its process ended by SIGKILL: the system ends what takes too much memory; "),
    ],
)
def test_a_unit_that_fails_is_noted_and_costs_no_other(tmp_path, kind, reason):
    arms = {"plain": {"gain": 1.0, "trouble": kind}, "steep": ARMS["steep"]}
    one, heard = sweep(tmp_path / "s", arms), []
    table = one.run(2, progress=lambda *report, **facts: heard.append((report[0], facts.get("error", ""))))
    states = {unit.name: state for unit, state in one.states().items()}
    assert [name for name, state in states.items() if not state.finished] == ["plain seed 2"]
    assert states["plain seed 2"].error.startswith(reason) and ("plain seed 2", states["plain seed 2"].error) in heard
    assert (tmp_path / "s" / "metrics.csv").read_text() == GOLDEN.replace("plain,2,2,2.25,4\nplain,2,3,3.25,9\n", "")
    assert table.mean("score", "plain").mean == pytest.approx(1.2916667)  # at iteration 1, which all seeds have
    if kind == "fault":
        assert "sweeping.py" in (tmp_path / "s" / "arms" / "plain" / "seed2" / "log.txt").read_text()
    if kind == "sentence":  # the next call tries it again
        one.run(2)
        assert (tmp_path / "s" / "metrics.csv").read_text() == GOLDEN and journal(tmp_path / "s", "plain", 2) == ["1", "2", "3"]


def test_a_unit_whose_process_is_killed_goes_on(tmp_path):
    arms = {"plain": {"gain": 1.0, "trouble": "killed once"}, "steep": ARMS["steep"]}
    one = sweep(tmp_path / "s", arms)
    one.run(2)
    assert (tmp_path / "s" / "metrics.csv").read_text() == GOLDEN and all(state.finished for state in one.states().values())
    assert journal(tmp_path / "s", "plain", 2) == ["1", "2", "3"] and len(pids(tmp_path / "s")) == 7


def started(folder, *configs):
    """A sweep of two seeds in a process that can be killed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, sweeping.__file__, str(folder), "2", *map(json.dumps, configs)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("which", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_children_end_with_the_parent_and_what_it_left_goes_on(tmp_path, which):
    config = {"gain": 1.0, "steps": 4, "pause": 0.3, "trouble": "sleeps once"}
    parent = started(tmp_path / "s", config)
    wait_for(lambda: list(tmp_path.glob("s/arms/*/*/run/been_here")) and sum(rows_on_disk(tmp_path / "s")) >= 2)
    begin = time.monotonic()
    parent.send_signal(which)
    stderr = parent.communicate()[1]
    wait_for(lambda: not any(map(is_running, pids(tmp_path / "s"))), 10)
    assert time.monotonic() - begin < 10 and len(pids(tmp_path / "s")) == 2
    assert which != signal.SIGINT or stderr.rstrip().endswith("KeyboardInterrupt")
    Sweep({"arm0": config}, [1, 2], tmp_path / "s", sweeping.count).run(2)
    for seed in (1, 2):
        assert journal(tmp_path / "s", "arm0", seed) == ["1", "2", "3", "4"]
    assert Table.load(tmp_path / "s" / "metrics.csv").mean("score", "arm0").mean == 4.1875


def test_two_processes_cannot_run_one_sweep(tmp_path):
    with locked(tmp_path / "s", "taken"), pytest.raises(AzlabError, match="Another process runs the sweep in .*: wait for it"):
        sweep(tmp_path / "s").run(1)


def test_an_arm_keeps_its_settings(tmp_path, tiny):
    sweep(tmp_path / "s").run(2)
    with pytest.raises(AzlabError, match=r"The arm steep in .* begun with other settings \(gain, steps\)"):
        sweep(tmp_path / "s", {"plain": {"gain": 1.0}, "steep": {"gain": 2.0}}).run(2)
    for simulations in (8, 9):
        one = Sweep({"a": tiny(budget__simulations=simulations)}, [1], tmp_path / "t")
        if simulations == 8:
            one._begin()
        else:
            with pytest.raises(AzlabError, match=r"The arm a in .* begun with other settings \(budget.simulations\)"):
                one.run(1)


def test_a_damaged_file_is_named(tmp_path):
    sweep(tmp_path / "s").run(2)
    file = tmp_path / "s" / "arms" / "plain" / "seed1" / "unit.json"
    file.write_text(file.read_text().replace("1.125", "9.125"))
    with pytest.raises(AzlabError, match=r"unit.json is damaged \(its checksum is wrong\). Delete it"):
        sweep(tmp_path / "s").run(2)
    file.unlink()
    sweep(tmp_path / "s").run(2)
    assert (tmp_path / "s" / "metrics.csv").read_text() == GOLDEN


def test_what_is_no_unit_is_refused(tmp_path):
    with pytest.raises(AzlabError, match="stands in a module or a file of its own"):
        Sweep({"a": {}}, [1], tmp_path / "s", lambda config, seed, folder: []).run(1)
    one = Sweep({"a": {}}, [1], tmp_path / "t", sweeping.not_a_row)
    one.run(1)
    assert "iteration of a unit's row must be a whole number" in next(iter(one.states().values())).error
    with pytest.raises(AzlabError, match="settings of the arm a are numbers"):
        Sweep({"a": {"x": object()}}, [1], tmp_path / "u", sweeping.count).run(1)
    with pytest.raises(AzlabError, match="The number of processes must be a whole number"):
        sweep(tmp_path / "v").run(0)


@pytest.mark.parametrize(
    ("arms", "seeds", "sentence"),
    [
        ([], [1], "at least one arm"), (["a b"], [1], "An arm's name"), (["../x"], [1], "An arm's name"),
        ([""], [1], "An arm's name"), (["nul"], [1], "An arm's name"), (["Com1.x"], [1], "An arm's name"),
        (["a."], [1], "An arm's name"), ([".a"], [1], "An arm's name"), (["a" * 101], [1], "An arm's name"),
        (["More", "more"], [1], "The arms More and more would have the same folder"), (["a"], [], "needs a list of seeds"),
        (["a"], "12", "needs a list of seeds"), (["a"], [1, 2, 1], "A seed is named twice"), (["a"], [-1], "A seed must be"),
        (["a"], [True], "A seed must be"),
    ],
)  # fmt: skip
def test_names_and_seeds(arms, seeds, sentence):
    with pytest.raises(AzlabError, match=sentence):
        check_names(dict.fromkeys(arms), seeds)
    check_names(dict.fromkeys(["baseline", "more.2_x-y"]), [0, 2**31])


# --- trainings --------------------------------------------------------------------------------------------------------


def file_of(folder, tiny, **settings):
    """A sweep of two arms as a file, and its config beside it."""
    (folder / "base.toml").write_text(tiny(**settings).to_toml())
    file = folder / "small.toml"
    file.write_text('[sweep]\nconfig = "base.toml"\nseeds = [3]\n[arms.plain]\n[arms.more]\n"budget.simulations" = 16\n')
    return file


def azlab(*words):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "azlab.cli", *map(str, words)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def children(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(word) for word in listed.split()]


@pytest.mark.slow
def test_a_training_sweep_that_is_killed_equals_one_that_never_was(tiny, tmp_path, capsys):
    """SIGKILL to a child and then to the parent, each after some iterations; and what the command prints."""
    file = file_of(tmp_path, tiny, iterations=10, selfplay__positions=400)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main(["sweep", str(file), "--out", str(whole), "--processes", "1"]) == 0
    printed = capsys.readouterr().out
    assert "more - plain" in printed and "The table of all iterations is" in printed
    parent = azlab("sweep", file, "--out", killed, "--processes", 2)
    wait_for(lambda: sum(rows_on_disk(killed)) >= 2)
    victim, before = children(parent.pid)[0], sum(rows_on_disk(killed))
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: sum(rows_on_disk(killed)) > before and victim not in children(parent.pid))  # it has been noticed
    left = children(parent.pid)
    parent.kill()
    parent.communicate()
    wait_for(lambda: not any(map(is_running, left)))
    assert sum(rows_on_disk(killed)) < 20, "it was over before it was killed: make it longer"
    assert main(["sweep", str(file), "--out", str(killed), "--list"]) == 0
    assert "2 units in " in capsys.readouterr().out
    assert main(["sweep", str(file), "--out", str(killed), "--processes", "2"]) == 0
    tables = [facts(Table.load(folder / "metrics.csv").rows) for folder in (whole, killed)]
    assert tables[0] == tables[1] and len(tables[0]) == 20
    for arm in ("plain", "more"):
        runs = [folder / "arms" / arm / "seed3" / "run" for folder in (whole, killed)]
        nets = [[path.name for path in sorted(run.glob("nets/*"))] for run in runs]
        assert nets == [["00010.safetensors"]] * 2  # the last network alone
        assert numbers(runs[0] / "nets" / nets[0][0]) == numbers(runs[1] / "nets" / nets[0][0])
        assert not list(runs[1].rglob("*.npz")) and RunFolder(runs[1]).config().seed == 3
        assert match(TrainedAgent(runs[1]), "random", 2, "tictactoe").complete
    assert RunFolder(runs[1]).config().budget.simulations == 16
    capsys.readouterr()
    assert main(["train", "--config", str(runs[1] / "config.toml"), "--out", str(runs[1]), "iterations=11"]) == 2
    assert "is over, and what it would need to go on was deleted" in capsys.readouterr().err


def test_a_retired_run_can_be_retired_again(tiny, tmp_path):
    """As after a kill between the unit's last word and its note."""
    rows = list(train_unit(tiny(iterations=2), 5, tmp_path / "run"))
    (tmp_path / "run" / "games").mkdir()
    assert list(train_unit(tiny(iterations=2), 5, tmp_path / "run")) == rows and len(rows) == 2
    assert not (tmp_path / "run" / "games").exists() and RunFolder(tmp_path / "run").config().seed == 5
