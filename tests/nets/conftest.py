"""Small nets whose batch norms have seen something, so that folding them is a real change."""

import numpy as np
import pytest

import azlab.games
from azlab.nets.residual import ResidualConfig, ResidualNet


@pytest.fixture(scope="session")
def small_net():
    """A function: game, sizes -> a `ResidualNet` with random weights."""
    import torch

    def make(game, **sizes):
        torch.manual_seed(0)
        net = ResidualNet(
            ResidualConfig.for_game(
                game,
                **{
                    "encoding": "single" if game.name == "connect4" else "planes",
                    "blocks": 2,
                    "filters": 16,
                    "stem": 8,
                    "head": 4,
                }
                | sizes,
            )
        )
        for layer in net.modules():
            if isinstance(layer, torch.nn.BatchNorm2d):
                layer.running_mean.normal_(0, 0.3)
                layer.running_var.uniform_(0.5, 2)
                torch.nn.init.uniform_(layer.weight, 0.5, 1.5)
                torch.nn.init.normal_(layer.bias, 0, 0.3)
        for head in (net.policy, net.result):  # far from even chances
            torch.nn.init.normal_(head.linear.weight, 0, 0.3)
        return net.eval()

    return make


@pytest.fixture(scope="session")
def some_states():
    """A function: game, count -> states after 0 to 5 random moves, none of them over, and their legal moves."""

    def make(game, count, seed=0):
        rng = np.random.default_rng(seed)
        states = game.new_states(count)
        for step in range(5):
            chosen = np.flatnonzero((np.arange(count) % 6 > step) & ~states["over"])
            if len(chosen):
                part = states[chosen]
                actions = (rng.random((len(chosen), game.num_actions)) * game.legal_mask(part)).argmax(axis=1)
                after = part.copy()
                game.kernels.play(after, actions)
                keep = ~after["over"]
                states[chosen[keep]] = after[keep]
        return states, game.legal_mask(states)

    return make


@pytest.fixture(scope="session")
def connect4():
    return azlab.games.game("connect4")
