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
import re
import select
import shlex
import signal
import subprocess
import sys
import time
import weakref
from collections import deque
from collections.abc import Sequence
from typing import IO

from azlab import machine
from azlab.errors import AzlabError, whole_number
from azlab.games import grid
from azlab.watching import watcher

TIMEOUT = 120.0  # seconds; strong engines load a network first, and a slow move on 19x19 takes a minute
MAX_BYTES, MAX_LINES = 1_000_000, 10_000  # of one answer and all that is printed before it; real ones have a few thousand bytes
COLOURS = ("black", "white")  # of seat 0 and seat 1
PASS, RESIGN = "pass", "resign"

_LONGEST = 1e9  # seconds; what a longer timeout, an endless one among them, comes to
_SECONDS_TO_SPEAK = 10.0  # from the first thing a program prints to the end of its first answer; for programs that speak no GTP
_SECONDS_TO_NOTICE = 2.0  # of waiting for the first answer; then a person is told what takes so long
_SECONDS_TO_QUIT = 1.0  # for an engine that was told to quit; then it is killed
_TICK = 0.05  # seconds between looks at whether a program that prints nothing has ended
_CHUNK = 65536  # bytes read at once
_SHOWN = 200  # characters of an engine's words that an error repeats
_LAST_WORDS, _LAST_BYTES = 5, 4096  # lines of stderr that an error repeats, and how much of its end is kept for that
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # characters the protocol says to leave out, \r among them


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
    found = re.fullmatch(r"([a-hj-z])([1-9][0-9]?)", text)
    if found is None or grid.GO_LETTERS.index(found[1]) >= size or int(found[2]) > size:
        raise GtpError(f"{_shown(point)} is no point of a {size}x{size} board, whose points are A1 to {vertex(size - 1, size)}.")
    return (size - int(found[2])) * size + grid.GO_LETTERS.index(found[1])


