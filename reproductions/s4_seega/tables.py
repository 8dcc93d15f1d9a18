"""What follows from the tables that S4 printed, and nothing else: its gates, its chances, its samples, its example of an action.

No game is played here. A new network meets the best one so far in 70 games; the text accepts it with 60 % of them, 42 wins.
"""

import math
import statistics
from typing import Any

from azlab.games.seega import DIRECTIONS
from azlab.learning.intervals import interval
from azlab.repro.record import Recorder
from azlab.repro.sources import source_table

GAMES = 70  # of a match
STATED = 42  # wins that the text asks for, 60 %
USED = 39  # fewest wins with which a positioning network was accepted
PLACEMENTS = 24  # of a game on 5x5
MOVING, POSITIONING, SAMPLE = "s4_moving.csv", "s4_positioning.csv", "s4_positioning_sample.csv"
Row = dict[str, int]


def tables(record: Recorder) -> None:
    """Gates, chance, samples and contradictions of the source's own numbers (tables 5.1 and 5.2, appendix A, section 4.2)."""
    moving, positioning, sample = rows(MOVING), rows(POSITIONING), rows(SAMPLE)
    gates(record, moving, positioning)
    for name, matches, least in (("moving", moving, STATED), ("positioning", positioning, USED)):
        chances(record, name, matches, least)
    samples(record, moving, positioning)
    origins = [iteration_of(row, positioning) for row in sample]
    record.data("table 5.2 in appendix A", origins)
    is_beginning = origins == [row["iteration"] for row in sample]
    record("s4.positioning.beginning", is_beginning, note=f"its 15 rows are iterations {origins} of appendix A")
    actions(record)


def rows(name: str) -> list[Row]:
    """A table as numbers; `accepted` is 1 or 0."""
    columns = source_table(name)
    numbers = {key: [int(cell) for cell in cells] for key, cells in columns.items() if key != "accepted"}
    numbers["accepted"] = [int(cell == "yes") for cell in columns["accepted"]]
    return [dict(zip(numbers, values, strict=True)) for values in zip(*numbers.values(), strict=True)]


def readable(matches: list[Row]) -> list[Row]:
    """Those with a possible number of wins; iteration 89 of appendix A is printed as 453 to -383."""
    return [row for row in matches if 0 <= row["new_wins"] <= GAMES]


def follows(matches: list[Row], least: int) -> bool:
    """Whether exactly those versions were accepted that won so many games or more."""
    return all(row["accepted"] == (row["new_wins"] >= least) for row in readable(matches))


def at_least(wins: int) -> float:
    """The chance that a fair coin wins so many of 70 games or more, exactly."""
    return sum(math.comb(GAMES, k) for k in range(wins, GAMES + 1)) / 2**GAMES


def gates(record: Recorder, moving: list[Row], positioning: list[Row]) -> None:
    """With how many wins versions were accepted."""
    record("s4.moving.gate_kept", follows(moving, STATED))
    between = sum(row["accepted"] for row in readable(positioning) if row["new_wins"] < STATED)
    accepted = sum(row["accepted"] for row in positioning)
    note = f"{between} of the {accepted} accepted versions won fewer than {STATED}"
    record("s4.positioning.gate_kept", follows(positioning, STATED), note=note)
    record("s4.positioning.gate_used", follows(positioning, USED))
    thresholds = {
        name: [least for least in range(GAMES + 2) if follows(matches, least)]
        for name, matches in (("moving", moving), ("positioning", positioning))
    }
    record.data("thresholds that give the table", thresholds)


def chances(record: Recorder, name: str, matches: list[Row], least: int) -> None:
    """What a coin would have done in as many matches."""
    wins = [row["new_wins"] for row in readable(matches)]
    expected, accepted = len(matches) * at_least(least), sum(row["accepted"] for row in matches)
    mean = interval(wins)
    spread = sum((one - GAMES / 2) ** 2 for one in wins) / (GAMES / 4)
    found: dict[str, Any] = {
        "matches": len(matches), "readable": len(wins), "mean": mean.mean, "half": mean.half, "accepted": accepted,
        "chance of a coin": at_least(least), "expected of a coin": expected, "squares": spread,
        "sigmas": (statistics.fmean(wins) - GAMES / 2) / math.sqrt(GAMES / 4 / len(wins)),
    }  # fmt: skip
    record.data(f"chance, {name}", found, digits=6)
    note = f"{accepted} of {len(matches)} accepted; a coin wins {least} of {GAMES} or more {expected:.1f} times"
    record(f"s4.{name}.beyond_chance", accepted - expected, note=note)
    record(f"s4.{name}.better", mean.mean - GAMES / 2, spread=mean.half, runs=len(wins))


def samples(record: Recorder, moving: list[Row], positioning: list[Row]) -> None:
    """What the samples are: positions of games, without their mirror images."""
    stated = next(row for row in positioning if row["iteration"] == 110)["samples"]
    note = f"{stated:,} is the table's number of samples after 110 iterations, and a game has {PLACEMENTS} placements"
    record("s4.positioning.games", stated / PLACEMENTS, note=note)
    record("s4.positioning.iterations", len(positioning), note="rows of appendix A")
    totals = {name: [row["samples"] for row in table] for name, table in (("moving", moving), ("positioning", positioning))}
    added = {name: [b - a for a, b in zip([0, *totals[name]], totals[name])] for name in totals}
    record.data("samples added", added)
    record.data("divisible by 8", {name: all(one % 8 == 0 for one in added[name]) for name in added})


def iteration_of(row: Row, table: list[Row]) -> int:
    """Which iteration of a longer table has this row's samples and result; 0 for none."""
    alike = [one["iteration"] for one in table if all(one[key] == row[key] for key in ("samples", "new_wins", "accepted"))]
    return alike[0] if alike else 0


def actions(record: Recorder) -> None:
    """Equations 4.3 to 4.5 on the numbers of actions, and the example beside them."""
    record("s4.actions.example", DIRECTIONS[45 % 4], note="by its own numbering: 0 up, 1 down, 2 left, 3 right")
    pairs = [(index, direction) for index in range(25) for direction in range(4)]
    stated, meant = ([times * index + direction for index, direction in pairs] for times in (1, 4))
    back = lambda nid: (nid // 4, nid % 4)  # noqa: E731
    record("s4.actions.formula", [back(nid) for nid in stated] == pairs)
    record.data("numbers of actions", {"4.3 as printed": len(set(stated)), "4 index + direction": len(set(meant))})
