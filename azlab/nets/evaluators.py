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
from azlab.nets.encodings import PLANES, PLANES_LAST, Encoding, find_encoding, own_encoding
from azlab.nets.outputs import Form, look

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
    """A `torch.nn.Module` as an evaluator: priors, values and, where the net tells them, chances of a draw.

    `fast` says how to run a `ResidualNet`, with the same results up to rounding: "winograd", the quickest on a CPU
    (azlab.nets.winograd), "torch", a copy with batch norms folded and heads joined (azlab.nets.fast), or "no", the net as it is;
    "auto" takes the first that the device can do. "bfloat16" rounds what "torch" computes to 8 bits: quicker than "winograd" on a
    CPU with instructions for it (azlab.amx.is_bfloat16_fast), slow on any other. Any other net runs as it is, see
    azlab.nets.outputs for what it may return. Weights are taken over when it is made; after training call `refresh`. On a GPU the
    copy of a `ResidualNet` is in half precision. `threads` is for a CPU, and by default what `azlab.nets.set_threads` or torch
    have set. `encoding` is by default the net's own (`net.encoding`), else "planes".
    """

    def __init__(
        self,
        net: Any,
        game: Game,
        device: str = "auto",
        fast: str = "auto",
        threads: int | None = None,
        encoding: str | Encoding | None = None,
    ) -> None:
        from azlab.nets.residual import ResidualNet

        one_of("fast", fast, ("auto", "winograd", "torch", "bfloat16", "no"))
        self.net, self.game, self.threads = net, game, threads
        self.encoding = find_encoding(encoding or own_encoding(net))
        self.device = find_device(device)
        is_residual = isinstance(net, ResidualNet)
        if not is_residual and fast not in ("auto", "no"):
            raise AzlabError(f"fast={fast!r} is for a ResidualNet; a {type(net).__name__} runs as it is: leave it out.")
        self.fast = "no" if not is_residual else ("winograd" if self.device == "cpu" else "torch") if fast == "auto" else fast
        if self.fast in ("winograd", "bfloat16") and self.device != "cpu":
            raise AzlabError(f"fast={self.fast!r} runs on the CPU, not on {self.device}; use fast='torch' there.")
        self.form = torch_form(net, game, self.encoding)
        self.sizes = SIZES if self.device == "cpu" else GPU_SIZES
        self._half = is_residual and self.device != "cpu"
        self._outputs = self.encoding.outputs(game, self.form.policies)
        self.refresh()

    def refresh(self) -> None:
        """Take over the net's present weights."""
        import torch

        self._dtype = torch.float16 if self._half else torch.float32
        if self.fast == "no":
            self._module: Any = copy.deepcopy(self.net).eval().to(self.device, self._dtype)
            return
        from azlab.nets.fast import FastNet
        from azlab.nets.winograd import WinogradNet

        folded = FastNet(self.net)
        if self.fast == "winograd":
            config = self.net.config
            self._module = WinogradNet(folded, config.rows, config.cols, self.threads or torch.get_num_threads())
        elif self.fast == "bfloat16":
            self._module = folded.rounded()
        else:
            self._module = folded.to(self.device, self._dtype)

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        """See `azlab.search.evaluators`."""
        logits, results = in_fixed_sizes(self.encoding.encode(self.game, states), self.sizes, self.forward)
        priors = np.empty(legal.shape, np.float32)
        masked_softmax(logits, self._outputs, legal, priors)
        return (priors, *result_of(states, results))

    def forward(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Policy logits [B, O] and values [B, R] of encoded states as they come: R is 3 for the logits of draw, win and loss for
        the mover, 1 for the expected result, 0 if the net gives none."""
        import torch

        if self.fast == "winograd":
            rows = self._module(inputs)
        else:
            if self.fast == "bfloat16" and self.threads:
                torch.set_num_threads(self.threads)  # of torch's, in this thread: workers have a core each
            with torch.inference_mode():
                out = self._module(torch.from_numpy(np.ascontiguousarray(inputs)).to(self.device, self._dtype))
                rows = (self._joined(out) if self.fast == "no" else out).float().cpu().numpy()
        return np.ascontiguousarray(rows[:, : self.form.policies]), rows[:, self.form.policies :]

    def _joined(self, out: Any) -> Any:
        """Policy and value side by side."""
        import torch

        if self.form.is_array:
            return out
        heads = self.form.heads(out)
        value = [heads[name].reshape(len(heads["policy"]), -1) for name in ("result", "value") if name in heads]
        return torch.cat([heads["policy"], *value], dim=1)


def torch_form(net: Any, game: Game, encoding: Encoding) -> Form:
    """What a torch net gives, by a dry run that leaves it as it is; a sentence if it does not fit the game."""
    import torch

    from azlab.nets.residual import ResidualNet

    if isinstance(net, ResidualNet):  # its configuration tells
        config = net.config
        encoding.check(game)
        shape = config.channels, config.rows, config.cols
        if shape != encoding.encode(game, game.new_states(1)).shape[1:] or config.actions != game.num_actions:
            raise AzlabError(
                f"The net is for a board of {config.rows}x{config.cols} with {config.actions} actions, not for {game!r}."
            )
        return Form(config.actions, 3)

    def call(inputs: np.ndarray) -> Any:
        place = next(iter(net.parameters()), torch.zeros(0)).device
        with torch.no_grad():  # not inference_mode: layers of torch's lazy kind get their weights now, to be trained later
            return net(torch.from_numpy(np.ascontiguousarray(inputs)).to(place))

    was_training = net.training
    net.eval()  # statistics of batch norms stay as they are
    try:
        return look(game, encoding, call)[0]
    finally:
        net.train(was_training)


def result_of(states: np.ndarray, results: np.ndarray) -> tuple[np.ndarray, ...]:
    """Values [B] for seat 0, and chances of a draw where known, from what a net says of the result: [B, R], see `forward`."""
    if results.shape[1] == 3:
        chances = np.exp(results - results.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return for_seat_0(states, chances[:, 1] - chances[:, 2]), chances[:, 0]
    values = results[:, 0] if results.shape[1] else np.zeros(len(states), np.float32)
    return (for_seat_0(states, np.clip(values, -1, 1)),)


class KerasEvaluator:
    """A Keras model as an evaluator; see azlab.nets.outputs for what it may return.

    `encoding` is an `Encoding` or its name, by default the game's planes, in the order that the model's input has. Whether policy
    and result are chances or logits is found by a dry run (what is positive and adds up to 1 are chances), or told by `logits`. A
    model without a value gives 0.
    With `fast` "auto" a dense network runs in NumPy (azlab.nets.dense) on `threads` threads (default: see `set_threads`); any
    other, or with "no", is called through one compiled function of TensorFlow, never through `model.predict`, which takes 66 ms a
    call. After training call `refresh`.
    """

    def __init__(
        self,
        model: Any,
        game: Game,
        encoding: str | Encoding | None = None,
        fast: str = "auto",
        threads: int | None = None,
        logits: bool | None = None,
    ) -> None:
        one_of("fast", fast, ("auto", "no"))
        self.model, self.game, self.threads = model, game, threads
        self.encoding = keras_encoding(model, game, encoding)
        self.form, self.logits = keras_form(model, game, self.encoding, logits)
        self._outputs = self.encoding.outputs(game, self.form.policies)
        self.in_numpy = fast == "auto" and self.form.results < 3 and is_dense(model)
        self._call: Any = None if self.in_numpy else _tensorflow_call(model, self.form)
        self.refresh()

    def refresh(self) -> None:
        """Take over the model's present weights."""
        if self.in_numpy:
            self._call = DenseNet(self.model, self.threads)

    def evaluate(self, states: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, ...]:
        """See `azlab.search.evaluators`."""
        policy, results = in_fixed_sizes(self.encoding.encode(self.game, states), SIZES, self.forward)
        priors = np.empty(legal.shape, np.float32)
        masked_softmax(policy if "policy" in self.logits else np.log(policy + TINY), self._outputs, legal, priors)
        if self.form.results == 3:
            return (priors, *result_of(states, results if "result" in self.logits else np.log(results + TINY)))
        return (priors, *result_of(states, results[:, None]))

    def forward(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Policy [B, O] and, for the mover, values [B] or draw, win, loss [B, 3] of encoded states, as they come."""
        return self._call(inputs)


def keras_encoding(model: Any, game: Game, encoding: str | Encoding | None) -> Encoding:
    """How a Keras model sees states: as told, else by its planes, which come last unless its input says otherwise."""
    if encoding is not None:
        return find_encoding(encoding)
    channels, height, width = game.planes_shape
    shape = getattr(model, "input_shape", None)
    is_first = shape is not None and tuple(shape)[1:] == game.planes_shape != (height, width, channels)
    return PLANES if is_first else PLANES_LAST


def keras_form(model: Any, game: Game, encoding: Encoding, logits: bool | None = None) -> tuple[Form, frozenset[str]]:
    """What a Keras model gives, by a dry run, and which of its heads are logits; a sentence if it does not fit the game.

    Heads of chances are positive and add up to 1; `logits` tells it for both policy and result.
    """
    if logits is not None:
        one_of("logits", logits, (True, False))
    form, out = look(game, encoding, lambda inputs: model(inputs, training=False))
    heads = {name: np.asarray(head) for name, head in form.heads(out).items() if name in ("policy", "result")}
    is_chances = {name: bool((head >= 0).all() and np.allclose(head.sum(axis=1), 1, atol=1e-3)) for name, head in heads.items()}
    return form, frozenset(name for name in heads if logits or (logits is None and not is_chances[name]))


def _tensorflow_call(model: Any, form: Form) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The model as one compiled function; it sees later weights by itself."""
    import tensorflow as tf

    compiled = tf.function(lambda x: model(x, training=False))

    def call(inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        heads = form.heads(compiled(tf.convert_to_tensor(inputs)))
        policy = heads["policy"].numpy()
        found = heads.get("result", heads.get("value"))
        return policy, np.zeros(len(policy), np.float32) if found is None else found.numpy()

    return call
