"""Perfect play by trying everything, with the rules themselves. For games as small as tic-tac-toe (5,478 positions)."""

import numpy as np

from azlab.errors import AzlabError
from azlab.games.count import children, distinct
from azlab.games.game import Game
from azlab.oracles.oracle import Oracle, outcomes

LIMIT = 500_000  # positions; about 300 bytes each in the dictionary of values


class ExhaustiveOracle(Oracle):
    """Knows every position below those it was asked about; each is solved once. `limit` is how many it may come to know."""

    def __init__(self, game: Game, limit: int = LIMIT) -> None:
        self.game = game
        self.limit = limit
        self._value_of: dict[bytes, float] = {}  # by the bytes of the state

    def values(self, states: np.ndarray) -> np.ndarray:
        self.check_states(states)
        unknown = np.array([state.tobytes() not in self._value_of for state in states], np.bool_)
        if unknown.any():
            self._solve(states[unknown])
        return np.array([self._value_of[state.tobytes()] for state in states], np.float64)

    def _solve(self, states: np.ndarray) -> None:
        """Build the graph below `states` ply by ply, equal states merged, and carry the values back."""
        layers = []
        states, _ = distinct(states)
        known = len(self._value_of)
        while len(states):
            following, parents = children(self.game, states)
            merged, group = distinct(following)
            layers.append((states, parents, group))
            states = merged
            known += len(states)
            if known > self.limit:
                raise AzlabError(f"{self.game!r} has more than {self.limit:,} positions here, too many to try them all.")
        values = np.empty(0)
        for states, parents, group in reversed(layers):
            values = best_for_mover(states, parents, values[group])
            values[states["over"]] = outcomes(self.game, states[states["over"]])
            self._value_of.update(zip([state.tobytes() for state in states], values.tolist(), strict=True))


def best_for_mover(states: np.ndarray, parents: np.ndarray, child_values: np.ndarray) -> np.ndarray:
    """The value of each state: the best of its children's for the player to move; `parents` are the children's parents."""
    values = np.where(states["to_move"] == 0, -np.inf, np.inf)
    first = states["to_move"][parents] == 0
    np.maximum.at(values, parents[first], child_values[first])
    np.minimum.at(values, parents[~first], child_values[~first])
    return values
