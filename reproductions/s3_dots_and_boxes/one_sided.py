"""The plain Monte Carlo tree search of the program, which takes the opponent for a helper: the agent `onesided:10000`.

It differs from UCT in five ways. A playout counts only if the player at the root wins it; every node on its way then gets the
winner's points, and a bonus if its own move kept the turn (in Dots and Boxes: completed a box). All nodes are chosen for the
player at the root, those of the opponent too: hence one-sided. A step adds all children of a leaf and makes a batch of playouts
from one of them. In the end the move with the largest total is played, not the one with the most visits or the best mean.

The source (section 5.1.1) made its first data with it, 500 games at 5 seconds a move. The logs of later matches tell of about a
million playouts in 5 seconds on an empty board of 3x3 boxes, and of two million towards the end of a game.
"""

import functools
import time
from typing import Any, NamedTuple

import numpy as np

from azlab.errors import AzlabError, finite_number, whole_number
from azlab.games.game import Game, Position
from azlab.games.kernel import kernel, new_rng, random_below, specialise
from azlab.search.analysis import Analysis, tree_depth
from azlab.search.tree import UNPROVEN


class ScoreTree(NamedTuple):
    """A tree of up to N nodes; node 0 is the root, and the children of a node follow each other."""

    size: np.ndarray  # int64 [1]: nodes in use
    parent: np.ndarray  # int32 [N]: -1 at the root
    action: np.ndarray  # int32 [N]: the action that led here
    first: np.ndarray  # int32 [N]: the first child
    children: np.ndarray  # int32 [N]: how many there are
    visits: np.ndarray  # int64 [N]: playouts from here and below
    wins: np.ndarray  # int64 [N]: those that the player at the root won
    score: np.ndarray  # float64 [N]: their points, and the bonus of the node for each
    state: np.ndarray  # records [N]


def one_sided(
    position: Position, playouts: int = 10_000, *, c: float = 1.41, bonus: float = 3.0, batch: int = 100, seed: int = 0
) -> Analysis:
    """Search `position` with so many playouts, rounded up to whole batches.

    c: weight of the exploration term c * sqrt(ln N / n); scores are points, not results
    bonus: what a node whose own move kept the turn gets for each playout won (the program: 3)
    batch: playouts from each new node (the program: 100)

    The values of the analysis are results of the playouts, a draw counting as a loss of the player to move, as in the search.
    """
    check_settings(playouts, c, bonus, batch)
    begin = time.perf_counter()
    search = OneSidedSearch(position, c, bonus, batch, seed)
    search.run(playouts)
    return search.analysis({"search": time.perf_counter() - begin})


