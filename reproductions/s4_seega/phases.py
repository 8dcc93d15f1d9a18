"""Beyond the source: one network for both phases, two that learn together, and the source's two steps, with equal means.

The source trains a network to move, from random full boards, and then one to place, which is judged by the first (chapter 4). Is
that better or worse than to learn the whole game? All three ways get networks of the same sizes, and as many searches. Then every
placer plays with every mover, so that what placing is worth can be told from what moving is worth.
"""

from typing import Any

import numpy as np

from azlab.arena import agent, match
from azlab.arena.phases import PhaseAgent
from azlab.arena.results import MatchResult
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.intervals import interval
from azlab.learning.player import TrainedAgent
from azlab.learning.sweep_table import Table
from azlab.repro.examined import kept_whole
from azlab.repro.record import Recorder
from azlab.repro.sweeps import preset_with, swept

PLIES = 24  # stones that fill the board
WAYS = ("one", "two", "steps")  # one network, two that learn together, the source's two steps
RANDOM = "random"  # a placer that has learned nothing


def ways(base: AlphaZeroConfig, moving: int) -> dict[str, AlphaZeroConfig]:
    """The trainings that need no other first: "one", "two", and "moving", the first of the source's steps.

    moving: iterations of the first step; the second one, `placing_config`, has the rest of the searches
    """
    return {
        "one": base,
        "two": base.changed({"net.kind": "phases"}),
        "moving": base.changed(
            {
                "iterations": moving,
                "selfplay.random_plies": PLIES,
                "selfplay.random_least": PLIES,
                "evaluation.openings": PLIES,
            }
        ),
    }


def placing_config(base: AlphaZeroConfig, placing: int, judge: str) -> AlphaZeroConfig:
    """The second step: games end when the board is full, and the network of the first step judges them."""
    return base.changed(
        {
            "iterations": placing,
            "search.horizon": True,
            "test_search.horizon": True,
            "begin.judge": judge,
            "selfplay.bootstrap": 0.0,
            "evaluation.opponents": [],
        }
    )


def phases(record: Recorder, *, settings: list, moving: int, placing: int, seeds: int, simulations: int, games: int) -> None:
    """One network, two networks or two steps: every placer with every mover, against the one network.

    settings: of the trainings, beside the preset `seega`
    moving, placing: iterations of the two steps
    seeds: trainings of each way
    simulations: a move in the matches
    games: of each match, for each placer, mover and seed
    """
    base = preset_with("seega", settings)
    first = [100 * record.seed + number for number in range(seeds)]
    table = swept(record, "trainings", ways(base, moving), first)
    folder = record.folder / "trainings" / "arms"
    judged = {f"placing{seed}": placing_config(base, placing, str(folder / "moving" / f"seed{seed}" / "run")) for seed in first}
    more = swept(record, "placing", judged, [first[0]])
    record.data("work", _work(table, more))
    cells: dict[str, dict[str, list]] = {placer: {mover: [] for mover in WAYS} for placer in (*WAYS, RANDOM)}
    for seed in first:
        players = _players(record, seed, first[0], simulations)
        for placer in cells:
            for mover in WAYS:
                cells[placer][mover].append(_cell(record, players, placer, mover, seed, games))
                record.data("cells", cells)  # [wins, draws, losses] for each seed
    record.data("effects", effects(cells))


def _work(table: Table, more: Table) -> dict[str, list[dict[str, float]]]:
    """What each training spent: searches, evaluations and core minutes, by seed."""
    found: dict[str, list[dict[str, float]]] = {}
    for part in (table, more):
        for arm in dict.fromkeys(row["arm"] for row in part.rows):
            for seed in dict.fromkeys(row["seed"] for row in part.rows if row["arm"] == arm):
                rows = [row for row in part.rows if (row["arm"], row["seed"]) == (arm, seed)]
                total = {name: float(sum(row[name] for row in rows)) for name in ("searches", "evaluations", "cpu_seconds")}
                found.setdefault("placing" if arm.startswith("placing") else arm, []).append(total)
    return found


def _players(record: Recorder, seed: int, first: int, simulations: int) -> dict[str, TrainedAgent]:
    """By way and phase: the trained players of a seed."""
    found = {}
    runs = {
        "one": ("trainings", "one", seed), "two": ("trainings", "two", seed),
        "moving": ("trainings", "moving", seed), "placing": ("placing", f"placing{seed}", first),
    }  # fmt: skip
    for name, (sweep, arm, number) in runs.items():
        found[name] = TrainedAgent(record.folder / sweep / "arms" / arm / f"seed{number}" / "run", simulations, seed=seed)
    return found


def _cell(record: Recorder, players: dict[str, TrainedAgent], placer: str, mover: str, seed: int, games: int) -> list[int]:
    """Wins, draws and losses of a placer with a mover against the one network that does both."""

    def play(report: Any) -> MatchResult:
        before = agent(RANDOM, seed) if placer == RANDOM else players["placing" if placer == "steps" else placer]
        both = PhaseAgent(before, players["moving" if mover == "steps" else mover], label)
        return match(both, players["one"], games, players["one"].game, None, seed, report)

    label = f"{placer} places, {mover} moves"
    played = kept_whole(record, record.folder / f"{placer}-{mover}-{seed}-{games}.jsonl", label, play)
    return [played.wins, played.draws, played.losses]


def effects(cells: dict[str, dict[str, list]]) -> dict[str, dict[str, list[float | None]]]:
    """What each placer and mover scores on average over the others, and half the width of a 95 % interval from the seeds."""
    tallies = np.array([list(row.values()) for row in cells.values()], float)  # [placers, movers, seeds, 3]
    scores = tallies @ [1, 0.5, 0] / tallies.sum(axis=-1)
    movers = scores[:-1].mean(axis=0)  # where the board was not filled at random
    found: dict[str, dict[str, list[float | None]]] = {"placing": {}, "moving": {}}
    for kind, names, values in (("placing", list(cells), scores.mean(axis=1)), ("moving", list(WAYS), movers)):
        for name, own in zip(names, values, strict=True):
            one = interval(own)
            found[kind][name] = [one.mean, one.half]
    return found
