"""Units of work: plain functions of (config, seed, folder), each in a process of its own with one thread.

    def work(config, seed, folder):                    # in a module, where another process finds it
        for iteration in range(1, 4):
            yield {"iteration": iteration, "loss": ...}

A unit draws its random numbers from its config and seed alone and keeps its files in its folder, so that it gives the same
wherever it runs. It yields a row of metrics for each step; started again after a kill, it yields the rows of finished steps again
and goes on. `in_processes` runs many units at once on this machine; another way to run them has to offer the same events.

A unit's process ends with the one that started it, however that ended: it listens to a pipe that then closes.
"""

import contextlib
import importlib
import inspect
import json
import math
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from azlab.endings import ending
from azlab.errors import AzlabError, whole_number
from azlab.files import locked, make_folder, reproductions
from azlab.nets.threads import ONE_THREAD, set_threads

Work = Callable[[Any, int, Path], Iterable[dict[str, Any]]]
BEGUN, ROW, DONE, FAILED = "begun", "row", "done", "failed"
TRIES = 3  # of a unit whose process is killed before it gives a new row
PATIENCE = 30.0  # seconds to wait for the process of an earlier try, which ends with its parent but not in the same moment
CHILD = "import sys; sys.path[:] = {path!r}; from azlab.learning.units import serve; serve()"


@dataclass(frozen=True, eq=False)
class Unit:
    """One unit: an arm of a sweep with a seed. `folder` holds a lock, a log, and `run`, the folder that the function gets."""

    sweep: str
    arm: str
    seed: int
    config: Any
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.arm} seed {self.seed}"


class Event(NamedTuple):
    """What happened to a unit: it was begun, gave a row, is done, or failed for a reason, a sentence."""

    unit: Unit
    kind: str
    row: dict[str, Any] | None = None
    reason: str = ""


# --- the first process ------------------------------------------------------------------------------------------------


def in_processes(
    units: Sequence[Unit], work: Work, processes: int, games: Sequence[str] = (), nets: Sequence[str] = ()
) -> Generator[Event]:
    """Run units, so many at once; the events of all as they come. Ending the iteration early ends all processes.

    games, nets: code of the user's that the processes load, as "othello.py:Othello"
    """
    whole_number("The number of processes", processes, 1, 1024)
    where = _place(work)
    waiting, events = list(reversed(units)), queue.Queue[tuple[_Child, str | None]]()
    children: set[_Child] = set()
    tries, reached = dict.fromkeys(units, 0), dict.fromkeys(units, -1)
    try:
        while waiting or children:
            while waiting and len(children) < processes:
                unit = waiting.pop()
                tries[unit] += 1
                children.add(_Child(unit, where, games, nets, events))
                yield Event(unit, BEGUN)
            child, line = _next(events)
            unit = child.unit
            if line is None:
                children.remove(child)
                event = child.ended()
                if child.said or tries[unit] == TRIES:
                    yield event
                else:
                    waiting.append(unit)  # killed: it goes on at once
            elif row := child.heard(json.loads(line)):
                if row["iteration"] > reached[unit]:
                    tries[unit], reached[unit] = 0, row["iteration"]
                yield Event(unit, ROW, row)
    finally:
        for child in children:
            child.kill()


def _next(events: "queue.Queue[tuple[_Child, str | None]]") -> "tuple[_Child, str | None]":
    while True:
        with contextlib.suppress(queue.Empty):
            return events.get(timeout=0.5)  # without a limit, Ctrl-C would not be heard on Windows


