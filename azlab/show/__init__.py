"""Pictures: boards, analyses, learning curves. Parts are loaded when asked for."""

import importlib
from typing import Any

_WHERE = {"curves": "learning_curves", "LiveCurves": "learning_curves"}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"azlab.show has no {name}; it has {', '.join(_WHERE)}.")
    return getattr(importlib.import_module(f"azlab.show.{_WHERE[name]}"), name)
