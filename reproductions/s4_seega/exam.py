"""Beyond the source: the player `az` that ships for Seega on 5x5, one network for both phases, examined.

The source never let its agents play anyone. Here the player meets minimax and UCT from random openings, in both seats, and the
moves it makes at the end of its own games are judged by the tables of perfect play.
"""

from typing import Any

import numpy as np

import azlab
from azlab.arena import match
from azlab.arena.judging import judge, mean_interval
from azlab.arena.results import MatchResult
from azlab.learning.config import preset
from azlab.repro.examined import Examined, examined
from azlab.repro.record import Recorder

UNTRAINED = {"net.blocks": 1, "net.filters": 8, "net.stem": 8, "net.head": 2}


def exam(record: Recorder, *, player: str, simulations: int, opponents: list, games: list, own_games: int, stones: int) -> None:
    """The player that ships for Seega: matches against other ways to look ahead, and its endgames beside perfect play.

    player: "az", the one that ships, or "untrained", a very small one made on the spot
    simulations: a move of the player
    opponents, games: against whom, and how many games against each
    own_games: against itself, whose ends are judged
    stones: up to how many stones a position is judged; the tables must be there (`azlab data make seega stones=10`)
    """
    rules = azlab.game("seega")
    exact = azlab.oracle(rules, stones=stones)  # if the tables are not there, say so before anything runs
    az = examined(record, rules, player, preset("seega").changed(UNTRAINED))
    record.data("player", az.facts() | {"simulations": simulations})
    record.data("end", _endgames(record, az, simulations, own_games, exact))
    matches = {}
    for name, count in zip(opponents, games, strict=True):
        matches[name] = _against(record, az, name, simulations, count)
        record.data("matches", matches)


def _against(record: Recorder, az: Examined, name: str, simulations: int, games: int) -> dict[str, Any]:
    """From random openings, each played from both seats."""

    def play(report: Any) -> MatchResult:
        return match(az.agent(simulations), name, games, az.game, None, az.seed, report)

    played = az.played(record, f"{name}, az {simulations} simulations, {games} games", play)
    tally = {"won": played.wins, "drawn": played.draws, "lost": played.losses}
    return tally | {"score": played.score, "interval": list(played.interval), "different": played.distinct}


def _endgames(record: Recorder, az: Examined, simulations: int, games: int, exact: Any) -> dict[str, Any]:
    """By how many stones are left: moves of its games against itself, and how many of them keep the result."""

    def play(report: Any) -> MatchResult:
        return match(az.agent(simulations), az.agent(simulations), games, az.game, None, az.seed, report)

    played = az.played(record, f"itself, {simulations} simulations, {games} games", play)
    met = np.concatenate([position.state for one in played.records for position in one.positions if not position.over])
    if not exact.knows(met).any():
        return {"stones": exact.stones, "moves": 0}
    judged = judge(played.records, exact)
    low, high = mean_interval(judged.is_best, judged.game)
    return {
        "stones": exact.stones,
        "moves": len(judged.ply),
        "games": len(set(judged.game.tolist())),
        "keeps": float(judged.is_best.mean()),
        "interval": [low, high],
        "random keeps": float(judged.random_best.mean()),
        "lengths": [len(one.moves) for one in played.records],
        "results": [one.result for one in played.records],
    }
