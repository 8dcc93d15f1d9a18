"""Value networks by generations: one network judges afterstates, plays against itself and learns from the results.

Generation 1 learns from random games; each later one from games of its predecessor, mixed with random moves. It is one network
throughout: weights and the optimiser's state are carried on. What the network sees and how it chooses is in `afterstates.py`.
The scheme, its random moves and the defaults below are those of S1.

    learner = ValueGenerations(azlab.game("tictactoe"), seed=1)
    players = learner.run([5000, 30000, 30000], epochs=10, folder="runs/tictactoe")

After every generation the folder holds all that the next one needs, so the same call goes on after an interruption:
generation_N.keras of every generation, the optimiser's numbers of the last, and state.json, which is written last.
"""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.files import load_arrays, save_arrays, write_aside
from azlab.games.count import distinct
from azlab.games.game import Game
from azlab.intact import check_arrays, parsed, sealed, unsealed
from azlab.learning.afterstates import AfterstateNet, ValueAgent
from azlab.nets.keras_nets import load_keras, value_net
from azlab.nets.weights import load_keras_weights, save_keras

__all__ = ["ValueGenerations", "AfterstateNet", "ValueAgent"]

BATCH = 1024  # positions of a training step
STEP = 128  # positions of a batch are filled up to a multiple of it: few different shapes, for each is compiled anew
STATE = "state.json"
ONCE_FIXED = {"learning_rate": 0.001, "decay": 1e-4}  # what older files do not say
Progress = Callable[[str, int, int], None]  # (what is being done, steps done, steps in all)


