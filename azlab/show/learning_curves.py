"""Learning curves of a training run: `curves(folder)` draws them, `curves(folder, live=True)` stays and follows a run of another
process, `LiveCurves` is the listener of a run in this one.

    from azlab.learning import AlphaZero, preset
    from azlab.show import LiveCurves
    AlphaZero.from_config(preset("tictactoe"), "runs/tictactoe", LiveCurves()).train()
"""

import io
import os
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from matplotlib.figure import Figure  # not pyplot: a figure belongs to the caller alone, and is shown once

from azlab.errors import AzlabError

# One panel each: title, whether it is a share, and the metrics in it with their labels.
PANELS: list[tuple[str, bool, dict[str, str]]] = [
    ("loss", False, {"policy_loss": "policy", "value_loss": "value", "reply_loss": "reply"}),
    ("accuracy", True, {"network_accuracy": "net alone", "mcts_accuracy": "with search", "result_accuracy": "result"}),
    ("perfect play", True, {"perfect": "table"}),
    ("Elo", False, {"elo": "Elo"}),
    ("moves a second", False, {"speed": "self-play"}),
]


class Curves(Figure):
    """A figure that Jupyter shows even if nobody has loaded pyplot."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


@runtime_checkable
class Measured(Protocol):
    """A run that keeps its metrics, such as an `AlphaZero`."""

    metrics: list[dict[str, Any]]


def _rows(run: Any) -> list[dict[str, Any]]:
    """The metrics of a run: its folder, the run itself, or the metrics."""
    if isinstance(run, list):
        return run
    if not isinstance(run, str | os.PathLike):
        if not isinstance(run, Measured):
            raise AzlabError(f"Curves are drawn of a run's folder, of an AlphaZero or of its metrics, not of {run!r}.")
        return run.metrics
    from azlab.learning.run_files import RunFiles

    if not Path(run).is_dir():
        raise AzlabError(f"There is no folder {run}.")
    return RunFiles(Path(run)).metrics()


def curves(run: Any, against: str = "minutes", live: bool = False) -> Any:
    """A figure with the learning curves of `run`, a folder or an `AlphaZero`; `against` is "minutes" or "iteration".

    `live` shows the folder's curves and renews them until its run has finished or the kernel is interrupted.
    """
    if live:
        return _follow(run)
    if against not in ("minutes", "iteration"):
        raise AzlabError(f"Curves are drawn against 'minutes' or 'iteration', not {against!r}.")
    rows = _rows(run)
    if not rows:
        raise AzlabError(f"{run} has no finished iteration yet.")
    rows = [row | {"minutes": row["total_seconds"] / 60, "speed": row["moves"] / max(1e-9, row["play_seconds"])} for row in rows]
    used = [panel for panel in PANELS if any(row.get(key) is not None for row in rows for key in panel[2])]
    figure = Curves(figsize=(3.4 * len(used), 2.8), layout="constrained")
    for axes, (title, is_share, lines) in zip(figure.subplots(1, len(used), squeeze=False)[0], used, strict=True):
        for key, label in lines.items():
            points = [(row[against], row[key]) for row in rows if row.get(key) is not None]
            if points:
                axes.plot(*zip(*points), marker="." if len(points) < 40 else "", label=label)
        axes.set_title(title)
        axes.set_xlabel(against)
        axes.grid(alpha=0.3)
        if is_share:
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        if len(axes.lines) > 1:
            axes.legend(frameon=False)
    return figure


def _follow(folder: Any) -> None:
    """Follow a run's folder; each new iteration renews the picture."""
    from azlab.learning.run_files import RunFiles

    run, listener = RunFiles[Any](folder), LiveCurves()
    total = run.iterations()
    try:
        for row in run.follow():
            listener("iteration", row["iteration"], total, **row)
    except KeyboardInterrupt:
        return


class LiveCurves:
    """A listener for notebooks: a line on what is going on, and the curves, renewed after every iteration."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._chart: Any = None
        self._line: Any = None
        self._last = ""

    def __call__(self, what: str, done: int, total: int, **metrics: Any) -> None:
        from IPython.display import display

        if what != "iteration":
            text = f"{what}: {100 * done // max(1, total)}%"
            if text != self._last:  # at most a hundred messages for each kind of work
                self._last = text
                self._show_line(text)
            return
        from azlab.learning.progress import headline

        self._rows.append(metrics)
        self._show_line(headline(metrics))
        figure = curves(self._rows)
        if self._chart is None:
            self._chart = display(figure, display_id=True)
        else:
            self._chart.update(figure)

    def _show_line(self, text: str) -> None:
        from IPython.display import Markdown, display

        if self._line is None:
            self._line = display(Markdown(text), display_id=True)
        else:
            self._line.update(Markdown(text))
