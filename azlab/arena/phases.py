"""A player of whole games in two phases, made of two players: one for the first phase, one for all that follows.

    azlab.agent("phases:random then uct:1000")     # the board is filled at random, then 1,000 simulations a move

So what placing is worth can be told from what moving is worth: let the same player move on both sides.
"""

from collections.abc import Sequence
from typing import Any

from azlab.arena.thinking import Thinking
from azlab.errors import AzlabError
from azlab.games.game import Game, Position
from azlab.search import Analysis

THEN = " then "  # between the two names


class PhaseAgent:
    """Asks `before` for moves until the horizon of the game (`Game.at_horizon`), and `beyond` afterwards."""

    def __init__(self, before: Any, beyond: Any, name: str | None = None) -> None:
        self.before, self.beyond = before, beyond
        self.name = name or f"phases:{before.name}{THEN}{beyond.name}"

    def prepare(self, game: Game) -> None:
        """A sentence if the game has no second phase, or one of the two cannot play it."""
        from azlab.arena.agents import ready

        game.at_horizon(game.new_states(1))
        ready(self.before, game)
        ready(self.beyond, game)

    def close(self) -> None:
        """Let go of programs that the two hold."""
        from azlab.arena.agents import close

        close(self.before)
        close(self.beyond)

    def choose(self, position: Position) -> int:
        return int(self._for(position).choose(position))

    def choose_many(self, positions: Sequence[Position]) -> list[int]:
        """The actions for many positions of one game: each player is asked once about all of its own, if it can be."""
        from azlab.arena.agents import choose_all

        chosen = [0] * len(positions)
        for player in (self.before, self.beyond):
            own = [k for k, position in enumerate(positions) if self._for(position) is player]
            for k, action in zip(own, choose_all(player, [positions[k] for k in own]), strict=True):
                chosen[k] = int(action)
        return chosen

    def analyse(self, position: Position) -> Analysis:
        """What the player of this phase thinks."""
        from azlab.arena.agents import analysis_of

        return analysis_of(self._for(position), position)

    def think(self, position: Position, seconds: float | None = None, endless: bool = False) -> Thinking:
        """How it thinks, in steps."""
        from azlab.arena.agents import thinking

        return thinking(self._for(position), position, seconds, endless)

    def _for(self, position: Position) -> Any:
        return self.beyond if position.game.at_horizon(position.state)[0] else self.before


def two_names(text: str) -> tuple[str, str]:
    """The names of both players in what stands behind "phases:"."""
    before, then, beyond = text.partition(THEN)
    if not then or not before.strip() or not beyond.strip():
        raise AzlabError(
            f"Two phases have two players, such as 'phases:random then uct:1000': 'phases:{text}' does not name both."
        )
    return before.strip(), beyond.strip()
