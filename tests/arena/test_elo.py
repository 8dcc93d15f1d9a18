"""Ratings: the arithmetic of Elo, and maximum likelihood on simulated players whose strengths are known."""

import json
import math

import numpy as np
import pytest

import azlab
from azlab.arena.agents import RandomAgent
from azlab.arena.elo import Elo, Estimate, added_rating, expected_score, fit
from azlab.arena.match import Tally, match, round_robin
from azlab.errors import AzlabError


def simulate(ratings, advantage, draw_rate, games, rng):
    """A league in which everyone plays everyone `games` times in each seat. The model is written out once more here."""
    nu = 2 * draw_rate / (1 - draw_rate)
    played = []
    for first, mine in ratings.items():
        for second, theirs in ratings.items():
            if first != second:
                odds = 10 ** ((mine + advantage - theirs) / 400 * (1 + nu / 2))
                weights = np.array([math.sqrt(odds), nu, 1 / math.sqrt(odds)])
                scores = rng.choice([1.0, 0.5, 0.0], games, p=weights / weights.sum())
                played += [(first, second, score) for score in scores]
    return played


STRENGTHS = {"ann": -250.0, "bob": -100.0, "cid": 0.0, "dan": 50.0, "eve": 100.0, "fay": 200.0}  # their mean is 0


def test_expected_score_of_known_values():
    assert expected_score(1500, 1500) == 0.5
    assert expected_score(1900, 1500) == pytest.approx(10 / 11)
    assert expected_score(1700, 1500) == pytest.approx(0.7597469266)
    assert expected_score(1500, 1700) + expected_score(1700, 1500) == pytest.approx(1)
    assert expected_score(1600, 1500, scale=100) == pytest.approx(10 / 11)
    assert (expected_score(1e9, 0), expected_score(0, 1e9)) == (1, 0)


def test_elo_by_hand():
    s5 = Elo()
    assert s5.update("a", "b", 1) == (1616, 1584)
    # Expected: 1 / (1 + 10^(-32/400)) = 0.545922 for a, who now loses: 1616 - 32 * 0.545922
    assert s5.update("a", "b", 0) == pytest.approx((1598.530497, 1601.469503))
    assert s5["never seen"] == 1600
    s4 = Elo(k=16, start=500)
    assert s4.update("new", "old", 0.5) == (500, 500)
    assert s4.update("new", "old", 1) == (508, 492)
    assert s4.update("old", "new", 1) == pytest.approx((492 + 16 * (1 - 1 / (1 + 10**0.04)), 508 - 16 * (1 - 1 / (1 + 10**0.04))))


def test_elo_keeps_the_sum_and_goes_on_after_a_stop():
    games = simulate(STRENGTHS, 0, 0.2, 5, np.random.default_rng(0))
    whole = Elo().update_all(games)
    assert sum(whole.ratings.values()) == pytest.approx(6 * 1600)
    half = Elo().update_all(games[:70])
    stored = json.loads(json.dumps(half.ratings))
    assert Elo(ratings=stored).update_all(games[70:]).ratings == whole.ratings
    assert eval(repr(whole)).ratings == whole.ratings
    assert str(whole).splitlines()[0] == "Elo ratings, K 32, start 1600" and len(str(whole).splitlines()) == 8


def test_elo_moves_towards_the_true_difference():
    rng = np.random.default_rng(1)
    elo = Elo(k=8)
    leads = []
    for number in range(4000):
        elo.update("a", "b", float(rng.random() < expected_score(200, 0)))
        if number > 500:
            leads.append(elo["a"] - elo["b"])
    assert np.mean(leads) == pytest.approx(200, abs=20)


