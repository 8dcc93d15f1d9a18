"""Trained players that ship with azlab, one file each in `data/players/`: `azlab play dots_and_boxes --against az`.

A file holds the settings of the training and the network's numbers in half precision. It is written from a finished run by
`azlab run FOLDER --player FILE`; nothing in it is code.
"""

from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.files import root, write_aside
from azlab.games.game import Game
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.learner import Learner

FORMAT = "azlab player 1"
SUFFIX = ".safetensors"


def save_player(learner: Learner, config: AlphaZeroConfig, file: str | Path) -> None:
    """Write a network and the settings it was trained with."""
    from safetensors.numpy import save

    path = Path(file)
    if path.suffix != SUFFIX:
        raise AzlabError(f"A player's file ends in {SUFFIX}, unlike {path.name}.")
    arrays = {f"{k:03}": array.astype(np.float16) for k, array in enumerate(learner.weights())}
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise AzlabError("The network has numbers that are too large for half precision.")
    write_aside(path, lambda aside: aside.write_bytes(save(arrays, {"format": FORMAT, "config": config.to_toml()})))


def load_player(file: str | Path) -> tuple[Learner, AlphaZeroConfig]:
    """What `save_player` wrote."""
    from azlab.learning.alphazero import new_learner
    from azlab.nets.weights import read_safetensors

    path = Path(file)
    notes, tensors = read_safetensors(path)
    if notes.get("format") != FORMAT:
        raise AzlabError(f"{path} is no player of azlab: it has no '{FORMAT}' mark.")
    config = AlphaZeroConfig.from_toml(notes["config"], str(path))
    learner = new_learner(config.rules(), config.net, config.loss, config.seed)
    numbers = [np.asarray(tensors[name].numpy(), np.float32) for name in sorted(tensors)]
    if [array.shape for array in numbers] != [array.shape for array in learner.weights()]:
        raise AzlabError(f"{path} is damaged: its numbers do not fit its settings. Use another copy.")
    learner.set_weights(numbers)
    return learner, config


def players() -> dict[Path, Game]:
    """The files in `data/players/`, and the game each one plays."""
    from safetensors import safe_open

    found = {}
    for path in sorted((root() / "data" / "players").glob(f"*{SUFFIX}")):
        with safe_open(path, framework="np") as file:
            found[path] = AlphaZeroConfig.from_toml((file.metadata() or {})["config"], str(path)).rules()
    return found


def player_for(game: Game) -> Path:
    """The file of the player that ships for `game`."""
    known: dict[Path, Any] = players()
    for path, played in known.items():
        if played == game:
            return path
    names = ", ".join(repr(played) for played in known.values()) or "none"
    raise AzlabError(f"No trained player ships for {game!r}; there are {names}. Train one with `azlab train`.")
