"""The committed records of training runs: what made them can be read from them, and they say what the documents say."""

import json
from pathlib import Path

import pytest

from azlab.errors import AzlabError
from azlab.learning.config import AlphaZeroConfig, preset
from azlab.repro import results
from azlab.repro.training import training_result

RECORDS = sorted((Path(__file__).parents[2] / "data" / "runs").glob("*.json"))


@pytest.mark.parametrize("file", RECORDS, ids=lambda file: file.stem)
def test_a_record_says_how_it_was_made(file):
    kept = results.read(file)
    assert kept.command.startswith("azlab train ") and kept.experiment == file.stem
    assert kept.seconds > 0 and kept.data["cpu seconds"] > 0
    assert kept.machine["cores"] >= 1 and kept.versions["torch"] and kept.versions["azlab"]
    config = AlphaZeroConfig.from_toml(kept.settings["config"])
    assert config.seed == kept.seed
    curve, tests = kept.data["curve"], kept.data["tests"]
    assert curve["iteration"] == list(range(1, len(curve["loss"]) + 1)) and len({len(line) for line in curve.values()}) == 1
    assert tests["positions"] and tests["iteration"] <= curve["iteration"][-1]


def test_records_are_there():
    assert {file.stem for file in RECORDS} >= {"tictactoe", "dots_and_boxes_2x2", "connect4"}


def test_what_the_records_claim():
    tests = {file.stem: results.read(file).data["tests"] for file in RECORDS}
    assert tests["tictactoe"]["count"] == 4520 and tests["tictactoe"]["mcts_accuracy"] >= 0.99
    assert tests["dots_and_boxes_2x2"]["count"] == 5341 and tests["dots_and_boxes_2x2"]["holding_accuracy"] == 1.0
    assert tests["dots_and_boxes"]["count"] > 9_000 and tests["dots_and_boxes"]["mcts_accuracy"] >= 0.99
    assert tests["connect4"]["count"] == 10_000 and tests["connect4"]["mcts_accuracy"] >= 0.84


ROW = {"iteration": 1, "seconds": 1, "total_seconds": 1, "cpu_seconds": 1.5, "play_seconds": 1, "moves": 9, "loss": 0.25}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("command.txt", b"\xff\xfe"), ("metrics.jsonl", b"[1]\n"), ("metrics.jsonl", b'{"total_seconds": 1}\n'),
        ("metrics.jsonl", json.dumps(ROW | {"total_seconds": "1"}).encode()),
        ("metrics.jsonl", json.dumps(ROW | {"loss": [1]}).encode()),
    ],
)  # fmt: skip
def test_a_spoiled_training_run_gets_a_sentence(name, data, tmp_path):
    (tmp_path / "config.toml").write_text(preset("tictactoe").to_toml())
    (tmp_path / "metrics.jsonl").write_text(json.dumps(ROW) + "\n")
    assert training_result(tmp_path, "x").data["curve"]["loss"] == [0.25]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(AzlabError, match=name):
        training_result(tmp_path, "x")
