"""A training run as one small file that can be committed: a result like those of experiments (`results.Result`), without claims.

azlab train tictactoe --out runs/tictactoe
azlab run runs/tictactoe --record data/runs/tictactoe.json

Its settings are the run's config; its data are `curve`, a list by iteration for each metric (None where it was not measured),
`tests`, figures measured afterwards, and `cpu seconds`.
"""

import datetime
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.learning.run_folder import RunFolder
from azlab.repro.reading import is_number
from azlab.repro.results import Result, machine, versions

SOURCE, PROFILE = "azlab", "laptop"  # what results of trainings have in the place of a source and its profile
# What is kept of an iteration, with the digits that mean something.
KEPT = {
    "iteration": 0, "total_seconds": 1, "cpu_seconds": 1, "play_seconds": 1, "train_seconds": 1, "evaluation_seconds": 1,
    "play_cpu_seconds": 1, "train_cpu_seconds": 1, "moves": 0, "games": 0, "game_length": 1, "diversity": 4, "searches": 0,
    "simulations": 0, "evaluations": 0, "computed": 0, "window": 0, "loss": 4, "policy_loss": 4, "value_loss": 4,
    "network_accuracy": 4, "result_accuracy": 4, "mcts_accuracy": 4, "holding_accuracy": 4, "mean_loss": 4,
    "elo": 0, "gate_score": 3, "accepted": 0,
}  # fmt: skip


def training_result(folder: str | Path, name: str, tests: dict[str, Any] | None = None) -> Result:
    """The result of a run that has finished at least one iteration; `tests` are figures measured afterwards."""
    run = RunFolder(folder)
    config, rows = run.config(), run.metrics()
    if not rows:
        raise AzlabError(f"The run in {folder} has not finished its first iteration.")
    for number, row in enumerate(rows, start=1):
        if not all(row.get(key) is None or is_number(row[key]) for key in KEPT):
            place = Path(folder) / "metrics.jsonl"
            raise AzlabError(f"{place}, line {number}, is not what a training writes: take it from a copy of the run.")
    began = datetime.datetime.fromtimestamp(run.config_file.stat().st_mtime, datetime.UTC)  # it is written once, at the start
    cpu = round(sum(row["cpu_seconds"] for row in rows), 1)
    return Result(
        source=SOURCE, experiment=name, profile=PROFILE, seed=config.seed, command=run.command(),
        settings={"config": config.to_toml()}, started=began.isoformat(timespec="seconds"),
        seconds=round(rows[-1]["total_seconds"], 1), machine=machine(), versions=versions(), claims={},
        data={"tests": tests or {}, "cpu seconds": cpu, "curve": _columns(rows)},
    )  # fmt: skip


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[float | None]]:
    """The metrics that were measured at all, each as a list by iteration."""
    measured = [key for key in KEPT if any(row.get(key) is not None for row in rows)]
    rounded = lambda value, digits: None if value is None else round(value, digits)  # noqa: E731
    return {key: [rounded(row.get(key), KEPT[key]) for row in rows] for key in measured}


def save_record(folder: str | Path, file: str | Path, tests: dict[str, Any] | None = None) -> None:
    """Write the result of a training run as JSON."""
    training_result(folder, Path(file).stem, tests).write(Path(file))
