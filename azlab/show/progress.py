"""Progress of long work in a notebook: a live bar while someone watches, one stable line when the notebook runs by itself.

    with progress("match") as report:
        match("uct:1000", "random", games=200, progress=report)
    for generation in progress("generations", range(3)):
        ...

Library functions report by a callback that takes (done, total) or (what, done, total); `report` is one. The final line holds no
time, so that stored outputs can be compared.
"""

import sys
import time
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any, TypeVar, overload

from azlab.watching import watcher

Item = TypeVar("Item")
WIDTH = 24  # characters of the bar in a terminal
PAUSE = 0.1  # seconds between two looks at a live bar


class Progress:
    """A callback that shows how far work has come; a context manager that ends with one line."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.steps: dict[str, tuple[int, int]] = {}  # what is being done: (done, in all)
        self._handle: Any = None
        self._shown = float("-inf")  # when, so that a fast callback does not flood the front end

    def __call__(self, *report: Any, **facts: Any) -> None:
        what, (done, total) = (str(report[0]), report[1:]) if len(report) == 3 else ("", report)
        self.steps[what] = (int(done), int(total))
        where = watcher()
        if not where or time.monotonic() - self._shown < PAUSE:
            return
        self._shown = time.monotonic()
        if where == "jupyter":
            self._show_in_jupyter(what)
        elif where == "terminal":
            filled = int(WIDTH * done / max(total, 1))
            print(f"\r{self.label} [{'#' * filled:<{WIDTH}}] {self._step(what)}\033[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        where = watcher()
        if where == "terminal":
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        if kind is None and self._handle is not None:
            self._handle.update({"text/plain": self.line}, raw=True)
        elif kind is None:
            print(self.line)

    @property
    def line(self) -> str:
        """What remains when the work is done: "match: 200 of 200"."""
        return f"{self.label}: {'; '.join(self._step(what) for what in self.steps) or 'done'}"

    def _step(self, what: str) -> str:
        done, total = self.steps[what]
        return f"{what} {done:,} of {total:,}".strip()

    def _show_in_jupyter(self, what: str) -> None:
        from IPython.display import display

        done, total = self.steps[what]
        text = f"{self.label}: {self._step(what)}"
        bundle = {"text/plain": text, "text/html": f'<progress max="{max(total, 1)}" value="{done}"></progress> {escape(text)}'}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


@overload
def progress(label: str) -> Progress: ...
@overload
def progress(label: str, items: Iterable[Item]) -> Iterator[Item]: ...
def progress(label: str, items: Iterable[Item] | None = None) -> Progress | Iterator[Item]:
    """A callback and context manager, or, with `items`, an iterator over them that shows how far it is."""
    return Progress(label) if items is None else _walk(label, items)


def _walk(label: str, items: Iterable[Item]) -> Iterator[Item]:
    everything = list(items)
    with Progress(label) as report:
        report(0, len(everything))
        for number, item in enumerate(everything, start=1):
            yield item
            report(number, len(everything))