class ValueGenerations(AfterstateNet):
    """A value network and its training on a game with square planes: "tictactoe", "simple_go" and others like them.

    filters: of each convolution of the network
    learning_rate: of Adam
    decay: half of it, times the sum of all squared weights, is added to the loss
    """

    def __init__(
        self, game: Game, filters: Sequence[int] = (30, 50), learning_rate: float = 0.001, decay: float = 1e-4, seed: int = 0
    ) -> None:
        height, width = game.planes_shape[1:]
        if height != width:
            raise AzlabError(f"The value network takes square boards; {game!r} has planes of {height} x {width}.")
        keras = load_keras()
        keras.utils.set_random_seed(whole_number("seed", seed, 0, 2**31))
        self.filters = tuple(filters)
        super().__init__(game, value_net(height, self.filters))
        self._settings: dict[str, Any] = {"game": repr(game), "filters": list(filters), "seed": seed}
        self._settings |= {"learning_rate": learning_rate, "decay": decay}
        self.losses: list[float] = []  # mean loss of every epoch
        self.history: list[dict[str, Any]] = []  # for every generation: games, epochs, symmetries, batch, positions, seconds
        self._rng = np.random.default_rng(seed)
        self._optimiser = keras.optimizers.Adam(learning_rate)
        self._step = _compiled_step(self.net, self._optimiser, decay)

    @property
    def generation(self) -> int:
        """How many generations the network has learned."""
        return len(self.history)

    def run(
        self,
        games: Sequence[int],
        epochs: int,
        folder: str | Path,
        symmetries: str = "all",
        batch: int = BATCH,
        progress: Progress | None = None,
    ) -> list[AfterstateNet]:
        """Train a generation for each number of games, going on with what `folder` holds; return the network of each."""
        folder = Path(folder)
        if (folder / STATE).exists():
            self.load(folder)
        wanted: list[dict[str, Any]] = [
            {"games": count, "epochs": epochs, "symmetries": symmetries, "batch": batch} for count in games
        ]
        for made, asked in zip(self.history, wanted):
            if any(made[key] != asked[key] for key in asked):
                raise AzlabError(f"{folder} holds a training with other settings: {made}, not {asked}. Name another folder.")
        for number, asked in enumerate(wanted, start=1):
            if number > self.generation:
                self.next_generation(**asked, progress=progress)
                self.save(folder)
            if progress is not None:
                progress("generation", number, len(wanted))
        return [self.of_generation(number, folder) for number in range(1, len(wanted) + 1)]

    def next_generation(
        self, games: int, epochs: int, symmetries: str = "all", batch: int = BATCH, progress: Progress | None = None
    ) -> None:
        """Play with the present network (at random in the first generation), then learn from those games."""
        whole_number("games", games, 1, 10**8)
        whole_number("epochs", epochs, 1, 10**6)
        began = time.perf_counter()
        states, results = self.play_games(games, progress)
        played = time.perf_counter()
        self.train(states, results, epochs, symmetries, batch, progress)
        seconds = {"playing": round(played - began, 1), "training": round(time.perf_counter() - played, 1)}
        settings = {"games": games, "epochs": epochs, "symmetries": symmetries, "batch": batch}
        self.history.append({**settings, "positions": len(states), "seconds": seconds})

    # --- data and training ----------------------------------------------------------------------------------------

    def play_games(
        self, games: int, progress: Progress | None = None, at_random: bool | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Play `games` games at once; return all afterstates and the results of their games for seat 0.

        Before the first training all moves are random, or if `at_random` says so. Later each game and player draw a number k
        below twice m, half the board's cells: if k > m every move is random with a chance of its own, else the first k moves
        of the player are.
        """
        at_random = self.generation == 0 if at_random is None else at_random
        middle = self.game.planes_shape[1] * self.game.planes_shape[2] // 2
        first_random = self._rng.integers(0, 2 * middle, (games, 2))
        share = np.where(first_random > middle, self._rng.random((games, 2)), 0.0)
        first_random = np.where(first_random > middle, 0, first_random)
        states, made = self.game.new_states(games), np.zeros((games, 2), np.int64)
        met, owners = [], []
        while not states["over"].all():
            going = np.flatnonzero(~states["over"])
            seats = states["to_move"][going]
            is_random = (self._rng.random(len(going)) < share[going, seats]) | (made[going, seats] < first_random[going, seats])
            is_random |= at_random
            made[going, seats] += 1
            moved = states[going]
            self.game.kernels.play(moved, self._mixed_actions(moved, is_random))
            states[going] = moved
            met.append(moved)
            owners.append(going)
            if progress is not None:
                progress("games", int(states["over"].sum()), games)
        return np.concatenate(met), states["result"][np.concatenate(owners)]

    def _mixed_actions(self, states: np.ndarray, is_random: np.ndarray) -> np.ndarray:
        """Random actions where `is_random`, the network's elsewhere: int64 [B]."""
        actions = np.empty(len(states), np.int64)
        actions[is_random] = self.game.random_actions(states[is_random], self._rng)
        if not is_random.all():
            actions[~is_random] = self.choose_actions(states[~is_random])
        return actions

    def train(
        self,
        states: np.ndarray,
        results: np.ndarray,
        epochs: int,
        symmetries: str = "all",
        batch: int = BATCH,
        progress: Progress | None = None,
    ) -> None:
        """Learn the results of afterstates, in every epoch each in "all" symmetries of the board or in "one" drawn at random.

        Boards that look the same in a batch are put through the network once, with the number of times that each result followed:
        the gradient is that of the plain batch, and in tic-tac-toe it takes a third less work.
        """
        whole_number("batch", batch, 1, 10**6)
        one_of("symmetries", symmetries, ("all", "one"))
        boards, like = distinct(states)
        turns = np.array([np.argsort(symmetry.cells) for symmetry in self.game.symmetries])  # [S, cells]: where each cell is from
        planes = self.planes(boards).astype(np.uint8).reshape(len(boards), -1, 3)
        looks = _looks(planes, turns) if len(boards) * len(turns) < len(states) else np.arange(len(boards) * len(turns))
        classes = np.where(results == 0, 0, np.where(results > 0, 1, 2))
        for epoch in range(epochs):
            rows, turn = self._order(len(states), len(turns), symmetries)
            keys = looks[like[rows] * len(turns) + turn]
            losses = []
            for start in range(0, len(rows), batch):
                part = slice(start, start + batch)
                seen, counts = _merged(keys[part], classes[rows[part]])
                turned = planes[(seen // len(turns))[:, None], turns[seen % len(turns)]]
                shape = (len(turned), *self.net.input_shape[1:])
                losses.append(float(self._step(turned.astype(np.float32).reshape(shape), counts)))
            self.losses.append(float(np.mean(losses)))
            if progress is not None:
                progress("epochs", epoch + 1, epochs)

    def _order(self, count: int, turns: int, symmetries: str) -> tuple[np.ndarray, np.ndarray]:
        """The order of an epoch: index of the position and of the symmetry, int64 [N] each."""
        if symmetries == "one":
            return self._rng.permutation(count), self._rng.integers(0, turns, count)
        order = self._rng.permutation(count * turns)
        return order % count, order // count

    # --- files ----------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write all that the next generation needs; what earlier calls wrote counts until the last file is in place."""
        folder = Path(folder)
        save_keras(self.net, folder / f"generation_{self.generation}.keras")
        numbers = {f"{k}": variable.numpy() for k, variable in enumerate(self._optimiser.variables)}
        save_arrays(folder / f"optimiser_{self.generation}.npz", numbers)
        content = {**self._settings, "random": self._rng.bit_generator.state, "history": self.history, "losses": self.losses}
        text = json.dumps(sealed(content), indent=1) + "\n"
        write_aside(folder / STATE, lambda aside: aside.write_text(text, encoding="utf-8"))
        for old in folder.glob("optimiser_*.npz"):
            if old.stem != f"optimiser_{self.generation}":
                old.unlink()

    def load(self, folder: str | Path) -> None:
        """Go on where `save` left off; the game, the network, Adam's numbers and the seed must be the same."""
        folder = Path(folder)
        kept, random, history, losses = _state(folder)
        others = ", ".join(f"{name} {value}" for name, value in kept.items() if value != self._settings[name])
        if others:
            raise AzlabError(f"{folder} holds another training: {others}. Name another folder.")
        file, variables = folder / f"optimiser_{len(history)}.npz", self._optimiser.variables
        wanted = {f"{k}": (variable.numpy().dtype, tuple(variable.shape)) for k, variable in enumerate(variables)}
        numbers = load_arrays(file, sum(variable.numpy().nbytes for variable in variables))
        check_arrays(file, numbers, wanted)
        load_keras_weights(self.net, folder / f"generation_{len(history)}.keras")
        for k, variable in enumerate(variables):
            variable.assign(numbers[f"{k}"])
        self._rng.bit_generator.state = random
        self.history, self.losses = history, losses

    def of_generation(self, number: int, folder: str | Path) -> AfterstateNet:
        """The network as generation `number` left it in `folder`."""
        net = value_net(self.net.input_shape[1], self.filters)
        return AfterstateNet(self.game, load_keras_weights(net, Path(folder) / f"generation_{number}.keras"))


def _state(folder: Path) -> tuple[dict[str, Any], dict, list[dict[str, Any]], list[float]]:
    """What state.json holds: what was trained and how, the state of the random numbers, the history and the losses."""
    try:
        content = unsealed(parsed((folder / STATE).read_bytes().decode()))
        kept = {"game": content["game"], "filters": list(content["filters"]), "seed": content["seed"]}
        kept |= {name: content.get(name, before) for name, before in ONCE_FIXED.items()}
        np.random.default_rng().bit_generator.state = content["random"]  # to see whether it is one
        history, losses = list(content["history"]), [float(loss) for loss in content["losses"]]
        if not history or any(not {"games", "epochs", "symmetries", "batch"} <= {*made} for made in history):
            raise ValueError("its history is not complete")
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise AzlabError(
            f"There is no training to go on with in {folder}: {STATE} is damaged ({error}). Bring back a copy of the file, or "
            "name another folder for a new training."
        ) from None
    return kept, content["random"], history, losses


def _looks(planes: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """For board b [cells, 3] in turn t, numbered b * T + t, the number of the first board and turn that looks the same."""
    turned = planes[:, turns].reshape(len(planes) * len(turns), -1)
    _, first, like = np.unique(turned, axis=0, return_index=True, return_inverse=True)
    return first[like]


def _merged(keys: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different keys of a batch and how often each was seen with each class: int64 [K], float32 [K, 3].

    K is filled up to a multiple of STEP by the first key, counted no times.
    """
    seen, place = np.unique(keys, return_inverse=True)
    size = -len(seen) % STEP + len(seen)
    counts = np.bincount(3 * place + classes, minlength=3 * size).reshape(size, 3)
    return np.concatenate([seen, np.full(size - len(seen), seen[0])]), counts.astype(np.float32)


def _compiled_step(net: Any, optimiser: Any, decay: float) -> Callable:
    """One training step as a compiled function: planes [B, H, W, 3] and counts of the classes [B, 3] in, loss out."""
    import tensorflow as tf

    shape = (None, *net.input_shape[1:])

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32), tf.TensorSpec((None, 3), tf.float32)], autograph=False)
    def step(planes: Any, counts: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = net(planes, training=True)["result"]
            loss = -tf.reduce_sum(counts * tf.nn.log_softmax(logits)) / tf.reduce_sum(counts)
            total = loss + decay * tf.add_n([tf.nn.l2_loss(weight) for weight in net.trainable_variables])
        optimiser.apply_gradients(zip(tape.gradient(total, net.trainable_variables), net.trainable_variables, strict=True))
        return loss

    optimiser.build(net.trainable_variables)
    return step
