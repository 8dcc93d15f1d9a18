"""A value network that judges afterstates, and the players it makes: greedy, or looking some moves ahead.

An *afterstate* is the position after a move, seen by the opponent, who is now to move. The network gives the chances of a tie, a
win of Black (seat 0) and a win of White. A position's worth is 0.5 * (1 + P(black) - P(white)): Black plays to the largest, White
to the smallest.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from azlab.errors import whole_number
from azlab.games.count import children, distinct
from azlab.games.game import Game, Position

CHUNK = 16384  # afterstates judged at once
TOGETHER = 32  # positions looked ahead from at once: three plies of 5x5 make 13,800 afterstates of each


class AfterstateNet:
    """A game and a Keras network with the output "result" (see `azlab.nets.keras_nets.value_net`)."""

    def __init__(self, game: Game, net: Any) -> None:
        self.game, self.net = game, net
        self._judge = _compiled_judge(net)

    def planes(self, states: np.ndarray) -> np.ndarray:
        """What the network sees of afterstates: own stones, the other's stones, ones if Black is to move; [B, H, W, 3]."""
        encoded = self.game.encode(states)[:, :2]
        black = np.broadcast_to((states["to_move"] == 0)[:, None, None, None], (len(states), 1, *encoded.shape[2:]))
        return np.concatenate([encoded, black.astype(np.float32)], axis=1).transpose(0, 2, 3, 1)

    def chances(self, states: np.ndarray) -> np.ndarray:
        """The chances of a tie, a win of Black, a win of White: float32 [B, 3]."""
        parts = [self._judge(self.planes(states[k : k + CHUNK])).numpy() for k in range(0, len(states), CHUNK)]
        return np.concatenate(parts) if parts else np.zeros((0, 3), np.float32)

    def worth(self, states: np.ndarray, plies: int = 0) -> np.ndarray:
        """What each state is worth to Black, from 0 to 1, after `plies` further best moves of both players: float32 [B].

        With `plies` the rules are asked as well: a game that is over counts as it ended. Without, the network judges everything.
        """
        if plies == 0:
            chances = self.chances(states)
            return 0.5 * (1 + chances[:, 1] - chances[:, 2])
        worth = 0.5 * (1 + states["result"].astype(np.float32))
        going = np.flatnonzero(~states["over"])
        if len(going):
            after, parents = children(self.game, states[going])
            after, like = distinct(after)  # the same moves in another order lead to the same place
            over = after["over"]
            judged = 0.5 * (1 + after["result"].astype(np.float32))
            judged[~over] = self.worth(after[~over], plies - 1)
            first = np.flatnonzero(np.diff(parents, prepend=-1))
            black = states["to_move"][going] == 0
            worth[going] = np.where(black, np.maximum.reduceat(judged[like], first), np.minimum.reduceat(judged[like], first))
        return worth

    def choose_actions(self, states: np.ndarray, plies: int = 1) -> np.ndarray:
        """The best action of each state by a look `plies` moves ahead, int64 [B]; the first of equals.

        One ply is the greedy player: every afterstate is judged by the network, even one in which the game is over.
        """
        whole_number("plies", plies, 1, 9)
        if plies > 1 and len(states) > TOGETHER:
            parts = [self.choose_actions(states[k : k + TOGETHER], plies) for k in range(0, len(states), TOGETHER)]
            return np.concatenate(parts)
        parents, actions = np.nonzero(self.game.legal_mask(states))
        after = states[parents]
        self.game.kernels.play(after, np.ascontiguousarray(actions))
        after, like = distinct(after)
        worth = self.worth(after, plies - 1)[like]
        table = np.full((len(states), self.game.num_actions), -np.inf, np.float32)
        table[parents, actions] = np.where(states["to_move"][parents] == 0, worth, -worth)
        return table.argmax(axis=1)


class ValueAgent:
    """Plays the best moves of a value network, looking `plies` moves ahead; with 1 it is greedy."""

    def __init__(self, net: AfterstateNet, name: str = "value net", plies: int = 1) -> None:
        self.net, self.name, self.plies = net, name, whole_number("plies", plies, 1, 9)

    def choose(self, position: Position) -> int:
        return self.choose_many([position])[0]

    def choose_many(self, positions: Sequence[Position]) -> list[int]:
        """The actions for many positions, judged as one batch."""
        states = np.concatenate([position.state for position in positions])
        return self.net.choose_actions(states, self.plies).tolist()


def _compiled_judge(net: Any) -> Callable:
    """The network's chances as a compiled function for batches of any size."""
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec((None, *net.input_shape[1:]), tf.float32)], autograph=False)
    def judge(planes: Any) -> Any:
        return tf.nn.softmax(net(planes, training=False)["result"])

    return judge
