"""What a match leaves behind: every game, the count of wins, draws and losses, and how sure the score is.

`azlab.arena.match` makes these; they can be printed, shown in a notebook, replayed, and kept in a file of JSON lines.
"""

import functools
import html
import itertools
import json
import math
import operator
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from azlab.arena.saved import because, entry, rules_of, start_of, text, texts, two_names
from azlab.errors import AzlabError, one_of, whole_number
from azlab.files import write_aside
from azlab.games.game import Game, Position
from azlab.intact import parsed

Z95 = 1.959963984540054  # 95% of a normal distribution lies within this many standard errors


class Tally(NamedTuple):
    """Wins, draws and losses from one player's side."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return sum(self)

    @property
    def points(self) -> float:
        """A win is one point, a draw half a point."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """Points a game; not a number when there was no game."""
        return self.points / self.games if self.games else math.nan

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"


def tally(results: Iterable[int]) -> Tally:
    """Count results +1, 0, -1 as wins, draws, losses."""
    counted = list(results)
    return Tally(counted.count(1), counted.count(0), counted.count(-1))


def score_interval(groups: Iterable[Sequence[float]]) -> tuple[float, float]:
    """The 95% interval of the mean score, from groups of games (scores 1, 0.5, 0) that depend on each other.

    The two games of a pair share their opening, so they are not independent: an opening that is good for one seat
    gives each player one win. The pair is the unit, and the spread between pairs is what counts. As Agresti and Coull
    (1998) do for a proportion, z²/2 = 1.92 pairs won twice and 1.92 pairs lost twice are added before the mean and its
    standard error are taken. So the interval has a width when all games end alike, errs on the wide side for a few games,
    and is 0 to 1 without any. If every pair is won twice or lost twice it is the interval of Agresti and Coull.
    """
    sums = [(sum(group), len(group)) for group in groups]
    weight = Z95**2 / 2  # the number of added pairs on each side
    games = sum(count for _, count in sums) + 4 * weight
    mean = (sum(points for points, _ in sums) + 2 * weight) / games
    # A group's deviation is `points - mean * count`, so that a pair cut short by Ctrl-C weighs as the one game it is.
    squares = sum((points - mean * count) ** 2 for points, count in sums)
    squares += weight * ((2 - 2 * mean) ** 2 + (2 * mean) ** 2)
    half = Z95 * math.sqrt(squares) / games
    return max(0.0, mean - half), min(1.0, mean + half)


@dataclass(frozen=True)
class GameRecord:
    """One finished game, with all that is needed to replay it."""

    game: Game = field(repr=False)
    players: tuple[str, str]  # who sat in seat 0 and seat 1
    moves: tuple[str, ...]  # all moves by name, the opening's first
    opening: int  # how many of the moves were given by the opening
    result: int  # for seat 0: +1 won, 0 drawn, -1 lost
    pair: int  # the two games of one opening have the same number
    start: str | None = None  # the state before the moves in hexadecimal, if it was not the game's own start

    @property
    def first_score(self) -> float:
        """The score of the player in seat 0: 1, 0.5 or 0."""
        return (self.result + 1) / 2

    @property
    def winner(self) -> str | None:
        """The name of who won; None for a draw."""
        return {1: self.players[0], -1: self.players[1]}.get(self.result)

    def result_for(self, name: str) -> int:
        """+1, 0 or -1 from the side of the player called `name`."""
        return self.result if self.players[0] == name else -self.result

    @property
    def positions(self) -> list[Position]:
        """All positions of the game, replayed by the rules."""
        return list(itertools.accumulate(self.moves, Position.play, initial=start_of(self.game, self.start)))

    @property
    def final(self) -> Position:
        """The position in which the game ended."""
        return self.positions[-1]


@dataclass(frozen=True)
class MatchResult:
    """The games of a match between two players, `names[0]` and `names[1]`; all counts are from the side of `names[0]`."""

    game: Game
    names: tuple[str, str]
    records: tuple[GameRecord, ...] = field(repr=False)
    planned: int  # how many games were asked for
    seed: int  # of the random openings
    openings: str  # in words, where the openings came from

    @property
    def complete(self) -> bool:
        """False when the match was stopped early."""
        return len(self.records) == self.planned

    @functools.cached_property
    def total(self) -> Tally:
        return tally(record.result_for(self.names[0]) for record in self.records)

    @property
    def wins(self) -> int:
        return self.total.wins

    @property
    def draws(self) -> int:
        return self.total.draws

    @property
    def losses(self) -> int:
        return self.total.losses

    @property
    def score(self) -> float:
        """Points a game of the first named player: a win 1, a draw 0.5."""
        return self.total.score

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of `score`; see `score_interval`."""
        pairs: dict[int, list[float]] = {}
        for record in self.records:
            pairs.setdefault(record.pair, []).append((record.result_for(self.names[0]) + 1) / 2)
        return score_interval(pairs.values())

    @functools.cached_property
    def by_seat(self) -> tuple[Tally, Tally]:
        """The counts of the games that the first named player played in seat 0, and in seat 1."""
        me = self.names[0]
        return (
            tally(record.result for record in self.records if record.players[0] == me),
            tally(-record.result for record in self.records if record.players[1] == me),
        )

    @property
    def first_seat(self) -> Tally:
        """The counts of seat 0, whoever sat there: what moving first is worth."""
        return tally(record.result for record in self.records)

    @functools.cached_property
    def distinct(self) -> int:
        """How many different games there are: different moves or a different start, whoever sat where."""
        return len({(record.start, record.moves) for record in self.records})

    def save(self, path: str | os.PathLike) -> None:
        """Write the match as JSON lines: one line on the match, then one line a game."""
        _write(path, [self])

    @classmethod
    def load(cls, path: str | os.PathLike, game: Game | None = None) -> "MatchResult":
        """Read what `save` wrote; every game is replayed by the rules. `game` is needed for a game azlab does not name."""
        matches, _ = _read(path, game)
        if len(matches) != 1:
            raise AzlabError(f"{path} holds {len(matches)} matches, not one; read it with Crosstable.load.")
        return matches[0]

    @property
    def headline(self) -> str:
        played = f"{len(self.records)}" if self.complete else f"stopped after {len(self.records)} of {self.planned}"
        return f"{self.game.name}: {self.names[0]} against {self.names[1]}, {played} games, {self.openings}"

    def _cells(self) -> list[list[str]]:
        rows = [["", "wins", "draws", "losses", "score", "95% interval"]]
        for seat, count in zip(self.game.seats, self.by_seat):
            rows.append([f"{self.names[0]} as {seat}", *map(str, count), _number(count.score), ""])
        low, high = self.interval
        rows.append(["all games", *map(str, self.total), _number(self.score), f"{low:.3f} to {high:.3f}"])
        return rows

    @property
    def _footnote(self) -> str:
        return f"{self.distinct} of {len(self.records)} games are distinct"

    def __str__(self) -> str:
        return f"{self.headline}\n{text_table(self._cells())}\n{self._footnote}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self.headline, self._footnote)


