"""results.jsonl, the memory of a tournament: a line on its settings, one for each player, one for each finished game.

    {"azlab": "tournament 1", "game": "connect4", "options": {...}, "seed": 0, "seconds": 5.0, ...}
    {"player": "anna", "digest": "...", "shown": "Anna the Great", "fault": null}
    {"opening": 0, "players": ["anna", "ben"], "digests": ["...", "..."], "given": 2, "moves": ["4", "4", ...], "result": 1,
     "forfeit": {"player": "ben", "kind": "illegal move", "reason": "..."}}

`players` sat in seat 0 and seat 1; `given` moves are those of the opening; `result` is that of seat 0; `forfeit` is there if the
game was not played to its end. Lines are added as games end, by one process alone; when nobody plays, they stand in a fixed
order, so that two tournaments with equal games have equal files. A line that a kill has cut off is played anew.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from azlab.arena.contestants import Contestant
from azlab.arena.saved import entry, text, texts, two_names
from azlab.arena.student import KINDS
from azlab.errors import AzlabError, one_of, whole_number
from azlab.files import write_aside
from azlab.games.game import Game, Position
from azlab.intact import parsed

FORMAT = "tournament 1"
Key = tuple[int, str, str]  # the number of the opening, who sat in seat 0, who in seat 1


@dataclass(frozen=True)
class Failure:
    """Who lost a game by something else than moves, or cannot play at all."""

    player: str
    kind: str  # one of azlab.arena.student.KINDS
    reason: str


@dataclass(frozen=True)
class Played:
    """A finished game."""

    opening: int
    players: tuple[str, str]
    digests: tuple[str, str]
    given: int
    moves: tuple[str, ...]
    result: int  # for seat 0
    forfeit: Failure | None = None

    @property
    def key(self) -> Key:
        return self.opening, *self.players

    def positions(self, game: Game) -> list[Position]:
        """All positions of the game."""
        found = [game.start()]
        for move in self.moves:
            found.append(found[-1].play(move))
        return found

    def line(self) -> dict[str, Any]:
        found = asdict(self)
        return found if self.forfeit else {name: value for name, value in found.items() if name != "forfeit"}


@dataclass(frozen=True)
class Known:
    """What is known of a player: the name it gives itself, and why it cannot play if it cannot."""

    name: str
    digest: str
    shown: str = ""
    fault: Failure | None = None

    def line(self) -> dict[str, Any]:
        return {"player": self.name, "digest": self.digest, "shown": self.shown, "fault": self.fault and asdict(self.fault)}


class ResultsFile:
    """The lines of a tournament that are still true, and the file that they are in."""

    def __init__(self, path: Path, game: Game, settings: dict[str, Any]) -> None:
        self.path, self.game = path, game
        self.head = {"azlab": FORMAT, "game": game.spec, "options": json.loads(json.dumps(game.options)), **settings}
        self.players: dict[str, Known] = {}
        self.games: dict[Key, Played] = {}
        self.damaged = 0  # lines that could not be read
        if path.exists():
            self._read()

    def _read(self) -> None:
        try:
            lines = self.path.read_bytes().decode("utf-8", "replace").splitlines()
        except OSError as error:
            raise AzlabError(f"{self.path} cannot be read ({error.strerror}).") from None
        self._check_head(lines[0] if lines else "")
        for line in lines[1:]:
            try:
                self._take(parsed(line))
            except (AzlabError, ValueError):
                self.damaged += 1

    def _check_head(self, line: str) -> None:
        other = f"name another folder with --out, or remove {self.path}."
        try:
            head = parsed(line)
        except ValueError:
            head = None
        if not isinstance(head, dict) or head.get("azlab") != FORMAT:
            raise AzlabError(f"{self.path} is no tournament of this version of azlab: {other}")
        for name, value in self.head.items():
            if head.get(name) != value:
                raise AzlabError(f"{self.path} has games with {name} = {head.get(name)!r}, not {value!r}: {other}")

    def _take(self, line: Any) -> None:
        if not isinstance(line, dict):
            raise AzlabError("it is no list of names and values")
        if "player" in line:
            known = Known(text(line, "player"), text(line, "digest"), text(line, "shown"), _failure(entry(line, "fault")))
            self.players[known.name] = known
        else:
            played = self._game(line)
            self.games[played.key] = played

    def _game(self, line: dict[str, Any]) -> Played:
        moves, result = texts(line, "moves"), entry(line, "result")
        given = whole_number("'given'", entry(line, "given"), 0, len(moves))
        one_of("'result'", result, (-1, 0, 1))
        opening, failure = whole_number("'opening'", entry(line, "opening"), 0, 10**9), _failure(line.get("forfeit"))
        players = two_names(line, "players")
        played = Played(opening, players, two_names(line, "digests"), given, moves, result, failure)
        end = played.positions(self.game)[-1]
        loser = players[0 if result < 0 else 1]
        if end.result != result if failure is None else (end.over or not result or failure.player != loser):
            raise AzlabError("its moves do not lead to its result")
        return played

    def forget(self, present: Iterable[Contestant], again: Iterable[str] = ()) -> int:
        """Drop what is no longer true: games and knowledge of players whose files have changed, or who are to play again."""
        now = {one.name: one.digest for one in present} | dict.fromkeys(again, "")
        games = {
            key: played
            for key, played in self.games.items()
            if all(now.get(name, digest) == digest for name, digest in zip(played.players, played.digests))
        }
        dropped = len(self.games) - len(games)
        self.games = games
        self.players = {name: known for name, known in self.players.items() if now.get(name, known.digest) == known.digest}
        return dropped

    def add(self, what: Played | Known) -> None:
        """Keep a finished game or what is known of a player, at once."""
        if isinstance(what, Known):
            self.players[what.name] = what
        else:
            self.games[what.key] = what
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_json(what.line()))

    def write(self) -> None:
        """Write all lines anew, in their order."""
        lines = [self.head]
        lines += [self.players[name].line() for name in sorted(self.players)]
        lines += [self.games[key].line() for key in sorted(self.games)]
        whole = "".join(map(_json, lines))
        write_aside(self.path, lambda aside: aside.write_text(whole, encoding="utf-8"))


def _json(line: dict[str, Any]) -> str:
    return json.dumps(line) + "\n"


def _failure(found: Any) -> Failure | None:
    if found is None:
        return None
    if not isinstance(found, dict):
        raise AzlabError("'forfeit' has no names")
    kind = text(found, "kind")
    one_of("'kind'", kind, KINDS)
    return Failure(text(found, "player"), kind, text(found, "reason"))
