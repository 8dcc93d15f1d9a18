"""Monte Carlo control on a table, for small games (source S2, chapter 6: 2x2 and 3x3 Go).

One table Q serves both players: seat 0 picks the largest value of a legal move, seat 1 the smallest. After each game, every
(position, move) of it moves towards the result: Q += (G - Q) / N, N being how often that move was made there. Two settings make
players try moves: epsilon, the share of random moves, and an optimistic start, which lets untried moves look won.

Rows of the table are found by a hash of what a network would see and whose turn it is, or by another `key` kernel.
"""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError, one_of
from azlab.games.game import Game, Position
from azlab.games.kernel import kernel, mix, new_rng, random_below, random_unit, specialise

TIES = ("zero", "previous")


@kernel
def board_key(states, planes, keys):
    """A key for games with a `board` (Go, tic-tac-toe): the stones and whose turn it is, as source S2 has it; no ko."""
    for i in range(len(states)):
        key = mix(np.uint64(14695981039346656037), np.uint64(states[i].to_move))
        for stone in states[i].board.ravel():
            key = mix(key, np.uint64(stone + 1))
        keys[i] = key | np.uint64(1)


def _planes_key(states, planes, keys):
    """A key made of what a network sees and whose turn it is; `planes` is scratch memory. A template: see `specialise`."""
    encode(states, planes)
    for i in range(len(states)):
        key = mix(np.uint64(14695981039346656037), np.uint64(states[i].to_move))
        for cell in planes[i].ravel():
            key = mix(key, np.uint64(np.int64(1000 * cell) + 100_000))
        keys[i] = key | np.uint64(1)


@kernel
def find_row(keys, key):
    """The row of `key`, or the empty row where it belongs (open addressing; 0 marks an empty row)."""
    row = np.int64((key >> np.uint64(7)) & np.uint64(len(keys) - 1))
    while keys[row] != key and keys[row] != 0:
        row = (row + 1) & (len(keys) - 1)
    return row


class MonteCarloControl:
    """A table and its training. `q` [rows, A] holds values for seat 0, `counts` [rows, A] how often each was updated.

    epsilon: share of random moves
    optimistic: untried moves look like a win for whoever is to move, else like a draw
    ties: what a drawn game teaches: "zero", or "previous" for the mistake of source S2, the result of the game before
    key: "planes", or "board" for games with a board and without hidden history (the key of source S2)
    """

    def __init__(
        self, game: Game, epsilon: float = 0.2, optimistic: bool = False, ties: str = "zero", key: str = "planes", seed: int = 0
    ):
        one_of("ties", ties, TIES)
        one_of("key", key, ("planes", "board"))
        if not 0 <= epsilon <= 1:
            raise AzlabError(f"epsilon is a share and must lie between 0 and 1, not {epsilon}.")
        if key == "board" and (game.dtype.names is None or "board" not in game.dtype.names):
            raise AzlabError(f"{game.name} has no field `board`; use key='planes'.")
        self.game, self.epsilon, self.optimistic, self.ties, self.key = game, float(epsilon), optimistic, ties, key
        self.games = 0  # played so far
        self.rows = 0  # in use
        self.results = np.zeros(3, np.int64)  # games lost, drawn, won by seat 0
        self._rng = new_rng(seed, 1)
        self._previous = np.zeros(1)
        self._key_of = board_key if key == "board" else specialise(_planes_key, encode=game.kernels.encode)
        self._allocate(1 << 10)

    def _allocate(self, rows: int) -> None:
        self.keys = np.zeros(rows, np.uint64)
        self.seats = np.zeros(rows, np.int8)
        self.q = np.zeros((rows, self.game.num_actions))
        self.counts = np.zeros((rows, self.game.num_actions), np.int32)

    def _grow(self) -> None:
        """Double the table and put every row in its new place."""
        keys, seats, q, counts = self.keys, self.seats, self.q, self.counts
        self._allocate(2 * len(keys))
        for old in np.flatnonzero(keys):
            row = find_row(self.keys, keys[old])
            self.keys[row], self.seats[row], self.q[row], self.counts[row] = keys[old], seats[old], q[old], counts[old]

    def run(self, games: int) -> None:
        """Play and learn from so many games."""
        if games < 0:
            raise AzlabError(f"The number of games must not be negative, not {games}.")
        game = self.game
        loop = specialise(_loop, play=game.kernels.play, legal_moves=game.kernels.legal, key_of=self._key_of)
        start, state = game.new_states(1), game.new_states(1)
        legal = np.zeros((1, game.num_actions), np.bool_)
        planes = np.zeros((1, *game.planes_shape), np.float32)
        path = np.zeros((game.max_length + 1, 2), np.int64)
        in_use = np.array([self.rows])
        while games > 0:
            done = loop(
                games, start, state, legal, planes, path, self._rng, self.epsilon, self.optimistic, self.ties == "previous",
                self.keys, self.seats, self.q, self.counts, in_use, self.results, self._previous,
            )  # fmt: skip
            games -= done
            self.games += done
            self.rows = int(in_use[0])
            if games > 0:
                self._grow()

    def row(self, position: Position) -> int | None:
        """The row of a position, None if it was never met."""
        key = np.zeros(1, np.uint64)
        self._key_of(position.state, np.zeros((1, *self.game.planes_shape), np.float32), key)
        row = find_row(self.keys, key[0])
        return int(row) if self.keys[row] == key[0] else None

    def values(self, position: Position) -> dict[str, float]:
        """The learned value of each legal move for seat 0, by name; NaN where the move was never made."""
        row = self.row(position)
        if row is None:
            return dict.fromkeys(position.legal_moves, float("nan"))
        known = np.where(self.counts[row] > 0, self.q[row], np.nan)
        return {self.game.move_name(action): float(known[action]) for action in position.legal_actions}

    def best_action(self, position: Position) -> int:
        """The greedy move; the first of equals, and of a position never met."""
        legal, row = position.legal_actions, self.row(position)
        if row is None:
            return legal[0]
        values = self.q[row, legal]
        return legal[int(np.argmax(values) if position.to_move == 0 else np.argmin(values))]

    def save(self, file: str | Path) -> None:
        """Write the table as .npz, aside first, so that an older file stays good until the new one is complete."""
        file = Path(file)
        aside = file.with_name(file.name + ".part")
        used = np.flatnonzero(self.keys)
        with open(aside, "wb") as out:
            np.savez_compressed(
                out, keys=self.keys[used], seats=self.seats[used], q=self.q[used], counts=self.counts[used], rng=self._rng,
                results=self.results, previous=self._previous, games=self.games,
            )  # fmt: skip
        aside.replace(file)

    def load(self, file: str | Path) -> None:
        """Read what `save` wrote for the same game; go on learning from there."""
        try:
            with np.load(file, allow_pickle=False) as data:
                stored = {name: data[name] for name in data.files}
            if stored["q"].shape[1] != self.game.num_actions:
                raise AzlabError(f"{file} is the table of another game: it has {stored['q'].shape[1]} actions.")
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            if isinstance(error, AzlabError):
                raise
            raise AzlabError(f"{file} is not a table that can be read: {error}.") from error
        self._allocate(max(1 << 10, 1 << (2 * len(stored["keys"]) - 1).bit_length()))
        for k, key in enumerate(stored["keys"]):
            row = find_row(self.keys, key)
            self.keys[row], self.seats[row] = key, stored["seats"][k]
            self.q[row], self.counts[row] = stored["q"][k], stored["counts"][k]
        self.rows, self.games = len(stored["keys"]), int(stored["games"])
        self._rng, self.results, self._previous = stored["rng"], stored["results"], stored["previous"]


