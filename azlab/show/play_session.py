"""A game between a person and an agent, or two people: what the playable board does, without the board.

Whatever cannot be done raises an `AzlabError` and changes nothing; the board shows its sentence. The agent and the oracle
answer in threads of their own. A move taken back, a new game and a swap of seats drop an answer that is still to come.
"""

import threading
from collections.abc import Callable
from typing import Any

from azlab.arena.agents import analysis_of
from azlab.errors import AzlabError
from azlab.games.game import Position
from azlab.search.analysis import Analysis
from azlab.show.analysis import SMALLEST_SHARE
from azlab.show.judge import value_of
from azlab.show.worker import Worker

PATIENCE = 3.0  # seconds after which an oracle is too slow for a bar beside a game
PATIENCE_AT_FIRST = 30.0  # the first time it makes tables, reads its book and is compiled


class Session:
    """One board: its positions so far, who plays, and what is being thought about. `changed()` is called after every change."""

    def __init__(
        self,
        position: Position,
        against: Any = None,
        seat: int = 0,
        hints: Any = None,
        oracle: Callable[[], Any] | None = None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.past = position.path()
        self.against, self.seat, self.hints = against, seat, hints
        self.changed = changed
        self.lock = threading.RLock()
        self.idle = threading.Condition(self.lock)
        self.message = self.error = ""
        self.hint: Analysis | None = None
        self.is_awake = False  # an agent that has the first move waits until someone looks or plays
        self.evaluation_on = oracle is not None
        self.value: float | None = None  # of the position, by the oracle; None while it is not known
        self._oracle: Any = None
        self._make_oracle = oracle
        self._mind, self._judge = Worker(self.lock), Worker(self.lock)
        self._answer: Position | None = None  # the position after the agent's last move
        self._task = ""  # what `_mind` is busy with: "move" or "hint"

    # --- what there is to see ---------------------------------------------------------------------------------

    @property
    def position(self) -> Position:
        return self.past[-1]

    @property
    def thinking(self) -> str:
        """The agent that is choosing a move or looking for a hint; "" for none."""
        if not self._mind.busy:
            return ""
        return str((self.against if self._task == "move" else self.hints).name)

    @property
    def players(self) -> tuple[str, str]:
        """The names of who sits in seat 0 and seat 1."""
        if self.against is None:
            return ("person", "person")
        names = ["you", "you"]
        names[1 - self.seat] = str(self.against.name)
        return names[0], names[1]

    @property
    def is_persons_turn(self) -> bool:
        return not self.position.over and (self.against is None or self.position.to_move == self.seat)

    @property
    def can_play(self) -> bool:
        """Whether a person may move now; a search for a hint does not stand in the way."""
        return self.is_persons_turn and not (self._mind.busy and self._task == "move")

    @property
    def can_undo(self) -> bool:
        return any(self._is_persons(position) for position in self.past[:-1])

    @property
    def can_retry(self) -> bool:
        """Whether the agent owes a move because it failed."""
        return bool(self.error) and not self.position.over and not self.is_persons_turn and not self._mind.busy

    @property
    def has_oracle(self) -> bool:
        return self._make_oracle is not None

    @property
    def status(self) -> str:
        """One line about the game, for eyes and for screen readers."""
        position, said = self.position, ""
        if position is self._answer:
            said = f"{self.against.name} played {position.moves[-1]}. "
        if self._mind.busy and self._task == "move":
            return f"{said}{position.status}: {self.against.name} is thinking."
        if position.over and self.against is not None and position.winner is not None:
            return f"{said}{position.status}: {'you win' if position.winner == self.seat else 'you lose'}."
        yours = ": your turn" if self.against is not None and self.is_persons_turn else ""
        return f"{said}{position.status}{yours}."

    # --- what a person can do -----------------------------------------------------------------------------------

    def play(self, move: str | int) -> None:
        """Play a person's move; the agent then answers."""
        with self.lock:
            if self._mind.busy and self._task == "move":
                raise AzlabError(f"{self.against.name} is still thinking.")
            if not self.position.over and not self.is_persons_turn:
                raise AzlabError(f"It is the turn of {self.against.name}, which failed; let it try again, or take a move back.")
            following = self.position.play(move)
            self._mind.cancel()  # a hint comes too late now
            self.past.append(following)
            self._go_on()

    def undo(self) -> None:
        """Go back to the person's previous turn; an answer that is being thought about is dropped."""
        with self.lock:
            if not self.can_undo:
                raise AzlabError("There is nothing to take back.")
            self._mind.cancel()
            self.past.pop()
            while not self._is_persons(self.past[-1]):
                self.past.pop()
            self._go_on()

    def new(self) -> None:
        """Begin again at the start of the game."""
        with self.lock:
            self._mind.cancel()
            self.past = [self.past[0].game.start()]
            self._go_on()

    def swap(self) -> None:
        """Change seats with the agent; the position stays."""
        with self.lock:
            if self.against is None:
                raise AzlabError("Two people play; they swap seats by changing chairs.")
            self._mind.cancel()
            self.seat = 1 - self.seat
            self._go_on()

    def retry(self) -> None:
        """Let an agent that failed choose again."""
        with self.lock:
            if not self.can_retry:
                raise AzlabError("No agent has failed.")
            self._go_on()

    def show(self, position: Position) -> None:
        """Go on from another position of the same game."""
        with self.lock:
            if position.game != self.position.game:
                raise AzlabError(f"This board plays {self.position.game!r}; that is a game of {position.game!r}.")
            self._mind.cancel()
            self.past = position.path()
            self._go_on()

    def ask_hint(self) -> None:
        """Let the adviser look at the position; its shares of the moves appear when it is done."""
        with self.lock:
            if not self.can_play:
                raise AzlabError(
                    "A hint is for the player to move; it is not your turn." if not self.position.over else "The game is over."
                )
            if self.hints is None:
                raise AzlabError('This board gives no hints; play(..., hints="uct:1000") gives them.')
            position, adviser = self.position, self.hints
            self._task = "hint"
            self._mind.ask(adviser, lambda: analysis_of(adviser, position), self._hear_hint)
            self._tell()

    def evaluate(self, on: bool) -> None:
        """Switch the evaluation by the oracle on or off."""
        with self.lock:
            if not self.has_oracle:
                raise AzlabError(f"There is no oracle for {self.position.game!r}.")
            self.evaluation_on, self.message = on, ""
            self._judge_position()
            self._tell()

    def wake(self) -> None:
        """Someone looks at the board: an agent that has the first move may begin."""
        with self.lock:
            if not self.is_awake:
                self._go_on()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is being thought about; False if that took longer than `seconds`."""
        with self.idle:
            return self.idle.wait_for(lambda: not self._mind.busy and not self._judge.busy, seconds)

    # --- inside ---------------------------------------------------------------------------------------------------

    def _is_persons(self, position: Position) -> bool:
        return self.against is None or position.to_move == self.seat

    def _go_on(self) -> None:
        """After every change of the position or the seats: let the agent think if it is its turn."""
        self.is_awake = True
        self.hint, self.error, self.message = None, "", ""
        position, agent = self.position, self.against
        if not position.over and not self._is_persons(position):
            self._task = "move"
            self._mind.ask(agent, lambda: (position, agent.choose(position)), self._hear_move)
        self._judge_position()
        self._tell()

    def _hear_move(self, found: Any, failure: Exception | None) -> None:
        try:
            if failure is not None:
                raise failure
            asked, action = found
            following = asked.play(action)
        except Exception as error:
            self.error = f"{self.against.name} failed ({type(error).__name__}: {error}). The game is as it was."
            self._tell()
            return
        self._answer = following
        self.past.append(following)
        self._go_on()

    def _hear_hint(self, found: Any, failure: Exception | None) -> None:
        if failure is not None:
            self.error = f"{self.hints.name} has no hint ({type(failure).__name__}: {failure})."
        else:
            self.hint = found
            self.message = f"Hint of {self.hints.name}: {found.best_move}."
        self._tell()

    def _tell(self) -> None:
        self.idle.notify_all()
        self.changed()

    def _judge_position(self) -> None:
        """Ask the oracle about the position, if the evaluation is on; switch it off if that takes too long."""
        self._judge.cancel()
        self.value = None
        if not self.evaluation_on or not self.is_awake:
            return
        position = self.position
        asked = self._judge.ask(self, lambda: self._ask_oracle(position), self._hear_value)
        timer = threading.Timer(PATIENCE_AT_FIRST if self._oracle is None else PATIENCE, self._lose_patience, (asked,))
        timer.daemon = True
        timer.start()

    def _ask_oracle(self, position: Position) -> float | None:
        if self._oracle is None:
            assert self._make_oracle is not None
            self._oracle = self._make_oracle()
        return value_of(self._oracle, position)

    def _hear_value(self, found: Any, failure: Exception | None) -> None:
        if failure is not None:
            self.evaluation_on = False
            self.message = f"The oracle failed ({type(failure).__name__}: {failure}); the evaluation is off."
        self.value = found
        self._tell()

    def _lose_patience(self, asked: int) -> None:
        with self.lock:
            if self._judge.busy and self._judge.newest == asked:
                self._judge.cancel()
                self.evaluation_on = False
                self.message = "The oracle takes long here, so the evaluation is off; you can switch it on again."
                self._tell()


def shares_to_show(analysis: Analysis) -> list[tuple[int, float]]:
    """The moves that a search looked at most, as (action, share), for marks on the board."""
    shares = analysis.shares
    return [(a, float(s)) for a, s in enumerate(shares) if s > 0 and s >= SMALLEST_SHARE * shares.max()]
