"""A training run is a folder, and can be killed at any moment.

    config.toml          the settings, written once
    command.txt          the command that began the run, if it was one
    parts.txt            the names of the parts that are not the library's, if there are any
    metrics.jsonl        one line for each finished iteration
    games/00001.npz      the examples of each iteration's self-play
    nets/00001.*         the network after each iteration
    matches.jsonl        all evaluation games' results
    checkpoint/00007/    what is needed to go on after iteration 7: optimiser, unfinished games, metrics

Everything is written aside and renamed. An iteration counts as finished when its checkpoint has its name; what an interrupted
iteration left behind is written over by the next try. Everything but command.txt carries a checksum (azlab.intact); files of a
run that was begun before there were checksums are taken as they are, and get one when they are next written.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.files import load_arrays, locked, save_arrays, write_aside
from azlab.games.game import Game
from azlab.games.packed import as_bytes, from_bytes
from azlab.intact import check_arrays, checksum, parsed, sealed, unsealed
from azlab.learning.config import AlphaZeroConfig, differences
from azlab.learning.parts import Parts
from azlab.learning.window import Examples
from azlab.machine import IS_WINDOWS

NO_PARTS = Parts()
MAY_CHANGE = {"iterations", "hours", "evaluation.patience"}  # a run may be made longer
NEEDED = ("seconds", "total_seconds", "cpu_seconds", "play_seconds", "moves")  # metrics that every iteration has
BRING_BACK = "Bring back a copy of the file; if there is none, begin a new run in another folder."
SEAL = "# sha256 {}: of the lines below; take this line out if you change them by hand\n"


class RunFolder:
    """The files of one run; see the module's description."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    # --- beginning ------------------------------------------------------------------------------------------------

    @property
    def config_file(self) -> Path:
        return self.path / "config.toml"

    def config(self) -> AlphaZeroConfig:
        """The run's settings."""
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
        return AlphaZeroConfig.from_toml(text, str(self.config_file))

    def begin(self, config: AlphaZeroConfig, parts: Parts = NO_PARTS) -> None:
        """Write the config and the parts of a new run, or see that an old one has the same."""
        if self.config_file.is_file():
            wanted = AlphaZeroConfig.from_toml(config.to_toml())  # as the file has it: lists are tuples there
            changed = [name for name in differences(self.config(), wanted) if name not in MAY_CHANGE]
            if changed:
                raise AzlabError(
                    f"The run in {self.path} was begun with other settings ({', '.join(changed)}). Take another folder for the "
                    "new ones, or go on with the old ones."
                )
        elif any(not path.name.startswith(".") for path in self.path.iterdir()):
            raise AzlabError(f"{self.path} is not empty and is no training run; name a new folder.")
        if self.config_file.is_file():
            self.check_parts(parts)
        elif parts.names():
            self._write("parts.txt", parts.names().encode())
        text = config.to_toml()
        self._write("config.toml", (SEAL.format(checksum(text)) + text).encode())

    def check_parts(self, parts: Parts) -> None:
        """Raise a sentence if the run was begun with other parts (`azlab.learning.parts`) than these."""
        file = self.path / "parts.txt"
        try:
            begun, given = file.read_text("utf-8") if file.is_file() else "", parts.names()
        except (OSError, UnicodeDecodeError) as error:
            raise AzlabError(f"{file} cannot be read ({error}). {BRING_BACK}") from None
        if begun != given:
            one, other = (", ".join(names.split("\n")[:-1]) or "the library's own" for names in (begun, given))
            raise AzlabError(
                f"The run in {self.path} was begun with other parts ({one}) than those given now ({other}): pass the same."
            )

    def command(self) -> str:
        """The command that began the run; empty if it was begun from Python."""
        file = self.path / "command.txt"
        try:
            return file.read_text(encoding="utf-8").strip() if file.is_file() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise AzlabError(f"{file} cannot be read ({error}). It only says which command began the run: delete it.") from None

    def set_command(self, command: str) -> None:
        """Remember the command that began the run; a later one does not change it."""
        if not self.command():
            self._write("command.txt", (command + "\n").encode())

    def locked(self) -> AbstractContextManager[None]:
        """While this process trains here, no other may. A lock ends with its process, however that ends."""
        return locked(self.path, f"Another process is training in {self.path}.")

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

    @contextmanager
    def remedy(self, iteration: int) -> Iterator[None]:
        """Add to what is said of a damaged file of the run's last iteration how the run can go on."""
        try:
            yield
        except AzlabError as error:
            todo = BRING_BACK
            if iteration - 1 in self._checkpoints():
                folder = self.path / "checkpoint" / f"{iteration:05}"
                todo = f"Without one, delete {folder}: the run then goes on after iteration {iteration - 1}."
            raise AzlabError(f"{error} {todo}") from None

    def net_file(self, iteration: int, suffix: str) -> Path:
        """The network after an iteration."""
        return self.path / "nets" / f"{iteration:05}{suffix}"

    def optimiser_file(self, iteration: int) -> Path:
        """The optimiser's numbers after an iteration."""
        return self.path / "checkpoint" / f"{iteration:05}" / "optimiser.safetensors"

    def save_games(self, iteration: int, examples: Examples) -> None:
        """Keep the examples of an iteration."""
        arrays = examples._asdict() | {"states": as_bytes(examples.states)}
        save_arrays(self.path / "games" / f"{iteration:05}.npz", arrays)

    def load_games(self, iteration: int, game: Game) -> Examples:
        """The examples of an iteration."""
        path = self.path / "games" / f"{iteration:05}.npz"
        arrays = load_arrays(path)
        moves = (np.float16, ("B", game.num_actions))
        wanted = {
            "states": (np.uint8, ("B", game.dtype.itemsize)),
            "policy": moves,
            "result": (np.float32, ("B", 3)),
            "reply": moves,
        }
        check_arrays(path, arrays, wanted)
        try:
            states = from_bytes(arrays.pop("states"), game, or_normal_form=True)
        except AzlabError as error:
            raise AzlabError(f"{path} does not hold an iteration's examples: {str(error).rstrip('.')}. {BRING_BACK}") from None
        if not all(np.isfinite(part).all() for part in arrays.values()):
            raise AzlabError(f"{path} is damaged: it holds numbers that are not finite. {BRING_BACK}")
        return Examples(states=states, **arrays)

    def finish(self, iteration: int, save_optimiser: Any, unfinished: list[dict[str, np.ndarray]], metrics: dict) -> None:
        """Make the iteration count: its checkpoint gets its name, the one before the last is removed."""
        folder = self.path / "checkpoint"
        aside = folder / ".new"
        with _said(self.path):
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir(parents=True)
            save_optimiser(aside / "optimiser.safetensors")
            for k, arrays in enumerate(unfinished):
                save_arrays(aside / f"games{k}.npz", arrays)
            write_aside(aside / "metrics.json", lambda file: file.write_text(json.dumps(sealed(metrics))))
            aside.replace(folder / f"{iteration:05}")
            _sync(folder)
        self._complete(iteration)

    def unfinished_files(self, iteration: int) -> list[Path]:
        """The files of each worker's unfinished games after an iteration."""
        found = (self.path / "checkpoint" / f"{iteration:05}").glob("games*.npz")
        numbered = {int(path.stem[5:]): path for path in found if path.stem[5:].isascii() and path.stem[5:].isdigit()}
        return [numbered[k] for k in sorted(numbered)]

    # --- metrics --------------------------------------------------------------------------------------------------

    def metrics(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl."""
        return _rows(self.path / "metrics.jsonl", _check_metrics)

    def follow(self) -> Iterator[dict[str, Any]]:
        """The metrics of every iteration, those to come too, until the run's last one; looks for new ones every second."""
        total, seen = self.config().iterations, 0  # says so if this is no run
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
        file = self.path / "checkpoint" / f"{iteration:05}" / "metrics.json"
        with self.remedy(iteration):
            last = _rows(file, _check_metrics)
            if [row["iteration"] for row in last] != [iteration]:
                raise AzlabError(f"{file} is damaged: it is not the line of iteration {iteration}. Use another copy.")
        self._write("metrics.jsonl", _lines([*rows, *last]))
        for number, path in self._checkpoints().items():
            if number < iteration - 1:
                shutil.rmtree(path, ignore_errors=True)

    def add_match(self, row: dict[str, Any]) -> None:
        """Keep the result of an evaluation match."""
        with _said(self.path), (self.path / "matches.jsonl").open("a") as file:
            file.write(json.dumps(sealed(row)) + "\n")

    def matches(self) -> list[dict[str, Any]]:
        """The results of all evaluation matches."""
        return _rows(self.path / "matches.jsonl", _check_match, is_appended=True)

    def go_back(self, iteration: int) -> None:
        """Forget what an unfinished iteration wrote."""
        self._complete(iteration)
        kept = [row for row in self.matches() if row["iteration"] <= iteration]
        if (self.path / "matches.jsonl").is_file():
            self._write("matches.jsonl", _lines(kept))
        shutil.rmtree(self.path / "checkpoint" / ".new", ignore_errors=True)
        for place in (self.path, self.path / "games", self.path / "nets"):
            for path in place.glob(".*.[0-9]*.*"):  # what `write_aside` had begun
                path.unlink(missing_ok=True)


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(sealed(row)) + "\n" for row in rows).encode()


def _rows(file: Path, check: Callable[[dict], None], is_appended: bool = False) -> list[dict[str, Any]]:
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


def _check_match(row: dict[str, Any]) -> None:
    whole_number("iteration", row.get("iteration"), 1, 10**6)
    result = row.get("result")
    if not isinstance(result, list) or len(result) != 3:
        raise ValueError("result should be three numbers")
    for count in result:
        whole_number("a number of games", count, 0, 10**6)
    if not isinstance(row.get("player"), str) or not isinstance(row.get("opponent"), str):
        raise ValueError("it does not say who played")


def _sync(folder: Path) -> None:
    if IS_WINDOWS:  # Windows opens no folders; it writes their entries down by itself
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Turn an error of the disk into a sentence."""
    try:
        yield
    except OSError as error:
        raise AzlabError(
            f"{path} cannot be written ({error.strerror or error}). What was finished before is safe: see that the folder may be "
            "written and the disk has room, then start the same command again."
        ) from None
