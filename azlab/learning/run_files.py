"""A training run is a folder, and can be killed at any moment. This is what the folders of all learners have in common.

    config.toml          the settings; `learner` says whose they are, unless they are AlphaZero's
    metrics.jsonl        one line for each finished iteration
    nets/00001.*         the network after each iteration, if there is one
    checkpoint/00007/    what is needed to go on after iteration 7: its line of metrics, and files of the learner's own

Everything is written aside and renamed. An iteration counts as finished when its checkpoint has its name; what an interrupted
iteration left behind is written over by the next try. Everything carries a checksum (azlab.intact); files of a run that was begun
before there were checksums are taken as they are, and get one when they are next written.

`RunFiles(folder)` reads settings and metrics of any run. A learner has a subclass with its name, its settings and what may change
of them; `run_folder.py` is AlphaZero's.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from azlab.errors import AzlabError, whole_number
from azlab.files import locked, write_aside
from azlab.intact import checksum, parsed, sealed, unsealed
from azlab.learning.as_toml import build, differences, read_toml, to_toml
from azlab.machine import IS_WINDOWS

NEEDED = ("seconds", "total_seconds", "cpu_seconds", "play_seconds", "moves")  # metrics that every iteration has
BRING_BACK = "Bring back a copy of the file; if there is none, begin a new run in another folder."
SEAL = "# sha256 {}: of the lines below; take this line out if you change them by hand\n"
Config = TypeVar("Config")


class RunFiles(Generic[Config]):
    """The files of one run; see the module's description."""

    learner = ""  # its name in config.toml; AlphaZero, which was there first, has none
    kind: type[Config]  # of the settings, a dataclass
    may_change = {"iterations"}  # a run may be made longer

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    # --- beginning ------------------------------------------------------------------------------------------------

    @property
    def config_file(self) -> Path:
        return self.path / "config.toml"

    def settings(self) -> dict[str, Any]:
        """The settings of a run of any learner, as config.toml has them."""
        if not self.config_file.is_file():
            raise AzlabError(f"{self.path} is no training run: it has no config.toml.")
        try:
            text = self.config_file.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise AzlabError(f"{self.config_file} cannot be read ({error}). {BRING_BACK}") from None
        first, _, rest = text.partition("\n")
        seal = re.fullmatch(SEAL.strip().format("([0-9a-f]{64})"), first)
        if seal and seal[1] != checksum(rest):
            raise AzlabError(f"{self.config_file} is damaged: its checksum is wrong. {BRING_BACK}")
        if all(line.startswith("#") or not line.strip() for line in text.split("\n")):
            raise AzlabError(f"{self.config_file} is damaged: it is empty. {BRING_BACK}")
        return read_toml(text, str(self.config_file))

    def config(self) -> Config:
        """The run's settings; a sentence if they are another learner's."""
        values = self.settings()
        other = values.pop("learner", "")
        if other != self.learner:
            whose, mine = other or "AlphaZero", self.learner or "AlphaZero"
            raise AzlabError(f"{self.path} holds a run of {whose}, not of {mine}: name another folder.")
        return self._built(values, str(self.config_file))

    def _built(self, values: dict[str, Any], where: str) -> Config:
        return build(self.kind, values, where)

    def begin(self, config: Config) -> None:
        """Write the config of a new run, or see that an old one has the same."""
        self._is_new(config)
        self._write_config(config)

    def _is_new(self, config: Config) -> bool:
        """Whether a run begins here; a sentence if there is something else, or a run with other settings."""
        is_new = not self.config_file.is_file()
        if is_new and any(not path.name.startswith(".") for path in self.path.iterdir()):
            raise AzlabError(f"{self.path} is not empty and is no training run; name a new folder.")
        if not is_new:
            wanted = self._built(read_toml(to_toml(config)), "The config")  # as the file has it: lists are tuples there
            self._check_same([name for name in differences(self.config(), wanted) if name not in self.may_change])
        return is_new

    def _check_same(self, changed: list[str]) -> None:
        if changed:
            raise AzlabError(
                f"The run in {self.path} was begun with other settings ({', '.join(changed)}). Take another folder for the "
                "new ones, or go on with the old ones."
            )

    def _write_config(self, config: Config) -> None:
        text = (f'learner = "{self.learner}"\n' if self.learner else "") + to_toml(config)
        self._write("config.toml", (SEAL.format(checksum(text)) + text).encode())

    def locked(self) -> AbstractContextManager[None]:
        """While this process trains here, no other may. A lock ends with its process, however that ends."""
        return locked(self.path, f"Another process is training in {self.path}.")

    @contextmanager
    def at_work(self, config: Config, is_untrained: bool) -> Iterator[int]:
        """Begin a run or go on with it, with the folder to oneself; gives the last finished iteration.

        A learner that has learned something can go on with a run, which it then takes over, but cannot begin one.
        """
        with self.locked():
            done = self.iteration()
            if not done and not is_untrained:
                raise AzlabError(f"A run in {self.path} cannot begin with a learner that has learned already: make a new one.")
            self._is_new(config)  # nothing is changed if this is another run
            self.go_back(done)
            self.begin(config)  # which also sees the line of metrics that a kill may have left out
            yield done

    def _write(self, name: str, data: bytes) -> None:
        write_aside(self.path / name, lambda aside: aside.write_bytes(data))

    # --- finished iterations --------------------------------------------------------------------------------------

    def iteration(self) -> int:
        """The last finished iteration, 0 if there is none."""
        return max(self._checkpoints(), default=0)

    def _checkpoints(self) -> dict[int, Path]:
        """The checkpoints by iteration; copies with other names are no checkpoints."""
        found = (self.path / "checkpoint").glob("[0-9]*")
        return {int(path.name): path for path in found if path.name.isascii() and path.name.isdigit()}

    def checkpoint(self, iteration: int) -> Path:
        """The folder with what is needed to go on after an iteration."""
        return self.path / "checkpoint" / f"{iteration:05}"

    def net_file(self, iteration: int, suffix: str) -> Path:
        """The network after an iteration."""
        return self.path / "nets" / f"{iteration:05}{suffix}"

    @contextmanager
    def remedy(self, iteration: int) -> Iterator[None]:
        """Add to what is said of a damaged file of the run's last iteration how the run can go on."""
        try:
            yield
        except AzlabError as error:
            todo = BRING_BACK
            if iteration - 1 in self._checkpoints():
                folder = self.checkpoint(iteration)
                todo = f"Without one, delete {folder}: the run then goes on after iteration {iteration - 1}."
            raise AzlabError(f"{error} {todo}") from None

    def count(self, iteration: int, write: Callable[[Path], None], metrics: dict[str, Any]) -> None:
        """Make the iteration count: what `write` puts into a folder gets its name, the checkpoint before the last is removed."""
        aside = self.path / "checkpoint" / ".new"
        with said(self.path):
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir(parents=True)
            write(aside)
            write_aside(aside / "metrics.json", lambda file: file.write_text(json.dumps(sealed(metrics))))
            aside.replace(self.checkpoint(iteration))
            _sync(aside.parent)
        self._complete(iteration)

    # --- metrics --------------------------------------------------------------------------------------------------

    def metrics(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl."""
        return read_rows(self.path / "metrics.jsonl", _check_metrics)

    def all_metrics(self, done: int) -> list[dict[str, Any]]:
        """The same, and a sentence unless they are those of the iterations from 1 to `done`."""
        rows = self.metrics()
        if [row["iteration"] for row in rows] != list(range(1, done + 1)):
            raise AzlabError(f"{self.path / 'metrics.jsonl'} is damaged: not every iteration has its line. {BRING_BACK}")
        return rows

    def iterations(self) -> int:
        """How many iterations the run will have."""
        return whole_number("iterations", self.settings().get("iterations"), 1, 10**6)

    def follow(self) -> Iterator[dict[str, Any]]:
        """The metrics of every iteration, those to come too, until the run's last one; looks for new ones every second."""
        total, seen = self.iterations(), 0  # says so if this is no run
        while True:
            for row in self.metrics()[seen:]:
                seen += 1
                yield row
            if seen >= total:
                return
            time.sleep(1)

    def _complete(self, iteration: int) -> None:
        """Bring metrics.jsonl to `iteration` (the checkpoint has its line, later ones do not count); remove old checkpoints."""
        if iteration == 0:
            return
        rows = [row for row in self.metrics() if row["iteration"] < iteration]
        file = self.checkpoint(iteration) / "metrics.json"
        with self.remedy(iteration):
            last = read_rows(file, _check_metrics)
            if [row["iteration"] for row in last] != [iteration]:
                raise AzlabError(f"{file} is damaged: it is not the line of iteration {iteration}. Use another copy.")
        self._write("metrics.jsonl", as_lines([*rows, *last]))
        for number, path in self._checkpoints().items():
            if number < iteration - 1:
                shutil.rmtree(path, ignore_errors=True)

    def go_back(self, iteration: int) -> None:
        """Forget what an unfinished iteration wrote."""
        self._complete(iteration)
        shutil.rmtree(self.path / "checkpoint" / ".new", ignore_errors=True)
        for name in (".*.[0-9]*.*", "*/.*.[0-9]*.*"):  # what `write_aside` had begun
            for path in self.path.glob(name):
                path.unlink(missing_ok=True)


def clock() -> tuple[float, float]:
    """The time, and that of this process on the processor, in seconds."""
    return time.perf_counter(), time.process_time()


def spent(began: tuple[float, float], rows: list[dict[str, Any]]) -> dict[str, float]:
    """What an iteration that `began` then took, for its line of metrics; `rows` are those before it."""
    seconds, cpu_seconds = (now - then for now, then in zip(clock(), began))
    total = seconds + (rows[-1]["total_seconds"] if rows else 0.0)
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, "total_seconds": total}


