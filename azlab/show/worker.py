"""Work beside the kernel: a thread for each question, so that the notebook goes on; answers nobody wants any more are dropped.

Compiled searches let other threads run. Python cannot end a thread, so a cancelled search runs to its end unheard; the next
question to the same agent waits for it, because agents (a GTP engine, say) answer one question at a time.
"""

import threading
import weakref
from collections.abc import Callable
from typing import Any

_locks: weakref.WeakKeyDictionary[Any, threading.Lock] = weakref.WeakKeyDictionary()
_guard = threading.Lock()


def lock_of(whom: Any) -> threading.Lock:
    """The lock of an agent or oracle, the same for all boards that share it."""
    with _guard:
        try:
            return _locks.setdefault(whom, threading.Lock())
        except TypeError:  # it cannot be hashed or referred to weakly; then it is not shared often either
            return threading.Lock()


class Worker:
    """Answers the newest question; `lock` is held while an answer is handed over."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self.newest = 0  # the number of the question whose answer is still wanted
        self.busy = False

    def ask(self, whom: Any, question: Callable[[], Any], answer: Callable[[Any, Exception | None], None]) -> int:
        """Run `question()` in a thread, then `answer(found, error)`, unless it was cancelled or replaced by another.

        Return the question's number.
        """
        with self._lock:
            self.newest += 1
            self.busy = True
            number = self.newest
        threading.Thread(
            target=self._run, args=(number, lock_of(whom), question, answer), name="azlab board", daemon=True
        ).start()
        return number

    def cancel(self) -> None:
        """Forget the question that is being answered."""
        with self._lock:
            self.newest += 1
            self.busy = False

    def _run(self, number: int, turn: threading.Lock, question: Callable, answer: Callable) -> None:
        found, failure = None, None
        with turn:
            if number != self.newest:
                return
            try:
                found = question()
            except Exception as error:  # an agent may be anybody's code; the board shows what it said
                failure = error
        with self._lock:
            if number == self.newest:
                self.busy = False
                answer(found, failure)
