"""What goes wrong in a first game, in words: `check` of an easy game plays its functions as plain Python first."""

from collections.abc import Callable
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.games import easy_kernels
from azlab.games.check import RuleViolation
from azlab.games.easy import EasyGame


def check_functions(game: EasyGame, games: int, seed: int) -> None:
    """Play random games with the author's functions alone, then compare them with the kernels made of them."""
    again = game.rules.start(**game.options)
    if not np.array_equal(np.asarray(again), game.board):
        raise RuleViolation("start returns another board the second time; a game begins with the same board every time.")
    rng = np.random.default_rng(seed)
    played = [_RandomGame(game, rng) for _ in range(games)]
    for one in played:
        one.play()
    if not any(one.has_changed for one in played):
        raise RuleViolation(
            "play never changed the board: it must write into the board that it is given, as in board[row, col] = player; "
            "board = ... makes another one."
        )
    if all(one.is_unfinished for one in played):
        raise RuleViolation(
            f"result never ended one of {games} random games within max_length={game.max_length} moves. {easy_kernels.OUTCOME}"
        )
    for one in played:
        one.compare()


class _RandomGame:
    """One random game by the author's functions."""

    def __init__(self, game: EasyGame, rng: np.random.Generator) -> None:
        self.game, self.rng = game, rng
        self.board, self.player = game.board.copy(), 1
        self.actions: list[int] = []
        self.legal: list[np.ndarray] = []  # bool [A] before each move
        self.result: int | None = None
        self.has_changed = False

    @property
    def is_unfinished(self) -> bool:
        """Whether it was drawn only because it had become too long."""
        return self.result is None

    def fail(self, what: str) -> RuleViolation:
        moves = " ".join(self.game.move_name(action) for action in self.actions) or "the start"
        return RuleViolation(f"{what} After: {moves}.")

    def call(self, function: Callable, *arguments: Any, may_change: bool = False) -> Any:
        """Call one of the functions; whatever it raises, and a board that it should have left alone, is named."""
        name, board = function.__name__, self.board.copy()
        try:
            returned = function(self.board, *arguments)
        except Exception as error:
            raise self.fail(f"{name} failed with {type(error).__name__}: {error}.") from error
        if not may_change and not np.array_equal(board, self.board):
            raise self.fail(f"{name} changed the board; only play may.")
        self.has_changed |= not np.array_equal(board, self.board)
        return returned

    def read(self, reader: Callable, returned: Any, *arguments: Any) -> Any:
        """What a function's answer means; an answer that means nothing is shown."""
        try:
            return reader(returned, *arguments)
        except (AzlabError, ValueError, TypeError, IndexError) as error:
            said = str(error) if isinstance(error, AzlabError) else easy_kernels.LEGAL + "."
            raise self.fail(f"{said} It returned {returned!r}.") from None

    def play(self) -> None:
        """Play until the functions or max_length end the game."""
        rules = self.game.rules
        while self.result is None and len(self.actions) < self.game.max_length:
            self.look()
            mask = np.zeros(self.game.num_actions, np.bool_)
            self.read(easy_kernels.mark, self.call(rules.legal, self.player), mask)
            if not mask.any():
                raise self.fail(easy_kernels.NO_MOVE)
            self.legal.append(mask)
            action = int(self.rng.choice(np.flatnonzero(mask)))
            returned = self.call(rules.play, self.player, action, may_change=True)
            self.actions.append(action)
            following = self.read(easy_kernels.next_player, returned, self.player)
            ended = self.read(easy_kernels.outcome, self.call(rules.result, self.player))
            self.result = None if ended == easy_kernels.GOES_ON else ended
            self.player = following
        self.look()

    def look(self) -> None:
        """Whether a network sees every number on the board."""
        if self.game.rules.encode is not None:
            return
        others = set(np.unique(self.board).tolist()) - {0, *self.game.rules.values}
        if others:
            every = sorted({*others, *self.game.rules.values})
            raise self.fail(
                f"The board holds {min(others)}, which a network would not see: use +1 and -1 for the pieces of the two players, "
                f"or name all numbers that can stand there, as in values={every}."
            )

    def compare(self) -> None:
        """Play the same moves by the game's kernels."""
        position = self.game.start()
        for action, mask in zip(self.actions, self.legal, strict=True):
            same = np.array_equal(self.game.legal_mask(position.state)[0], mask)
            position = position.play(action) if same else position
            if not same:
                break
        state = position.state
        same = same and position.over and int(state["result"][0]) == (self.result or 0)
        if not (same and np.array_equal(state["board"][0], self.board)):
            raise self.fail(
                "Called again, the functions do something else. They may use nothing but their arguments and names that never "
                "change: a global variable is read once, when the game is compiled, and small numbers overflow differently."
            )
