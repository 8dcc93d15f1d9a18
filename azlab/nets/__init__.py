"""Networks and what turns them into evaluators. Importing this loads neither torch nor TensorFlow; its parts do when used."""

import importlib
from typing import Any

# name: module that has it; loaded when first asked for, because torch takes seconds and TensorFlow more
_WHERE = {
    "ResidualConfig": "residual",
    "ResidualNet": "residual",
    "count_parameters": "residual",
    "TorchEvaluator": "evaluators",
    "KerasEvaluator": "evaluators",
    "save_torch": "weights",
    "load_torch": "weights",
    "save_keras": "weights",
    "load_keras_weights": "weights",
    "set_threads": "threads",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"azlab.nets has no {name}; it has {', '.join(_WHERE)}.")
    return getattr(importlib.import_module(f"azlab.nets.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_WHERE)
