"""A board to play on in a notebook: `azlab.show.play("connect4", against="uct:1000")`.

The board is one widget. Python keeps the game (`play_session`), draws it as it draws every board, and says which moves are legal;
the browser side (widgets/board.js, widgets/play.js) turns clicks and keys into messages. A notebook that nobody runs any
more shows the picture that the board had when its cell ended.
"""

import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from azlab.arena.agents import Agent, Analyses, ready
from azlab.arena.agents import agent as agent_by_name
from azlab.arena.results import GameRecord
from azlab.errors import AzlabError, one_of, whole_number
from azlab.games.game import Game, Position
from azlab.games.picture import Area
from azlab.show.board import CELL, COLOURS, MARGIN, SHAPES, draw
from azlab.show.judge import can_judge, shared_oracle
from azlab.show.play_session import Session, shares_to_show
from azlab.show.record_file import as_position, as_record, from_text, read, to_text

ADVISER = "uct:1000"  # gives hints where the opponent cannot explain itself


def asset(*names: str) -> str:
    """The text of files in azlab/show/widgets, one after the other."""
    return "\n".join(files("azlab.show").joinpath("widgets", name).read_text(encoding="utf-8") for name in names)


def colour_rules() -> str:
    """A style sheet with the board's colours for both themes; it outweighs the one in the pictures themselves."""
    rules = []
    for theme, which in (("light", 0), ("dark", 1)):
        for name, colours in COLOURS.items():
            where, colour = f".azlab-widget.azlab-{theme} .azlab-{name}", colours[which]
            rules.append(f"{where}{{fill:{colour}}}{where}-line{{stroke:{colour}}}")
    return "\n".join(rules)


class StaticFallback:
    """A widget that leaves a picture and a stable text where no widget can be shown."""

    @property
    def svg(self) -> str:
        """What is shown now, as a picture of its own."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "image/svg+xml": self.svg, "text/plain": repr(self)}, metadata


class PlayBoard(StaticFallback, anywidget.AnyWidget):
    """A board to play on; `azlab.show.play` makes one.

    `position` is where the game stands and `record` the game so far. `play`, `undo`, `new`, `swap`, `hint`, `retry`, `evaluate`
    do what the buttons do, `wait` waits for an agent that thinks, `save` and `load` keep games in files.
    """

    _esm = asset("board.js", "play.js")
    _css = asset("board.css", "play.css") + colour_rules()
    layout_of_board = traitlets.Dict().tag(sync=True)  # what never changes: areas to click, names of moves
    view = traitlets.Dict().tag(sync=True)  # what changes with every move

    def __init__(self, session: Session) -> None:
        self._session = session
        self._heard = 0  # messages from the browser; it knows by this number that the kernel is alive
        self._drawn = session.position
        self._is_obeying = False  # then all changes are shown together at the end
        super().__init__(layout_of_board=board_layout(session.position.game), view={})
        session.changed = self._show
        self._show()
        self.on_msg(self._hear)

    # --- what a program can do ------------------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        return self._session.position.game

    @property
    def position(self) -> Position:
        """Where the game stands."""
        return self._session.position

    @property
    def record(self) -> GameRecord:
        """The game so far; its result is None while it goes on."""
        return as_record(self.position, self._session.players)

    def play(self, move: str | int) -> None:
        """Play a move; an agent answers in its own time."""
        self._session.play(move)

    def undo(self) -> None:
        """Take back the last move and the agent's answer to it."""
        self._session.undo()

    def new(self) -> None:
        """Begin a new game."""
        self._session.new()

    def swap(self) -> None:
        """Change seats with the agent."""
        self._session.swap()

    def hint(self) -> None:
        """Ask for a hint; it appears on the board."""
        self._session.ask_hint()

    def retry(self) -> None:
        """Let an agent that failed try again."""
        self._session.retry()

    def evaluate(self, on: bool = True) -> None:
        """Switch the evaluation on or off."""
        self._session.evaluate(bool(on))

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is being thought about; False if that took longer than `seconds`."""
        return self._session.wait(seconds)

    def save(self, path: str | os.PathLike) -> None:
        """Write the game to a file, which `load` and `azlab.show.play` read."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(to_text(self.position, self._session.players), encoding="utf-8")

    def load(self, path: str | os.PathLike) -> None:
        """Go on with a game that was saved."""
        self._session.show(read(path, self.game))

    # --- drawing ----------------------------------------------------------------------------------------------------

    @property
    def svg(self) -> str:
        """The board as a picture of its own."""
        return self.position.svg

    def _show(self) -> None:
        """Send the browser what there is to see now."""
        if self._is_obeying:
            return
        session, position = self._session, self.position
        picture = self.game.picture(position)
        if session.hint is not None:
            for action, share in shares_to_show(session.hint):
                spot = self.game.spot(action)
                if spot is not None:
                    picture.share(*spot, share)
        before, self._drawn = self._drawn, position
        self.view = {
            "svg": draw(picture),
            "captured": captured(before, position),
            "ply": position.ply,
            "legal": position.legal_actions if session.can_play else [],
            "over": position.over,
            "status": session.status,
            "message": session.message,
            "error": session.error,
            "thinking": session.thinking,
            "players": list(session.players),
            "to_move": position.to_move,
            "moves": position.moves,
            "can": {
                "undo": session.can_undo,
                "swap": session.against is not None,
                "hint": session.hints is not None and session.can_play,
                "retry": session.can_retry,
            },
            "evaluation": self._evaluation(),
            "heard": self._heard,
        }

    def _evaluation(self) -> dict[str, Any] | None:
        if not self._session.has_oracle:
            return None
        value, seats = self._session.value, self.game.seats
        if value is None:
            return {"on": self._session.evaluation_on, "share": 0.5, "text": "…" if self._session.evaluation_on else ""}
        margin = f" (+{abs(value):g})" if abs(value) > 1 else ""
        text = "even" if value == 0 else f"{seats[value < 0]} wins{margin}"
        share = 0.5 + (0.0 if value == 0 else (0.3 + 0.2 * min(1.0, abs(value) / 9)) * (1 if value > 0 else -1))
        return {"on": True, "share": share, "text": text}

    # --- messages of the browser ----------------------------------------------------------------------------------

    def _hear(self, _widget: Any, message: Any, _buffers: Any) -> None:
        """Do what a click or a key asks for; what cannot be done becomes a sentence on the board."""
        session = self._session
        with session.lock:
            self._heard += 1
            self._is_obeying = True
            try:
                self._obey(message if isinstance(message, dict) else {})
            except AzlabError as error:
                session.message = str(error)
            finally:
                self._is_obeying = False
            self._show()

    def _obey(self, message: dict[str, Any]) -> None:
        session, what = self._session, message.get("what")
        commands = {
            "ready": session.wake, "undo": session.undo, "new": session.new, "swap": session.swap, "hint": session.ask_hint,
            "retry": session.retry, "save": self._offer_file,
        }  # fmt: skip
        if what in commands:
            commands[what]()
        elif what == "move" and message.get("ply") == self.position.ply:  # else it was clicked on a board of the past
            session.play(int(message["action"]))
        elif what == "nothing":
            session.message = self._why_nothing(str(message.get("name")))
        elif what == "evaluate":
            session.evaluate(bool(message.get("on")))
        elif what == "load":
            session.show(from_text(str(message.get("text")), self.game))

    def _why_nothing(self, name: str) -> str:
        """Why a click on an area does nothing."""
        if self.position.over:
            return "The game is over; no move is legal."
        if not self._session.can_play:
            return f"It is the turn of {self._session.against.name}."
        return f"Nothing can be played at {name} now."

    def _offer_file(self) -> None:
        text = to_text(self.position, self._session.players)
        self.send({"what": "file", "name": f"{self.game.name}-{self.position.ply}-moves.json", "text": text})

    def __repr__(self) -> str:
        who = "two people" if self._session.against is None else f"a person against {self._session.against.name}"
        return f"<board for {who}: {self.game.name}, {self.position.status}>"


