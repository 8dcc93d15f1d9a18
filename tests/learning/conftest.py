"""A config whose iterations take a fraction of a second, and examples made of random positions."""

import numpy as np
import pytest

from azlab.learning.config import AlphaZeroConfig
from azlab.learning.window import Examples

TINY = """
game = "tictactoe"
iterations = 3
[net]
blocks = 1
filters = 8
stem = 8
head = 2
[search]
cpuct_base = 0.0
[explore]
noise = 0.25
temperature = [[0, 1.0]]
[budget]
simulations = 8
[test_search]
cpuct_base = 0.0
[selfplay]
games = 6
workers = 1
positions = 40
[training]
batch = 32
[evaluation]
simulations = 8
games = 4
"""


@pytest.fixture(scope="session")
def tiny():
    """A function: settings -> a config of a very short training."""

    def make(**settings):
        """`budget__simulations=4` stands for budget.simulations."""
        return AlphaZeroConfig.from_toml(TINY).changed({name.replace("__", "."): value for name, value in settings.items()})

    return make


@pytest.fixture(scope="session")
def random_examples():
    """A function: game, count, seed -> examples of positions after up to `plies` random moves, with random targets."""

    def make(game, count, seed=0, plies=3):
        rng = np.random.default_rng(seed)
        states = game.new_states(count)
        for _ in range(plies):
            legal = game.legal_mask(states)
            moving = rng.random(count) < 0.8
            part = states[moving]
            game.kernels.play(part, np.where(legal[moving], rng.random(legal[moving].shape), -1).argmax(axis=1))
            states[moving] = np.where(part["over"], states[moving], part)

        def shares(allowed):
            drawn = rng.random(allowed.shape) * allowed
            return drawn / drawn.sum(axis=1, keepdims=True)

        legal = game.legal_mask(states)
        result = shares(np.ones((count, 3), np.bool_)).astype(np.float32)
        reply = shares(legal) * (rng.random(count) < 0.8)[:, None]
        return Examples(states, shares(legal).astype(np.float16), result, reply.astype(np.float16))

    return make
