"""Networks and what turns them into evaluators. Importing this loads neither torch nor TensorFlow; its parts do when used."""

from azlab.lazy import lazily

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
    "Encoding": "encodings",
    "load_net": "kinds",
    "register_net": "kinds",
}

__all__ = list(_WHERE)
__getattr__, __dir__ = lazily("azlab.nets", _WHERE)
