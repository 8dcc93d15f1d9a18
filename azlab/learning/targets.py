"""What a network learns from a finished game: pure functions of what was played."""

from typing import TYPE_CHECKING

import numpy as np

from azlab.learning.recording import Played
from azlab.learning.window import Examples

if TYPE_CHECKING:
    from azlab.learning.selfplay import SelfPlayConfig


def targets(played: Played, config: "SelfPlayConfig") -> Examples:
    """The examples of a game: the policy of each search worth learning from, and what came of it for the player to move."""
    used, policy = played.is_full, played.policy
    if played.margin:
        states, turns = played.game.normal_form(played.states)
        turned = np.empty_like(policy)
        np.put_along_axis(turned, turns, policy, axis=1)
        return Examples(states[used], turned[used], rest_of_points(played, config)[used], np.zeros_like(policy[used]))
    states = played.states
    return Examples(states[used], policy[used], results(played, config)[used], replies(played)[used])


def results(played: Played, config: "SelfPlayConfig") -> np.ndarray:
    """Chances of draw, win and loss for the player to move: float32 [M, 3]."""
    nearness = np.float32(config.discount) ** np.arange(len(played.states) - 1, -1, -1, dtype=np.float32)[:, None]
    found = nearness * played.outcome + (1 - nearness) * np.array([1, 0, 0], np.float32)
    found = with_searches(found, played.search, config)
    is_second = played.states["to_move"] == 1
    found[is_second] = found[is_second][:, [0, 2, 1]]
    return found.astype(np.float32)


def with_searches(results: np.ndarray, searched: np.ndarray, config: "SelfPlayConfig") -> np.ndarray:
    """What the network learns of each move, from the game's result and what the searches expected; both [M, ...]."""
    share, found = config.bootstrap, results.copy()
    if share:
        for k in range(len(found) - 2, -1, -1):  # from the end: what follows is known
            found[k] = (1 - share) * found[k + 1] + share * searched[k + 1]
    return (1 - config.search_value) * found + config.search_value * searched


def rest_of_points(played: Played, config: "SelfPlayConfig") -> np.ndarray:
    """What the mover made of the rest of the game, as chances of winning and losing that differ by it: float32 [M, 3]."""
    lead, states = played.game.kernels.lead, played.states
    assert lead is not None  # a search for the margin was refused without it
    leads, final = np.empty(len(states)), np.empty(1)
    lead(states, leads)
    lead(played.final, final)
    expected = with_searches(np.repeat(final, len(states)), played.search[:, 1] - played.search[:, 2], config)
    rest = np.where(states["to_move"] == 0, expected - leads, leads - expected)
    return np.stack([np.zeros_like(rest), (1 + rest) / 2, (1 - rest) / 2], axis=1).astype(np.float32)


def replies(played: Played) -> np.ndarray:
    """The policy of the opponent's answer, 0 where there was none that is worth learning: float16 [M, A]."""
    found, to_move = np.zeros_like(played.policy), played.states["to_move"]
    answered = played.is_full[1:] & (to_move[1:] != to_move[:-1])
    found[:-1][answered] = played.policy[1:][answered]
    return found
