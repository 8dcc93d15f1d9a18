"""Boards to look at and to play on, pictures of searches and learning curves, and the progress of long work."""

from azlab.lazy import lazily
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
__getattr__, __dir__ = lazily("azlab.show", _WHERE, ["progress"])
