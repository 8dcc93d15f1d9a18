"""The two tasks of S1 as experiments: three generations of tic-tac-toe, five of "simple go" on 5x5.

What both trainings share stands here; what differs between profiles is in profiles.toml.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import azlab
from azlab.arena import each_against_each, elo, match, round_robin
from azlab.arena.elo import Estimate
from azlab.games.count import solve
from azlab.games.game import Game, Position
from azlab.learning.afterstates import AfterstateNet, ValueAgent
from azlab.learning.generations import ValueGenerations
from azlab.repro.record import Recorder
from azlab_reproductions.s1_value_generations.exam import against_every_line, positions_met

FILTERS = {"tictactoe": (30, 50), "simple_go": (30, 50, 70)}  # of the convolutions of each task's network
TRAINING = {"learning_rate": 0.001, "decay": 1e-4}  # of Adam; half the decay times all squared weights counts as loss
WATCHED = "b2 a3 c3 a1"  # of tic-tac-toe: White threatens the left column, and one of Black's five moves prevents it
COLOURS = ("black", "white")  # seat 0 and 1
SHOWN = 5  # mistakes kept for the picture


def tictactoe(record: Recorder, *, games: list, epochs: int) -> None:
    """Three generations of tic-tac-toe, examined by every line of an opponent and by a perfect player (S1, task 1).

    games: played for each generation
    epochs: times each generation goes through its games, each position in all eight symmetries
    """
    game = azlab.game("tictactoe")
    learner = ValueGenerations(game, FILTERS["tictactoe"], **TRAINING, seed=record.seed)
    players: dict[str, AfterstateNet] = {"untrained": ValueGenerations(game, FILTERS["tictactoe"], **TRAINING, seed=record.seed)}
    with record.progress("tic-tac-toe") as report:
        generations = learner.run(games, epochs, record.folder / "tictactoe", progress=report)
    players |= _by_name(generations)
    _record_training(record, learner, "all")
    minutes = sum(row["train_seconds"] for row in learner.metrics) / 60
    _record_exam(record, players, f"trained in {minutes:.0f} minutes")
    record.data("worth", {name: _worth_of_moves(net, game.from_moves(WATCHED)) for name, net in players.items()})
    record.data("mistakes", {name: _mistakes(net) for name, net in players.items()})
    record.data("worst mistakes", _worst_mistakes(generations[-1]))
    with record.progress("looking ahead") as report:
        lost = {}
        for number, (name, net) in enumerate(players.items(), 1):
            lost[name] = [_lost_lines(net, plies) for plies in (1, 2, 3)]
            report(number, len(players))
    record.data("lines lost by plies", lost)


def simple_go(
    record: Recorder, *, games: list, epochs: int, symmetries: str, batch: int, elo_games: int, lookahead_games: list
) -> None:
    """Five generations of 5x5 simple go and their tournament, then ratings and a look ahead (S1, task 2).

    games: played for each generation
    epochs: times each generation goes through its games
    symmetries: each position turned all eight ways in every epoch ("all", as in the source), or in "one" drawn at random
    batch: positions in a training step
    elo_games: games of every pair of generations for the ratings, which the source does not have
    lookahead_games: games of 2 and of 3 plies against 1, which the source does not have
    """
    game = azlab.game("simple_go")
    learner = ValueGenerations(game, FILTERS["simple_go"], **TRAINING, seed=record.seed)
    with record.progress("simple go") as report:
        generations = learner.run(games, epochs, record.folder / "simple_go", symmetries, batch, report)
    players = _by_name(generations)
    _record_training(record, learner, symmetries)
    record.data("worth of first moves", {name: _worth_of_moves(net, game.start()) for name, net in players.items()})
    agents = [ValueAgent(net, name) for name, net in players.items()]
    _record_tournament(record, agents)
    _record_ratings(record, agents, elo_games)
    _record_lookahead(record, generations[-1], lookahead_games)


# --- both tasks ---------------------------------------------------------------------------------------------------------


def _by_name(generations: list[AfterstateNet]) -> dict[str, AfterstateNet]:
    return {f"generation {number}": net for number, net in enumerate(generations, 1)}


def _record_training(record: Recorder, learner: ValueGenerations, symmetries: str) -> None:
    record.data("losses", learner.losses)  # one an epoch
    kept = []
    for row in learner.metrics:
        seconds = {"playing": round(row["play_seconds"], 1), "training": round(row["train_seconds"], 1)}
        settings = {"games": row["games"], "epochs": row["epochs"], "symmetries": symmetries, "batch": row["batch"]}
        kept.append({**settings, "positions": row["moves"], "seconds": seconds})
    record.data("generations", kept)


def _worth_of_moves(net: AfterstateNet, position: Position) -> dict[str, float]:
    """What the position after each legal move is worth to Black according to the network, by the move's name."""
    after = np.concatenate([position.play(move).state for move in position.legal_moves])
    return dict(zip(position.legal_moves, net.worth(after).tolist()))


# --- task 1 -------------------------------------------------------------------------------------------------------------