class _Child:
    """The process of a unit, seen from the first process."""

    def __init__(self, unit: Unit, where: tuple[str, str, str], games: Sequence[str], nets: Sequence[str], events: Any) -> None:
        self.unit = unit
        self.said = ""  # its last word, DONE or FAILED; a process that is killed says none
        self._reason = ""
        make_folder(unit.folder)
        code = CHILD.format(path=sys.path)
        with (unit.folder / "log.txt").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=os.environ | ONE_THREAD,
            )  # fmt: skip
        job = pickle.dumps((where, unit.config, unit.seed, str(unit.folder), tuple(games), tuple(nets)))
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended already, and its end says so
            self._process.stdin.write(len(job).to_bytes(8) + job)
            self._process.stdin.flush()
        threading.Thread(target=self._listen, args=(events,), daemon=True).start()

    def _listen(self, events: Any) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                if line.endswith(b"\n"):  # the last one of a killed process may be cut off
                    events.put((self, line.decode()))
        events.put((self, None))

    def heard(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Take a message of the process; returns the row if it brings one."""
        self.said, self._reason = message.get("said", ""), message.get("reason", "")
        return message.get("row")

    def ended(self) -> Event:
        """How the unit ended."""
        code = self._process.wait()
        self._close()
        if self.said:
            return Event(self.unit, self.said, None, self._reason)
        return Event(self.unit, FAILED, None, f"its process {ending(code)}; {self.unit.folder / 'log.txt'} may say more.")

    def kill(self) -> None:
        """End the process at once: what it has finished is on disk."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        log = self.unit.folder / "log.txt"
        with contextlib.suppress(OSError):
            if log.stat().st_size == 0:
                log.unlink()


def _place(work: Work) -> tuple[str, str, str]:
    """Module, file and name of a function, by which another process finds it."""
    module = inspect.getmodule(work)
    name, file = getattr(work, "__qualname__", ""), getattr(module, "__file__", None) or ""
    if module is None or not name.isidentifier() or getattr(module, name, None) is not work or not file:
        raise AzlabError("The function of a unit stands in a module or a file of its own, so that other processes find it.")
    return module.__name__, str(Path(file).resolve()), name


# --- the process of a unit --------------------------------------------------------------------------------------------


def serve() -> NoReturn:
    """What the process of a unit does: it reads the unit from its input and writes what happens to its output."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the unit prints goes to the log
    reader = sys.stdin.buffer
    size = int.from_bytes(reader.read(8))
    job = reader.read(size)
    threading.Thread(target=_end_with_parent, args=(reader,), daemon=True).start()

    def say(**message: Any) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    code = 1
    try:
        _do(job, say)
        code = 0
    except AzlabError as error:
        say(said=FAILED, reason=str(error))
    except KeyboardInterrupt:  # Ctrl-C reaches every process; the first one says so
        pass
    except Exception as error:
        traceback.print_exc()
        first = (str(error).splitlines() or [""])[0]
        say(said=FAILED, reason=f"{type(error).__name__}: {first} (its log.txt has more).")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # nothing is left to do, and libraries may take long to see that


def _end_with_parent(reader: Any) -> None:
    reader.read(1)  # nothing ever comes: this returns when the other end is closed
    os._exit(1)


def _do(job: bytes, say: Callable[..., None]) -> None:
    set_threads(1)
    reproductions()  # so that functions of azlab's own reproductions are found
    where, config, seed, folder, games, nets = pickle.loads(job)  # from the first process, which is the same program
    for name in games:
        from azlab.games.registry import load_game

        load_game(name)
    for name in nets:
        from azlab.nets.kinds import load_net

        load_net(name)
    with _own(Path(folder)):
        for row in _found(*where)(config, seed, make_folder(Path(folder) / "run")):
            say(row=_numbers(row))
    say(said=DONE)


@contextlib.contextmanager
def _own(folder: Path) -> Iterator[None]:
    """Hold the unit's folder, which the process of an earlier try may be about to leave."""
    deadline = time.monotonic() + PATIENCE
    with contextlib.ExitStack() as held:
        while True:
            try:
                held.enter_context(locked(folder, f"Another process works in {folder}."))
                break
            except AzlabError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        yield


def _found(module: str, file: str, name: str) -> Work:
    """The function of a unit: of a module that has this file, or else of the file."""
    with contextlib.suppress(ImportError, ValueError):
        found = importlib.import_module(module) if module != "__main__" else None
        if found is not None and found.__file__ and str(Path(found.__file__).resolve()) == file:
            return getattr(found, name)
    from azlab.games.registry import load_module

    return getattr(load_module(file), name)


def _numbers(row: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a row as JSON has them; None for what is not finite, no entry for what is no number."""
    whole_number("iteration of a unit's row", row.get("iteration"), 0, 10**9)
    found: dict[str, Any] = {}
    for name, value in row.items():
        plain = value.item() if isinstance(value, np.generic) else value
        if plain is None or isinstance(plain, bool | int | float):
            found[str(name)] = None if isinstance(plain, float) and not math.isfinite(plain) else plain
    return found
