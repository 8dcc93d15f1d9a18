"""Dense Keras networks without TensorFlow: a chain of matrix products in NumPy, for inference on a CPU.

A call of TensorFlow costs half a millisecond or more whatever it computes, and with few positions that exceeds the arithmetic.
Here batch norms are folded into the layer before them, dropout does nothing, and the two heads become one matrix. Results are
the same up to rounding.

Threads share nothing: each takes some of the positions through all layers. The threads of NumPy's own products would have to meet
in every layer, which is slow when another thread or program has taken one of the cores; they are switched off.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from azlab.nets.threads import one_blas_thread
from azlab.nets.threads import threads as threads_to_use

SHARE = 16  # positions that are worth a thread


class DenseNet:
    """The network of a Keras model for which `is_dense` holds, with its present weights; `threads`: see `set_threads`."""

    def __init__(self, model: Any, threads: int | None = None) -> None:
        one_blas_thread()
        self._threads = threads or threads_to_use()
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
        self._layers: list[tuple[np.ndarray, np.ndarray, bool]] = []  # weights, biases, is there a ReLU
        heads = {}
        for layer in model.layers:
            kind = type(layer).__name__
            if kind == "Dense":
                weights, bias = (np.array(array, np.float32) for array in layer.get_weights())
                if layer.name in model.output:
                    heads[layer.name] = weights, bias
                else:
                    self._layers.append((weights, bias, False))
            elif kind == "BatchNormalization":
                self._layers[-1] = *_folded(*self._layers[-1][:2], layer), False
            elif kind == "ReLU":
                self._layers[-1] = *self._layers[-1][:2], True
        joined = [heads[name] for name in ("policy", "value") if name in heads]
        self._heads = np.concatenate([weights for weights, _ in joined], axis=1), np.concatenate([bias for _, bias in joined])
        self._outputs = heads["policy"][0].shape[1]

    def __call__(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Move chances [B, O] and values [B] for inputs [B, ...]; values are 0 if the model has none."""
        pieces = min(self._threads, len(inputs) // SHARE)
        if self._pool is None or pieces < 2:
            return self._forward(inputs)
        policies, values = zip(*self._pool.map(self._forward, np.array_split(inputs, pieces)))
        return np.concatenate(policies), np.concatenate(values)

    def _forward(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = inputs.reshape(len(inputs), -1)
        for weights, bias, has_relu in self._layers:
            x = x @ weights
            x += bias
            if has_relu:
                np.maximum(x, 0, out=x)
        x = x @ self._heads[0] + self._heads[1]
        policy, values = x[:, : self._outputs], x[:, self._outputs :]
        policy = np.exp(policy - policy.max(axis=1, keepdims=True))
        policy /= policy.sum(axis=1, keepdims=True)
        return policy, np.tanh(values[:, 0]) if values.shape[1] else np.zeros(len(x), np.float32)


FOLLOWS = {  # kinds of layers, and after which ones `DenseNet` can fold them
    "Flatten": ("start",),
    "Dense": ("start", "Flatten", "Dense", "BatchNormalization", "ReLU"),
    "BatchNormalization": ("Dense",),
    "ReLU": ("Dense", "BatchNormalization"),
}


def is_dense(model: Any) -> bool:
    """Whether the model is a chain of Dense layers, each with a batch norm and a ReLU if wanted, and dropout anywhere, that ends
    in the heads "policy" (softmax) and, if there is one, "value" (tanh)."""
    activations = {"policy": "softmax", "value": "tanh"}
    if not isinstance(getattr(model, "output", None), dict) or set(model.output) - set(activations):
        return False
    x, before, heads = model.input, "start", 0
    for layer in model.layers:
        kind = type(layer).__name__
        if kind == "InputLayer":
            continue
        if layer.input is not x:
            return False
        if kind == "Dense" and layer.output is model.output.get(layer.name):
            if layer.activation.__name__ != activations[layer.name] or not layer.use_bias:
                return False
            heads += 1
            continue
        if heads or (kind != "Dropout" and before not in FOLLOWS.get(kind, ())):
            return False
        if kind == "Dense" and (layer.activation.__name__ != "linear" or not layer.use_bias):
            return False
        if kind == "ReLU" and (layer.max_value is not None or layer.negative_slope or layer.threshold):
            return False
        x, before = layer.output, before if kind == "Dropout" else kind
    return heads == len(model.output)


def _folded(weights: np.ndarray, bias: np.ndarray, norm: Any) -> tuple[np.ndarray, np.ndarray]:
    """Weights and biases of a layer and the batch norm after it."""
    scale = 1 / np.sqrt(norm.moving_variance.numpy() + norm.epsilon)
    shift = np.zeros_like(scale)
    if norm.scale:
        scale = scale * norm.gamma.numpy()
    if norm.center:
        shift = norm.beta.numpy()
    return (weights * scale).astype(np.float32), ((bias - norm.moving_mean.numpy()) * scale + shift).astype(np.float32)
