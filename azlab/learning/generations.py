"""Value networks by generations (source S1): one network judges afterstates, plays against itself and learns from the results.

An *afterstate* is the position after a move, seen by the opponent, who is now to move. The network gives the chances of a tie, a
win of Black (seat 0) and a win of White. Black plays the move with the largest 0.5 * (1 + P(black) - P(white)), White the
smallest. Generation 1 learns from random games; each later one from games of its predecessor, mixed with random moves. It is
one network throughout: weights and the optimiser's state are carried on.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.games.game import Game, Position
from azlab.nets.keras_nets import load_keras, value_net

LEARNING_RATE, BATCH, DECAY = 0.001, 1024, 1e-4  # S1's program: Adam, and DECAY / 2 times the sum of all squared weights
CHUNK = 16384  # afterstates judged at once
Progress = Callable[[str, int, int], None]  # (what is being done, steps done, steps in all)


class ValueGenerations:
    """The network of S1 and its training on a game with square planes: "tictactoe", "simple_go" and others like them."""

    def __init__(self, game: Game, filters: Sequence[int] | None = None, seed: int = 0) -> None:
        height, width = game.planes_shape[1:]
        if height != width:
            raise AzlabError(f"S1's network takes square boards; {game!r} has planes of {height} x {width}.")
        keras = load_keras()
        keras.utils.set_random_seed(whole_number("seed", seed, 0, 2**31))
        self.game = game
        self.net = value_net(height, filters or ((30, 50) if height <= 3 else (30, 50, 70)))
        self.generation = 0
        self.losses: list[float] = []  # mean loss of every epoch
        self._rng = np.random.default_rng(seed)
        self._optimiser = keras.optimizers.Adam(LEARNING_RATE)
        self._judge, self._step = _compiled(self.net, self._optimiser)

    # --- judging and choosing -------------------------------------------------------------------------------------

    def planes(self, states: np.ndarray) -> np.ndarray:
        """What the network sees of afterstates: own stones, the other's stones, ones if Black is to move; [B, H, W, 3]."""
        encoded = self.game.encode(states)[:, :2]
        black = np.broadcast_to((states["to_move"] == 0)[:, None, None, None], (len(states), 1, *encoded.shape[2:]))
        return np.concatenate([encoded, black.astype(np.float32)], axis=1).transpose(0, 2, 3, 1)

    def chances(self, states: np.ndarray) -> np.ndarray:
        """The chances of a tie, a win of Black, a win of White: float32 [B, 3]."""
        parts = [self._judge(self.planes(states[k : k + CHUNK])).numpy() for k in range(0, len(states), CHUNK)]
        return np.concatenate(parts) if parts else np.zeros((0, 3), np.float32)

    def choose_actions(self, states: np.ndarray) -> np.ndarray:
        """The greedy action of each state, int64 [B]; the first of equals."""
        parents, actions = np.nonzero(self.game.legal_mask(states))
        after = states[parents]
        self.game.kernels.play(after, np.ascontiguousarray(actions))
        chances = self.chances(after)
        preference = 0.5 * (1 + chances[:, 1] - chances[:, 2])
        table = np.full((len(states), self.game.num_actions), -np.inf, np.float32)
        table[parents, actions] = np.where(states["to_move"][parents] == 0, preference, -preference)
        return table.argmax(axis=1)

    # --- data and training ----------------------------------------------------------------------------------------

    def play_games(self, games: int, progress: Progress | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Play `games` games at once; return all afterstates and the results of their games for seat 0.

        In generation 1 all moves are random. Later S1 draws for each game and player a number k below twice m, half the board's
        cells: if k > m every move is random with a chance of its own, else the first k moves of the player are.
        """
        cells = self.game.planes_shape[1] * self.game.planes_shape[2]
        middle = cells // 2
        first_random = self._rng.integers(0, 2 * middle, (games, 2))
        share = np.where(first_random > middle, self._rng.random((games, 2)), 0.0)
        first_random = np.where(first_random > middle, 0, first_random)
        states, made = self.game.new_states(games), np.zeros((games, 2), np.int64)
        met, owners = [], []
        ply = 0
        while not states["over"].all():
            going = np.flatnonzero(~states["over"])
            seats = states["to_move"][going]
            is_random = (self._rng.random(len(going)) < share[going, seats]) | (made[going, seats] < first_random[going, seats])
            if self.generation == 0:
                is_random[:] = True
            made[going, seats] += 1
            actions = np.empty(len(going), np.int64)
            legal = self.game.legal_mask(states[going])
            actions[is_random] = np.where(legal[is_random], self._rng.random((is_random.sum(), legal.shape[1])), -1).argmax(
                axis=1
            )
            if not is_random.all():
                actions[~is_random] = self.choose_actions(states[going[~is_random]])
            moved = states[going]
            self.game.kernels.play(moved, actions)
            states[going] = moved
            met.append(moved)
            owners.append(going)
            ply += 1
            if progress is not None:
                progress("playing", ply, self.game.max_length)
        return np.concatenate(met), states["result"][np.concatenate(owners)]

    def train(self, states: np.ndarray, results: np.ndarray, epochs: int, progress: Progress | None = None) -> None:
        """Learn the results of afterstates, each in all symmetries of the board."""
        planes = self.planes(states).transpose(0, 3, 1, 2)
        turned = np.concatenate([symmetry.on_planes(planes) for symmetry in self.game.symmetries]).transpose(0, 2, 3, 1)
        classes = np.tile(np.where(results == 0, 0, np.where(results > 0, 1, 2)), len(self.game.symmetries)).astype(np.int32)
        for epoch in range(epochs):
            order = self._rng.permutation(len(turned))
            losses = []
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                losses.append(float(self._step(turned[rows], classes[rows])))
            self.losses.append(float(np.mean(losses)))
            if progress is not None:
                progress("training", epoch + 1, epochs)

    def next_generation(self, games: int, epochs: int, progress: Progress | None = None) -> None:
        """Play with the present network (at random in the first generation), then learn from those games."""
        whole_number("games", games, 1, 10**8)
        whole_number("epochs", epochs, 1, 10**6)
        states, results = self.play_games(games, progress)
        self.train(states, results, epochs, progress)
        self.generation += 1


class ValueAgent:
    """Plays the greedy moves of a value network."""

    def __init__(self, generations: ValueGenerations, name: str | None = None) -> None:
        self.generations, self.name = generations, name or f"generation {generations.generation}"

    def choose(self, position: Position) -> int:
        return int(self.generations.choose_actions(position.state)[0])

    def choose_many(self, positions: Sequence[Position]) -> list[int]:
        """The actions for many positions, judged as one batch."""
        return self.generations.choose_actions(np.concatenate([position.state for position in positions])).tolist()


def _compiled(net: Any, optimiser: Any) -> tuple[Callable, Callable]:
    """The network's chances and one training step as compiled functions for batches of any size."""
    import tensorflow as tf

    shape = (None, *net.input_shape[1:])

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32)], autograph=False)
    def judge(planes: Any) -> Any:
        return tf.nn.softmax(net(planes, training=False)["result"])

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32), tf.TensorSpec((None,), tf.int32)], autograph=False)
    def step(planes: Any, classes: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = net(planes, training=True)["result"]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits))
            decay = tf.add_n([tf.nn.l2_loss(weight) for weight in net.trainable_variables])
            total = loss + DECAY * decay
        optimiser.apply_gradients(zip(tape.gradient(total, net.trainable_variables), net.trainable_variables, strict=True))
        return loss

    optimiser.build(net.trainable_variables)
    return judge, step


def against_every_line(game: Game, choose: Callable[[np.ndarray], np.ndarray], seat: int) -> dict[str, tuple[int, int, int]]:
    """Let a deterministic player in `seat` meet every line of opponent's moves (S1, task 1).

    Return wins, draws and losses of the player, counted two ways: "games", each different game once, and "lines" as S1 counts,
    where a game that ends early stands for all the choices the opponent did not come to make (384 or 945 in tic-tac-toe).
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
