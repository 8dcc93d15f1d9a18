"""Runs of experiments and their notebooks: settings, failures, results, and going on after the runner was killed."""

import json
import signal
import time

import nbformat
import pytest

from azlab.errors import AzlabError
from azlab.repro import experiments, results, runner
from azlab.repro.perform import result as shown

from .conftest import CLAIMS, PARAMETERS, SHOWS, SMOKE, TOY
from .test_results import result


def new_run(toy, folder="run", profile="smoke", seed=0):
    return runner.new_run(experiments.select([])[0], profile, seed, toy.folder / folder)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("gamse = 3", "s9.toy has no setting 'gamse'; its settings are games"),
        ("", "the setting games is missing"),
        ('games = "3"', "games is of type int"),
        ("games = true", "games is of type int"),
        ("games = 3.5", "games is of type int"),
        ("games = 3\nseed = 3", "has no setting 'seed'"),
    ],
)
def test_a_wrong_setting_is_refused_before_anything_runs(settings, sentence, toy):
    toy.source(profiles=SMOKE.replace("games = 3", settings), code="def toy(record, *, games: int) -> None:\n    1 / 0")
    with pytest.raises(AzlabError, match=sentence):
        new_run(toy)
    assert not (toy.folder / "run").exists()


def test_an_experiment_that_is_not_there_gets_a_sentence(toy):
    home = toy.source(code="def other(record): ...")
    with pytest.raises(AzlabError, match="there is no function toy in .*experiment.py"):
        new_run(toy)
    (home / "experiment.py").unlink()
    with pytest.raises(AzlabError, match="s9.toy cannot be run: there is no .*experiment.py"):
        new_run(toy)


def test_a_setting_needs_a_type(toy):
    toy.source(code="def toy(record, *, games) -> None: ...")
    with pytest.raises(AzlabError, match="the setting games has no type among int, float"):
        new_run(toy)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (SMOKE.replace("smoke", "small"), "there is no profile 'small'"),
        ("toy = 3", "it needs the notebook that shows it"),
        ("[toy.smoke]\ngames = 1", "it needs the notebook that shows it"),
        ('[toy]\nnotebook = "../x"', "it needs the notebook that shows it"),
        ('["01_toy"]\nnotebook = "01_toy"', "has the name of a function"),
        ('[toy]\nnotebook = "01_toy"\nsmoke = 3', "a profile is a table"),
        (SMOKE + "[toy.work]\nlaptop = 1", "one of its profiles"),
        (SMOKE + "[toy.probe]\n[toy.work]\nsmoke = 2\nprobe = 2", "a probe has more work"),
    ],
)
def test_a_mistake_in_profiles_gets_a_sentence(text, sentence, toy):
    toy.source(profiles=text)
    with pytest.raises(AzlabError, match=sentence):
        experiments.load("s9_toy")


def test_words_of_the_command_mean_sources_experiments_or_notebooks(toy):
    toy.source(profiles=SMOKE + '[more]\nnotebook = "02_toy"\n')
    toy.source(CLAIMS.replace("s9.", "s8."), profiles="", name="s8_other")
    chosen = lambda *words: [one.id for one in experiments.select(words)[0]]  # noqa: E731
    assert chosen("s9") == chosen("S9_toy") == chosen() == ["s9.toy", "s9.more"] and experiments.select([])[1] == ["s8_other"]
    assert chosen("notebooks/01_toy.ipynb") == chosen("s9.toy") == ["s9.toy"] and chosen("02_toy", "s9.toy") == [
        "s9.more",
        "s9.toy",
    ]
    for word, sentence in (("s7", "no source, experiment or notebook 's7'"), ("s9.x", "no experiment 's9.x'; there are s9.toy")):
        with pytest.raises(AzlabError, match=sentence):
            experiments.select([word])


def test_a_mistake_in_one_source_does_not_keep_others_from_being_run(toy):
    toy.source()
    toy.source("title = 3", profiles="[", name="s8_other")
    assert [one.id for one in experiments.select(["s9"])[0]] == ["s9.toy"] == [experiments.find("s9.toy").id]


BAD = 'def bad(record, *, games: int) -> None:\n    record("s9.number", 2.0)\n    raise ValueError("a <b>broken</b> line")\n\n\n'


