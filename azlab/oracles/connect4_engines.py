"""The two engines that know Connect 4 by heart, behind the same four questions, and the opening book.

Both answer for the player to move, in the scores that `azlab.oracles.connect4_solver` explains, about states that are not over.
"""

import functools
import importlib.util
from typing import Any, Protocol

import numpy as np

from azlab.errors import AzlabError, one_of
from azlab.games.connect4 import Connect4
from azlab.oracles import connect4_solver as solver
from azlab.oracles.connect4_solver import ILLEGAL, WORSE

ENGINES = ("auto", "azlab", "bitbully")


class Engine(Protocol):
    """What an engine answers about one state (a record)."""

    def score(self, state: np.record) -> int: ...

    def score_moves(self, state: np.record) -> np.ndarray: ...  # int8 [cols], ILLEGAL where the column is full

    def find_best(self, state: np.record) -> np.ndarray: ...  # the same, with WORSE for moves that are not best

    def first_best(self, state: np.record, order: np.ndarray) -> int: ...  # of all legal columns, int64, the first that is best


def new_engine(game: Connect4, name: str = "auto", book: bool = True) -> Engine:
    """An engine with an empty table; "auto" is our own, which is the faster one and knows every size of board."""
    one_of("engine", name, ENGINES)
    return BitBullyEngine(game, book) if name == "bitbully" else AzlabEngine(game, book)


class AzlabEngine:
    """Our own solver. It uses the opening book if the package bitbully-databases (MIT) is there."""

    def __init__(self, game: Connect4, book: bool = True) -> None:
        self.memory = solver.new_memory(game.rows, game.cols)
        self.cols = game.cols
        if book and (game.rows, game.cols) == (6, 7):
            codes, scores = opening_book()
            self.memory["book_size"] = len(codes)
            self.memory["book_codes"][0, : len(codes)] = codes
            self.memory["book_scores"][0, : len(scores)] = scores

    @property
    def nodes(self) -> int:
        """How many positions the search has visited since this engine was made."""
        return int(self.memory["nodes"][0])

    def score(self, state: np.record) -> int:
        with np.errstate(over="ignore"):  # for runs without Numba: numbers of 64 bits are meant to wrap around
            return int(solver.score_position(self.memory[0], *_words(state)))

    def score_moves(self, state: np.record) -> np.ndarray:
        scores = np.empty(self.cols, np.int8)
        with np.errstate(over="ignore"):
            solver.score_moves(self.memory[0], *_words(state), scores)
        return scores

    def find_best(self, state: np.record) -> np.ndarray:
        scores = np.empty(self.cols, np.int8)
        with np.errstate(over="ignore"):
            solver.find_best(self.memory[0], *_words(state), scores)
        return scores

    def first_best(self, state: np.record, order: np.ndarray) -> int:
        with np.errstate(over="ignore"):
            return int(solver.first_best(self.memory[0], *_words(state), order))


def _words(state: np.record) -> tuple[np.uint64, np.uint64, int]:
    """The stones of the player to move, all stones, and their number."""
    stones = state["stones"]
    return stones[state["to_move"]], stones[0] | stones[1], int(state["ply"])


class BitBullyEngine:
    """BitBully (package bitbully, AGPL-3), with its book of 12 plies."""

    def __init__(self, game: Connect4, book: bool = True) -> None:
        if (game.rows, game.cols) != (6, 7):
            raise AzlabError(f"BitBully plays on 6 x 7 only, not on {game.rows} x {game.cols}; use engine='azlab'.")
        if importlib.util.find_spec("bitbully") is None:
            raise AzlabError(
                "BitBully is not installed: pip install 'azlab[solver]', or use engine='azlab', which needs nothing."
            )
        import bitbully

        self.game = game
        self.new_board = bitbully.Board
        self.bitbully = bitbully.BitBully("default" if book else None)

    def _board(self, state: np.record) -> Any:
        return self.new_board(self.game.board(np.array(state).reshape(1)).tolist())

    def score(self, state: np.record) -> int:
        return int(self.bitbully.mtdf(self._board(state)))

    def score_moves(self, state: np.record) -> np.ndarray:
        scores = np.full(7, ILLEGAL, np.int8)
        for col, score in self.bitbully.score_all_moves(self._board(state)).items():
            scores[col] = score
        return scores

    def find_best(self, state: np.record) -> np.ndarray:
        scores = self.score_moves(state)
        return np.where((scores == scores.max()) | (scores == ILLEGAL), scores, WORSE).astype(np.int8)

    def first_best(self, state: np.record, order: np.ndarray) -> int:
        scores = self.score_moves(state)
        return int(order[scores[order].argmax()])


@functools.cache
def opening_book() -> tuple[np.ndarray, np.ndarray]:
    """Codes and scores of the positions with 12 stones, from the package bitbully-databases; empty without it.

    The book's value is 100 - plies for a win, plies - 100 for a loss. A damaged or unknown file counts as no book: it
    would only save time.
    """
    nothing = np.empty(0, np.int32), np.empty(0, np.int8)
    if importlib.util.find_spec("bitbully_databases") is None:
        return nothing
    from bitbully_databases import BitBullyDatabases

    try:
        lines = np.fromfile(BitBullyDatabases.get_database_path("12-ply-dist"), [("code", ">i4"), ("value", "i1")])
    except (OSError, ValueError):
        return nothing
    codes, values = lines["code"].astype(np.int32), lines["value"].astype(np.int64)
    if len(codes) != solver.BOOK_ROOM or (codes[1:] <= codes[:-1]).any():
        return nothing
    stones_at_end = solver.BOOK_PLY + 100 - np.abs(values)
    return codes, (np.sign(values) * ((42 + 2 - stones_at_end) // 2)).astype(np.int8)
