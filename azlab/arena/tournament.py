"""Round robins of players that nobody has checked: students' files, each game of each in a process of its own.

Everyone meets everyone from the same seeded openings, in both seats. A player that crashes, is too slow, takes too much memory
or makes an illegal move loses that game, with a reason; one that cannot start loses all. This process alone writes the results,
after every game, and plays what is not there yet; so a tournament goes on after any end, and a changed file is played anew while
the other games are kept. What a player draws at random depends on the seed and the game alone, not on who plays when.
"""

import hashlib
import itertools
import json
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azlab.arena.contestants import Contestant
from azlab.arena.match import random_openings
from azlab.arena.student import ILLEGAL, Job, one_line
from azlab.arena.student_process import Forfeit, PlayerProcess
from azlab.arena.student_warm import SEARCHES, warm_up
from azlab.arena.tournament_file import Failure, Key, Known, Played, ResultsFile
from azlab.errors import AzlabError, IllegalMove, finite_number, whole_number
from azlab.files import locked, make_folder
from azlab.games.game import Game
from azlab.machine import cores

RESULTS = "results.jsonl"
PRINTED, MOST_PRINTED = "printed", 1_000_000  # the folder of what players print, and the most bytes for each
LONGEST = 1_000_000  # seconds that can be asked for
LONGEST_WHY = 250  # letters of why a move is illegal


@dataclass(frozen=True)
class Limits:
    """What a student's player may take."""

    seconds: float = 5.0  # for a move
    start_seconds: float = 30.0  # for running its file
    memory: int = 2000  # MB, where the system counts them

    def __post_init__(self) -> None:
        for name, value in (("seconds", self.seconds), ("start seconds", self.start_seconds)):
            if not 0 < finite_number(name, value) <= LONGEST:
                raise AzlabError(f"The {name} must be more than 0 and at most {LONGEST:,}.")
        whole_number("memory", self.memory, 50, 10**7)


@dataclass(frozen=True)
class News:
    """What has happened: a player was looked at, or a game has ended."""

    what: Known | Played
    done: int  # games so far
    total: int


