"""The agent `onesided:10000`, also onesided:10000,c=1.41,bonus=3,batch=100."""

import numpy as np

from azlab.arena.agents import register_agent
from azlab.games.game import Game, Position
from azlab.search import Analysis
from azlab_reproductions.s3_dots_and_boxes.one_sided import check_settings, one_sided, points_of


class OneSidedAgent:
    """The program's plain tree search, which takes the opponent for a helper."""

    def __init__(self, playouts: int = 10_000, c: float = 1.41, bonus: float = 3.0, batch: int = 100, seed: int = 0) -> None:
        check_settings(playouts, c, bonus, batch)
        self.name, self.playouts, self.c, self.bonus, self.batch = f"onesided:{playouts}", playouts, c, bonus, batch
        self._seeds = np.random.default_rng(seed)

    def prepare(self, game: Game) -> None:
        """Raise a sentence now, not at the first move, if the game counts no points."""
        points_of(game)

    def analyse(self, position: Position) -> Analysis:
        """The search behind `choose`."""
        seed = int(self._seeds.integers(2**62))
        return one_sided(position, self.playouts, c=self.c, bonus=self.bonus, batch=self.batch, seed=seed)

    def choose(self, position: Position) -> int:
        return self.analyse(position).best_action


register_agent("onesided", OneSidedAgent, "playouts", "onesided:PLAYOUTS")
