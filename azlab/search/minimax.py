"""Minimax: try every line to a fixed depth. Plain, or with alpha-beta pruning, iterative deepening and a transposition table.

Values are for seat 0: seat 0 maximises, seat 1 minimises, whoever moves twice in a row. A finished game is worth its
result, a little more the sooner it ends; at the horizon `evaluate` decides, by default the lead in points where the game
counts points, else 0.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.games.game import Position
from azlab.games.kernel import kernel, mix, specialise
from azlab.search.analysis import Analysis
from azlab.search.tree import UNPROVEN

HORIZON = 0.9  # a lead at the horizon is worth less than a win
SOONER = 0.001  # what a move fewer until the end is worth
TABLE_BITS = 20  # 2**20 entries of 25 bytes
EXACT, AT_LEAST, AT_MOST = 0, 1, 2


def minimax(
    position: Position,
    depth: int,
    evaluate: Callable | None = None,
    *,
    prune: bool = True,
    deepen: bool = True,
    seconds: float | None = None,
) -> Analysis:
    """Search `position` to `depth` moves and return the values of its moves, the best line and the number of nodes.

    evaluate: a kernel evaluate(states [B], values float64 [B]) for the horizon, for seat 0 in [-1, 1], made by `azlab.kernel`
    prune: alpha-beta and a transposition table; without, every line is tried (as source S4 times it, table 5.3)
    deepen: search depth 1, 2, ... first; their best moves come first in the next round, and `seconds` can stop between
    With pruning the values of moves other than the best are only bounds.
    """
    depth = whole_number("depth", depth, 1, 10_000)
    if position.over:
        raise AzlabError("The position is over; there is no move to look for.")
    if seconds is not None and not (deepen and prune):
        raise AzlabError("A time limit needs deepening and pruning, since it stops between two depths.")
    search = _Search(position, evaluate, prune)
    best: Analysis | None = None
    search.run(1, 2**62)  # compiled from here on: the clock measures the search
    begin, search.nodes = time.perf_counter(), 0
    for level in range(1, depth + 1) if deepen and prune else [depth]:
        limit = 2**62
        if seconds is not None and best is not None:
            speed = best.nodes / max(1e-6, time.perf_counter() - begin)
            limit = int(speed * max(0.0, seconds - (time.perf_counter() - begin)))
        found = search.run(min(level, position.game.max_length - position.ply), limit)
        if found is None:  # out of time: the last complete depth counts
            break
        best = found
        if level >= position.game.max_length - position.ply:
            break
    assert best is not None
    best.seconds["search"] = time.perf_counter() - begin
    return best


@kernel
def no_opinion(states, values):
    """The evaluation of games without points: 0."""
    values[:] = 0.0


class _Search:
    """The memory of one search, kept from depth to depth."""

    def __init__(self, position: Position, evaluate: Callable | None, prune: bool) -> None:
        game = position.game
        self.position, self.prune = position, prune
        kernels = game.kernels
        chosen = evaluate or kernels.lead or no_opinion
        self.loop = specialise(_alpha_beta, play=kernels.play, legal_moves=kernels.legal, evaluate=chosen)
        entries = 2**TABLE_BITS if prune else 1
        self.keys = np.zeros(entries, np.uint64)
        self.stored = np.zeros(entries, np.float64)
        self.facts = np.zeros((entries, 3), np.int16)  # depth + 1, kind of bound, best action
        self.nodes = 0

    def _interruptible(self, *arguments: Any) -> int:
        """Run the loop in a thread, so that Ctrl-C reaches this one, which then tells the loop to stop."""
        stop = np.zeros(1, np.bool_)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(self.loop, *arguments, stop)
            try:
                return running.result()
            except KeyboardInterrupt:
                stop[0] = True
                raise

    def run(self, depth: int, limit: int) -> Analysis | None:
        """Search to `depth`; None if that took more than `limit` nodes."""
        game = self.position.game
        states = np.repeat(self.position.state, depth + 1)
        actions = game.num_actions
        values, below = np.full(actions, np.nan), np.zeros(actions, np.int64)
        line = np.full((depth + 1, depth + 1), -1, np.int64)
        nodes = self._interruptible(
            states, states.view(np.uint8).reshape(depth + 1, -1), depth, self.prune, np.zeros((1, actions), np.bool_),
            self.keys, self.stored, self.facts, values, below, line, limit,
        )  # fmt: skip
        if nodes < 0:
            return None
        self.nodes += nodes
        best = int(line[0, 0])
        if best < 0 or np.isnan(values[best]):
            raise AzlabError("The evaluation returned a value that is not a number.")
        proven = np.full(actions, UNPROVEN, np.int8)
        decided = np.abs(values) >= 1
        if self.prune:  # other values are bounds: at most for seat 0, at least for seat 1; only losses of the mover are sure
            decided &= (np.arange(actions) == best) | (np.sign(values) == 2 * self.position.to_move - 1)
        proven[decided] = np.sign(values[decided])
        principal = [game.move_name(int(action)) for action in line[0] if action >= 0]
        legal = game.legal_mask(self.position.state)[0]
        return Analysis(
            position=self.position, visits=below, values=np.clip(values, -1, 1), priors=legal / legal.sum(), proven=proven,
            value=float(np.clip(values[best], -1, 1)), line=principal, depth=depth, nodes=self.nodes, simulations=self.nodes,
            choice=best,
        )  # fmt: skip


@kernel
def hash_bytes(data):
    """A 64-bit hash of a state's bytes, never 0."""
    value = np.uint64(14695981039346656037)
    for k in range(len(data)):
        value = mix(value, np.uint64(data[k]))
    return value | np.uint64(1)


