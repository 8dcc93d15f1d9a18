"""Runs of notebooks: parameters, failures, results, and going on after the runner was killed."""

import json
import os
import signal
import time

import nbformat
import pytest

from azlab.errors import AzlabError
from azlab.repro import profiles, results, runner

from .conftest import CLAIMS, PARAMETERS, RECORDS
from .test_results import result

SMOKE = '["01_toy".smoke]\ngames = 3\n'


def new_run(toy, folder="run", profile="smoke", seed=0):
    return runner.new_run(profiles.select([])[0], profile, seed, toy.folder / folder)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("gamse = 3", "01_toy.ipynb has no parameter 'gamse'; its parameters are games, profile, out, seed"),
        ('games = "3"', "games is of type int"),
        ("games = true", "games is of type int"),
        ("games = 3.5", "games is of type int"),
        ("seed = 3", "seed is set by the runner"),
    ],
)
def test_a_wrong_parameter_is_refused_before_a_kernel_starts(settings, sentence, toy):
    toy.source(profiles=f'["01_toy".smoke]\n{settings}\n')
    toy.notebook("open('started', 'w')")
    with pytest.raises(AzlabError, match=sentence):
        new_run(toy)
    assert not (toy.folder / "run").exists()


def test_a_notebook_without_the_usual_parameters_is_refused(toy):
    toy.source(profiles=SMOKE)
    toy.notebook("1", parameters="games: int = 2")
    with pytest.raises(AzlabError, match="no parameter 'profile'"):
        new_run(toy)
    toy.notebook("1", parameters="")
    with pytest.raises(AzlabError, match="one cell tagged `parameters` and has 0"):
        new_run(toy)


def test_annotated_parameters_may_span_lines(toy):
    path = toy.notebook(parameters='games: list[int] = [\n    1,  # one\n    2,\n]\nname = "x"')
    assert profiles.notebook_parameters(path) == {"games": "list[int]", "name": ""}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('["01_toy".small]\ngames = 1', "there is no profile 'small'"),
        ('"01_toy" = 3', "a profile is a table"),
        ('["01_toy".smoke]\n["01_toy".work]\nlaptop = 1', "one of its profiles"),
        ('["01_toy".smoke]\n["01_toy".probe]\n["01_toy".work]\nsmoke = 2\nprobe = 2', "a probe has more work"),
    ],
)
def test_a_mistake_in_profiles_gets_a_sentence(text, sentence, toy):
    toy.source(profiles=text)
    with pytest.raises(AzlabError, match=sentence):
        profiles.load("s9_toy")


def test_words_of_the_command_mean_sources_or_notebooks(toy):
    toy.source(profiles=SMOKE + '["02_toy".smoke]\ngames = 1\n')
    toy.notebook()
    assert [one.notebook for one in profiles.select(["s9"])[0]] == ["01_toy"]
    assert [one.notebook for one in profiles.select(["notebooks/01_toy.ipynb"])[0]] == ["01_toy"]
    with pytest.raises(AzlabError, match="02_toy is not written yet"):
        profiles.select(["02_toy"])
    with pytest.raises(AzlabError, match="no source or notebook 's8'"):
        profiles.select(["s8"])


