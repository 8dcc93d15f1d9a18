"""A search to step through in a notebook: `azlab.show.search(position)`.

The kernel keeps the search as one number a simulation and the finished tree (`azlab.search.steps`); the browser is sent only
what is on the screen. Without a kernel, on a page or in a stored notebook, the picture of the tree stays.
"""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from azlab.errors import AzlabError
from azlab.games import game as find_game
from azlab.games.game import Game, Position
from azlab.search.config import Budget, Search
from azlab.search.evaluators import Evaluator
from azlab.search.steps import Snapshot, Steps, steps_of_puct, steps_of_uct
from azlab.show.board import draw
from azlab.show.search_tree import node_value, signed, table_html, table_text, tree_svg

SIMULATIONS = 200  # where nobody says how many: enough to see a search change its mind, few enough to step through
FILES = Path(__file__).parent / "widgets"


def search(
    position: Position | Game | str,
    evaluator: Evaluator | str | None = None,
    search: Search | None = None,
    budget: Budget | int | None = None,
    *,
    seed: int = 0,
) -> "SearchExplorer":
    """Search `position` (or the start of a game, given by name) and show every simulation of it.

    evaluator: what judges new positions in a PUCT search, by default one random playout; or the name of an agent that searches
        by PUCT or UCT, such as "uct:500", "uct:500,c=0.7", "puct:300,cpuct=2", "az:runs/connect4"
    search: the formula of a PUCT search
    budget: its simulations, by default 200
    The numbers are those that `azlab.search.puct` and `azlab.search.uct` find with the same settings and seed.
    """
    if isinstance(position, str):
        position = find_game(position)
    if isinstance(position, Game):
        position = position.start()
    if not isinstance(position, Position):
        raise AzlabError(f"A search starts from a position, a game or its name, not from {position!r}.")
    if isinstance(evaluator, str):
        return SearchExplorer(_named(position, evaluator, search, budget, seed))
    return SearchExplorer(steps_of_puct(position, evaluator, search, budget or SIMULATIONS, seed=seed))


def _named(position: Position, name: str, search: Search | None, budget: Budget | int | None, seed: int) -> Steps:
    """The search of the agent called `name`; without a number, as in "uct", it has 200 simulations."""
    from azlab.arena.agents import PuctAgent, UctAgent, agent, ready

    if name.strip() in ("uct", "puct"):
        name = f"{name.strip()}:{SIMULATIONS}"
    player = agent(name, seed)
    if isinstance(player, UctAgent):
        if search is not None or budget is not None:
            raise AzlabError(
                f"`search` and `budget` are for PUCT; settings of UCT stand in its name, as in 'uct:500,c=0.7', not {name!r}."
            )
        if player.simulations is None or player.settings["rave"]:
            raise AzlabError("The explorer follows UCT with a number of simulations and without RAVE, such as 'uct:500'.")
        settings = player.settings
        return steps_of_uct(position, player.simulations, c=float(settings["c"]), solve=bool(settings["solve"]), seed=seed)
    if isinstance(player, PuctAgent):
        ready(player, position.game)
        return steps_of_puct(position, player.evaluator, search or player.search, budget or player.budget, seed=seed)
    raise AzlabError(f"{name!r} does not search by PUCT or UCT; try 'uct:500' or 'puct:300'.")


class SearchExplorer(anywidget.AnyWidget):
    """The widget. `step`, `selected`, `expanded` and `folded` can be set from Python, too; `snapshot` has the numbers."""

    _esm = FILES / "search_explorer.js"
    _css = FILES / "search_explorer.css"

    total = traitlets.Int(0).tag(sync=True)  # simulations in all
    step = traitlets.Int(0).tag(sync=True)  # simulations so far
    selected = traitlets.Int(0).tag(sync=True)  # the node whose board and moves are shown
    expanded = traitlets.List(traitlets.Int()).tag(sync=True)  # nodes all of whose children are shown
    folded = traitlets.List(traitlets.Int()).tag(sync=True)  # nodes whose children are hidden
    view = traitlets.Dict().tag(sync=True)  # what is on the screen, as SVG and HTML

    def __init__(self, steps: Steps) -> None:
        super().__init__(total=steps.simulations, step=steps.simulations)
        self.steps = steps
        self._look()
        self.observe(self._look, ["step", "selected", "expanded", "folded"])

    @traitlets.validate("step")
    def _valid_step(self, proposal: Any) -> int:
        return min(max(0, proposal["value"]), self.total)

    @property
    def snapshot(self) -> Snapshot:
        """The tree after `step` simulations; `snapshot.choices(node)` are the moves with N, Q, P and U."""
        return self.steps.at(self.step)

    def _look(self, change: Any = None) -> None:
        """Draw what is to be seen now."""
        now = self.snapshot
        node = self.selected if 0 <= self.selected < now.size else 0
        self.view = {
            "step": self.step,
            "selected": node,
            "status": _status(now),
            "tree": tree_svg(now, node, self.expanded, self.folded),
            "board": self._board(node),
            "heading": _heading(now, node),
            "table": table_html(now, node),
            "parent": int(now.tree.parent[0, node]),
        }

    def _board(self, node: int) -> str:
        position = self.steps.position_at(node)
        return draw(position.game.picture(position), position.status)

    @property
    def text(self) -> str:
        """The tree's size and the moves at the root, for a terminal."""
        now = self.snapshot
        head = f"{self.steps.kind} search: {_status(now)}"
        return f"{head}\n{table_text(now)}"

    def __repr__(self) -> str:
        return f"<{self.steps.kind} search of {self.total:,} simulations, after {self.step:,}>"

    def _repr_mimebundle_(self, **settings: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget, and for pages without a kernel a picture and a text."""
        data, metadata = super()._repr_mimebundle_(**settings) or ({}, {})
        now = self.snapshot
        caption = f"{self.steps.kind}, {_status(now)}"
        fallback = {"image/svg+xml": tree_svg(now, 0, self.expanded, self.folded, caption), "text/plain": self.text}
        return {**data, **fallback}, metadata


def _status(now: Snapshot) -> str:
    """Which simulation, how large the tree is, and the way the simulation took."""
    steps = now.steps
    name, actions = steps.position.game.move_name, now.tree.action[0]
    parts = [f"simulation {now.step:,} of {steps.simulations:,}", f"{now.size:,} node{'s' if now.size > 1 else ''}"]
    if now.step:
        parts.append(f"last path {' '.join(name(int(actions[node])) for node in now.path()[1:])}")
    return ", ".join(parts)


def _heading(now: Snapshot, node: int) -> str:
    """Which node the table is about, and what it is worth to the player to move."""
    steps = now.steps
    name, tree = steps.position.game.move_name, now.tree
    moves = " ".join(name(int(tree.action[0, one])) for one in steps.path_to(node)[1:])
    where = f"After {moves}" if moves else "At the start"
    if tree.over[0, node]:
        return f"{where}: the end of a game, N {int(tree.visits[0, node]):,}, worth {signed(node_value(now, node))} to who moved"
    seat = int(tree.to_move[0, node])
    who = steps.position.game.seats[seat]
    return f"{where}: {who} to move, N {int(tree.visits[0, node]):,}, value {signed(now.value(node, seat))} for {who}"
