"""Any agent as a Go engine: the commands of the Go Text Protocol, version 2, that Sabaki, GoGui, Lizzie, CGOS and KGS use.

    serve(agent("uct:10000"), {"size": 9, "komi": 7})       # what `azlab gtp uct:10000 size=9 komi=7` does

docs/gtp.md lists the commands. Here are those about the game; `gtp_analysis` has those that show what the agent thinks. The board
is counted as it stands, as in all our games of Go: area, and no stone is dead that is still there.
"""

import contextlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from azlab import __version__
from azlab.arena.agents import ThinksInSteps, close, ready, thinking
from azlab.arena.gtp_analysis import AnalysisCommands
from azlab.arena.gtp_board import MAX_SGF_BYTES, Board, Setup
from azlab.arena.gtp_clock import Clock
from azlab.arena.thinking import SLICE, Thinking, Whole
from azlab.errors import AzlabError
from azlab.files import write_aside
from azlab.formats import gtp_words, sgf
from azlab.formats.gtp import COLOURS, RESIGN, vertex
from azlab.formats.gtp_server import Handler, Server
from azlab.games import game as game_by_name
from azlab.games.go import Go

KO_OF_KATAGO = {"SIMPLE": "simple", "POSITIONAL": "positional", "SITUATIONAL": "situational"}
_CHUNK = 65536  # bytes read at once