@dataclass(frozen=True)
class Crosstable:
    """A round robin: everyone against everyone."""

    game: Game
    names: tuple[str, ...]
    matches: tuple[MatchResult, ...] = field(repr=False)
    planned: int  # how many matches were asked for

    @property
    def complete(self) -> bool:
        """False when the round robin was stopped early."""
        return len(self.matches) == self.planned and all(played.complete for played in self.matches)

    @property
    def records(self) -> tuple[GameRecord, ...]:
        """All games."""
        return tuple(record for played in self.matches for record in played.records)

    @functools.cached_property
    def _tallies(self) -> dict[tuple[str, str], Tally]:
        found = {}
        for played in self.matches:
            one, other = played.names
            found[one, other] = played.total
            found[other, one] = Tally(*reversed(played.total))
        return found

    def between(self, name: str, opponent: str) -> Tally:
        """Wins, draws and losses of `name` against `opponent`."""
        for asked in (name, opponent):
            if asked not in self.names:
                raise AzlabError(f"{asked!r} did not play; the players are {', '.join(self.names)}.")
        return self._tallies.get((name, opponent), Tally(0, 0, 0))

    @property
    def totals(self) -> dict[str, Tally]:
        """Wins, draws and losses of each player over all games, the best score first."""
        sums = {
            name: Tally(*(sum(column) for column in zip(*(self.between(name, other) for other in self.names))))
            for name in self.names
        }
        return dict(sorted(sums.items(), key=lambda item: -item[1].score if item[1].games else math.inf))

    @property
    def scores(self) -> dict[str, float]:
        """Points a game of each player, the best first."""
        return {name: count.score for name, count in self.totals.items()}

    def save(self, path: str | os.PathLike) -> None:
        """Write all matches as JSON lines."""
        _write(path, self.matches, {"players": list(self.names), "matches": self.planned})

    @classmethod
    def load(cls, path: str | os.PathLike, game: Game | None = None) -> "Crosstable":
        """Read what `save` wrote; every game is replayed by the rules."""
        matches, head = _read(path, game)
        played = tuple(dict.fromkeys(name for one in matches for name in one.names))
        try:
            names = texts(head, "players") if "players" in head else played
            planned = whole_number("'matches'", head.get("matches", len(matches)), len(matches), 10**6)
        except AzlabError as error:
            raise AzlabError(f"The first line of {path} does not describe a round robin ({because(error)}).") from None
        if len(set(names)) < len(names) or not set(played) <= set(names) or any(one.game != matches[0].game for one in matches):
            raise AzlabError(f"The matches in {path} are not of one game between the players that its first line names.")
        return cls(matches[0].game, names, tuple(matches), planned)

    @property
    def headline(self) -> str:
        stopped = "" if self.complete else ", stopped early"
        return f"{self.game.name}: {len(self.names)} players, {len(self.records)} games{stopped}"

    def _cells(self) -> list[list[str]]:
        totals = self.totals
        rows = [["", *totals, "points", "games", "score"]]
        for name, count in totals.items():
            cells = ["·" if name == other else str(self.between(name, other)) for other in totals]
            rows.append([name, *cells, f"{count.points:g}", str(count.games), _number(count.score)])
        return rows

    _footnote = "wins-draws-losses of the player at the left"

    def __str__(self) -> str:
        return f"{self.headline}\n{text_table(self._cells())}\n{self._footnote}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self.headline, self._footnote)


