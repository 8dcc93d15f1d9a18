"""A sweep: several configs (its arms), each with several seeds, as many at once as there are cores.

    sweep = Sweep({"baseline": config, "more": config.changed({"budget.simulations": 100})}, [1, 2, 3], "runs/simulations")
    table = sweep.run()
    print(table.difference("mcts_accuracy", "more", "baseline"))

Every arm with a seed is a unit (azlab.learning.units): a training whose seed it is, so arms begin with the same weights and their
differences are taken seed by seed. The units do not depend on each other: how many run at once changes nothing but the time.

    metrics.csv                     the table (azlab.learning.sweep_table), written as the units advance
    arms/more/config.toml           the arm's settings; a dictionary of settings is config.json
    arms/more/seed3/unit.json       the unit's rows, whether it is finished, and why it failed
    arms/more/seed3/log.txt         what its process printed, if anything
    arms/more/seed3/run/            the training run; of a finished one settings, metrics and the last network

Killed at any moment, the same call goes on: finished units are not run again, others go on where their folder says.
"""

import contextlib
import dataclasses
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError, whole_number
from azlab.files import locked, write_aside
from azlab.intact import parsed, sealed, unsealed
from azlab.learning.as_toml import differences
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.run_folder import RunFolder
from azlab.learning.sweep_table import Table
from azlab.learning.units import BEGUN, DONE, ROW, Event, Unit, Work, in_processes
from azlab.machine import cores

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # no names of files on Windows
PAUSE = 1.0  # seconds between two writings of the table
# Called as listener("units", units done, in all) and listener(unit, iterations done, in all, **metrics), at the end of a unit
# with finished=True or error=why; azlab.learning.progress.SweepProgress is one, azlab.show.progress makes others.
Listener = Callable[..., None]


