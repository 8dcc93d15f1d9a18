"""Shared by the tests of the search."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest


class HashEvaluator:
    """Priors, values and draw chances that look random but depend on the position alone, so every search can repeat them."""

    def __init__(self, with_draws=True):
        self.with_draws = with_draws

    def evaluate(self, states, legal):
        priors = np.zeros(legal.shape, np.float32)
        values, draws = np.zeros(len(states), np.float32), np.zeros(len(states), np.float32)
        for k in range(len(states)):
            rng = np.random.default_rng(list(states[k : k + 1].tobytes()))
            drawn = rng.random(legal.shape[1]) ** 2 * legal[k]
            priors[k] = drawn / drawn.sum()
            values[k] = rng.uniform(-0.8, 0.8)
            draws[k] = rng.uniform(0, 0.2)
        return (priors, values, draws) if self.with_draws else (priors, values)


@pytest.fixture
def hash_evaluator():
    return HashEvaluator


@pytest.fixture(scope="session")
def plain_puct():
    """The slow reference in plain_puct.py."""
    path = Path(__file__).with_name("plain_puct.py")
    spec = importlib.util.spec_from_file_location("plain_puct", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
