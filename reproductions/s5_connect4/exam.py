"""Beyond the source: the player `az` that ships for Connect 4, examined on solved positions and in matches.

The source measures one number, the share of best moves of a search of 343 nodes on 10,000 hard positions; its best network had
91.78 %. A best move there wins as fast or loses as slowly as can be, so a move that is not best may still keep the result: of
every mistake the solver says whether it gave the result away or only time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import azlab
from azlab.arena import match
from azlab.arena.match import random_openings
from azlab.arena.results import MatchResult, score_interval
from azlab.files import load_arrays, save_arrays
from azlab.games.connect4 import Connect4
from azlab.games.game import Position
from azlab.learning.config import preset
from azlab.learning.evaluation import UNKNOWN, Graded, accuracy_of, graded, sample, search_moves
from azlab.learning.shipped import load_player
from azlab.machine import cores
from azlab.nets.residual import count_multiplications
from azlab.oracles.connect4_grading import grade
from azlab.repro.examined import Examined, examined
from azlab.repro.record import Recorder

SETS = {"hard": "connect4/hard_test.txt.gz", "easy": "connect4/easy_test.txt.gz"}
ALONE = "net"  # the network without any search
FEW = 200  # positions that are solved in this process, because others take longer to start
UNTRAINED = {"net.blocks": 1, "net.filters": 8, "net.stem": 8, "net.head": 2}


def exam(
    record: Recorder, *, player: str, simulations: list, hard: int, easy: int, games: int, players: list, plies: int, uct: int
) -> None:
    """The player that ships for Connect 4: accuracy alone and with searches, mistakes by ply, matches.

    player: "az", the one that ships, or "untrained", a very small one made on the spot
    simulations: of the searches on positions
    hard, easy: how many positions of each test set; 0 for all
    games: of each match
    players: simulations a move of the player in matches
    plies: random moves that open the matches against the perfect player
    uct: simulations of the UCT opponent
    """
    az = examined(record, Connect4(), player, preset("connect4").changed(UNTRAINED))
    record.data("player", az.facts() | {"multiplications": count_multiplications(load_player(az.file)[0].net.config)})
    tests = {name: sample(graded(az.game, SETS[name]), count) for name, count in (("hard", hard), ("easy", easy))}
    moves = {name: _moves(record, az, name, test, simulations) for name, test in tests.items()}
    exams = {name: _accuracies(az, test, moves[name]) for name, test in tests.items()}
    record.data("exams", exams)
    record.data("mistakes", _mistakes(record, tests["hard"], moves["hard"]))
    record.data("against perfect", {str(count): _against_perfect(record, az, count, games, plies) for count in players})
    record.data("against uct", {str(count): _against_uct(record, az, count, games, uct) for count in players})


# --- positions ----------------------------------------------------------------------------------------------------


def _answers(az: Examined, test: Graded) -> tuple[np.ndarray, ...]:
    """What the network alone says of the positions."""
    return az.net().evaluate(test.states, az.game.legal_mask(test.states))


def _moves(record: Recorder, az: Examined, name: str, test: Graded, simulations: list) -> dict[str, np.ndarray]:
    """The moves that the network alone and each search choose in the positions of a set: int64 [N] each."""
    found, player = {ALONE: _answers(az, test)[0].argmax(axis=1)}, az.agent(1)
    nets = [az.net() for _ in range(cores())]
    for count in simulations:
        done = 0
        with record.progress(f"{name}, {count} simulations") as report:

            def searched(more: int, report: Callable = report) -> None:
                nonlocal done
                done += more
                report(done, len(test.states))

            file = az.kept(f"{name}-{len(test.states)}-{count}.npz")
            if not file.is_file():
                chosen = search_moves(nets, test.states, player.search, count, az.seed, searched, player.searcher)
                save_arrays(file, {"moves": chosen})
            found[str(count)] = load_arrays(file)["moves"]
    return found


def _accuracies(az: Examined, test: Graded, moves: dict[str, np.ndarray]) -> dict[str, Any]:
    """Shares of best moves with half the width of their 95 % intervals, and of right results of the network."""
    found: dict[str, Any] = {"positions": len(test.states), "best": {}, "half": {}}
    for way, chosen in moves.items():
        share = float(test.best[np.arange(len(chosen)), chosen].mean())
        found["best"][way], found["half"][way] = share, 1.96 * float(np.sqrt(share * (1 - share) / len(chosen)))
    return found | {"results": accuracy_of(_answers(az, test), test)["result_accuracy"]}


def _mistakes(record: Recorder, test: Graded, moves: dict[str, np.ndarray]) -> dict[str, Any]:
    """By ply: how many positions there are, and how many moves of each way were not best, or gave the result away."""
    plies = test.states["ply"].astype(int)
    rows = np.arange(len(plies))
    wrong = {way: ~test.best[rows, chosen] for way, chosen in moves.items()}
    lost = {way: np.zeros(len(plies), np.bool_) for way in moves}
    for way, where in wrong.items():
        at = np.flatnonzero(where & (test.results != UNKNOWN))
        lost[way][at] = _results_after(record, test.states[at], moves[way][at]) != test.results[at]
    names = np.unique(plies)
    by_ply = {
        kind: {way: [int(of[plies == ply].sum()) for ply in names] for way, of in found.items()}
        for kind, found in (("not best", wrong), ("result given away", lost))
    }
    return {"ply": names.tolist(), "positions": [int((plies == ply).sum()) for ply in names], **by_ply}


def _results_after(record: Recorder, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """The results under perfect play, for seat 0, after a move in each state."""
    after = states.copy()
    Connect4().kernels.play(after, actions)
    with record.progress("judging mistakes") as report:
        found = grade(after, processes=1 if len(after) < FEW else cores(), progress=report, cache=record.folder / "solved")
    return np.sign(found.values)


# --- matches ------------------------------------------------------------------------------------------------------


def _against_perfect(record: Recorder, az: Examined, simulations: int, games: int, plies: int) -> dict[str, Any]:
    """In each seat from openings that are won for it, against a perfect player who resists as long as can be."""
    exact, found = azlab.oracle(az.game), {}
    openings = random_openings(az.game, 100 + 8 * games, plies, az.seed)  # about 1 in 5 is won for the second player
    for seat, name in enumerate(("first", "second")):
        won = _won_for(seat, openings, exact, games // 2)

        def play(report: Any, seat: int = seat, won: list[Position] = won) -> MatchResult:
            both: list[Any] = [az.agent(simulations), "perfect"]
            one, other = both if seat == 0 else both[::-1]
            return match(one, other, games // 2, az.game, won, az.seed, report, swap_seats=False)

        label = f"perfect, az {name}, {simulations} simulations, {plies} plies, {games // 2} games"
        records = az.played(record, label, play).records
        results = [one.result if seat == 0 else -one.result for one in records]
        low, high = score_interval([[(result + 1) / 2] for result in results])
        found[name] = {
            "won": results.count(1),
            "drawn": results.count(0),
            "lost": results.count(-1),
            "interval": [low, high],  # of its points a game
            "let go": sorted(_let_go(one.positions, seat, exact) for one in records if one.result != 1 - 2 * seat),
        }
    return found


def _won_for(seat: int, openings: list[Position], exact: Any, count: int) -> list[Position]:
    """The first `count` openings that are won for a seat."""
    found: list[Position] = []
    for one in openings:
        if len(found) < count and not one.over and np.sign(exact.value(one)) == 1 - 2 * seat:
            found.append(one)
    return found


def _let_go(positions: list[Position], seat: int, exact: Any) -> int:
    """How many moves had been played when `seat` made the one by which a game that was won for it was not any more."""
    going = (one for one in reversed(positions) if not one.over)  # late positions are solved quickly
    return next(one.ply for one in going if np.sign(exact.value(one)) == 1 - 2 * seat)


def _against_uct(record: Recorder, az: Examined, simulations: int, games: int, uct: int) -> dict[str, Any]:
    """From random openings, each played from both seats."""

    def play(report: Any) -> MatchResult:
        return match(az.agent(simulations), f"uct:{uct}", games, az.game, None, az.seed, report)

    played = az.played(record, f"uct:{uct}, az {simulations} simulations, {games} games", play)
    tally = {"won": played.wins, "drawn": played.draws, "lost": played.losses}
    return tally | {"interval": list(played.interval), "different": played.distinct}
