"""The examples of a training's first iteration may come from games of another player, one without a network.

Source S3 (section 5.1.1) began with 500 games of plain Monte Carlo tree search, so that its first network was not a random one.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event
from typing import Any

import numpy as np

from azlab.arena.agents import agent as agent_by_name
from azlab.arena.agents import ready
from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.learning.replay import joined
from azlab.learning.selfplay import Collected, SelfPlayConfig, Worker, make_one_hot, together
from azlab.search.config import SearchConfig
from azlab.search.evaluators import UniformEvaluator


def first_player(game: Game, config: SelfPlayConfig, seed: int = 0) -> Any:
    """The agent `config.first_player`; one that cannot play here, or does not tell what it thinks, is refused."""
    player = ready(agent_by_name(config.first_player, seed), game)
    if not hasattr(player, "analyse"):
        raise AzlabError(f"first_player must tell how often it looked at each move, as uct:1000 does; {player.name} cannot.")
    return player


def play_first_games(
    game: Game, config: SelfPlayConfig, seed: Sequence[int], progress: Callable[[int], None] | None = None
) -> Collected:
    """Let `config.first_player` play itself: `config.first_games` games, in as many threads as self-play has workers.

    Policy targets are its shares of visits; `progress` counts games. Ctrl-C stops all threads and is raised again.
    """
    stop = Event()
    workers = min(config.workers, config.first_games)
    shares = [len(part) for part in np.array_split(np.arange(config.first_games), workers)]
    seeds = np.random.default_rng(seed).integers(2**62, size=workers)
    players = [first_player(game, config, int(one)) for one in seeds]
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(_play, game, config, *part, stop, progress) for part in zip(players, shares, strict=True)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()  # where one failed or Ctrl-C came, the others need not go on
        return together(game, [future.result() for future in futures])


def _play(
    game: Game, config: SelfPlayConfig, player: Any, games: int, stop: Event, progress: Callable[[int], None] | None
) -> Collected:
    """So many games of `player` against itself, one after another."""
    book = Worker(game, 1, UniformEvaluator(), SearchConfig(), config)  # searches nothing here: it makes examples of a game
    parts, wins, lengths, simulations, seconds = [], [0, 0, 0], 0, 0, 0.0
    for _ in range(games):
        position, book.played[0] = game.start(), 0
        while not position.over:
            if stop.is_set():
                break
            found = player.analyse(position)
            row = 0, book.played[0]
            policy = found.shares[None]
            make_one_hot(policy, np.array([found.best_action]), position.state["ply"], config.one_hot_from)
            book.history["states"][row] = position.state[0]
            book.history["policy"][row] = policy[0]
            book.history["search"][row] = 0, (1 + found.value) / 2, (1 - found.value) / 2
            book.history["is_full"][row] = True
            book.played[0] += 1
            simulations, seconds = simulations + found.simulations, seconds + sum(found.seconds.values())
            position = position.play(found.best_action)
        if not position.over:
            break
        book.states = position.state
        parts.append(book._finish(0))
        lengths += position.ply
        wins[1 - int(position.state["result"][0])] += 1
        if progress is not None:
            progress(1)
    return Collected(joined(game, parts), len(parts), lengths, lengths, (wins[0], wins[1], wins[2]), simulations, seconds, 0.0)
