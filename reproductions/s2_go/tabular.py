"""Monte Carlo control on tables for 2x2 and 3x3 Go (source S2, sections 3.2, 5.2 and 6.1)."""

import time
from typing import Any

import numpy as np

import azlab
from azlab.arena import match
from azlab.arena.results import MatchResult
from azlab.games.game import Game, Position
from azlab.learning import MonteCarloControl, TableAgent, TableHistory
from azlab.learning.tabular import own_result
from azlab.machine import find_program
from azlab.repro import Recorder
from azlab_reproductions.s2_go.oddities import AnswersPasses, result_or_the_one_before

AS_IN_THE_SOURCE: dict[str, Any] = {"optimistic": True, "key": "board", "taught": result_or_the_one_before}
TIES = {"zero": own_result, "previous": result_or_the_one_before}  # what a tied game teaches
KINDS = {
    "2x2": {"point": ["a1", "a2", "b1", "b2"], "pass": ["pass"]},
    "3x3": {"centre": ["b2"], "edge": ["a2", "b1", "b3", "c2"], "corner": ["a1", "a3", "c1", "c3"], "pass": ["pass"]},
}  # first moves that are the same by symmetry


def tabular(
    record: Recorder,
    *,
    games_2x2: int,
    games_3x3: int,
    long_games: int,  # of the run whose saved table has 10,000,000 games
    study_games: int,  # for each setting of a comparison
    speed_games: int,  # that are timed
    epsilon: float,
    gnugo_games: int,  # for each board and colour
) -> None:
    """Tables for both players of 2x2 and 3x3 Go, beside exact values (section 6.1, figures 6.1 and 6.2, table 6.1)."""
    boards = {"2x2": azlab.game("go", size=2, komi=0), "3x3": azlab.game("go", size=3, komi=0)}
    _exact_values(record)
    histories = {}
    for size, games in (("2x2", games_2x2), ("3x3", games_3x3)):
        table = MonteCarloControl(boards[size], seed=record.seed, epsilon=epsilon, **AS_IN_THE_SOURCE)
        histories[size] = _history(record, size, table, games)
    _settling(record, histories)
    default = MonteCarloControl(boards["3x3"], seed=record.seed, **(AS_IN_THE_SOURCE | {"epsilon": 0.2, "optimistic": False}))
    long = _history(record, "3x3, epsilon 0.2", default, long_games)
    _first_moves(record, histories, long)
    _exploration(record, boards["3x3"], study_games)
    _perfect_play(record, {**histories, "3x3, epsilon 0.2": long})
    _ties(record, boards["2x2"], epsilon, games_2x2)
    _ties_that_matter(record, epsilon, study_games)
    _passing(record, histories, epsilon, study_games)
    _games(record, histories, gnugo_games)
    _speed(record, boards, epsilon, speed_games)


def _exact_values(record: Recorder) -> None:
    superko, three = azlab.game("go", size=2, komi=0, ko="positional"), azlab.game("go", size=3, komi=0)
    first = azlab.oracle(three).scores(three.start())
    record("s2.exact.2x2", azlab.oracle(superko).value(superko.start()))
    record("s2.exact.3x3", {"centre": first["b2"], "edge": first["a2"], "corner": first["a1"]})
    record("s2.tabular.entries.2x2", table_entries(2))
    record("s2.tabular.entries.3x3", table_entries(3))
    record("s2.tabular.memory", {f"{n}x{n}": 8 * table_entries(n) for n in (2, 3, 4, 5)})


def table_entries(n: int) -> int:
    """Numbers in the source's table: each side to move, each way to fill the board, each move (table 6.1)."""
    return 2 * 3 ** (n * n) * (n * n + 1)


def _history(record: Recorder, label: str, table: MonteCarloControl, games: int) -> TableHistory:
    oracle: Any = azlab.oracle(table.game)
    states = oracle.positions()
    with record.progress(label) as report:
        return TableHistory(table, states, oracle.action_scores(states)).run(games, report, record.folder / label)


def _settling(record: Recorder, histories: dict[str, TableHistory]) -> None:
    """How much values still change (figures 6.1 and 6.2)."""
    updated = {}
    for size, history in histories.items():
        last = min(1_000_000, history.games[-1])
        record.curve(f"s2.tabular.{size}.change", *history.changes())
        record(f"s2.tabular.{size}.last_change", history.change(last), note=f"after {last:,} games")
        updated[size] = {"values": history.changes(updated=True)[1], "last": history.change(last, updated=True), "games": last}
    record.data("changes of pairs tried again", updated)


def _by_kind(history: TableHistory, position: Position, kinds: dict[str, list[str]]) -> dict[str, np.ndarray]:
    """The values of the first moves over time, means over moves of a kind."""
    values = history.values_of(position)
    return {kind: np.mean([values[move] for move in moves], axis=0) for kind, moves in kinds.items()}


