"""The engine's side of the Go Text Protocol, version 2: lines come in, answers go out. It knows no Go.

    Server({"name": lambda words: "azlab"}, read, write).serve()

A command is a function of its words that returns the answer. One that takes long may say things on the way: it returns `Lines`,
which are printed as they come. Those of an analysis go on until any input arrives, even an empty line. An `AzlabError` is an
answer too, with a question mark; so is every other error, and the conversation goes on. `quit` and the end of the input end it.
"""

import contextlib
import queue
import re
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from azlab.endings import sentence_of
from azlab.errors import AzlabError

MAX_LINE = 100_000  # bytes of a line; a real one has a few hundred, a long game sent at once ten thousand
WAITING_LINES = 100_000  # that a controller may send ahead of the answers
INTERRUPT = "# interrupt"  # the comment by which GoGui asks for the move at once

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # the protocol says to leave them out, \r among them
_COMMAND = re.compile(r"(?:([0-9]+)(?:\s+|$))?(\S*)\s*(.*)", re.ASCII)
_SECONDS_TO_STOP = 2.0  # for the thread of an analysis when the conversation ends


class Command(NamedTuple):
    """One line of input."""

    number: str  # as it was written, to be repeated in the answer; "" for none
    name: str
    words: list[str]


Say = Callable[[str], None]
IsStopped = Callable[[], bool]


class Lines(NamedTuple):
    """An answer whose lines come one by one: `run(say, is_stopped)` says them and looks from time to time whether to stop."""

    run: Callable[[Say, IsStopped], None]
    until_input: bool  # it goes on until the next line of input; otherwise it ends by itself, or when GoGui interrupts


Handler = Callable[[list[str]], str | Lines]


def parse(line: str) -> Command | None:
    """What a line asks for; None for an empty one and for a comment."""
    text = _CONTROL.sub("", line.replace("\t", " ")).partition("#")[0].strip()
    found = _COMMAND.fullmatch(text)
    if not text or found is None:
        return None
    return Command(found[1] or "", found[2], found[3].split())


