"""A client of the Go Text Protocol, version 2: start a program such as GNU Go and ask it things.

    with GtpEngine("gnugo --mode gtp") as engine:
        engine.boardsize(9)
        engine.play(0, "e5")
        engine.genmove(1)

Points are written as the protocol has them, a1 at the lower left and no letter i; `vertex` and `action` translate them.
"""

import contextlib
import itertools
import os
import queue
import re
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO

from azlab import doctor
from azlab.errors import AzlabError, whole_number
from azlab.games import grid

TIMEOUT = 120.0  # seconds; strong engines load a network first, and a slow move on 19x19 takes a minute
COLOURS = ("black", "white")  # of seat 0 and seat 1
PASS, RESIGN = "pass", "resign"

_SECONDS_TO_QUIT = 1.0  # for an engine that was told to quit; then it is killed
_LAST_WORDS = 5  # lines of stderr that an error repeats
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # characters the protocol says to leave out, \r among them


class GtpError(AzlabError):
    """The program cannot be started, has ended, does not answer, or refuses a command."""


def vertex(action: int, size: int) -> str:
    """An action of Go on a size x size board as the protocol writes it: "C3" or "pass"."""
    action = whole_number("action", action, 0, size * size)
    return PASS if action == size * size else grid.cell_name(action, size, size, grid.GO_LETTERS).upper()


def action(point: str, size: int) -> int:
    """The reverse of `vertex`; capitals do not matter."""
    text = point.strip().lower()
    if text == PASS:
        return size * size
    found = re.fullmatch(r"([a-hj-z])([1-9]\d?)", text)
    if found is None or grid.GO_LETTERS.index(found[1]) >= size or int(found[2]) > size:
        raise GtpError(f"{point!r} is no point of a {size}x{size} board, whose points are A1 to {vertex(size - 1, size)}.")
    return (size - int(found[2])) * size + grid.GO_LETTERS.index(found[1])


