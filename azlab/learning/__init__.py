"""Learning: tables, value networks by generations, supervised training, AlphaZero. Parts are loaded when asked for."""

import importlib
from typing import Any

_WHERE = {
    "AlphaZero": "alphazero",
    "AlphaZeroConfig": "config",
    "preset": "config",
    "RunFolder": "run_folder",
    "PositionSet": "position_sets",
    "connect4_set": "position_sets",
    "go_set": "position_sets",
    "split_set": "position_sets",
    "SupervisedConfig": "supervised",
    "train_supervised": "supervised",
    "several_runs": "supervised",
    "MonteCarloControl": "tabular",
    "TableAgent": "tabular",
    "TableHistory": "table_history",
    "ValueGenerations": "generations",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"azlab.learning has no {name}; it has {', '.join(_WHERE)}.")
    return getattr(importlib.import_module(f"azlab.learning.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_WHERE)
