"""The source's positions: facts of its sets, training sets drawn from its million, and strong against weak labels.

A training set is drawn from the file of a million positions in one of four ways, many or one position a game, with the plies of
the file or with those of the hard test set. The source's two versions of its million differ in both at once.
"""

from collections.abc import Callable

import numpy as np

from azlab.errors import one_of
from azlab.games.connect4 import Connect4
from azlab.learning.position_sets import PositionSet, connect4_set
from azlab.nets.residual import ResidualConfig, ResidualNet, count_parameters, residual_net
from azlab.oracles.connect4_grading import grade
from azlab.repro.record import Recorder
from azlab_reproductions.s5_connect4.program import losses_as_draws

MILLION = "connect4/train_1m_hard.txt.gz"
TESTS = {name: f"connect4/{name}_test.txt.gz" for name in ("hard", "easy", "perfect")}
DRAWS = ("many", "one", "many_hard", "one_hard")  # positions of a game; the plies are the file's, or the hard set's
PLIES = 43


def data(record: Recorder, *, train: int, weak: int) -> None:
    """Facts of the networks and the data (sections 3.2.1 and 3.4): parameters, right moves, results, plies, games, weak labels.

    train: how many positions of the million are looked at, 0 for all
    weak: how many of the hard positions are solved for weak labels, 0 for all
    """
    game = Connect4()
    sizes = (5, 10, 20)
    counts = {str(blocks): count_parameters(residual_net(game, encoding="single", blocks=blocks)) for blocks in sizes}
    record("s5.net.parameters", counts)
    record("s5.net.bottleneck", count_parameters(ResidualNet(ResidualConfig.bottleneck(game))))
    sets = {name: connect4_set(file) for name, file in TESTS.items()} | {"train": connect4_set(MILLION, train or None)}
    known = {name: facts(positions) for name, positions in sets.items()}
    record.data("sets", known, digits=6)
    record.data("plies", {name: plies_of(positions).tolist() for name, positions in sets.items()})
    for name in ("hard", "easy", "train"):
        record(f"s5.data.{name}.correct", known[name]["correct"])
    record("s5.data.hard.random", 100 * known["hard"]["random"], note="exact, not one try at each position as the source's")
    record("s5.labels.wrong_share", 100 * known["train"]["mislabelled"])
    hard = sets["hard"]
    chosen = hard.take(np.sort(np.random.default_rng(0).permutation(hard.size)[:weak])) if weak else hard
    with record.progress("solving for weak labels") as report:
        holding = weak_moves(chosen, report)
    strong, mask = chosen.best(), chosen.game.legal_mask(chosen.states)
    numbers = {"strong": strong.sum(axis=1), "weak": holding.sum(axis=1)}
    shares = {f"random {name}": (count / mask.sum(axis=1)).mean() for name, count in numbers.items()}
    means = {name: count.mean() for name, count in numbers.items()}
    agree = bool((strong <= holding).all())  # else the file and our solver contradict each other
    record.data("labels", {"positions": chosen.size, **means, **shares, "strong is part of weak": agree})


def facts(positions: PositionSet) -> dict[str, float]:
    """What is counted of a set. Results are for the player to move."""
    results = np.where(positions.states["to_move"] == 0, positions.results, -positions.results)
    result = {name: float((results == value).mean()) for name, value in (("won", 1), ("lost", -1), ("drawn", 0))}
    return {
        "positions": positions.size,
        "games": len(np.unique(positions.games)),
        "ply": float(positions.states["ply"].mean()),
        "correct": float(positions.best().sum(axis=1).mean()),
        "random": float(random_chance(positions).mean()),
        **result,
        "mislabelled": float((losses_as_draws(positions) != positions.results).mean()),
    }


def random_chance(positions: PositionSet) -> np.ndarray:
    """How likely a random legal move is right, float64 [N]."""
    return positions.best().sum(axis=1) / positions.game.legal_mask(positions.states).sum(axis=1)


def plies_of(positions: PositionSet) -> np.ndarray:
    """How many positions there are of each ply, int64 [PLIES]."""
    return np.bincount(positions.states["ply"], minlength=PLIES)


