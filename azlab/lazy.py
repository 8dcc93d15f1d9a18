"""Packages whose parts are loaded when first asked for, because torch takes seconds to import and TensorFlow more."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def lazily(
    package: str, where: Mapping[str, str], present: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package: `where` has the module of each name, `present` the names that are there."""

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"{package} has no {name}; it has {', '.join([*present, *where])}.")
        return getattr(importlib.import_module(f"{package}.{where[name]}"), name)

    return get, lambda: sorted([*present, *where])
