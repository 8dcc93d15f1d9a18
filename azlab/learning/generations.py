"""Value networks by generations: one network judges afterstates, plays against itself and learns from the results.

Generation 1 learns from random games; each later one from games of its predecessor, mixed with random moves. It is one network
throughout: weights and the optimiser's state are carried on. What the network sees and how it chooses is in `afterstates.py`.
The scheme, its random moves and the defaults below are those of S1.

    learner = ValueGenerations(azlab.game("tictactoe"), seed=1)
    players = learner.run([5000, 30000, 30000], epochs=10, folder="runs/tictactoe")

The folder is that of a run (run_files.py) whose iterations are generations: the same call goes on after an interruption. A
checkpoint holds optimiser.npz, Adam's numbers, and state.json: the state of the random numbers and the loss of every epoch.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.files import load_arrays, save_arrays, write_aside
from azlab.games.count import distinct
from azlab.games.game import Game
from azlab.intact import check_arrays, parsed, sealed, unsealed
from azlab.learning.afterstates import AfterstateNet, ValueAgent
from azlab.learning.run_files import RunFiles, clock, spent
from azlab.nets.keras_nets import load_keras, value_net
from azlab.nets.weights import load_keras_weights, save_keras

__all__ = ["ValueGenerations", "AfterstateNet", "ValueAgent"]

BATCH = 1024  # positions of a training step
STEP = 128  # positions of a batch are filled up to a multiple of it: few different shapes, for each is compiled anew
Progress = Callable[[str, int, int], None]  # (what is being done, steps done, steps in all)


@dataclass(frozen=True)
class GenerationsConfig:
    """The settings of a run, for its folder; see `ValueGenerations` and its `run`."""

    game: str = ""
    filters: tuple[int, ...] = (30, 50)
    learning_rate: float = 0.001
    decay: float = 1e-4
    seed: int = 0
    games: tuple[int, ...] = ()
    # of each generation
    epochs: int = 1
    symmetries: str = "all"
    batch: int = BATCH
    iterations: int = 1
    # generations


class GenerationsRun(RunFiles[GenerationsConfig]):
    """The folder of a run."""

    learner = "ValueGenerations"
    kind = GenerationsConfig
    may_change = {"games", "iterations"}  # those of generations to come

    def _is_new(self, config: GenerationsConfig) -> bool:
        if (self.path / "state.json").is_file():
            raise AzlabError(
                f"{self.path} holds value generations in the format of azlab 0.2, which is no longer read: name another folder, "
                "to train anew, or go on with azlab 0.2."
            )
        is_new = super()._is_new(config)
        asked = dict(enumerate(config.games, start=1))
        made = {row["iteration"]: row.get("games") for row in self.metrics()}
        self._check_same(["games"] if any(made[number] != asked[number] for number in made.keys() & asked.keys()) else [])
        return is_new


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
        self._settings = repr(game), self.filters, learning_rate, decay, seed
        self.losses: list[float] = []  # mean loss of every epoch
        self.metrics: list[dict[str, Any]] = []  # of every generation, as in metrics.jsonl
        self._rng = np.random.default_rng(seed)
        self._optimiser = keras.optimizers.Adam(learning_rate)
        self._step = _compiled_step(self.net, self._optimiser, decay)

    @property
    def generation(self) -> int:
        """How many generations the network has learned."""
        return len(self.metrics)

    def _has_drawn(self) -> bool:
        """Whether games were played or learned, be it in part: nothing of that goes without random numbers."""
        return self._rng.bit_generator.state != np.random.default_rng(self._settings[-1]).bit_generator.state

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
        run = GenerationsRun(folder)
        how = (tuple(games), epochs, symmetries, batch, len(games))
        with run.at_work(GenerationsConfig(*self._settings, *how), is_untrained=not self._has_drawn()) as done:
            if done:
                self._take_over(run, done)
            for number, count in enumerate(games, start=1):
                if number > self.generation:
                    self.next_generation(count, epochs, symmetries, batch, progress)
                    self._keep(run)
                if progress is not None:
                    progress("generation", number, len(games))
            return [self.of_generation(number, folder) for number in range(1, len(games) + 1)]

    def next_generation(
        self, games: int, epochs: int, symmetries: str = "all", batch: int = BATCH, progress: Progress | None = None
    ) -> None:
        """Play with the present network (at random in the first generation), then learn from those games."""
        whole_number("games", games, 1, 10**8)
        whole_number("epochs", epochs, 1, 10**6)
        began = clock()
        states, results = self.play_games(games, progress)
        played = clock()
        self.train(states, results, epochs, symmetries, batch, progress)
        row: dict[str, Any] = {"iteration": self.generation + 1, "games": games, "epochs": epochs, "batch": batch}
        row |= {"moves": len(states), "loss": self.losses[-1], "value_loss": self.losses[-1]}
        row["play_seconds"] = played[0] - began[0]
        self.metrics.append(row | {"train_seconds": clock()[0] - played[0]} | spent(began, self.metrics))

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

    def _keep(self, run: GenerationsRun) -> None:
        """Make the present generation count."""
        numbers = {f"{k}": variable.numpy() for k, variable in enumerate(self._optimiser.variables)}
        state = json.dumps(sealed({"random": self._rng.bit_generator.state, "losses": self.losses})) + "\n"

        def write(checkpoint: Path) -> None:
            save_arrays(checkpoint / "optimiser.npz", numbers)
            write_aside(checkpoint / "state.json", lambda aside: aside.write_text(state, encoding="utf-8"))

        save_keras(self.net, run.net_file(self.generation, ".keras"))
        run.count(self.generation, write, self.metrics[-1])

    def _take_over(self, run: GenerationsRun, done: int) -> None:
        """Go on where `_keep` left off."""
        file, variables = run.checkpoint(done) / "optimiser.npz", self._optimiser.variables
        wanted = {f"{k}": (variable.numpy().dtype, tuple(variable.shape)) for k, variable in enumerate(variables)}
        metrics = run.all_metrics(done)
        with run.remedy(done):
            random, losses = _state(run.checkpoint(done) / "state.json")
            numbers = load_arrays(file, sum(variable.numpy().nbytes for variable in variables))
            check_arrays(file, numbers, wanted)
            load_keras_weights(self.net, run.net_file(done, ".keras"))
        for k, variable in enumerate(variables):
            variable.assign(numbers[f"{k}"])
        self._rng.bit_generator.state = random
        self.metrics, self.losses = metrics, losses

    def of_generation(self, number: int, folder: str | Path) -> AfterstateNet:
        """The network as generation `number` left it in `folder`."""
        net = value_net(self.net.input_shape[1], self.filters)
        return AfterstateNet(self.game, load_keras_weights(net, GenerationsRun(folder).net_file(number, ".keras")))


def _state(file: Path) -> tuple[dict, list[float]]:
    """The state of the random numbers and the losses that a checkpoint holds."""
    try:
        content = unsealed(parsed(file.read_bytes().decode()))
        np.random.default_rng().bit_generator.state = content["random"]  # to see whether it is one
        return content["random"], [float(loss) for loss in content["losses"]]
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise AzlabError(f"{file} is damaged ({error}). Use another copy.") from None


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
