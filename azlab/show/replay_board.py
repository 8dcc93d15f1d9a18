"""A game to step through in a notebook: `azlab.show.replay(record, agents=["uct:1000"])`.

Below the board stands what agents think of every position, as a curve; where the game has an oracle, moves that lose something
are marked. All of that is computed once, in a thread, when someone looks at the board or calls `wait`.
"""

import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import anywidget
import numpy as np
import traitlets

from azlab.arena.agents import Analyses
from azlab.arena.results import GameRecord
from azlab.errors import AzlabError, one_of, whole_number
from azlab.games import game as find_game
from azlab.games.game import Game, Position
from azlab.show.board import draw
from azlab.show.judge import can_judge, shared_oracle, value_of
from azlab.show.play_board import StaticFallback, as_agent, asset, colour_rules
from azlab.show.record_file import as_position
from azlab.show.worker import lock_of

ORACLE_SECONDS = 60.0  # for all positions of a game, the last ones first: early ones can take minutes each


class Mistake(NamedTuple):
    """A move that lost something against perfect play."""

    number: int  # of the move, counted from 1
    move: str
    kind: str  # "mistake" if it changed who wins, "slip" if it only cost points or time
    loss: float  # what it lost, in the oracle's units


class Review:
    """What agents and the oracle say about every position of a game."""

    def __init__(self, positions: Sequence[Position], agents: Sequence[Any], with_oracle: bool, changed: Any) -> None:
        self.positions, self.agents, self.with_oracle, self.changed = positions, agents, with_oracle, changed
        self.values: dict[str, list[float | None]] = {str(agent.name): [None] * len(positions) for agent in agents}
        self.exact: list[float | None] = [None] * len(positions)  # by the oracle, for seat 0
        self.note = ""
        self.done, self.total = 0, (len(agents) + with_oracle) * len(positions)
        self._begun, self._ended = threading.Event(), threading.Event()

    def begin(self) -> None:
        """Start the thread, unless it was started before."""
        if not self._begun.is_set():
            self._begun.set()
            threading.Thread(target=self._run, name="azlab replay", daemon=True).start()

    def wait(self, seconds: float | None) -> bool:
        return self._ended.wait(seconds)

    def _run(self) -> None:
        try:
            if self.with_oracle:
                self._ask_oracle()
            for agent in self.agents:
                self._ask(agent)
        except Exception as error:  # an agent may be anybody's code
            self.note = f"The review stopped ({type(error).__name__}: {error})."
        finally:
            self.done = self.total
            self._ended.set()
            self.changed()

    def _ask(self, agent: Any) -> None:
        for number, position in enumerate(self.positions):
            with lock_of(agent):
                value = position.result if position.over else agent.analyse(position).value
            self.values[str(agent.name)][number] = float(value)  # type: ignore[arg-type]
            self._step()

    def _ask_oracle(self) -> None:
        judge = shared_oracle(self.positions[0].game)
        begin = time.monotonic()
        for number in reversed(range(len(self.positions))):
            if time.monotonic() - begin > ORACLE_SECONDS:
                self.note = f"The oracle was too slow for the first {number + 1} positions."
                return
            self.exact[number] = value_of(judge, self.positions[number])
            self._step()

    def _step(self) -> None:
        self.done += 1
        self.changed()

    @property
    def mistakes(self) -> list[Mistake]:
        """The moves that lost something against perfect play, as far as the oracle has judged."""
        found = []
        for number, (before, after) in enumerate(zip(self.exact, self.exact[1:]), start=1):
            if before is None or after is None:
                continue
            loss = (before - after) * (1 - 2 * self.positions[number - 1].to_move)
            if loss > 1e-9:
                kind = "mistake" if np.sign(before) != np.sign(after) else "slip"
                found.append(Mistake(number, self.positions[number].moves[-1], kind, loss))
        return found


