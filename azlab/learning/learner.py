"""Learners: a network and its optimiser, which take one step after another on batches of examples.

`TorchLearner` trains any `torch.nn.Module`, `KerasLearner` any Keras model; azlab.nets.outputs says what these may return, and an
`Encoding` what they see. Both have the same methods, so the loops above them (AlphaZero, supervised) do not know which library
they use. A learner is saved as two files beside each other: its weights, and the optimiser's numbers.

    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(72, 128), torch.nn.ReLU(), torch.nn.Linear(128, 38))
    learner = TorchLearner(game, net, LossConfig(optimiser="adam"))
"""

import contextlib
import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from azlab.amx import is_bfloat16_fast
from azlab.errors import AzlabError, finite_number, one_of
from azlab.games.game import Game
from azlab.intact import check_arrays
from azlab.learning.window import Examples
from azlab.nets.encodings import Encoding, find_encoding, own_encoding
from azlab.nets.outputs import RESULTS, Form
from azlab.nets.threads import threads as wanted_threads
from azlab.search.evaluators import PhaseEvaluator

KIND = "azlab optimiser 2"  # the mark of an optimiser's file; the first files had none, and no checksum


@dataclass(frozen=True)
class LossConfig:
    """What is optimised, and how. Defaults are S5's (section 3.5), but for the value's weight."""

    optimiser: str = "sgd"
    # "sgd" with momentum, or "adam", which uses no momentum of ours
    value_weight: float = 1.0
    # of the loss of the value head (S5's program: 0.01)
    reply_weight: float = 0.35
    # of the loss of the reply head, where the net has one (S5 section 3.6.5)
    weight_decay: float = 1e-4
    # added to the gradient: the share of each weight that is taken off
    decay_biases: bool = True
    # False leaves biases and batch norms alone, which have one number a channel and cannot overfit much (S2)
    clip: float = 1.0
    # the gradient is cut to this length; 0 leaves it
    symmetries: bool = True
    # show each example in a randomly chosen symmetry of the board
    half: bool = False
    # a residual net learns and evaluates in bfloat16, with weights in float32, on a CPU that has instructions for it

    def __post_init__(self) -> None:
        one_of("optimiser", self.optimiser, ("sgd", "adam"))
        for name in ("value_weight", "reply_weight", "weight_decay", "clip"):
            finite_number(name, getattr(self, name), 0)
        for name in ("decay_biases", "symmetries", "half"):
            one_of(name, getattr(self, name), (True, False))


@runtime_checkable
class Learner(Protocol):
    """What the loops need of a network in training."""

    game: Game
    config: LossConfig
    net: Any
    suffix: str  # of the file of weights
    has_value: bool  # whether the network also predicts results

    def step(self, examples: Examples, rate: float, momentum: float, rng: np.random.Generator) -> dict[str, float]:
        """Learn from one batch; return the losses by name, before the step."""
        ...

    def evaluator(self, threads: int | None = None) -> Any:
        """The network as it is now, as an evaluator of a search; `refresh()` takes over later weights."""
        ...

    def version(self, weights: Path, threads: int | None = None) -> Any:
        """The network of another file that `save` wrote, as an evaluator; the learner itself stays as it is."""
        ...

    def weights(self) -> list[np.ndarray]:
        """A copy of all numbers of the network."""
        ...

    def set_weights(self, weights: list[np.ndarray]) -> None:
        """Take over what `weights` gave; the optimiser stays as it is. Evaluators have to be refreshed."""
        ...

    def save(self, weights: Path, optimiser: Path) -> None:
        """Write weights and the optimiser's numbers."""
        ...

    def load(self, weights: Path, optimiser: Path | None = None) -> None:
        """Take over what `save` wrote; without `optimiser` only the weights."""
        ...


@runtime_checkable
class FixesMomentum(Protocol):
    """A learner whose momentum is fixed when it is made; a step of the others may take any."""

    momentum: float


