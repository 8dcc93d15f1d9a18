"""Perfect Seega at the end of the game: exact results in the moving phase, for all positions with few stones.

    oracle = azlab.oracle("seega")                  # up to 6 stones, made in seconds, or as many as have been made before
    oracle = azlab.oracle("seega", stones=10)       # after `azlab data make seega stones=10`
    oracle = azlab.oracle("seega", endless=True)    # as if there were no limit on quiet moves: endless play is a draw
    oracle = azlab.oracle("seega", size=3)          # all of 3x3, placing included

The limit on quiet moves is honoured exactly: a position that is won with 20 quiet moves left may be a draw with 5. `seega_tables`
explains how, `seega_make` makes the tables, and `seega_boards`, `seega_kernels` and `seega_files` are what they are made of.
"""

from pathlib import Path

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.files import expanded
from azlab.games.count import children, distinct
from azlab.games.seega import NONE, Seega
from azlab.oracles.oracle import Oracle
from azlab.oracles.seega_make import Progress, make_tables, tables_folder
from azlab.oracles.seega_tables import Tables, rules_of

QUICK = 6  # stones of the tables that are made without being asked for: 1.3 million boards, about a second


class SeegaOracle(Oracle):
    """Perfect Seega. Values are the result for seat 0: 1, 0 or -1.

    stones: up to how many stones it judges, if the tables know so many; None takes what is there, or makes what is quickly made
    endless: judge as if there were no limit on quiet moves, and endless play were a draw
    folder: where the tables are; None is the usual place
    progress: is told (done, in all) while tables are made
    """

    game: Seega

    def __init__(
        self,
        game: Seega,
        stones: int | None = None,
        endless: bool = False,
        folder: str | Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.game, self.endless, self.progress = game, endless, progress
        self.tables = Tables(rules_of(game, endless), tables_folder() if folder is None else expanded(folder))
        most = 2 * self.tables.rules.most
        quick = min(QUICK, most) if game.size > 3 else most
        wanted = quick if stones is None else whole_number("stones", stones, 2 * self.tables.rules.least_stones, most)
        made = self.tables.stones
        if made < wanted > quick:
            knows = f"know up to {made} stones, not {wanted}" if made > 3 else "are not made yet"
            command = self.tables.rules.command(wanted)
            raise AzlabError(f"The tables of Seega for these rules {knows}: make them with `{command}`.")
        self.stones = wanted if stones is not None else max(made, wanted)
        self._is_made = made >= self.stones  # what is missing is made when it is first needed
        self.covers_start = self.stones == most and game.size == 3

    def knows(self, states: np.ndarray) -> np.ndarray:
        self.check_states(states)
        few = states["stones"].sum(axis=1, dtype=np.int64) <= self.stones
        few &= states["stones"].max(axis=1, initial=0) <= self.tables.rules.most
        return states["over"] | np.where(states["placing"], self.covers_start, few)

    def values(self, states: np.ndarray) -> np.ndarray:
        self._check_known(states)
        states = self._without_limits(states)
        if not self._is_made:
            make_tables(self.stones, self.tables.folder.parent, self.progress, self.game, self.endless)
            self._is_made = True
        found = states["result"].astype(np.float64)
        going_on = ~states["over"]
        placing, chained = going_on & states["placing"], going_on & (states["chain"] != NONE)
        for some, judge in ((placing, self._values_of_placing), (chained, self._values_in_chains)):
            if some.any():
                found[some] = judge(states[some])
        plain = going_on & ~placing & ~chained
        if plain.any():
            found[plain] = self._values_in_tables(states[plain])
        return found

    def action_scores(self, states: np.ndarray) -> np.ndarray:
        self._check_known(states)
        return super().action_scores(self._without_limits(states))

    def _check_known(self, states: np.ndarray) -> None:
        """Raise a sentence if there is a state that the tables do not know."""
        unknown = states[~self.knows(states)]
        if not len(unknown):
            return
        if unknown["placing"].any():
            raise AzlabError(
                "Perfect play of Seega on 5x5 is known when stones move, not while they are placed; 3x3 is known from the start."
            )
        own, other = sorted(unknown["stones"][0].tolist())
        if other > self.tables.rules.most:
            raise AzlabError(f"One side has {other} stones, and the tables know up to {self.tables.rules.most} of each.")
        raise AzlabError(
            f"This position has {own + other} stones, and the tables of Seega here know up to {self.stones}: "
            f"`{self.tables.rules.command(own + other)}` makes larger ones."
        )

    def _without_limits(self, states: np.ndarray) -> np.ndarray:
        """In endless play no move reaches a limit."""
        if not self.endless:
            return states
        states = states.copy()
        states["quiet_limit"] = states["move_limit"] = 0
        return states

    def _values_in_tables(self, states: np.ndarray) -> np.ndarray:
        """Of positions in which somebody begins a turn of the moving phase."""
        cells = 1 << np.arange(self.game.cells, dtype=np.int64)
        boards = states["board"].reshape(len(states), -1)
        to_move = states["to_move"].astype(np.int64)
        own, other = (((boards == seat[:, None]) @ cells) for seat in (to_move, 1 - to_move))
        moves_left = self.tables.rules.limit - (0 if self.endless else 1) * states["quiet"].astype(np.int64)
        return ((1 - 2 * to_move) * self.tables.values(own, other, moves_left)).astype(np.float64)

    def _values_in_chains(self, states: np.ndarray) -> np.ndarray:
        """Of positions in the middle of a chain of captures: the best of its ends."""
        for_mover = (1.0 - 2 * states["to_move"])[:, None] * super().action_scores(states)
        return (1.0 - 2 * states["to_move"]) * np.nanmax(for_mover, axis=1)

    def _values_of_placing(self, states: np.ndarray) -> np.ndarray:
        """Of positions while stones are placed: everything down to the full boards is tried."""
        merged, group = distinct(states)
        following, parents = children(self.game, merged)
        values = self.values(following)
        first = merged["to_move"][parents] == 0
        best = np.where(merged["to_move"] == 0, -1.0, 1.0)
        np.maximum.at(best, parents[first], values[first])
        np.minimum.at(best, parents[~first], values[~first])
        return best[group]