class TableAgent:
    """Plays the greedy moves of a table."""

    def __init__(self, table: MonteCarloControl, name: str = "table") -> None:
        self.table, self.name = table, name

    def choose(self, position: Position) -> int:
        return self.table.best_action(position)


@kernel
def choose_by_table(legal, values, seat, epsilon, rng):
    """A random legal move with chance epsilon, else the best for `seat`; equals are drawn at random."""
    is_random = random_unit(rng, 0) < epsilon
    best, seen = -1, 0
    for action in range(legal.shape[1]):
        if not legal[0, action]:
            continue
        if is_random or best < 0 or values[action] == values[best]:
            seen += 1
            if random_below(rng, 0, seen) == 0:
                best = action
        elif (values[action] > values[best]) == (seat == 0):
            best, seen = action, 1
    return best


@kernel
def learn(path, length, result, q, counts):
    """Move every (row, action) of a game towards its result."""
    for turn in range(length):
        row, action = path[turn, 0], path[turn, 1]
        counts[row, action] += 1
        q[row, action] += (result - q[row, action]) / counts[row, action]


@kernel
def new_row(keys, seats, q, row, key, seat, optimistic):
    """Begin a row with the values of untried moves."""
    keys[row], seats[row] = key, seat
    q[row, :] = (1.0 - 2.0 * seat) if optimistic else 0.0


play: Any = None  # these stand for the game's kernels; `specialise` fills them in
legal_moves: Any = None
encode: Any = None
key_of: Any = None


def _loop(
    games,
    start,
    state,
    legal,
    planes,
    path,
    rng,
    epsilon,
    optimistic,
    repeat_ties,
    keys,
    seats,
    q,
    counts,
    in_use,
    results,
    previous,
):
    """Play up to `games` games; return how many. Stops early when the table is three quarters full."""
    found = np.zeros(1, np.uint64)
    action = np.zeros(1, np.int64)
    for done in range(games):
        if 4 * in_use[0] > 3 * len(keys) - 4 * len(path):
            return done
        state[0] = start[0]
        turn = 0
        while not state[0].over:
            key_of(state, planes, found)
            row = find_row(keys, found[0])
            if keys[row] == 0:
                new_row(keys, seats, q, row, found[0], state[0].to_move, optimistic)
                in_use[0] += 1
            legal_moves(state, legal)
            action[0] = choose_by_table(legal, q[row], state[0].to_move, epsilon, rng)
            path[turn, 0], path[turn, 1] = row, action[0]
            turn += 1
            play(state, action)
        result = np.float64(state[0].result)
        results[state[0].result + 1] += 1
        if result == 0 and repeat_ties:
            result = previous[0]
        previous[0] = result
        learn(path, turn, result, q, counts)
    return games