def _first_moves(record: Recorder, histories: dict[str, TableHistory], long: TableHistory) -> None:
    """The learned values of Black's first move beside those of the tables that the author kept."""
    lines = {size: _by_kind(one, one.table.game.start(), KINDS[size]) for size, one in histories.items()}
    record.data("first moves", {size: {"games": histories[size].games, **lines[size]} for size in lines})
    two, three = histories["2x2"], histories["3x3"]
    at = three.at(min(100_000, three.games[-1]))
    end = {kind: values[-1] for kind, values in lines["2x2"].items()}
    record("s2.tabular.2x2.values", end, note=f"after {two.games[-1]:,} games; the point is the mean of four")
    early = {kind: values[at] for kind, values in lines["3x3"].items()}
    record("s2.tabular.3x3.values_1e5", early, note=f"after {three.games[at]:,} games; means over points of a kind")
    start = three.table.game.start()
    late = {kind: line[-1] for kind, line in _by_kind(long, start, KINDS["3x3"]).items() if kind != "pass"}
    record("s2.tabular.3x3.values_1e7", late, note=f"after {long.games[-1]:,} games, epsilon 0.2, plain start")
    record.data("last values", {"epsilon 0.5": three.table.values(start), "epsilon 0.2": long.table.values(start)})
    best = three.table.game.move_name(three.table.best_action(start))
    record("s2.tabular.3x3.first_move", next(kind for kind, moves in KINDS["3x3"].items() if best in moves))


def _exploration(record: Recorder, game: Game, games: int) -> None:
    """Epsilon-greedy and an optimistic start: pairs tried, and positions played perfectly (section 5.2)."""
    curves = []
    for epsilon in (0.0, 0.2, 0.5):
        for optimistic in (False, True):
            table = MonteCarloControl(game, epsilon, optimistic, "board", record.seed)
            run = _history(record, f"epsilon {epsilon:g}{', optimistic' if optimistic else ''}", table, games)
            curve = {"games": run.games, "met": run.met, "perfect": run.perfect}
            curves.append({"epsilon": epsilon, "optimistic": optimistic, **curve})
    record.data("exploration", curves, digits=3)


def _perfect_play(record: Recorder, histories: dict[str, TableHistory]) -> None:
    record.data("perfect play", {name: {"games": one.games, "share": one.perfect} for name, one in histories.items()})
    three, two = histories["3x3"], histories["2x2"]
    untrained = MonteCarloControl(three.table.game, seed=record.seed, **AS_IN_THE_SOURCE)
    record.data("perfect play, untrained 3x3", TableHistory(untrained, three.states, three.result).perfect_rate())
    record.data("mean value by exact result", {str(result): line for result, line in three.mean_by_result().items()})
    matters = int(two.matters.sum())
    record.data("wrong on 2x2", {"positions": round((1 - two.perfect[-1]) * matters), "of": matters})
    winning = two.table.game.from_moves("a1 pass")
    record.data("after a1 pass", two.table.values(winning))


def _ties(record: Recorder, game: Game, epsilon: float, games: int) -> None:
    """A tied game that learns from the game before, and one that counts zero."""
    runs, found = {}, {}
    for ties, taught in TIES.items():
        table = MonteCarloControl(game, epsilon, True, "board", record.seed, taught=taught)
        runs[ties] = _history(record, f"2x2, ties={ties}", table, games)
        share = table.results[1] / table.games
        found[ties] = {"perfect": runs[ties].perfect[-1], "a1": table.values(game.start())["a1"], "tied games": share}
    shift = np.abs(runs["previous"].q[-1] - runs["zero"].q[-1])
    record.data("ties on 2x2", {**found, "mean shift": np.nanmean(shift), "largest shift": np.nanmax(shift)})


def _ties_that_matter(record: Recorder, epsilon: float, games: int) -> None:
    """The same on 3x3 with komi 9, where perfect play is a tie."""
    fair, bins, found = azlab.game("go", size=3, komi=9), np.linspace(-1, 1, 41), {}
    for ties, taught in TIES.items():
        table = MonteCarloControl(fair, epsilon, False, "board", record.seed, taught=taught)
        run = _history(record, f"komi 9, ties={ties}", table, games)
        counts = np.histogram(run.q[-1][~np.isnan(run.q[-1])], bins)[0]
        found[ties] = {
            "tied games": table.results[1] / table.games, "values of -1": np.nanmean(run.q[-1] == -1) / run.met[-1],
            "centre": table.values(fair.start())["b2"], "perfect": run.perfect[-1], "histogram": counts,
        }  # fmt: skip
    record.data("ties with komi 9", found)