def train_unit(config: AlphaZeroConfig, seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    """The unit of a training: AlphaZero with this seed; once finished, only settings, metrics and the last network are kept."""
    from azlab.learning.alphazero import AlphaZero

    run = RunFolder(folder)
    if run.is_retired:
        yield from run.metrics()
    else:
        yield from AlphaZero.from_config(dataclasses.replace(config, seed=seed), folder).rows()
    run.retire()


@dataclasses.dataclass
class State:
    """What is known of a unit."""

    rows: dict[int, dict[str, Any]] = dataclasses.field(default_factory=dict)  # by iteration
    finished: bool = False
    error: str = ""
    seen: set[int] = dataclasses.field(default_factory=set)  # iterations that the present try has given


class Sweep:
    """Arms x seeds in a folder; see the module's description.

    arms: configs by name, or whatever `work` takes, as dictionaries
    work: a function (config, seed, folder) of a module (azlab.learning.units)
    steps: how many rows a unit gives, for progress; that of a training is known
    games, nets: code of the user's that the configs name, as "othello.py:Othello"
    """

    def __init__(
        self,
        arms: Mapping[str, Any],
        seeds: Sequence[int],
        folder: str | Path,
        work: Work = train_unit,
        steps: int = 0,
        games: Sequence[str] = (),
        nets: Sequence[str] = (),
    ) -> None:
        check_names(arms, seeds)
        self.arms, self.seeds, self.folder = dict(arms), list(seeds), Path(folder)
        self.work, self.games, self.nets, self._steps = work, tuple(games), tuple(nets), steps
        self.units = [  # all arms with one seed first, so that a sweep cut short compares arms on equal seeds
            Unit(self.folder.name, arm, seed, config, self.folder / "arms" / arm / f"seed{seed}")
            for seed in self.seeds
            for arm, config in self.arms.items()
        ]

    def steps(self, unit: Unit) -> int:
        """How many rows the unit gives, 0 if that is not known."""
        return unit.config.iterations if isinstance(unit.config, AlphaZeroConfig) else self._steps

    def chosen(self, only: Sequence[str] = ()) -> list[Unit]:
        """The units of these arms, of all arms if none is named."""
        for arm in only:
            if arm not in self.arms:
                raise AzlabError(f"There is no arm {arm!r}; there are {', '.join(self.arms)}.")
        return [unit for unit in self.units if not only or unit.arm in only]

    # --- running --------------------------------------------------------------------------------------------------

    def run(self, processes: int | None = None, only: Sequence[str] = (), progress: Listener | None = None) -> Table:
        """Run what is not finished, so many units at once (default: a core each); the table of all units, also of earlier runs.

        A unit that fails is noted (`states`) and costs no other; the next call tries it again.
        """
        chosen, tell = self.chosen(only), progress or _nobody
        with locked(self.folder, f"Another process runs the sweep in {self.folder}: wait for it, or stop it first."):
            self._begin()
            states = self.states()
            try:
                self._run(chosen, states, cores() if processes is None else processes, tell)
            finally:
                table = self._table(states)
                table.save(self.folder / "metrics.csv")
        return table

    def _run(self, chosen: list[Unit], states: dict[Unit, State], processes: int, tell: Listener) -> None:
        """Take the events of all units that are not finished."""
        count = sum(states[unit].finished for unit in chosen)
        tell("units", count, len(chosen))
        todo, written = [unit for unit in chosen if not states[unit].finished], time.monotonic()
        with contextlib.closing(in_processes(todo, self.work, processes, self.games, self.nets)) as events:
            for event in events:
                self._take(event, states[event.unit], tell)
                if event.kind == DONE:
                    count += 1
                    tell("units", count, len(chosen))
                if time.monotonic() - written > PAUSE:
                    self._table(states).save(self.folder / "metrics.csv")
                    written = time.monotonic()

    def _take(self, event: Event, state: State, tell: Listener) -> None:
        """Note an event on disk and tell of it."""
        unit, known = event.unit, {}
        if event.kind == BEGUN:
            state.error, state.seen = "", set()
        elif event.kind == ROW and event.row is not None:
            iteration = event.row["iteration"]
            state.seen.add(iteration)
            known = {name: value for name, value in event.row.items() if name not in ("what", "done", "total")}
            if state.rows.get(iteration) != event.row:
                state.rows[iteration] = event.row
                self._write(unit, state)
        else:
            state.finished, state.error = event.kind == DONE, event.reason
            if state.finished:  # rows that an earlier try had and this one did not count for nothing
                state.rows = {iteration: row for iteration, row in state.rows.items() if iteration in state.seen}
            known = {"finished": True} if state.finished else {"error": event.reason}
            self._write(unit, state)
        tell(unit.name, max(state.seen or state.rows, default=0), self.steps(unit), **known)

    # --- on disk --------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Write down the arms' settings, or see that they are those of an earlier run."""
        for arm, config in self.arms.items():
            is_training = isinstance(config, AlphaZeroConfig)
            file = self.folder / "arms" / arm / ("config.toml" if is_training else "config.json")
            text = config.to_toml() if is_training else _json(config, arm)
            if not file.is_file():
                write_aside(file, lambda aside, text=text: aside.write_text(text, encoding="utf-8"))  # type: ignore[misc]
            elif changed := _changes(file, text, is_training):
                raise AzlabError(
                    f"The arm {arm} in {self.folder} was begun with other settings ({', '.join(changed)}). Give the arm another "
                    "name, or the sweep another folder."
                )

    def states(self) -> dict[Unit, State]:
        """What is known of every unit."""
        return {unit: _state(unit.folder / "unit.json") for unit in self.units}

    def _write(self, unit: Unit, state: State) -> None:
        rows = [state.rows[iteration] for iteration in sorted(state.rows)]
        content = {"arm": unit.arm, "seed": unit.seed, "finished": state.finished, "error": state.error, "rows": rows}
        text = json.dumps(sealed(content)) + "\n"
        write_aside(unit.folder / "unit.json", lambda aside: aside.write_text(text, encoding="utf-8"))

    def table(self) -> Table:
        """The table of all units as far as they came."""
        return self._table(self.states())

    def _table(self, states: dict[Unit, State]) -> Table:
        by_name = {(unit.arm, unit.seed): states[unit].rows for unit in self.units}
        order = [(arm, seed) for arm in self.arms for seed in self.seeds]
        return Table.of({key: [by_name[key][at] for at in sorted(by_name[key])] for key in order})


def _nobody(what: str, done: int, total: int, **facts: Any) -> None:
    """Listens to nothing."""


def check_names(arms: Mapping[str, Any], seeds: Sequence[int]) -> None:
    """A sentence if these cannot be the arms and seeds of a sweep."""
    if not arms:
        raise AzlabError("A sweep needs at least one arm.")
    small: dict[str, str] = {}
    for arm in arms:
        if not isinstance(arm, str) or not NAME.fullmatch(arm) or DEVICES.fullmatch(arm) or arm.endswith("."):
            raise AzlabError(
                f"An arm's name is also that of a folder: up to 100 letters, digits, points, dashes and underscores, not {arm!r}."
            )
        if arm.lower() in small:
            raise AzlabError(f"The arms {small[arm.lower()]} and {arm} would have the same folder on some systems; rename one.")
        small[arm.lower()] = arm
    if not isinstance(seeds, Sequence) or isinstance(seeds, str) or not seeds:
        raise AzlabError(f"A sweep needs a list of seeds, such as [1, 2, 3], not {seeds!r}.")
    for seed in seeds:
        whole_number("A seed", seed, 0, 2**31)
    if len(set(seeds)) < len(seeds):
        raise AzlabError(f"A seed is named twice: {', '.join(map(str, seeds))}.")


def _json(config: Any, arm: str) -> str:
    try:
        return json.dumps(config, indent=1, sort_keys=True) + "\n"
    except (TypeError, ValueError):
        raise AzlabError(f"The settings of the arm {arm} are numbers, texts, lists and dictionaries of them.") from None


def _changes(file: Path, text: str, is_training: bool) -> list[str]:
    """The settings in which an arm's file differs from the present ones."""
    if is_training:
        return differences(AlphaZeroConfig.load(file), AlphaZeroConfig.from_toml(text))
    try:
        old, new = parsed(file.read_text("utf-8")), json.loads(text)
    except (OSError, ValueError) as error:
        raise AzlabError(f"{file} cannot be read ({error}). Bring back a copy, or take another folder.") from None
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [] if old == new else ["all"]
    return sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))


def _state(file: Path) -> State:
    if not file.is_file():
        return State()
    try:
        content = unsealed(parsed(file.read_text("utf-8")))
        rows = {whole_number("iteration", row.get("iteration"), 0, 10**9): row for row in content["rows"]}
        return State(rows, content["finished"] is True, str(content["error"]))
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise AzlabError(f"{file} is damaged ({error}). Delete it: the unit then goes on from its folder.") from None
