"""States as plain numbers: for files, for hashing and for comparing."""

import numpy as np


def as_bytes(states: np.ndarray) -> np.ndarray:
    """The bytes of `states` [B] as uint8 [B, size], which any program can read."""
    return np.ascontiguousarray(states).view(np.uint8).reshape(len(states), states.dtype.itemsize)


def from_bytes(data: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The states that `as_bytes` gave."""
    return np.ascontiguousarray(data).view(dtype).reshape(-1)


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