# ---------------------------------------------------------------------------------------------------------------------
# Tables: the first row is the heading, the first column is text, all else is flush right


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells for a terminal."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ("  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def html_table(rows: Sequence[Sequence[str]], headline: str, footnote: str = "") -> str:
    """The same rows for a notebook."""
    lines = ["<table>", f"<caption>{html.escape(headline)}</caption>"]
    for number, row in enumerate(rows):
        tags = ["th", *("td" if number else "th" for _ in row[1:])]
        lines.append("<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for tag, cell in zip(tags, row)) + "</tr>")
    return "\n".join([*lines, "</table>", *([f"<small>{html.escape(footnote)}</small>"] if footnote else [])])


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


# ---------------------------------------------------------------------------------------------------------------------
# Files: a line with the key "azlab" begins a match, the lines after it are its games

_FORMAT = "match 1"


def _write(path: str | os.PathLike, matches: Iterable[MatchResult], more: dict[str, Any] | None = None) -> None:
    lines = (line for played in matches for line in (_match_line(played) | (more or {}), *map(_game_line, played.records)))
    text = "".join(json.dumps(line) + "\n" for line in lines)
    write_aside(Path(path), lambda aside: aside.write_text(text, encoding="utf-8"))


def _match_line(played: MatchResult) -> dict[str, Any]:
    rules = {"azlab": _FORMAT, "game": played.game.spec, "options": played.game.options}
    return {**rules, "names": played.names, "planned": played.planned, "seed": played.seed, "openings": played.openings}


def _game_line(record: GameRecord) -> dict[str, Any]:
    line = {"pair": record.pair, "players": record.players, "result": record.result, "opening": record.opening}
    if record.start is not None:
        line["start"] = record.start
    return {**line, "moves": record.moves}


def _lines(path: str | os.PathLike) -> list[tuple[int, dict[str, Any]]]:
    try:
        content = Path(path).read_text(encoding="utf-8")
        found = [(number, parsed(line)) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
    except FileNotFoundError:
        raise AzlabError(f"There is no file {path}.") from None
    except OSError as error:
        raise AzlabError(f"{path} cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise AzlabError(f"{path} is not a file of JSON lines ({error}).") from None
    if not found or any(not isinstance(line, dict) for _, line in found) or found[0][1].get("azlab") != _FORMAT:
        raise AzlabError(f"{path} does not hold matches saved by this version of azlab.")
    return found


def _read(path: str | os.PathLike, game: Game | None) -> tuple[list[MatchResult], dict[str, Any]]:
    """The matches of a file, and the first line, which knows the players of a whole round robin."""
    lines = _lines(path)
    begins = [index for index, (_, line) in enumerate(lines) if "azlab" in line]
    matches = []
    for begin, end in zip(begins, [*begins[1:], len(lines)]):
        number, head = lines[begin]
        try:
            one_of("'azlab'", head["azlab"], (_FORMAT,))
            rules, names, openings = rules_of(head, game), two_names(head, "names"), text(head, "openings")
            planned = whole_number("'planned'", entry(head, "planned"), end - begin - 1, 10**9)
            seed = operator.index(entry(head, "seed"))
        except (AzlabError, TypeError) as error:
            raise AzlabError(f"Line {number} of {path} does not describe a match ({because(error)}).") from None
        records = [_record(rules, names, line, f"Line {number} of {path}") for number, line in lines[begin + 1 : end]]
        matches.append(MatchResult(rules, names, tuple(records), planned, seed, openings))
    return matches, lines[0][1]


def _record(game: Game, names: tuple[str, str], line: dict[str, Any], place: str) -> GameRecord:
    try:
        players, moves = two_names(line, "players"), texts(line, "moves")
        if sorted(players) != sorted(names):
            raise AzlabError(f"'players' are not {names[0]} and {names[1]}")
        opening = whole_number("'opening'", entry(line, "opening"), 0, len(moves))
        result, pair = entry(line, "result"), whole_number("'pair'", entry(line, "pair"), 0, 10**9)
        one_of("'result'", result, (-1, 0, 1))
        record = GameRecord(game, players, moves, opening, result, pair, line.get("start"))
        end = record.final.result
    except AzlabError as error:
        raise AzlabError(f"{place} is not a game of {game.name} ({because(error)}).") from None
    if end != result:
        raise AzlabError(f"{place} says that the game ended {result:+d}, but its moves end {end}.")
    return record