@pytest.mark.slow
def test_one_failing_notebook_does_not_stop_the_others(toy):
    toy.source(profiles='["01_bad".smoke]\n' + SMOKE)
    toy.notebook("print('before')", "raise ValueError('a <b>broken</b> cell')", "print('after')", name="01_bad")
    toy.notebook(RECORDS, "import sys; print('noted', games, file=sys.stderr)", "%matplotlib inline\n"
                 "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()")  # fmt: skip
    code, output = toy.azlab("reproduce", "--out", "run", "--seed", "7", "--keep")
    assert code == 1
    assert "[1/2] 01_bad: FAILED" in output and "a <b>broken</b> cell" in output and "[2/2] 01_toy: done" in output
    assert "01_toy: cell 3 of 5: import azlab" in output and "1 of 2 notebooks failed: 01_bad." in output
    run = toy.folder / "run"
    log = (run / "01_toy" / "log.txt").read_text()
    assert "noted 3" in log and "TCP" not in log and "TCP" not in output
    assert "before" in (run / "01_bad" / "log.txt").read_text() and (run / "01_bad" / "notebook.ipynb").exists()
    assert list((run / "01_toy" / "figures").glob("*.png"))
    assert not (run / "01_bad" / "result.json").exists()
    kept = results.read(toy.folder / "reproductions" / "s9_toy" / "results" / "01_toy-smoke-seed7.json")
    assert kept.claims == {"s9.number": {"value": 1.05}} and kept.parameters == {"games": 3} and kept.seed == 7
    assert kept.command == "azlab reproduce 01_toy --profile smoke --seed 7" and kept.versions["azlab"] and kept.seconds > 0
    assert "s9_toy: 1 reproduced, 2 not run at this scale" in output and (run / "report.html").exists()
    code, output = toy.azlab("reproduce", "--out", "run")
    assert code == 2 and "already holds a run" in output


def wait_for(condition, seconds=180):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.05)


def alive(pid):
    try:
        return "State:\tZ" not in open(f"/proc/{pid}/status").read() if os.path.isdir("/proc") else os.kill(pid, 0) is None
    except (OSError, ProcessLookupError):
        return False


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["SIGKILL", "SIGINT"])
def test_a_stopped_run_goes_on(kind, toy):
    toy.source(profiles=SMOKE + '["02_toy".smoke]\ngames = 5\n')
    toy.notebook("open('first', 'a').write('x')")
    # waits when it finds nothing in its own folder; the second time it finds what the first left, as a training does
    toy.notebook(
        RECORDS, "import os, time\nfile = record.folder / 'pid'\nagain = file.exists()\nfile.write_text(str(os.getpid()))",
        "if not again: time.sleep(120)\nrecord('s9.number', games)", name="02_toy",
    )  # fmt: skip
    process = toy.start("reproduce", "--out", "run")
    left = toy.folder / "run" / "02_toy" / "work" / "pid"
    wait_for(lambda: left.exists() and left.read_text())
    kernel = int(left.read_text())
    code, output = toy.azlab("reproduce", "--resume")
    assert code == 2 and "no unfinished run in runs" in output
    code, output = toy.azlab("reproduce", "--resume", "--out", "run")
    assert code == 2 and "is still running in another process" in output and alive(kernel)
    process.send_signal(getattr(signal, kind))
    output = process.communicate(timeout=180)[0]
    assert process.returncode == (-9 if kind == "SIGKILL" else 130)
    assert kind == "SIGKILL" or "--resume" in output.splitlines()[-1]
    first, second = json.loads((toy.folder / "run" / "run.json").read_text())["steps"]
    assert (first["state"], second["state"]) == ("done", "running")
    wait_for(lambda: not alive(kernel))  # no kernel is left behind
    toy.source(profiles=SMOKE + '["02_toy".smoke]\ngames = 6\n')  # a run goes on with what it started with

    code, output = toy.azlab("reproduce", "--resume", "--out", "run", "--profile", "laptop")
    assert code == 2 and "is at profile smoke" in output
    code, output = toy.azlab("reproduce", "--resume", "--out", "run")
    assert code == 0 and "01_toy: already done" in output and "02_toy: running again" in output
    assert (toy.folder / "notebooks" / "first").read_text() == "x"
    found = results.read(toy.folder / "run" / "02_toy" / "result.json")
    assert found.claims["s9.number"]["value"] == 5
    if kind == "SIGINT":
        assert found.seconds > second["seconds"] > 0 and found.started == second["began"]  # both tries, from the first on


def test_resume_without_a_folder_takes_the_newest_unfinished_run(toy):
    toy.source(profiles=SMOKE)
    toy.notebook()
    for name in ("runs/a", "runs/b"):
        new_run(toy, name)
    done = runner.old_run(toy.folder / "runs" / "b")
    done.steps[0].state = runner.DONE
    done.save()
    assert runner.newest_unfinished(toy.folder / "runs", print).folder.name == "a"
    with pytest.raises(AzlabError, match="no unfinished run"):
        runner.newest_unfinished(toy.folder / "elsewhere", print)
    with pytest.raises(AzlabError, match="no run in"):
        runner.old_run(toy.folder / "elsewhere")


