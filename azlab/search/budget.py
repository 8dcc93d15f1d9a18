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
    """A budget of nodes for each player of a game, as a chess clock is one of time.

    With searches that stop when they gain little, a player saves nodes on easy moves for hard ones. Each turn adds its share
    before it is searched, so there is always something to spend.
    """

    def __init__(self, games: int, start: int = 4650, per_turn: int = 50) -> None:
        if start < 1 or per_turn < 1:
            raise AzlabError("A node clock starts with at least one node and adds at least one a turn.")
        self.start, self.per_turn = start, per_turn
        self.left = np.full((games, 2), start, np.int64)  # of each seat

    def budgets(self, most: int, to_move: np.ndarray) -> np.ndarray:
        """What the players to move [G] may spend on this turn, at most `most`: int64 [G]."""
        return np.minimum(self.left[np.arange(len(self.left)), to_move] + self.per_turn, most)

    def spend(self, simulations: np.ndarray, to_move: np.ndarray) -> None:
        """Add the turn's share to the clocks of those to move, and take off what was used."""
        rows = np.arange(len(self.left)), to_move
        self.left[rows] = np.maximum(self.left[rows] + self.per_turn - simulations, 0)

    def reset(self, games: np.ndarray) -> None:
        """New games begin with full clocks."""
        self.left[games] = self.start
