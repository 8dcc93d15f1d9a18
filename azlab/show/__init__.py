"""Boards to look at and to play on, pictures of searches and learning curves, and the progress of long work."""

import importlib
from typing import Any

from azlab.show.progress import progress

# loaded when asked for: they need matplotlib or widgets
_WHERE = {
    "curves": "learning_curves",
    "LiveCurves": "learning_curves",
    "play": "play_board",
    "replay": "replay_board",
    "search": "search_explorer",
    "beside": "tables",
    "move_values": "tables",
    "value_lines": "tables",
    "boards": "board_row",
}

__all__ = ["progress", *_WHERE]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"azlab.show has no {name}; it has {', '.join(__all__)}.")
    return getattr(importlib.import_module(f"azlab.show.{_WHERE[name]}"), name)
