"""How fast the Connect 4 solvers grade positions of the hard test set, one process, if the data set is here."""

import time
from collections.abc import Iterator

import numpy as np

from azlab.bench import Row
from azlab.formats import datasets
from azlab.games import game as find
from azlab.machine import installed_version
from azlab.oracles.connect4 import Connect4Oracle

SAMPLE = 100  # every hundredth position of 10,000
GROUP = f"Connect 4 solver, {SAMPLE} positions of the hard test set, one core"


def rows() -> Iterator[Row]:
    """Positions a second of our solver and of BitBully, on the same positions."""
    game = find("connect4")
    try:
        lines = list(datasets.connect4_positions("connect4/hard_test.txt.gz"))[:: 10_000 // SAMPLE]
    except datasets.MissingData:
        yield Row(GROUP, "needs connect4/hard_test.txt.gz", "azlab", float("nan"), "see `azlab data`")
        return
    states = np.concatenate([game.from_moves(line.moves).state for line in lines])
    engines = ["azlab", *(["bitbully"] if installed_version("bitbully") else [])]
    for engine in engines:
        oracle = Connect4Oracle(game, engine)  # type: ignore[arg-type]
        oracle.action_scores(game.from_moves("12345671234567123456").state)  # compile
        for what, ask in (("best moves", oracle.best_actions), ("all scores", oracle.action_scores)):
            oracle = Connect4Oracle(game, engine)  # type: ignore[arg-type]
            ask = getattr(oracle, ask.__name__)  # a fresh engine: nothing is known from the row before
            begin = time.perf_counter()
            ask(states)
            yield Row(GROUP, what, engine, len(states) / (time.perf_counter() - begin), "positions/s")