@pytest.mark.slow
def test_one_failing_experiment_does_not_stop_the_others(toy):
    bad = '[bad]\nnotebook = "00_bad"\n[bad.smoke]\ngames = 1\n'
    toy.source(profiles=bad + SMOKE, code=BAD + TOY)
    toy.notebook(SHOWS, name="00_bad")
    toy.notebook(SHOWS, "import sys; print('noted', file=sys.stderr)", "%matplotlib inline\n"
                 "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()")  # fmt: skip
    code, output = toy.azlab("reproduce", "--out", "run", "--seed", "7", "--keep")
    assert code == 1
    assert "[1/4] s9.bad: FAILED" in output and "ValueError: a <b>broken</b> line" in output and "[2/4] s9.toy: done" in output
    assert "[3/4] 00_bad: FAILED" in output and "it shows s9.bad, which is not done" in output
    assert "01_toy: cell 3 of 5: import azlab" in output and "2 of 4 steps failed: s9.bad, 00_bad." in output
    run = toy.folder / "run"
    log = (run / "01_toy" / "log.txt").read_text()
    assert "noted" in log and "reproduce s9.toy --profile smoke --seed 7" in log and "TCP" not in log and "TCP" not in output
    assert "line 3, in bad" in (run / "s9.bad" / "error.txt").read_text() and not (run / "s9.bad" / "result.json").exists()
    assert list((run / "01_toy" / "figures").glob("*.png"))
    kept = results.read(toy.folder / "reproductions" / "s9_toy" / "results" / "toy-smoke-seed7.json")
    assert kept.claims == {"s9.number": {"value": 1.05}} and kept.settings == {"games": 3} and kept.seed == 7
    assert (
        kept.command == "azlab reproduce s9.toy --profile smoke --seed 7" and kept.versions["azlab"] and kept.data["games"] == 3
    )
    assert "s9_toy: 1 reproduced, 2 not run at this scale" in output and (run / "report.html").exists()
    code, output = toy.azlab("reproduce", "--out", "run")
    assert code == 2 and "already holds a run" in output


def wait_for(condition, seconds=180):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.05)


# Waits when it finds nothing in its own folder; the second time it finds what the first left, as a training does.
WAITS = (
    TOY
    + """

def waits(record, *, games: int) -> None:
    import time

    file = record.folder / "left"
    again = file.exists()
    file.write_text("x")
    if not again:
        time.sleep(120)
    record("s9.number", games)
"""
)
TWO = '[toy]\nnotebook = "01_toy"\n[toy.smoke]\ngames = 3\n[waits]\nnotebook = "01_toy"\n[waits.smoke]\ngames = 5\n'


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["SIGKILL", "SIGINT"])
def test_a_stopped_run_goes_on(kind, toy):
    toy.source(profiles=TWO, code=WAITS)
    process = toy.start("reproduce", "--out", "run")
    left = toy.folder / "run" / "s9.waits" / "work" / "left"
    wait_for(left.exists)
    code, output = toy.azlab("reproduce", "--resume")
    assert code == 2 and "no unfinished run in runs" in output
    code, output = toy.azlab("reproduce", "--resume", "--out", "run")
    assert code == 2 and "is still running in another process" in output and process.poll() is None
    process.send_signal(getattr(signal, kind))
    output = process.communicate(timeout=180)[0]
    assert process.returncode == (-9 if kind == "SIGKILL" else 130)
    assert kind == "SIGKILL" or "--resume" in output.splitlines()[-1]
    first, second = json.loads((toy.folder / "run" / "run.json").read_text())["experiments"]
    assert (first["state"], second["state"]) == ("done", "running")
    done = (toy.folder / "run" / "s9.toy" / "result.json").stat().st_mtime_ns
    toy.source(profiles=TWO.replace("games = 5", "games = 6"), code=WAITS)  # a run goes on with what it started with

    code, output = toy.azlab("reproduce", "--resume", "--out", "run", "--profile", "laptop")
    assert code == 2 and "is at profile smoke" in output
    code, output = toy.azlab("reproduce", "s9.toy", "--resume", "--out", "run")
    assert code == 2 and "is of other experiments" in output
    code, output = toy.azlab("reproduce", "--resume", "--out", "run")
    assert code == 0 and "s9.toy: already done" in output and "s9.waits: running again" in output
    assert (toy.folder / "run" / "s9.toy" / "result.json").stat().st_mtime_ns == done
    found = results.read(toy.folder / "run" / "s9.waits" / "result.json")
    assert found.claims["s9.number"]["value"] == 5 and found.started == second["began"]
    if kind == "SIGINT":
        assert found.seconds >= round(second["seconds"], 1) > 0  # both tries


def test_resume_without_a_folder_takes_the_newest_unfinished_run(toy):
    toy.source()
    for name in ("runs/a", "runs/b"):
        new_run(toy, name)
    done = runner.old_run(toy.folder / "runs" / "b")
    done.experiments[0].state = runner.DONE
    done.save()
    assert runner.newest_unfinished(toy.folder / "runs", print).folder.name == "a"
    with pytest.raises(AzlabError, match="no unfinished run"):
        runner.newest_unfinished(toy.folder / "elsewhere", print)
    with pytest.raises(AzlabError, match="no run in"):
        runner.old_run(toy.folder / "elsewhere")


