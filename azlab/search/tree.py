"""The search tree: arrays, and kernels over them that know no rules.

G trees are grown at once, one for each game of a batch; each has room for N nodes of A actions. Node 0 is the root. A node
stores its state as bytes, so these kernels are compiled once for all games. Sums of values are kept for seat 0 and signed
by the player stored at the node, so an extra turn cannot flip a sign by mistake.

One simulation of the whole batch is: `select` (down each tree to an action never tried), the game's `play` on copies of
those states, `add_nodes`, the evaluator on what is not over, and `expand`, which also carries the values back up. They call
`choose` and `backup`; `with_kernels` makes the same three with others in their place.

Numba counts references to every array of the tree at each call of a kernel that might raise an error, and that slows a search
of one leaf at a time. So `add_nodes` and `expand` give Numba no cause: they copy slices element by element, and what they call
is inlined.

Memory of a node: 8 bytes for each action, 35 bytes of its own, and the state (Connect 4: 115 bytes in all; Go 9x9: 827).
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from azlab.games.game import Game
from azlab.games.kernel import kernel, plain_python, specialise

UNVISITED, ILLEGAL = -1, -2  # in `children`
UNPROVEN = 2  # in `proven`
VISIT_OFFSET, VALUE_SCALE = 50.0, 1.0  # c_visit and c_scale of Gumbel search (Danihelka et al. 2022)

inlined_kernel = functools.partial(kernel, inline=True)


class Tree(NamedTuple):
    """Arrays of G trees. The kernels change them in place."""

    size: np.ndarray  # int32 [G]: nodes in use
    parent: np.ndarray  # int32 [G, N]: -1 at the root
    action: np.ndarray  # int32 [G, N]: the action that led here
    to_move: np.ndarray  # int8 [G, N]
    over: np.ndarray  # bool [G, N]: no move leads on, since the game is over or a horizon is reached (`Search.horizon`)
    proven: np.ndarray  # int8 [G, N]: exact result for seat 0, or UNPROVEN
    visits: np.ndarray  # int32 [G, N]: simulations that came through, the node's own evaluation included
    value_sum: np.ndarray  # float64 [G, N]: sum of the values for seat 0
    draw_sum: np.ndarray  # float64 [G, N]: sum of the chances of a draw
    own_value: np.ndarray  # float32 [G, N]: what the evaluator said of this node, for seat 0
    children: np.ndarray  # int32 [G, N, A]: node of each action, UNVISITED or ILLEGAL
    prior: np.ndarray  # float32 [G, N, A]
    state: np.ndarray  # uint8 [G, N, S]: bytes of the state


def new_tree(game: Game, games: int, nodes: int) -> Tree:
    """Room for `games` trees of `nodes` nodes; `set_roots` starts them."""
    shape = (games, nodes)
    return Tree(
        size=np.zeros(games, np.int32),
        parent=np.full(shape, -1, np.int32),
        action=np.full(shape, -1, np.int32),
        to_move=np.zeros(shape, np.int8),
        over=np.zeros(shape, np.bool_),
        proven=np.full(shape, UNPROVEN, np.int8),
        visits=np.zeros(shape, np.int32),
        value_sum=np.zeros(shape, np.float64),
        draw_sum=np.zeros(shape, np.float64),
        own_value=np.zeros(shape, np.float32),
        children=np.full((*shape, game.num_actions), UNVISITED, np.int32),
        prior=np.zeros((*shape, game.num_actions), np.float32),
        state=np.zeros((*shape, game.dtype.itemsize), np.uint8),
    )


def offsets(game: Game) -> np.ndarray:
    """The places of the fields to_move, over and result in the bytes of a state."""
    assert game.dtype.fields is not None
    return np.array([game.dtype.fields[name][1] for name in ("to_move", "over", "result")])


class Params(NamedTuple):
    """The numbers of `Search` and `Explore` that kernels need."""

    weights: np.ndarray  # float64 [largest N + 1]: c(N) * sqrt(N), so that U = weights[N] * P / (1 + n)
    inverse: np.ndarray  # float64 [largest N + 2]: 1 / N; a look-up is faster than a division
    fpu: float
    fpu_relative: bool
    draw_value: float
    forced_playouts: float
    solve: bool
    margin: bool
    gumbel: bool


@kernel
def mean_for(tree, g, node, seat, draw_value):
    """The mean value of a visited node for `seat`, draws counted at `draw_value`."""
    sign = 1 - 2 * seat
    if tree.proven[g, node] != UNPROVEN:
        return sign * tree.proven[g, node] + (draw_value if tree.proven[g, node] == 0 else 0.0)
    return (sign * tree.value_sum[g, node] + draw_value * tree.draw_sum[g, node]) / tree.visits[g, node]


# --- choosing an action ---------------------------------------------------------------------------------------------


@kernel
def choose_puct(tree, g, node, params):
    """The action with the largest Q + U; at equal scores the first."""
    seat = tree.to_move[g, node]
    sign = 1 - 2 * seat
    total = tree.visits[g, node]
    weight = params.weights[min(total, len(params.weights) - 1)]
    urgency = params.fpu
    if params.fpu_relative:
        urgency = mean_for(tree, g, node, seat, params.draw_value) - params.fpu
    best, best_score = -1, -np.inf
    for action in range(tree.children.shape[2]):
        child = tree.children[g, node, action]
        if child == ILLEGAL:
            continue
        prior = np.float64(tree.prior[g, node, action])
        if child == UNVISITED:
            score = urgency + weight * prior
        else:
            visits = tree.visits[g, child]
            total_value = sign * tree.value_sum[g, child]
            if params.draw_value != 0:
                total_value += params.draw_value * tree.draw_sum[g, child]
            if visits + 1 < len(params.inverse):
                score = total_value * params.inverse[visits] + weight * prior * params.inverse[1 + visits]
            else:
                score = total_value / visits + weight * prior / (1 + visits)
            if params.forced_playouts > 0 and node == 0 and visits < np.sqrt(params.forced_playouts * prior * (total - 1)):
                score = np.inf
            if params.solve and tree.proven[g, child] != UNPROVEN:  # known exactly: nothing to explore
                score = mean_for(tree, g, child, seat, params.draw_value)
                if tree.proven[g, child] == 2 * seat - 1:
                    score = -1e9  # proven lost for the mover: only if all are
        if score > best_score:
            best, best_score = action, score
    return best


@inlined_kernel
def completed_scores(tree, g, node, params, scores):
    """log prior + sigma(Q) of every action into `scores` [A], -inf where illegal (Danihelka et al. 2022, section 4).

    An action not visited gets the mix of the node's own value and its visited actions' values. Q is taken in [0, 1].
    """
    seat = tree.to_move[g, node]
    sign = 1 - 2 * seat
    most, seen, prior_seen, weighted = 0, 0, 0.0, 0.0
    for action in range(tree.children.shape[2]):
        child = tree.children[g, node, action]
        if child >= 0:
            visits = tree.visits[g, child]
            most = max(most, visits)
            seen += visits
            prior_seen += tree.prior[g, node, action]
            weighted += tree.prior[g, node, action] * mean_for(tree, g, child, seat, params.draw_value)
    mixed = np.float64(sign * tree.own_value[g, node])
    if seen:
        mixed = (mixed + seen * weighted / max(prior_seen, 1e-12)) / (1 + seen)
    scale = (VISIT_OFFSET + most) * VALUE_SCALE
    for action in range(tree.children.shape[2]):
        child = tree.children[g, node, action]
        if child == ILLEGAL:
            scores[action] = -np.inf
            continue
        value = mean_for(tree, g, child, seat, params.draw_value) if child >= 0 else mixed
        scores[action] = np.log(max(np.float64(tree.prior[g, node, action]), 1e-30)) + scale * (value + 1) / 2


@inlined_kernel
def choose_gumbel(tree, g, node, params, noise, wanted_visits, scores):
    """Gumbel search: at the root sequential halving among noisy scores, below it the action that is behind its share."""
    completed_scores(tree, g, node, params, scores)
    best, best_score = -1, -np.inf
    if node == 0:
        for action in range(len(scores)):
            child = tree.children[g, 0, action]
            visits = tree.visits[g, child] if child >= 0 else 0
            if child != ILLEGAL and visits == wanted_visits and noise[g, action] + scores[action] > best_score:
                best, best_score = action, noise[g, action] + scores[action]
        return best
    top = np.max(scores)
    total = np.sum(np.exp(scores - top))
    for action in range(len(scores)):
        child = tree.children[g, node, action]
        if child != ILLEGAL:
            visits = tree.visits[g, child] if child >= 0 else 0
            score = np.exp(scores[action] - top) / total - visits / tree.visits[g, node]
            if score > best_score:
                best, best_score = action, score
    return best


choose = choose_puct  # the name that `select` calls


# --- down and up ----------------------------------------------------------------------------------------------------


@kernel
def backup(tree, g, node, value, draw, is_new):
    """Add a value for seat 0 and a chance of a draw to `node` and all nodes above; `is_new` counts the visit too."""
    while node >= 0:
        if is_new:
            tree.visits[g, node] += 1
        tree.value_sum[g, node] += value
        tree.draw_sum[g, node] += draw
        node = tree.parent[g, node]


@kernel
def virtual_loss(tree, g, node, amount):
    """Count (+1) or take back (-1) a loss on the way to `node` for each player who chose it."""
    while node > 0:
        chooser = tree.to_move[g, tree.parent[g, node]]
        tree.value_sum[g, node] -= amount * (1 - 2 * chooser)
        node = tree.parent[g, node]


@inlined_kernel
def prove(tree, g, node):
    """Carry a proven result of `node` up: a win for the mover is enough, a loss or draw needs all actions."""
    node = tree.parent[g, node]
    while node >= 0 and tree.proven[g, node] == UNPROVEN:
        sign = 1 - 2 * tree.to_move[g, node]
        best, is_complete = -2, True
        for action in range(tree.children.shape[2]):
            child = tree.children[g, node, action]
            if child == ILLEGAL:
                continue
            if child == UNVISITED or tree.proven[g, child] == UNPROVEN:
                is_complete = False
            else:
                best = max(best, sign * tree.proven[g, child])
        if best != 1 and not is_complete:
            return
        tree.proven[g, node] = sign * best
        node = tree.parent[g, node]


@kernel
def select(tree, params, active, budget, leaves, noise, schedule, done, leaf_game, leaf_node, leaf_action, leaf_state):
    """Take up to `leaves` new leaves from each active tree with budget left; return how many there are in all.

    Leaf m is node `leaf_node[m]` of tree `leaf_game[m]`, reached from the parent's state, copied to `leaf_state[m]`, by
    `leaf_action[m]`. A visit that ends in a finished or proven node is carried up at once. `done` [G] counts simulations.
    """
    found = 0
    scores = np.empty(tree.children.shape[2], np.float64)
    for i in range(len(active)):
        g = active[i]
        for _ in range(leaves):
            if done[g] >= budget[g] or (params.solve and tree.proven[g, 0] != UNPROVEN):
                break
            node = 0
            while True:
                if tree.over[g, node]:  # the same as its first visit brought
                    value = np.float64(tree.own_value[g, node])
                    backup(tree, g, node, value, tree.draw_sum[g, node] / tree.visits[g, node], True)
                    done[g] += 1
                    break
                if params.solve and node > 0 and tree.proven[g, node] != UNPROVEN:
                    value = np.float64(tree.proven[g, node])
                    backup(tree, g, node, value, 1.0 if value == 0 else 0.0, True)
                    done[g] += 1
                    break
                if np.isnan(tree.own_value[g, node]):  # a leaf of this very round, not evaluated yet
                    break
                if params.gumbel:
                    action = choose_gumbel(tree, g, node, params, noise, schedule[g, done[g]], scores)
                else:
                    action = choose(tree, g, node, params)
                child = tree.children[g, node, action]
                if child == UNVISITED:
                    child = tree.size[g]
                    tree.size[g] += 1
                    tree.children[g, node, action] = child
                    tree.parent[g, child] = node
                    tree.action[g, child] = action
                    tree.own_value[g, child] = np.nan
                    tree.visits[g, child] = 0  # the arrays may hold an earlier search
                    tree.value_sum[g, child] = tree.draw_sum[g, child] = 0.0
                    tree.over[g, child], tree.proven[g, child] = False, UNPROVEN
                    if leaves > 1:  # further leaves of this round must see that this way is taken
                        backup(tree, g, child, 0.0, 0.0, True)
                        virtual_loss(tree, g, child, 1)
                    leaf_game[found], leaf_node[found], leaf_action[found] = g, child, action
                    for b in range(leaf_state.shape[1]):
                        leaf_state[found, b] = tree.state[g, node, b]
                    found += 1
                    done[g] += 1
                    break
                node = child
            if np.isnan(tree.own_value[g, node]):
                break
    return found


@kernel
def add_nodes(tree, params, leaves, found, leaf_game, leaf_node, leaf_state, leads, offsets, pending):
    """Store the states that `play` made of the leaves; carry up finished games. Return n: `pending[:n]` are to be evaluated.

    `leads` [M]: points by which seat 0 leads, where `params.margin` asks for them. `offsets`: places of the fields to_move, over
    and result in a state's bytes.
    """
    waiting = 0
    for m in range(found):
        g, node = leaf_game[m], leaf_node[m]
        for b in range(leaf_state.shape[1]):
            tree.state[g, node, b] = leaf_state[m, b]
        tree.to_move[g, node] = np.int8(leaf_state[m, offsets[0]])
        tree.over[g, node] = leaf_state[m, offsets[1]] != 0
        if not tree.over[g, node]:
            pending[waiting] = m
            waiting += 1
            continue
        result = np.int64(leaf_state[m, offsets[2]])
        result = result - 256 if result > 127 else result
        value = leads[m] if params.margin else np.float64(result)
        tree.own_value[g, node] = value
        if not params.margin:
            tree.proven[g, node] = result
        tree.children[g, node, :] = ILLEGAL
        if leaves > 1:
            virtual_loss(tree, g, node, -1)
        backup(tree, g, node, value, 1.0 if value == 0 else 0.0, leaves == 1)
        if params.solve:
            prove(tree, g, node)
    return waiting


@kernel
def expand(tree, leaves, pending, leaf_game, leaf_node, legal, priors, values, draws):
    """Give evaluated leaves their actions, priors and value, and carry the value up. Row k belongs to leaf `pending[k]`.

    Return False if a number is not finite.
    """
    is_finite = True
    for k in range(len(pending)):
        m = pending[k]
        g, node = leaf_game[m], leaf_node[m]
        value = np.float64(values[k])
        tree.own_value[g, node] = value
        is_finite &= np.isfinite(value + draws[k])
        for action in range(legal.shape[1]):
            tree.children[g, node, action] = UNVISITED if legal[k, action] else ILLEGAL
            tree.prior[g, node, action] = priors[k, action] if legal[k, action] else 0.0
            is_finite &= np.isfinite(priors[k, action])
        if leaves > 1:
            virtual_loss(tree, g, node, -1)
        backup(tree, g, node, value, np.float64(draws[k]), leaves == 1)
    return is_finite


@kernel
def count_open(over, size, games, first):
    """How many nodes of the trees `games` are not over, counted from the nodes `first` on; `over` and `size` as in `Tree`."""
    found = 0
    for k in range(len(games)):
        for node in range(first[k], size[games[k]]):
            if not over[games[k], node]:
                found += 1
    return found


class Kernels(NamedTuple):
    """The three kernels of a simulation."""

    select: Callable = select
    add_nodes: Callable = add_nodes
    expand: Callable = expand


def with_kernels(**own: Callable) -> Kernels:
    """The kernels of a simulation with others in the place of `choose` or `backup`, which take the same arguments."""
    return Kernels(*(specialise(plain_python(part), **own) for part in Kernels()))


@kernel
def set_roots(tree, games, states, offsets):
    """Start tree `games[k]` anew from the state bytes `states[k]`; `expand` must follow for those not over."""
    for k in range(len(games)):
        g = games[k]
        tree.size[g] = 1
        tree.parent[g, 0], tree.action[g, 0] = -1, -1
        tree.state[g, 0] = states[k]
        tree.to_move[g, 0] = np.int8(states[k, offsets[0]])
        tree.over[g, 0] = states[k, offsets[1]] != 0
        tree.proven[g, 0] = UNPROVEN
        tree.visits[g, 0] = 0
        tree.value_sum[g, 0] = tree.draw_sum[g, 0] = 0.0
        tree.own_value[g, 0] = 0.0


@kernel
def advance(tree, g, action):
    """Make the child of `action` the root of tree `g` and drop the rest.

    Return False, and change nothing, if it was never visited or if more than half of the room would stay in use.

    Children always come after their parents, so one pass in order keeps what hangs on the new root.
    """
    start = tree.children[g, 0, action]
    if start < 0:
        return False
    kept = np.full(tree.size[g], -1, np.int32)
    kept[start] = 0
    count = 1
    for node in range(start + 1, tree.size[g]):
        if kept[tree.parent[g, node]] >= 0:
            kept[node] = count
            count += 1
    if count > tree.parent.shape[1] // 2:
        return False
    for node in range(start, tree.size[g]):
        to = kept[node]
        if to < 0:
            continue
        tree.parent[g, to] = kept[tree.parent[g, node]] if node != start else -1
        tree.action[g, to] = tree.action[g, node] if node != start else -1
        tree.to_move[g, to] = tree.to_move[g, node]
        tree.over[g, to] = tree.over[g, node]
        tree.proven[g, to] = tree.proven[g, node]
        tree.visits[g, to] = tree.visits[g, node]
        tree.value_sum[g, to] = tree.value_sum[g, node]
        tree.draw_sum[g, to] = tree.draw_sum[g, node]
        tree.own_value[g, to] = tree.own_value[g, node]
        tree.prior[g, to] = tree.prior[g, node]
        tree.state[g, to] = tree.state[g, node]
        for a in range(tree.children.shape[2]):
            child = tree.children[g, node, a]
            tree.children[g, to, a] = kept[child] if child >= 0 else child
    tree.size[g] = count
    return True
