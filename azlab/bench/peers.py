"""The same playouts by OpenSpiel (C++) and pgx (JAX) in the same run, where they are installed: `pip install open_spiel pgx`."""

import importlib.util
import random
import time
from collections.abc import Callable, Iterator

from azlab.bench import Row
from azlab.bench.games import label

# our label: their name
OPEN_SPIEL = {
    "tictactoe": "tic_tac_toe",
    "connect4": "connect_four",
    "dots_and_boxes rows=3 cols=3": "dots_and_boxes(num_rows=3,num_cols=3)",
    "go size=9": "go(board_size=9)",
    "go size=19": "go(board_size=19)",
}
PGX = {"tictactoe": "tic_tac_toe", "connect4": "connect_four", "go size=9": "go_9x9", "go size=19": "go_19x19"}
GROUP = "random playouts, one core"


def playouts(seconds: float) -> Iterator[Row]:
    """Moves a second of each peer that is installed; a row names the ones that are not."""
    for package, name, measure, games in (
        ("pyspiel", "open_spiel", open_spiel_moves_per_second, OPEN_SPIEL),
        ("pgx", "pgx", pgx_moves_per_second, PGX),
    ):
        if importlib.util.find_spec(package) is None:
            yield Row(GROUP, "all games", name, None, "moves/s", f"not installed: pip install {name}")
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
        start = time.process_time()
        bot.mcts_search(game.new_initial_state())
        spent = time.process_time() - start
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
        start = time.process_time()
        states = jax.block_until_ready(advance(states, jax.random.PRNGKey(2)))
        best = max(best, games * steps / (time.process_time() - start))
    return best


def searches(seconds: float) -> Iterator[Row]:
    """UCT by OpenSpiel and PUCT by mctx on pgx's rules, set up as in `azlab.bench.search`."""
    from azlab.bench.search import BATCH, SIMULATIONS, UCT_GAMES, best_rate

    if importlib.util.find_spec("pyspiel") is not None:
        for name, options, simulations in UCT_GAMES:
            ours = label(name, options)
            rate = best_rate(open_spiel_uct(OPEN_SPIEL[ours], simulations // 10), seconds)
            yield Row("UCT from the start, one core", ours, "open_spiel", rate, "simulations/s")
    if importlib.util.find_spec("pgx") is not None and importlib.util.find_spec("mctx") is not None:
        rate = best_rate(mctx_puct(BATCH, SIMULATIONS), seconds)
        group = "PUCT with a null evaluator, Connect 4, one core"
        yield Row(group, f"{BATCH} games x {SIMULATIONS}", "mctx+pgx", rate, "simulations/s")


def open_spiel_uct(name: str, simulations: int) -> Callable[[], int]:
    """OpenSpiel's C++ MCTSBot with one rollout a node."""
    import pyspiel

    game = pyspiel.load_game(name)

    def run() -> int:
        bot = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 1), 1.41, simulations, 4000, False, 1, False)
        bot.mcts_search(game.new_initial_state())
        return simulations

    return run


def mctx_puct(games: int, simulations: int) -> Callable[[], int]:
    """mctx.muzero_policy on Connect 4 of pgx, equal priors and value 0, compiled by JAX."""
    import jax
    import jax.numpy as jnp
    import mctx
    import pgx

    env = pgx.make("connect_four")
    actions = env.num_actions

    def recurrent(params, key, action, state):  # type: ignore[no-untyped-def]
        state = jax.vmap(env.step)(state, action)
        logits = jnp.where(state.legal_action_mask, 0.0, -1e9)
        over = state.terminated
        reward = jnp.where(over, state.rewards[jnp.arange(games), 1 - state.current_player], 0.0)
        discount = jnp.where(over, 0.0, -1.0)
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=jnp.zeros(games)), state

    @jax.jit
    def search(state, key):  # type: ignore[no-untyped-def]
        root = mctx.RootFnOutput(prior_logits=jnp.zeros((games, actions)), value=jnp.zeros(games), embedding=state)
        return mctx.muzero_policy(None, key, root, recurrent, simulations, dirichlet_fraction=0.0).action_weights

    state = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), games))

    def run() -> int:
        jax.block_until_ready(search(state, jax.random.PRNGKey(1)))
        return games * simulations

    return run
