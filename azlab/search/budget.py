"""How many simulations each move of a batch of games gets."""

import numpy as np

from azlab.errors import AzlabError
from azlab.search.config import Budget


def draw_budgets(budget: Budget, games: int, rng: np.random.Generator, explores: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Playout caps (Wu 2019): in self-play full searches with the share that `budget.cap` names, else small ones.

    Return (simulations int64 [G], whether each is a full search, whose outcome is worth learning from: bool [G]).
    """
    share, small = budget.cap if budget.cap and explores else (1.0, budget.simulations)
    is_full = rng.random(games) < share
    return np.where(is_full, budget.simulations, min(int(small), budget.simulations)), is_full


class NodeClock:
    """A budget of nodes for a whole game, as a chess clock is one of time.

    With searches that stop when they gain little, a game saves nodes on easy moves for hard ones.
    """

    def __init__(self, games: int, start: int = 4650, per_turn: int = 50) -> None:
        if start < 1 or per_turn < 1:
            raise AzlabError("A node clock starts with at least one node and adds at least one a turn.")
        self.start, self.per_turn = start, per_turn
        self.left = np.full(games, start, np.int64)

    def budgets(self, most: int) -> np.ndarray:
        """What each game may spend on this move: at most `most`, at least the turn's own share."""
        return np.clip(self.left, self.per_turn, most)

    def spend(self, simulations: np.ndarray) -> None:
        """Take off what was used, and add the turn's share."""
        self.left = np.maximum(self.left - simulations, 0) + self.per_turn

    def reset(self, games: np.ndarray) -> None:
        """New games begin with full clocks."""
        self.left[games] = self.start