def board_layout(game: Game) -> dict[str, Any]:
    """Where moves are clicked and what they are called; actions by number, areas by their place in a list."""
    areas: dict[Area, int] = {}
    actions = [
        [game.move_name(action), [areas.setdefault(area, len(areas)) for area in game.clicks(action)]]
        for action in range(game.num_actions)
    ]
    return {
        "cell": CELL,
        "margin": MARGIN,
        "game": game.name.replace("_", " "),
        "seats": list(game.seats),
        "colours": [f"azlab-{name}" for name in _seat_colours(game)],
        "areas": [list(area) for area in areas],
        "actions": actions,
    }


def _seat_colours(game: Game) -> tuple[str, str]:
    """What the pieces of the two seats are coloured with."""
    shapes = game.picture(game.start().play(game.start().legal_actions[0])).shapes
    style = next((shape[-1] for shape in shapes if shape[0] == "stone"), "mark")
    return {"go": ("black", "white"), "disc": ("disc0", "disc1")}.get(style, ("seat0", "seat1"))


def captured(before: Position, after: Position) -> str:
    """The stones that the last move took off the board, as SVG, to be shown for a moment; nothing after other changes."""
    if len(after.actions) != len(before.actions) + 1 or after.actions[:-1] != before.actions:
        return ""
    stones = [
        {shape[1:4] for shape in position.game.picture(position).shapes if shape[0] == "stone"} for position in (before, after)
    ]
    gone = sorted(stone for stone in stones[0] - stones[1] if stone[2] != before.to_move)
    return "".join("".join(SHAPES["stone"](*stone, False, "go")) for stone in gone)


def play(
    game: Any = "tictactoe",
    against: Any = None,
    seat: int = 0,
    hints: Any = None,
    evaluation: bool = True,
    seed: int = 0,
    **options: Any,
) -> PlayBoard:
    """A board to play on: play("connect4", against="uct:1000"), play("go", size=13, against="gnugo:5"), play("seega").

    game: a game, its name (options of the game may follow), a position, a `GameRecord`, or a file that a board saved
    against: an agent or its name; None for two people
    seat: where the person sits, 0 or 1
    hints: the agent that gives hints; the opponent by default if it can explain itself, else uct:1000
    evaluation: whether a bar shows what the oracle says, where there is one; a button switches it
    """
    position = as_position(game, options)
    one_of("evaluation", evaluation, (False, True))
    seed = whole_number("seed", seed, 0, 2**62)
    opponent = as_agent(against, position.game, seed)
    if hints is None:
        hints = opponent if isinstance(opponent, Analyses) else ADVISER
    adviser = as_agent(hints, position.game, seed + 1)
    has_oracle = can_judge(position.game)
    judge = (lambda: shared_oracle(position.game)) if has_oracle else None
    if not position.over:
        position.play(position.legal_actions[0])  # compiles the rules now, so that the first click is answered at once
    session = Session(position, opponent, whole_number("seat", seat, 0, 1), adviser, judge)
    session.evaluation_on = has_oracle and evaluation
    return PlayBoard(session)


def as_agent(given: Any, game: Game, seed: int) -> Any:
    """An agent for its name; a sentence now if it cannot play this game."""
    agent = agent_by_name(given, seed) if isinstance(given, str) else given
    if agent is not None and not isinstance(agent, Agent):
        raise AzlabError(
            f'An agent has a name and a method choose(position), or is given by name, such as "uct:1000", not {given!r}.'
        )
    return ready(agent, game)
