"""Networks as evaluators: `TorchEvaluator` and `KerasEvaluator` answer what `azlab.search.evaluators` describes.

Batches are padded to a few fixed sizes, so that no library ever plans or compiles for a new shape in the middle of a search;
padding changes no result. Values are turned from the mover's view to seat 0 by the state's `to_move`; nothing assumes that seats
alternate.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from azlab.errors import AzlabError, one_of
from azlab.games.game import Game
from azlab.games.kernel import kernel
from azlab.nets.dense import DenseNet, is_dense
from azlab.nets.encodings import check_encoding, encode, input_shape, outputs_of_actions

SIZES = (1, 4, 16, *range(32, 257, 32))  # batch sizes that nets run with on a CPU; a longer batch is cut into pieces
GPU_SIZES = (*SIZES, 512, 1024, 2048)
TINY = np.float32(1e-30)  # so that a chance of 0 has a logarithm


@kernel
def masked_softmax(logits, outputs, legal, priors):
    """Softmax over the legal moves only: logits float32 [B, O], outputs int64 [A], legal bool [B, A], priors float32 [B, A].

    A legal move without an output (`outputs` -1) gets 0, unless no legal move has one: then all get the same.
    """
    for i in range(len(logits)):
        top = np.float32(-np.inf)
        count = 0
        for a in range(len(outputs)):
            priors[i, a] = 0.0
            if legal[i, a]:
                count += 1
                if outputs[a] >= 0:
                    top = max(top, logits[i, outputs[a]])
        total = np.float32(0.0)
        for a in range(len(outputs)):
            if legal[i, a] and outputs[a] >= 0:
                priors[i, a] = np.exp(logits[i, outputs[a]] - top)
                total += priors[i, a]
        for a in range(len(outputs)):
            if total > 0:
                priors[i, a] /= total
            elif legal[i, a]:
                priors[i, a] = np.float32(1.0) / np.float32(count)


def in_fixed_sizes(inputs: np.ndarray, sizes: tuple[int, ...], forward: Callable[[np.ndarray], tuple]) -> tuple[np.ndarray, ...]:
    """Run `forward` on pieces of `inputs` [B, ...], each padded with zeros to one of `sizes`, and join what it returns."""
    pieces = []
    for start in range(0, len(inputs), sizes[-1]):
        piece = inputs[start : start + sizes[-1]]
        count = len(piece)
        size = next(size for size in sizes if size >= count)
        if size > count:
            padded = np.zeros((size, *piece.shape[1:]), piece.dtype)
            padded[:count] = piece
            piece = padded
        pieces.append(tuple(part[:count] for part in forward(piece)))
    if len(pieces) == 1:
        return pieces[0]
    return tuple(np.concatenate(parts) for parts in zip(*pieces))


def for_seat_0(states: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The mover's values [B] as those of seat 0; a sentence if the net gave something that is not a number."""
    if not np.isfinite(values).all():
        raise AzlabError(
            "The network gives values that are not numbers; its training has diverged, so go back to earlier weights."
        )
    return np.where(states["to_move"] == 0, values, -values).astype(np.float32)