def turned(game: Game, examples: Examples, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Planes, policies and replies of the examples, float32, each in a symmetry of the board drawn for it."""
    planes = game.encode(examples.states)
    policy, reply = examples.policy.astype(np.float32), examples.reply.astype(np.float32)
    chosen = rng.integers(len(game.symmetries), size=examples.size)
    for number, symmetry in enumerate(game.symmetries[1:], 1):  # the first changes nothing
        rows = chosen == number
        planes[rows] = symmetry.on_planes(planes[rows])
        policy[rows] = symmetry.on_actions(policy[rows])
        reply[rows] = symmetry.on_actions(reply[rows])
    return planes, policy, reply


def in_all_symmetries(game: Game, examples: Examples) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Planes, policies and values of the examples in every symmetry of the board, float32 [S * B, ...]; row k * B + b is example
    b in symmetry k. S3 trains on such copies (section 4.5), all of them in each epoch."""
    planes, policy = game.encode(examples.states), examples.policy.astype(np.float32)
    turns = game.symmetries
    return (
        np.concatenate([symmetry.on_planes(planes) for symmetry in turns]),
        np.concatenate([symmetry.on_actions(policy) for symmetry in turns]),
        np.tile(examples.values, len(turns)),
    )


def _as_seen(game: Game, examples: Examples, config: LossConfig, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    if config.symmetries:
        return turned(game, examples, rng)
    return game.encode(examples.states), examples.policy.astype(np.float32), examples.reply.astype(np.float32)


def _at_outputs(shares: np.ndarray, outputs: np.ndarray, count: int) -> np.ndarray:
    """Shares of the actions [B, A] as targets for a net's policy outputs [B, count]; `outputs` as in `Encoding.outputs`."""
    if np.array_equal(outputs, np.arange(count)):
        return shares
    target = np.zeros((len(shares), count), np.float32)
    has_output = outputs >= 0
    target[:, outputs[has_output]] = shares[:, has_output]
    return target


class TorchLearner:
    """Any `torch.nn.Module` with SGD or Adam. `encoding` is by default the net's own (`net.encoding`), else "planes".

    A value [B, 3] is trained as chances of draw, win and loss, a value [B] or [B, 1] by squared error.
    """

    suffix = ".safetensors"

    def __init__(
        self, game: Game, net: Any, config: LossConfig, device: str = "auto", encoding: str | Encoding | None = None
    ) -> None:
        import torch

        from azlab.nets.evaluators import find_device, torch_form
        from azlab.nets.phases import PhaseNet
        from azlab.nets.residual import ResidualNet

        if not isinstance(net, torch.nn.Module) or not list(net.parameters()):
            raise AzlabError(f"A TorchLearner trains a torch.nn.Module that has parameters, not {type(net).__name__}.")
        self.game, self.config, self.device = game, config, find_device(device)
        self.encoding = find_encoding(encoding or own_encoding(net))
        self.form = torch_form(net, game, self.encoding)
        self.has_value = self.form.results > 0
        self._outputs = self.encoding.outputs(game, self.form.policies)
        self._is_phased = isinstance(net, PhaseNet)
        self._is_residual = self._is_phased or isinstance(net, ResidualNet)
        # channels last is quicker for convolutions, but a net of anyone's may rely on the usual order (`x.view`)
        self._layout = torch.channels_last if self._is_residual else torch.contiguous_format
        self.net = net.to(self.device, memory_format=self._layout)
        self._is_rounded = config.half and self._is_residual and self.device == "cpu" and is_bfloat16_fast()
        self._new_optimiser()

    def _new_optimiser(self) -> None:
        import torch

        decay = self.config.weight_decay
        groups = [{"params": weights, "weight_decay": share} for weights, share in zip(self._groups(), (decay, 0.0)) if weights]
        if self.config.optimiser == "adam":
            self._optimiser: Any = torch.optim.Adam(groups)
        else:
            self._optimiser = torch.optim.SGD(groups, lr=0.1, momentum=0.9)

    def _groups(self) -> tuple[list[Any], list[Any]]:
        """The weights that decay, and those that do not."""
        weights = list(self.net.parameters())
        if self.config.decay_biases:
            return weights, []
        return [weight for weight in weights if weight.ndim > 1], [weight for weight in weights if weight.ndim < 2]

    def step(self, examples: Examples, rate: float, momentum: float, rng: np.random.Generator) -> dict[str, float]:
        """See `Learner`."""
        import torch
        from torch.nn.functional import cross_entropy

        planes, *shares = _as_seen(self.game, examples, self.config, rng)
        policy, reply = (_at_outputs(part, self._outputs, self.form.policies) for part in shares)
        tensors = (self.encoding.inputs(planes), policy, examples.result, reply)
        inputs, policies, results, replies = (torch.from_numpy(np.ascontiguousarray(part)).to(self.device) for part in tensors)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
            if self.config.optimiser == "sgd":
                group["momentum"] = momentum
        self.net.train()
        if self._is_rounded:
            torch.set_num_threads(wanted_threads())  # an evaluator may have taken fewer
        with self._random_numbers(rng), torch.autocast("cpu", torch.bfloat16, enabled=self._is_rounded):
            phase = (torch.from_numpy(self.game.at_horizon(examples.states)).to(self.device),) if self._is_phased else ()
            heads = self.form.heads(self.net(inputs.contiguous(memory_format=self._layout), *phase))
        if self._is_rounded:  # losses are sums of small numbers
            heads = {name: head.float() for name, head in heads.items()}
        losses = {"policy_loss": cross_entropy(heads["policy"], policies)}
        total = losses["policy_loss"]
        if "result" in heads:
            losses["value_loss"] = cross_entropy(heads["result"], results)
        elif "value" in heads:  # where the result is not known it costs nothing
            wrong = heads["value"] - (results[:, 1] - results[:, 2])
            losses["value_loss"] = (results.sum(dim=1) * wrong.square()).mean()
        if self.has_value:
            total = total + self.config.value_weight * losses["value_loss"]
        if "reply" in heads:
            losses["reply_loss"] = cross_entropy(heads["reply"], replies)
            total = total + self.config.reply_weight * losses["reply_loss"]
        self._optimiser.zero_grad(set_to_none=True)
        total.backward()
        if self.config.clip:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.config.clip)
        self._optimiser.step()
        return {name: float(loss.detach()) for name, loss in {"loss": total, **losses}.items()}

    @contextlib.contextmanager
    def _random_numbers(self, rng: np.random.Generator) -> Iterator[None]:
        """Dropout of a net of anyone's draws from `rng`, so that a resumed training equals one that was never interrupted."""
        import torch

        if self._is_residual:
            yield
            return
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**62)))
            yield

    def evaluator(self, threads: int | None = None) -> Any:
        """See `Learner`."""
        return self._evaluator_of(self.net, threads)

    def _evaluator_of(self, net: Any, threads: int | None) -> Any:
        from azlab.nets.evaluators import TorchEvaluator
        from azlab.nets.phases import PhaseNet

        if isinstance(net, PhaseNet):
            return PhaseEvaluator(self.game, *(self._evaluator_of(part, threads) for part in (net.before, net.beyond)))
        return TorchEvaluator(net, self.game, self.device, self._way, threads, self.encoding)

    @property
    def _way(self) -> str:
        return "bfloat16" if self._is_rounded else "auto"

    def version(self, weights: Path, threads: int | None = None) -> Any:
        """See `Learner`."""
        from azlab.nets.weights import fill_torch

        net = copy.deepcopy(self.net)
        fill_torch(net, weights)
        return self._evaluator_of(net, threads)

    def weights(self) -> list[np.ndarray]:
        """See `Learner`."""
        return [tensor.detach().cpu().numpy().copy() for tensor in self.net.state_dict().values()]

    def set_weights(self, weights: list[np.ndarray]) -> None:
        """See `Learner`."""
        import torch

        with torch.no_grad():
            for tensor, array in zip(self.net.state_dict().values(), weights, strict=True):
                tensor.copy_(torch.from_numpy(array))

    def save(self, weights: Path, optimiser: Path) -> None:
        """See `Learner`."""
        from azlab.nets.weights import save_numbers, save_torch

        save_torch(self.net, weights)
        numbers = {
            f"{place}.{name}": value.detach().cpu().contiguous().numpy()
            for place, slots in self._optimiser.state_dict()["state"].items()
            for name, value in slots.items()
            if value is not None
        }
        save_numbers(optimiser, KIND, {}, numbers)

    def load(self, weights: Path, optimiser: Path | None = None) -> None:
        """See `Learner`."""
        import torch

        from azlab.nets.weights import fill_torch, load_numbers

        numbers = {} if optimiser is None else load_numbers(optimiser, KIND, None)[1]
        if optimiser is not None and numbers:  # there are none before the first step
            check_arrays(optimiser, numbers, self._slots())
        fill_torch(self.net, weights)
        self._new_optimiser()
        state = self._optimiser.state_dict()
        for key, array in numbers.items():
            place, name = key.split(".")
            state["state"].setdefault(int(place), {})[name] = torch.from_numpy(np.array(array))  # not a part of the file
        self._optimiser.load_state_dict(state)

    def _slots(self) -> dict[str, tuple[Any, tuple]]:
        """Type and shape of what the optimiser remembers of each weight, by its name in the file."""
        is_adam = self.config.optimiser == "adam"
        names = ("step", "exp_avg", "exp_avg_sq") if is_adam else ("momentum_buffer",)
        return {
            f"{place}.{name}": (np.float32, () if name == "step" else tuple(weight.shape))
            for place, weight in enumerate(itertools.chain(*self._groups()))
            for name in names
        }