class OneSidedSearch:
    """A search that can be run in parts; its tree grows as needed."""

    def __init__(self, position: Position, c: float = 1.41, bonus: float = 3.0, batch: int = 100, seed: int = 0) -> None:
        if position.over:
            raise AzlabError("The position is over; there is no move to look for.")
        game, kernels = position.game, position.game.kernels
        self.position, self.batch = position, batch
        self._settings = float(c), float(bonus), points_of(game)
        assert kernels.lead is not None  # a game without it was refused there
        self._rng, self._ties = new_rng(seed, batch), np.random.default_rng(seed)
        self._loop = specialise(_loop, play=kernels.play, legal_moves=kernels.legal, playout=kernels.playout, lead=kernels.lead)
        self._scratch = (
            np.zeros(batch, game.dtype), np.zeros(batch), np.zeros(1, game.dtype), np.zeros(1, np.int64),
            np.zeros((1, game.num_actions), np.bool_), np.zeros((batch, 0), np.int32),
        )  # fmt: skip
        self.tree = _new_tree(game, 1)
        self.tree.state[0] = position.state[0]
        self.tree.size[0] = 1

    def run(self, playouts: int) -> None:
        """Add so many playouts, rounded up to whole batches; in parts, to let Ctrl-C through."""
        left = -(-playouts // self.batch)
        while left:
            steps = min(left, max(1, 20_000 // self.batch))
            self._make_room(int(self.tree.size[0]) + steps * self.position.game.num_actions)
            self._loop(self.tree, self._rng, *self._scratch, steps, *self._settings)
            left -= steps

    def _make_room(self, nodes: int) -> None:
        """Double the arrays until they hold so many nodes; what is in them stays."""
        have = len(self.tree.parent)
        if nodes > have:
            bigger = _new_tree(self.position.game, max(nodes, 2 * have))
            for old, new in zip(self.tree, bigger, strict=True):
                new[: len(old)] = old
            self.tree = bigger

    def best_child(self, node: int) -> int:
        """The child with the largest total, a random one of several."""
        tree = self.tree
        totals = tree.score[tree.first[node] : tree.first[node] + tree.children[node]]
        return int(tree.first[node] + self._ties.choice(np.flatnonzero(totals == totals.max())))

    def analysis(self, seconds: dict[str, float] | None = None) -> Analysis:
        """What was found so far."""
        game, tree, size = self.position.game, self.tree, int(self.tree.size[0])
        sign = 1 - 2 * self.position.to_move
        nodes = slice(tree.first[0], tree.first[0] + tree.children[0])
        legal = tree.action[nodes]
        visits, values, priors = (
            np.zeros(game.num_actions, np.int64),
            np.full(game.num_actions, np.nan),
            np.zeros(game.num_actions),
        )
        visits[legal], priors[legal] = tree.visits[nodes], 1 / len(legal)
        with np.errstate(invalid="ignore"):
            values[legal] = sign * (2 * tree.wins[nodes] / tree.visits[nodes] - 1)
        line = [self.best_child(0)]
        while tree.visits[line[-1]] and tree.children[line[-1]]:
            line.append(self.best_child(line[-1]))
        actions = [int(action) for action in tree.action[line]]
        return Analysis(
            position=self.position,
            visits=visits,
            values=values,
            priors=priors,
            proven=np.full(game.num_actions, UNPROVEN, np.int8),
            value=sign * (2 * float(tree.wins[0] / tree.visits[0]) - 1),
            line=[game.move_name(action) for action in actions],
            depth=int(tree_depth(tree.parent, size)),
            nodes=size,
            simulations=int(tree.visits[0]),
            seconds=seconds or {},
            choice=actions[0],
        )


def check_settings(playouts: int, c: float, bonus: float, batch: int) -> None:
    """Raise a sentence for settings that no search can have."""
    whole_number("playouts", playouts, 1, 10**10)
    whole_number("batch", batch, 1, 10**6)
    for name, value in (("c", c), ("bonus", bonus)):
        finite_number(name, value, 0)


@functools.cache
def points_of(game: Game) -> float:
    """All points of a game, of which its `lead` is a share: found from finished games, whose scores are known too."""
    if game.kernels.lead is None:
        raise AzlabError(f"A one-sided search counts points, and {game.name} has none.")
    states, leads = game.new_states(50), np.zeros(50)
    game.kernels.playout(states, new_rng(0, 50), np.zeros((50, 0), np.int32))
    game.kernels.lead(states, leads)
    scores = [game.scores(states[k : k + 1]) for k in range(50)]
    found = [(pair[0] - pair[1]) / lead for pair, lead in zip(scores, leads, strict=True) if pair is not None and lead]
    return min(found, default=1.0)  # a lead may be cut to 1 where the scores are farther apart


def _new_tree(game: Game, nodes: int) -> ScoreTree:
    small = {name: np.zeros(nodes, np.int32) for name in ("parent", "action", "first", "children")}
    small["parent"][0] = small["action"][0] = -1
    wide = {"visits": np.zeros(nodes, np.int64), "wins": np.zeros(nodes, np.int64), "score": np.zeros(nodes)}
    return ScoreTree(size=np.zeros(1, np.int64), state=np.zeros(nodes, game.dtype), **small, **wide)


play: Any = None  # these four stand for the game's kernels; `specialise` fills them in
legal_moves: Any = None
playout: Any = None
lead: Any = None


def _loop(tree, rng, playing, leads, one, action, legal, trace, steps, c, bonus, points):
    """Make so many steps, each a batch of playouts; `playing` [batch] and the next five arrays are scratch."""
    me = tree.state[0].to_move
    for _ in range(steps):
        node = 0
        while tree.children[node]:
            node = choose_child(tree, node, c, rng)
        if not tree.state[node].over:
            one[0] = tree.state[node]
            legal_moves(one, legal)
            tree.first[node] = tree.size[0]
            for a in range(legal.shape[1]):
                if legal[0, a]:
                    child = tree.size[0]
                    one[0] = tree.state[node]
                    action[0] = a
                    play(one, action)
                    tree.state[child] = one[0]
                    tree.parent[child], tree.action[child] = node, a
                    tree.children[node] += 1
                    tree.size[0] += 1
            # The program draws a number below the last child's and so never takes that one, unless it is the only one.
            node = tree.first[node] + random_below(rng, 0, max(1, tree.children[node] - 1))
        for k in range(len(playing)):
            playing[k] = tree.state[node]
        if not tree.state[node].over:
            playout(playing, rng, trace)
        lead(playing, leads)
        wins, won = 0, 0.0
        for k in range(len(playing)):
            if playing[k].result == 1 - 2 * me:
                wins += 1
                won += points * (1 + abs(leads[k])) / 2  # the winner's points
        while node >= 0:
            parent = tree.parent[node]
            tree.visits[node] += len(playing)
            tree.wins[node] += wins
            tree.score[node] += won
            if parent >= 0 and tree.state[node].to_move == tree.state[parent].to_move:
                tree.score[node] += bonus * wins
            node = parent


@kernel
def choose_child(tree, node, c, rng):
    """A child never visited if there is one, else the one with the largest upper bound of its mean score; ties at random."""
    log_total = np.log(np.float64(tree.visits[node]))
    best, best_bound, ties = -1, -1.0, 0
    for child in range(tree.first[node], tree.first[node] + tree.children[node]):
        visits = tree.visits[child]
        bound = tree.score[child] / visits + c * np.sqrt(log_total / visits) if visits else np.inf
        if bound > best_bound:
            best, best_bound, ties = child, bound, 1
        elif bound == best_bound:
            ties += 1
            if random_below(rng, 0, ties) == 0:
                best = child
    return best
