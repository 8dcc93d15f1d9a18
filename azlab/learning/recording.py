"""What is known of games that are being played: a row for each move, until the game is over and becomes a `Played`."""

from typing import NamedTuple

import numpy as np

from azlab.games.game import Game
from azlab.games.packed import as_bytes


class Played(NamedTuple):
    """A finished game of M moves, all that targets can be made of."""

    game: Game
    margin: bool  # the searches counted points, not results
    states: np.ndarray  # records [M]: before each move
    actions: np.ndarray  # int32 [M]: the moves played; -1 where a game begun by an older version does not tell
    policy: np.ndarray  # float16 [M, A]: what the search teaches
    search: np.ndarray  # float32 [M, 3]: what it expects for seat 0: draw, win, loss
    is_full: np.ndarray  # bool [M]: worth learning from
    final: np.ndarray  # record [1]: the end
    outcome: np.ndarray  # float32 [3]: draw, win, loss of seat 0; chances where a judge ended the game at a horizon


def outcomes(final: np.ndarray) -> np.ndarray:
    """Draw, win or loss of seat 0 in states that are over: float32 [B, 3], with a 1 in each row."""
    return np.eye(3, dtype=np.float32)[final["result"]]  # a loss, -1, is the last


class Recording:
    """The moves so far of a batch of games. Row k of game g is its k-th move since `clear`."""

    def __init__(self, game: Game, games: int, margin: bool = False) -> None:
        self.game, self.margin = game, margin
        self.played = np.zeros(games, np.int64)  # rows in use, of each game
        shape = games, game.max_length
        self.moves = {
            "states": np.zeros(shape, game.dtype),
            "actions": np.full(shape, -1, np.int32),
            "policy": np.zeros((*shape, game.num_actions), np.float16),
            "search": np.zeros((*shape, 3), np.float32),
            "is_full": np.zeros(shape, np.bool_),
        }

    def clear(self, games: np.ndarray) -> None:
        """Begin these games anew."""
        self.played[games] = 0

    def add(self, **moves: np.ndarray) -> None:
        """Write down a move of every game: the fields of `Played`, one row each."""
        rows = np.arange(len(self.played)), self.played
        for name, array in self.moves.items():
            array[rows] = moves[name]
        self.played += 1

    def finished(self, g: int, final: np.ndarray, outcome: np.ndarray | None = None) -> Played:
        """Game `g`, which ended in the state `final` [1]: over, or at a horizon with the `outcome` [3] that a judge saw."""
        outcome = outcomes(final)[0] if outcome is None else outcome
        moves = {name: array[g, : self.played[g]] for name, array in self.moves.items()}
        return Played(game=self.game, margin=self.margin, final=final, outcome=outcome, **moves)

    def unfinished(self) -> dict[str, np.ndarray]:
        """All there is to know of the games so far: arrays of numbers and bytes."""
        used = self._used()
        kept = {name: array[used] for name, array in self.moves.items()}
        return kept | {"states": as_bytes(kept["states"]), "played": self.played}

    def resume(self, kept: dict[str, np.ndarray]) -> None:
        """Take over what `unfinished` gave, with its states as records again; what an older version did not keep becomes -1."""
        self.played = kept["played"].copy()
        used = self._used()
        for name, array in self.moves.items():
            array[used] = kept.get(name, -1)

    def _used(self) -> np.ndarray:
        return np.arange(self.game.max_length) < self.played[:, None]
