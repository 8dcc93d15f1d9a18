"""The folder of an AlphaZero run. It has what all runs have (run_files.py), and besides

command.txt          the command that began the run, if it was one
parts.txt            the names of the parts that are not the library's, if there are any
games/00001.npz      the examples of each iteration's self-play
matches.jsonl        all evaluation games' results
checkpoint/00007/    optimiser and unfinished games
retired.txt          if the run is over for good, and only settings, metrics and the last network were kept
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.files import load_arrays, save_arrays
from azlab.games.game import Game
from azlab.games.packed import as_bytes, from_bytes
from azlab.intact import check_arrays, sealed
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.old_configs import renewed
from azlab.learning.parts import Parts
from azlab.learning.run_files import BRING_BACK, NEEDED, RunFiles, as_lines, read_rows, said
from azlab.learning.window import Examples

__all__ = ["NEEDED", "RunFolder"]

NO_PARTS = Parts()
RETIRED = "This run is over. Its games, optimiser and earlier networks were deleted to save room.\n"


class RunFolder(RunFiles[AlphaZeroConfig]):
    """The files of one run; see the module's description."""

    kind = AlphaZeroConfig
    may_change = {"iterations", "hours", "evaluation.patience"}

    # --- beginning ------------------------------------------------------------------------------------------------

    def _built(self, values: dict[str, Any], where: str) -> AlphaZeroConfig:
        return super()._built(renewed(values, where), where)

    def begin(self, config: AlphaZeroConfig, parts: Parts = NO_PARTS) -> None:
        """Write the config and the parts of a new run, or see that an old one has the same."""
        if self.is_retired:
            raise AzlabError(
                f"The run in {self.path} is over, and what it would need to go on was deleted to save room: take another folder."
            )
        if not self._is_new(config):
            self.check_parts(parts)
        elif parts.names():
            self._write("parts.txt", parts.names().encode())
        self._write_config(config)

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

    # --- finished iterations --------------------------------------------------------------------------------------

    def optimiser_file(self, iteration: int) -> Path:
        """The optimiser's numbers after an iteration."""
        return self.checkpoint(iteration) / "optimiser.safetensors"

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

    def finish(
        self, iteration: int, save_optimiser: Callable[[Path], Any], unfinished: list[dict[str, np.ndarray]], metrics: dict
    ) -> None:
        """Make the iteration count, with its optimiser and each worker's unfinished games."""

        def write(folder: Path) -> None:
            save_optimiser(folder / "optimiser.safetensors")
            for k, arrays in enumerate(unfinished):
                save_arrays(folder / f"games{k}.npz", arrays)

        self.count(iteration, write, metrics)

    @property
    def is_retired(self) -> bool:
        """Whether `retire` was called."""
        return (self.path / "retired.txt").is_file()

    def retire(self) -> None:
        """End a run for good: settings, metrics and the last network stay, so it can be looked at and played with.

        Killed in the midst of it, another call does the rest.
        """
        self._write("retired.txt", RETIRED.encode())
        last = self.iteration()
        with said(self.path):
            shutil.rmtree(self.path / "games", ignore_errors=True)
            for number, path in self._checkpoints().items():
                if number < last:
                    shutil.rmtree(path, ignore_errors=True)
            for path in (self.path / "nets").glob("*"):
                if path.name.partition(".")[0] != f"{last:05}":
                    path.unlink()
            for path in self.checkpoint(last).glob("*"):
                if path.name != "metrics.json":
                    path.unlink()

    def unfinished_files(self, iteration: int) -> list[Path]:
        """The files of each worker's unfinished games after an iteration."""
        found = self.checkpoint(iteration).glob("games*.npz")
        numbered = {int(path.stem[5:]): path for path in found if path.stem[5:].isascii() and path.stem[5:].isdigit()}
        return [numbered[k] for k in sorted(numbered)]

    def add_match(self, row: dict[str, Any]) -> None:
        """Keep the result of an evaluation match."""
        with said(self.path), (self.path / "matches.jsonl").open("a") as file:
            file.write(json.dumps(sealed(row)) + "\n")

    def matches(self) -> list[dict[str, Any]]:
        """The results of all evaluation matches."""
        return read_rows(self.path / "matches.jsonl", _check_match, is_appended=True)

    def go_back(self, iteration: int) -> None:
        """Forget what an unfinished iteration wrote."""
        super().go_back(iteration)
        kept = [row for row in self.matches() if row["iteration"] <= iteration]
        if (self.path / "matches.jsonl").is_file():
            self._write("matches.jsonl", as_lines(kept))


def _check_match(row: dict[str, Any]) -> None:
    whole_number("iteration", row.get("iteration"), 1, 10**6)
    result = row.get("result")
    if not isinstance(result, list) or len(result) != 3:
        raise ValueError("result should be three numbers")
    for count in result:
        whole_number("a number of games", count, 0, 10**6)
    if not isinstance(row.get("player"), str) or not isinstance(row.get("opponent"), str):
        raise ValueError("it does not say who played")