class ReplayBoard(StaticFallback, anywidget.AnyWidget):
    """A game to step through; `azlab.show.replay` makes one. `step` is the move shown, 0 for the start."""

    _esm = asset("board.js", "replay.js")
    _css = asset("board.css", "replay.css") + colour_rules()
    story = traitlets.Dict().tag(sync=True)  # what never changes: moves and players
    view = traitlets.Dict().tag(sync=True)  # the position that is shown
    review = traitlets.Dict().tag(sync=True)  # curves and mistakes, as far as they are known

    def __init__(self, positions: Sequence[Position], players: tuple[str, str] | None, agents: Sequence[Any], with_oracle: bool):
        self.positions = list(positions)
        self._review = Review(self.positions, agents, with_oracle, self._show_review)
        self._shown = float("-inf")
        self._heard = 0
        self._step = len(self.positions) - 1
        game = self.game
        story = {
            "game": game.name.replace("_", " "),
            "seats": list(game.seats),
            "players": list(players) if players else None,
            "moves": self.positions[-1].moves,
            "movers": [position.to_move for position in self.positions[:-1]],
        }
        super().__init__(story=story, view={}, review={})
        self._show_step()
        self._show_review()
        self.on_msg(self._hear)

    @property
    def game(self) -> Game:
        return self.positions[0].game

    @property
    def step(self) -> int:
        """How many moves have been played in the position shown."""
        return self._step

    @step.setter
    def step(self, number: int) -> None:
        self._step = whole_number("step", number, 0, len(self.positions) - 1)
        self._show_step()

    @property
    def position(self) -> Position:
        """The position shown."""
        return self.positions[self._step]

    @property
    def values(self) -> dict[str, list[float | None]]:
        """What each agent thinks of every position, for seat 0; None where it is not known yet."""
        return self._review.values

    @property
    def mistakes(self) -> list[Mistake]:
        """The moves that lost something against perfect play, as far as the oracle has judged."""
        return self._review.mistakes

    def wait(self, seconds: float | None = None) -> bool:
        """Compute the curves now; False if that took longer than `seconds`."""
        self._review.begin()
        return self._review.wait(seconds)

    @property
    def svg(self) -> str:
        """The position shown, as a picture of its own."""
        return self.position.svg

    def _show_step(self) -> None:
        picture = self.game.picture(self.position)
        self.view = {"step": self._step, "svg": draw(picture), "status": self.position.status, "heard": self._heard}

    def _show_review(self) -> None:
        """Send the curves; while they grow, a few times a second at most."""
        review, now = self._review, time.monotonic()
        if now - self._shown < 0.2 and review.done < review.total:
            return
        self._shown = now
        curves = [{"name": name, "values": list(values), "exact": False} for name, values in review.values.items()]
        if review.with_oracle:
            signs = [None if value is None else float(np.sign(value)) for value in review.exact]
            curves.insert(0, {"name": "perfect play", "values": signs, "exact": True})
        mistakes = [mistake._asdict() for mistake in review.mistakes]
        self.review = {"curves": curves, "mistakes": mistakes, "done": review.done, "total": review.total, "note": review.note}

    def _hear(self, _widget: Any, message: Any, _buffers: Any) -> None:
        what = message.get("what") if isinstance(message, dict) else None
        self._heard += 1
        if what == "ready":
            self._review.begin()
        elif what == "step":
            self._step = min(max(0, int(message.get("step", 0))), len(self.positions) - 1)
        self._show_step()

    def __repr__(self) -> str:
        return f"<replay of {self.game.name}: {len(self.positions) - 1} moves, {self.positions[-1].status}>"


def replay(
    what: Any,
    agents: Iterable[Any] = (),
    game: Game | str | None = None,
    mistakes: bool = True,
    seed: int = 0,
) -> ReplayBoard:
    """Step through a game: replay(record), replay(position, agents=["uct:1000"]), replay("4453", game="connect4").

    what: a `GameRecord`, a position, a file that a board saved, or moves as a line or a list; for moves, `game` says which game
    agents: agents or their names; what each thinks of every position is drawn as a curve
    mistakes: whether an oracle marks moves that lose something, where the game has one
    """
    one_of("mistakes", mistakes, (False, True))
    seed = whole_number("seed", seed, 0, 2**62)
    if game is not None:
        rules = find_game(game) if isinstance(game, str) else game
        last = rules.from_moves(what)
    elif isinstance(what, list | tuple) or (isinstance(what, str) and not what.endswith((".json", ".jsonl"))):
        raise AzlabError('Say which game the moves belong to: replay("4453", game="connect4").')
    else:
        last = as_position(what, {})
    given = [agents] if isinstance(agents, str) else list(agents)
    chosen = [as_agent(one, last.game, seed + k) for k, one in enumerate(given)]
    for agent in chosen:
        if not isinstance(agent, Analyses):
            raise AzlabError(f"{agent.name} cannot explain itself, so it has no curve; minimax, uct, puct and perfect have.")
    players = what.players if isinstance(what, GameRecord) else None
    return ReplayBoard(last.path(), players, chosen, mistakes and can_judge(last.game))
