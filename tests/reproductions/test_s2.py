"""Source S2 on tables: what its program learned, its mistake with ties, its rule for passes; its experiment at a tiny scale."""

import pytest

import azlab
from azlab.learning.tabular import MonteCarloControl
from azlab.repro import Recorder, claims, experiments
from azlab_reproductions.s2_go.oddities import AnswersPasses, result_or_the_one_before

pytestmark = pytest.mark.slow

TWO = azlab.game("go", size=2, komi=0)
THREE = azlab.game("go", size=3, komi=0)


def test_2x2_learns_the_values_of_the_source():
    """S2, figure 6.1 and the saved runs (epsilon 0.5): the four points about .218, the pass -.17."""
    table = MonteCarloControl(TWO, epsilon=0.5, optimistic=True, taught=result_or_the_one_before, key="board", seed=1)
    table.run(300_000)
    values = table.values(TWO.start())
    assert all(values[point] == pytest.approx(0.218, abs=0.02) for point in ("a1", "a2", "b1", "b2"))
    assert values["pass"] == pytest.approx(-0.17, abs=0.04)


def test_3x3_learns_that_the_centre_is_best_as_in_the_source():
    """S2, 100,000 games with an optimistic start: centre .41, edges .19 to .26, corners about -.1."""
    table = MonteCarloControl(THREE, epsilon=0.5, optimistic=True, taught=result_or_the_one_before, key="board", seed=1)
    table.run(100_000)
    values = table.values(THREE.start())
    assert values["b2"] == pytest.approx(0.41, abs=0.05)
    assert all(values[edge] == pytest.approx(0.22, abs=0.06) for edge in ("a2", "b1", "b3", "c2"))
    assert all(values[corner] == pytest.approx(-0.1, abs=0.08) for corner in ("a1", "a3", "c1", "c3"))
    assert table.best_action(THREE.start()) == THREE.action("b2")


def test_drawn_games_teach_zero_or_by_mistake_the_result_before():
    """With komi 5 nothing can be won on 2x2 by Black but 4-5 = -1; with komi 4 Black's best is a draw."""
    game = azlab.game("go", size=2, komi=4)
    right = MonteCarloControl(game, key="board", seed=3)
    wrong = MonteCarloControl(game, taught=result_or_the_one_before, key="board", seed=3)
    for table in (right, wrong):
        table.run(3000)
    assert right.results[1] > 0 and right.results[2] == 0  # draws happen, wins of Black cannot
    assert right.q.max() == 0 and (right.q[right.counts > 0] > -1).any()
    assert (wrong.q[wrong.counts > 0] == -1).mean() > (right.q[right.counts > 0] == -1).mean()


def test_the_trick_of_the_source_answers_a_pass_with_a_pass():
    table = MonteCarloControl(TWO, key="board", seed=1)
    table.run(1000)
    lost = TWO.from_moves("a1 b2 b1 a2")  # White has captured both; if White passes, a pass of Black's loses by four
    passed = TWO.from_moves("pass a1 pass")  # a pass of White's wins
    behind = TWO.from_moves("a1 pass b2 pass").play("a2")  # no pass just before
    assert AnswersPasses(table).choose(passed) == TWO.action("pass")
    assert AnswersPasses(table).choose(TWO.from_moves([*lost.moves, "b1", "pass"])) == TWO.action("pass")
    for position in (TWO.start(), lost, behind):
        assert AnswersPasses(table).choose(position) == table.best_action(position)


def test_a_game_without_passes_has_none_to_answer():
    with pytest.raises(azlab.AzlabError, match="tictactoe has no pass"):
        AnswersPasses(MonteCarloControl(azlab.game("tictactoe")))


TINY = {
    "games_2x2": 300,
    "games_3x3": 300,
    "long_games": 300,
    "study_games": 100,
    "speed_games": 50,
    "epsilon": 0.5,
    "gnugo_games": 1,
}


def test_the_experiment_measures_every_claim_that_names_it(need):
    need("gnugo")
    record = Recorder("s2_go", "smoke", seed=1)
    experiments.find("s2.tabular").function()(record, **TINY)
    wanted = {claim.id for claim in claims.load("s2").claims if claim.experiment == "tabular" and not claim.unchecked}
    assert wanted == set(record.claims) | set(record.curves)
    assert record.claims["s2.exact.3x3"]["value"] == {"centre": 9.0, "edge": 3.0, "corner": -9.0}


def test_a_stopped_experiment_goes_on_with_the_same_numbers(tmp_path, monkeypatch):
    """Stopped in the sixth of its histories; the first five are not learned again."""
    function, played = experiments.find("s2.tabular").function(), []

    def run(table, games):
        played.append(games)
        if stop and sum(played) > 1100:
            raise KeyboardInterrupt
        return plain(table, games)

    plain, stop = MonteCarloControl.run, True
    monkeypatch.setattr(MonteCarloControl, "run", run)
    with pytest.raises(KeyboardInterrupt):
        function(Recorder("s2_go", "smoke", 1, tmp_path / "stopped"), **TINY)
    stop, found, totals = False, [], []
    for folder in ("stopped", "whole"):
        played.clear()
        record = Recorder("s2_go", "smoke", 1, tmp_path / folder)
        function(record, **TINY)
        totals.append(sum(played))
        values = {claim: entry["value"] for claim, entry in record.claims.items() if ".seconds." not in claim}
        found.append((values, record.curves, {name: data for name, data in record.kept.items() if name != "speed"}))
    assert repr(found[0]) == repr(found[1]) and totals == [totals[1] - 1100, totals[1]]
