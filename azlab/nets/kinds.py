"""The nets that a config can name: azlab's own, those that a program registers, and functions in a file of the user's.

A kind of net is a function `make(game, **sizes)` that returns a `torch.nn.Module` or a Keras model; the other keys of [net] are
its arguments. As with games (azlab.games.registry), code in a file is run only if the user's own command or program names it
(`load_net`); a kind that a config, a run's folder or a player's file names is only looked up.
"""

import importlib
import inspect
import random
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.games.registry import load_module, movable_name
from azlab.nets.keras_nets import choose_backend, load_keras

KINDS = {
    "residual": ("azlab.nets.residual", "residual_net"),
    "phases": ("azlab.nets.phases", "phase_net"),
    "dots_and_boxes": ("azlab.nets.keras_nets", "dots_and_boxes_for"),
    "seega": ("azlab.nets.keras_nets", "seega_for"),
    "go": ("azlab.nets.keras_nets", "go_for"),
}
GIVEN = "given"  # the kind in the config of a run whose learner was handed in as an object

_others: dict[str, Callable[..., Any]] = {}  # what the program registered or loaded, by name or as "mynet.py:make_net"


def register_net(name: str, make: Callable[..., Any]) -> None:
    """Let configs of this program name `make`, a function (game, **sizes) -> net."""
    if not name.isidentifier() or name in KINDS or name == GIVEN:
        raise AzlabError(f"{name!r} cannot be the name of a net: it is taken, or has other signs than letters, digits and '_'.")
    _others[name] = make


def load_net(name: str) -> str:
    """Load the function that "mynet.py:make_net" or "package.module:make_net" names, running its code; its name in configs."""
    place, colon, function = name.rpartition(":")
    if not colon:
        check_kind(name)
        return name
    choose_backend()
    make = getattr(load_module(place), function, None)
    if not callable(make):
        raise AzlabError(f"{place} has no function {function!r} that makes a net.")
    _others[movable_name(name)] = make
    return movable_name(name)


def check_kind(kind: object) -> None:
    """A sentence if no net can be of this kind; no code is looked for."""
    known = [*KINDS, *(name for name in _others if ":" not in name)]
    if not isinstance(kind, str) or (kind not in known and ":" not in kind and kind != GIVEN):
        names = ", ".join(map(repr, known))
        raise AzlabError(
            f"the net's kind must be one of {names}, or a function in a file such as 'mynet.py:make_net', not {kind!r}."
        )


def net_maker(kind: str) -> Callable[..., Any]:
    """The function behind a kind of net that is azlab's own or was registered or loaded before; no other code is run."""
    check_kind(kind)
    if kind in KINDS:
        module, function = KINDS[kind]
        return getattr(importlib.import_module(module), function)
    if movable_name(kind) in _others or kind in _others:
        return _others[kind if kind in _others else movable_name(kind)]
    if kind == GIVEN:
        raise AzlabError(
            "The network of this run was handed in as an object. Hand in the same again: AlphaZero(game, learner, None, folder) "
            "to go on, TrainedAgent(folder, learner=learner) to play."
        )
    raise AzlabError(
        f"The net {kind} is code in a file, which is run only if you name it yourself: on the command line by --net {kind}, "
        f'or in Python by azlab.nets.load_net("{kind}").'
    )


def new_net(game: Game, net: Mapping[str, Any], seed: int = 0) -> tuple[Any, Any]:
    """The net that a config's [net] describes, its weights drawn from `seed`, and its encoding, if [net] or the kind has one."""
    sizes = dict(net)
    kind = sizes.pop("kind", "residual")
    make = net_maker(kind)
    parameters = inspect.signature(make).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    encoding = None if "encoding" in parameters or takes_all else sizes.pop("encoding", None)
    possible = [name for name in parameters][1:]  # the first is the game
    if unknown := [] if takes_all else sorted(set(sizes) - set(possible)):
        names = ", ".join([*possible, *(["encoding"] if "encoding" not in possible else [])])
        raise AzlabError(f"[net]: a net of kind {kind} has no {', '.join(unknown)}; it has {names}.")
    try:
        made = _seeded(make, kind, game, sizes, seed)
    except (TypeError, ValueError, OverflowError) as error:  # what torch and Keras say of settings that are none
        if isinstance(error, AzlabError) or kind not in KINDS:  # an error in the user's own code is theirs to see
            raise
        raise AzlabError(f"No {kind} net can be built from the settings {sizes} ({str(error).splitlines()[0]}).") from None
    return made if isinstance(made, tuple) else (made, encoding)


def _seeded(make: Callable[..., Any], kind: str, game: Game, sizes: dict[str, Any], seed: int) -> Any:
    """Make a net with weights drawn from `seed`, whichever library draws them."""
    if kind in KINDS and KINDS[kind][0].endswith("keras_nets"):  # needs no torch
        load_keras().utils.set_random_seed(seed)
        return make(game, **sizes)
    import torch

    if kind not in KINDS:  # Keras draws from Python's own numbers
        random.seed(seed)
        np.random.seed(seed)
        if "keras" in sys.modules:
            load_keras().utils.set_random_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make(game, **sizes)


def is_torch(net: Any) -> bool:
    """Whether a net is a torch.nn.Module; torch is not loaded to find out."""
    return "torch" in sys.modules and isinstance(net, sys.modules["torch"].nn.Module)


def is_keras(net: Any) -> bool:
    """Whether a net is a Keras model; Keras is not loaded to find out."""
    return "keras" in sys.modules and isinstance(net, sys.modules["keras"].Model)