@pytest.mark.parametrize(
    ("cell", "said"),
    [("import os; os._exit(1)", "Kernel died"), ("1 / 0", "cell 3: ZeroDivisionError: division by zero")],
)
@pytest.mark.slow
def test_a_notebook_that_fails_costs_no_result(cell, said, toy):
    toy.source()
    toy.notebook(cell)
    run = new_run(toy)
    runner.go(run, lambda line: None)
    assert [step.state for step in run.steps] == [runner.DONE, runner.FAILED] and said in run.failed[
        0
    ].error.lower() + run.failed[0].error
    assert [one.seed for one in runner.results_of(run)] == [0]


def test_a_notebook_needs_the_three_parameters(toy):
    toy.source()
    for parameters, sentence in (('profile: str = ""', "has no parameter 'out'"), ("", "one cell tagged `parameters` and has 0")):
        toy.notebook("1", parameters=parameters)
        run = new_run(toy, folder=f"run{len(parameters)}")
        runner.go(run, lambda line: None)
        assert sentence in run.failed[0].error


def test_an_estimate_draws_a_line_through_two_timed_runs(toy, monkeypatch):
    more = "[toy.probe]\ngames = 10\n[toy.laptop]\ngames = 1000\n[toy.paper]\ngames = 1\n"
    toy.source(profiles=SMOKE + more + "[toy.work]\nsmoke = 3\nprobe = 10\nlaptop = 1000\n")
    timed = lambda one, profile, settings, *more, **named: result(seconds=20 + 0.5 * settings["games"])  # noqa: E731
    monkeypatch.setattr(runner, "perform", timed)  # 20 s to start, half a second a game
    one = experiments.find("s9.toy")
    assert runner.estimate(one, "laptop", toy.folder / "e") == pytest.approx(520)
    with pytest.raises(AzlabError, match="gives no work or profile 'paper'"):
        runner.estimate(one, "paper", toy.folder / "e")


@pytest.mark.slow
def test_estimate_on_the_command_line_really_times_the_experiment(toy):
    more = "[toy.probe]\ngames = 13\n[toy.laptop]\ngames = 7203\n[toy.work]\nsmoke = 3\nprobe = 13\nlaptop = 7203\n"
    toy.source(
        profiles=SMOKE + more, code="import time\n\n\ndef toy(record, *, games: int) -> None:\n    time.sleep(0.5 * games)\n"
    )
    code, output = toy.azlab("reproduce", "s9", "--profile", "laptop", "--estimate")
    line = next(line for line in output.splitlines() if line.startswith("s9.toy at laptop: about"))
    hours = float(line.rpartition("(")[2].split()[0])
    assert code == 0 and 0.3 < hours < 3 and not (toy.folder / "runs").exists()  # 3,600 s of sleep, and a noisy machine


def spoiled(toy, **changes):
    """A new run whose file then says something else; keys of its one experiment, or of the run."""
    toy.source(
        profiles=SMOKE.replace("games = 3", 'games = 3\nplayer = "uct:200"'),
        code="def toy(record, *, games: int, player: str) -> None: ...",
    )
    toy.notebook()
    file = new_run(toy).folder / "run.json"
    content = json.loads(file.read_text())
    for name, value in changes.items():
        (content["experiments"][0] if name in content["experiments"][0] else content)[name] = value
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": "../../elsewhere/evil"}, "name cannot be '../../elsewhere/evil'"),
        ({"name": "evil"}, "There is no experiment 'evil'; there are s9.toy"),
        ({"name": "s9.evil"}, "There is no experiment 's9.evil'"),
        ({"name": ["s9.toy"]}, "name cannot be"),
        ({"notebooks": [{"name": "../evil"}]}, "name cannot be '../evil'"),
        ({"notebooks": [{"name": "evil"}]}, "'evil' is no notebook that shows its experiments"),
        ({"notebooks": [{"name": "01_toy", "settings": {"out": "x"}}]}, "is no notebook that shows its experiments"),
        ({"notebooks": [{"name": "01_toy"}, {"name": "01_toy"}]}, "it names an experiment or notebook twice"),
        ({"notebooks": 3}, "a run has a profile"),
        ({"profile": "../x"}, "profile cannot be '../x'"),
        ({"seed": "0; import os"}, "seed cannot be '0; import os'"),
        ({"seed": True}, "seed cannot be True"),
        ({"seed": -1}, "seed cannot be -1"),
        ({"settings": {"games": 3, "player": "uct:200", "out": "/elsewhere"}}, "has no setting 'out'"),
        ({"settings": {"games": "3", "player": "uct:200"}}, "games is of type int"),
        (
            {"settings": {"games": 3, "player": "gtp:touch evil"}},
            "no profile of this checkout has 'gtp:touch evil' for the setting player",
        ),
        ({"settings": [1]}, "settings cannot be"),
        ({"state": "finished"}, "state cannot be 'finished'"),
        ({"seconds": "long"}, "seconds cannot be 'long'"),
        ({"began": 3}, "began cannot be 3"),
        ({"started": "<b>"}, "started cannot be '<b>'"),
        ({"error": {}}, "error cannot be"),
        ({"experiments": []}, "a run has a profile"),
        ({"experiments": [3]}, "a step is a table"),
    ],
)
def test_a_run_of_someone_else_runs_nothing_that_is_not_ours(changes, sentence, toy):
    file = spoiled(toy, **changes)
    with pytest.raises(AzlabError, match="run.json") as caught:
        runner.old_run(file.parent)
    assert sentence in str(caught.value) and str(caught.value).endswith("start a new run without --resume.")


