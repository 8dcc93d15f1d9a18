"""Learners: a network and its optimiser, which take one step after another on batches of examples.

`TorchLearner` trains a `ResidualNet`, `KerasLearner` a Keras model with the output "policy" and perhaps "value". Both have the
same methods, so the loops above them (AlphaZero, supervised) do not know which library they use. A learner is saved as two files
beside each other: its weights, and the optimiser's numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from azlab.errors import AzlabError, one_of
from azlab.files import write_aside
from azlab.games.game import Game
from azlab.learning.replay import Examples
from azlab.nets.encodings import from_planes, outputs_of_actions


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
    clip: float = 1.0
    # the gradient is cut to this length; 0 leaves it
    symmetries: bool = True
    # show each example in a randomly chosen symmetry of the board

    def __post_init__(self) -> None:
        one_of("optimiser", self.optimiser, ("sgd", "adam"))
        for name in ("value_weight", "reply_weight", "weight_decay", "clip"):
            if not isinstance(getattr(self, name), int | float) or getattr(self, name) < 0:
                raise AzlabError(f"{name} must be a number from 0 on, not {getattr(self, name)!r}.")
        one_of("symmetries", self.symmetries, (True, False))


class Learner(Protocol):
    """What the loops need of a network in training."""

    game: Game
    suffix: str  # of the file of weights
    has_value: bool  # whether the network also predicts results

    def step(self, examples: Examples, rate: float, momentum: float, rng: np.random.Generator) -> dict[str, float]:
        """Learn from one batch; return the losses by name, before the step."""
        ...

    def evaluator(self, threads: int | None = None) -> Any:
        """The network as it is now, as an evaluator of a search; `refresh()` takes over later weights."""
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


class TorchLearner:
    """A `ResidualNet` with SGD or Adam. `sizes` are those of `ResidualConfig.for_game`."""

    suffix = ".safetensors"
    has_value = True

    def __init__(self, game: Game, sizes: Mapping[str, Any], config: LossConfig, seed: int = 0, device: str = "auto") -> None:
        import torch

        from azlab.nets.evaluators import find_device
        from azlab.nets.residual import ResidualConfig, ResidualNet

        self.game, self.config, self.device = game, config, find_device(device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = ResidualNet(ResidualConfig.for_game(game, **sizes)).to(self.device, memory_format=torch.channels_last)
        self._new_optimiser()

    def _new_optimiser(self) -> None:
        import torch

        decay = self.config.weight_decay
        if self.config.optimiser == "adam":
            self._optimiser: Any = torch.optim.Adam(self.net.parameters(), weight_decay=decay)
        else:
            self._optimiser = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9, weight_decay=decay)

    def step(self, examples: Examples, rate: float, momentum: float, rng: np.random.Generator) -> dict[str, float]:
        """See `Learner`."""
        import torch
        from torch.nn.functional import cross_entropy

        planes, policy, reply = _as_seen(self.game, examples, self.config, rng)
        tensors = (from_planes(planes, self.net.config.encoding), policy, examples.result, reply)
        inputs, policies, results, replies = (torch.from_numpy(np.ascontiguousarray(part)).to(self.device) for part in tensors)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
            if self.config.optimiser == "sgd":
                group["momentum"] = momentum
        self.net.train()
        out = self.net(inputs.contiguous(memory_format=torch.channels_last))
        losses = {"policy_loss": cross_entropy(out.policy, policies), "value_loss": cross_entropy(out.result, results)}
        total = losses["policy_loss"] + self.config.value_weight * losses["value_loss"]
        if out.reply is not None:
            losses["reply_loss"] = cross_entropy(out.reply, replies)
            total = total + self.config.reply_weight * losses["reply_loss"]
        self._optimiser.zero_grad(set_to_none=True)
        total.backward()
        if self.config.clip:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.config.clip)
        self._optimiser.step()
        return {name: float(loss.detach()) for name, loss in {"loss": total, **losses}.items()}

    def evaluator(self, threads: int | None = None) -> Any:
        """See `Learner`."""
        from azlab.nets.evaluators import TorchEvaluator

        return TorchEvaluator(self.net, self.game, self.device, threads=threads)

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
        from safetensors.torch import save

        from azlab.nets.weights import save_torch

        save_torch(self.net, weights)
        numbers = {
            f"{place}.{name}": value.detach().cpu().contiguous()
            for place, slots in self._optimiser.state_dict()["state"].items()
            for name, value in slots.items()
            if value is not None
        }
        write_aside(optimiser, lambda aside: aside.write_bytes(save(numbers)))

    def load(self, weights: Path, optimiser: Path | None = None) -> None:
        """See `Learner`."""
        from azlab.nets.weights import load_torch, read_safetensors

        net = load_torch(weights)
        if net.config != self.net.config:
            raise AzlabError(f"{weights} holds a net of another shape than this training's.")
        self.net.load_state_dict(net.state_dict())
        self._new_optimiser()
        if optimiser is None:
            return
        state = self._optimiser.state_dict()
        for key, tensor in read_safetensors(optimiser)[1].items():
            place, name = key.split(".")
            state["state"].setdefault(int(place), {})[name] = tensor.clone()  # not a part of the file
        self._optimiser.load_state_dict(state)


class KerasLearner:
    """A Keras model that reads the encoding `encoding` and gives "policy" (chances) and "value" (tanh), as those of S3 and S4.

    A model without "value", such as those of S2, learns the policy alone. The value is trained by squared error, as there. The
    momentum of SGD is fixed when the learner is made; the reply head and clipping are torch's alone.
    """

    suffix = ".keras"

    def __init__(self, game: Game, model: Any, encoding: str, config: LossConfig, seed: int = 0, momentum: float = 0.9) -> None:
        from azlab.nets.keras_nets import load_keras

        keras = load_keras()
        keras.utils.set_random_seed(seed)  # of dropout; the weights were drawn when the model was built
        self.game, self.config, self.net, self.encoding = game, config, model, encoding
        self.momentum = momentum
        self.has_value = "value" in model.output
        self._outputs = outputs_of_actions(game, model.output["policy"].shape[-1])
        is_adam = config.optimiser == "adam"
        self._optimiser = keras.optimizers.Adam() if is_adam else keras.optimizers.SGD(momentum=momentum)
        self._optimiser.build(model.trainable_variables)
        known = {id(variable) for variable in model.weights}
        self._random = [variable for variable in model.variables if id(variable) not in known]  # states of dropout
        self._step = _keras_step(model, self._optimiser, config)

    def step(self, examples: Examples, rate: float, momentum: float, rng: np.random.Generator) -> dict[str, float]:
        """See `Learner`."""
        planes, policy, _ = _as_seen(self.game, examples, self.config, rng)
        target = np.zeros((len(policy), self.net.output["policy"].shape[-1]), np.float32)
        has_output = self._outputs >= 0
        target[:, self._outputs[has_output]] = policy[:, has_output]
        self._optimiser.learning_rate.assign(rate)
        is_known = examples.result.sum(axis=1, keepdims=True)
        losses = self._step(from_planes(planes, self.encoding), target, examples.values[:, None], is_known)
        return {name: float(loss) for name, loss in losses.items()}

    def evaluator(self, threads: int | None = None) -> Any:
        """See `Learner`. For other than dense networks TensorFlow's threads count, which are set for the whole process."""
        from azlab.nets.evaluators import KerasEvaluator

        return KerasEvaluator(self.net, self.game, self.encoding, threads=threads)

    def weights(self) -> list[np.ndarray]:
        """See `Learner`."""
        return [np.array(array) for array in self.net.get_weights()]

    def set_weights(self, weights: list[np.ndarray]) -> None:
        """See `Learner`."""
        self.net.set_weights(weights)

    def save(self, weights: Path, optimiser: Path) -> None:
        """See `Learner`."""
        from safetensors.numpy import save

        from azlab.nets.weights import save_keras

        save_keras(self.net, weights)
        numbers = {f"{k}": np.asarray(variable.numpy()) for k, variable in enumerate(self._optimiser.variables)}
        numbers |= {f"random.{k}": np.asarray(variable.numpy()) for k, variable in enumerate(self._random)}
        write_aside(optimiser, lambda aside: aside.write_bytes(save(numbers)))

    def load(self, weights: Path, optimiser: Path | None = None) -> None:
        """See `Learner`."""
        from azlab.nets.weights import load_keras_weights, read_safetensors

        load_keras_weights(self.net, weights)
        numbers = {} if optimiser is None else read_safetensors(optimiser)[1]
        for k, variable in enumerate(self._optimiser.variables):
            variable.assign(numbers[f"{k}"].numpy() if numbers else np.zeros_like(variable))
        for k, variable in enumerate(self._random):
            if numbers:
                variable.assign(numbers[f"random.{k}"].numpy())


