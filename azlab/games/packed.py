"""States as plain numbers: for files, for hashing and for comparing."""

from typing import TYPE_CHECKING

import numpy as np

from azlab.errors import AzlabError

if TYPE_CHECKING:
    from azlab.games.game import Game


def as_bytes(states: np.ndarray) -> np.ndarray:
    """The bytes of `states` [B] as uint8 [B, size], which any program can read."""
    return np.ascontiguousarray(states).view(np.uint8).reshape(len(states), states.dtype.itemsize)


def from_bytes(data: np.ndarray, game: "Game", or_normal_form: bool = False) -> np.ndarray:
    """The states that `as_bytes` gave; a sentence if these bytes are no possible states of `game`.

    `or_normal_form`: they may also all be in normal form, as positions from which a margin is learnt are.
    """
    size = game.dtype.itemsize
    if data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] != size:
        raise AzlabError(f"These are no states of {game!r}: one has {size} bytes.")
    states = np.ascontiguousarray(data).view(game.dtype).reshape(-1)
    try:
        game.validate(states)
    except AzlabError as error:
        try:
            game.validate(states, normal_form=or_normal_form)
        except AzlabError:
            raise error from None
    return states


def as_words(states: np.ndarray) -> np.ndarray:
    """The bytes of `states` [B] as uint64 [B, W], filled up with zeros where a state is no whole number of words."""
    count, size = len(states), states.dtype.itemsize
    if size % 8 == 0 and states.flags.carray:  # contiguous, aligned and writable, as the kernels are compiled for
        words = states.view(np.uint64).reshape(count, size // 8)
        if words.flags.aligned:
            return words
    padded = np.zeros((count, -(-size // 8)), np.uint64)
    padded.view(np.uint8)[:, :size] = as_bytes(states)
    return padded