def test_two_players_without_draws_have_a_closed_form():
    """Won 75 of 100, as often in each seat: 400 log10(3) points, with the error of a logit."""
    games = [("a", "b", 1.0)] * 75 + [("a", "b", 0.0)] * 25
    found = fit(games, prior=1e6, first_advantage=False)
    difference = found.difference("a", "b")
    assert difference.value == pytest.approx(400 * math.log10(3), rel=1e-6)
    assert difference.error == pytest.approx(400 / math.log(10) / math.sqrt(100 * 0.75 * 0.25), rel=1e-6)
    assert found.outcome("a", "b") == pytest.approx((0.75, 0, 0.25))
    assert found["a"].value == pytest.approx(1600 + 200 * math.log10(3))
    assert found["a"].error == pytest.approx(difference.error / 2)
    assert expected_score(found["a"].value, found["b"].value) == pytest.approx(0.75)
    assert fit(games, first_advantage=False).difference("a", "b").value == pytest.approx(difference.value, rel=0.01)  # weak prior


def test_one_pair_of_players_is_fitted_exactly_with_draws_and_seats():
    """Three numbers explain win, draw and loss in one seat and the score in the other."""
    games = [("a", "b", 1.0)] * 50 + [("a", "b", 0.5)] * 30 + [("a", "b", 0.0)] * 20
    games += [("b", "a", 1.0)] * 50 + [("b", "a", 0.5)] * 30 + [("b", "a", 0.0)] * 20
    found = fit(games * 50, prior=1e6)
    assert found.outcome("a", "b") == pytest.approx((0.5, 0.3, 0.2), abs=1e-3)
    assert found.outcome("b", "a") == pytest.approx((0.5, 0.3, 0.2), abs=1e-3)
    nu = 0.3 / math.sqrt(0.5 * 0.2)
    assert found.first_advantage.value == pytest.approx(400 * math.log10(2.5) / (1 + nu / 2), abs=0.5)
    assert found.draw_rate.value == pytest.approx(nu / (2 + nu), abs=1e-3)


def test_everybody_is_expected_to_score_what_he_scored():
    """What characterises the most likely ratings of this model."""
    games = simulate(STRENGTHS, 70, 0.3, 20, np.random.default_rng(2))
    found = fit(games, prior=1e5)
    for player in found.players:
        expected = 0.0
        for first, second, _ in games:
            win, draw, loss = found.outcome(first, second) if player.name in (first, second) else (0, 0, 0)
            expected += (win if player.name == first else loss) + draw / 2
        assert expected / player.games == pytest.approx(player.score, abs=1e-4)


def test_near_equality_a_lead_means_what_elo_says():
    found = fit(simulate(STRENGTHS, 0, 0.6, 300, np.random.default_rng(3)), anchor=("cid", 0.0), first_advantage=False)
    win, draw, _ = found.outcome("dan", "cid")
    assert win + draw / 2 == pytest.approx(expected_score(found["dan"].value, found["cid"].value), abs=0.005)


@pytest.mark.parametrize("draw_rate", [0.0, 0.1, 0.5])
def test_known_strengths_are_recovered(draw_rate):
    """In 150 simulated leagues, 95% intervals hold the truth about 95 times in 100."""
    rng = np.random.default_rng(4)
    held, leagues = np.zeros(5), 150
    errors = []
    for _ in range(leagues):
        found = fit(simulate(STRENGTHS, 60, draw_rate, 15, rng), mean=0)
        held[0] += sum(found[name].low <= true <= found[name].high for name, true in STRENGTHS.items()) / len(STRENGTHS)
        lead = found.difference("fay", "bob")
        held[1] += lead.low <= 300 <= lead.high
        held[2] += found.first_advantage.low <= 60 <= found.first_advantage.high
        held[3] += found.draw_rate.low <= draw_rate <= found.draw_rate.high
        anchored = fit(simulate(STRENGTHS, 60, draw_rate, 15, rng), anchor=("ann", -250.0))
        held[4] += anchored["eve"].low <= 100 <= anchored["eve"].high
        errors.append([found[name].value - true for name, true in STRENGTHS.items()])
    shares = held / leagues
    assert 0.93 < shares[0] < 0.97
    assert (shares[[1, 2, 4]] > 0.9).all() and (shares[[1, 2, 4]] < 0.994).all()
    assert shares[3] > 0.9
    assert np.abs(np.mean(errors, axis=0)).max() < 10  # hardly any bias


