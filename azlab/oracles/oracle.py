"""The contract of a perfect player: the value of any position, and of every move in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Game, Position

_CLOSED: ContextVar[str] = ContextVar("why oracles do not answer", default="")


@contextmanager
def closed(why: str) -> Iterator[None]:
    """While this lasts, oracles answer every question with the sentence `why`; with an empty one they answer as always."""
    before = _CLOSED.set(why)
    try:
        yield
    finally:
        _CLOSED.reset(before)


class Oracle:
    """Perfect play. Values are for seat 0 and count what the game counts (points, speed); their sign is the result.

    A subclass sets `game` and defines `values`; `action_scores` too where it knows a faster way than to play every move.
    """

    game: Game
    covers_start = True  # whether whole games can be played by it; False where it knows endgames only

    def knows(self, states: np.ndarray) -> np.ndarray:
        """Which of the states it can judge: bool [B]."""
        self.check_states(states)
        return np.ones(len(states), np.bool_)

    def values(self, states: np.ndarray) -> np.ndarray:
        """The value of each state for seat 0, float64 [B]; for a finished game its outcome."""
        raise NotImplementedError

    def action_scores(self, states: np.ndarray) -> np.ndarray:
        """The value after each action, for seat 0: float64 [B, A], NaN where the action is illegal."""
        self.check_states(states)
        legal = self.game.legal_mask(states)
        scores = np.full(legal.shape, np.nan)
        parents, actions = np.nonzero(legal)
        if len(parents):
            following = states[parents]
            self.game.kernels.play(following, actions)
            scores[legal] = self.values(following)
        return scores

    def best_actions(self, states: np.ndarray) -> np.ndarray:
        """Which actions are best for the player to move: bool [B, A], none in a finished game."""
        scores = self.action_scores(states)
        return is_best(scores, states["to_move"])

    def given_away(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """What each action costs its player: int64 [B]; 1 is a win for a draw or a draw for a loss, 2 a win for a loss."""
        results = np.sign(self.action_scores(states)) * np.where(states["to_move"] == 0, 1, -1)[:, None]
        if not self.game.legal_mask(states)[np.arange(len(states)), actions].all():
            raise AzlabError("One of these actions is not legal in its state.")
        return (np.nanmax(results, axis=1) - results[np.arange(len(states)), actions]).astype(np.int64)

    def value(self, position: Position) -> float:
        """The value of `position` for seat 0."""
        return float(self.values(self._state_of(position))[0])

    def result(self, position: Position) -> int:
        """How the game ends for seat 0 when both play perfectly: +1 won, 0 drawn, -1 lost."""
        return int(np.sign(self.value(position)))

    def scores(self, position: Position) -> dict[str, float]:
        """The value for seat 0 after each legal move, by the name of the move."""
        scores = self.action_scores(self._unfinished_state_of(position))[0]
        return {self.game.move_name(action): float(scores[action]) for action in position.legal_actions}

    def best_moves(self, position: Position) -> list[str]:
        """The best moves of the player to move, by name; they are equally good."""
        best = self.best_actions(self._unfinished_state_of(position))[0]
        return [self.game.move_name(int(action)) for action in np.flatnonzero(best)]

    def check_states(self, states: np.ndarray) -> None:
        """Raise a sentence if `states` are not states of this oracle's game, or if oracles are closed."""
        if why := _CLOSED.get():
            raise AzlabError(why)
        if not isinstance(states, np.ndarray) or states.dtype != self.game.dtype or states.ndim != 1:
            raise AzlabError(f"This oracle reads a one-dimensional array of states of {self.game!r}, such as position.state.")

    def _state_of(self, position: Position) -> np.ndarray:
        if not isinstance(position, Position):
            raise AzlabError(f"An oracle is asked about a position, such as game.start(), not about {position!r}.")
        if position.game != self.game:
            raise AzlabError(f"This oracle knows {self.game!r}; the position is one of {position.game!r}.")
        return position.state

    def _unfinished_state_of(self, position: Position) -> np.ndarray:
        state = self._state_of(position)
        if position.over:
            raise AzlabError("The game is over; there is no move to judge, only its value.")
        return state

    def __repr__(self) -> str:
        return f"<perfect player of {self.game!r}>"


def is_best(scores: np.ndarray, to_move: np.ndarray) -> np.ndarray:
    """Where `scores` [B, A] (for seat 0, NaN where illegal) are best for the seats `to_move` [B]: bool [B, A]."""
    for_mover = np.where(np.isnan(scores), -np.inf, np.where(to_move[:, None] == 0, scores, -scores))
    return (for_mover == for_mover.max(axis=1, keepdims=True)) & ~np.isnan(scores)


def losses(scores: np.ndarray, to_move: np.ndarray) -> np.ndarray:
    """What each action gives away, in the points of `scores` [B, A] (for seat 0, NaN where illegal), for the seats `to_move` [B]:
    float64 [B, A], 0 for the best ones, NaN where illegal."""
    for_mover = np.where(to_move[:, None] == 0, scores, -scores)
    return np.nanmax(for_mover, axis=1, keepdims=True) - for_mover
