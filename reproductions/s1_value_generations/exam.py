"""The exams of S1's tic-tac-toe players: every line an opponent can play, and every position their own play lets come up.

They take any deterministic player: a function `choose` from states [B] to actions int64 [B].
"""

from collections.abc import Callable

import numpy as np

from azlab.errors import AzlabError
from azlab.games.count import children, distinct
from azlab.games.game import Game


def against_every_line(game: Game, choose: Callable[[np.ndarray], np.ndarray], seat: int) -> dict[str, tuple[int, int, int]]:
    """Let a deterministic player in `seat` meet every line of opponent's moves (S1, task 1).

    Return wins, draws and losses of the player, counted two ways: "games", each different game once, and "lines" as the source
    counts, where a game that ends early stands for all the choices the opponent did not come to make (384 or 945 in tic-tac-toe).
    """
    states, choices = game.new_states(1), 1  # `choices`: lines of opponent's moves so far, if no game ended
    ended: list[tuple[int, np.ndarray]] = []
    while len(states):
        is_own = states["to_move"] == seat
        if is_own.all():
            game.kernels.play(states, choose(states))
        elif not is_own.any():
            legal = game.legal_mask(states)
            if len(set(legal.sum(axis=1))) > 1:
                raise AzlabError("The lines can be counted only where the opponent always has the same number of moves.")
            parents, actions = np.nonzero(legal)
            choices *= int(legal[0].sum())
            states = states[parents]
            game.kernels.play(states, np.ascontiguousarray(actions))
        else:
            raise AzlabError("The lines can be counted only in games where both players move in turn.")
        ended.append((choices, states["result"][states["over"]] * (1 - 2 * seat)))
        states = states[~states["over"]]
    count = {"games": [0, 0, 0], "lines": [0, 0, 0]}
    for made, results in ended:
        for place, result in enumerate((1, 0, -1)):
            count["games"][place] += int((results == result).sum())
            count["lines"][place] += int((results == result).sum()) * (choices // made)
    return {way: (wins, draws, losses) for way, (wins, draws, losses) in count.items()}


def positions_met(game: Game, choose: Callable[[np.ndarray], np.ndarray], seat: int) -> np.ndarray:
    """Every position in which a deterministic player in `seat` may have to move, whatever the opponent does: states [B]."""
    states, met = game.new_states(1), []
    while len(states):
        own = states["to_move"] == seat
        moved = states[own]
        if len(moved):
            met.append(moved.copy())
            game.kernels.play(moved, choose(moved))
        others = states[~own]
        following = np.concatenate([moved, children(game, others)[0]]) if len(others) else moved
        states = distinct(following[~following["over"]])[0]
    return distinct(np.concatenate(met))[0] if met else states


def most_wins_without_loss(game: Game, seat: int) -> float:
    """The greatest share of the opponent's lines that a player in `seat` can win who never loses: a bound for such players.

    It is the chance to win against random moves, best moves against it; -inf if a loss cannot be avoided. For small games.
    """
    layers, links = [game.new_states(1)], []
    while not layers[-1]["over"].all():
        after, parents = children(game, layers[-1])
        after, like = distinct(after)
        layers.append(after)
        links.append((like, parents))
    share = np.array([])
    for states, link in zip(reversed(layers), [None, *reversed(links)]):
        results = states["result"] * (1 - 2 * seat)
        shares = np.where(results > 0, 1.0, np.where(results == 0, 0.0, -np.inf))
        if link is not None:
            below, parents = share[link[0]], link[1]
            first = np.flatnonzero(np.diff(parents, prepend=-1))
            going, moves = parents[first], np.diff(first, append=len(parents))
            best, mean = np.maximum.reduceat(below, first), np.add.reduceat(below, first) / moves
            shares[going] = np.where(states["to_move"][going] == seat, best, mean)
        share = shares
    return float(share[0])
