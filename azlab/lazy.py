"""What is loaded when first asked for: parts of packages, and what a lower layer asks of an upper one by a word.

Packages are lazy because torch takes seconds to import and TensorFlow more. No module imports from a layer above its own
(docs/architecture.md has the layers), so what a lower one has to ask of an upper one stands here, in one table.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

# what is asked for: where it is
ABOVE = {
    "the picture of a position": "azlab.show.board:draw",
    "the page of an analysis": "azlab.show.analysis:as_html",
    "an agent called az": "azlab.learning.player:trained_agent",
    "an agent called net": "azlab.learning.player:net_agent",
}


def above(what: str) -> Any:
    """The function of an upper layer that ABOVE names; its module is loaded now."""
    module, _, name = ABOVE[what].partition(":")
    return getattr(importlib.import_module(module), name)


def lazily(
    package: str, where: Mapping[str, str], present: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package: `where` has the module of each name, `present` the names that are there."""

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"{package} has no {name}; it has {', '.join([*present, *where])}.")
        return getattr(importlib.import_module(f"{package}.{where[name]}"), name)

    return get, lambda: sorted([*present, *where])