def _keras_step(model: Any, optimiser: Any, config: LossConfig) -> Any:
    """One training step as a compiled function for batches of any size; where the result is not known the value costs nothing."""
    import tensorflow as tf

    shapes = (model.input.shape[1:], model.output["policy"].shape[1:], (1,), (1,))

    @tf.function(input_signature=[tf.TensorSpec((None, *shape), tf.float32) for shape in shapes], autograph=False)
    def step(inputs: Any, policies: Any, values: Any, is_known: Any) -> Any:
        with tf.GradientTape() as tape:
            out = model(inputs, training=True)
            policy_loss = -tf.reduce_mean(tf.reduce_sum(policies * tf.math.log(out["policy"] + 1e-7), axis=1))
            decay = tf.add_n([tf.nn.l2_loss(weight) for weight in model.trainable_variables])
            losses = {"loss": policy_loss + config.weight_decay * decay, "policy_loss": policy_loss}
            if "value" in out:
                losses["value_loss"] = tf.reduce_mean(is_known * tf.square(out["value"] - values))
                losses["loss"] += config.value_weight * losses["value_loss"]
        total = losses["loss"]
        optimiser.apply_gradients(zip(tape.gradient(total, model.trainable_variables), model.trainable_variables, strict=True))
        return losses

    return step
