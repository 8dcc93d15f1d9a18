"""The moving agent: its training from random full boards, its move on the source's test board, and what it is worth in play.

The source let it play nobody but earlier versions of itself. Here versions of it meet random, minimax and plain tree search.
"""

import time
from typing import Any

import numpy as np

from azlab.learning import AlphaZero, preset
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.player import TrainedAgent
from azlab.repro.record import Recorder
from azlab_reproductions.s4_seega.boards import diagram
from azlab_reproductions.s4_seega.gates import record_gates
from azlab_reproductions.s4_seega.matches import kept_match

STONES = 24  # of a full board: where the moving phase begins
LATE = 7  # from this iteration on the source's agent won its gates


def moving_config(
    seed: int,
    iterations: int,
    positions: int,
    games: int,
    quiet_limit: int,
    filters: int,
    dense: list,
    simulations: int,
    epochs: float,
    batch: int,
    gate_games: int,
) -> AlphaZeroConfig:
    """The preset with the sizes of a profile."""
    sizes: dict[str, Any] = {"seed": seed, "iterations": iterations, "options.quiet_limit": quiet_limit}
    sizes |= {"selfplay.positions": positions, "selfplay.games": games, "net.filters": filters, "net.dense": dense}
    sizes |= {"budget.simulations": simulations, "evaluation.simulations": simulations}
    sizes |= {"training.passes": [[1, float(epochs)]], "training.batch": batch, "gate.games": gate_games}
    return preset("s4_moving").changed(sizes)


def moving(
    record: Recorder,
    *,
    iterations: int,
    positions: int,
    games: int,
    quiet_limit: int,
    filters: int,
    dense: list,
    simulations: int,
    epochs: float,
    batch: int,
    gate_games: int,
    versions: list,
    opponents: list,
    match_games: int,
    timed_moves: int,
) -> None:
    """The training of table 5.1 and figure 5.1, the test board, the time of a move, and matches from random full boards.

    positions: samples of an iteration; games: played at once
    quiet_limit: so many moves without a capture end a game
    filters, dense: of the network; the source's are 512 and [1024, 512]
    versions, opponents, match_games: each of these versions (the last for what there is not) meets each of these players in so
        many games; a version is the best network after so many iterations
    timed_moves: moves of which the time is taken, one by one
    """
    sizes = (iterations, positions, games, quiet_limit, filters, dense, simulations, epochs, batch, gate_games)
    run = AlphaZero.from_config(moving_config(record.seed, *sizes), record.folder / "run")
    with record.progress("moving agent") as run.progress:
        rows = run.train()
    wins = record_gates(record, "moving", rows)
    late = wins[LATE - 1 :] or wins
    record("s4.moving.late_wins", np.mean(late), note=f"mean of {len(late)} iterations at this scale")
    record("s4.moving.samples", sum(row["examples"] for row in rows), note=f"{len(rows)} iterations at this scale")
    record.data("parameters", sum(array.size for array in run.learner.weights()))
    there = list(dict.fromkeys(min(version, run.iteration) for version in versions))
    _on_the_board(record, run, there)
    _time(record, run, timed_moves)
    _matches(record, run, there, opponents, match_games)


def _agent(run: AlphaZero, version: int, seed: int) -> TrainedAgent:
    agent = TrainedAgent(run.folder.path, iteration=version, seed=seed)
    agent.name = f"version {version}"
    return agent


def _on_the_board(record: Recorder, run: AlphaZero, versions: list) -> None:
    """What the versions play on the test board, and how sure they are; the claim is about the last one."""
    position = run.game.from_diagram(diagram())  # type: ignore[attr-defined]
    found = {}
    for version in [*versions, run.iteration]:
        seen = _agent(run, version, record.seed).analyse(position)
        shares = {position.game.move_name(action): float(seen.shares[action]) for action in np.flatnonzero(seen.visits)}
        found[str(version)] = {"move": seen.best_move, "value": seen.value, "shares": shares}
    record("s4.board.agent", found[str(run.iteration)]["move"], note=f"after {run.iteration} iterations at this scale")
    record.data("test board", found)


def _time(record: Recorder, run: AlphaZero, moves: int) -> None:
    """Milliseconds of a move of the last version, one position at a time: the median over moves of a game against itself."""
    agent, position = _agent(run, run.iteration, record.seed), run.game.from_diagram(diagram())  # type: ignore[attr-defined]
    agent.choose(position)  # kernels are compiled, and the net has seen a batch of this size
    seconds = []
    for _ in range(moves):
        begin = time.perf_counter()
        action = agent.choose(position)
        seconds.append(time.perf_counter() - begin)
        following = position.play(action)
        position = run.game.from_diagram(diagram()) if following.over else following  # type: ignore[attr-defined]
    record(
        "s4.agent.time",
        1000 * float(np.median(seconds)),
        note=f"median of {moves} moves, {run.config.budget.simulations} simulations",
    )
    record.data("times", {"median": 1000 * np.median(seconds), "mean": 1000 * np.mean(seconds), "slowest": 1000 * max(seconds)})


def _matches(record: Recorder, run: AlphaZero, versions: list, opponents: list, games: int) -> None:
    """Every version against every opponent, from random full boards, each played from both sides."""
    import azlab

    rows = []
    for opponent in opponents:
        for version in versions:

            def players(seed: int, version: int = version, opponent: str = opponent) -> tuple[Any, Any]:
                return _agent(run, version, seed), azlab.agent(opponent, seed + 1)

            file = record.folder / f"version{version}-{opponent.replace(':', '_')}.json"
            with record.progress(f"version {version} against {opponent}") as report:
                found = kept_match(file, players, games, run.game, STONES, record.seed, report)
            rows.append({"version": version, "opponent": opponent, **found})
    record.data("matches", rows)