def find_device(device: str = "auto") -> str:
    """The device to run torch on: "cuda" or "mps" where there is one, else "cpu"."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    kind = device.split(":")[0]
    one_of("device", kind, ("auto", "cuda", "mps", "cpu"))
    if (kind == "cuda" and not torch.cuda.is_available()) or (kind == "mps" and not torch.backends.mps.is_available()):
        raise AzlabError(f"This machine has no {kind} device for torch; use device='auto'.")
    return device


class TorchEvaluator:
    """A `ResidualNet` as an evaluator: priors, values and chances of a draw.

    `fast` says how to run it, with the same results up to rounding: "winograd", the quickest on a CPU (azlab.nets.winograd),
    "torch", a copy with batch norms folded and heads joined (azlab.nets.fast), or "no", the net as it is; "auto" takes the
    first that the device can do. Weights are taken over when it is made; after training call `refresh`. On a GPU the copy is
    in half precision. `threads` is for a CPU, and by default what `azlab.nets.set_threads` or torch have set.
    """

    def __init__(self, net: Any, game: Game, device: str = "auto", fast: str = "auto", threads: int | None = None) -> None:
        one_of("fast", fast, ("auto", "winograd", "torch", "no"))
        config = net.config
        check_encoding(game, config.encoding)
        shape = config.channels, config.rows, config.cols
        if shape != input_shape(game, config.encoding) or config.actions != game.num_actions:
            raise AzlabError(
                f"The net is for a board of {config.rows}x{config.cols} with {config.actions} actions, not for {game!r}."
            )
        self.net, self.game, self.threads = net, game, threads
        self.device = find_device(device)
        self.fast = ("winograd" if self.device == "cpu" else "torch") if fast == "auto" else fast
        if self.fast == "winograd" and self.device != "cpu":
            raise AzlabError(f"fast='winograd' runs on the CPU, not on {self.device}; use fast='torch' there.")
        self.sizes = SIZES if self.device == "cpu" else GPU_SIZES
        self._outputs = np.arange(game.num_actions)
        self.refresh()

    def refresh(self) -> None:
        """Take over the net's present weights."""
        import torch

        from azlab.nets.fast import FastNet
        from azlab.nets.winograd import WinogradNet

        self._dtype = torch.float32 if self.device == "cpu" else torch.float16
        chosen = copy.deepcopy(self.net).eval() if self.fast == "no" else FastNet(self.net)
        if self.fast == "winograd":
            config = self.net.config
            self._module: Any = WinogradNet(chosen, config.rows, config.cols, self.threads or torch.get_num_threads())
        else:
            self._module = chosen.to(self.device, self._dtype)

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        """See `azlab.search.evaluators`."""
        logits, results = in_fixed_sizes(encode(self.game, states, self.net.config.encoding), self.sizes, self.forward)
        priors = np.empty(legal.shape, np.float32)
        masked_softmax(logits, self._outputs, legal, priors)
        chances = np.exp(results - results.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return priors, for_seat_0(states, chances[:, 1] - chances[:, 2]), chances[:, 0]

    def forward(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Policy logits [B, A] and result logits [B, 3] (draw, win, loss for the mover) of encoded states, as they come."""
        import torch

        if self.fast == "winograd":
            rows = self._module(inputs)
        else:
            with torch.inference_mode():
                out = self._module(torch.from_numpy(inputs).to(self.device, self._dtype))
                rows = (torch.cat([out.policy, out.result], dim=1) if self.fast == "no" else out).float().cpu().numpy()
        return np.ascontiguousarray(rows[:, :-3]), rows[:, -3:]


class KerasEvaluator:
    """A Keras model with the output "policy" (chances) and, if it has one, "value" as an evaluator.

    `encoding` is a name of azlab.nets.encodings. A model without a value gives 0. With `fast` "auto" a dense network runs in
    NumPy (azlab.nets.dense) on `threads` threads (default: see `set_threads`); any other, or with "no", is called through one
    compiled function of TensorFlow, never through `model.predict`, which takes 66 ms a call. After training call `refresh`.
    """

    def __init__(self, model: Any, game: Game, encoding: str, fast: str = "auto", threads: int | None = None) -> None:
        check_encoding(game, encoding)
        one_of("fast", fast, ("auto", "no"))
        if not isinstance(model.output, dict) or "policy" not in model.output:
            raise AzlabError("The model needs an output named 'policy'; azlab.nets.keras_nets shows how.")
        if tuple(model.input.shape[1:]) != input_shape(game, encoding):
            wanted, given = tuple(model.input.shape[1:]), input_shape(game, encoding)
            raise AzlabError(f"The model reads {wanted}, but {game.name} encoded as {encoding!r} gives {given}.")
        self.model, self.game, self.encoding, self.threads = model, game, encoding, threads
        self._outputs = outputs_of_actions(game, model.output["policy"].shape[-1])
        self.in_numpy = fast == "auto" and is_dense(model)
        self._call: Any = None if self.in_numpy else _tensorflow_call(model)
        self.refresh()

    def refresh(self) -> None:
        """Take over the model's present weights."""
        if self.in_numpy:
            self._call = DenseNet(self.model, self.threads)

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        """See `azlab.search.evaluators`."""
        policy, values = in_fixed_sizes(encode(self.game, states, self.encoding), SIZES, self.forward)
        priors = np.empty(legal.shape, np.float32)
        masked_softmax(np.log(policy + TINY), self._outputs, legal, priors)
        return priors, for_seat_0(states, values)

    def forward(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Move chances [B, O] and values [B] for the mover of encoded states, as they come."""
        return self._call(inputs)


def _tensorflow_call(model: Any) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The model as one compiled function; it sees later weights by itself."""
    import tensorflow as tf

    compiled = tf.function(lambda x: model(x, training=False))

    def call(inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        out = compiled(tf.convert_to_tensor(inputs))
        policy = out["policy"].numpy()
        return policy, out["value"].numpy()[:, 0] if "value" in out else np.zeros(len(policy), np.float32)

    return call
