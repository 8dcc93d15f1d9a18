"""What an experiment may record, and where it goes."""

import json
from pathlib import Path

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.repro.record import Recorder


@pytest.fixture
def out(toy):
    claims = (
        'title = "t"\nsummary = "s"\n[[group]]\nwhere = "w"\nprofile = "smoke"\nexperiment = "n"\ntolerance = 1\nclaims = ['
        '{ id = "s9.n", metric = "m", value = 1 }, { id = "s9.l", metric = "m", value = [1, 2] },'
        '{ id = "s9.t", metric = "m", value = { a = 1, b = 2 } }, { id = "s9.c", metric = "m", value = [1, 2], x = [1, 2] }]\n'
        '[[group]]\nwhere = "w"\nprofile = "smoke"\nexperiment = "n"\nclaims = [{ id = "s9.w", metric = "m", value = "x" },'
        '{ id = "s9.b", metric = "m", value = true },'
        '{ id = "s9.d", metric = "m", direction = "above", than = "s9.n" }]'
    )
    toy.source(claims)
    return toy.folder / "out"


def test_values_are_written_as_plain_json(out):
    record = azlab.repro.Recorder("s9", "smoke", out=out)
    record("s9.n", np.float32(0.5), spread=np.float64(0.1), runs=np.int64(3), note="so")
    record("s9.l", np.array([1, 2]))
    record("s9.t", {"b": 1, "a": float("nan")})
    record("s9.w", "y")
    record("s9.b", np.bool_(True))
    record.curve("s9.c", np.arange(3), np.arange(3) ** 2)
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["source"] == "s9_toy"
    assert metrics["claims"] == {
        "s9.n": {"value": 0.5, "spread": 0.1, "runs": 3, "note": "so"}, "s9.l": {"value": [1, 2]},
        "s9.t": {"value": {"b": 1, "a": None}}, "s9.w": {"value": "y"}, "s9.b": {"value": True},
    }  # fmt: skip
    assert metrics["curves"] == {"s9.c": [{"label": "", "x": [0, 1, 2], "y": [0, 1, 4]}]}
    assert not list(out.glob("*.part"))


@pytest.mark.parametrize(
    ("claim", "value", "sentence"),
    [
        ("s9.x", 1, "has no claim 's9.x'"),
        ("s9.n", "1", "takes a number"),
        ("s9.n", True, "takes a number"),
        ("s9.l", [1, 2, 3], "a list of 2 numbers"),
        ("s9.t", {"a": 1}, "a number for each of a, b"),
        ("s9.w", 1, "takes text"),
        ("s9.b", 1, "takes True or False"),
        ("s9.c", [1, 2], "is a curve: use record.curve"),
        ("s9.n", object(), "not object"),
    ],
)
def test_what_does_not_fit_the_claim_is_refused(claim, value, sentence, out):
    record = Recorder("s9", "smoke", out=out)
    with pytest.raises(AzlabError, match=sentence):
        record(claim, value)
    assert not out.exists()


@pytest.mark.parametrize(("x", "y"), [([1], [1]), ([2, 1], [1, 2]), ([1, 2], [1, float("nan")])])
def test_a_curve_needs_points_in_order(x, y, out):
    with pytest.raises(AzlabError, match="s9.c"):
        Recorder("s9", "smoke", out=out).curve("s9.c", x, y)


def test_without_a_folder_nothing_is_written(out, monkeypatch):
    monkeypatch.chdir(out.parent)
    before = sorted(Path(out.parent).rglob("*"))
    record = Recorder("s9", "smoke")
    record("s9.n", 1)
    (record.folder / "weights").write_text("w")
    assert record.folder == record.folder and not record.folder.is_relative_to(out.parent)
    assert sorted(Path(out.parent).rglob("*")) == before


def test_an_unknown_profile_is_refused(out):
    with pytest.raises(AzlabError, match="profile must be one of 'smoke', 'laptop', 'paper'"):
        Recorder("s9", "large")


def test_data_for_figures_are_plain_and_rounded(out):
    record = Recorder("s9", "smoke", out=out)
    record.data("a table", {1: np.array([1 / 3, np.nan]), "text": ("a", True, None, 1234567)})
    record.data("more digits", 1 / 3, digits=6)
    kept = json.loads((out / "metrics.json").read_text())["data"]
    assert kept == {"a table": {"1": [0.3333, None], "text": ["a", True, None, 1234567]}, "more digits": 0.333333}
    for name, value, sentence in (("", 1, "have a name"), (3, 1, "have a name"), ("x", object(), "not object")):
        with pytest.raises(AzlabError, match=sentence):
            record.data(name, value)


def test_the_width_of_a_paired_difference_goes_with_a_comparison(out):
    record = azlab.repro.Recorder("s9", "smoke", out=out)
    record("s9.d", 2, spread=0.5, paired=np.float64(0.25))
    assert json.loads((out / "metrics.json").read_text())["claims"]["s9.d"] == {"value": 2, "spread": 0.5, "paired": 0.25}
    with pytest.raises(AzlabError, match="s9.n is compared with no other claim"):
        record("s9.n", 2, paired=0.25)
