"""How a tournament stands: points, ratings with intervals, everyone against everyone, and who lost games without playing on.

Players are ordered by points a game. Ratings are those of `azlab.arena.elo.fit`, from games that were begun: a win against
somebody who cannot start is a point and says nothing of strength.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from azlab.arena.elo import Estimate, fit
from azlab.arena.results import Tally, tally, text_table
from azlab.arena.student import KINDS, START
from azlab.arena.tournament import Tournament
from azlab.arena.tournament_file import Failure, Played
from azlab.errors import AzlabError
from azlab.games.game import Game

NOTE = (
    "Wins-draws-losses are those of the player at the left; ratings are relative to a mean of 1600, and leave out games of "
    "players who could not start"
)


NO_GAMES = Tally(0, 0, 0)


@dataclass
class Standing:
    """One player's."""

    name: str
    shown: str = ""
    fault: Failure | None = None
    rating: Estimate | None = None
    total: Tally = NO_GAMES
    against: dict[str, Tally] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)  # one for each game lost so

    @property
    def label(self) -> str:
        """The name that the player gives itself beside that of its file, which nobody else has."""
        return f"{self.shown} ({self.name})" if self.shown and self.shown != self.name else self.name

    @property
    def rating_text(self) -> str:
        return f"{self.rating.value:.0f}" if self.rating else "-"

    @property
    def interval_text(self) -> str:
        return f"{self.rating.low:.0f} to {self.rating.high:.0f}" if self.rating else "-"

    @property
    def failures_text(self) -> str:
        """How many games were lost for which reason: "too slow 2, crash 1"."""
        counts = Counter(failure.kind for failure in self.failures)
        return ", ".join(f"{kind} {counts[kind]}" for kind in KINDS if counts[kind])


@dataclass(frozen=True)
class Standings:
    """All players', the best first."""

    rows: list[Standing]
    games: list[Played]
    planned: int
    rules: Game
    seed: int
    folder: Path

    @property
    def headline(self) -> str:
        played = f"{len(self.games)}" if len(self.games) == self.planned else f"{len(self.games)} of {self.planned}"
        return f"{self.rules.name}: {len(self.rows)} players, {played} games, seed {self.seed}"

    def ranking_cells(self) -> list[list[str]]:
        """A row of texts for each player, below a heading."""
        rows = [["", "rating", "95% interval", "points", "games", "lost without playing on"]]
        for number, row in enumerate(self.rows, 1):
            points, games = f"{row.total.points:g}", str(row.total.games)
            rows.append([f"{number}. {row.label}", row.rating_text, row.interval_text, points, games, row.failures_text])
        return rows

    def cross_cells(self) -> list[list[str]]:
        """Everyone against everyone; players at the top are numbered, because names are long."""
        rows = [["", *(f"{number}." for number in range(1, len(self.rows) + 1))]]
        for number, row in enumerate(self.rows, 1):
            cells = ["·" if row is other else str(row.against.get(other.name, NO_GAMES)) for other in self.rows]
            rows.append([f"{number}. {row.name}", *cells])
        return rows

    def failure_lines(self) -> list[str]:
        """A sentence on every player and kind of failure, with the first reason."""
        lines = []
        for row in self.rows:
            if row.fault:
                lines.append(cannot_start(row.fault))
                continue
            for kind in KINDS:
                reasons = [failure.reason for failure in row.failures if failure.kind == kind]
                if reasons:
                    games = "1 game" if len(reasons) == 1 else f"{len(reasons)} games, the first"
                    lines.append(f"{row.name} lost {games} ({kind}): {reasons[0].rstrip('.')}.")
        return lines

    def __str__(self) -> str:
        tables = [self.headline, text_table(self.ranking_cells()), "", text_table(self.cross_cells()), NOTE]
        failures = self.failure_lines()
        return "\n".join([*tables, *(["", *failures] if failures else [])])


def cannot_start(fault: Failure) -> str:
    """The sentence on a player that cannot play."""
    return f"{fault.player} cannot start and forfeits all games: {fault.reason.rstrip('.')}."


def standings(tournament: Tournament) -> Standings:
    """How the tournament stands."""
    games = tournament.finished()
    rows = {one.name: Standing(one.name, tournament.shown(one.name), tournament.fault(one.name)) for one in tournament.players}
    results: dict[tuple[str, str], list[int]] = {}
    for played in games:
        first, second = played.players
        results.setdefault((first, second), []).append(played.result)
        results.setdefault((second, first), []).append(-played.result)
        if played.forfeit:
            rows[played.forfeit.player].failures.append(played.forfeit)
    ratings = _ratings(games)
    for name, row in rows.items():
        row.against = {other: tally(found) for (one, other), found in results.items() if one == name}
        row.total = tally(result for (one, _), found in results.items() if one == name for result in found)
        row.rating = ratings.get(name)
    ordered = sorted(rows.values(), key=_order)
    return Standings(ordered, games, len(games) + len(tournament.missing()), tournament.rules, tournament.seed, tournament.folder)


def _order(row: Standing) -> tuple[float, float, str]:
    score = row.total.score if row.total.games else -1.0
    return -score, -row.rating.value if row.rating else math.inf, row.name


def _ratings(games: Sequence[Played]) -> dict[str, Estimate]:
    """Ratings by name; none while there are groups of players who have not met."""
    begun = [played for played in games if played.forfeit is None or played.forfeit.kind != START]
    try:
        found = fit([(*played.players, (played.result + 1) / 2) for played in begun])
    except AzlabError:
        return {}
    return {player.name: player for player in found.players}
