"""The same playouts by OpenSpiel (C++) and pgx (JAX) in the same run, where they are installed: `pip install open_spiel pgx`."""

import importlib.util
import random
import time
from collections.abc import Iterator

from azlab.bench import Row

# our label: their name
OPEN_SPIEL = {
    "tictactoe": "tic_tac_toe",
    "connect4": "connect_four",
    "dots_and_boxes rows=3 cols=3": "dots_and_boxes(num_rows=3,num_cols=3)",
    "go size=9": "go(board_size=9)",
    "go size=19": "go(board_size=19)",
}
PGX = {"tictactoe": "tic_tac_toe", "connect4": "connect_four", "go size=9": "go_9x9", "go size=19": "go_19x19"}
GROUP = "random playouts, one thread"


def playouts(seconds: float) -> Iterator[Row]:
    """Moves a second of each peer that is installed; a line on stderr names the ones that are not."""
    for package, name, measure, games in (
        ("pyspiel", "open_spiel", open_spiel_moves_per_second, OPEN_SPIEL),
        ("pgx", "pgx", pgx_moves_per_second, PGX),
    ):
        if importlib.util.find_spec(package) is None:
            yield Row(GROUP, f"not installed: pip install {name}", name, float("nan"), "")
            continue
        for ours, theirs in games.items():
            yield Row(GROUP, ours, name, measure(theirs, seconds), "moves/s")


def open_spiel_moves_per_second(name: str, seconds: float) -> float:
    """Rollouts stay in C++: a search of two simulations whose evaluator makes many rollouts each.

    Its Go passes at random too, so its games have another length than ours; hence moves, not games, are compared.
    """
    import pyspiel

    game = pyspiel.load_game(name)
    lengths = []
    for _ in range(20):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
        lengths.append(state.move_number())
    rollouts = 20
    best = 0.0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
        bot = pyspiel.MCTSBot(game, evaluator, 1.4, 2, 10, False, 1, False)
        start = time.perf_counter()
        bot.mcts_search(game.new_initial_state())
        spent = time.perf_counter() - start
        best = max(best, 2 * rollouts * sum(lengths) / len(lengths) / spent)
        if spent < 0.05:
            rollouts *= 2
    return best


def pgx_moves_per_second(name: str, seconds: float) -> float:
    """1,024 games at once, compiled by JAX; each step draws a random legal action, and finished games start anew."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    games, steps = 1024 if "19" not in name else 64, 16
    step = jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def advance(states, key):
        def one(carry, key):
            logits = jnp.where(carry.legal_action_mask, 0.0, -jnp.inf)
            keys = jax.random.split(key, games + 1)
            return step(carry, jax.random.categorical(keys[0], logits), keys[1:]), None

        return jax.lax.scan(one, states, jax.random.split(key, steps))[0]

    states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), games))
    states = jax.block_until_ready(advance(states, jax.random.PRNGKey(1)))
    best = 0.0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        states = jax.block_until_ready(advance(states, jax.random.PRNGKey(2)))
        best = max(best, games * steps / (time.perf_counter() - start))
    return best
