"""Processes that play: each is started for one game, asked for moves within limits, and ended with all that it has started.

The parent believes nothing that comes from such a process: answers are short lines of JSON, never unpickled, and moves are judged
by the parent's own rules. On Linux the processes are copies of one that has azlab loaded already, so that a start takes a moment;
elsewhere each loads azlab anew. Text hashes are the same in all of them (PYTHONHASHSEED), because `list(set(moves))` is what many
write and its order must not differ between two runs.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from azlab.arena.student import CRASH, KINDS, LONGEST_NAME, LONGEST_REASON, START, TIME, WHERE, Job, one_line, serve
from azlab.arena.student_warm import VARIABLE
from azlab.endings import ending
from azlab.errors import AzlabError
from azlab.machine import IS_WINDOWS
from azlab.nets.threads import ONE_THREAD

OWN_SECONDS = 300.0  # for azlab to load the game, which may have to be compiled; not counted as the player's time
SECONDS_TO_END = 2.0  # for a process that was told so
SECONDS_TO_PRINT = 0.2  # for one that is asked where it is
LONGEST_ANSWER = 1 << 16  # bytes
KEPT = 20_000  # bytes, the last ones, of what a player prints in a game
ENVIRONMENT = {**ONE_THREAD, "PYTHONHASHSEED": "0"}

_starting = threading.Lock()  # the environment belongs to all threads


class Forfeit(Exception):
    """A player loses its game by something else than moves."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


class PlayerProcess:
    """A player in a process of its own, for one game."""

    def __init__(self, job: Job) -> None:
        context: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
        self._job = job
        self._link, theirs = context.Pipe()
        reader, writer = (None, None) if IS_WINDOWS else context.Pipe(duplex=False)
        self._process = context.Process(target=serve, args=(job, theirs, writer))
        with _starting, _environment(job):
            if sys.platform == "linux":
                context.set_forkserver_preload(["azlab.arena.student_warm"])
            self._process.start()
        theirs.close()
        self._printed, self._reading = bytearray(), threading.Thread()
        if reader is not None and writer is not None:
            writer.close()
            self._reading = threading.Thread(target=self._read, args=(reader,), daemon=True)
            self._reading.start()

    def _read(self, reader: Any) -> None:
        """Take what the player prints, which would otherwise have to wait, and keep the end of it."""
        with reader, contextlib.suppress(OSError):
            while piece := os.read(reader.fileno(), 1 << 16):
                self._printed += piece
                del self._printed[:-KEPT]

    @property
    def printed(self) -> str:
        """The end of what the player has printed in this game."""
        return bytes(self._printed).decode("utf-8", "replace")

    def start(self) -> str:
        """Wait until the player is there; the name it gives itself. Raises `Forfeit` if it cannot start."""
        try:
            self._answer("ready", OWN_SECONDS)
        except Forfeit as failure:
            raise AzlabError(f"The process for {self._job.name} could not load the game: {failure.reason}.") from None
        limit = self._job.start_seconds if self._job.source is not None else OWN_SECONDS
        try:
            shown = self._answer("started", limit).get("shown")
        except Forfeit as failure:
            raise Forfeit(START, failure.reason) from None
        return one_line(shown, LONGEST_NAME) if isinstance(shown, str) else ""

    def ask(self, actions: Sequence[int]) -> str | int:
        """The move after these actions, legal or not. Raises `Forfeit` if there is none."""
        with contextlib.suppress(OSError):  # it has ended: the answer that does not come says so
            self._link.send_bytes(json.dumps({"actions": list(actions)}).encode())
        move = self._answer("move", self._job.seconds if self._job.source is not None else None).get("move")
        if isinstance(move, bool) or not isinstance(move, str | int):
            raise Forfeit(CRASH, "its process answered something that is no move")
        return move

    def _answer(self, expected: str, seconds: float | None) -> dict[str, Any]:
        try:
            if not self._link.poll(seconds):
                self._ask_where()
                raise Forfeit(TIME, f"it took longer than {seconds:g} s")
            message = json.loads(self._link.recv_bytes(LONGEST_ANSWER))
        except (EOFError, OSError):
            raise Forfeit(CRASH, f"its process {self._ending()}") from None
        except ValueError:
            message = None
        said = message.get("said") if isinstance(message, dict) else None
        if said == "failed" and message.get("kind") in KINDS and isinstance(message.get("reason"), str):
            raise Forfeit(message["kind"], one_line(message["reason"], LONGEST_REASON + 100))
        if said != expected:
            raise Forfeit(CRASH, "its process broke the rules of the conversation")
        return message

    def _ask_where(self) -> None:
        """Let a process that is too slow print where it is, for its student to read."""
        if WHERE is not None and self._process.pid is not None and not IS_WINDOWS:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._process.pid, WHERE)
                self._process.join(SECONDS_TO_PRINT)

    def _ending(self) -> str:
        self._process.join(SECONDS_TO_END)
        code = self._process.exitcode
        return "closed its connection" if code is None else ending(code)

    def end(self) -> None:
        """End the process and all that it has started; a second time does nothing."""
        if self._job.source is None:  # one of azlab's own, which may have a program to close
            self._link.close()
            self._process.join(SECONDS_TO_END)
        self.kill()
        self._process.join()
        self._link.close()
        if self._reading.ident is not None:
            self._reading.join(SECONDS_TO_END)  # something that has left the group may still hold the other end

    def kill(self) -> None:
        """End the process at once, from any thread."""
        if not IS_WINDOWS and self._process.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()  # if it is not yet a group of its own


@contextlib.contextmanager
def _environment(job: Job) -> Iterator[None]:
    """What a new process finds in its environment, and on Linux the one that it is a copy of."""
    wanted = {**ENVIRONMENT, VARIABLE: json.dumps([job.game, job.options, job.searches])}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
