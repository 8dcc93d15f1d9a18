"""Perfect play by trying everything, with the rules themselves: tic-tac-toe (5,478 positions), small games of anyone's."""

import numpy as np

from azlab.games.count import distinct, solve
from azlab.games.game import Game
from azlab.oracles.oracle import Oracle

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
        """Learn the values of all states below `states`."""
        for layer, values in solve(self.game, distinct(states)[0], self.limit - len(self._value_of)):
            self._value_of.update(zip([state.tobytes() for state in layer], values.tolist(), strict=True))


class SolvedOracle(ExhaustiveOracle):
    """Solves the whole game at once, so that one with too many positions is refused now, not at the first question."""

    def __init__(self, game: Game, limit: int = LIMIT) -> None:
        super().__init__(game, limit)
        self._solve(game.new_states(1))
