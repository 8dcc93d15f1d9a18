"""How good is a network? Measured on positions whose best moves are known, and in matches.

MCTS accuracy: a search without noise takes the most visited move, and is right if a perfect player
could have taken it. Network accuracy asks the policy alone.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from azlab.errors import AzlabError
from azlab.games.count import children, distinct
from azlab.games.game import Game
from azlab.search.config import Budget, Search
from azlab.search.puct import Searcher

BATCH = 256  # positions searched at once
MOST_REACHABLE = 1_000_000
UNKNOWN = 2  # stands for a result that nobody knows


class Graded(NamedTuple):
    """N positions and what perfect play says of them."""

    states: np.ndarray  # records [N]
    best: np.ndarray  # bool [N, A]: the moves a perfect player may take
    holding: np.ndarray  # bool [N, A]: the moves that keep the result, if not the margin or the speed
    results: np.ndarray  # int8 [N]: under perfect play, for seat 0; UNKNOWN ones are not asked for
    lost: np.ndarray  # float32 [N, A]: what each legal move gives away, in the oracle's points; [N, 0] where nobody knows

    def take(self, rows: np.ndarray | slice) -> "Graded":
        """Some of the positions."""
        return Graded(*(part[rows] for part in self))


def graded(game: Game, source: str, count: int = 0, seed: int = 0) -> Graded:
    """Positions to test on: "reachable", all of them that are not over; "random", from random games; or a data set's name.

    `count` takes so many of them (0: all; "random" needs a number).
    """
    if source == "random":
        if count < 1:
            raise AzlabError("Say how many random positions to test on.")
        return graded_by_oracle(game, _random_states(game, count, np.random.default_rng(seed)))
    found = graded_by_oracle(game, _reachable_states(game)) if source == "reachable" else _from_data(game, source)
    return sample(found, count, seed)


def sample(test: Graded, count: int, seed: int = 0) -> Graded:
    """`count` of the positions, in their order; 0 for all."""
    if not 0 < count < len(test.states):
        return test
    return test.take(np.sort(np.random.default_rng(seed).permutation(len(test.states))[:count]))


def graded_by_oracle(game: Game, states: np.ndarray) -> Graded:
    """Any positions that are not over, judged by the game's oracle."""
    from azlab.oracles import oracle
    from azlab.oracles.oracle import losses

    perfect = oracle(game)
    scores = perfect.action_scores(states)
    results = np.sign(perfect.values(states)).astype(np.int8)
    lost = losses(scores, states["to_move"])
    return Graded(states, lost == 0, np.sign(scores) == results[:, None], results, np.nan_to_num(lost).astype(np.float32))


def _reachable_states(game: Game) -> np.ndarray:
    level, found, total = game.new_states(1), [], 0
    while len(level):
        found.append(level)
        total += len(level)
        if total > MOST_REACHABLE:
            raise AzlabError(f"{game!r} has more than {MOST_REACHABLE:,} positions; test on 'random' ones.")
        following = children(game, level)[0]
        level = distinct(following[~following["over"]])[0]
    return np.concatenate(found)


def _random_states(game: Game, count: int, rng: np.random.Generator) -> np.ndarray:
    """One position of each of `count` random games, after a number of moves drawn from the game's length."""
    played = game.playout(game.new_states(count), int(rng.integers(2**62)))
    left = (rng.random(count) * played["ply"]).astype(np.int64)
    states = game.new_states(count)
    while (left > 0).any():
        rows = np.flatnonzero(left > 0)
        moved = states[rows]
        game.kernels.play(moved, game.random_actions(moved, rng))
        is_over = moved["over"]
        states[rows[~is_over]] = moved[~is_over]
        left[rows] = np.where(is_over, 0, left[rows] - 1)
    return states


def _from_data(game: Game, name: str) -> Graded:
    from azlab.games.connect4 import Connect4
    from azlab.learning.position_sets import connect4_set

    if game != Connect4():
        raise AzlabError(f"The data set {name} is for Connect 4 on 6x7; test {game!r} on 'random' or 'reachable' positions.")
    return connect4_set(name).graded()


def network_accuracy(evaluator: Any, test: Graded) -> dict[str, float]:
    """Shares of best moves and of right results that the network gives without any search."""
    return accuracy_of(evaluator.evaluate(test.states, evaluator.game.legal_mask(test.states)), test)