class Server:
    """A conversation with one controller.

    commands: what each command does
    read: returns the next bytes of the input when there are some, b"" at its end
    write: prints bytes at once
    log: called with every line that goes in ("> ...") or out ("< ...")
    """

    def __init__(
        self,
        commands: Mapping[str, Handler],
        read: Callable[[], bytes],
        write: Callable[[bytes], object],
        log: Callable[[str], object] = lambda line: None,
        is_debugged: bool = False,
    ) -> None:
        self.commands: dict[str, Handler] = {
            "protocol_version": lambda words: "2",
            "known_command": self._known,
            "list_commands": lambda words: "\n".join(sorted(self.commands)),
            "quit": lambda words: "",
            **commands,
        }
        self._read, self._print, self._log, self._is_debugged = read, write, log, is_debugged
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING_LINES)
        self._speaking = threading.Lock()
        self._interrupted = threading.Event()
        self._is_busy = False
        self._analysis: _Analysis | None = None

    def is_interrupted(self) -> bool:
        """Whether the command that is running shall end now with what it has."""
        return self._interrupted.is_set()

    def serve(self) -> None:
        """Answer until `quit` or the end of the input."""
        threading.Thread(target=self._listen, name="azlab gtp input", daemon=True).start()
        analysis = None
        try:
            while (line := self._lines.get()) is not None:
                self._end_analysis()
                command = parse(line)
                if command is not None and not self._answer(command):
                    break
                analysis = self._analysis or analysis
        finally:
            self._end_analysis()
            if analysis is not None:
                analysis.thread.join(_SECONDS_TO_STOP)

    def _listen(self) -> None:
        """Read lines, in a thread of its own, so that any of them is noticed while something runs."""
        rest = b""
        while data := self._next_bytes():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._hear(line)
            rest = rest[: MAX_LINE + 1]
        if rest:
            self._hear(rest)
        self._lines.put(None)

    def _next_bytes(self) -> bytes:
        try:
            return self._read()
        except (OSError, ValueError):  # the other side is gone, or the stream was closed
            return b""

    def _hear(self, line: bytes) -> None:
        text = line[: MAX_LINE + 1].decode("utf-8", "replace")
        self._log(f"> {text.rstrip()}")
        if self._is_busy and text.strip() == INTERRUPT:
            self._interrupted.set()
        self._lines.put(text)

    def _answer(self, command: Command) -> bool:
        """Answer one command; whether the conversation goes on."""
        self._interrupted.clear()
        self._is_busy = True
        try:
            handler = self.commands.get(command.name)
            if handler is None:
                raise AzlabError("unknown command")
            if sum(map(len, command.words)) > MAX_LINE - 1000:
                raise AzlabError(f"syntax error: a line has at most {MAX_LINE:,} characters")
            answer = handler(command.words)
        except Exception as error:
            self._say(f"?{command.number} {self._refusal(error)}\n\n")
            return True
        finally:
            self._is_busy = False
        if isinstance(answer, str):
            self._say(f"={command.number}{_body(answer)}\n\n")
        elif answer.until_input:
            self._say(f"={command.number}\n")
            self._analysis = _Analysis(self, answer)
        else:
            self._say_lines(command, answer)
        return command.name != "quit"

    def _say_lines(self, command: Command, answer: Lines) -> None:
        """An answer of several lines that ends by itself."""
        self._say(f"={command.number}\n")
        self._is_busy = True
        try:
            answer.run(lambda line: self._say(_one_line(line) + "\n"), self.is_interrupted)
        except OSError:
            raise  # nobody listens
        except Exception as error:  # the answer has begun as a success, so the reason can only go beside it
            print(self._refusal(error), file=sys.stderr, flush=True)
        finally:
            self._is_busy = False
        self._say("\n")

    def _end_analysis(self) -> None:
        if self._analysis is not None:
            self._analysis.stop()
            self._analysis = None

    def _known(self, words: Sequence[str]) -> str:
        return "true" if len(words) == 1 and words[0] in self.commands else "false"

    def _refusal(self, error: Exception) -> str:
        """An error as one line."""
        if self._is_debugged:
            traceback.print_exception(error)
        return _one_line(sentence_of(error)[0]) or "no"

    def _say(self, text: str) -> None:
        with self._speaking:
            for line in text.splitlines():
                self._log(f"< {line}")
            self._print(text.encode("utf-8", "backslashreplace"))


class _Analysis:
    """Lines from a thread until it is stopped; none comes after that."""

    def __init__(self, server: Server, answer: Lines) -> None:
        self._server, self._answer = server, answer
        self._stopped, self._closing, self._is_closed = threading.Event(), threading.Lock(), False
        self.thread = threading.Thread(target=self._run, name="azlab gtp analysis", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._close()

    def _run(self) -> None:
        try:
            self._answer.run(self._say, self._stopped.is_set)
        except OSError:  # nobody listens: the end of the input will follow
            self._is_closed = True
        except Exception as error:
            print(self._server._refusal(error), file=sys.stderr, flush=True)
            with contextlib.suppress(OSError):
                self._close()

    def _say(self, line: str) -> None:
        with self._closing:
            if not self._is_closed:
                self._server._say(_one_line(line) + "\n")

    def _close(self) -> None:
        """The empty line at the end of the answer."""
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self._server._say("\n")


def _body(text: str) -> str:
    """An answer as it stands behind its number: no empty line, which would end it, and no control characters."""
    lines = [_CONTROL.sub("", line).rstrip() for line in text.split("\n")]
    kept = [line for k, line in enumerate(lines) if line or k == 0]
    return (" " if kept[0] else "") + "\n".join(kept)


def _one_line(text: str) -> str:
    return _CONTROL.sub("", " ".join(text.split()))
