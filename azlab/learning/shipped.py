"""Trained players that ship with azlab, one file each in `data/players/`: `azlab play dots_and_boxes --against az`.

A file holds the settings of the training and the network's numbers in half precision. It is written from a finished run by
`azlab run FOLDER --player FILE`; nothing in it is code.
"""

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.files import data_folder
from azlab.games.game import Game
from azlab.intact import check_arrays
from azlab.learning.beginning import BeginConfig
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.learner import Learner

KIND, OLD = "azlab player 2", "azlab player 1"  # the first had no checksum
SUFFIX = ".safetensors"


def save_player(learner: Learner, config: AlphaZeroConfig, file: str | Path) -> None:
    """Write a network and the settings it was trained with."""
    from azlab.nets.weights import save_numbers

    path = Path(file)
    if path.suffix != SUFFIX:
        raise AzlabError(f"A player's file ends in {SUFFIX}, unlike {path.name}.")
    if config.search.horizon:
        raise AzlabError("A player's file holds one network, and this one needs its judge too: play with the run's folder.")
    arrays = {f"{k:03}": array.astype(np.float16) for k, array in enumerate(learner.weights())}
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise AzlabError("The network has numbers that are too large for half precision.")
    # what the training began with is nothing to others, and a player computes the same on all machines
    bare = replace(config, begin=BeginConfig(), loss=replace(config.loss, half=False))
    save_numbers(path, KIND, {"config": bare.to_toml()}, arrays)


def is_player(file: str | Path) -> bool:
    """Whether a safetensors file is a player's, and not a run's network; a sentence if it is no such file."""
    from azlab.nets.weights import read_safetensors

    path = Path(file)
    return path.suffix == SUFFIX and read_safetensors(path, "np")[0].get("format") in (KIND, OLD)


def load_player(file: str | Path) -> tuple[Learner, AlphaZeroConfig]:
    """What `save_player` wrote."""
    from azlab.learning.alphazero import new_learner

    path = Path(file)
    config, arrays = _read(path)
    try:
        _refuse_large_nets(config.net, sum(array.size for array in arrays.values()))
        learner = new_learner(config.rules(), config.net, config.loss, config.seed)
    except AzlabError as error:
        raise AzlabError(f"{path} is damaged: {error} Use another copy.") from None
    check_arrays(path, arrays, {f"{k:03}": (np.float16, array.shape) for k, array in enumerate(learner.weights())})
    learner.set_weights([arrays[name].astype(np.float32) for name in sorted(arrays)])
    return learner, config


def players() -> dict[Path, Game]:
    """The files in `data/players/`, and the game each one plays."""
    return {path: _read(path)[0].rules() for path in sorted((data_folder() / "players").glob(f"*{SUFFIX}"))}


def _read(path: Path) -> tuple[AlphaZeroConfig, dict[str, np.ndarray]]:
    """The settings and the numbers of a player's file."""
    from azlab.nets.weights import load_numbers

    notes, arrays = load_numbers(path, KIND, OLD)
    if "config" not in notes:
        raise AzlabError(f"{path} is damaged: it has no settings. Use another copy.")
    config = AlphaZeroConfig.from_toml(notes["config"], str(path))
    try:
        config.rules()
    except AzlabError as error:
        raise AzlabError(f"{path} is damaged: {error} Use another copy.") from None
    return config, arrays


def _refuse_large_nets(net: dict[str, Any], numbers: int) -> None:
    """Raise a sentence if layers of the sizes in [net] have more weights than the file has numbers; before memory is taken."""
    widths = [size for size in net.values() if isinstance(size, tuple)]
    pairs = [pair for layers in widths for pair in itertools.pairwise((1, *layers))]
    pairs.append((net.get("filters", 0), net.get("filters", 0)))
    for pair in pairs:
        if all(isinstance(width, int) for width in pair) and math.prod(pair) * _blocks(net) > numbers:
            raise AzlabError(f"Its layers of {max(pair)} would have more than the {numbers} numbers that it holds.")


def _blocks(net: dict[str, Any]) -> int:
    blocks = net.get("blocks", 1)
    return blocks if isinstance(blocks, int) else 1


def player_for(game: Game) -> Path:
    """The file of the player that ships for `game`."""
    known: dict[Path, Any] = players()
    for path, played in known.items():
        if played == game:
            return path
    names = ", ".join(repr(played) for played in known.values()) or "none"
    raise AzlabError(f"No trained player ships for {game!r}; there are {names}. Train one with `azlab train`.")
