"""How fast the rules are: random playouts from the start in one thread, and the time until a game can be used."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from azlab.bench import Row
from azlab.games import game as find
from azlab.games.game import NO_TRACE, Game
from azlab.games.kernel import new_rng

GAMES: list[tuple[str, dict]] = [
    ("tictactoe", {}),
    ("connect4", {}),
    ("dots_and_boxes", {"rows": 3, "cols": 3}),
    ("seega", {"size": 5}),
    ("simple_go", {"size": 5}),
    ("go", {"size": 9}),
    ("go", {"size": 19}),
    ("go", {"size": 9, "ko": "positional"}),
]


def label(name: str, options: dict) -> str:
    """A game as it stands in the table, e.g. "go size=9 ko=positional"."""
    return " ".join([name, *(f"{key}={value}" for key, value in options.items())])


def moves_per_second(game: Game, seconds: float) -> float:
    """Moves a second of random playouts, the best of the batches that fit into `seconds` (others disturb the rest)."""
    game.playout(game.new_states(1))  # compile or load
    batch = 64
    best = 0.0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        states, rng = game.new_states(batch), new_rng(batch, batch)
        start = time.perf_counter()
        game.kernels.playout(states, rng, NO_TRACE)
        spent = time.perf_counter() - start
        best = max(best, float(states["ply"].sum()) / spent)
        if spent < 0.02:  # too short to time well
            batch *= 2
    return best


def playouts(seconds: float) -> Iterator[Row]:
    """Moves a second of each game."""
    for name, options in GAMES:
        speed = moves_per_second(find(name, **options), seconds)
        yield Row("random playouts, one core", label(name, options), "azlab", speed, "moves/s")


FIRST_USE = """
import sys, time
import azlab.games.{name}
start = time.perf_counter()
game = azlab.game("{name}", **{options!r})
position = game.start()
position = position.play(position.legal_actions[0])
game.encode(position.state), game.playout(position.state), position.scores
print(time.perf_counter() - start)
"""


def first_use() -> Iterator[Row]:
    """Seconds until a game can be used: in the first process (compiled) and in the second (from the disk cache)."""
    for name, options in GAMES:
        with tempfile.TemporaryDirectory() as cache:
            for what in ("compiled", "from the disk cache"):
                done = subprocess.run(
                    [sys.executable, "-c", FIRST_USE.format(name=name, options=options)],
                    env={**os.environ, "NUMBA_CACHE_DIR": cache},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                yield Row("first use", f"{label(name, options)}, {what}", "azlab", float(done.stdout), "s")