play: Any = None  # these three stand for the game's kernels and the evaluation; `specialise` fills them in
legal_moves: Any = None
evaluate: Any = None


def _alpha_beta(states, data, depth, prune, legal, keys, stored, facts, root_values, root_nodes, line, limit, stop):
    """Search from `states[0]`; `states[level]` holds the position at each level, `data` the same as bytes.

    `line[level]` is the best line from that level on. Returns the number of nodes, or -1 if there were more than `limit`.
    """
    levels = depth + 1
    moves = np.empty((levels, legal.shape[1]), np.int64)
    count, turn = np.zeros(levels, np.int64), np.zeros(levels, np.int64)
    low, high = np.full(levels, -np.inf), np.full(levels, np.inf)
    low_at_entry, high_at_entry = np.full(levels, -np.inf), np.full(levels, np.inf)
    best, entry = np.zeros(levels), np.zeros(levels, np.int64)
    action, value = np.zeros(1, np.int64), np.zeros(1)
    nodes, before, level = 0, 0, 0
    is_entering = True
    while True:
        if is_entering:
            nodes += 1
            if nodes > limit or stop[0]:
                return -1
            line[level, :] = -1
            state = states[level]
            left = depth - level
            is_known = False
            if state.over:
                value[0] = state.result * (1 + SOONER * left)
                is_known = True
            elif left == 0:
                evaluate(states[level : level + 1], value)
                value[0] *= HORIZON
                is_known = True
            first = -1
            if not is_known and prune:
                key = hash_bytes(data[level])
                entry[level] = np.int64(key >> np.uint64(1)) & (len(keys) - 1)
                if keys[entry[level]] == key:
                    first = facts[entry[level], 2]
                    kind, known = facts[entry[level], 1], stored[entry[level]]
                    is_bound = (kind == AT_LEAST and known >= high[level]) or (kind == AT_MOST and known <= low[level])
                    if level > 0 and facts[entry[level], 0] == left + 1 and (kind == EXACT or is_bound):
                        value[0] = known
                        line[level, 0] = first
                        is_known = True
            if not is_known:
                legal_moves(states[level : level + 1], legal)
                count[level] = 0
                if first >= 0:
                    moves[level, 0] = first
                    count[level] = 1
                for a in range(legal.shape[1]):
                    if legal[0, a] and a != first:
                        moves[level, count[level]] = a
                        count[level] += 1
                turn[level] = 0
                best[level] = -np.inf if state.to_move == 0 else np.inf
                low_at_entry[level], high_at_entry[level] = low[level], high[level]
                is_entering = False
        elif level > 0:  # a node is complete: remember it
            value[0] = best[level]
            if prune:
                key = hash_bytes(data[level])
                keys[entry[level]] = key
                stored[entry[level]] = best[level]
                facts[entry[level], 0] = depth - level + 1
                facts[entry[level], 1] = (
                    AT_MOST if best[level] <= low_at_entry[level] else AT_LEAST if best[level] >= high_at_entry[level] else EXACT
                )
                facts[entry[level], 2] = line[level, 0]
            is_known = True
        else:
            if prune:
                keys[entry[0]] = hash_bytes(data[0])
                facts[entry[0], 0], facts[entry[0], 1], facts[entry[0], 2] = 0, EXACT, line[0, 0]
            return nodes

        if is_known:  # hand `value` to the level above
            level -= 1
            if level < 0:
                return nodes
            tried = moves[level, turn[level] - 1]
            if level == 0:
                root_values[tried] = value[0]
                root_nodes[tried] = nodes - before
            is_first = states[level].to_move == 0
            if (is_first and value[0] > best[level]) or (not is_first and value[0] < best[level]):
                best[level] = value[0]
                line[level, 0] = tried
                for k in range(1, levels):
                    line[level, k] = line[level + 1, k - 1]
            if is_first:
                low[level] = max(low[level], best[level])
            else:
                high[level] = min(high[level], best[level])
            is_entering = False

        if turn[level] < count[level] and not (prune and low[level] >= high[level]):
            before = nodes if level == 0 else before
            states[level + 1] = states[level]
            action[0] = moves[level, turn[level]]
            play(states[level + 1 : level + 2], action)
            turn[level] += 1
            low[level + 1], high[level + 1] = (low[level], high[level]) if prune else (-np.inf, np.inf)
            level += 1
            is_entering = True
