"""The game on the board of a GTP engine. Controllers may do what no game of ours allows: one colour moves twice, play goes on
after two passes, stones are set up, komi changes in between. The agents still see positions of `Go`."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from azlab.errors import AzlabError, IllegalMove
from azlab.formats import sgf
from azlab.games.game import Position
from azlab.games.go import Go
from azlab.games.go_board import handicap_cells

MAX_SGF_BYTES = 10_000_000  # a game has a few thousand, one with all its variations some hundred thousand
ILLEGAL = "illegal move"  # the protocol's words


class Played(NamedTuple):
    """A move and where it led."""

    seat: int
    action: int
    position: Position
    prisoners: tuple[int, int]  # stones that Black and White have taken so far


class Setup(NamedTuple):
    """The board before the first move."""

    black: tuple[int, ...] = ()
    white: tuple[int, ...] = ()
    to_move: int = 0
    handicap: int = 0


class Board:
    """A game of Go as a controller tells it."""

    game: Go

    def __init__(self, game: Go) -> None:
        self.clear(game)

    def clear(self, game: Go | None = None, setup: Setup | None = None) -> None:
        """Begin again, with other rules or another size if `game` is given; nothing changes if the set-up is impossible."""
        rules, setup = game or self.game, setup or Setup()
        start = rules.set_up(setup.black, setup.white, setup.to_move)
        self.game, self.setup, self._start = rules, setup, start
        self.played: list[Played] = []

    @property
    def size(self) -> int:
        return self.game.size

    @property
    def position(self) -> Position:
        return self.played[-1].position if self.played else self._start

    @property
    def prisoners(self) -> tuple[int, int]:
        """Stones that Black and White have taken."""
        return self.played[-1].prisoners if self.played else (0, 0)

    @property
    def is_empty(self) -> bool:
        return not self.played and not self.setup.black and not self.setup.white

    def for_seat(self, seat: int) -> Position:
        """The position with this seat to move, and the game going on."""
        position = self.position
        if position.to_move == seat and not position.over:
            return position
        if position.ply >= self.game.max_length:  # such a long game is gone on with from the board alone
            return self.game.set_up(self.stones(0), self.stones(1), seat)
        state = position.state
        if position.to_move != seat:
            state["ko"] = 0  # it binds the other one
            state["to_move"] = seat
        state["over"], state["result"], state["passes"] = False, 0, min(1, int(state["passes"][0]))
        return Position(self.game, state)

    def legal(self, seat: int) -> list[int]:
        """The actions that this seat may play, the pass last."""
        return self.for_seat(seat).legal_actions

    def play(self, seat: int, action: int) -> None:
        """Play for any seat."""
        position = self.for_seat(seat)
        if action not in position.legal_actions:
            raise IllegalMove(ILLEGAL)
        following = position.play(action)
        before, after = (int((self.game.board(each.state) == 1 - seat).sum()) for each in (position, following))
        prisoners = list(self.prisoners)
        prisoners[seat] += before - after
        self.played.append(Played(seat, action, following, (prisoners[0], prisoners[1])))

    def play_all(self, moves: Iterable[tuple[int, int]]) -> None:
        """Play all of them, or none if one is not legal."""
        before = len(self.played)
        try:
            for seat, action in moves:
                self.play(seat, action)
        except AzlabError:
            del self.played[before:]
            raise

    def undo(self) -> None:
        """Take the last move back."""
        if not self.played:
            raise AzlabError("cannot undo")
        self.played.pop()

    def change(self, game: Go) -> None:
        """Go on under other rules, or with another komi."""
        moves, setup, before = [(one.seat, one.action) for one in self.played], self.setup, self.__dict__.copy()
        try:
            self.clear(game, setup)
            self.play_all(moves)
        except AzlabError:
            self.__dict__.update(before)
            raise AzlabError("the game so far breaks these rules") from None

    def handicap(self, stones: int) -> list[int]:
        """Put so many stones on an empty board, as the protocol has their places; return these."""
        if not self.is_empty:
            raise AzlabError("board not empty")
        try:
            if stones < 2:
                raise AzlabError("too few")
            cells = handicap_cells(self.size, stones)
        except AzlabError:
            raise AzlabError("invalid number of stones") from None
        self.clear(setup=Setup(tuple(cells), (), 1, len(cells)))
        return cells

    def most_handicap(self) -> int:
        """The largest handicap of this board, 0 if it is too small for any."""
        for stones in range(9, 1, -1):
            try:
                return len(handicap_cells(self.size, stones))
            except AzlabError:
                continue
        return 0

    def free_handicap(self, cells: Sequence[int]) -> None:
        """Put handicap stones on these points of an empty board."""
        if not self.is_empty:
            raise AzlabError("board not empty")
        points = self.size * self.size
        if not 2 <= len(cells) < points or len(set(cells)) < len(cells) or points in cells:
            raise AzlabError("bad vertex list")
        self.clear(setup=Setup(tuple(cells), (), 1, len(cells)))

    def stones(self, seat: int) -> list[int]:
        """The cells with stones of this seat."""
        return np.flatnonzero(self.game.board(self.position.state).ravel() == seat).tolist()

    def score(self) -> float:
        """Black's area minus White's and komi, all stones as they stand."""
        black, white = self.game.scores(self.position.state)
        return black - white

    def record(self, names: tuple[str, str] = ("", "")) -> sgf.SgfGame:
        """The game so far."""
        points = self.size * self.size
        moves = tuple((one.seat, sgf.PASS if one.action == points else one.action) for one in self.played)
        black, white = (tuple(sorted(cells)) for cells in (self.setup.black, self.setup.white))
        first = moves[0][0] if moves else self.setup.to_move
        return sgf.SgfGame(
            self.size, self.game.komi, self.setup.handicap, "Chinese", "", black, white, first, moves, names[0], names[1]
        )

    def load(self, record: sgf.SgfGame, game: Go, before: int | None = None) -> None:
        """The position of a record, before its move number `before` or at its end; nothing changes if a move is not legal."""
        points = record.size * record.size
        moves = [(seat, points if point == sgf.PASS else point) for seat, point in record.moves]
        old = self.__dict__.copy()
        try:
            self.clear(game, Setup(record.black, record.white, record.to_move, record.handicap))
            for seat, action in moves if before is None else moves[: max(0, before - 1)]:
                self.play(seat, action)
        except AzlabError as error:
            number = len(self.played) + 1
            self.__dict__.update(old)
            why = f"move {number} is not legal" if str(error) == ILLEGAL else str(error)
            raise AzlabError(f"cannot load file: {why}") from None
