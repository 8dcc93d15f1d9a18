"""Counting a game's positions and games exhaustively, by the rules themselves; published counts then prove the rules."""

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.games.packed import as_words

MOST_BYTES = 4 * 10**9  # of the states one move after those of a ply


def _words(states: np.ndarray) -> np.ndarray:
    """The bytes of each state as uint64 [B, words], for sorting; words that are the same everywhere are left out."""
    words = as_words(states)
    return words[:, (words != words[:1]).any(axis=0)] if len(words) else words


def distinct(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct states, and for each given state the index of its like among them."""
    words = _words(states)
    if words.shape[1] == 0:
        return states[:1], np.zeros(len(states), np.int64)
    order = np.lexsort(words.T)
    is_new = np.ones(len(states), np.bool_)
    is_new[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    group = np.empty(len(states), np.int64)
    group[order] = np.cumsum(is_new) - 1
    return states[order[is_new]], group


def children(game: Game, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All states one move after `states`, and the index of each one's parent."""
    parents, actions = np.nonzero(game.legal_mask(states))
    following = states[parents]
    if len(following):
        game.kernels.play(following, np.ascontiguousarray(actions))
    return following, parents


def positions_by_ply(game: Game, plies: int) -> list[int]:
    """How many distinct positions there are after 0, 1, ..., `plies` moves."""
    states = game.new_states(1)
    counts = [1]
    for _ in range(plies):
        states, _ = distinct(children(game, states)[0])
        counts.append(len(states))
    return counts


def count_games(game: Game) -> tuple[int, int, int]:
    """How many different games end with a win of seat 0, a win of seat 1, a draw. For small games only."""
    states, ways = game.new_states(1), np.ones(1, np.int64)  # `ways`: by how many move orders each state is reached
    ended = {1: 0, -1: 0, 0: 0}
    while len(states):
        for result in ended:
            ended[result] += int(ways[states["over"] & (states["result"] == result)].sum())
        following, parents = children(game, states)
        states, group = distinct(following)
        ways = np.bincount(group, ways[parents], len(states)).astype(np.int64)
    return ended[1], ended[-1], ended[0]


def lines_by_depth(game: Game, depth: int) -> list[int]:
    """How many sequences of 1, 2, ..., `depth` moves there are from the start ("perft")."""
    states, ways = game.new_states(1), np.ones(1, np.int64)
    counts = []
    for _ in range(depth):
        following, parents = children(game, states)
        states, group = distinct(following)
        ways = np.bincount(group, ways[parents], len(states)).astype(np.int64)
        counts.append(int(ways.sum()))
    return counts


def outcomes(game: Game, states: np.ndarray) -> np.ndarray:
    """What finished states are worth to seat 0: the margin in points where the game counts points, else the result."""
    values = states["result"].astype(np.float64)
    for k in range(len(states)):
        scores = game.scores(states[k : k + 1])
        if scores is not None:
            values[k] = scores[0] - scores[1]
    return values


def solve(game: Game, states: np.ndarray, limit: int = 100_000_000) -> list[tuple[np.ndarray, np.ndarray]]:
    """Everything below `states` ply by ply, equal states merged: [(states, their exact values for seat 0), ...].

    Values are carried back from the end; for games that count points they are margins. For small games only.
    """
    layers = []
    known = 0
    while len(states):
        known += len(states)
        moves = int(game.legal_mask(states[-1:]).sum()) * len(states)  # about
        if known > limit or moves * game.dtype.itemsize > MOST_BYTES:
            raise AzlabError(f"{game!r} has more than {min(limit, known):,} positions here, too many to try them all.")
        following, parents = children(game, states)
        merged, group = distinct(following)
        layers.append((states, parents, group))
        states = merged
    solved: list[tuple[np.ndarray, np.ndarray]] = []
    values = np.empty(0)
    for states, parents, group in reversed(layers):
        child_values = values[group]
        values = np.where(states["to_move"] == 0, -np.inf, np.inf)
        first = states["to_move"][parents] == 0
        np.maximum.at(values, parents[first], child_values[first])
        np.minimum.at(values, parents[~first], child_values[~first])
        values[states["over"]] = outcomes(game, states[states["over"]])
        solved.insert(0, (states, values))
    return solved


def exact_value(game: Game, states: np.ndarray) -> np.ndarray:
    """The values of `states` for seat 0 under perfect play, by trying everything."""
    return solve(game, states)[0][1]
