"""Pictures of boards, searches and learning curves, and the progress of long work."""

import importlib
from typing import Any

from azlab.show.progress import progress

_WHERE = {  # loaded when asked for; the curves need matplotlib
    "boards": "board_row",
    "curves": "learning_curves",
    "LiveCurves": "learning_curves",
}

__all__ = ["progress", *_WHERE]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"azlab.show has no {name}; it has {', '.join(__all__)}.")
    return getattr(importlib.import_module(f"azlab.show.{_WHERE[name]}"), name)
