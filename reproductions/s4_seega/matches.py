"""Long matches that go on after a kill: they are played in parts, and a finished part is kept in a file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from azlab.arena.match import match
from azlab.arena.results import GameRecord, Tally, score_interval, tally
from azlab.games.game import Game
from azlab.learning.parts import complete
from azlab.repro.record import write_json

PART = 100  # games of a part: minutes at most

Players = Callable[
    [int], tuple[Any, Any]
]  # seed -> two players, new ones for each part: what a part gives depends on its seed alone
Fact = Callable[[GameRecord], bool]  # something to be counted of finished games


def kept_match(
    file: Path,
    players: Players,
    games: int,
    game: Game,
    openings: int,
    seed: int,
    report: Callable[[int, int], None],
    fact: Fact | None = None,
) -> dict[str, Any]:
    """The results of the first player with a 95 % interval; `fact`, if given, adds the share of games in which it is true."""
    parts: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    while (done := sum(part["games"] for part in parts)) < games:
        number = len(parts)
        one, other = players(1000 * seed + number)
        told = lambda now, _, done=done: report(done + now, games)  # noqa: E731
        played = complete(match(one, other, min(PART, games - done), game, openings, 1000 * seed + number, told))
        pairs: dict[int, list[float]] = {}
        for record in played.records:
            pairs.setdefault(record.pair, []).append((record.result_for(played.names[0]) + 1) / 2)
        seats = [list(seat) for seat in played.by_seat]
        facts = sum(map(fact, played.records)) if fact else 0
        moves = sum(len(record.moves) - record.opening for record in played.records)
        row = {"names": list(played.names), "games": len(played.records), "pairs": list(pairs.values()), "seats": seats}
        parts.append({**row, "different": played.distinct, "moves": moves, "facts": facts})
        write_json(file, parts)
    return _summary(parts, fact is not None)


def _summary(parts: list[dict[str, Any]], has_fact: bool) -> dict[str, Any]:
    """All parts of a match as one."""
    pairs = [pair for part in parts for pair in part["pairs"]]
    results = tally(round(2 * score - 1) for pair in pairs for score in pair)
    seats = [Tally(*(sum(part["seats"][seat][k] for part in parts) for k in range(3))) for seat in (0, 1)]
    low, high = score_interval(pairs)
    found: dict[str, Any] = {"names": parts[0]["names"], "games": results.games, "result": str(results), "score": results.score}
    found |= {"low": low, "high": high, "first": str(seats[0]), "second": str(seats[1])}
    found |= {"different": sum(part["different"] for part in parts)}
    found |= {"moves a game": sum(part["moves"] for part in parts) / results.games}
    return found | ({"fact": sum(part["facts"] for part in parts) / results.games} if has_fact else {})
