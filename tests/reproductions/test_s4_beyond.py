"""Beyond S4, very small: the exam of the shipped player, three ways to learn two phases, and who is ahead under which rules."""

import json

import numpy as np
import pytest

import azlab
from azlab.arena import match
from azlab.arena.results import MatchResult
from azlab.learning import shipped
from azlab.learning.alphazero import new_learner
from azlab.learning.config import preset
from azlab.learning.evaluation import own_games
from azlab.repro.record import Recorder
from azlab_reproductions.s4_seega import exam as exams
from azlab_reproductions.s4_seega import phases as ways
from azlab_reproductions.s4_seega.variants import VARIANTS, variants

SMALL = [
    "iterations = 1", "selfplay.positions = 60", "selfplay.games = 8", "budget.simulations = 4", "search.gumbel = 4",
    "evaluation.opponents = []", "net.blocks = 1", "net.filters = 8", "net.stem = 8", "net.head = 2", "training.batch = 32",
]  # fmt: skip


def record_in(folder):
    return Recorder("s4_seega", "smoke", 1, folder)


@pytest.mark.slow
def test_the_exam_of_seega_and_what_it_keeps(tmp_path, monkeypatch):
    record = record_in(tmp_path)
    settings = {
        "player": "untrained",
        "simulations": 3,
        "opponents": ["random", "minimax:1"],
        "games": [4, 2],
        "own_games": 12,
        "stones": 6,
    }
    exams.exam(record, **settings)
    kept = record.kept
    assert kept["player"]["blocks"] == 1 and kept["player"]["simulations"] == 3
    for name, games in zip(settings["opponents"], settings["games"], strict=True):
        found = kept["matches"][name]
        assert found["won"] + found["drawn"] + found["lost"] == games
    assert kept["end"]["stones"] == 6
    json.dumps(kept)
    monkeypatch.setattr(exams, "match", lambda *_, **__: pytest.fail("it was played before"))
    again = record_in(tmp_path)
    exams.exam(again, **settings)
    assert again.kept == kept


def test_the_end_of_its_own_games_is_judged(tmp_path):
    """Random games that go on long enough to come to few stones, under other rules; each move by the value after it."""
    game = azlab.game("seega", quiet_limit=60)
    exact = azlab.oracle(game, stones=6)
    played = match("random", "random", 30, game, seed=1)

    class Kept:
        def played(self, record, label, play):
            return played

    found = exams._endgames(None, Kept(), 1, 30, exact)
    kept = [
        (1 - 2 * position.to_move) * (exact.value(position.play(move)) - exact.value(position)) == 0
        for one in played.records
        for position, move in list(zip(one.positions, one.moves))[one.opening :]
        if exact.knows(position.state)[0]
    ]
    assert found["moves"] == len(kept) > 0 and found["keeps"] == pytest.approx(np.mean(kept))
    assert found["interval"][0] <= found["keeps"] <= found["interval"][1] and len(found["lengths"]) == 30


@pytest.mark.slow
def test_three_ways_to_learn_two_phases_and_every_placer_with_every_mover(tmp_path):
    record = record_in(tmp_path)
    ways.phases(record, settings=SMALL, moving=1, placing=1, seeds=2, simulations=2, games=2)
    kept = record.kept
    assert list(kept["cells"]) == ["one", "two", "steps", "random"]
    assert all(
        len(cell) == 2 and all(sum(tally) == 2 for tally in cell) for row in kept["cells"].values() for cell in row.values()
    )
    assert {name: len(runs) for name, runs in kept["work"].items()} == {"one": 2, "two": 2, "moving": 2, "placing": 2}
    played = MatchResult.load(next((tmp_path / "work").glob("random-steps-*.jsonl")))
    assert {name for one in played.records for name in one.players} >= {"random places, steps moves"}


def test_effects_are_means_over_the_other_phase():
    """By hand: placers score 1, 1/2, 0 and 0 whoever moves; movers all the same then."""
    rows = {"one": [2, 0, 0], "two": [1, 0, 1], "steps": [0, 0, 2], "random": [0, 0, 2]}
    cells = {placer: {mover: [tally, tally] for mover in ways.WAYS} for placer, tally in rows.items()}
    found = ways.effects(cells)
    assert [found["placing"][name][0] for name in rows] == [1, 0.5, 0, 0]
    assert [found["moving"][name][0] for name in ways.WAYS] == [0.5, 0.5, 0.5]
    cells["one"]["two"] = [[0, 2, 0], [0, 2, 0]]  # draws count half
    assert ways.effects(cells)["placing"]["one"][0] == pytest.approx((1 + 0.5 + 1) / 3)
    assert ways.effects(cells)["moving"]["two"][0] == pytest.approx((0.5 + 0.5 + 0) / 3)


def test_the_two_steps_begin_on_full_boards_and_end_there():
    base = preset("seega")
    moving = ways.ways(base, 7)["moving"]
    assert (moving.selfplay.random_plies, moving.selfplay.random_least, moving.iterations) == (24, 24, 7)
    placing = ways.placing_config(base, 5, "runs/moving")
    assert placing.search.horizon and placing.test_search.horizon and placing.begin.judge == "runs/moving"


@pytest.mark.slow
def test_variants_are_tuned_from_one_network_and_say_the_truth_on_3x3(tmp_path, monkeypatch):
    record = record_in(tmp_path)
    variants(record, player="untrained", settings=SMALL, simulations=2, games=6, random_plies=4)
    kept = record.kept
    assert kept["3x3"].keys() == kept["5x5"].keys() == VARIANTS.keys()
    for rules, truth in zip(VARIANTS.values(), kept["3x3"].values(), strict=True):
        game = azlab.game("seega", size=3, **rules)
        assert truth == azlab.oracle(game).result(game.start())
    for found in kept["5x5"].values():
        assert found["won by the first"] + found["drawn"] + found["won by the second"] == 6


def test_own_games_follow_the_rules_of_their_variant():
    """Games end after three quiet moves, as these rules say, and every result is one."""
    config = preset("seega").changed({"options.quiet_limit": 3, **exams.UNTRAINED})
    learner = new_learner(config.rules(), config.net, config.loss, 0)
    told, net = [], learner.evaluator(1)
    ends = own_games([net], config.test_search, 1, 5, 2, 1, lambda done, total: told.append((done, total)))[1]
    results = ends["result"].tolist()
    assert ends["over"].all() and ends["quiet"].max() <= 3
    assert len(results) == 5 and set(results) <= {-1, 0, 1} and told[-1][1] == 5
    assert np.all(np.diff([done for done, _ in told]) >= 0)


def test_the_shipped_player_is_taken_if_there_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "data_folder", lambda: tmp_path)
    with pytest.raises(azlab.AzlabError, match="No trained player ships for azlab.game\\('seega'"):
        exams.exam(record_in(tmp_path / "run"), player="az", simulations=1, opponents=[], games=[], own_games=2, stones=6)