def test_a_dead_kernel_is_a_failed_notebook(toy):
    toy.source(profiles=SMOKE)
    toy.notebook("import os; os._exit(1)")
    run = new_run(toy)
    runner.go(run, lambda line: None)
    assert run.steps[0].state == runner.FAILED and "died" in run.steps[0].error.lower()


def test_an_estimate_draws_a_line_through_two_timed_runs(toy, monkeypatch):
    toy.source(profiles=(
        SMOKE + '["01_toy".probe]\ngames = 10\n["01_toy".laptop]\ngames = 1000\n'
        '["01_toy".paper]\ngames = 1\n["01_toy".work]\nsmoke = 3\nprobe = 10\nlaptop = 1000\n'
    ))  # fmt: skip
    toy.notebook()
    monkeypatch.setattr(runner, "_run_step", timed_as(lambda games: 20 + 0.5 * games))  # 20 s to start, half a second a game
    one = profiles.load("s9_toy")[0]
    assert runner.estimate(one, "laptop", toy.folder / "e") == pytest.approx(520)
    with pytest.raises(AzlabError, match="gives no work or profile 'paper'"):
        runner.estimate(one, "paper", toy.folder / "e")


def timed_as(seconds):
    def step_done(run, step, on_cell):
        step.state, step.seconds = runner.DONE, seconds(step.parameters["games"])

    return step_done


@pytest.mark.slow
def test_estimate_on_the_command_line_really_times_the_notebook(toy):
    toy.source(profiles=(
        SMOKE + '["01_toy".probe]\ngames = 13\n["01_toy".laptop]\ngames = 7203\n'
        '["01_toy".work]\nsmoke = 3\nprobe = 13\nlaptop = 7203\n'
    ))  # fmt: skip
    toy.notebook("import time; time.sleep(0.5 * games)")
    code, output = toy.azlab("reproduce", "s9", "--profile", "laptop", "--estimate")
    line = next(line for line in output.splitlines() if line.startswith("01_toy at laptop: about"))
    hours = float(line.rpartition("(")[2].split()[0])
    assert code == 0 and 0.3 < hours < 3 and not (toy.folder / "runs").exists()  # 3,600 s of sleep, and a noisy machine


def test_a_recorder_of_another_source_is_refused(toy):
    toy.source(profiles=SMOKE)
    toy.source(CLAIMS.replace("s9.", "s8."), name="s8_other")
    toy.notebook(RECORDS.replace("s9", "s8"))
    run = new_run(toy)
    runner.go(run, lambda line: None)
    assert "belongs to s9_toy" in run.failed[0].error


def test_a_part_of_a_notebook_runs_alone(toy):
    toy.source(profiles=SMOKE)
    path = toy.notebook("import pathlib", "open('one', 'w')", "open('two', 'w')", RECORDS)
    book = nbformat.read(path, as_version=4)
    book.cells[2].metadata["tags"], book.cells[3].metadata["tags"] = ["part:one"], ["part:two"]
    nbformat.write(book, path)
    with pytest.raises(AzlabError, match="no part 'three'; its parts are: one, two"):
        runner.new_run(profiles.select([])[0], "smoke", 0, toy.folder / "run", ["three"])
    code, output = toy.azlab("reproduce", "--part", "two", "--out", "run", "--keep")
    assert code == 0, output
    assert [(toy.folder / "notebooks" / name).exists() for name in ("one", "two")] == [False, True]
    kept = next((toy.folder / "reproductions" / "s9_toy" / "results").glob("*.json"))
    assert json.loads(kept.read_text())["command"].endswith("--seed 0 --part two")


