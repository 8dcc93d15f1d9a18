"""The test board of S4, its parameters and its minimax: figures 5.2 and 5.4, tables 5.3 and 5.4, sections 5.2 and 5.4.

The board is rebuilt in `boards`, networks are counted in `parameters`, and `reference` searches in all ways that the text may
mean.
"""

import time
from typing import Any

from azlab.games.game import Position
from azlab.nets import keras_nets
from azlab.repro.record import Recorder
from azlab.search import minimax
from azlab.search.analysis import Analysis
from azlab_reproductions.s4_seega import boards as rebuilt
from azlab_reproductions.s4_seega import parameters, reference

DEPTHS = (2, 4, 6, 8)


def board(record: Recorder, *, boards: int, repeats: int) -> None:
    """Count parameters, play the moves of the test board, and search it.

    boards: how many of the boards that fit the text are searched for table 5.4, 0 for all
    repeats: of so many searches the quickest is timed
    """
    record("s4.moving.parameters", keras_nets.seega_net().count_params())
    searched = {name: parameters.search(wanted, outputs) for name, wanted, outputs in (
        ("moving, 101 outputs", parameters.MOVING, 101),
        ("positioning, 26 outputs", parameters.POSITIONING, 26),
        ("positioning, 25 outputs", parameters.POSITIONING, 25),
        ("positioning, 101 outputs", parameters.POSITIONING, 101),
    )}  # fmt: skip
    record.data("networks counted", searched)
    start = rebuilt.position(rebuilt.diagram())
    captures(record, start)
    fitting = rebuilt.completions()
    free = sum(len(rebuilt.position(one).legal_moves) == 6 for one in fitting)
    record("s4.board.completions", len(fitting), note=f"on {free} of them Black has no move but the five and B3-down")
    moves(record, start, repeats)
    table(record, fitting[: boards or None])


def captures(record: Recorder, start: Position) -> None:
    """What the named moves take when they are played, on both rebuilt boards."""
    other = rebuilt.position(rebuilt.diagram("", rebuilt.OTHER))
    most = rebuilt.most_captured(start)
    record("s4.board.captures", most["D3-up"])
    note = "table 5.4 has B3-down, so Black must have a sixth move; without it two rows of that table are impossible"
    record("s4.board.actions", " ".join(start.legal_moves), note=note)
    best = [move for move, taken in most.items() if taken == max(most.values())]
    record("s4.board.best", " ".join(best), note=f"it takes {max(most.values())} stones, D3-up {most['D3-up']}")
    record("s4.minimax.captures", {f"depth_{depth}": most[move] for depth, move in rebuilt.TABLE.items()})
    for name, one in (("chosen", start), ("other", other)):
        found = {"fits": rebuilt.fits(one), "captures": rebuilt.most_captured(one), "moves": one.legal_moves}
        record.data(f"board, {name}", found)


def moves(record: Recorder, start: Position, repeats: int) -> None:
    """Plain minimax at each depth, and depth 8 with pruning: its moves, nodes and processor time."""
    found: dict[str, Any] = {}
    for depth in DEPTHS:
        result, spent = timed(start, depth, repeats, is_plain=True)
        values = dict(zip(start.legal_moves, result.values[start.legal_actions].tolist(), strict=True))
        tied = [move for move, worth in values.items() if worth == max(values.values())]
        found[f"depth_{depth}"] = {"move": tied[0], "tied": tied, "nodes": result.nodes, "ms": spent}
        record(f"s4.minimax.depth{depth}.move", tied[0], note=f"best of all: {', '.join(tied)}")
    record("s4.minimax.time", {depth: one["ms"] for depth, one in found.items()}, note="processor time, all lines tried")
    result, spent = timed(start, DEPTHS[-1], repeats)
    found["pruned"] = {"move": result.line[0], "nodes": result.nodes, "ms": spent}
    record("s4.minimax.same_result_time", spent, note=f"depth 8 with pruning, {result.nodes:,} nodes, {result.line[0]}")
    record.data("minimax", found)


def timed(start: Position, depth: int, repeats: int, is_plain: bool = False) -> tuple[Analysis, float]:
    """A search, and the processor time of the quickest of some in milliseconds; the first, which may compile, is not timed."""
    search = lambda: minimax(start, depth, prune=not is_plain, deepen=not is_plain)  # noqa: E731
    result = search()
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        search()
        spent.append(1000 * (time.process_time() - began))
    return result, min(spent)


def table(record: Recorder, fitting: list[str]) -> None:
    """Search every board in every way, and count the rows of table 5.4 that come out."""
    rows = len(rebuilt.TABLE)
    first = {way: [0] * (rows + 1) for way in reference.WAYS}  # boards by the number of rows that come out
    tied = {way: [0] * (rows + 1) for way in reference.WAYS}
    shown: dict[str, Any] = {}
    with record.progress("boards searched for table 5.4") as report:
        for number, one in enumerate(fitting):
            start = rebuilt.position(one)
            for way in reference.WAYS:
                best = {depth: reference.best_moves(start, depth, way) for depth in rebuilt.TABLE}
                first[way][sum(best[depth][0] == move for depth, move in rebuilt.TABLE.items())] += 1
                tied[way][sum(move in best[depth] for depth, move in rebuilt.TABLE.items())] += 1
                if number == 0:
                    shown[way] = {f"depth_{depth}": some for depth, some in best.items()}
            report(number + 1, len(fitting))
    record.data("table 5.4", {"boards": len(fitting), "first": first, "tied": tied, "moves": shown})
    most = max(k for counts in tied.values() for k, some in enumerate(counts) if some)
    note = f"{len(fitting)} boards searched in {len(reference.WAYS)} ways; at best {most} of {rows} rows, ties counted as right"
    record("s4.minimax.table", sum(counts[rows] for counts in tied.values()), note=note)