def test_symmetric_games_give_symmetric_ratings():
    circle = [("a", "b"), ("b", "c"), ("c", "a")]
    games = [(one, other, 1.0) for one, other in circle] + [(other, one, 0.0) for one, other in circle]
    found = fit(games * 5)
    assert [player.value for player in found.players] == pytest.approx([1600] * 3)
    assert found.first_advantage.value == pytest.approx(0, abs=1e-6)
    assert len({round(player.error, 6) for player in found.players}) == 1
    # Exchanging all results exchanges the ratings; exchanging names exchanges names.
    games = simulate(STRENGTHS, 30, 0.2, 10, np.random.default_rng(5))
    found = fit(games, mean=0)
    turned = fit([(second, first, 1 - score) for first, second, score in games], mean=0)
    worse = fit([(first, second, 1 - score) for first, second, score in games], mean=0)
    renamed = fit([(first.upper(), second.upper(), score) for first, second, score in reversed(games)], mean=0)
    for player in found.players:
        assert turned[player.name].value == pytest.approx(player.value, abs=1e-6)
        assert worse[player.name].value == pytest.approx(-player.value, abs=1e-6)
        assert renamed[player.name.upper()].value == pytest.approx(player.value, abs=1e-6)
        assert renamed[player.name.upper()].error == pytest.approx(player.error)
    assert turned.first_advantage.value == pytest.approx(-found.first_advantage.value, abs=1e-6)


def test_only_differences_matter():
    games = simulate(STRENGTHS, 30, 0.2, 10, np.random.default_rng(6))
    low, high, anchored = fit(games, mean=0), fit(games, mean=5000), fit(games, anchor=("cid", 1000.0))
    assert anchored["cid"].value == pytest.approx(1000) and anchored["cid"].error == pytest.approx(0, abs=1e-6)
    assert np.mean([player.value for player in high.players]) == pytest.approx(5000)
    for name in STRENGTHS:
        assert high[name].value - low[name].value == pytest.approx(5000)
        assert high[name].error == pytest.approx(low[name].error)
        for one in (low, high):
            ours, theirs = one.difference(name, "cid"), anchored[name]
            assert (ours.value, ours.error) == pytest.approx((theirs.value - 1000, theirs.error), abs=1e-6)
    doubled = fit(games, mean=0, scale=800, prior=2000)
    assert doubled["fay"].value == pytest.approx(2 * low["fay"].value)
    assert doubled.outcome("fay", "bob") == pytest.approx(low.outcome("fay", "bob"))
    four_times = fit(games * 4, mean=0)
    assert four_times["fay"].error == pytest.approx(low["fay"].error / 2, rel=0.05)


@pytest.mark.parametrize("games", [1, 20, 100_000])
def test_who_won_everything_has_a_finite_rating(games):
    found = fit([("a", "b", 1.0), ("b", "a", 0.0)] * games + [("b", "c", 1.0), ("c", "b", 0.0)] * games)
    a, b, c = found.players
    assert (a.name, b.name, c.name) == ("a", "b", "c") and 1600 < a.value < 5000
    assert all(math.isfinite(player.error) and player.error > 50 for player in (a, c))
    assert found.difference("a", "b").error > 100
    if games > 1:
        assert found.difference("a", "b").low > 0


def test_other_one_sided_results():
    drawn = fit([("a", "b", 0.5), ("b", "a", 0.5)] * 20)
    assert drawn["a"].value == pytest.approx(1600) and 1 < drawn["a"].error < 50
    assert 0.9 < drawn.draw_rate.value < 1
    first_wins = fit([("a", "b", 1.0), ("b", "a", 1.0)] * 20)
    assert first_wins["a"].value == pytest.approx(1600) and first_wins.first_advantage.low > 100
    same_seat = fit([("a", "b", 1.0)] * 15 + [("a", "b", 0.0)] * 5)  # strength or seat? nobody can know
    assert same_seat["a"].error > 150 and same_seat.first_advantage.error > 300
    assert sum(same_seat.outcome("a", "b")) == pytest.approx(1)
    assert same_seat.outcome("a", "b")[0] == pytest.approx(0.75, abs=0.01)