class GtpEngine:
    """A running program that speaks GTP.

    `close()`, leaving a `with` block, garbage collection and the end of Python end the program; so do a timeout and Ctrl-C
    while it is thinking, for its late answer would be taken for that to the next command, and so does an answer that breaks
    the protocol. An answer comes whole within `timeout` seconds and has at most MAX_BYTES bytes and MAX_LINES lines. Lines
    before an answer are ignored, but a program that prints something has ten seconds from then on for its first answer.
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
        self.program, self.timeout = os.path.basename(self.command[0]), min(timeout, _LONGEST)
        self._pipes = _Pipes(_start(self.command))
        self._finish = weakref.finalize(self, self._pipes.end)
        self._ids = itertools.count(1)
        self._speaks = False  # has it ever given an answer?
        self._noticed = False  # has a person been told that it has not yet?
        self._stray = ""  # the last line since the last question that belonged to no answer
        self._asked = self._deadline = 0.0  # the times of the last question and of its latest answer

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
            raise GtpError(f"A GTP command is one line of text, not {_shown(command)}.")
        if not self._finish.alive:
            raise GtpError(f"{self.program} has been ended; start it again to ask {_shown(command)}.")
        try:
            sign, answer = self._exchange(command)
        except BaseException:
            self.close()
            raise
        if sign == "?":
            raise GtpError(f"{self.program} answered {_shown(answer or 'no')} to {_shown(command)}.")
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
        found = re.fullmatch(r"([BbWw])\+([0-9]{1,6}(?:\.[0-9]*)?)|0(?:\.0*)?|draw", answer)
        if found is None:
            raise GtpError(f"{self.program} gives the score as {_shown(answer)}, which is no number of points.")
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
        number, self._stray = next(self._ids), ""
        self._asked = time.monotonic()
        self._deadline = self._asked + self.timeout
        for line in self._pipes.begin():
            if line.startswith(("=", "?")):
                early = f"{self.program} had answered {_shown(line)} before it was asked {_shown(command)}"
                raise GtpError(f"{early}; an engine answers every command once.")
            self._stray = line.strip() or self._stray
        self._pipes.send(f"{number} {command}\n")
        while not (found := re.match(r"([=?])([0-9]*)(.*)", line := self._line(command))):
            if line.strip() == f"{number} {command}".strip():
                raise GtpError(f"{self.program} repeats {_shown(line)} instead of answering it; does it speak GTP?")
            self._stray = line.strip() or self._stray
        sign, its_number, text = found.groups()
        if its_number != str(number):
            raise GtpError(f"{self.program} answered {_shown(line)} to command number {number}, {_shown(command)}.")
        lines = [text.strip()]
        while (line := self._line(command, begun=found[0])).strip():
            lines.append(line.rstrip())
        self._speaks = True
        return sign, "\n".join(lines).strip("\n")

    def _line(self, command: str, begun: str = "") -> str:
        """The next line the engine prints; `begun` is the first one of the answer if that has begun."""
        pipes = self._pipes
        while not pipes.lines and pipes.bytes_read <= MAX_BYTES:
            now = time.monotonic()
            if pipes.bytes_read and not self._speaks:
                self._deadline = min(self._deadline, now + _SECONDS_TO_SPEAK)
            if now >= self._deadline:
                raise self._late(command, begun)
            if pipes.broken or (not pipes.pump(self._deadline - now) and pipes.ended):
                raise self._died(command)
            if not self._speaks and not self._noticed and now - self._asked > _SECONDS_TO_NOTICE:
                self._noticed = True
                if watcher() in ("terminal", "jupyter"):
                    waiting = f"azlab: waiting for {self.program} to answer {_shown(command)}"
                    print(f"{waiting}, for at most {self.timeout:g} seconds.", file=sys.stderr, flush=True)
        if pipes.bytes_read > MAX_BYTES or pipes.lines_taken >= MAX_LINES:
            limit = f"more than {MAX_BYTES:,} bytes or {MAX_LINES:,} lines"
            raise GtpError(f"{self.program} printed {limit} when it was asked {_shown(command)}, and was ended.")
        return pipes.take_line()

    def _late(self, command: str, begun: str) -> GtpError:
        stray = self._stray or _text(self._pipes.rest).strip()
        said = ""
        if begun:
            said = f" It began {_shown(begun)}, but an answer ends with an empty line."
        elif stray:
            said = f" It only printed {_shown(stray)}; does it speak GTP?"
        seconds = f"{self._deadline - self._asked:.3g} seconds"
        words = self._pipes.last_words()
        return GtpError(f"{self.program} did not answer {_shown(command)} within {seconds} and was ended.{said}{words}")

    def _died(self, command: str) -> GtpError:
        pipes, latest = self._pipes, time.monotonic() + _SECONDS_TO_QUIT
        while (left := latest - time.monotonic()) > 0 and (pipes.pump(left) or not pipes.ended):
            pipes.forget()
        how, words = _how(pipes.process.returncode), pipes.last_words()
        return GtpError(f"{self.program} ended {how} when it was asked {_shown(command)}.{words}")


class _Pipes:
    """A program and what goes to and fro. Whoever waits for it reads and writes meanwhile, without threads.

    So a program that prints when nobody waits fills its pipe and stops there, and nothing outlives `end`.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self.process = process
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr
        for stream in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(stream.fileno(), False)
        self.lines: deque[bytes] = deque()  # of stdout, read and not yet taken
        self.rest = b""  # the line of stdout that has no end yet
        self._words = b""  # the end of stderr
        self._unsent = b""
        self.bytes_read = self.lines_taken = 0  # since `begin`

    def begin(self) -> list[str]:
        """Count anew; the lines of stdout that are already there, as far as one chunk goes."""
        self.bytes_read = self.lines_taken = 0
        self.pump(0)
        return [self.take_line() for _ in range(len(self.lines))]

    def send(self, text: str) -> None:
        """Have `text` written as soon as the program takes it."""
        self._unsent += text.encode()

    def take_line(self) -> str:
        """The next line of stdout, which must have been read."""
        self.lines_taken += 1
        return _text(self.lines.popleft())

    def forget(self) -> None:
        """Drop what was read of stdout."""
        self.lines.clear()
        self.rest = b""

    @property
    def broken(self) -> bool:
        """Whether nothing more can be said or heard."""
        return self.stdout.closed or self.stdin.closed

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def last_words(self) -> str:
        """A sentence with the last lines of stderr, empty if there are none."""
        lines = [line.strip() for line in _text(self._words).splitlines() if line.strip()]
        words = "".join(c if c.isprintable() else " " for c in " | ".join(lines[-_LAST_WORDS:]))
        return f" Its last words: {words if len(words) <= 2 * _SHOWN else '...' + words[-2 * _SHOWN :]}" if words else ""

    def pump(self, seconds: float) -> bool:
        """Write and read what is possible at once, else wait up to a tick for it; whether anything happened."""
        used = [self.stdin, self.stdout, self.stderr] if self._unsent else [self.stdout, self.stderr]
        streams = {stream.fileno(): stream for stream in used if not stream.closed}
        poll = select.poll()
        for number, stream in streams.items():
            poll.register(number, select.POLLOUT if stream is self.stdin else select.POLLIN)
        ready = [streams[number] for number, _ in poll.poll(min(seconds, _TICK) * 1000)]
        if self.stdin in ready:
            self._write()
        if self.stderr in ready:
            self._words = (self._words + _read(self.stderr))[-_LAST_BYTES:]
        if self.stdout in ready:
            data = _read(self.stdout)
            self.bytes_read += len(data)
            *lines, self.rest = (self.rest + data).split(b"\n")
            self.lines.extend(lines)
        return bool(ready)

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self.stdin.fileno(), self._unsent) :]
        except BlockingIOError:
            pass  # the pipe has less room than poll takes for some
        except (OSError, ValueError):  # nobody reads it, or another thread has closed it
            _close(self.stdin)

    def end(self) -> None:
        """End the program politely, then by force with all it has started, and wait for it."""
        latest = time.monotonic() + _SECONDS_TO_QUIT
        self.send("quit\n")
        try:
            while not self.ended and (left := latest - time.monotonic()) > 0:
                self.pump(left)
                self.forget()
                if not self._unsent:
                    _close(self.stdin)
        finally:
            with contextlib.suppress(OSError):  # nobody is left
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            for stream in (self.stdin, self.stdout, self.stderr):
                _close(stream)


