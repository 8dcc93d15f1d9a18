"""How fast the searches are: simulations a second in one thread, and how much of a search is the network."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from azlab.bench import Row
from azlab.bench.games import label
from azlab.games import game as find
from azlab.search import Search, Searcher, puct, uct
from azlab.search.evaluators import UniformEvaluator

UCT_GAMES: list[tuple[str, dict, int]] = [
    ("connect4", {}, 100_000),
    ("dots_and_boxes", {"rows": 3, "cols": 3}, 100_000),
    ("go", {"size": 9}, 10_000),
]
BATCH, SIMULATIONS = 256, 64


def best_rate(run: Callable[[], int], seconds: float) -> float:
    """Runs a second, the best of all that fit into `seconds` after a first one that compiles; `run` returns how many it made."""
    run()
    best = 0.0
    end = time.perf_counter() + seconds
    while best == 0 or time.perf_counter() < end:
        start = time.perf_counter()
        done = run()
        best = max(best, done / (time.perf_counter() - start))
    return best


def uct_rows(seconds: float) -> Iterator[Row]:
    """UCT from the start, one rollout a simulation."""
    for name, options, simulations in UCT_GAMES:
        start = find(name, **options).start()
        rate = best_rate(lambda start=start, n=simulations: uct(start, n).simulations, seconds)  # type: ignore[misc]
        yield Row("UCT from the start, one core", label(name, options), "azlab", rate, "simulations/s")


def puct_rows(seconds: float) -> Iterator[Row]:
    """PUCT with an evaluator that does nothing, so that only the search counts."""
    game = find("connect4")
    search = Searcher(game, BATCH, UniformEvaluator(), Search(), SIMULATIONS)
    states = game.new_states(BATCH)

    def batch() -> int:
        search.start(states)
        search.run()
        return BATCH * SIMULATIONS

    group = "PUCT with a null evaluator, Connect 4, one core"
    yield Row(group, f"{BATCH} games x {SIMULATIONS}", "azlab", best_rate(batch, seconds), "simulations/s")
    for leaves in (1, 16):

        def single(leaves: int = leaves) -> int:
            return puct(game.start(), UniformEvaluator(), budget=20_000, leaves=leaves).simulations  # type: ignore[union-attr]

        what = f"one position, {leaves} {'leaf' if leaves == 1 else 'leaves'} at a time"
        yield Row(group, what, "azlab", best_rate(single, seconds), "simulations/s")


def network_rows() -> Iterator[Row]:
    """The share of a search's wall time that is spent inside the network's forward call."""
    from azlab.nets import ResidualConfig, ResidualNet, TorchEvaluator

    game = find("connect4")
    net = ResidualNet(ResidualConfig.for_game(game, "single", blocks=3, filters=32, stem=32, head=8))
    evaluator, inside = TorchEvaluator(net, game, device="cpu", fast="no"), 0.0
    forward = evaluator.forward

    def timed(inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal inside
        begin = time.perf_counter()
        result = forward(inputs)
        inside += time.perf_counter() - begin
        return result

    evaluator.forward = timed  # type: ignore[method-assign]
    search = Searcher(game, BATCH, evaluator, Search(), SIMULATIONS)
    search.start(game.new_states(BATCH))
    search.run(8)
    inside, begin = 0.0, time.perf_counter()
    search.start(game.new_states(BATCH))
    search.run()
    wall = time.perf_counter() - begin
    group = "PUCT with a torch net of 3 blocks x 32 filters, Connect 4"
    what = f"{BATCH} games x {SIMULATIONS}"
    yield Row(group, f"{what}, speed", "azlab", BATCH * SIMULATIONS / wall, "simulations/s")
    yield Row(group, f"{what}, inside the forward call", "azlab", 100 * inside / wall, "% of the time")