class KerasLearner:
    """Any Keras model with SGD or Adam.

    `encoding` is by default the game's planes in the order that the model's input has; whether policy and result are chances or
    logits is found by a dry run (chances are positive and add up to 1), or told by `logits`. A model without a value, such as
    those of S2, learns the policy alone. A single value is trained by squared error, as in S3 and S4. The momentum of SGD is
    fixed when the learner is made; the reply head and clipping are torch's alone.
    """

    suffix = ".keras"

    def __init__(
        self,
        game: Game,
        model: Any,
        config: LossConfig,
        seed: int = 0,
        momentum: float = 0.9,
        encoding: str | Encoding | None = None,
        logits: bool | None = None,
    ) -> None:
        from azlab.nets.evaluators import keras_encoding, keras_form
        from azlab.nets.keras_nets import load_keras

        keras = load_keras()
        if not isinstance(model, keras.Model):
            raise AzlabError(f"A KerasLearner trains a Keras model, not {type(model).__name__}.")
        keras.utils.set_random_seed(seed)  # of dropout; the weights were drawn when the model was built
        self.game, self.config, self.net = game, config, model
        self.encoding = keras_encoding(model, game, encoding)
        self.form, self.logits = keras_form(model, game, self.encoding, logits)
        self.momentum, self._told = momentum, logits
        self.has_value = self.form.results > 0
        self._outputs = self.encoding.outputs(game, self.form.policies)
        is_adam = config.optimiser == "adam"
        self._optimiser = keras.optimizers.Adam() if is_adam else keras.optimizers.SGD(momentum=momentum)
        self._optimiser.build(model.trainable_variables)
        known = {id(variable) for variable in model.weights}
        self._random = [variable for variable in model.variables if id(variable) not in known]  # states of dropout
        inputs = self.encoding.encode(game, game.new_states(1)).shape[1:]
        self._step = _keras_step(model, self._optimiser, config, (self.form, self.logits), inputs)

    def step(self, examples: Examples, rate: float, momentum: float, rng: np.random.Generator) -> dict[str, float]:
        """See `Learner`."""
        planes, policy, _ = _as_seen(self.game, examples, self.config, rng)
        target = _at_outputs(policy, self._outputs, self.form.policies)
        self._optimiser.learning_rate.assign(rate)
        is_known = examples.result.sum(axis=1, keepdims=True)
        truth = examples.result if self.form.results == RESULTS else examples.values[:, None]
        losses = self._step(self.encoding.inputs(planes), target, truth, is_known)
        return {name: float(loss) for name, loss in losses.items()}

    def evaluator(self, threads: int | None = None) -> Any:
        """See `Learner`. For other than dense networks TensorFlow's threads count, which are set for the whole process."""
        from azlab.nets.evaluators import KerasEvaluator

        return KerasEvaluator(self.net, self.game, self.encoding, threads=threads, logits=self._told)

    def version(self, weights: Path, threads: int | None = None) -> Any:
        """See `Learner`."""
        from azlab.nets.evaluators import KerasEvaluator
        from azlab.nets.keras_nets import load_keras
        from azlab.nets.weights import load_keras_weights

        model = load_keras_weights(load_keras().models.clone_model(self.net), weights)
        return KerasEvaluator(model, self.game, self.encoding, threads=threads, logits=self._told)

    def weights(self) -> list[np.ndarray]:
        """See `Learner`."""
        return [np.array(array) for array in self.net.get_weights()]

    def set_weights(self, weights: list[np.ndarray]) -> None:
        """See `Learner`."""
        self.net.set_weights(weights)

    def save(self, weights: Path, optimiser: Path) -> None:
        """See `Learner`."""
        from azlab.nets.weights import save_keras, save_numbers

        save_keras(self.net, weights)
        numbers = {name: np.asarray(variable.numpy()) for name, variable in self._remembered().items()}
        save_numbers(optimiser, KIND, {}, numbers)

    def load(self, weights: Path, optimiser: Path | None = None) -> None:
        """See `Learner`."""
        from azlab.nets.weights import load_keras_weights, load_numbers

        numbers = {} if optimiser is None else load_numbers(optimiser, KIND, None)[1]
        variables = self._remembered()
        if optimiser is not None:
            wanted = {name: (variable.numpy().dtype, tuple(variable.shape)) for name, variable in variables.items()}
            check_arrays(optimiser, numbers, wanted)
        load_keras_weights(self.net, weights)
        for name, variable in variables.items():
            if numbers:
                variable.assign(numbers[name])
            elif not name.startswith("random."):
                variable.assign(np.zeros_like(variable))

    def _remembered(self) -> dict[str, Any]:
        """The variables of the optimiser and the states of dropout, by their names in the file."""
        found = {f"{k}": variable for k, variable in enumerate(self._optimiser.variables)}
        return found | {f"random.{k}": variable for k, variable in enumerate(self._random)}