def _record_exam(record: Recorder, players: dict[str, AfterstateNet], note: str) -> None:
    """Every line an opponent can play against each generation; the marks of the last one are what the source claims."""
    exam = {
        name: {colour: against_every_line(net.game, net.choose_actions, seat) for seat, colour in enumerate(COLOURS)}
        for name, net in players.items()
    }
    record.data("exam", exam)
    for colour, counts in list(exam.values())[-1].items():
        record(f"s1.tictactoe.lines.{colour}", sum(counts["lines"]))
        for what, share in zip(("wins", "ties", "losses"), _shares(counts["lines"])):
            record(f"s1.tictactoe.{colour}.{what}", share, note=note if what == "wins" else "")
        wins, ties, losses = _shares(counts["games"])
        of = f"of {sum(counts['games'])} different games; "
        record(
            f"s1.tictactoe.games.{colour}",
            {"wins": wins, "ties": ties, "losses": losses},
            note=of + "the other student's must be counted otherwise, being more than there are lines",
        )


def _shares(counts: Sequence[int]) -> list[float]:
    return [count / sum(counts) for count in counts]


def _lost_lines(net: AfterstateNet, plies: int) -> int:
    """How many of all 1,329 lines the network loses that looks `plies` moves ahead."""

    def choose(states: np.ndarray) -> np.ndarray:
        return net.choose_actions(states, plies)

    return sum(against_every_line(net.game, choose, seat)["lines"][2] for seat in (0, 1))


def _open_positions(game: Game) -> np.ndarray:
    """Every position of tic-tac-toe with a move to make: states [4520]."""
    everything = np.concatenate([layer for layer, _ in solve(game, game.new_states(1))])
    return everything[~everything["over"]]


def _mistakes(net: AfterstateNet) -> dict[str, list[int]]:
    """Moves that give away part of the result, and positions asked about: in all, and where its own play may lead."""
    perfect = azlab.oracle("tictactoe")
    asked = {"all": _open_positions(net.game)}
    asked |= {colour: positions_met(net.game, net.choose_actions, seat) for seat, colour in enumerate(COLOURS)}
    return {
        where: [int((perfect.given_away(states, net.choose_actions(states)) > 0).sum()), len(states)]
        for where, states in asked.items()
    }


def _worst_mistakes(net: AfterstateNet) -> list[dict[str, Any]]:
    """Some positions in which the network goes wrong, the worst and earliest first: moves that lead there, its move, better ones.

    Nobody has a row in these positions, so their stones may be set in any order.
    """
    game, perfect, states = net.game, azlab.oracle("tictactoe"), _open_positions(net.game)
    actions = net.choose_actions(states)
    cost = perfect.given_away(states, actions)
    found = []
    for k in np.lexsort((states["ply"], -cost))[: min(SHOWN, int((cost > 0).sum()))]:
        moves = np.zeros(states["ply"][k], np.int64)
        moves[::2], moves[1::2] = (np.flatnonzero(states["board"][k] == seat) for seat in (0, 1))
        position = game.from_moves(moves.tolist())
        played, better = game.move_name(int(actions[k])), list(perfect.best_moves(position))
        found.append({"moves": " ".join(map(game.move_name, moves.tolist())), "played": played, "better": better})
    return found


# --- task 2 -------------------------------------------------------------------------------------------------------------


def _record_tournament(record: Recorder, agents: list[ValueAgent]) -> None:
    """The source's table: each generation plays Black once against each, itself included, without openings."""
    table = each_against_each(agents, agents[0].net.game)
    scores = np.array([[game.result for game in row] for row in table])
    others = ~np.eye(len(agents), dtype=bool)
    points = ((1 + scores) / 2 * others).sum(axis=1) + ((1 - scores) / 2 * others).sum(axis=0)
    record("s1.go.round_robin", scores.ravel().tolist())
    record("s1.go.beat_first", int((scores[1:, 0] == 1).sum() + (scores[0, 1:] == -1).sum()))
    record("s1.go.points", points.tolist())
    record("s1.go.last_is_best", bool(points[-1] == points.max()))


def _record_ratings(record: Recorder, agents: list[ValueAgent], games: int) -> None:
    """Matches of all pairs from random openings, and Elo ratings with the first generation at 0."""
    with record.progress("round robin") as report:
        tournament = round_robin(agents, agents[0].net.game, games, seed=record.seed, progress=report)
    names = [agent.name for agent in agents]
    record.data(
        "matches", {one: {other: list(tournament.between(one, other)) for other in names if other != one} for one in names}
    )
    ratings = elo.fit(tournament, anchor=(names[0], 0))
    record.data("ratings", {name: _interval(ratings[name]) for name in names})
    record.data("rating steps", {new: _interval(ratings.difference(new, old)) for old, new in pairwise(names)})
    record.data("first seat", _interval(ratings.first_advantage))
    record.data("draw rate", _interval(ratings.draw_rate))


def _interval(estimate: Estimate) -> dict[str, float]:
    """An estimate and its 95% interval."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _record_lookahead(record: Recorder, net: AfterstateNet, games: list) -> None:
    """The network looking two and three moves ahead against itself looking one move ahead."""
    greedy, found = ValueAgent(net, "1 ply"), {}
    for plies, count in zip((2, 3), games):
        deeper = ValueAgent(net, f"{plies} plies", plies)
        with record.progress(deeper.name) as report:
            result = match(deeper, greedy, count, net.game, seed=record.seed, progress=report)
        found[deeper.name] = {"counts": list(result.total), "score": result.score, "interval": list(result.interval)}
    record.data("look-ahead", found)
