"""What a net of anyone's says, whatever its form: policy, value, reply.

A torch module or a Keras model may return

- a dict with "policy", and if it has them "value" (or "result") and "reply"; other heads are left alone;
- a tuple or list (policy, value) or (policy, value, reply); a `NetOutput` is one;
- a single array, as `torch.nn.Sequential` gives: first an output for each action, then the value.

The value is [B, 3], draw, win, loss for the player to move, or [B, 1] or [B], the result expected by that player, from -1 to 1.
Which of these a net does is found by a dry run on the starting position (`look`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.nets.encodings import Encoding

HEADS = ("policy", "value", "reply")  # in a tuple's order
RESULTS = 3  # draw, win, loss


@runtime_checkable
class Array(Protocol):
    """An array of torch, TensorFlow or NumPy."""

    @property
    def shape(self) -> Any: ...


@runtime_checkable
class Named(Protocol):
    """A tuple whose parts have names, such as `NetOutput`."""

    def _asdict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Form:
    """What a dry run found."""

    policies: int  # outputs for moves
    results: int  # numbers of the value: 0 for none, 1, or 3 for draw, win, loss
    is_array: bool = False  # all in one array

    def heads(self, out: Any) -> dict[str, Any]:
        """The net's output by name: "policy" [B, O], "value" [B] or "result" [B, 3], "reply" [B, O], where it has them."""
        if self.is_array:
            found = {"policy": out[:, : self.policies], "value": out[:, self.policies :]}
        else:
            found = _by_name(out)
        heads = {name: found[name] for name in ("policy", "reply") if found.get(name) is not None}
        if self.results:
            value = found["value"]
            heads["result" if self.results == RESULTS else "value"] = value if self.results == RESULTS else _column(value)
        return heads


def _by_name(out: Any) -> dict[str, Any]:
    if isinstance(out, Named):
        out = out._asdict()
    found = dict(out) if isinstance(out, Mapping) else dict(zip(HEADS, out))
    if found.get("result") is not None:
        found["value"] = found.pop("result")
    return found


def _column(value: Any) -> Any:
    return value[:, 0] if len(value.shape) == 2 else value


def look(game: Game, encoding: Encoding, call: Callable[[np.ndarray], Any]) -> tuple[Form, Any]:
    """The form of the outputs that `call` gives for encoded states, and those outputs for the start of the game, twice.

    A net that cannot be used is said in a sentence.
    """
    encoding.check(game)
    inputs = encoding.encode(game, game.new_states(2))
    try:
        out = call(inputs)
    except Exception as error:  # whatever the net or its library finds wrong
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise AzlabError(
            f"The net cannot read {game.name} encoded as {encoding.name!r}, which is {_size(inputs)} numbers a position: {reason}"
        ) from error
    if isinstance(out, Array):
        return _form_of_array(game, encoding, out), out
    if not isinstance(out, Mapping | tuple | list):
        raise AzlabError(f"A net returns arrays, a tuple or a dict of them, not {type(out).__name__}.")
    found = _by_name(out)
    if found.get("policy") is None:
        raise AzlabError(f"The net gives no 'policy', only {', '.join(map(repr, found)) or 'nothing'}.")
    policy: Any = found["policy"]
    value, reply = found.get("value"), found.get("reply")
    if len(policy.shape) != 2 or policy.shape[0] != 2:
        raise AzlabError(f"The policy is an output for each action, of shape [positions, actions], not {_shape(policy)}.")
    encoding.outputs(game, policy.shape[1])  # a sentence if they do not fit
    if reply is not None and tuple(reply.shape) != tuple(policy.shape):
        raise AzlabError(f"The reply has the policy's shape, [positions, {policy.shape[1]}], not {_shape(reply)}.")
    results = 0 if value is None else 1 if len(value.shape) == 1 else int(value.shape[-1])
    if value is not None and (len(value.shape) > 2 or results not in (1, RESULTS)):
        raise AzlabError(
            f"The value is one number a position, or three for draw, win and loss: [positions, 1 or 3], not {_shape(value)}."
        )
    return Form(int(policy.shape[1]), results), out


def _form_of_array(game: Game, encoding: Encoding, out: Any) -> Form:
    """How many numbers of a single array are the policy."""
    if len(out.shape) != 2:
        raise AzlabError(
            f"The net gives an array of shape {_shape(out)}; wanted is [positions, outputs]: does it need a Flatten?"
        )
    counts = [game.num_actions] + ([encoding.places(game)[1]] if encoding.places else [])
    for policies in counts:
        if out.shape[1] - policies in (1, RESULTS):
            return Form(policies, int(out.shape[1]) - policies, True)
    actions = game.num_actions
    raise AzlabError(
        f"The net gives {out.shape[1]} outputs, but {game.name} has {actions} actions: with a value it is {actions + 1}, with "
        f"draw, win and loss {actions + RESULTS}."
    )


def _shape(array: Any) -> str:
    return f"[{', '.join(['positions', *(str(n) for n in tuple(array.shape)[1:])])}]"


def _size(inputs: np.ndarray) -> str:
    return "x".join(map(str, inputs.shape[1:]))
