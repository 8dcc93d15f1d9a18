"""Games judged by perfect play: on boards small enough to know every number by hand."""

import numpy as np
import pytest

import azlab
from azlab.arena.judging import judge, mean_interval
from azlab.arena.match import match
from azlab.arena.results import GameRecord
from azlab.errors import AzlabError

# lines aA bA / Aa Ab Ac / aB bB
GAME = azlab.game("dots_and_boxes", rows=1, cols=2)


def record(line, players=("ann", "bob"), opening=0):
    final = GAME.from_moves(line)
    return GameRecord(GAME, players, tuple(line.split()), opening, final.result, 0)


def test_a_box_that_is_not_taken_is_lost():
    """After aA Aa aB the left box lacks one line, Ab. If bob takes it, three lines of the right box are left and he is to move,
    so he also draws the last of them: 2-0. With bA he leaves the left box to ann, who then has to open the right one: 1-1."""
    judged = judge([record("aA Aa aB bA Ab Ac bB")])
    assert judged.player.tolist() == ["ann", "bob", "ann", "bob", "ann", "ann", "bob"]
    assert judged.ply.tolist() == list(range(7))
    assert judged.lost[3] == 2 and not judged.is_best[3]
    assert judged.lost[6] == 0 and judged.is_best[6] and judged.random_best[6] == 1  # the last line is forced
    assert ((judged.lost == 0) == judged.is_best).all()


def test_what_a_random_mover_would_have_lost_is_the_mean_over_the_legal_moves():
    """In the position above one of four moves is best; the others leave the left box and give away two points each."""
    judged = judge([record("aA Aa aB bA Ab Ac bB")])
    assert judged.random_lost[3] == pytest.approx(3 / 4 * 2)
    assert judged.random_best[3] == pytest.approx(1 / 4)


def test_a_perfect_player_loses_nothing_and_openings_are_not_judged():
    played = match("perfect", "random", 8, GAME, seed=3)
    judged = judge(played.records)
    assert judged.of("perfect").is_best.all() and judged.of("perfect").lost.max() == 0
    assert judged.of("random").lost.sum() > 0
    assert judged.ply.min() == played.records[0].opening == 2


def test_a_repeated_game_has_the_number_of_the_first():
    again = [record("aA Aa aB bA Ab Ac bB"), record("aA Aa aB Ab bA Ac bB"), record("aA Aa aB bA Ab Ac bB")]
    assert judge(again).game.tolist() == [0] * 7 + [1] * 7 + [0] * 7
    assert set(judge([again[0], record("aA Aa aB bA Ab Ac bB", ("bob", "ann"))]).game) == {0, 1}


def test_nothing_to_judge_is_a_sentence():
    with pytest.raises(AzlabError, match="no moves to judge"):
        judge([])


def test_intervals_of_whole_games_are_wider_than_those_of_single_moves():
    """Games whose moves are all alike: 400 moves of 20 games know as much as 20 moves."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(20), 20)
    values = np.repeat(rng.random(20) < 0.5, 20).astype(float)
    low, high = mean_interval(values, groups)
    assert low < values.mean() < high
    expected = 2 * 1.96 * np.sqrt(values.mean() * (1 - values.mean()) / 20)
    assert high - low == pytest.approx(expected, rel=0.1)
    narrow = mean_interval(values, np.arange(400))
    assert narrow[1] - narrow[0] < 0.3 * (high - low)


def test_an_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(200):
        values = rng.normal(1.0, 1.0, (40, 3)) + rng.normal(0, 1.0, (40, 1))
        low, high = mean_interval(values.ravel(), np.repeat(np.arange(40), 3))
        covered += low < 1 < high
    assert 0.88 <= covered / 200 <= 0.99


def test_where_only_the_end_is_known_only_the_end_is_judged():
    """Random games of Seega on 5x5: those of its moves that are made with at most five stones, each by the value after it."""
    game = azlab.game("seega", quiet_limit=60)
    exact = azlab.oracle(game, stones=5)
    played = match("random", "random", 30, game, seed=1)
    judged = judge(played.records, exact)
    last = [
        (position, move)
        for one in played.records
        for position, move in zip(one.positions, one.moves)
        if not position.state["placing"][0] and position.state["stones"].sum() <= exact.stones
    ]
    assert 0 < len(last) == len(judged.ply)
    for k, (position, move) in enumerate(last):
        sign = 1 - 2 * position.to_move
        assert judged.lost[k] == sign * (exact.value(position) - exact.value(position.play(move)))
    beginning = GameRecord(game, ("a", "b"), ("a1",), 0, 0, 0)
    with pytest.raises(AzlabError, match="knows none of the positions"):
        judge([beginning], exact)
