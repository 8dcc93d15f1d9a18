"""A figure measured in a process of its own: what kills the process costs this figure only.

A library may use an instruction that the processor announces and the machine forbids. The system then ends the process at once,
and no `except` helps.
"""

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from azlab.bench.search import best_rate
from azlab.endings import ending


class Alone:
    """A run that is prepared and timed in a child: `prepare(*args)` gives it there, so both must be something pickle can name."""

    def __init__(self, prepare: Callable[..., Callable[[], int]], *args: Any) -> None:
        context = multiprocessing.get_context("spawn")  # a fork of a process that has run torch's threads may hang
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, prepare, args), daemon=True)
        self._process.start()
        theirs.close()
        self.lost = ""  # what happened, once there are no more figures

    def rate(self, seconds: float) -> float:
        """As `azlab.bench.search.best_rate`; 0 once `lost` says why."""
        if self.lost:
            return 0.0
        try:
            self._pipe.send(seconds)
            found = self._pipe.recv()
        except (EOFError, OSError):  # nobody is left to answer
            self._process.join()
            found = ending(self._process.exitcode or 0)
        if isinstance(found, float):
            return found
        self.lost = str(found)
        return 0.0

    def close(self) -> None:
        """End the child, at once: all its figures are here."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, prepare: Callable[..., Callable[[], int]], args: tuple[Any, ...]) -> None:
    """The child: a rate for every number of seconds that comes, or one sentence in place of a rate."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one ends the others
    try:
        run = prepare(*args)
        while True:
            pipe.send(best_rate(run, pipe.recv()))
    except EOFError:
        return
    except Exception as error:
        pipe.send(f"failed: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