def _read(stream: IO[bytes]) -> bytes:
    """What is there, at most a chunk; the stream is closed at its end."""
    try:
        data = os.read(stream.fileno(), _CHUNK)
    except BlockingIOError:
        return b""
    except (OSError, ValueError):  # it is broken, or another thread has closed it
        data = b""
    if not data:
        _close(stream)
    return data


def _close(stream: IO[bytes]) -> None:
    with contextlib.suppress(OSError):
        stream.close()


def _text(line: bytes) -> str:
    """What an engine printed, without control characters; bytes that are no UTF-8 become a replacement character."""
    return _CONTROL.sub("", line.decode("utf-8", "replace"))


def _shown(text: str) -> str:
    """Someone's words as an error repeats them: in quotes, not too many, and harmless to a terminal."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}... ({len(text):,} characters)"


def _how(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None:
        return "the conversation"  # it lives, but has closed a pipe
    if code >= 0:
        return f"with exit code {code}"
    try:
        return f"by signal {signal.Signals(-code).name}"
    except ValueError:
        return f"by signal {-code}"  # most real-time signals have no name


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start the program, in a session of its own so that Ctrl-C in a terminal reaches us alone."""
    if machine.IS_WINDOWS:
        raise GtpError("On Windows Python cannot watch the pipes of a Go engine: use GNU Go and other engines in WSL.")
    name = command[0]
    path = machine.find_program(name) if name in machine.PROGRAMS else name
    if path is None:
        raise GtpError(machine.how_to_get(name))
    try:
        return subprocess.Popen(
            [path, *command[1:]], bufsize=0, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except FileNotFoundError:
        raise GtpError(f"There is no program {name!r}; install it, or give its whole path.") from None
    except OSError as error:
        raise GtpError(f"{name!r} cannot be started: {error.strerror}.") from None
    except ValueError as error:
        raise GtpError(f"{name!r} cannot be started: {error}.") from None
