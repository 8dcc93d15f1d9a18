"""The source's learning curves, data/sources/s5_curves.csv, to lay ours over.

A curve is known only inside its figure: its first and last points may lie on the figure's edge, where the line leaves it.
"""

import numpy as np

from azlab.errors import AzlabError
from azlab.repro.sources import source_table


def source_runs(arm: str, measure: str = "hard") -> list[np.ndarray]:
    """The runs of an arm, such as "baseline": float64 [points, 2] each, of hours of self-play and value.

    `measure`: accuracy in percent on the "hard" or the "easy" set, or "diversity", the share of new positions.
    """
    table = source_table("s5_curves.csv")
    rows = [k for k in range(len(table["arm"])) if (table["arm"][k], table["measure"][k]) == (arm, measure)]
    if not rows:
        arms = sorted({name for name, kind in zip(table["arm"], table["measure"], strict=True) if kind == measure})
        raise AzlabError(f"The source has no curve {arm!r} of {measure!r}; it has {', '.join(arms) or 'hard, easy, diversity'}.")
    runs = np.array([int(table["run"][k]) for k in rows])
    points = np.array([[float(table[name][k]) for name in ("hours", "value")] for k in rows])
    return [points[runs == run] for run in np.unique(runs)]


def source_mean(arm: str, hours: float, measure: str = "hard") -> float:
    """The mean of an arm's runs after so many hours, on straight lines between their points; nan where a run is not known."""
    runs = source_runs(arm, measure)
    return float(np.mean([np.interp(hours, run[:, 0], run[:, 1], left=np.nan, right=np.nan) for run in runs]))