def test_a_run_goes_on_with_the_words_and_numbers_it_started_with(toy):
    file = spoiled(toy, settings={"games": 77, "player": "uct:200"})
    assert runner.old_run(file.parent).experiments[0].settings == {"games": 77, "player": "uct:200"}


def test_only_results_of_the_run_itself_are_kept(toy):
    toy.source()
    run = new_run(toy)
    run.experiments[0].state = runner.DONE
    file = run.folder / "s9.toy" / "result.json"
    result().write(file)
    assert [one.seed for one in runner.results_of(run)] == [0]
    for changes in ({"seed": 5}, {"profile": "laptop"}, {"experiment": "other"}, {"source": "../x"}):
        result(**changes).write(file)
        with pytest.raises(AzlabError, match="result.json"):
            list(runner.results_of(run))


# --- what a notebook shows --------------------------------------------------------------------------------------------------


def test_a_notebook_shows_what_is_kept_or_what_its_run_found_or_runs_it(toy):
    toy.source(profiles=SMOKE + "[toy.laptop]\ngames = 9\n")
    result(profile="laptop", seed=1, data={"games": 9}).keep()
    assert shown("s9.toy").data == {"games": 9}  # kept
    fresh = shown("s9.toy", "smoke", 5)  # run, and nothing is left of it
    assert fresh.data == {"games": 3} and fresh.seed == 5 and not list(toy.folder.rglob("metrics.json"))
    run = new_run(toy)
    assert shown("s9.toy", "smoke", 0, str(run.folder)).data == {"games": 9}  # no part of the run so far
    runner.go(run, lambda line: None)
    assert shown("s9.toy", "smoke", 0, str(run.folder)).data == {"games": 3}
    by_hand = shown("s9.toy", "smoke", 2, str(toy.folder / "mine"))  # papermill with a folder of one's own
    assert by_hand.seed == 2 and (toy.folder / "mine" / "s9.toy" / "result.json").exists()
    with pytest.raises(AzlabError, match="has no profile 'huge'"):
        shown("s9.toy", "huge")


def test_an_unreadable_notebook_gets_a_sentence(toy):
    toy.source()
    path = toy.notebook()
    for number, text in enumerate(
        ("", "{", "[]", '{"nbformat": 4}', '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [3]}', "\0")
    ):
        path.write_text(text)
        run = new_run(toy, folder=f"run{number}")
        runner.go(run, lambda line: None)
        assert "01_toy.ipynb" in run.failed[0].error and "cannot be read as a notebook" in run.failed[0].error


def test_the_parameters_cell_may_span_lines(toy):
    path = toy.notebook(parameters=PARAMETERS + "\nmore: list[int] = [\n    1,  # one\n]\nname = 'x'")
    from azlab.repro.execute import declared_parameters

    assert sorted(declared_parameters(path)) == ["more", "name", "out", "profile", "seed"]
    assert nbformat.read(path, as_version=4).cells[0].metadata["tags"] == ["parameters"]


SWEEPS = """
from azlab.learning.sweep import Sweep

def unit(config, seed, folder):
    yield {"iteration": 1, "score": config["gain"] * seed}

def toy(record, *, games: int) -> None:
    with record.progress("sweep") as report:
        table = Sweep({"a": {"gain": 2.0}}, list(range(games)), record.folder / "sweep", unit).run(2, progress=report)
    found = table.mean("score", "a")
    record("s9.number", found.mean, spread=found.half, runs=found.count)
"""


def test_an_experiment_can_sweep_a_function_of_its_own(toy):
    """Other processes find it by the name of a package that is none outside of azlab."""
    toy.source(code=SWEEPS)
    code, output = toy.azlab("reproduce", "s9.toy", "--profile", "smoke", "--out", "run")
    assert code == 0, output
    result = json.loads((toy.folder / "run" / "s9.toy" / "result.json").read_text())
    assert result["claims"]["s9.number"]["value"] == 2.0 and result["claims"]["s9.number"]["runs"] == 3
