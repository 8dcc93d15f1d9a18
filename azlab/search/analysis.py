"""What a search found out about a position, the same for every kind of search."""

from dataclasses import dataclass, field

import numpy as np

from azlab.games.game import Position
from azlab.games.kernel import kernel
from azlab.lazy import above
from azlab.search.tree import ILLEGAL, UNPROVEN, Tree


@dataclass(frozen=True, eq=False)
class Analysis:
    """The findings of one search. Arrays have one entry for each action of the game; values are for seat 0."""

    position: Position
    visits: np.ndarray  # int64 [A]; for minimax the nodes searched below each move
    values: np.ndarray  # float64 [A]: mean (or exact) value after each move, NaN where nothing is known
    priors: np.ndarray  # float64 [A]
    proven: np.ndarray  # int8 [A]: exact result for seat 0 where it was proven, else 2
    value: float  # of the position itself, for seat 0
    line: list[str]  # the principal line, by move names
    depth: int  # of the deepest node, in moves
    nodes: int
    simulations: int
    seconds: dict[str, float] = field(default_factory=dict)  # where the time went
    choice: int | None = None  # the best action, where visits do not tell it (minimax)

    @property
    def shares(self) -> np.ndarray:
        """The visits as shares of all: float64 [A]."""
        return self.visits / max(1, self.visits.sum())

    @property
    def best_action(self) -> int:
        """The move to play: a proven win, else the most visited, the better value deciding between equals."""
        if self.choice is not None:
            return self.choice
        sign = 1 - 2 * self.position.to_move
        if (self.proven == sign).any():
            return int(np.argmax(self.proven == sign))
        legal = self.position.legal_actions
        is_lost = self.proven[legal] == -sign
        ranked = np.where(is_lost, -1, self.visits[legal]) + 0.4 * np.nan_to_num(sign * self.values[legal], nan=-1.0)
        return legal[int(np.argmax(ranked))]

    @property
    def best_move(self) -> str:
        """The name of the best action."""
        return self.position.game.move_name(self.best_action)

    def rows(self, most: int = 10) -> list[tuple[str, int, float, float, float, str]]:
        """The moves looked at most: (name, visits, share, value for seat 0, prior, proven result in words)."""
        legal = self.position.legal_actions
        order = sorted(legal, key=lambda a: (-self.visits[a], -self.priors[a], a))[:most]
        words = {1: f"{self.position.game.seats[0]} wins", 0: "draw", -1: f"{self.position.game.seats[1]} wins"}
        name = self.position.game.move_name
        return [
            (name(a), int(self.visits[a]), float(self.shares[a]), float(self.values[a]), float(self.priors[a]),
             words.get(int(self.proven[a]), ""))
            for a in order
        ]  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{'move':>8} {'visits':>8} {'share':>6} {'value':>6} {'prior':>6}"]
        for name, visits, share, value, prior, proven in self.rows():
            shown = "" if np.isnan(value) else f"{value:+.2f}"
            lines.append(f"{name:>8} {visits:>8} {share:>6.1%} {shown:>6} {prior:>6.3f} {proven}".rstrip())
        lines.append(f"value {self.value:+.3f} for {self.position.game.seats[0]}; line {' '.join(self.line) or '-'}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<analysis of {self.simulations} simulations: {self.best_move}, value {self.value:+.3f}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": above("the page of an analysis")(self), "text/plain": str(self)}


def from_tree(
    tree: Tree, g: int, position: Position, priors: np.ndarray, seconds: dict[str, float], simulations: int
) -> Analysis:
    """Read the findings about the root of tree `g`."""
    children = tree.children[g, 0]
    seen = children >= 0
    node = np.maximum(children, 0)
    visits = np.where(seen, tree.visits[g, node], 0).astype(np.int64)
    proven = np.where(seen, tree.proven[g, node], UNPROVEN).astype(np.int8)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(seen, tree.value_sum[g, node] / tree.visits[g, node], np.nan)
    means = np.where(proven != UNPROVEN, proven, means)
    root = int(tree.proven[g, 0])
    value = float(tree.value_sum[g, 0] / tree.visits[g, 0]) if root == UNPROVEN else float(root)
    found = Analysis(
        position=position,
        visits=visits,
        values=means,
        priors=np.where(children != ILLEGAL, priors, 0).astype(np.float64),
        proven=proven,
        value=value,
        line=[],
        depth=int(tree_depth(tree.parent[g], tree.size[g])),
        nodes=int(tree.size[g]),
        simulations=simulations,
        seconds=seconds,
    )
    found.line.extend(position.game.move_name(action) for action in principal_line(tree, g, found.best_action))
    return found


def principal_line(tree: Tree, g: int, first: int) -> list[int]:
    """From the root the action `first`, then always the most visited one."""
    line: list[int] = [first]
    node = int(tree.children[g, 0, first])
    while True:
        if node < 0:
            return line
        children = tree.children[g, node]
        if not (children >= 0).any():
            return line
        visits = np.where(children >= 0, tree.visits[g, np.maximum(children, 0)], -1)
        line.append(int(np.argmax(visits)))
        node = int(children[line[-1]])


@kernel
def tree_depth(parent, size):
    """The depth of the deepest of the first `size` nodes; parents come before their children."""
    depth = np.zeros(size, np.int64)
    for node in range(1, size):
        depth[node] = depth[parent[node]] + 1
    return depth.max()
