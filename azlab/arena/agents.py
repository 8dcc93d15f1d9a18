"""Players. An agent is anything with `name` and `choose(position) -> move`."""

from typing import Protocol

import numpy as np

from azlab.games.game import Position


class Agent(Protocol):
    """A player: picks one of `position.legal_actions`."""

    name: str

    def choose(self, position: Position) -> int:
        """The action to play; the game is not over."""
        ...


class RandomAgent:
    """Plays any legal move with equal chances."""

    name = "random"

    def __init__(self, seed: int | None = None) -> None:
        self._rng = np.random.default_rng(seed)

    def choose(self, position: Position) -> int:
        return int(self._rng.choice(position.legal_actions))
