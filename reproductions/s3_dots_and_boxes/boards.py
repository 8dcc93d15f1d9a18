"""4x4 and 5x5 boxes, of which no table fits anywhere: players measured against each other."""

from typing import Any

import azlab
from azlab.arena import elo, round_robin
from azlab.learning import AlphaZero, preset
from azlab.learning.player import TrainedAgent
from azlab.repro.record import Recorder
from azlab_reproductions.s3_dots_and_boxes.kept import Kept

SIZES = (4, 5)


def boards(record: Recorder, *, iterations: list, positions: int, simulations: int, games: int, uct: int, minimax: list) -> None:
    """Trainings on 4x4 and 5x5 boxes, and a round robin on each with UCT, minimax and random play; S3 stops at 3x3.

    iterations: of the two trainings
    positions: examples an iteration
    simulations: a move of the trained player
    games: of each pair of players
    uct: simulations of the UCT player
    minimax: depth of the minimax player, and how many last lines it solves
    """
    depth, endgame = minimax
    for size, rounds in zip(SIZES, iterations):
        name, folder = f"{size}x{size}", record.folder / f"{size}x{size}"
        run = AlphaZero.from_config(settings(size, rounds, positions, record.seed), folder)
        with record.progress(f"{name} boxes") as run.progress:
            run.train()
        trained = TrainedAgent(folder, simulations, seed=record.seed)
        trained.name = "trained"
        players: list[Any] = [trained]  # each has a seed of its own, as in a round robin of names
        players.append(Kept(f"uct:{uct}", record.seed + 1, record.folder / f"{name}_uct.jsonl"))
        players.append(Kept(f"minimax:{depth},endgame={endgame}", record.seed + 2, record.folder / f"{name}_minimax.jsonl"))
        players.append(azlab.agent("random", record.seed + 3))
        with record.progress(f"{name} boxes: matches") as report:
            table = round_robin(players, trained.game, games, seed=record.seed, progress=report)
        fitted = elo.fit(table, anchor=("random", 0))
        between = {one: {other: str(table.between(one, other)) for other in table.totals if other != one} for one in table.totals}
        ratings = {one.name: [one.value, one.low, one.high] for one in fitted.players}
        minutes = sum(row["cpu_seconds"] for row in run.metrics) / 60
        record.data(name, {"core minutes": minutes, "results": between, "scores": table.scores, "ratings": ratings})


def settings(size: int, iterations: int, positions: int, seed: int) -> Any:
    """The preset of the shipped player on another board, shorter and on fewer positions."""
    sizes: dict[str, Any] = {"options": {"rows": size, "cols": size}, "iterations": iterations, "selfplay.positions": positions}
    sizes |= {"selfplay.games": min(512, positions // 4), "selfplay.random_plies": size * (size + 1), "seed": seed}
    sizes |= {"training.window": [[1, positions], [20, 15 * positions]], "training.passes": [[1, 4.0], [6, 1.5]]}
    sizes |= {"training.rate": [[1, 0.002], [max(2, iterations * 4 // 5), 0.0005]], "evaluation.positions": ""}
    return preset("dots_and_boxes").changed(sizes)
