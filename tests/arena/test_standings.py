"""How a tournament stands: points, order, ratings, reasons."""

import pytest

import azlab
from azlab.arena.contestants import contestants
from azlab.arena.elo import fit
from azlab.arena.standings import standings
from azlab.arena.student import CRASH, START, TIME
from azlab.arena.tournament import Tournament
from azlab.arena.tournament_file import Failure, Known, Played

WON = ("a1", "a2", "b1", "b2", "c1")
DRAWN = ("a1", "b1", "c1", "b2", "a2", "c2", "b3", "a3", "c3")


@pytest.fixture
def tournament(tmp_path):
    """Games put in by hand: anna beats ben twice, draws with and beats carl, who is slow; dora cannot start."""
    for name in ("anna", "ben", "carl", "dora"):
        (tmp_path / f"{name}.py").write_text("")
    found = Tournament(contestants(tmp_path), azlab.game("tictactoe"), "tictactoe", tmp_path / "out", games=2)
    digests = {one.name: one.digest for one in found.players}

    def add(first, second, moves, result, failure=None):
        played = Played(0, (first, second), (digests[first], digests[second]), 2, moves, result, failure)
        found.results.games[played.key] = played

    add("anna", "ben", WON, 1)
    add("ben", "anna", WON[:2], -1, Failure("ben", CRASH, "KeyError: 3 (ben.py, line 2)"))
    add("anna", "carl", DRAWN, 0)
    add("carl", "anna", WON[:2], -1, Failure("carl", TIME, "it took longer than 5 s"))
    add("ben", "carl", WON, 1)
    add("carl", "ben", WON, 1)
    fault = Failure("dora", START, "SyntaxError: invalid syntax (dora.py, line 1)")
    found.results.players = {
        "dora": Known("dora", digests["dora"], "", fault),
        "anna": Known("anna", digests["anna"], "The Great"),
    }
    for other in ("anna", "ben", "carl"):
        add(other, "dora", WON[:2], 1, fault)
        add("dora", other, WON[:2], -1, fault)
    return found


def test_points_and_order(tournament):
    found = standings(tournament)
    assert [(row.name, row.total.points, row.total.games) for row in found.rows] == [
        ("anna", 5.5, 6), ("carl", 3.5, 6), ("ben", 3.0, 6), ("dora", 0.0, 6),
    ]  # fmt: skip
    assert found.rows[0].against["ben"] == (2, 0, 0) and found.rows[2].against["anna"] == (0, 0, 2)
    assert len(found.games) == found.planned == 12


def test_ratings_are_those_of_the_games_that_were_begun(tournament):
    begun = [
        ("anna", "ben", 1),
        ("ben", "anna", 0),
        ("anna", "carl", 0.5),
        ("carl", "anna", 0),
        ("ben", "carl", 1),
        ("carl", "ben", 1),
    ]
    expected = fit(begun)
    found = {row.name: row.rating for row in standings(tournament).rows}
    assert found["dora"] is None
    for name in ("anna", "ben", "carl"):
        assert found[name].value == pytest.approx(expected[name].value, abs=1e-6)
        assert (found[name].low, found[name].high) == pytest.approx((expected[name].low, expected[name].high), abs=1e-6)


def test_the_text_names_every_failure_once(tournament):
    text = str(standings(tournament))
    assert "1. The Great (anna)" in text and "crash 1" in text and "too slow 1" in text and "cannot start 6" in text
    assert text.count("dora cannot start and forfeits all games: SyntaxError: invalid syntax (dora.py, line 1).") == 1
    assert "ben lost 1 game (crash): KeyError: 3 (ben.py, line 2)." in text
    assert "carl lost 1 game (too slow): it took longer than 5 s." in text


def test_without_games_there_are_no_ratings(tournament):
    tournament.results.games = {}
    found = standings(tournament)
    assert all(row.rating is None for row in found.rows) and "0 of 12 games" in found.headline