class Engine:
    """An agent with a board and a clock, and what each command does."""

    def __init__(self, agent: Any, options: Mapping[str, Any], name: str = "", version: str = "") -> None:
        self.agent, self._options = agent, dict(options)
        self.name, self.version = name or f"azlab {agent.name}", version or __version__
        if self._options.get("handicap"):
            raise AzlabError("Handicap stones are placed by the program that uses the engine: leave out handicap=.")
        self.mind = threading.Lock()  # an agent thinks about one thing at a time
        self.is_interrupted: Callable[[], bool] = lambda: False
        self.clock = Clock()
        self.board = Board(self._rules())
        self.analysis = AnalysisCommands(self)
        self._warm_up()

    def commands(self) -> dict[str, Handler]:
        """What this engine can be asked."""
        return {
            "name": lambda words: self.name, "version": lambda words: self.version,
            "boardsize": self._boardsize, "clear_board": self._clear_board, "komi": self._komi,
            "play": self._play, "genmove": self._genmove, "reg_genmove": self._reg_genmove, "undo": self._undo,
            "showboard": self._showboard, "final_score": self._final_score, "final_status_list": self._final_status_list,
            "fixed_handicap": self._fixed_handicap, "place_free_handicap": self._place_free_handicap,
            "set_free_handicap": self._set_free_handicap,
            "time_settings": self._time_settings, "time_left": self._time_left, "kgs-time_settings": self._kgs_time_settings,
            "loadsgf": self._loadsgf, "printsgf": self._printsgf,
            "get_komi": lambda words: f"{self.board.game.komi:g}", "query_boardsize": lambda words: str(self.board.size),
            "is_legal": self._is_legal, "all_legal": self._all_legal, "list_stones": self._list_stones,
            "captures": lambda words: str(self.board.prisoners[gtp_words.seat(words)]),
            "last_move": self._last_move, "move_history": self._move_history,
            "clear_cache": lambda words: "", "stop": lambda words: "",
            "kgs-rules": self._kgs_rules, "kata-get-rules": self._kata_get_rules, "kata-set-rules": self._kata_set_rules,
            "gogui-interrupt": lambda words: "", "gogui-play_sequence": self._play_sequence,
            "gogui-setup": self._setup, "gogui-setup_player": self._setup_player,
            **self.analysis.commands(),
        }  # fmt: skip

    # --- the rules ----------------------------------------------------------------------------------------------

    def _rules(self, **changes: Any) -> Go:
        """Go with the options of now and these changes, if the agent can play it."""
        game = game_by_name("go", **{**self._options, **changes})
        assert isinstance(game, Go)
        with self.mind:
            ready(self.agent, game)
        self._options.update(changes)
        return game

    def _back_to(self, options: dict[str, Any]) -> None:
        """The options of before, when the game could not go on with others; the agent gets ready for them again."""
        self._options = options
        self._rules()

    def _warm_up(self) -> None:
        """Let kernels be compiled and networks be loaded now, not when the clock runs."""
        with self.mind:
            if isinstance(self.agent, ThinksInSteps):
                mind = self.agent.think(self.board.position)
                if not isinstance(mind, Whole):
                    mind.step(0.0)
                    mind.action()

    def _boardsize(self, words: list[str]) -> str:
        size = gtp_words.whole(words, 0, "the size of the board")
        if not 2 <= size <= 19:
            raise AzlabError("unacceptable size")
        try:
            self.board.clear(self._rules(size=size))
        except AzlabError as error:
            raise AzlabError(f"unacceptable size: {error}") from None
        self.clock.reset()
        self._warm_up()
        return ""

    def _clear_board(self, words: list[str]) -> str:
        self.board.clear()
        self.clock.reset()
        return ""

    def _komi(self, words: list[str]) -> str:
        self.board.change(self._rules(komi=gtp_words.number(words, 0, "a number of points")))
        return ""

    def _kgs_rules(self, words: list[str]) -> str:
        if gtp_words.word(words, 0, "the name of the rules").lower() != "chinese":
            raise AzlabError("azlab counts the area, by Chinese rules only")
        return ""

    def _kata_get_rules(self, words: list[str]) -> str:
        ko = {ours: theirs for theirs, ours in KO_OF_KATAGO.items()}[self.board.game.ko]
        rules = {"hasButton": False, "ko": ko, "scoring": "AREA", "suicide": False, "tax": "NONE", "whiteHandicapBonus": "0"}
        return json.dumps(rules, separators=(",", ":"))

    def _kata_set_rules(self, words: list[str]) -> str:
        text = " ".join(words)
        wanted: Any = {"ko": "SIMPLE"} if text.lower() in ("chinese", "chinese-kgs") else _json(text)
        can = {"scoring": "AREA", "suicide": False, "tax": "NONE", "hasButton": False}
        if not isinstance(wanted, dict) or any(wanted.get(key, value) != value for key, value in can.items()):
            raise AzlabError("azlab counts the area and forbids suicide: the rules are chinese, or JSON with another ko")
        ko = wanted.get("ko", "SIMPLE")
        if not isinstance(ko, str) or ko not in KO_OF_KATAGO:
            raise AzlabError(f"ko is one of {', '.join(KO_OF_KATAGO)}")
        before = self._options.copy()
        try:
            self.board.change(self._rules(ko=KO_OF_KATAGO[ko]))
        except AzlabError:
            self._back_to(before)
            raise
        self._warm_up()
        return ""

    # --- moves --------------------------------------------------------------------------------------------------

    def _play(self, words: list[str]) -> str:
        seat = gtp_words.seat(words)
        if gtp_words.word(words, 1, "a point, or pass,").lower() != RESIGN:  # which leaves the board as it is
            self.board.play(seat, gtp_words.point(words, 1, self.board.size))
        return ""

    def _play_sequence(self, words: list[str]) -> str:
        self.board.play_all(gtp_words.moves(words, self.board.size))
        return ""

    def _genmove(self, words: list[str]) -> str:
        seat = gtp_words.seat(words)
        action = self.decide(seat)
        self.board.play(seat, action)
        return vertex(action, self.board.size)

    def _reg_genmove(self, words: list[str]) -> str:
        return vertex(self.decide(gtp_words.seat(words), is_timed=False), self.board.size)

    def decide(self, seat: int, watch: Callable[[Thinking], None] | None = None, is_timed: bool = True) -> int:
        """The agent's move for a seat, within its time; `watch` is called after every step."""
        begin, position = time.monotonic(), self.board.for_seat(seat)
        seconds = self.clock.allot(seat, self.board.size, len(self.board.played)) if is_timed else None
        with self.mind:
            mind = thinking(self.agent, position, seconds)
            piece = None if seconds is None and watch is None else SLICE
            goes_on = True
            while goes_on:
                goes_on = mind.step(piece)
                if watch is not None:
                    watch(mind)
                left = None if seconds is None else seconds - (time.monotonic() - begin)
                if self.is_interrupted() or (left is not None and left <= 0):
                    break
                piece = piece if left is None else min(SLICE, left)
            action = mind.action()
        if action not in position.legal_actions:
            raise AzlabError(f"{self.agent.name} chose action {action}, which is not legal here")
        if is_timed:
            self.clock.spend(seat, time.monotonic() - begin)
        return action

    def _undo(self, words: list[str]) -> str:
        self.board.undo()
        return ""

    # --- stones before the game ---------------------------------------------------------------------------------

    def _fixed_handicap(self, words: list[str]) -> str:
        stones = gtp_words.whole(words, 0, "the number of stones")
        return gtp_words.vertices(self.board.handicap(stones), self.board.size)

    def _place_free_handicap(self, words: list[str]) -> str:
        stones = gtp_words.whole(words, 0, "the number of stones")
        if not 2 <= stones < self.board.size**2:
            raise AzlabError("invalid number of stones")
        return gtp_words.vertices(self.board.handicap(min(stones, self.board.most_handicap())), self.board.size)

    def _set_free_handicap(self, words: list[str]) -> str:
        try:
            cells = [gtp_words.point(words, k, self.board.size) for k in range(len(words))]
        except AzlabError:
            raise AzlabError("bad vertex list") from None
        self.board.free_handicap(cells)
        return ""

    def _setup(self, words: list[str]) -> str:
        stones = gtp_words.moves(words, self.board.size)
        black, white = (tuple(action for seat, action in stones if seat == side) for side in (0, 1))
        self.board.clear(setup=Setup(black, white))
        return ""

    def _setup_player(self, words: list[str]) -> str:
        if self.board.played:
            raise AzlabError("moves have been played; whose turn it is then follows from genmove and play")
        self.board.clear(setup=self.board.setup._replace(to_move=gtp_words.seat(words)))
        return ""

    # --- what is on the board -----------------------------------------------------------------------------------

    def _showboard(self, words: list[str]) -> str:
        black, white = self.board.prisoners
        taken = f"Black (X) has taken {black} stones, White (O) {white}; komi {self.board.game.komi:g}"
        return f"\n{self.board.position.game.text(self.board.position)}\n{taken}"

    def _final_score(self, words: list[str]) -> str:
        score = self.board.score()
        return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"

    def _final_status_list(self, words: list[str]) -> str:
        status = gtp_words.word(words, 0, "alive, dead or seki").lower()
        if status not in ("alive", "dead", "seki"):
            raise AzlabError("syntax error: a status is alive, dead or seki")
        stones = [self.board.stones(seat) for seat in (0, 1)] if status == "alive" else []
        return "\n".join(gtp_words.vertices(cells, self.board.size) for cells in stones if cells)

    def _is_legal(self, words: list[str]) -> str:
        return str(int(gtp_words.point(words, 1, self.board.size) in self.board.legal(gtp_words.seat(words))))

    def _all_legal(self, words: list[str]) -> str:
        points = self.board.size**2
        return gtp_words.vertices([a for a in self.board.legal(gtp_words.seat(words)) if a < points], self.board.size)

    def _list_stones(self, words: list[str]) -> str:
        return gtp_words.vertices(self.board.stones(gtp_words.seat(words)), self.board.size)

    def _last_move(self, words: list[str]) -> str:
        if not self.board.played:
            raise AzlabError("no previous move known")
        last = self.board.played[-1]
        return f"{COLOURS[last.seat]} {vertex(last.action, self.board.size)}"

    def _move_history(self, words: list[str]) -> str:
        return "\n".join(f"{COLOURS[one.seat]} {vertex(one.action, self.board.size)}" for one in reversed(self.board.played))

    # --- time and files -----------------------------------------------------------------------------------------

    def _time_settings(self, words: list[str]) -> str:
        main, period = (gtp_words.number(words, k, "a time in seconds") for k in (0, 1))
        self.clock.set(main, period, gtp_words.whole(words, 2, "a number of stones"))
        return ""

    def _time_left(self, words: list[str]) -> str:
        seat, seconds = gtp_words.seat(words), gtp_words.number(words, 1, "a time in seconds")
        self.clock.left(seat, max(0.0, seconds), gtp_words.whole(words, 2, "a number of stones"))  # some clocks run below 0
        return ""

    def _kgs_time_settings(self, words: list[str]) -> str:
        kind = gtp_words.word(words, 0, "none, absolute, byoyomi or canadian").lower()
        if kind == "none":
            self.clock.no_limit()
        elif kind == "absolute":
            self.clock.set(gtp_words.number(words, 1, "a time in seconds"), 0, 0)
        elif kind in ("byoyomi", "canadian"):
            main, period = (gtp_words.number(words, k, "a time in seconds") for k in (1, 2))
            self.clock.set(main, period, gtp_words.whole(words, 3, "a number of periods or stones"), kind == "byoyomi")
        else:
            raise AzlabError("syntax error: a time system is none, absolute, byoyomi or canadian")
        return ""

    def _loadsgf(self, words: list[str]) -> str:
        name, before = " ".join(words), None
        if len(words) > 1 and re.fullmatch("[0-9]{1,6}", words[-1], re.ASCII):
            name, before = " ".join(words[:-1]), int(words[-1])
        gtp_words.word(words, 0, "the name of a file")
        try:
            file = Path(name)
            if not file.is_file() or file.stat().st_size > MAX_SGF_BYTES:
                raise AzlabError(f"cannot load file: {name[:200]!r} is not a file of at most {MAX_SGF_BYTES:,} bytes")
            record = sgf.main_line(file.read_text("utf-8", "replace"))
            options = self._options.copy()
            komi = self.board.game.komi if record.komi is None else record.komi
            try:
                self.board.load(record, self._rules(size=record.size, komi=komi), before)
            except AzlabError:
                self._back_to(options)
                raise
        except (OSError, ValueError) as error:
            text = str(error.strerror if isinstance(error, OSError) else error)
            raise AzlabError(text if text.startswith("cannot load file") else f"cannot load file: {text}") from None
        self.clock.reset()
        return ""

    def _printsgf(self, words: list[str]) -> str:
        text = sgf.write(self.board.record())
        if not words:
            return text.strip()
        file = Path(" ".join(words))
        try:
            if file.exists() and not file.is_file():
                raise AzlabError("it is a folder or a device")
            write_aside(file, lambda aside: aside.write_text(text, "utf-8"))
        except (OSError, ValueError) as error:
            raise AzlabError(f"cannot write file: {error}") from None
        return ""


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def serve(
    agent: Any,
    options: Mapping[str, Any],
    name: str = "",
    version: str = "",
    log: str = "",
    is_debugged: bool = False,
) -> None:
    """Be an engine on stdin and stdout until `quit` or the end of the input. Whatever else is printed goes to stderr."""
    out = sys.stdout.buffer

    def write(data: bytes) -> None:
        out.write(data)
        out.flush()

    with contextlib.ExitStack() as stack:
        stack.callback(close, agent)
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        note: Callable[[str], object] = lambda line: None  # noqa: E731
        if log:
            try:
                file = stack.enter_context(open(log, "a", encoding="utf-8", errors="backslashreplace", buffering=1))
            except OSError as error:
                raise AzlabError(f"The log cannot be written to {log}: {error.strerror}.") from None
            note = lambda line: None if file.closed else print(time.strftime("%H:%M:%S"), line, file=file)  # noqa: E731
        engine = Engine(agent, options, name, version)
        source = sys.stdin.fileno()  # read without Python's buffer, whose lock a waiting thread would keep to the end
        server = Server(engine.commands(), lambda: os.read(source, _CHUNK), write, note, is_debugged)
        engine.is_interrupted = server.is_interrupted
        server.serve()