def spoiled(toy, **changes):
    """A new run whose file then says something else; keys of its one step, or of the run."""
    toy.source(profiles=SMOKE.replace("games = 3", 'games = 3\nplayer = "uct:200"'))
    toy.notebook(parameters=PARAMETERS + '\nplayer: str = "random"')
    file = new_run(toy).folder / "run.json"
    content = json.loads(file.read_text())
    for name, value in changes.items():
        (content["steps"][0] if name in content["steps"][0] else content)[name] = value
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"notebook": "../../elsewhere/evil"},
            "'../../elsewhere/evil' is no notebook of this checkout, and only those are run: 01_toy",
        ),
        ({"notebook": "evil"}, "'evil' is no notebook of this checkout"),
        ({"notebook": ["01_toy"]}, "is no notebook of this checkout"),
        ({"source": "s8_other"}, "source cannot be 's8_other'"),
        ({"profile": "../x"}, "profile cannot be '../x'"),
        ({"seed": "0; import os"}, "seed cannot be '0; import os'"),
        ({"seed": True}, "seed cannot be True"),
        ({"seed": -1}, "seed cannot be -1"),
        ({"parts": ["../x"]}, "parts cannot be"),
        ({"parts": "one"}, "parts cannot be 'one'"),
        ({"parameters": {"games": 3, "out": "/elsewhere"}}, "parameters cannot be"),
        ({"parameters": {"games": "3"}}, "games is of type int"),
        ({"parameters": {"games\nimport os": 3}}, "has no parameter"),
        (
            {"parameters": {"player": "gtp:touch evil"}},
            "no profile of this checkout has 'gtp:touch evil' for the parameter player",
        ),
        ({"state": "finished"}, "state cannot be 'finished'"),
        ({"seconds": "long"}, "seconds cannot be 'long'"),
        ({"began": 3}, "began cannot be 3"),
        ({"started": "<b>"}, "started cannot be '<b>'"),
        ({"error": {}}, "error cannot be"),
        ({"steps": []}, "a run has a profile"),
        ({"steps": [3]}, "a step is a table"),
    ],
)
def test_a_run_of_someone_else_runs_nothing_that_is_not_ours(changes, sentence, toy):
    file = spoiled(toy, **changes)
    with pytest.raises(AzlabError, match="run.json") as caught:
        runner.old_run(file.parent)
    assert sentence in str(caught.value) and str(caught.value).endswith("start a new run without --resume.")


def test_a_run_goes_on_with_the_words_and_numbers_it_started_with(toy):
    file = spoiled(toy, parameters={"games": 77, "player": "uct:200"})
    assert runner.old_run(file.parent).steps[0].parameters == {"games": 77, "player": "uct:200"}


def test_only_results_of_the_run_itself_are_kept(toy):
    toy.source(profiles=SMOKE)
    toy.notebook()
    run = new_run(toy)
    run.steps[0].state = runner.DONE
    file = run.folder / "01_toy" / "result.json"
    result().write(file)
    assert [one.seed for one in runner.results_of(run)] == [0]
    for changes in ({"seed": 5}, {"profile": "laptop"}, {"notebook": "02_toy"}, {"command": "azlab reproduce --part ../../../x"}):
        result(**changes).write(file)
        with pytest.raises(AzlabError, match="result.json"):
            list(runner.results_of(run))


def test_measurements_that_a_notebook_spoiled_make_it_fail_with_a_sentence(toy):
    toy.source(profiles=SMOKE)
    toy.notebook("import pathlib\npathlib.Path(out, 'metrics.json').write_text('{\"source\": 3}')")
    run = new_run(toy)
    runner.go(run, lambda line: None)
    assert "metrics.json: it does not hold source, profile, claims and curves" in run.failed[0].error


def test_an_unreadable_notebook_gets_a_sentence(toy):
    toy.source(profiles=SMOKE)
    path = toy.notebook()
    for text in ("", "{", "[]", '{"nbformat": 4}', '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [3]}', "\0"):
        path.write_text(text)
        with pytest.raises(AzlabError, match="01_toy.ipynb"):
            new_run(toy)
