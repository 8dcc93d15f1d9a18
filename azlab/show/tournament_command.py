"""What `azlab tournament` does and prints."""

import argparse
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

from azlab.arena.contestants import contestants
from azlab.arena.standings import cannot_start, standings
from azlab.arena.tournament import PRINTED, Limits, News, Tournament
from azlab.arena.tournament_file import Known
from azlab.endings import STOPPED
from azlab.files import write_aside
from azlab.games import game
from azlab.show.tournament_page import page

PAGE = "index.html"


def run(args: argparse.Namespace) -> int:
    """Play, or list, the tournament of a folder; exit code 0 when it is finished."""
    rules = game(args.game, **dict(args.options))
    players = contestants(args.folder, args.agents or ())
    folder = Path(args.out) if args.out else Path("runs") / f"tournament_{Path(args.folder).resolve().name}"
    limits = Limits(args.seconds, args.start_seconds, args.memory)
    tournament = Tournament(players, rules, args.game, folder, args.games, args.seed, limits, args.openings)
    if args.list:
        _list(tournament)
        return 0
    if sys.platform != "linux":
        print("The memory of players is not limited on this system (docs/tournament.md).", file=sys.stderr)
    stopped, dropped = False, 0
    with Watching() as watching:
        try:
            dropped = tournament.run(args.processes, args.again or (), watching)
        except KeyboardInterrupt:
            stopped = True
    found = standings(tournament)
    text = page(found)
    write_aside(folder / PAGE, lambda aside: aside.write_text(text, encoding="utf-8"))
    if dropped:
        print(f"Of players that have changed or were to play again, {_games(dropped)} were played anew.")
    if damaged := tournament.results.damaged:
        print(f"{_lines(damaged)} of {tournament.results.path} could not be read; what they held was played anew.")
    print(found)
    print(f"The page with all games is {folder / PAGE}, the games are in {tournament.results.path}.")
    if (folder / PRINTED).is_dir():
        print(f"What players printed, and where they failed, is in {folder / PRINTED}.")
    if stopped:
        print("Stopped. Finished games are kept; the same command goes on from there.", file=sys.stderr)
    return STOPPED if stopped else 0


class Watching:
    """Shows how far the tournament is, and says once of each player how it fails."""

    def __init__(self) -> None:
        self._bar: Any = tqdm(unit="game", disable=None)
        self._said: set[tuple[str, str]] = set()

    def __enter__(self) -> "Watching":
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def __call__(self, news: News) -> None:
        if not self._bar.disable:
            self._bar.total = news.total
            self._bar.update(news.done - self._bar.n)
        if isinstance(news.what, Known):
            if news.what.fault:
                self._say(news.what.name, "", cannot_start(news.what.fault))
        elif lost := news.what.forfeit:
            self._say(lost.player, lost.kind, f"{lost.player} loses a game ({lost.kind}): {lost.reason.rstrip('.')}.")

    def _say(self, player: str, kind: str, sentence: str) -> None:
        if (player, kind) not in self._said and (player, "") not in self._said:
            self._said.add((player, kind))
            self._bar.write(sentence, file=sys.stderr)


def _list(tournament: Tournament) -> None:
    """Who plays, and how much is done."""
    tournament.results.forget(tournament.players)
    done = tournament.finished()
    for one in tournament.players:
        mine = sum(one.name in played.players for played in done)
        fault = tournament.fault(one.name)
        words = f"cannot start: {fault.reason}" if fault else "an agent of azlab's own" if not one.path else Path(one.path).name
        print(f"{one.name}: {mine} of {tournament.games * (len(tournament.players) - 1)} games, {words}")
    words = f"{len(tournament.players)} players, {len(done)} games done, {len(tournament.missing())} to do"
    print(f"{tournament.rules.name}: {words}, in {tournament.folder}.")


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count} games"


def _lines(count: int) -> str:
    return "A line" if count == 1 else f"{count} lines"