def test_games_come_in_many_forms():
    agents = [RandomAgent(1), RandomAgent(2), RandomAgent(3)]
    table = round_robin(agents, "tictactoe", games=20)
    found = fit(table)
    tuples = [(*record.players, record.first_score) for record in table.records]
    for same in (table.records, table.matches, [table], tuples, iter(tuples), [list(game) for game in tuples]):
        assert str(fit(same)) == str(found)
        assert Elo().update_all(same).ratings if not hasattr(same, "__next__") else True
    assert {player.name for player in found.players} == set(table.names) and sum(p.games for p in found.players) == 120
    single = match(agents[0], agents[1], 10, "tictactoe")
    assert fit(single)["random"].games == 10 and fit([single, table])["random"].games == 50


def test_what_people_see():
    found = fit(simulate({"<a>": 0.0, "b": 50.0}, 100, 0.2, 50, np.random.default_rng(7)), anchor=("b", 0))
    lines = str(found).splitlines()
    assert lines[0] == "Maximum likelihood ratings, relative to b at 0"
    assert lines[1].split() == ["rating", "95%", "interval", "games", "score"]
    assert "sitting first is worth" in lines[-1] and "equals draw" in lines[-1]
    assert "&lt;a&gt;" in found._repr_html_() and "<a>" not in found._repr_html_()
    assert "sitting first" not in str(fit([("a", "b", 1.0), ("b", "a", 1.0)], first_advantage=False))
    assert (Estimate(10.0, 1.0).low, Estimate(10.0, 1.0).high) == pytest.approx((8.04, 11.96), abs=1e-4)


def test_requests_that_make_no_sense():
    for games, reason in [
        ([], "Without games there are no ratings"),
        ([("a", "a", 1)], "'a' cannot be rated by games against itself"),
        ([("a", "b", 0.7)], "The score of a game is 1, 0.5 or 0, not 0.7"),
        ([("a", "b")], "A game is a record or"),
        (["abc"], "A game is a record or"),
        ([("a", "b", 1), ("c", "d", 1), ("d", "e", 0)], "Nobody of a, b played against anybody of c, d, e"),
    ]:
        with pytest.raises(azlab.AzlabError, match=reason):
            fit(games)
    good = [("a", "b", 1), ("b", "a", 1)]
    with pytest.raises(azlab.AzlabError, match="The anchor 'c' did not play; the players are a, b"):
        fit(good, anchor=("c", 0))
    with pytest.raises(azlab.AzlabError, match="must be positive"):
        fit(good, prior=0)
    with pytest.raises(azlab.AzlabError, match="'c' did not play"):
        fit(good)["c"]
    for bad in ({"k": 0}, {"scale": -1}, {"start": math.nan}):
        with pytest.raises(azlab.AzlabError, match="must be positive"):
            Elo(**bad)
    with pytest.raises(azlab.AzlabError, match="A score lies between"):
        Elo().update("a", "b", 2)
    with pytest.raises(azlab.AzlabError, match="against itself"):
        Elo().update("a", "a", 1)


def test_what_one_match_adds_to_a_rating():
    """Where each new player met one that was rated before, sums over matches are the likeliest ratings: `fit` finds the same."""
    matches = [("a", "start", Tally(6, 0, 4)), ("b", "a", Tally(7, 0, 3)), ("c", "a", Tally(2, 0, 8)), ("d", "b", Tally(9, 0, 1))]
    ratings, games = {"start": 0.0}, []
    for new, old, result in matches:
        ratings[new] = ratings[old] + added_rating(result)
        games += [(new, old, 1.0)] * result.wins + [(new, old, 0.0)] * result.losses
    fitted = fit(games, anchor=("start", 0.0), first_advantage=False, prior=1e6)
    for name, rating in ratings.items():
        assert rating == pytest.approx(fitted[name].value, abs=0.01)
    assert added_rating(Tally(5, 0, 0)) == added_rating(Tally(4, 1, 0)) == -added_rating(Tally(0, 0, 5))
    assert added_rating(Tally(1, 2, 1)) == 0
    with pytest.raises(AzlabError, match="at least one game"):
        added_rating(Tally(0, 0, 0))
