"""A training run as one small file that can be committed: the command, the settings, the machine and the curve.

azlab train tictactoe --out runs/tictactoe
azlab run runs/tictactoe --record data/runs/tictactoe.json
"""

import json
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.files import write_aside
from azlab.learning.run_folder import RunFolder
from azlab.repro.reading import is_number
from azlab.repro.results import machine, now, versions

# What is kept of an iteration, with the digits that mean something.
KEPT = {
    "iteration": 0, "total_seconds": 1, "cpu_seconds": 1, "play_seconds": 1, "train_seconds": 1, "evaluation_seconds": 1,
    "play_cpu_seconds": 1, "train_cpu_seconds": 1, "moves": 0, "games": 0, "game_length": 1, "diversity": 4, "searches": 0,
    "simulations": 0, "evaluations": 0, "computed": 0, "window": 0, "loss": 4, "policy_loss": 4, "value_loss": 4,
    "network_accuracy": 4, "result_accuracy": 4, "mcts_accuracy": 4, "holding_accuracy": 4, "mean_loss": 4,
    "elo": 0, "gate_score": 3, "accepted": 0,
}  # fmt: skip


def training_record(folder: str | Path, tests: dict[str, Any] | None = None) -> dict[str, Any]:
    """The record of a run that has finished at least one iteration; `tests` are figures measured afterwards."""
    run = RunFolder(folder)
    config, rows = run.config(), run.metrics()
    if not rows:
        raise AzlabError(f"The run in {folder} has not finished its first iteration.")
    for number, row in enumerate(rows, start=1):
        if not all(row.get(key) is None or is_number(row[key]) for key in KEPT):
            place = Path(folder) / "metrics.jsonl"
            raise AzlabError(f"{place}, line {number}, is not what a training writes: take it from a copy of the run.")
    return {
        "command": run.command(),
        "recorded": now(),
        "seed": config.seed,
        "iterations": len(rows),
        "seconds": round(rows[-1]["total_seconds"], 1),
        "cpu_seconds": round(sum(row["cpu_seconds"] for row in rows), 1),
        "machine": machine(),
        "versions": versions(),
        "config": config.to_toml(),
        "tests": tests or {},
        "curve": [{key: round(row[key], digits) for key, digits in KEPT.items() if row.get(key) is not None} for row in rows],
    }


def save_record(folder: str | Path, file: str | Path, tests: dict[str, Any] | None = None) -> None:
    """Write the record of a run as JSON, a line for each iteration."""
    record = training_record(folder, tests)
    curve = ",\n".join("    " + json.dumps(row) for row in record.pop("curve"))
    text = json.dumps(record, indent=2)[:-2] + f',\n  "curve": [\n{curve}\n  ]\n}}\n'
    write_aside(Path(file), lambda aside: aside.write_text(text))
