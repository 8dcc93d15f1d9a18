"""Speed of self-play and training: the preset `connect4` with an untrained net, on all cores."""

import time
from collections.abc import Iterator

import numpy as np

from azlab.bench import Row
from azlab.learning.alphazero import new_learner
from azlab.learning.config import preset
from azlab.learning.selfplay import SelfPlay
from azlab.learning.window import no_examples
from azlab.machine import cores

POSITIONS = 6000  # collected for each figure; the trees and memories are warm after WARM
WARM = 2000
STEPS = 20


def rows() -> Iterator[Row]:
    """Moves of self-play a second, with and without a memory of evaluations and a second worker; training examples a second."""
    config = preset("connect4")
    game = config.rules()
    learner = new_learner(game, config.net, config.loss, 0)
    group = f"Self-play, Connect 4, {config.budget.simulations} simulations a move, {cores()} cores"
    for what, workers, cache in (
        ("one worker", 1, 0),
        ("a worker a core", cores(), 0),
        ("and a memory", cores(), config.selfplay.cache),
    ):
        settings = config.changed({"selfplay.workers": workers, "selfplay.cache": cache}).selfplay
        nets = [learner.evaluator(max(1, cores() // workers)) for _ in range(workers)]
        play = SelfPlay(game, nets, config.search, config.budget, config.explore, settings)
        play.play(WARM, [0])
        begin = time.perf_counter()
        found = play.play(POSITIONS, [1])
        yield Row(group, what, "azlab", found.moves / (time.perf_counter() - begin), "moves/s")
    batch = no_examples(game, config.training.batch)
    batch.states[:] = game.new_states(batch.size)
    batch.policy[:] = 1 / game.num_actions
    batch.result[:, 0] = 1
    rng = np.random.default_rng(0)
    for steps in (3, STEPS):  # the first few are for warming up
        begin = time.perf_counter()
        for _ in range(steps):
            learner.step(batch, 0.01, 0.9, rng)
        speed = steps * batch.size / (time.perf_counter() - begin)
    yield Row(f"Training, Connect 4, batches of {batch.size}", "preset connect4", "azlab", speed, "examples/s")