def _keras_step(
    model: Any, optimiser: Any, config: LossConfig, said: tuple[Form, frozenset[str]], inputs: tuple[int, ...]
) -> Any:
    """One training step as a compiled function for batches of any size; where the result is not known the value costs nothing.
    `said` is what `keras_form` found, `inputs` the shape of an encoded state."""
    import tensorflow as tf

    form, logits = said
    decaying = [weight for weight in model.trainable_variables if config.decay_biases or len(weight.shape) > 1]
    shapes = (inputs, (form.policies,), (max(1, form.results),), (1,))

    def cross_entropy(heads: dict[str, Any], name: str, wanted: Any) -> Any:
        if name in logits:
            return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(wanted, heads[name]))
        return -tf.reduce_mean(tf.reduce_sum(wanted * tf.math.log(heads[name] + 1e-7), axis=1))

    @tf.function(input_signature=[tf.TensorSpec((None, *shape), tf.float32) for shape in shapes], autograph=False)
    def step(inputs: Any, policies: Any, truth: Any, is_known: Any) -> Any:
        with tf.GradientTape() as tape:
            heads = form.heads(model(inputs, training=True))
            policy_loss = cross_entropy(heads, "policy", policies)
            decay = tf.add_n([tf.nn.l2_loss(weight) for weight in decaying])
            losses = {"loss": policy_loss + config.weight_decay * decay, "policy_loss": policy_loss}
            if "result" in heads:
                losses["value_loss"] = cross_entropy(heads, "result", truth)
            elif "value" in heads:
                losses["value_loss"] = tf.reduce_mean(is_known * tf.square(tf.reshape(heads["value"], (-1, 1)) - truth))
            if form.results:
                losses["loss"] += config.value_weight * losses["value_loss"]
        total = losses["loss"]
        optimiser.apply_gradients(zip(tape.gradient(total, model.trainable_variables), model.trainable_variables, strict=True))
        return losses

    return step
