"""A sweep as part of an experiment: it keeps its files in the experiment's folder, and a unit that fails ends the experiment."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from azlab.errors import AzlabError
from azlab.learning.config import AlphaZeroConfig, preset
from azlab.learning.sweep import Sweep
from azlab.learning.sweep_table import Table
from azlab.repro.record import Recorder


def preset_with(name: str, settings: Sequence[str]) -> AlphaZeroConfig:
    """A preset with other settings, each a line as in a config, "iterations = 2" or "budget.simulations = 100"."""
    changes = {}
    for line in settings:
        key, _, value = line.partition("=")
        try:
            changes[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            raise AzlabError(f"A setting is written as in a config, such as 'iterations = 2', not {line!r}.") from None
    return preset(name).changed(changes)


def swept(record: Recorder, name: str, arms: Mapping[str, Any], seeds: Sequence[int], **options: Any) -> Table:
    """The table of a sweep in the folder `name` of the experiment; started again, it goes on. `options`: of `Sweep`."""
    sweep = Sweep(arms, seeds, record.folder / name, **options)
    steps = {unit.name: max(state.rows, default=0) for unit, state in sweep.states().items()}  # also of earlier tries
    with record.progress(name) as report:

        def tell(what: str, done: int, total: int, **facts: Any) -> None:
            if what in steps:
                steps[what] = done
                report("iterations", sum(steps.values()), sum(sweep.steps(unit) for unit in sweep.units))

        table = sweep.run(progress=tell)
    for unit, state in sweep.states().items():
        if not state.finished:
            raise AzlabError(f"{unit.name} of the sweep {sweep.folder} failed: {state.error} The same command tries it again.")
    return table


def of_metric(table: Table, metric: str) -> dict[str, list[list[float | None]]]:
    """A metric of all runs for a figure: by arm, [seeds][iterations], None where it was not measured."""
    found: dict[str, dict[int, list[float | None]]] = {}
    for row in table.rows:
        found.setdefault(row["arm"], {}).setdefault(row["seed"], []).append(row.get(metric))
    return {arm: list(own.values()) for arm, own in found.items()}
