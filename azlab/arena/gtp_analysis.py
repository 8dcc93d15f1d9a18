"""The commands by which programs for Go watch an agent think: those of Leela Zero, KataGo, Sabaki and CGOS, and GoGui's.

An analysis runs until any input ends it; `genmove_analyze` plays like `genmove` and tells on the way what it thinks.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from azlab.arena import gtp_reports as reports
from azlab.arena.agents import Evaluates, thinking
from azlab.arena.thinking import SLICE, Thinking
from azlab.errors import AzlabError
from azlab.formats import gtp_words
from azlab.formats.gtp import vertex
from azlab.formats.gtp_server import Handler, IsStopped, Lines, Say
from azlab.games.game import Position
from azlab.search.analysis import Analysis

if TYPE_CHECKING:
    from azlab.arena.gtp_engine import Engine

INTERVAL = 50  # hundredths of a second between two lines, where nothing else is said
FIRST_MOVES = 100  # that a line tells at most
_TICK = 0.01  # seconds between looks at whether someone wants an end of an analysis that has thought to its end

GOGUI_COMMANDS = {
    "azlab-shares": "dboard/Visits of the search/azlab-shares",
    "azlab-values": "dboard/Values of the moves/azlab-values",
    "azlab-priors": "dboard/Priors of the moves/azlab-priors",
    "azlab-ownership": "dboard/Owners after random games/azlab-ownership",
    "azlab-line": "gfx/Expected moves/azlab-line",
}


@dataclass
class Wanted:
    """What the words of an analysis command ask for."""

    seat: int
    interval: float  # seconds
    most: int = FIRST_MOVES  # moves in a line
    has_root: bool = False
    has_ownership: bool = False


class AnalysisCommands:
    """What an engine tells of its thoughts."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._last: tuple[Position, Thinking] | None = None

    def commands(self) -> dict[str, Handler]:
        """The commands of this file."""
        return {
            "analyze": lambda words: self._analyze(words, _leela_zero),
            "lz-analyze": lambda words: self._analyze(words, _leela_zero),
            "kata-analyze": lambda words: self._analyze(words, _katago),
            "genmove_analyze": lambda words: self._genmove_analyze(words, _leela_zero),
            "lz-genmove_analyze": lambda words: self._genmove_analyze(words, _leela_zero),
            "kata-genmove_analyze": lambda words: self._genmove_analyze(words, _katago),
            "cgos-genmove_analyze": lambda words: self._genmove_analyze(words, None),
            "kata-raw-nn": self._raw_nn,
            "gogui-analyze_commands": lambda words: "\n".join(GOGUI_COMMANDS.values()),
            "azlab-shares": lambda words: self._table(lambda found: found.visits / max(1, found.visits.max())),
            "azlab-values": lambda words: self._table(lambda found: found.values * (1 - 2 * found.position.to_move)),
            "azlab-priors": lambda words: self._table(lambda found: found.priors),
            "azlab-ownership": lambda words: reports.table(reports.ownership(self._position())),
            "azlab-line": self._line,
        }

    # --- until any input ----------------------------------------------------------------------------------------

    def _analyze(self, words: list[str], text: Callable[[Thinking, Wanted], str]) -> Lines:
        wanted, engine = self._wanted(words), self._engine
        position = engine.board.for_seat(wanted.seat)

        def run(say: Say, is_stopped: IsStopped) -> None:
            with engine.mind:
                if is_stopped():
                    return
                mind, goes_on = thinking(engine.agent, position, endless=True), True
                due = time.monotonic() + wanted.interval
                while not is_stopped():
                    if goes_on:
                        goes_on = mind.step(SLICE)
                        due = due if goes_on else time.monotonic()  # it will not get better: say it now
                    else:
                        time.sleep(_TICK)
                    if time.monotonic() >= due:
                        say(text(mind, wanted))
                        due = time.monotonic() + wanted.interval

        return Lines(run, until_input=True)

    def _genmove_analyze(self, words: list[str], text: Callable[[Thinking, Wanted], str] | None) -> Lines:
        wanted, engine = self._wanted(words), self._engine

        def run(say: Say, is_stopped: IsStopped) -> None:
            minds: list[Thinking] = []
            due = time.monotonic() + wanted.interval

            def watch(mind: Thinking) -> None:
                nonlocal due
                minds[:] = [mind]
                if text is not None and time.monotonic() >= due:
                    say(text(mind, wanted))
                    due = time.monotonic() + wanted.interval

            action = engine.decide(wanted.seat, watch)
            if minds:
                say(_cgos(minds[0], wanted) if text is None else text(minds[0], wanted))
            engine.board.play(wanted.seat, action)
            say(f"play {vertex(action, engine.board.size)}")

        return Lines(run, until_input=False)

    def _wanted(self, words: list[str]) -> Wanted:
        """[colour] [interval] [name value ...], as the programs write them."""
        wanted, rest = Wanted(self._engine.board.position.to_move, INTERVAL / 100), list(words)
        if rest and rest[0].lower() in gtp_words.SEATS:
            wanted.seat = gtp_words.seat(rest)
            rest.pop(0)
        if rest and rest[0][:1].isdigit():
            rest.insert(0, "interval")
        while rest:
            name = rest.pop(0)
            if name in ("avoid", "allow"):
                raise AzlabError("azlab looks at all moves: avoid and allow are not possible")
            if name == "interval":
                wanted.interval = max(1, gtp_words.whole(rest, 0, "an interval in hundredths of a second")) / 100
            elif name == "maxmoves":
                wanted.most = max(1, gtp_words.whole(rest, 0, "a number of moves"))
            elif name in ("rootInfo", "ownership"):
                is_on = gtp_words.word(rest, 0, "true or false").lower() == "true"
                setattr(wanted, {"rootInfo": "has_root", "ownership": "has_ownership"}[name], is_on)
            elif name not in ("minmoves", "movesOwnership", "ownershipStdev", "pvVisits", "pvEdgeVisits", "noResultValue"):
                raise AzlabError(f"syntax error: an analysis has no setting {name[:40]!r}")
            else:
                gtp_words.word(rest, 0, f"the value of {name}")  # known to KataGo, nothing to us
            rest.pop(0)
        return wanted

    # --- for a network, and for GoGui -----------------------------------------------------------------------------

    def _raw_nn(self, words: list[str]) -> str:
        """What the network says of the position, without any search, in the words of KataGo."""
        agent, position, size = self._engine.agent, self._position(), self._engine.board.size
        if not isinstance(agent, Evaluates) or agent.evaluator is None:
            raise AzlabError(f"{agent.name} has no network")
        with self._engine.mind:
            state = position.state
            priors, values = agent.evaluator.evaluate(state, position.game.legal_mask(state))[:2]
        white = reports.winrate(float(values[0]), 1)
        head = f"symmetry 0\nwhiteWin {white:.6f}\nwhiteLoss {1 - white:.6f}\npolicy"
        return f"{head}\n{reports.table(reports.per_point(priors[0], size))}\npolicyPass {float(priors[0][-1]):.6f}"

    def _position(self) -> Position:
        board = self._engine.board
        return board.for_seat(board.position.to_move)

    def _searched(self) -> Thinking:
        """The agent's own search of the position, made once."""
        position = self._position()
        if self._last is None or self._last[0] != position:
            with self._engine.mind:
                mind = thinking(self._engine.agent, position)
                while mind.step() and not self._engine.is_interrupted():
                    pass
                mind.analysis()
            self._last = position, mind
        return self._last[1]

    def _table(self, numbers: Callable[[Analysis], np.ndarray]) -> str:
        return reports.table(reports.per_point(numbers(self._searched().analysis()), self._engine.board.size))

    def _line(self, words: list[str]) -> str:
        mind = self._searched()
        return reports.principal_line(mind, mind.analysis())


def _leela_zero(mind: Thinking, wanted: Wanted) -> str:
    return reports.leela_zero(reports.rows(mind, mind.analysis(), wanted.most))


def _katago(mind: Thinking, wanted: Wanted) -> str:
    found = mind.analysis()
    parts = [reports.katago(reports.rows(mind, found, wanted.most))]
    if wanted.has_root:
        parts.append(reports.katago_root(found))
    if wanted.has_ownership:
        owners = reports.ownership(found.position) * (1 - 2 * wanted.seat)
        parts.append("ownership " + " ".join(f"{owner:.3f}" for owner in owners.ravel()))
    return " ".join(parts)


def _cgos(mind: Thinking, wanted: Wanted) -> str:
    found = mind.analysis()
    return reports.cgos(found, reports.rows(mind, found, 10))
