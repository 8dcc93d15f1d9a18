"""How fast can self-play be, and what bounds the speed of a network on a processor?"""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import azlab
from azlab.learning.evaluation import graded
from azlab.learning.selfplay import SelfPlay, SelfPlayConfig
from azlab.machine import cores
from azlab.nets import KerasEvaluator
from azlab.nets.keras_nets import dots_and_boxes_net
from azlab.repro.record import Recorder
from azlab.search import Explore, Search, Searcher
from azlab_reproductions.s3_dots_and_boxes.plain_search import plain_search

LAYERS = (1024, 1024, 1024, 512)  # of the source's network
BATCHES = (1, 4, 16, 32, 64, 128, 256)


def speed(record: Recorder, *, games: int, simulations: int, seconds: float) -> None:
    """Seconds of a game with the source's network, and evaluations a second against two bounds (S3, tables 5.1 and 5.2).

    games: self-play games that are timed
    simulations: a move
    seconds: how long each rate is tried; the best counts, for other programs may be running
    """
    boxes = azlab.game("dots_and_boxes")
    net = dots_and_boxes_net(LAYERS, dropout=0.0)
    evaluator, formula = KerasEvaluator(net, boxes, "lines"), Search(cpuct=1.0, cpuct_base=0.0)
    with record.progress("a game by the plain search") as report:
        plain = _plain_game(boxes, net, simulations, report)
    together = SelfPlayConfig(games=min(256, games), workers=1)
    play = SelfPlay(boxes, [evaluator], formula, simulations, Explore(temperature=((0, 1.0),)), together)
    begin = time.perf_counter()
    found = play.play(24 * games, [record.seed])
    ours = (time.perf_counter() - begin) / found.games
    record.data("seconds a game", {"plain search": plain, "self-play": ours, "simulations": simulations})

    search = Searcher(boxes, together.games, evaluator, formula, simulations, seed=record.seed)
    begin = time.perf_counter()
    search.start(boxes.new_states(together.games))
    search.run()
    whole, parts = time.perf_counter() - begin, search.seconds
    shares = {"network": parts["evaluator"] / whole, "search": parts["search"] / whole, "Python": 1 - sum(parts.values()) / whole}
    record.data("shares of a search", shares)
    record.data("network in self-play", found.network_seconds / found.seconds)

    weights = sum(a * b for a, b in pairwise((28, *LAYERS, 29)))
    record.data("bounds", {"weights": weights, **bounds(weights, seconds)})
    inputs = graded(boxes, "random", BATCHES[-1], record.seed).states["lines"].astype(np.float32)
    ways = {"azlab": evaluator, "TensorFlow": KerasEvaluator(net, boxes, "lines", fast="no")}
    speeds = {name: [evaluations(one, inputs[:batch], seconds) for batch in BATCHES] for name, one in ways.items()}
    record.data("evaluations a second", {"batches": BATCHES, **speeds})


def _plain_game(boxes: Any, net: Any, simulations: int, report: Callable) -> float:
    """Seconds of one game by the plain search."""
    begin, position = time.perf_counter(), boxes.start()
    while not position.over:
        position = position.play(plain_search(position, net, simulations))
        report(position.ply, 24)
    return time.perf_counter() - begin


def rate(call: Callable, amount: float, seconds: float) -> float:
    """The largest amount a second that `call` reached, tried for so long."""
    call()
    best, end = 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        best = max(best, amount / (time.perf_counter() - begin))
    return best


def evaluations(evaluator: Any, inputs: np.ndarray, seconds: float) -> float:
    """Evaluations a second of a batch."""
    return rate(lambda: evaluator.forward(inputs), len(inputs), seconds)


def bounds(weights: int, seconds: float) -> dict[str, float]:
    """How fast this machine multiplies large matrices, and reads an array of the weights' size."""
    square, tall = np.ones((1024, 1024), np.float32), np.ones((weights // 1024, 1024), np.float32)
    vector = tall[0].copy()
    with threadpool_limits(cores()):  # NumPy on all cores; the evaluator has switched that off, its threads share the batch
        flops = rate(lambda: square @ square, 2 * 1024**3, seconds)
        return {"operations a second": flops, "bytes a second": rate(lambda: tall @ vector, 4 * weights, seconds)}
