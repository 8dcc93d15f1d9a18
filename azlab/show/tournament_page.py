"""A tournament as one HTML page: ranking, everyone against everyone, all games with boards to step through.

The page needs no network and no server. Names and reasons come from anybody's files: the template escapes all that is put into
it, data for the script stand in a block that is not run, and the page allows no script but its own. Boards are drawn as all
others of azlab; of a game the page has the shapes that change from move to move, so that hundreds of games stay a few megabytes.
"""

import base64
import hashlib
import itertools
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from azlab.arena.results import Tally
from azlab.arena.standings import NOTE, Standings
from azlab.arena.tournament_file import Played
from azlab.games.game import Game
from azlab.show.board import dark_rules, drawn, size

MOST_NUMBERS = 4_000_000  # in all boards together, about 16 MB; games beyond that are listed and not shown


class Boards:
    """The boards of all games: every shape is kept once and known by its number, a move by what it changes."""

    def __init__(self, game: Game) -> None:
        picture = game.picture(game.start())
        self._numbers: dict[tuple, int] = {}
        self.shapes: list[str] = []
        self.size = size(picture)
        self.start = self._as_numbers(picture.shapes)
        self.count = len(self.start)

    def _as_numbers(self, shapes: Sequence[tuple]) -> list[int]:
        for shape in shapes:
            if shape not in self._numbers:
                self._numbers[shape] = len(self.shapes)
                self.shapes.append(drawn(shape))
        return [self._numbers[shape] for shape in shapes]

    def steps(self, game: Game, played: Played) -> tuple[list[list[int]], list[int]]:
        """For each move [shapes kept at the beginning, shapes kept at the end, new ones ...], and the seat that made it."""
        positions = played.positions(game)
        boards = [self._as_numbers(game.picture(position).shapes) for position in positions]
        steps = [_change(before, after) for before, after in itertools.pairwise(boards)]
        self.count += sum(map(len, steps))
        return steps, [position.to_move for position in positions[:-1]]


def _change(before: list[int], after: list[int]) -> list[int]:
    shorter = min(len(before), len(after))
    begin = next((k for k in range(shorter) if before[k] != after[k]), shorter)
    end = next((k for k in range(shorter - begin) if before[-1 - k] != after[-1 - k]), shorter - begin)
    return [begin, end, *after[begin : len(after) - end]]


def page(standings: Standings) -> str:
    """The whole page."""
    boards = Boards(standings.rules)
    games: list[dict[str, Any]] = []
    pairs = _pairs(standings, boards, games)
    left_out = len(standings.games) - len(games)
    data = {
        "size": boards.size, "start": boards.start, "shapes": boards.shapes, "seats": list(standings.rules.seats), "games": games,
        "paper": '<rect width="100%" height="100%" rx="8" class="azlab-paper" fill="#faf8f3"/>',
    }  # fmt: skip
    script = _asset("tournament.js")
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return template.from_string(_asset("tournament.html")).render(
        headline=standings.headline, complete=len(standings.games) == standings.planned, rows=standings.rows, note=NOTE,
        failures=standings.failure_lines(), cross=_cross(standings), pairs=pairs, data=_for_script(data), script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=Markup(_asset("tournament.css") + dark_rules()),
        left_out=f"The last {left_out} games have no boards here, for the page would be too large; results.jsonl has their moves."
        if left_out else "",
    ) + "\n"  # fmt: skip


def _asset(name: str) -> str:
    return files("azlab.show").joinpath("widgets", name).read_text(encoding="utf-8")


def _for_script(data: Any) -> Markup:
    """JSON that cannot end the block it stands in, whatever texts it holds."""
    text = json.dumps(data, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _cross(standings: Standings) -> list[dict[str, Any]]:
    found = []
    for i, row in enumerate(standings.rows):
        cells = []
        for j, other in enumerate(standings.rows):
            met = row.against.get(other.name)
            if row is other or met is None:
                cells.append({"text": "·" if row is other else "-", "pair": ""})
            else:
                cells.append({"text": str(met), "pair": _pair_id(i, j)})
        found.append({"name": row.name, "cells": cells})
    return found


def _pair_id(i: int, j: int) -> str:
    return f"pair-{min(i, j) + 1}-{max(i, j) + 1}"


def _pairs(standings: Standings, boards: Boards, games: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those who have met, with their games; what the script needs of each game is added to `games`."""
    met: dict[frozenset[str], list[Played]] = {}
    for played in standings.games:
        met.setdefault(frozenset(played.players), []).append(played)
    found = []
    for (i, row), (j, other) in itertools.combinations(enumerate(standings.rows), 2):
        theirs = met.get(frozenset((row.name, other.name)), [])
        if theirs:
            listed = [_listed(standings.rules, played, boards, games) for played in theirs]
            total = row.against.get(other.name, Tally(0, 0, 0))
            found.append({"id": _pair_id(i, j), "names": (row.name, other.name), "text": str(total), "games": listed})
    return found


def _listed(rules: Game, played: Played, boards: Boards, games: list[dict[str, Any]]) -> dict[str, Any]:
    (first, second), seats = played.players, rules.seats
    title = f"{first} ({seats[0]}) against {second} ({seats[1]})"
    end = {1: f"{first} won", 0: "Draw", -1: f"{second} won"}[played.result]
    reason = ""
    if played.forfeit:
        reason = f"{played.forfeit.player} lost without playing on ({played.forfeit.kind}): {played.forfeit.reason.rstrip('.')}."
    number = None
    if boards.count < MOST_NUMBERS:
        number = len(games)
        steps, movers = boards.steps(rules, played)
        games.append({
            "title": title, "players": [first, second], "moves": list(played.moves), "given": played.given, "movers": movers,
            "steps": steps, "end": f"{end}. {reason}".strip(),
        })  # fmt: skip
    return {"number": number, "text": f"{title}: {end}, {len(played.moves)} moves", "reason": reason}
