"""The source's data (section 5.3): its tables by arithmetic, the public archives counted, training sets drawn from them."""

from dataclasses import replace
from typing import Any

import numpy as np

from azlab.formats.records import in_parts
from azlab.learning.go_sets import go_set, read_games
from azlab.learning.position_sets import PositionSet, SplitSets, split_set
from azlab.repro.record import Recorder
from azlab.repro.sources import source_table

PRO, RATED = "go/9x9_pro.tar.gz", "go/9x9_rated.tar.gz"
KGS = {year: f"go/kgs_{year}.tar.gz" for year in ("2003", "2015")}
SIZES = {PRO: 9, RATED: 9, **dict.fromkeys(KGS.values(), 19)}
FILES = 5  # into which the source's program cuts its training part


def data(record: Recorder, *, games: int) -> None:
    """Tables 5.2 and 5.3 by arithmetic, and what the archives that we have hold.

    games: of each archive, 0 for all; the claims on whole archives are then measured too
    """
    tables(record)
    found = {}
    for name, size in SIZES.items():
        with record.progress(name) as report:
            found[name] = facts(name, size, games, report)
    record.data("archives", found, digits=7)
    if not games:
        for year, name in KGS.items():
            empty = found[name]["left out"].get("no moves", 0)
            record(f"s2.data.kgs_{year}", found[name]["games"], note=f"{empty} of them without a move")


def tables(record: Recorder) -> None:
    """Whether table 5.2 adds up, and which of its program's files table 5.3 counts."""
    years = [int(games) for games in source_table("s2_kgs_games.csv")["games"]]
    record("s2.data.year_sum", sum(years), note="the text has 190,450 games in all")
    printed: dict[str, int] = {}
    ours: dict[str, int] = {}
    other: dict[str, int] = {}
    for name in ("kgs", "gogod"):
        value: Any = record.source.claim(f"s2.data.{name}").value
        train, test = value["train"], value["test"]
        each, rest = in_parts(test + train * FILES // (FILES - 1), FILES)
        ours |= {f"{name} train": (FILES - 1) * each, f"{name} test": rest}
        printed |= {f"{name} train": train, f"{name} test": test}
        other[f"{name} test"] = in_parts(test + train, FILES)[1]  # if the printed numbers were all there was
    record("s2.data.four_of_five", ours, note="the program trained on all five files, a quarter more than the table says")
    record.data(
        "table 5.3", {"printed": printed, "by the program's rule, four of five files": ours, "if all were printed": other}
    )


def facts(name: str, size: int, first: int, report: Any) -> dict[str, Any]:
    """What an archive holds: games that can be read, positions, passes, known results, and what was left out."""
    records = read_games(name, size, first or None, report)
    unread = int(records.bad[0])
    positions = go_set(name, size, first or None, progress=report)
    passes, used = int((positions.moves[:, 0] == size * size).sum()), len(np.unique(positions.games))
    return {
        "games": len(records.lengths) + int(records.bad.sum()) - unread,
        "used": used,
        "positions": positions.size,
        "a game": positions.size / used,
        "passes": passes,
        "results known": float(np.isin(records.results, (-1, 0, 1)).mean()),
        "begun with stones": int((records.boards != 2).any(axis=1).sum()),
        "left out": dict(positions.left_out),
    }


# --- training sets ----------------------------------------------------------------------------------------------------


def training_sets(size: int, games: int, seed: int) -> SplitSets:
    """Nine tenths of the games to learn from, a tenth to test on, split by game; positions without passes, as in the source.

    games: on 9x9, how many are drawn from the archive of professionals' games (the source had 146), 0 for all; on 19x19, of how
        many files of each year's archive, 0 for all
    """
    if size == 9:
        positions = go_set(PRO, 9, passes=False)
        numbers = np.unique(positions.games)
        drawn = np.random.default_rng([seed, 2]).permutation(numbers)[: games or len(numbers)]
        return split_set(positions.take(np.isin(positions.games, drawn)), (0.9, 0.0, 0.1), seed)
    years, count = [], 0
    for name in KGS.values():  # one archive after the other is split, so that no more than one is in memory twice
        positions = go_set(name, 19, games or None, passes=False)
        numbered = replace(positions, games=positions.games + count)
        count = int(numbered.games.max()) + 1
        years.append(split_set(numbered, (0.9, 0.0, 0.1), seed))
        del positions, numbered
    return SplitSets(*(joined([getattr(year, part) for year in years]) for part in SplitSets._fields))


def joined(parts: list[PositionSet]) -> PositionSet:
    """Several sets as one, one after the other."""
    states, moves, results, games = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("states", "moves", "results", "games")
    )
    return PositionSet(parts[0].game, states, moves, results, games)


def some(positions: PositionSet, count: int, seed: int) -> PositionSet:
    """So many positions of a set, or all, drawn from its seed."""
    return positions.take(np.random.default_rng([seed, 3]).permutation(positions.size)[:count])
