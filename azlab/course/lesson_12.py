"""Exercises on solved positions: wrong labels, long games that count more, splits by game, another set's plies."""

from itertools import product
from typing import Any

import numpy as np

from azlab.course import exercise
from azlab.course.answers import number


@exercise("12.1", "which positions does it call a draw, and how many of these are draws?")
def draws_among_draws(answer: Any) -> bool | str:
    lost, drawn = 0.12, 0.06
    share = number(answer)
    if abs(share - drawn) < 1e-3:
        return "That is the share of all positions that are draws; it calls more of them so."
    return abs(share - drawn / (lost + drawn)) < 1e-3


@exercise("12.2", "a long game has three times as many positions as a short one, and each of them counts")
def long_games_count_more(answer: Any) -> bool | str:
    """By listing the positions of two games."""
    plies = [np.arange(length) for length in (10, 30)]
    one, all_of = np.mean([own.mean() for own in plies]), np.concatenate(plies).mean()
    given = number(answer)
    if abs(given - all_of) < 1e-6 or abs(given - one) < 1e-6:
        return "That is one of the two means; how far are they apart?"
    return bool(abs(given - (all_of - one)) < 1e-6)


@exercise("12.3", "try it by hand for both players, with a win, a draw and a loss", grade="write")
def mended_winner(answer: Any) -> bool | str:
    for player, outcome in product((1, 2), (1, 0, -1)):
        right = 0 if outcome == 0 else player if outcome == 1 else 3 - player
        if (given := answer(player, outcome)) != right or isinstance(given, bool):
            return f"It is not right for player {player} to move with the outcome {outcome}."
    return True


@exercise("12.4", "draw games, not positions", grade="write")
def split_by_game(answer: Any) -> bool | str:
    games = np.repeat(np.arange(2000), np.random.default_rng(1).integers(1, 30, 2000))
    found = [np.asarray(answer(games.copy(), 0.2, seed)) for seed in (1, 2)]
    for rows in found:
        if rows.shape != games.shape or rows.dtype != np.bool_:
            return "It returns an array of true and false, one for each position."
        if np.isin(games[rows], games[~rows]).any():
            return "There is a game with positions on both sides."
        if abs(rows.mean() - 0.2) > 0.03:
            return f"{rows.mean():.0%} of the positions are tested where 20% were asked for."
    if np.array_equal(found[0], found[1]):
        return "Another seed gives the same split."
    by_size = np.corrcoef([np.isin(np.arange(2000), games[found[0]]), np.bincount(games)])[0, 1]
    return "Long and short games are not tested alike." if abs(by_size) > 0.15 else True


@exercise("12.5", "first the share of right answers at each ply, then their mean with the other set's weights", grade="write")
def other_plies(answer: Any) -> bool | str:
    """Against the definition, with a loop over the other set."""
    rng = np.random.default_rng(2)
    ply, other = rng.integers(0, 12, 400), rng.integers(4, 14, 300)
    right = rng.random(400) < 0.3 + ply / 24
    means = {at: right[ply == at].mean() for at in set(ply.tolist())}
    wanted = np.mean([means[at] for at in other.tolist() if at in means])
    given = float(answer(right.copy(), ply.copy(), other.copy()))
    if abs(given - right.mean()) < 1e-9:
        return "That is the share of right answers as it is, with the plies of the first set."
    return bool(abs(given - wanted) < 1e-9)
