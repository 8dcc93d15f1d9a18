"""Beyond the source: the player that ships with azlab, which has the same 28 numbers and was trained right."""

from collections import Counter

import azlab
from azlab.arena import match
from azlab.arena.match import random_openings
from azlab.learning.evaluation import graded, graded_by_oracle, network_accuracy, own_positions, search_accuracy
from azlab.learning.player import TrainedAgent
from azlab.learning.shipped import player_for
from azlab.repro.record import Recorder
from azlab_reproductions.s3_dots_and_boxes.kept import Kept

SIMULATIONS = 100  # a move of the shipped player


def beyond(record: Recorder, *, test_positions: int, games: int, uct: int) -> None:
    """The shipped player of 3x3 boxes, examined by the oracle and in matches; it has no counterpart in S3.

    test_positions: random positions of one exam; a twentieth as many of its own games are the other
    games: of each match
    uct: simulations of its UCT opponent
    """
    boxes, seed = azlab.game("dots_and_boxes"), record.seed
    exact, az = azlab.oracle(boxes), TrainedAgent(player_for(boxes), SIMULATIONS, seed=seed)
    met = own_positions([az.evaluator], az.search, SIMULATIONS, max(4, test_positions // 20), random_plies=10, seed=seed)
    tests = {"its own games": graded_by_oracle(boxes, met), "random positions": graded(boxes, "random", test_positions, seed)}
    exams = {}
    for name, test in tests.items():
        alone = network_accuracy(az.evaluator, test)
        exams[name] = {
            "positions": len(test.states),
            **alone,
            **search_accuracy([az.evaluator], test, az.search, SIMULATIONS, seed),
        }
    record.data("exams", exams)

    openings = [one for one in random_openings(boxes, 400, 4, seed) if exact.value(one) < 0]
    second = {}
    for name in ("random", "minimax:6", f"uct:{uct}", "perfect"):
        opponent = Kept(name, seed, record.folder / "uct.jsonl") if name.startswith("uct") else name
        with record.progress(f"{name} against az") as report:
            played = match(opponent, az, games, boxes, openings, seed, report, swap_seats=False)
        interval = 1 - played.interval[1], 1 - played.interval[0]
        second[name] = {"won": played.losses, "games": len(played.records), "interval": interval}
    record.data("as second", second)  # from openings of four lines in which the second player wins with perfect play
    with record.progress("az against perfect") as report:
        played = match(az, "perfect", games, boxes, openings=0, seed=seed, progress=report, swap_seats=False)
    ends = Counter("{}-{}".format(*one.final.state["boxes"][0]) for one in played.records)
    record.data("as first against perfect", {"ends": dict(sorted(ends.items())), "different": played.distinct})
