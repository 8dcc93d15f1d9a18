"""Our games in other libraries: `azlab.interop.pettingzoo`. Games of other libraries here: `azlab.games.openspiel`."""

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Loads `azlab.interop.pettingzoo` when it is first used, since it needs that package."""
    if name == "pettingzoo":
        return importlib.import_module("azlab.interop.pettingzoo")
    raise AttributeError(f"module 'azlab.interop' has no attribute {name!r}")
