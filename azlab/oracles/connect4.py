"""The perfect Connect 4 player: one interface over two engines, our own solver and BitBully.

A value counts how soon the winner wins: the number of stones it has left, the winning one included, positive if seat 0 wins.
On 6 x 7 a win with the winner's last stone is 1, a win with its fourth stone 18; 0 is a draw.
"""

import numpy as np

from azlab.games.connect4 import Connect4
from azlab.oracles.connect4_engines import Engine, new_engine
from azlab.oracles.connect4_solver import ILLEGAL
from azlab.oracles.oracle import Oracle


class Connect4Oracle(Oracle):
    """Scores every move of a position: fastest win, slowest loss.

    `engine` is "azlab", our own solver, or "bitbully" (6 x 7 only, extra `solver`); "auto" is our own. Without the package
    bitbully-databases, which holds an opening book, positions with few stones take much longer. Many positions at once are
    graded over processes by `azlab.oracles.connect4_grading.grade`.
    """

    game: Connect4

    def __init__(self, game: Connect4, engine: str = "auto") -> None:
        self.game = game
        self.engine: Engine = new_engine(game, engine)

    def values(self, states: np.ndarray) -> np.ndarray:
        self.check_states(states)
        values = finished_values(states)
        for k in np.flatnonzero(~states["over"]):
            values[k] = self.engine.score(states[k]) * for_seat_0(states[k])
        return values

    def action_scores(self, states: np.ndarray) -> np.ndarray:
        self.check_states(states)
        scores = np.full((len(states), self.game.num_actions), np.nan)
        for k in np.flatnonzero(~states["over"]):
            row = self.engine.score_moves(states[k])
            scores[k, row != ILLEGAL] = row[row != ILLEGAL] * for_seat_0(states[k])
        return scores

    def best_actions(self, states: np.ndarray) -> np.ndarray:
        """Which actions are best, bool [B, A]; cheaper than all scores, because the others need only be proved worse."""
        self.check_states(states)
        best = np.zeros((len(states), self.game.num_actions), np.bool_)
        for k in np.flatnonzero(~states["over"]):
            row = self.engine.find_best(states[k])
            best[k] = row == row.max()
        return best


def for_seat_0(state: np.record) -> int:
    """What turns a score of the player to move into one of seat 0."""
    return 1 - 2 * int(state["to_move"])


def finished_values(states: np.ndarray) -> np.ndarray:
    """The values of the states that are over, for seat 0, float64 [B]; 0 for the others."""
    size = states["rows"].astype(np.int64) * states["cols"]
    return states["result"] * ((size + 2 - states["ply"]) // 2).astype(np.float64)
