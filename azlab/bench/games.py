"""How fast the rules are: random playouts from the start in one thread, and the time until a game can be used."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from azlab.bench import Row, easy_games
from azlab.games import game as find
from azlab.games import go
from azlab.games.game import NO_TRACE, Game
from azlab.games.kernel import new_rng
from azlab.search import uct

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
    return moves_in_turns([game], seconds)[0]


def moves_in_turns(games: list[Game], seconds: float) -> list[float]:
    """`moves_per_second` of several games, a batch of each in turn, so that what disturbs one disturbs all.

    Time of the processor counts, not of the clock, so that other work on the core counts little. `seconds` is for each game.
    """
    for game in games:
        game.playout(game.new_states(1))  # compile or load
    batch = 64
    best = [0.0] * len(games)
    end = time.perf_counter() + seconds * len(games)
    while time.perf_counter() < end:
        longest = 0.0
        for k, game in enumerate(games):
            states, rng = game.new_states(batch), new_rng(batch, batch)
            start = time.process_time()
            game.kernels.playout(states, rng, NO_TRACE)
            spent = time.process_time() - start
            best[k] = max(best[k], float(states["ply"].sum()) / max(spent, 1e-6))
            longest = max(longest, spent)
        if longest < 0.02:  # too short to time well
            batch *= 2
    return best


def playouts(seconds: float) -> Iterator[Row]:
    """Moves a second of each game."""
    for name, options in GAMES:
        ways = {"azlab": find(name, **options)} | plain_ways(name, options)
        for who, speed in zip(ways, moves_in_turns(list(ways.values()), seconds), strict=True):
            yield Row("random playouts, one core", label(name, options), who, speed, "moves/s")
    for what, game in easy_ways():
        yield Row("random playouts, one core", what, "azlab", moves_per_second(game, seconds), "moves/s")
    small: dict = {"size": 9}
    for who, game in ({"azlab": find("go", **small)} | plain_ways("go", small)).items():
        rate = simulations_per_second(game, seconds)
        yield Row("UCT, what fast playouts gain, one core", label("go", small), who, rate, "simulations/s")
    for what, game in [("tictactoe", find("tictactoe")), ("connect4", find("connect4")), *easy_ways()]:
        yield Row("UCT, what the easy way costs, one core", what, "azlab", simulations_per_second(game, seconds), "simulations/s")


def plain_ways(name: str, options: dict) -> dict[str, Game]:
    """Go with the playouts that are easy to read (azlab/games/go.py), to see what the fast ones gain; nothing for other games."""
    if name != "go":
        return {}
    game = find(name, **options)
    plain = go.playout if options.get("ko", "simple") == "simple" else go.playout_superko
    game.kernels = game.kernels._replace(playout=plain)
    return {"plain": game}


def easy_ways() -> Iterator[tuple[str, Game]]:
    """What the easy way of writing a game costs (docs/new_game.md)."""
    for name, make in (("tictactoe", easy_games.easy_tictactoe), ("connect4", easy_games.easy_connect4)):
        yield f"{name}, the easy way", make()
        yield f"{name}, the easy way, plain Python", make(compiled=False)


def simulations_per_second(game: Game, seconds: float) -> float:
    """Simulations a second of UCT, the best of the searches that fit into `seconds`."""
    best, simulations = 0.0, 100
    uct(game.start(), 1)  # compile or load
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        found = uct(game.start(), simulations)
        best = max(best, found.simulations / found.seconds["search"])
        if found.seconds["search"] < 0.02:  # too short to time well
            simulations *= 2
    return best


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