def as_lines(rows: list[dict[str, Any]]) -> bytes:
    """Rows as JSON lines with checksums."""
    return "".join(json.dumps(sealed(row)) + "\n" for row in rows).encode()


def read_rows(file: Path, check: Callable[[dict], None], is_appended: bool = False) -> list[dict[str, Any]]:
    """The JSON lines of a file, none if there is no file. Where lines are appended, one cut off by a crash is left out."""
    if not file.is_file():
        return []
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as error:
        raise AzlabError(f"{file} cannot be read ({error}). {BRING_BACK}") from None
    last = lines.pop()  # behind the last newline
    if last and not (is_appended and _is_cut(last)):
        lines.append(last)
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            row = unsealed(parsed(line.decode()))
            check(row)
        except ValueError as error:
            raise AzlabError(f"Line {number} of {file} is damaged: {str(error).rstrip('.')}. {BRING_BACK}") from None
        rows.append(row)
    return rows


def _is_cut(line: bytes) -> bool:
    """Whether a line begins as JSON and does not end."""
    try:
        json.JSONDecoder().raw_decode(line.decode())
    except (ValueError, RecursionError):
        return line.startswith(b"{")
    return False


def _check_metrics(row: dict[str, Any]) -> None:
    """Metrics are numbers, or None where nothing was measured; ValueError says which is not."""
    whole_number("iteration", row.get("iteration"), 1, 10**6)
    for name, value in row.items():
        if not isinstance(value, bool | int | float | None):
            raise ValueError(f"{name} should be a number")
    for name in NEEDED:
        if row.get(name) is None:
            raise ValueError(f"it has no {name}")


def _sync(folder: Path) -> None:
    if IS_WINDOWS:  # Windows opens no folders; it writes their entries down by itself
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def said(path: Path) -> Iterator[None]:
    """Turn an error of the disk into a sentence."""
    try:
        yield
    except OSError as error:
        raise AzlabError(
            f"{path} cannot be written ({error.strerror or error}). What was finished before is safe: see that the folder may be "
            "written and the disk has room, then start the same command again."
        ) from None
