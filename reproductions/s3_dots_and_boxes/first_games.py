"""The first network learns from games of a player without one, so that it is not a random one (section 5.1.1)."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np

from azlab.arena.agents import Analyses, ready
from azlab.arena.agents import agent as agent_by_name
from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.learning.parts import Targets
from azlab.learning.progress import counter
from azlab.learning.recording import Recording
from azlab.learning.selfplay import Collected, SelfPlayConfig, together
from azlab.learning.window import joined


def first_player(name: str, game: Game, seed: int = 0) -> Any:
    """The agent of that name; one that cannot play here, or does not tell what it thinks, is refused."""
    player = ready(agent_by_name(name, seed), game)
    if not isinstance(player, Analyses):
        raise AzlabError(f"first_player must tell how often it looked at each move, as uct:1000 does; {player.name} cannot.")
    return player


@dataclass(frozen=True)
class FirstGames:
    """`games` games of an agent against itself, in as many threads as self-play has workers.

    Policy targets are its shares of visits. Ctrl-C stops all threads and is raised again.
    """

    player: str
    games: int
    targets: Targets

    def __call__(self, game: Game, config: SelfPlayConfig, seed: Sequence[int], progress: Callable) -> Collected:
        stop, report = Event(), counter(progress, "playing first games", self.games)
        workers = min(config.workers, self.games)
        shares = [len(part) for part in np.array_split(np.arange(self.games), workers)]
        seeds = np.random.default_rng(seed).integers(2**62, size=workers)
        players = [first_player(self.player, game, int(one)) for one in seeds]
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(self._play, game, config, *part, stop, report) for part in zip(players, shares, strict=True)]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                stop.set()  # where one failed or Ctrl-C came, the others need not go on
            return together(game, [future.result() for future in futures])

    def _play(
        self, game: Game, config: SelfPlayConfig, player: Any, games: int, stop: Event, report: Callable[[int], None]
    ) -> Collected:
        """So many games of `player` against itself, one after another."""
        recording = Recording(game, 1)
        parts, wins, lengths, simulations, seconds = [], [0, 0, 0], 0, 0, 0.0
        for _ in range(games):
            position = game.start()
            recording.clear(np.arange(1))
            while not position.over and not stop.is_set():
                found = player.analyse(position)
                expected = np.array([[0, (1 + found.value) / 2, (1 - found.value) / 2]])
                move = {"states": position.state, "actions": np.array([found.best_action]), "policy": found.shares[None]}
                recording.add(**move, search=expected, is_full=np.ones(1, np.bool_))
                simulations, seconds = simulations + found.simulations, seconds + sum(found.seconds.values())
                position = position.play(found.best_action)
            if not position.over:
                break
            parts.append(self.targets(recording.finished(0, position.state), config))
            lengths += position.ply
            wins[1 - int(position.state["result"][0])] += 1
            report(1)
        return Collected(
            joined(game, parts), len(parts), lengths, lengths, (wins[0], wins[1], wins[2]), simulations, seconds, 0.0, lengths
        )