class GtpEngine:
    """A running program that speaks GTP.

    `close()`, leaving a `with` block, garbage collection and the end of Python end the program; so do a timeout and Ctrl-C
    while it is thinking, for its late answer would be taken for that to the next command.
    """

    def __init__(self, command: str | Sequence[str], timeout: float = TIMEOUT) -> None:
        try:
            self.command = shlex.split(command) if isinstance(command, str) else list(command)
        except ValueError as error:
            raise GtpError(f"The command {command!r} cannot be read: {error}.") from None
        if not self.command:
            raise GtpError('A GTP engine is started by a command, such as "gnugo --mode gtp".')
        if not isinstance(timeout, int | float) or not timeout > 0:
            raise GtpError(f"timeout must be a positive number of seconds, not {timeout!r}.")
        self.program, self.timeout = os.path.basename(self.command[0]), timeout
        self._process = _start(self.command)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._last_words: deque[str | None] = deque(maxlen=_LAST_WORDS + 1)  # one more for the None at the end
        self._stray = ""  # the last line that belonged to no answer
        self._ids = itertools.count(1)
        readers = [_read(self._process.stdout, self._lines.put), _read(self._process.stderr, self._last_words.append)]
        self._listening = readers[1]
        self._finish = weakref.finalize(self, _end, self._process, readers)

    def __enter__(self) -> "GtpEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program; a second time does nothing."""
        self._finish()

    def ask(self, command: str) -> str:
        """The answer to any command, without sign and number. A refusal raises `GtpError`."""
        if not command.strip() or not command.isprintable():
            raise GtpError(f"A GTP command is one line of text, not {command!r}.")
        if not self._finish.alive:
            raise GtpError(f"{self.program} has been ended; start it again to ask {command!r}.")
        try:
            sign, answer = self._exchange(command)
        except BaseException:
            self.close()
            raise
        if sign == "?":
            raise GtpError(f"{self.program} answered {answer or 'no'!r} to {command!r}.")
        return answer

    def boardsize(self, size: int) -> None:
        """Choose the size of the board, which is then empty in most engines; `clear_board` makes sure."""
        self.ask(f"boardsize {size}")

    def clear_board(self) -> None:
        """Begin a new game."""
        self.ask("clear_board")

    def komi(self, komi: float) -> None:
        """Set White's points for moving second."""
        self.ask(f"komi {komi:g}")

    def play(self, seat: int, vertex: str) -> None:
        """Play a move for seat 0 (Black) or 1 (White), who need not take turns."""
        self.ask(f"play {COLOURS[seat]} {vertex}")

    def genmove(self, seat: int) -> str:
        """Let the engine play for `seat`: a point in small letters, "pass" or "resign"."""
        return self.ask(f"genmove {COLOURS[seat]}").lower()

    def undo(self) -> None:
        """Take back the last move."""
        self.ask("undo")

    def final_score(self) -> float:
        """Black's points minus White's, komi included, as the engine counts them; it may take dead stones off first."""
        answer = self.ask("final_score")
        found = re.fullmatch(r"([BbWw])\+(\d+(?:\.\d*)?)|0(?:\.0*)?|draw", answer)
        if found is None:
            raise GtpError(f"{self.program} gives the score as {answer!r}, which is no number of points.")
        return 0.0 if found[1] is None else float(found[2]) * (1 if found[1] in "Bb" else -1)

    def list_commands(self) -> list[str]:
        """Every command the engine knows."""
        return self.ask("list_commands").split()

    def name(self) -> str:
        """The program's name for itself."""
        return self.ask("name")

    def version(self) -> str:
        """The program's version."""
        return self.ask("version")

    def showboard(self) -> str:
        """The engine's picture of its board, for people."""
        return self.ask("showboard")

    def _exchange(self, command: str) -> tuple[str, str]:
        """Send a command and read its answer: the sign and the text, which may have several lines."""
        number = next(self._ids)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{number} {command}\n")
        except OSError:
            raise self._died(command) from None
        deadline = time.monotonic() + self.timeout
        while not (found := re.match(r"([=?])(\d*)(.*)", line := self._line(deadline, command))):
            self._stray = line.strip() or self._stray
        sign, its_number, text = found.groups()
        if its_number != str(number):
            raise GtpError(f"{self.program} answered {line!r} to command number {number}, {command!r}.")
        lines = [text.strip()]
        while (line := self._line(deadline, command)).strip():
            lines.append(line.rstrip())
        return sign, "\n".join(lines).strip("\n")

    def _line(self, deadline: float, command: str) -> str:
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            stray = f" It only printed {self._stray!r}; does it speak GTP?" if self._stray else ""
            message = f"{self.program} did not answer {command!r} within {self.timeout:g} seconds and was ended.{stray}"
            raise GtpError(message) from None
        if line is None:
            raise self._died(command)
        return line

    def _died(self, command: str) -> GtpError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_QUIT)
        self._listening.join(_SECONDS_TO_QUIT)
        words = " | ".join(line.strip() for line in self._last_words if line and line.strip())
        said = f" Its last words: {words}" if words else ""
        return GtpError(f"{self.program} ended {_how(self._process.returncode)} when it was asked {command!r}.{said}")


def _how(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None:
        return "its output"
    return f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


def _start(command: Sequence[str]) -> subprocess.Popen[str]:
    """Start the program, in a session of its own so that Ctrl-C in a terminal reaches us alone."""
    name = command[0]
    path = doctor.find_program(name) if name in doctor.PROGRAMS else name
    if path is None:
        raise GtpError(doctor.how_to_get(name))
    try:
        return subprocess.Popen(
            [path, *command[1:]], bufsize=1, encoding="utf-8", errors="replace", start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except FileNotFoundError:
        raise GtpError(f"There is no program {name!r}; install it, or give its whole path.") from None
    except OSError as error:
        raise GtpError(f"{name!r} cannot be started: {error.strerror}.") from None


def _read(stream: IO[str] | None, put: Callable[[str | None], object]) -> threading.Thread:
    """Hand every line to `put` and None at the end; a thread, because reading a pipe knows no timeout."""

    def run() -> None:
        assert stream is not None
        with stream:
            for line in stream:
                put(_CONTROL.sub("", line.rstrip("\n")))
        put(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def _end(process: subprocess.Popen[str], readers: Sequence[threading.Thread]) -> None:
    """End the program politely, then by force with all it has started, and wait for it."""
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.write("quit\n")
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS_TO_QUIT)
    finally:
        if process.poll() is None:
            with contextlib.suppress(OSError):  # it has just ended by itself
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for reader in readers:
        reader.join(_SECONDS_TO_QUIT)
