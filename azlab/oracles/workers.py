"""Processes that share work: they end with the process that started them, and soon after Ctrl-C.

A function that is given to `Workers` calls `check_stop` now and then, between two things of which it would lose one.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from azlab.errors import AzlabError

_stop: Any = None  # the event of this process, if it is one of the workers


class Stopped(Exception):
    """The work is no longer wanted."""


def check_stop() -> None:
    """Leave the work if nobody waits for it any more."""
    if _stop is not None and _stop.is_set():
        raise Stopped


class Workers:
    """So many processes, started afresh; with one, the work is done in this process as soon as it is submitted."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._pool: ProcessPoolExecutor | None = None
        if processes > 1:
            # Not copies of this process: copies of one with threads (torch, Jupyter) may hang.
            context = multiprocessing.get_context("spawn")
            self._event = context.Event()
            self._pool = ProcessPoolExecutor(processes, context, _start, (self._event,))

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._event.set()
            self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, work: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Have work(*arguments) done."""
        if self._pool is not None:
            try:
                return self._pool.submit(work, *arguments)
            except BrokenProcessPool:
                raise _lost() from None
        done: Future[Any] = Future()
        done.set_result(work(*arguments))
        return done

    def wait(self, futures: Iterable["Future[Any]"]) -> None:
        """Wait until one of them is done; what it raised is raised here."""
        try:
            for future in wait(list(futures), return_when=FIRST_COMPLETED).done:
                future.result()
        except BrokenProcessPool:
            raise _lost() from None


def _lost() -> AzlabError:
    return AzlabError(
        "A process that shared the work was ended from outside; the system does so if memory is short. The same command goes on "
        "from what is finished."
    )


def _start(event: Any) -> None:
    global _stop
    _stop = event
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one tells the others
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
