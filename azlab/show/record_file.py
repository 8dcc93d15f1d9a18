"""One game as a line of JSON, finished or not: what a board saves and loads.

    {"azlab": "game 1", "game": "connect4", "options": {...}, "players": ["you", "uct:1000"], "result": null, "moves": ["4", "4"]}

`result` is that of the first seat (1, 0, -1), null while the game goes on; `start`, if it is there, is the state before the moves
in hexadecimal.
"""

import json
import os
from pathlib import Path
from typing import Any

from azlab.arena.results import GameRecord
from azlab.arena.saved import because, entry, rules_of, texts, two_names
from azlab.errors import AzlabError, one_of
from azlab.games import game as find_game
from azlab.games.game import Game, Position
from azlab.intact import parsed

FORMAT = "game 1"


def as_record(position: Position, players: tuple[str, str]) -> GameRecord:
    """The game that led to `position`; while it goes on, its result is None."""
    origin = position.path()[0]
    start = None if origin == position.game.start() else origin.state.tobytes().hex()
    return GameRecord(position.game, players, tuple(position.moves), 0, position.result, 0, start)  # type: ignore[arg-type]


def to_text(position: Position, players: tuple[str, str]) -> str:
    """The game as one line of JSON."""
    record = as_record(position, players)
    line: dict[str, Any] = {"azlab": FORMAT, "game": record.game.spec, "options": record.game.options, "players": record.players}
    line["result"] = record.result
    if record.start is not None:
        line["start"] = record.start
    return json.dumps({**line, "moves": record.moves}) + "\n"


def from_text(text: str, game: Game | None = None) -> Position:
    """Where the saved game stands, replayed by the rules. `game` is needed for a game azlab does not name."""
    try:
        line = parsed(text)
    except ValueError:
        line = None
    if not isinstance(line, dict) or line.get("azlab") != FORMAT:
        raise AzlabError("This is not a game saved by a board of azlab; such a file is one line of JSON.")
    try:
        rules, players, moves = rules_of(line, game), two_names(line, "players"), texts(line, "moves")
        result = one_of("'result'", entry(line, "result"), (-1, 0, 1, None))
        final = GameRecord(rules, players, moves, 0, result, 0, line.get("start")).final  # type: ignore[arg-type]
        if final.result != result:
            raise AzlabError(f"the result is said to be {result}, but the moves end {final.result}")
    except AzlabError as error:
        raise AzlabError(f"This saved game cannot be read: {because(error)}.") from None
    return final


def read(path: str | os.PathLike, game: Game | None = None) -> Position:
    """The game saved in a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise AzlabError(f"There is no file {path}.") from None
    except OSError as error:
        raise AzlabError(f"{path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise AzlabError(f"{path} is not a text file.") from None
    return from_text(text, game)


def as_position(game: Any, options: dict[str, Any]) -> Position:
    """A position for whatever names a game: a game, its name, a position, a record, a file saved by a board."""
    if options and not (isinstance(game, str) and not game.endswith((".json", ".jsonl"))):
        raise AzlabError(f"Options such as {min(options)!r} go with the name of a game.")
    if isinstance(game, Position):
        return game
    if isinstance(game, GameRecord):
        return game.final
    if isinstance(game, Game):
        return game.start()
    if isinstance(game, os.PathLike) or (isinstance(game, str) and game.endswith((".json", ".jsonl"))):
        return read(game)
    if isinstance(game, str):
        return find_game(game, **options).start()
    raise AzlabError(f"A board shows a game, its name, a position, a record or a saved file, not {game!r}.")
