"""What a notebook may record, and where it goes."""

import json
from pathlib import Path

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.repro.record import recorder


@pytest.fixture
def out(toy):
    claims = (
        'title = "t"\nsummary = "s"\n[[group]]\nwhere = "w"\nprofile = "smoke"\nnotebook = "n"\ntolerance = 1\nclaims = ['
        '{ id = "s9.n", metric = "m", value = 1 }, { id = "s9.l", metric = "m", value = [1, 2] },'
        '{ id = "s9.t", metric = "m", value = { a = 1, b = 2 } }, { id = "s9.c", metric = "m", value = [1, 2], x = [1, 2] }]\n'
        '[[group]]\nwhere = "w"\nprofile = "smoke"\nnotebook = "n"\nclaims = [{ id = "s9.w", metric = "m", value = "x" },'
        '{ id = "s9.b", metric = "m", value = true }]'
    )
    toy.source(claims)
    return toy.folder / "out"


def test_values_are_written_as_plain_json(out):
    record = azlab.repro.recorder("s9", "smoke", str(out))
    record("s9.n", np.float32(0.5), spread=np.float64(0.1), runs=np.int64(3), note="so")
    record("s9.l", np.array([1, 2]))
    record("s9.t", {"b": 1, "a": float("nan")})
    record("s9.w", "y")
    record("s9.b", np.bool_(True))
    record.curve("s9.c", np.arange(3), np.arange(3) ** 2)
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["source"] == "s9_toy" and metrics["profile"] == "smoke"
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
    record = recorder("s9", "smoke", str(out))
    with pytest.raises(AzlabError, match=sentence):
        record(claim, value)
    assert not out.exists()


@pytest.mark.parametrize(("x", "y"), [([1], [1]), ([2, 1], [1, 2]), ([1, 2], [1, float("nan")])])
def test_a_curve_needs_points_in_order(x, y, out):
    with pytest.raises(AzlabError, match="s9.c"):
        recorder("s9", "smoke", str(out)).curve("s9.c", x, y)


def test_opened_by_hand_nothing_is_written(out, monkeypatch):
    monkeypatch.chdir(out.parent)
    before = sorted(Path(out.parent).rglob("*"))
    record = recorder("s9", "smoke")
    record("s9.n", 1)
    (record.folder / "weights").write_text("w")
    assert record.folder == record.folder and not record.folder.is_relative_to(out.parent)
    assert sorted(Path(out.parent).rglob("*")) == before


def test_an_unknown_profile_is_refused(out):
    with pytest.raises(AzlabError, match="profile must be one of 'smoke', 'laptop', 'paper'"):
        recorder("s9", "large")
