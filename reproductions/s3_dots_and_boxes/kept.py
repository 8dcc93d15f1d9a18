"""Players whose moves are kept in a file, so that a long match which was cut off is not searched anew."""

import json
from pathlib import Path
from typing import Any

import azlab
from azlab.arena.agents import ready
from azlab.files import write_aside
from azlab.games.game import Game, Position


class Kept:
    """The player called `name`. Asked again in the same order, it repeats the moves in `file` and then goes on.

    A search draws a seed for every move; it is drawn for repeated moves, too, so that what follows is as if nothing had happened.
    The first line of the file says whose moves they are; those of another player or seed give way.
    """

    def __init__(self, name: str, seed: int, file: Path) -> None:
        self.player: Any = azlab.agent(name, seed)
        self.name, self.file = self.player.name, file
        self._whose = [name, str(seed)]
        self._known = _lines(file, self._whose)
        self._next = 0  # the number of the next move
        self._is_written = False  # the file holds just the moves so far: no half of a line, no moves that are not repeated

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
            self._keep([before, position.game.move_name(chosen)])
        self._next += 1
        return chosen

    def _keep(self, line: list[str]) -> None:
        """Write a move behind those that were repeated."""
        self._known[self._next :] = [line]
        if self._is_written:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        else:
            text = "".join(json.dumps(one) + "\n" for one in [self._whose, *self._known])
            write_aside(self.file, lambda aside: aside.write_text(text, encoding="utf-8"))
            self._is_written = True


def _lines(file: Path, whose: list[str]) -> list[list[str]]:
    """The moves in a file, each with what was played before, up to the first line that is not whole."""
    found: list[list[str]] = []
    for text in file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []:
        try:
            before, move = json.loads(text)
        except ValueError:
            break
        found.append([str(before), str(move)])
    return found[1:] if found[:1] == [whose] else []
