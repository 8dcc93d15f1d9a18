"""What the gates of a training say: wins of the new networks, how many were accepted, and their Elo ratings."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from azlab.arena.elo import Elo
from azlab.repro.record import Recorder

GAMES = 70  # of a gate in the source; wins of other gates are brought to this number
KEPT = (
    "gate_against", "accepted", "gate_wins", "gate_draws", "gate_losses", "gate_elo", "examples", "games", "game_length",
    "first_wins", "loss", "policy_loss", "value_loss", "diversity", "cpu_seconds",
)  # of every iteration, for the figures  # fmt: skip
START, K = 500, 16  # of the source's Elo ratings (section 4.3)


def record_gates(record: Recorder, name: str, rows: list[dict[str, Any]]) -> list[float]:
    """Record what the metrics `rows` of the training `name` ("moving") say for its claims; return the wins of 70 by iteration."""
    iterations = [row["iteration"] for row in rows]
    wins = [GAMES * row["gate_wins"] / sum(_result(row)) for row in rows]
    record(f"s4.{name}.accepted", sum(row["accepted"] for row in rows), note=f"of {len(rows)} iterations at this scale")
    record(f"s4.{name}.mean_wins", np.mean(wins), note=f"mean of {len(rows)} iterations at this scale")
    if len(rows) > 1:
        record.curve(f"s4.{name}.new_wins", iterations, wins)
        record.curve(f"s4.{name}.elo", iterations, [START + row["gate_elo"] for row in rows])
        record.curve(f"s4.{name}.elo", iterations, ratings(rows), label=f"K {K}, all from {START}")
    record.data("iterations", {what: [row[what] for row in rows] for what in KEPT})
    return wins


def _result(row: dict[str, Any]) -> list[int]:
    return [row["gate_wins"], row["gate_draws"], row["gate_losses"]]


def ratings(rows: list[dict[str, Any]]) -> list[float]:
    """Each new network's rating after its gate as the source counts: game by game, K 16, every network from 500 on.

    In which order the games were won is not kept: they are taken as evenly mixed.
    """
    elo = Elo(k=K, start=START)
    found = []
    for row in rows:
        for score in _mixed(_result(row)):
            elo.update(str(row["iteration"]), str(row["gate_against"]), score)
        found.append(elo[str(row["iteration"])])
    return found


def _mixed(result: list[int]) -> Iterator[float]:
    """Scores of so many wins, draws and losses, evenly mixed."""
    places = [((k + 0.5) / count, score) for score, count in zip((1.0, 0.5, 0.0), result, strict=True) for k in range(count)]
    yield from (score for _, score in sorted(places))