def _passing(record: Recorder, histories: dict[str, TableHistory], epsilon: float, games: int) -> None:
    """Whether games of the table with itself end by two passes, and what it would need to learn that."""
    shares, shown = {}, {}
    for size, history in histories.items():
        game = history.table.game
        lines = [[move] for move in game.start().legal_moves]
        played = match(TableAgent(history.table), TableAgent(history.table, "itself"), 2 * len(lines), game, openings=lines)
        shares[size] = np.mean([one.moves[-2:] == ("pass", "pass") for one in played.records])
        shown[size] = {"share": shares[size], "length": np.mean([len(one.moves) for one in played.records])}
        if size == "3x3":
            record.data("a game on 3x3", list(played.records[2 * game.action("b2")].moves))
    record.data("ended by two passes", shown)
    note = " and ".join(f"{share:.0%} of the games end with two passes on {size}" for size, share in shares.items())
    record("s2.tabular.never_passes", not any(shares.values()), note=note)
    three, passing = histories["3x3"], {}
    switches = {"source": ("board", 1.0), "discount 0.95": ("board", 0.95), "sees the pass": ("situation", 1.0)}
    for name, (key, discount) in {**switches, "both": ("situation", 0.95)}.items():
        table = MonteCarloControl(three.table.game, epsilon, False, key, record.seed, discount)
        with record.progress(f"passing, {name}") as report:
            table.run(games)
            report(games, games)
        passing[name] = _passes_when_it_wins(table, three.states)
    record.data("passes where a pass wins", passing)


def _passes_when_it_wins(table: MonteCarloControl, states: np.ndarray) -> float:
    """The share of passes in positions in which the opponent has passed and a pass would win, among those where it was tried."""
    game, states = table.game, states[states["passes"] == 1]
    leads = np.zeros(len(states))
    game.kernels.lead(states, leads)
    ahead = leads * (1 - 2 * states["to_move"]) > 0
    tried = table.look_up(states)[1][:, game.action("pass")] > 0
    return float(np.mean(table.greedy_actions(states)[ahead & tried] == game.action("pass")))


def _games(record: Recorder, histories: dict[str, TableHistory], gnugo_games: int) -> None:
    """The tables against the perfect player, and with the source's rule for passes against GNU Go (section 6.1)."""
    tallies = {}
    for size, history in histories.items():
        for answers, agent in ((False, TableAgent), (True, AnswersPasses)):
            played = match(agent(history.table), "perfect", 20, history.table.game, openings=0, seed=record.seed)
            counts = [[tally.wins, tally.draws, tally.losses] for tally in played.by_seat]
            tallies[f"{size}{', answers passes' if answers else ''}"] = counts
    record.data("against the perfect player", tallies)
    if find_program("gnugo") is None:  # its claims then count as not run
        return
    margins, first = {}, {}
    for size, history in histories.items():
        table, gnugo = AnswersPasses(history.table), azlab.agent("gnugo", seed=record.seed)
        with record.progress(f"GNU Go, {size}") as report:
            played = match(table, gnugo, 2 * gnugo_games, history.table.game, openings=0, seed=record.seed, progress=report)
        gnugo.close()
        for seat, colour in enumerate(("black", "white")):
            margins[f"{size} as {colour}"] = _margin(played, seat)
            first[f"{size} as {colour}"] = list(next(one for one in played.records if one.players[seat] == "table").moves)
    record.data("against GNU Go", {"margins": margins, "first games": first})
    note = f"mean of {gnugo_games} games, with the source's trick"
    record("s2.tabular.gnugo.2x2.black", margins["2x2 as black"], note=note)
    record("s2.tabular.gnugo.2x2.white", margins["2x2 as white"], note=note)
    record("s2.tabular.gnugo.3x3.black_wins", bool(margins["3x3 as black"] > 0 > margins["3x3 as white"]), note=note)


def _margin(played: MatchResult, seat: int) -> float:
    """The mean margin of the table in the games that it played in this seat."""
    leads = [np.subtract(*(one.final.scores or (0, 0))) for one in played.records if one.players[seat] == "table"]
    return float(np.mean(leads)) * (1 - 2 * seat)


def _speed(record: Recorder, boards: dict[str, Game], epsilon: float, games: int) -> None:
    """How long the source's numbers of games take on one core."""
    found = {}
    for size, asked in (("2x2", 1_000_000), ("3x3", 100_000)):
        table = MonteCarloControl(boards[size], seed=record.seed, epsilon=epsilon, **AS_IN_THE_SOURCE)
        table.run(10)  # compiles
        start, busy = time.perf_counter(), time.process_time()
        table.run(games)
        seconds, busy = (time.perf_counter() - start) / games, (time.process_time() - busy) / games
        record(f"s2.tabular.seconds.{size}", asked * seconds, note=f"from {games:,} games on one core")
        found[size] = {"seconds for 1,000,000 games": 1e6 * seconds, "of the processor": 1e6 * busy}
    record.data("speed", found)