class Tournament:
    """A round robin in a folder. `named` is the game as the user named it, so that other processes find it too."""

    def __init__(
        self,
        players: Sequence[Contestant],
        rules: Game,
        named: str,
        folder: str | Path,
        games: int = 10,
        seed: int = 0,
        limits: Limits | None = None,
        openings: int | None = None,
    ) -> None:
        self.players, self.rules, self.named, self.folder = list(players), rules, named, Path(folder)
        self.limits = limits or Limits()
        self.games, self.seed = whole_number("games", games, 2, 10**6), whole_number("seed", seed, 0, 2**63)
        if games % 2:
            raise AzlabError(f"games must be even, since every opening is played from both seats; try {games + 1}.")
        self.openings = random_openings(rules, games // 2, openings, seed)
        self._settings = {"seed": seed, "openings": openings, **vars(self.limits)}
        self.results = self._read()
        self._by_name = {one.name: one for one in self.players}
        words = b" ".join([one.source or one.agent.encode() for one in self.players])
        self._searches = tuple(kind for kind in SEARCHES if kind.encode() in words)

    def _read(self) -> ResultsFile:
        return ResultsFile(self.folder / RESULTS, self.rules, self._settings)

    # --- what there is to do ------------------------------------------------------------------------------------------------

    def all_keys(self) -> list[Key]:
        """All games, by opening: so what is finished early says something about everyone."""
        pairs = list(itertools.combinations([one.name for one in self.players], 2))
        return [
            (number, *seats) for number in range(len(self.openings)) for pair in pairs for seats in (pair, (pair[1], pair[0]))
        ]

    def finished(self) -> list[Played]:
        """The games of this tournament that are finished, in their order."""
        return [self.results.games[key] for key in self.all_keys() if key in self.results.games]

    def missing(self) -> list[Key]:
        """The games that are not finished; two players who cannot start do not meet."""
        return [key for key in self.all_keys() if key not in self.results.games and not all(map(self.fault, key[1:]))]

    def fault(self, name: str) -> Failure | None:
        """Why a player cannot play, as far as is known."""
        known = self.results.players.get(name)
        return known.fault if known else None

    def shown(self, name: str) -> str:
        """The name that a player gives itself, if any."""
        known = self.results.players.get(name)
        return known.shown if known else ""

    # --- playing ------------------------------------------------------------------------------------------------------------

    def run(self, processes: int | None = None, again: Iterable[str] = (), report: Callable[[News], None] | None = None) -> int:
        """Play what is missing, so many games at once; returns how many old games had to be dropped.

        Ctrl-C and errors leave the finished games on disk.
        """
        at_once = whole_number("processes", cores() if processes is None else processes, 1, 1024)
        for name in again:
            if name not in self._by_name:
                raise AzlabError(f"There is no player {name!r}; the players are {', '.join(self._by_name)}.")
        with locked(make_folder(self.folder), f"Another tournament is being played in {self.folder}."):
            self.results = self._read()  # it may have grown since
            dropped = self.results.forget(self.players, again)
            self.results.write()
            tell = report or (lambda news: None)
            try:
                self._run(at_once, tell)
            finally:
                self.results.write()
        return dropped

    def _run(self, at_once: int, tell: Callable[[News], None]) -> None:
        if self.missing():
            warm_up(self.named, self.rules.options, self._searches)
        missing = self.missing()
        needed = {name for key in missing for name in key[1:]}
        unknown = [one for one in self.players if one.name in needed and one.name not in self.results.players]
        done, total = len(self.all_keys()) - len(missing), len(self.all_keys())
        for known, printed in _in_threads(at_once, self._looked_at, unknown):
            if known.fault and not self._by_name[known.name].path:
                raise AzlabError(f"{known.name} cannot play here: {known.fault.reason.rstrip('.')}.")
            self.results.add(known)
            self._keep_printed(printed, "the first start")
            tell(News(known, done, total))
        missing = self.missing()  # without those between two who cannot start
        done = total - len(missing)
        for played, printed in itertools.chain(self._not_played(missing), self._all_played(at_once, missing)):
            done += 1
            self.results.add(played)
            self._keep_printed(printed, f"opening {played.opening + 1}, {played.players[0]} against {played.players[1]}")
            tell(News(played, done, total))

    def _not_played(self, missing: Sequence[Key]) -> Iterator[tuple[Played, dict[str, str]]]:
        """The games of those who cannot start."""
        for key in missing:
            if loser := self.fault(key[1]) or self.fault(key[2]):
                yield self._lost(key, self.openings[key[0]].moves, loser), {}

    def _all_played(self, at_once: int, missing: Sequence[Key]) -> Iterator[tuple[Played, dict[str, str]]]:
        return _in_threads(at_once, self._play, [key for key in missing if not any(map(self.fault, key[1:]))])

    def _job(self, name: str, seed: int) -> Job:
        one = self._by_name[name]
        return Job(
            self.named, self.rules.options, one.agent or one.name, one.path, one.source, seed, self.limits.seconds,
            self.limits.start_seconds, self.limits.memory if one.source is not None else None, self._searches,
        )  # fmt: skip

    def _seed(self, *words: Any) -> int:
        digest = hashlib.sha256(json.dumps([self.seed, *words]).encode()).digest()
        return int.from_bytes(digest[:4])

    def _looked_at(self, one: Contestant, live: "_Live") -> tuple[Known, dict[str, str]]:
        """Start a player once, before any game; what is known then, and what it printed."""
        with live.process(self._job(one.name, self._seed(one.name))) as process:
            try:
                known = Known(one.name, one.digest, process.start())
            except Forfeit as failure:
                known = Known(one.name, one.digest, "", Failure(one.name, failure.kind, failure.reason))
        return known, {one.name: process.printed} if one.path else {}

    def _play(self, key: Key, live: "_Live") -> tuple[Played, dict[str, str]]:
        """Play one game; the game, and what the students' players printed."""
        number, *names = key
        position = self.openings[number]
        jobs = [self._job(name, self._seed(number, *names, seat)) for seat, name in enumerate(names)]
        failure = None
        with live.process(jobs[0]) as first, live.process(jobs[1]) as second:
            seat, processes = 0, (first, second)
            try:
                for seat in (0, 1):
                    processes[seat].start()
                while not position.over:
                    seat = position.to_move
                    move = processes[seat].ask(position.actions)
                    try:
                        position = position.play(move)
                    except IllegalMove as error:
                        after = " ".join(position.moves[-6:]) or "the start"
                        raise Forfeit(ILLEGAL, one_line(f"{move!r} after {after}: {error}", LONGEST_WHY)) from None
            except Forfeit as forfeit:
                failure = Failure(names[seat], forfeit.kind, forfeit.reason)
        printed = {name: process.printed for name, process in zip(names, processes) if self._by_name[name].path}
        if failure is not None:
            return self._lost(key, position.moves, failure), printed
        assert position.result is not None
        return Played(number, key[1:], self._digests(key), self._given(key), tuple(position.moves), position.result), printed

    def _digests(self, key: Key) -> tuple[str, str]:
        return self._by_name[key[1]].digest, self._by_name[key[2]].digest

    def _given(self, key: Key) -> int:
        return len(self.openings[key[0]].actions)

    def _lost(self, key: Key, moves: Sequence[str], failure: Failure) -> Played:
        result = -1 if failure.player == key[1] else 1
        return Played(key[0], key[1:], self._digests(key), self._given(key), tuple(moves), result, failure)

    def _keep_printed(self, printed: dict[str, str], when: str) -> None:
        """Add what players printed to their files, for their students to read, until these are full."""
        for name, text in printed.items():
            file = self.folder / PRINTED / f"{Path(self._by_name[name].path).stem}.txt"
            if text.strip() and (not file.exists() or file.stat().st_size < MOST_PRINTED):
                make_folder(file.parent)
                with file.open("a", encoding="utf-8", errors="replace") as stream:
                    stream.write(f"--- {when}\n{text.rstrip()}\n")


# --- threads: each plays one game after another, the first thread writes ------------------------------------------------------


class _Live:
    """The processes that are running, so that all can be ended at once."""

    def __init__(self) -> None:
        self._processes: set[PlayerProcess] = set()
        self._lock = threading.Lock()
        self.stopped = threading.Event()

    @contextmanager
    def process(self, job: Job) -> Iterator[PlayerProcess]:
        process = PlayerProcess(job)
        with self._lock:
            self._processes.add(process)
            if self.stopped.is_set():
                process.kill()
        try:
            yield process
        finally:
            process.end()
            with self._lock:
                self._processes.discard(process)

    def stop(self) -> None:
        """Let no new work begin, and end what is running: the threads that wait for it go on to their ends."""
        self.stopped.set()
        with self._lock:
            for process in self._processes:
                process.kill()


def _in_threads(at_once: int, work: Callable[[Any, _Live], Any], items: Iterable[Any]) -> Iterator[Any]:
    """work(item, live) of every item, so many at once; the outcomes as they come, an error of any of them as an error here."""
    todo, done, live = queue.SimpleQueue[Any](), queue.SimpleQueue[tuple[Any, BaseException | None]](), _Live()
    count = 0
    for count, item in enumerate(items, 1):  # noqa: B007
        todo.put(item)

    def worker() -> None:
        while not live.stopped.is_set():
            try:
                item = todo.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((work(item, live), None))
            except BaseException as error:
                done.put((None, error))

    threads = [threading.Thread(target=worker, name="azlab tournament", daemon=True) for _ in range(min(at_once, count))]
    try:
        for thread in threads:
            thread.start()
        for _ in range(count):
            outcome, error = _next(done)
            if error is not None:
                raise error
            yield outcome
    finally:
        live.stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _next(done: "queue.SimpleQueue[tuple[Any, BaseException | None]]") -> tuple[Any, BaseException | None]:
    while True:
        try:
            return done.get(timeout=0.5)  # without a limit, Ctrl-C would not be heard on Windows
        except queue.Empty:
            pass
