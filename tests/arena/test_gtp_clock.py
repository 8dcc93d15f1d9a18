"""How long a move may take."""

import pytest

from azlab.arena.gtp_clock import LAG, SHARE, Clock
from azlab.errors import AzlabError


def test_without_settings_and_with_the_protocols_word_for_it_there_is_no_limit():
    clock = Clock()
    assert clock.allot(0, 9, 0) is None
    clock.set(60, 0, 0)
    assert clock.allot(0, 9, 0) is not None
    clock.set(0, 1, 0)  # byo-yomi time without stones
    assert clock.allot(0, 9, 0) is None


def test_main_time_lasts_for_the_game():
    """A game of any length to the usual one and beyond never uses it up, if every move takes what it may."""
    for size, seconds in ((9, 60.0), (19, 600.0), (5, 3.0)):
        clock = Clock()
        clock.set(seconds, 0, 0)
        used = 0.0
        for move in range(4 * size * size):
            spent = clock.allot(move % 2, size, move)
            clock.spend(move % 2, spent)
            used += spent
            assert clock.hands[0].main >= 0 and clock.hands[1].main >= 0
        assert seconds < used < 2 * seconds  # of both players: more than half of it was put to use


def test_overtime_is_shared_among_its_stones_and_begins_again():
    clock = Clock()
    clock.set(0, 30, 3)
    assert clock.allot(0, 9, 0) == pytest.approx(SHARE * 10 - LAG)
    clock.spend(0, 20)
    assert clock.allot(0, 9, 2) == pytest.approx(SHARE * 5 - LAG)
    clock.spend(0, 1)
    clock.spend(0, 1)
    assert (clock.hands[0].overtime, clock.hands[0].stones) == (30, 3)
    assert clock.allot(1, 9, 2) == pytest.approx(SHARE * 10 - LAG)  # the other one has a clock of its own


def test_byo_yomi_gives_each_move_its_period():
    clock = Clock()
    clock.set(0, 10, 5, is_byo_yomi=True)
    for _ in range(10):
        assert clock.allot(0, 19, 0) == pytest.approx(SHARE * 10 - LAG)
        clock.spend(0, 9)


def test_main_time_goes_over_into_overtime():
    clock = Clock()
    clock.set(10, 30, 3)
    clock.spend(0, 16)
    assert (clock.hands[0].main, clock.hands[0].overtime, clock.hands[0].stones) == (0, 24, 2)
    assert clock.allot(0, 9, 2) == pytest.approx(SHARE * 12 - LAG)


def test_the_controllers_clock_counts_more():
    clock = Clock()
    clock.set(100, 30, 3)
    clock.left(0, 8, 2)
    assert clock.allot(0, 9, 2) == pytest.approx(SHARE * 4 - LAG)
    clock.left(0, 30, 0)
    assert clock.hands[0].main == 30
    clock.left(0, 0, 0)
    assert clock.allot(0, 9, 2) == pytest.approx(SHARE * 10 - LAG)  # main time is over: the overtime is


def test_no_time_left_is_a_move_at_once():
    clock = Clock()
    clock.set(0, 0, 0)
    assert clock.allot(0, 9, 0) == 0
    clock.spend(0, 5)
    assert clock.allot(0, 9, 1) == 0


@pytest.mark.parametrize("settings", [(-1, 0, 0), (0, -1, 1), (1e9, 0, 0), (0, 1, -1)])
def test_impossible_times_are_refused(settings):
    with pytest.raises(AzlabError, match="syntax error"):
        Clock().set(*settings)


def test_a_new_game_begins_with_full_time():
    clock = Clock()
    clock.set(10, 0, 0)
    clock.spend(1, 7)
    clock.reset()
    assert clock.hands[1].main == 10


def test_a_clock_that_only_the_controller_told_is_forgotten_with_its_game():
    clock = Clock()
    clock.left(0, 30, 0)
    assert clock.allot(0, 9, 0) > 0
    clock.reset()
    assert clock.allot(0, 9, 0) is None