def weak_moves(positions: PositionSet, progress: Callable[[int, int], None] | bool = False) -> np.ndarray:
    """All moves that keep the result, bool [N, 7]: a slow win is right too. By our solver, which keeps what it solved."""
    found = grade(positions.states, all_scores=True, progress=progress)
    assert found.scores is not None
    return np.sign(found.scores) == np.sign(found.values)[:, None]  # illegal moves are NaN, and equal nothing


# --- training sets ----------------------------------------------------------------------------------------------------


def drawn(positions: PositionSet, size: int, how: str, hard: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Row numbers of a training set of that size, drawn as one of DRAWS; `hard` counts the hard set's positions by ply, [PLIES].

    Many a game takes whole games, and to the hard set's plies those positions of its games that these need. There are too few
    positions of the first plies for that: what lacks is taken from the others, by the same shares.
    """
    one_of("how", how, DRAWS)
    size = min(size, positions.size)
    if how == "many":
        order = rng.permutation(int(positions.games.max()) + 1)[positions.games]  # each game's place in a random order
        return np.argsort(order, kind="stable")[:size]
    shares = (hard if how.endswith("_hard") else plies_of(positions)).astype(float)
    taken = np.zeros(positions.size, np.bool_)
    free = np.ones(positions.size, np.bool_)  # rows that may still be taken
    while (lacking := size - int(taken.sum())) and (room := free_by_ply(positions, free)).any():
        wanted = np.minimum(_whole(shares * (room > 0), lacking, rng), room)
        if not wanted.any():  # none of the plies that are wanted is left
            break
        (_take_one if how.startswith("one") else _take_many)(positions, wanted, taken, free, rng)
    return np.flatnonzero(taken)


def free_by_ply(positions: PositionSet, free: np.ndarray) -> np.ndarray:
    """How many rows may still be taken, int64 [PLIES]."""
    return np.bincount(positions.states["ply"][free], minlength=PLIES)


def _whole(shares: np.ndarray, total: int, rng: np.random.Generator) -> np.ndarray:
    """Whole numbers in proportion to the shares that add up to `total`; the fractions are drawn."""
    if not shares.any():
        return np.zeros(len(shares), np.int64)
    exact = total * shares / shares.sum()
    found = exact.astype(np.int64)
    if lacking := total - int(found.sum()):
        rest = exact - found
        found[rng.choice(len(shares), lacking, replace=False, p=rest / rest.sum())] += 1
    return found


def _take_one(positions: PositionSet, wanted: np.ndarray, taken: np.ndarray, free: np.ndarray, rng: np.random.Generator) -> None:
    """Take so many of each ply, the scarcest ply first, and never two of a game."""
    ply = positions.states["ply"]
    for at in _scarcest_first(wanted, free_by_ply(positions, free)):
        rows = rng.permutation(np.flatnonzero(free & (ply == at)))[: wanted[at]]
        taken[rows] = True
        free &= ~np.isin(positions.games, positions.games[rows])


def _take_many(positions: PositionSet, wanted: np.ndarray, taken: np.ndarray, free: np.ndarray, rng: np.random.Generator) -> None:
    """Take so many of each ply: all that is wanted of a game at once, games with positions of the scarcest ply first."""
    ply, left = positions.states["ply"], wanted.copy()
    starts = np.searchsorted(positions.games, np.arange(int(positions.games.max()) + 2))
    for at in _scarcest_first(wanted, free_by_ply(positions, free)):
        for row in rng.permutation(np.flatnonzero(free & (ply == at))):
            if not left[at]:
                break
            game = positions.games[row]
            own = np.arange(starts[game], starts[game + 1])
            own = own[free[own] & (left[ply[own]] > 0)]  # one of each ply at most, so `left` stays right
            taken[own], free[own] = True, False
            left[ply[own]] -= 1


def _scarcest_first(wanted: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Plies of which some are wanted, those of the fewest rows first."""
    plies = np.flatnonzero(wanted)
    return plies[np.argsort(room[plies], kind="stable")]
