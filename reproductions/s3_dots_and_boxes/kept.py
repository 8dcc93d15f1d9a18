"""Players whose moves are kept in a file, so that a long match which was cut off is not searched anew."""

import json
from pathlib import Path
from typing import Any

import azlab
from azlab.arena.agents import ready
from azlab.games.game import Game, Position


class Kept:
    """The player called `name`. Asked again in the same order, it repeats the moves in `file` and then goes on.

    A search draws a seed for every move; it is drawn for repeated moves, too, so that what follows is as if nothing had happened.
    """

    def __init__(self, name: str, seed: int, file: Path) -> None:
        self.player: Any = azlab.agent(name, seed)
        self.name, self.file = self.player.name, file
        self._known = _lines(file)
        self._next = 0  # the number of the next move

    def prepare(self, game: Game) -> None:
        """See that the player can play this game."""
        ready(self.player, game)

    def choose(self, position: Position) -> int:
        """The move that was chosen before, or a new one, which is kept."""
        before = " ".join(position.moves)
        if self._next < len(self._known) and self._known[self._next][0] == before:
            if hasattr(self.player, "_seeds"):
                self.player._seeds.integers(2**62)
            chosen = position.game.action(self._known[self._next][1])
        else:
            chosen = int(self.player.choose(position))
            self._keep(before, position.game.move_name(chosen))
        self._next += 1
        return chosen

    def _keep(self, before: str, move: str) -> None:
        """Write the move behind those that were repeated; what else is in the file belongs to other games and goes."""
        if self._next < len(self._known) or self._next == 0:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text("".join(json.dumps(line) + "\n" for line in self._known[: self._next]), encoding="utf-8")
        self._known[self._next :] = [(before, move)]
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps((before, move)) + "\n")


def _lines(file: Path) -> list[tuple[str, str]]:
    """The moves in a file, up to the first line that is not whole."""
    found: list[tuple[str, str]] = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []:
        try:
            before, move = json.loads(line)
        except ValueError:
            break
        found.append((str(before), str(move)))
    return found
