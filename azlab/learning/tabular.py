"""Monte Carlo control on a table, for small games (Sutton and Barto, chapter 5).

One table Q serves both players: seat 0 picks the largest value of a legal move, seat 1 the smallest. After each game, every
(position, move) of it moves towards the result: Q += (G - Q) / N, N being how often that move was made there. Two settings make
players try moves: epsilon, the share of random moves, and an optimistic start, which lets untried moves look won.

Rows of the table are found by a hash of what a network would see and whose turn it is, or by another `key` kernel: of the board
alone, or of the situation, in which a table sees a pass and a ko. `discount` < 1 makes an early win worth more than a late one.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError, one_of
from azlab.files import load_arrays, save_arrays
from azlab.games.game import Game, Position
from azlab.games.kernel import kernel, mix, new_rng, random_below, random_unit, specialise
from azlab.intact import check_arrays

KEYS = ("planes", "board", "situation")


@kernel
def board_key(states, planes, keys):
    """A key for games with a `board` (Go, tic-tac-toe): the stones and whose turn it is; no ko."""
    for i in range(len(states)):
        key = mix(np.uint64(14695981039346656037), np.uint64(states[i].to_move))
        for stone in states[i].board.ravel():
            key = mix(key, np.uint64(stone + 1))
        keys[i] = key | np.uint64(1)


@kernel
def situation_key(states, planes, keys):
    """A key for Go with simple ko: the stones, whose turn it is, the ko point and whether the last move was a pass."""
    board_key(states, planes, keys)
    for i in range(len(states)):
        keys[i] = mix(keys[i], np.uint64(2 * states[i].ko + states[i].passes)) | np.uint64(1)


@kernel
def own_result(result, before):
    """What a finished game teaches: its result for seat 0. `before` is what the game before it taught."""
    return result


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


@kernel
def find_rows(keys, wanted, rows):
    """Write the row of each key in `wanted` into `rows`, -1 where there is none."""
    for i in range(len(wanted)):
        row = find_row(keys, wanted[i])
        rows[i] = row if keys[row] == wanted[i] else -1


class MonteCarloControl:
    """A table and its training. `q` [rows, A] holds values for seat 0, `counts` [rows, A] how often each was updated.

    epsilon: share of random moves
    optimistic: untried moves look like a win for whoever is to move, else like a draw
    key: "planes"; "board" for games with a board, seen without its history; "situation" for Go: the board, the ko point and
        whether the opponent has just passed
    discount: what a result is worth one move earlier
    taught: a kernel that says what a game teaches, by its result and what the game before taught; see `own_result`
    """

    def __init__(
        self,
        game: Game,
        epsilon: float = 0.2,
        optimistic: bool = False,
        key: str = "planes",
        seed: int = 0,
        discount: float = 1.0,
        taught: Callable[..., Any] = own_result,
    ):
        one_of("key", key, KEYS)
        if not 0 <= epsilon <= 1:
            raise AzlabError(f"epsilon is a share and must lie between 0 and 1, not {epsilon}.")
        if not 0 < discount <= 1:
            raise AzlabError(f"discount must be above 0 and at most 1, not {discount}.")
        for field in {"planes": (), "board": ("board",), "situation": ("board", "ko", "passes")}[key]:
            if field not in (game.dtype.names or ()):
                raise AzlabError(f"{game.name} has no field `{field}`; use key='planes'.")
        self.game, self.epsilon, self.optimistic, self.key = game, float(epsilon), optimistic, key
        self.discount, self.taught, self.seed = float(discount), taught, seed
        self.games = 0  # played so far
        self.rows = 0  # in use
        self.results = np.zeros(3, np.int64)  # games lost, drawn, won by seat 0
        self._rng = new_rng(seed, 1)
        self._previous = np.zeros(1)
        own = {"board": board_key, "situation": situation_key}
        self._key_of = own[key] if key in own else specialise(_planes_key, encode=game.kernels.encode)
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
        rules = {"play": game.kernels.play, "legal_moves": game.kernels.legal}
        loop = specialise(_loop, **rules, key_of=self._key_of, taught_by=self.taught)
        start, state = game.new_states(1), game.new_states(1)
        legal = np.zeros((1, game.num_actions), np.bool_)
        planes = np.zeros((1, *game.planes_shape), np.float32)
        path = np.zeros((game.max_length + 1, 2), np.int64)
        in_use = np.array([self.rows])
        while games > 0:
            done = loop(
                games, start, state, legal, planes, path, self._rng, self.epsilon, self.optimistic,
                self.discount, self.keys, self.seats, self.q, self.counts, in_use, self.results, self._previous,
            )  # fmt: skip
            games -= done
            self.games += done
            self.rows = int(in_use[0])
            if games > 0:
                self._grow()

    def keys_of(self, states: np.ndarray) -> np.ndarray:
        """What the table knows states [B] by, uint64 [B]; states with the same key share a row."""
        keys = np.zeros(len(states), np.uint64)
        self._key_of(states, np.zeros((len(states), *self.game.planes_shape), np.float32), keys)
        return keys

    def find(self, states: np.ndarray) -> np.ndarray:
        """The rows of states [B], -1 where the table has none."""
        rows = np.zeros(len(states), np.int64)
        find_rows(self.keys, self.keys_of(states), rows)
        return rows

    def row(self, position: Position) -> int | None:
        """The row of a position, None if it was never met."""
        row = int(self.find(position.state)[0])
        return row if row >= 0 else None

    def look_up(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the table holds on states [B]: values [B, A] for seat 0, and how often each was updated [B, A].

        A state that was never met has the values with which its row would begin.
        """
        rows = self.find(states)
        start = (1.0 - 2.0 * states["to_move"]) if self.optimistic else np.zeros(len(states))
        met = (rows >= 0)[:, None]
        return np.where(met, self.q[rows], start[:, None]), np.where(met, self.counts[rows], 0)

    def greedy_actions(self, states: np.ndarray, legal: np.ndarray | None = None) -> np.ndarray:
        """The greedy action of each state [B], the first of equals; none is over. Give `legal` [B, A] if you have it."""
        for_mover = self.look_up(states)[0] * (1.0 - 2.0 * states["to_move"])[:, None]
        return np.where(self.game.legal_mask(states) if legal is None else legal, for_mover, -np.inf).argmax(axis=1)

    def values(self, position: Position) -> dict[str, float]:
        """The learned value of each legal move for seat 0, by name; NaN where the move was never made."""
        row = self.row(position)
        if row is None:
            return dict.fromkeys(position.legal_moves, float("nan"))
        known = np.where(self.counts[row] > 0, self.q[row], np.nan)
        return {self.game.move_name(action): float(known[action]) for action in position.legal_actions}

    def best_action(self, position: Position) -> int:
        """The greedy move; the first of equals, and of a position never met."""
        return int(self.greedy_actions(position.state)[0])

    def save(self, file: str | Path) -> None:
        """Write the table as .npz; an older file stays good until the new one is complete."""
        used = np.flatnonzero(self.keys)
        table = {name: getattr(self, name)[used] for name in ("keys", "seats", "q", "counts")}
        save_arrays(Path(file), table | self._more() | {"games": np.int64(self.games)})

    def _more(self) -> dict[str, np.ndarray]:
        """What is kept beside the table, to go on learning."""
        return {"rng": self._rng, "results": self.results, "previous": self._previous}

    def load(self, file: str | Path) -> None:
        """Read what `save` wrote for the same game; go on learning from there."""
        stored = load_arrays(Path(file))
        q = stored.get("q", np.zeros((0, 0)))
        if q.ndim == 2 and len(q) and q.shape[1] != self.game.num_actions:
            raise AzlabError(f"{file} is the table of another game: it has {q.shape[1]} actions.")
        moves = "rows", self.game.num_actions
        wanted: dict[str, tuple[Any, tuple]] = {
            "keys": (np.uint64, ("rows",)),
            "seats": (np.int8, ("rows",)),
            "q": (np.float64, moves),
        }
        wanted |= {"counts": (np.int32, moves), "games": (np.int64, ())}
        wanted |= {name: (array.dtype, array.shape) for name, array in self._more().items()}
        check_arrays(file, stored, wanted)
        keys, seats = stored["keys"], stored["seats"]
        if (
            not keys.all()
            or len(np.unique(keys)) != len(keys)
            or ((seats != 0) & (seats != 1)).any()
            or stored["games"] < 0
            or not np.isfinite(stored["q"]).all()
        ):
            raise AzlabError(f"{file} is damaged: its rows are no table. Use another copy.")
        self._allocate(max(1 << 10, 1 << (2 * len(stored["keys"]) - 1).bit_length()))
        for k, key in enumerate(stored["keys"]):
            row = find_row(self.keys, key)
            self.keys[row], self.seats[row] = key, stored["seats"][k]
            self.q[row], self.counts[row] = stored["q"][k], stored["counts"][k]
        self.rows, self.games = len(keys), int(stored["games"])
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
def learn(path, length, result, discount, q, counts):
    """Move every (row, action) of a game towards its result, which is worth less the longer it takes from there."""
    for turn in range(length - 1, -1, -1):
        row, action = path[turn, 0], path[turn, 1]
        counts[row, action] += 1
        q[row, action] += (result - q[row, action]) / counts[row, action]
        result *= discount


@kernel
def new_row(keys, seats, q, row, key, seat, optimistic):
    """Begin a row with the values of untried moves."""
    keys[row], seats[row] = key, seat
    q[row, :] = (1.0 - 2.0 * seat) if optimistic else 0.0


play: Any = None  # these stand for the game's kernels; `specialise` fills them in
legal_moves: Any = None
encode: Any = None
key_of: Any = None
taught_by: Any = None


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
    discount,
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
        results[state[0].result + 1] += 1
        result = taught_by(np.float64(state[0].result), previous[0])
        previous[0] = result
        learn(path, turn, result, discount, q, counts)
    return games
