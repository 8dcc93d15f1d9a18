"""The experiments of S3 at toy settings: they record what they are named for, and go on after a kill."""

import inspect
import json
import shutil

import nbformat
import pytest

from azlab.files import notebooks_folder, reproductions_folder
from azlab.repro import claims, experiments, results
from azlab.repro.record import Recorder
from azlab_reproductions.s3_dots_and_boxes import plain_search

pytestmark = pytest.mark.slow

SOURCE = "s3_dots_and_boxes"
THREE = {"version_games": [2] * 3, "version_epochs": [1] * 3, "walks": [1] * 3, "gate_games": [2] * 3, "layers": [[8]] * 3}
TOY = {
    "game": {
        "told_games": 200, "data_player": "uct:2", "sets_per_ply": 50, "perfect_games": 50, "exam_positions": 60,
        "match_games": 2,
    },
    "pipeline": {
        **THREE, "versions": [3, 3, 2], "first_games": 2, "first_playouts": 100, "mcts_playouts": 100, "match_games": 1,
        "aguayo_iterations": 1, "curve_games": 5, "curve_epochs": 2, "test_positions": 8,
    },
    "lesson": {"seeds": 1, "iterations": 1, "positions": 64, "layers": [8], "simulations": 2, "test_positions": 8},
    "beyond": {"test_positions": 8, "games": 2, "uct": 10},
    "boards": {"iterations": [1, 1], "positions": 64, "simulations": 2, "games": 2, "uct": 10, "minimax": [1, 8]},
    "speed": {"games": 1, "simulations": 2, "seconds": 0.01},
}  # fmt: skip


def run(name, folder):
    """Run an experiment at toy settings: the recorder with what it found."""
    record = Recorder(SOURCE, "smoke", 1, folder)
    experiment = experiments.find(f"s3.{name}")
    experiment.check(TOY[name])
    experiment.function()(record, **TOY[name])
    return record


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """A pipeline that nobody stopped, and its folder."""
    folder = tmp_path_factory.mktemp("pipeline")
    return run("pipeline", folder), folder


def claimed(name):
    """The claims that an experiment has to record."""
    found = claims.load(SOURCE).claims
    return {one.id for one in found if one.experiment == name and not one.unchecked}


def check(name, record):
    assert {*record.claims, *record.curves} == claimed(name)
    for file in (reproductions_folder() / SOURCE / "results").glob(f"{name}-*.json"):
        committed = results.read(file)
        assert set(committed.data) == set(record.kept)
        assert committed.settings == experiments.find(f"s3.{name}").at(committed.profile)


@pytest.mark.parametrize("name", ["game", "lesson", "beyond", "boards", "speed"])
def test_an_experiment_records_its_claims_and_the_data_of_its_figures(name, tmp_path):
    check(name, run(name, tmp_path))


def test_the_pipeline_records_its_claims_and_the_data_of_its_figures(pipeline):
    record, _ = pipeline
    check("pipeline", record)
    assert [len(record.kept["versions"][subset]["loss"]) for subset in "ABC"] == [3, 3, 2]
    assert record.kept["versions of B and C"] == {"in both": 2, "equal to the last digit": 2}  # they differ in the sign alone


def test_a_killed_pipeline_goes_on_with_its_trainings_curve_and_matches(pipeline, tmp_path):
    whole, folder = pipeline
    work = shutil.copytree(folder / "work", tmp_path / "work")
    shutil.rmtree(work / "aguayo")
    moves = (work / "b_mcts.jsonl").read_text().splitlines()
    (work / "b_mcts.jsonl").write_text("\n".join(moves[: len(moves) // 2]) + '\n["aA')  # in the middle of a match, and of a line
    again = run("pipeline", tmp_path)
    assert again.claims == whole.claims and again.curves == whole.curves
    for record in (whole, again):
        record.kept["Aguayo's settings"].pop("core minutes", None)
    assert again.kept == whole.kept
    for subset in "ABC":  # with the times of the first run: nothing was trained anew
        assert (work / subset / "metrics.jsonl").read_bytes() == (folder / "work" / subset / "metrics.jsonl").read_bytes()
    assert (work / "b_mcts.jsonl").read_text().splitlines() == moves


def test_the_lesson_changes_one_thing_at_a_time():
    from azlab_reproductions.s3_dots_and_boxes.lesson import kinds, right

    base = json.dumps(right(1).to_toml())
    for kind, change in kinds(32).items():
        own = {key for key in change if key not in ("parts.program", "parts.in_tests")}
        assert len(own) == {"all right": 0, "walks to the end": 2}.get(kind, 1)
        assert (json.dumps(right(1).changed(change).to_toml()) == base) == (kind == "all right")


def test_the_plain_search_that_is_timed_is_the_one_that_the_notebook_shows():
    notebook = nbformat.read(notebooks_folder() / "10_dots_and_boxes_training.ipynb", as_version=4)
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    for shown in (plain_search.Node, plain_search.best_child, plain_search.plain_search):
        assert inspect.getsource(shown).strip() in cells
