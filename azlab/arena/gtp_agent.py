"""Players that are programs of their own: GNU Go, and any other engine that speaks the Go Text Protocol."""

from collections.abc import Sequence

import numpy as np

from azlab.errors import AzlabError, finite_number, whole_number
from azlab.formats import gtp
from azlab.games.game import Game, Position
from azlab.games.go import Go

_GNUGO_SEEDS = 2**31 - 1  # GNU Go's seeds are 32-bit; 0 would mean the time of day
_GNUGO_KO = {"simple": "--simple-ko", "positional": "--positional-superko", "situational": "--situational-superko"}


class GtpAgent:
    """Asks an engine for its moves. The program runs from `prepare`, or the first move, until `close` or the end of Python.

    Our Go has no resignation: an engine that resigns passes, and is asked again at its next turn. It must itself be told
    to count the area with all stones as they stand, since the protocol has no command for rules.
    """

    one_game = True  # an engine has one board: to go from game to game it would be sent all moves again and again

    def __init__(self, command: str | Sequence[str], timeout: float = gtp.TIMEOUT) -> None:
        self.timeout = finite_number("timeout", timeout, 0)
        self.name = f"gtp:{command if isinstance(command, str) else ' '.join(command)}"
        self._given = command
        self._game: Go | None = None
        self._engine: gtp.GtpEngine | None = None
        self._start: Position | None = None  # where the engine's game began; None if its board is unknown
        self._actions: tuple[int, ...] = ()  # what was played on its board since

    def command(self, game: Go) -> str | Sequence[str]:
        """The command that starts the engine for this game."""
        return self._given

    def prepare(self, game: Game) -> None:
        """Start the engine for `game`, or raise a sentence that says why it cannot play it."""
        if not isinstance(game, Go):
            raise AzlabError(f"{self.name} plays go, not {game.name}.")
        self.close()
        self._engine = engine = gtp.GtpEngine(self.command(game), self.timeout)
        try:
            engine.boardsize(game.size)
            engine.komi(game.komi)
        except gtp.GtpError as error:
            self.close()
            raise AzlabError(f"{self.name} cannot play go on {game.size}x{game.size} with komi {game.komi:g}: {error}") from None
        self._game = game

    def close(self) -> None:
        """End the program; the next move starts it again."""
        if self._engine is not None:
            self._engine.close()
        self._engine = self._game = self._start = None

    def choose(self, position: Position) -> int:
        if self._engine is None or self._game != position.game:
            self.prepare(position.game)
        assert self._engine is not None and self._game is not None
        try:
            return self._move(self._engine, position, self._game.size)
        except BaseException:
            self.close()  # whatever went wrong, the engine's board can no longer be trusted
            raise

    def _move(self, engine: gtp.GtpEngine, position: Position, size: int) -> int:
        """Bring the engine's board up to date, let it play, and return its move."""
        self._follow(engine, position, size)
        answer = engine.genmove(position.to_move)
        if answer == gtp.RESIGN:  # nothing was played on the engine's board; the pass will be sent as a move it does not know
            return gtp.action(gtp.PASS, size)
        try:
            action = gtp.action(answer, size)
        except gtp.GtpError as error:
            raise AzlabError(f"{self.name} answered genmove by what is no move: {error}") from None
        if action not in position.legal_actions:
            raise AzlabError(f"{self.name} played {answer}, which is not legal in {position.game!r}; do its rules differ?")
        self._actions += (action,)
        return action

    def _follow(self, engine: gtp.GtpEngine, position: Position, size: int) -> None:
        """Send the moves the engine does not know yet; all of them if this is another game."""
        start = position.path()[0]
        if self._start != start or position.actions[: len(self._actions)] != self._actions:
            engine.clear_board()
            _set_up(engine, start)
            self._start, self._actions = start, ()
        for k in range(len(self._actions), len(position.actions)):
            engine.play((start.to_move + k) % 2, gtp.vertex(position.actions[k], size))
        self._actions = position.actions


class GnuGoAgent(GtpAgent):
    """GNU Go with the rules of our games, on boards from 2x2 to 19x19. The same seed gives the same match again.

    It never resigns, and before it passes it takes the dead stones off the board, for we count the board as it stands. Where
    it believes all its own stones to be dead it passes, even against a player who would let it live. It was not made for
    the smallest boards: on 3x3 it takes everything as Black, on 2x2 it passes too early and gives its win away.
    """

    def __init__(self, level: int = 10, timeout: float = gtp.TIMEOUT, seed: int = 0) -> None:
        super().__init__("gnugo", timeout)
        self.level = whole_number("level", level, 0, 50)  # 10 is GNU Go's own default; each level takes more time
        self.name, self._seed = f"gnugo:{level}", seed % _GNUGO_SEEDS + 1

    def command(self, game: Go) -> list[str]:
        rules = ["--chinese-rules", "--forbid-suicide", _GNUGO_KO[game.ko], "--capture-all-dead", "--never-resign"]
        return ["gnugo", "--mode", "gtp", "--level", str(self.level), "--seed", str(self._seed), *rules]


def _set_up(engine: gtp.GtpEngine, start: Position) -> None:
    """Put the stones of a position without known moves (a handicap, a diagram) on the engine's empty board.

    They are played one by one. Nothing is captured on the way: a part of a chain has more liberties than the whole.
    """
    state, game = start.state, start.game
    assert isinstance(game, Go)
    if state["ko"][0] or (game.ko != "simple" and start.ply):
        raise AzlabError(
            "This position forbids moves because of what was played before, and its moves are not known to the engine."
        )
    board = game.board(state).ravel()
    for seat in (0, 1):
        for cell in np.flatnonzero(board == seat):
            engine.play(seat, gtp.vertex(int(cell), game.size))
    if state["passes"][0]:
        engine.play(1 - start.to_move, gtp.PASS)