def accuracy_of(answers: tuple[np.ndarray, ...], test: Graded) -> dict[str, float]:
    """The same for what an evaluator has answered: priors [N, A], values [N] and perhaps chances of a draw [N]."""
    moves, results = choices(answers)
    found = test.best[np.arange(len(moves)), moves].mean()
    is_right = (results == test.results)[test.results != UNKNOWN]
    return {"network_accuracy": float(found), "result_accuracy": float(is_right.mean()) if len(is_right) else 0.0}


def choices(answers: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """What an evaluator thinks best and likeliest: moves [N], and results for seat 0 [N], -1, 0 or 1."""
    priors, values, *draws = answers
    draw = draws[0] if draws else 1 - np.abs(values)
    chances = np.stack([(1 - draw - values) / 2, draw, (1 - draw + values) / 2], axis=1)  # of -1, 0, +1 for seat 0
    return priors.argmax(axis=1), chances.argmax(axis=1) - 1


def search_moves(
    evaluators: Sequence[Any],
    states: np.ndarray,
    search: Search,
    budget: Budget | int,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    searcher: type[Searcher] = Searcher,
) -> np.ndarray:
    """The most visited move of each state, chance deciding among equals, int64 [N]; one thread for each evaluator."""
    game, stop = evaluators[0].game, Event()

    def moves_of(evaluator: Any, rows: np.ndarray) -> np.ndarray:
        moves = np.empty(len(rows), np.int64)
        for start in range(0, len(rows), BATCH):
            if stop.is_set():
                break
            part = rows[start : start + BATCH]
            found = searcher(game, len(part), evaluator, search, budget, seed=int(part[0]))
            found.start(states[part])
            found.run()
            rng = np.random.default_rng([seed, int(part[0])])
            for g in range(len(part)):
                visits = found.root_visits(g)
                moves[start + g] = (
                    found.choose(g, 0) if search.gumbel or search.solve else rng.choice(np.flatnonzero(visits == visits.max()))
                )
            if progress is not None:
                progress(len(part))
        return moves

    chosen = np.empty(len(states), np.int64)
    with ThreadPoolExecutor(len(evaluators)) as pool:
        parts = np.array_split(np.arange(len(states)), len(evaluators))
        futures = [pool.submit(moves_of, evaluator, part) for evaluator, part in zip(evaluators, parts, strict=True)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()  # where one failed or Ctrl-C came, the others need not go on
        for future, part in zip(futures, parts, strict=True):
            chosen[part] = future.result()
    return chosen


def search_accuracy(
    evaluators: Sequence[Any],
    test: Graded,
    search: Search,
    budget: Budget | int,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    searcher: type[Searcher] = Searcher,
) -> dict[str, float]:
    """MCTS accuracy, the share of moves that keep the result, and where it is known what a move gives away in the mean."""
    moves = search_moves(evaluators, test.states, search, budget, seed, progress, searcher)
    rows = np.arange(len(moves))
    found = {"mcts_accuracy": float(test.best[rows, moves].mean()), "holding_accuracy": float(test.holding[rows, moves].mean())}
    return found | ({"mean_loss": float(test.lost[rows, moves].mean())} if test.lost.shape[1] else {})


def own_positions(
    evaluators: Sequence[Any], search: Search, budget: Budget | int, games: int, random_plies: int = 0, seed: int = 0
) -> np.ndarray:
    """The positions met in `games` games that the evaluators' searches play against themselves: an array of records.

    Up to `random_plies` random moves open each game and are not counted; afterwards the best move is played, chance deciding
    among equals.
    """
    return own_games(evaluators, search, budget, games, random_plies, seed)[0]


def own_games(
    evaluators: Sequence[Any],
    search: Search,
    budget: Budget | int,
    games: int,
    random_plies: int = 0,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[np.ndarray, np.ndarray]:
    """The positions of `own_positions`, and the ends of its games, [games]; progress is told (games finished, in all)."""
    game, rng = evaluators[0].game, np.random.default_rng(seed)
    states, left = game.new_states(games), rng.integers(0, random_plies + 1, games)
    met, ends, numbers = [], game.new_states(games), np.arange(games)
    while len(states):
        is_random = left > 0
        actions = np.empty(len(states), np.int64)
        if is_random.any():
            actions[is_random] = game.random_actions(states[is_random], rng)
        if not is_random.all():
            met.append(states[~is_random].copy())
            actions[~is_random] = search_moves(evaluators, states[~is_random], search, budget, int(rng.integers(2**31)))
        game.kernels.play(states, actions)
        going = ~states["over"]
        ends[numbers[~going]] = states[~going]
        states, left, numbers = states[going], left[going] - 1, numbers[going]
        progress(games - len(states), games)
    return np.concatenate(met), ends
