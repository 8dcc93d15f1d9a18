"""Listeners to a training's progress: a terminal, a log of JSON lines, several at once. A notebook's is `azlab.show.LiveCurves`.

A listener is called as listener(what is being done, steps done, steps in all), and after each iteration as
listener("iteration", iteration, iterations, **metrics).
"""

import json
import shutil
import sys
import time
from collections.abc import Callable
from threading import Lock
from typing import IO, Any

from tqdm import tqdm

# What people want to see first, and how; everything else is in metrics.jsonl.
SHOWN = {
    "loss": ("loss", "{:.3f}"),
    "network_accuracy": ("net", "{:.1%}"),
    "mcts_accuracy": ("search", "{:.1%}"),
    "mean_loss": ("lost", "{:.3f}"),
    "elo": ("Elo", "{:+.0f}"),
    "gate_score": ("gate", "{:.1%}"),
    "diversity": ("new", "{:.0%}"),
}


def headline(metrics: dict[str, Any]) -> str:
    """An iteration in one line."""
    parts = [f"iteration {metrics['iteration']}", f"{metrics['total_seconds'] / 60:.1f} min"]
    parts += [f"{metrics['moves'] / max(1e-9, metrics['play_seconds']):,.0f} moves/s"]
    parts += [f"{name} {form.format(metrics[key])}" for key, (name, form) in SHOWN.items() if metrics.get(key) is not None]
    if metrics.get("accepted") is False:
        parts.append("rejected")
    return ", ".join(parts)


def counter(progress: Callable[..., None], what: str, total: int, done: int = 0) -> Callable[[int], None]:
    """A function for several threads that adds up what they have done and tells the listener."""
    lock = Lock()

    def report(count: int) -> None:
        nonlocal done
        with lock:  # listeners need not be made for threads
            done = min(done + count, total)
            progress(what, done, total)

    return report


class TerminalProgress:
    """A bar for what is going on, and a line for each iteration."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stderr
        self._bar: Any = None
        self._what = ""

    def __call__(self, what: str, done: int, total: int, **metrics: Any) -> None:
        if what != self._what:
            self.close()
            self._what = what
        if what == "iteration":
            print(headline(metrics), file=self._stream, flush=True)
            return
        if self._bar is None:
            self._bar = tqdm(total=total, desc=what, leave=False, file=self._stream, disable=None)
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class JsonProgress:
    """One JSON line an iteration."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stdout

    def __call__(self, what: str, done: int, total: int, **metrics: Any) -> None:
        if what == "iteration":
            print(json.dumps(metrics), file=self._stream, flush=True)


class SweepProgress:
    """A sweep (azlab.learning.sweep).

    On a terminal a line for each unit under way and one for all of them, redrawn in place; in a log a line for each unit that
    ends, and now and then one for all.
    """

    def __init__(self, stream: IO[str] | None = None, pause: float = 60.0) -> None:
        self._stream = stream or sys.stderr
        self._is_live = self._stream.isatty()
        self._pause = pause  # seconds between two lines on all in a log
        self._under_way: dict[str, str] = {}  # units and how far they are
        self._all = ""
        self._drawn = 0  # lines that stand below what stays
        self._said = time.monotonic()

    def __call__(self, what: str, done: int, total: int, **facts: Any) -> None:
        step = f"{done} of {total}" if total else f"{done}"
        if what == "units":
            self._all = f"{step} units are done"
            self._show()
        elif "error" in facts or facts.get("finished"):
            self._under_way.pop(what, None)
            self._show(f"{what} failed after {step}: {facts['error']}" if "error" in facts else f"{what} is done: {step}")
        else:
            shown = [f"{name} {form.format(facts[key])}" for key, (name, form) in SHOWN.items() if facts.get(key) is not None]
            self._under_way[what] = ", ".join([f"{what}: {step}", *shown])
            self._show()

    def _show(self, lasting: str = "") -> None:
        """Say what lasts, and on a terminal how all is; in a log that too if it has not been said for long."""
        if self._is_live:
            self.close()
            lines = [*self._under_way.values(), self._all]
            width = shutil.get_terminal_size().columns - 1  # a longer line would take two
            text = "".join(line[:width] + "\n" for line in lines)
            self._stream.write((lasting and lasting + "\n") + text)
            self._drawn = len(lines)
        else:
            lines = [lasting] if lasting else []
            if time.monotonic() - self._said > self._pause:
                self._said = time.monotonic()
                lines.append("; ".join([self._all, *self._under_way.values()]))
            self._stream.write("".join(line + "\n" for line in lines))
        self._stream.flush()

    def close(self) -> None:
        """Remove what was drawn in place."""
        if self._drawn:
            self._stream.write(f"\033[{self._drawn}A\r\033[J")
            self._stream.flush()
            self._drawn = 0
