"""A training run is a folder, and can be killed at any moment.

    config.toml          the settings, written once
    command.txt          the command that began the run, if it was one
    metrics.jsonl        one line for each finished iteration
    games/00001.npz      the examples of each iteration's self-play
    nets/00001.*         the network after each iteration
    matches.jsonl        all evaluation games' results
    checkpoint/00007/    what is needed to go on after iteration 7: optimiser, unfinished games, metrics

Everything is written aside and renamed. An iteration counts as finished when its checkpoint has its name; what an interrupted
iteration left behind is written over by the next try.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.files import load_arrays, save_arrays, write_aside
from azlab.games.game import Game
from azlab.games.packed import as_bytes, from_bytes
from azlab.learning.config import AlphaZeroConfig, differences
from azlab.learning.replay import Examples

MAY_CHANGE = {"iterations", "hours"}  # a run may be made longer


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
        return AlphaZeroConfig.load(self.config_file)

    def begin(self, config: AlphaZeroConfig) -> None:
        """Write the config of a new run, or see that an old one has the same."""
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
        self._write("config.toml", config.to_toml().encode())

    def command(self) -> str:
        """The command that began the run; empty if it was begun from Python."""
        file = self.path / "command.txt"
        return file.read_text().strip() if file.is_file() else ""

    def set_command(self, command: str) -> None:
        """Remember the command that began the run; a later one does not change it."""
        if not self.command():
            self._write("command.txt", (command + "\n").encode())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """While this process trains here, no other may. A lock ends with its process, however that ends."""
        with _said(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / ".lock").open("w")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                raise AzlabError(f"Another process is training in {self.path}.") from None
        try:
            yield
        finally:
            file.close()

    def _write(self, name: str, data: bytes) -> None:
        write_aside(self.path / name, lambda aside: aside.write_bytes(data))

    # --- finished iterations --------------------------------------------------------------------------------------

    def iteration(self) -> int:
        """The last finished iteration, 0 if there is none."""
        names = [path.name for path in (self.path / "checkpoint").glob("[0-9]*") if path.name.isdigit()]
        return max(map(int, names), default=0)

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
        arrays = load_arrays(self.path / "games" / f"{iteration:05}.npz")
        return Examples(states=from_bytes(arrays.pop("states"), game.dtype), **arrays)

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
            write_aside(aside / "metrics.json", lambda file: file.write_text(json.dumps(metrics)))
            aside.replace(folder / f"{iteration:05}")
            _sync(folder)
        self._complete(iteration)

    def unfinished(self, iteration: int) -> list[dict[str, np.ndarray]]:
        """The unfinished games of each worker after an iteration."""
        folder = self.path / "checkpoint" / f"{iteration:05}"
        return [load_arrays(path) for path in sorted(folder.glob("games*.npz"), key=lambda path: int(path.stem[5:]))]

    # --- metrics --------------------------------------------------------------------------------------------------

    def metrics(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl."""
        return _whole_lines(self.path / "metrics.jsonl")

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
        last = json.loads((self.path / "checkpoint" / f"{iteration:05}" / "metrics.json").read_text())
        self._write("metrics.jsonl", "".join(json.dumps(row) + "\n" for row in [*rows, last]).encode())
        for path in (self.path / "checkpoint").glob("[0-9]*"):
            if path.name.isdigit() and int(path.name) < iteration - 1:
                shutil.rmtree(path, ignore_errors=True)

    def add_match(self, row: dict[str, Any]) -> None:
        """Keep the result of an evaluation match."""
        with _said(self.path), (self.path / "matches.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")

    def matches(self) -> list[dict[str, Any]]:
        """The results of all evaluation matches."""
        return _whole_lines(self.path / "matches.jsonl")

    def go_back(self, iteration: int) -> None:
        """Forget what an unfinished iteration wrote."""
        self._complete(iteration)
        kept = [row for row in self.matches() if row["iteration"] <= iteration]
        if (self.path / "matches.jsonl").is_file():
            self._write("matches.jsonl", "".join(json.dumps(row) + "\n" for row in kept).encode())
        shutil.rmtree(self.path / "checkpoint" / ".new", ignore_errors=True)
        for place in (self.path, self.path / "games", self.path / "nets"):
            for path in place.glob(".*.[0-9]*.*"):  # what `write_aside` had begun
                path.unlink(missing_ok=True)


def _whole_lines(file: Path) -> list[dict[str, Any]]:
    """The JSON lines of a file, none if there is no file; a line cut off by a crash is left out."""
    rows = []
    for line in file.read_text().splitlines() if file.is_file() else ():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def _sync(folder: Path) -> None:
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
