"""Matches: fair seats and openings, honest counts and intervals, nothing lost when an agent fails or Ctrl-C is pressed."""

import itertools
import json
import math
import zlib

import numpy as np
import pytest
from scipy.stats import binomtest
from tqdm import tqdm

import azlab
from azlab.arena.agents import RandomAgent
from azlab.arena.match import (
    MIXED_GAMES,
    AgentFailed,
    Crosstable,
    MatchResult,
    each_against_each,
    match,
    random_openings,
    round_robin,
)
from azlab.arena.results import Tally, score_interval

GAMES = ["tictactoe", "connect4", "dots_and_boxes", "simple_go", "seega"]


class Fixed:
    """Always answers a position alike; different salts answer differently."""

    def __init__(self, salt=0):
        self.name = f"fixed {salt}"
        self.salt = salt

    def choose(self, position):
        legal = position.legal_actions
        return legal[zlib.crc32(position.state.tobytes(), self.salt) % len(legal)]


class FixedMany(Fixed):
    """The same player, who takes many positions at once and remembers how many."""

    def __init__(self, salt=0):
        super().__init__(salt)
        self.batches = []

    def choose_many(self, positions):
        assert len({position.to_move for position in positions}) <= 2 and not any(p.over for p in positions)
        self.batches.append(len(positions))
        return np.array([self.choose(position) for position in positions])  # an array of numpy's is as good as a list


class Failing(Fixed):
    """Plays well for some moves, and then does what it is told."""

    def __init__(self, good_moves, then):
        super().__init__()
        self.name = "failing"
        self.left, self.then = good_moves, then

    def choose(self, position):
        self.left -= 1
        return super().choose(position) if self.left >= 0 else self.then(position)


def stop(position):
    raise KeyboardInterrupt


def crash(position):
    raise RuntimeError("out of ideas")


@pytest.mark.parametrize("game", GAMES)
def test_every_opening_is_played_from_both_seats(game):
    result = match(Fixed(1), Fixed(2), 20, game)
    assert result.complete and len(result.records) == 20
    assert [seat.games for seat in result.by_seat] == [10, 10]
    for one, other in zip(result.records[::2], result.records[1::2]):
        assert one.pair == other.pair and one.opening == other.opening >= 2
        assert one.moves[: one.opening] == other.moves[: other.opening]
        assert one.players == ("fixed 1", "fixed 2") and other.players == ("fixed 2", "fixed 1")
    assert len({record.pair for record in result.records}) == 10


@pytest.mark.parametrize("game", GAMES)
def test_the_player_to_move_chose_every_move_after_the_opening(game):
    players = {"fixed 1": Fixed(1), "fixed 2": Fixed(2)}
    for record in match(*players.values(), 6, game).records:
        positions = record.positions
        assert positions[-1].over and positions[-1].result == record.result and not any(p.over for p in positions[:-1])
        for before, after in list(itertools.pairwise(positions))[record.opening :]:
            assert players[record.players[before.to_move]].choose(before) == after.actions[-1]


def test_counts_agree_with_the_records():
    result = match(RandomAgent(1), Fixed(), 200, "tictactoe")
    won = sum(record.winner == "random" for record in result.records)
    lost = sum(record.winner == "fixed 0" for record in result.records)
    assert (result.wins, result.draws, result.losses) == (won, 200 - won - lost, lost)
    assert tuple(map(sum, zip(*result.by_seat))) == result.total
    assert result.score == (won + (200 - won - lost) / 2) / 200
    assert result.first_seat.wins == result.by_seat[0].wins + result.by_seat[1].losses
    mirrored = match(Fixed(), Fixed(3), 100, "connect4"), match(Fixed(3), Fixed(), 100, "connect4")
    assert mirrored[0].total == Tally(*reversed(mirrored[1].total))
    low, high = mirrored[0].interval
    assert mirrored[1].interval == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize("together", [False, True])
def test_one_player_may_begin_always(together, tmp_path):
    players = (FixedMany(1), FixedMany(2)) if together else (Fixed(1), Fixed(2))
    result = match(*players, 7, "dots_and_boxes", swap_seats=False)
    assert result.complete and all(record.players == result.names for record in result.records)
    assert [record.pair for record in result.records] == list(range(7)) and result.distinct == 7  # an opening for each
    assert result.by_seat[0].games == 7 and result.by_seat[1].games == 0 and "fixed 1 always first" in str(result)
    result.save(tmp_path / "match.jsonl")
    assert MatchResult.load(tmp_path / "match.jsonl") == result
    assert match(*players, 3, "dots_and_boxes", openings=0, swap_seats=False).distinct == 1


def test_without_openings_fixed_players_play_two_games_and_with_them_many():
    assert match(Fixed(1), Fixed(2), 50, "connect4", openings=0).distinct == 2
    assert match(Fixed(1), Fixed(1), 50, "connect4", openings=0).distinct == 1
    # 49 openings of 2 moves are too few for 100 pairs; longer ones are drawn when they run out.
    result = match(Fixed(1), Fixed(2), 200, "connect4")
    assert {record.opening for record in result.records} >= {2, 3} and result.distinct > 180
    assert "of 200 games are distinct" in str(result)


def test_random_openings():
    connect4 = azlab.game("connect4")
    openings = random_openings(connect4, 300)
    assert len(set(openings)) == 300 and not any(position.over for position in openings)
    assert openings[:50] == random_openings(connect4, 50)  # more games begin with the same openings
    assert openings != random_openings(connect4, 300, seed=1)
    assert {len(p.actions) for p in random_openings(connect4, 100, 5)} == {5}
    assert random_openings(connect4, 3, 0) == [connect4.start()] * 3
    tictactoe = azlab.game("tictactoe")
    # Over nine moves, 7 end some games; those are drawn anew. Eight leave few unfinished games, so they repeat.
    assert not any(p.over for p in random_openings(tictactoe, 50, 7) + random_openings(tictactoe, 50, 8))
    assert len(random_openings(tictactoe, 2000)) == 2000  # more than there are
    tiny = azlab.game("dots_and_boxes", rows=1, cols=1)
    assert len(random_openings(tiny, 100)) == 100


def test_seeds_repeat_a_match():
    def play(seed):
        return match(RandomAgent(5), RandomAgent(6), 40, "dots_and_boxes", seed=seed)

    assert play(3) == play(3) and hash(play(3)) == hash(play(3))
    assert play(3).records != play(4).records


@pytest.mark.parametrize("game", GAMES)
def test_games_advanced_together_are_the_games_played_one_by_one(game):
    many = FixedMany(1), FixedMany(2)
    together = match(*many, 30, game)
    assert together == match(Fixed(1), Fixed(2), 30, game)
    assert max(many[0].batches) >= 15 and max(many[1].batches) >= 15
    one, other = FixedMany(1), Fixed(2)
    assert together == match(one, other, 30, game) and max(one.batches) >= 15  # one that takes many is enough


def test_a_mixed_match_goes_in_groups_and_an_engine_gets_one_game_after_another():
    one = FixedMany(1)
    match(one, Fixed(2), 100, "connect4", openings=0)
    assert max(one.batches) == MIXED_GAMES
    one, engine = FixedMany(1), Fixed(2)
    engine.one_game = True
    match(one, engine, 20, "connect4")
    assert set(one.batches) == {1}


def test_an_agent_can_play_itself():
    agent = FixedMany(4)
    result = match(agent, agent, 20, "connect4")
    assert result.names == ("fixed 4", "fixed 4 (2)") and result.score == 0.5
    assert result.interval[0] < 0.5 < result.interval[1]


def test_given_openings_are_taken_in_turn():
    connect4 = azlab.game("connect4")
    from_the_middle = connect4.position(connect4.from_moves("4455").state)  # a position without a past
    result = match(Fixed(1), Fixed(2), 8, openings=[connect4.from_moves("44"), from_the_middle, "123"], game=connect4)
    assert [record.opening for record in result.records] == [2, 2, 0, 0, 3, 3, 2, 2]
    assert result.records[0].moves[:2] == ("4", "4") and result.records[4].moves[:3] == ("1", "2", "3")
    assert result.records[2].positions[0] == from_the_middle and result.records[2].final.over
    assert match(Fixed(1), Fixed(2), 2, openings=[connect4.from_moves("44")]).game == connect4  # a position knows its game
    assert match(Fixed(1), Fixed(2), 2, "connect4", [["4", 3]]).records[0].moves[:2] == ("4", "4")


def test_random_players_of_tictactoe():
    """The first of two random players wins 58.49%, loses 28.81% and draws 12.70% of all games."""
    result = match(RandomAgent(1), RandomAgent(2), 4000, "tictactoe", openings=0)
    for share, count in zip((0.5849, 0.1270, 0.2881), result.first_seat):
        assert count / 4000 == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 4000))
    assert result.interval[0] < 0.5 < result.interval[1]


def test_interval_of_known_values():
    # All pairs won or lost twice: the interval of Agresti and Coull, here for 15 of 50 by their formula.
    z2 = 1.959963984540054**2
    p = (15 + z2 / 2) / (50 + z2)
    half = math.sqrt(z2 * p * (1 - p) / (50 + z2))
    assert score_interval([(1, 1)] * 15 + [(0, 0)] * 35) == pytest.approx((p - half, p + half))
    assert p - half == pytest.approx(0.1903, abs=1e-4) and p + half == pytest.approx(0.4383, abs=1e-4)
    wilson = binomtest(15, 50).proportion_ci(method="wilson")  # has the same centre and is a little narrower
    assert p - half < wilson.low < p - half + 0.005 and (wilson.low + wilson.high) / 2 == pytest.approx(p)
    assert score_interval([]) == pytest.approx((0, 1))
    low, high = score_interval([(1, 1)] * 50)
    assert 0.9 < low < 0.95 and high == 1
    # Each opening is won by the seat: the players are equal, and surely so.
    low, high = score_interval([(1, 0)] * 50)
    assert low == pytest.approx(1 - high) and 0.03 < high - 0.5 < 0.04
    # Many games: mean and standard error, as in any book.
    scores = np.random.default_rng(0).choice([0, 0.25, 0.5, 0.75, 1], 4000, p=[0.1, 0.2, 0.3, 0.2, 0.2])
    half = 1.96 * scores.std() / math.sqrt(4000)
    assert score_interval([(s, s) for s in scores]) == pytest.approx((scores.mean() - half, scores.mean() + half), abs=1e-3)


@pytest.mark.parametrize("win, draw", [(0.5, 0.0), (0.3, 0.5), (0.7, 0.1), (0.9, 0.05)])
@pytest.mark.parametrize("pairs, most", [(10, 1.0), (50, 0.99), (300, 0.975)])  # a few games: on the wide side
def test_interval_covers_the_true_score(win, draw, pairs, most):
    """Openings favour a seat at random, so the games of a pair depend on each other."""
    rng = np.random.default_rng(pairs)
    covered = 0
    for _ in range(1000):
        first = rng.choice([1, 0.5, 0], pairs, p=[win, draw, 1 - win - draw])
        alike = rng.random(pairs) < 0.3
        second = np.where(alike, first, rng.choice([1, 0.5, 0], pairs, p=[win, draw, 1 - win - draw]))
        low, high = score_interval(list(zip(first, second)))
        covered += low <= win + draw / 2 <= high
    assert 0.93 < covered / 1000 <= most


@pytest.mark.parametrize(
    "then, reason",
    [
        (lambda position: 99, "made an illegal move in connect4 after .*There is no action 99"),
        (lambda position: None, "made an illegal move in connect4 after .*not None"),
        (lambda position: "z9", "made an illegal move in connect4 after "),
        (crash, r"failed while choosing in connect4 after .* \(RuntimeError: out of ideas\)"),
    ],
)
def test_an_agent_that_fails_is_named_and_no_game_is_lost(then, reason):
    whole = match(Fixed(0), Fixed(1), 20, "connect4")
    with pytest.raises(AgentFailed, match=f"failing {reason}") as caught:
        match(Failing(50, then), Fixed(1), 20, "connect4")
    failure = caught.value
    assert isinstance(failure, azlab.AzlabError) and failure.__cause__ is not None
    assert 0 < len(failure.result.records) < 20 and not failure.result.complete
    assert [r.moves for r in failure.result.records] == [r.moves for r in whole.records][: len(failure.result.records)]
    assert " ".join(failure.position.moves) in str(failure) and failure.agent.name == "failing"
    assert not failure.position.over and failure.position.moves


def test_agents_that_fail_on_many_positions():
    class Short(FixedMany):
        def choose_many(self, positions):
            return [self.choose(position) for position in positions[1:]]

    class Crash(FixedMany):
        def choose_many(self, positions):
            if len(self.batches) == 3:  # by then some games are over
                raise RuntimeError("out of ideas")
            return super().choose_many(positions)

    with pytest.raises(AgentFailed, match="fixed 1 gave 9 moves for 10 positions, the first in tictactoe after"):
        match(Short(1), FixedMany(2), 20, "tictactoe", openings=2)
    with pytest.raises(
        AgentFailed, match="fixed 1 failed while choosing for .* positions, the first in tictactoe after"
    ) as caught:
        match(Crash(1), FixedMany(2), 40, "tictactoe")
    assert 0 < len(caught.value.result.records) < 40


def test_ctrl_c_keeps_what_was_played():
    whole = match(Fixed(0), Fixed(1), 20, "connect4")
    result = match(Failing(50, stop), Fixed(1), 20, "connect4")
    assert not result.complete and 0 < len(result.records) < 20
    assert [r.moves for r in result.records] == [r.moves for r in whole.records][: len(result.records)]
    assert "stopped after" in str(result) and "of 20 games" in str(result)
    nothing = match(Failing(0, stop), Fixed(1), 20, "connect4")
    assert nothing.records == () and math.isnan(nothing.score) and nothing.interval == pytest.approx((0, 1))
    assert "stopped after 0" in str(nothing)


def test_progress_reaches_the_end_and_drives_tqdm():
    for agents in [(Fixed(1), Fixed(2)), (FixedMany(1), FixedMany(2))]:
        calls = []
        match(*agents, 30, "connect4", progress=lambda done, total, calls=calls: calls.append((done, total)))
        assert calls == sorted(calls) and calls[-1] == (30, 30) and {total for _, total in calls} == {30}
    with tqdm(disable=None, total=0) as bar:

        def show(done, total):
            bar.total = total
            bar.update(done - bar.n)

        match(Fixed(1), Fixed(2), 10, "tictactoe", progress=show)

    def impatient(done, total):
        if done == 7:
            raise KeyboardInterrupt

    assert len(match(Fixed(1), Fixed(2), 20, "connect4", progress=impatient).records) == 7


def test_files(tmp_path):
    go = azlab.game("go", size=5, komi=2.5, max_moves=30)
    path = tmp_path / "new folder" / "match.jsonl"
    result = match(RandomAgent(1), Fixed(), 10, go, openings=[go.position(go.from_moves("a1 b2").state), "c3 c4"])
    result.save(path)
    assert MatchResult.load(path) == result == MatchResult.load(path, game=go)
    assert [p.name for p in path.parent.iterdir()] == ["match.jsonl"]
    assert len(path.read_text().splitlines()) == 11
    stopped = match(Failing(50, stop), Fixed(1), 20, "connect4")
    match(Fixed(1), Fixed(2), np.int64(2), "connect4", openings=np.int64(1), seed=np.int64(7)).save(path)
    assert (MatchResult.load(path).seed, MatchResult.load(path).openings) == (7, "random first moves")
    stopped.save(path)
    assert MatchResult.load(path) == stopped and not MatchResult.load(path).complete


def test_damaged_files(tmp_path):
    path = tmp_path / "match.jsonl"
    match(Fixed(1), Fixed(2), 4, "connect4").save(path)
    lines = path.read_text().splitlines()

    def damaged(number, **changes):
        changed = [*lines]
        changed[number] = json.dumps({**json.loads(lines[number]), **changes})
        path.write_text("\n".join(changed))
        return str(path)

    result = json.loads(lines[2])["result"]
    for number, changes, reason in [
        (2, {"result": -result}, "Line 3 of .* but its moves end"),
        (2, {"moves": ["4"], "opening": 0}, "Line 3 of .* but its moves end None"),
        (2, {"moves": ["9"]}, "Line 3 of .* is not a game of connect4"),
        (2, {"start": "00"}, "Line 3 of .* is not a game of connect4"),
        (2, {"players": None}, "Line 3 of .* is not a game of connect4"),
        (0, {"game": "chess"}, "Line 1 of .* does not describe a match .*There is no game 'chess'"),
        (0, {"names": 3}, "Line 1 of .* does not describe a match"),
        (0, {"azlab": "match 9"}, "does not hold matches saved by this version"),
    ]:
        with pytest.raises(azlab.AzlabError, match=reason):
            MatchResult.load(damaged(number, **changes))
    for text in ("", "[1]\n", "3\n", lines[1]):
        path.write_text(text)
        with pytest.raises(azlab.AzlabError, match="does not hold matches"):
            MatchResult.load(path)
    path.write_text("\n".join(lines)[:-5])
    with pytest.raises(azlab.AzlabError, match="is not a file of JSON lines"):
        MatchResult.load(path)
    with pytest.raises(azlab.AzlabError, match="There is no file"):
        MatchResult.load(tmp_path / "nothing")


def test_what_people_see():
    class Odd(Fixed):
        name = "<b>"

        def __init__(self):
            super().__init__()
            self.name = "<b>"

    result = match(Odd(), Fixed(1), 10, "tictactoe")
    heading, columns, *rows, foot = str(result).splitlines()
    assert heading == "tictactoe: <b> against fixed 1, 10 games, random openings"
    assert columns.split() == ["wins", "draws", "losses", "score", "95%", "interval"]
    assert [row.split("  ")[0] for row in rows] == ["<b> as X", "<b> as O", "all games"] and "distinct" in foot
    shown = result._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>" not in shown and shown == match(Odd(), Fixed(1), 10, "tictactoe")._repr_html_()


def test_round_robin(tmp_path):
    agents = [Fixed(1), Fixed(1), RandomAgent(3), FixedMany(2)]
    calls = []
    table = round_robin(agents, "connect4", games=20, progress=lambda done, total: calls.append((done, total)))
    assert table.names == ("fixed 1", "fixed 1 (2)", "random", "fixed 2")
    assert table.complete and len(table.matches) == 6 and len(table.records) == 120
    assert calls[-1] == (120, 120) and calls == sorted(calls)
    for name in table.names:
        assert table.totals[name].games == 60
        for other in table.names:
            assert table.between(name, other) == Tally(*reversed(table.between(other, name)))
    assert table.between("fixed 1", "fixed 1 (2)").score == 0.5
    assert sum(count.points for count in table.totals.values()) == 120
    assert list(table.scores.values()) == sorted(table.scores.values(), reverse=True)
    openings = [[r.moves[: r.opening] for r in played.records] for played in table.matches]
    assert all(those == openings[0] for those in openings)  # the same for all
    table.save(tmp_path / "table.jsonl")
    assert Crosstable.load(tmp_path / "table.jsonl") == table
    with pytest.raises(azlab.AzlabError, match="holds 6 matches"):
        MatchResult.load(tmp_path / "table.jsonl")
    assert str(table).splitlines()[0] == "connect4: 4 players, 120 games"
    assert [line.split("  ")[0] for line in str(table).splitlines()[2:6]] == list(table.totals)
    assert table._repr_html_().count("<tr>") == 5
    with pytest.raises(azlab.AzlabError, match="'x' did not play; the players are fixed 1"):
        table.between("x", "random")


def test_round_robin_that_stops(tmp_path):
    table = round_robin([Fixed(1), Fixed(2), Failing(30, stop)], "connect4", games=10)
    assert not table.complete and len(table.matches) == 2 and 10 < len(table.records) < 20
    assert table.between("fixed 2", "failing").games == 0 and "stopped early" in str(table)
    table.save(tmp_path / "table.jsonl")
    assert Crosstable.load(tmp_path / "table.jsonl") == table
    with pytest.raises(AgentFailed, match="failing failed") as caught:
        round_robin([Fixed(1), Fixed(2), Failing(30, crash)], "connect4", games=10)
    assert isinstance(caught.value.result, Crosstable) and caught.value.result.records == table.records


def test_requests_that_make_no_sense():
    one, other = Fixed(1), Fixed(2)
    connect4 = azlab.game("connect4")
    for arguments, reason in [
        ({"games": 3, "game": "connect4"}, "games must be even, .* try 4"),
        ({"games": 0, "game": "connect4"}, "games must be a whole number"),
        ({}, "Say which game"),
        ({"game": "chess"}, "There is no game 'chess'"),
        ({"game": "connect4", "openings": -1}, "openings must be a whole number from 0 to 41"),
        ({"game": "connect4", "openings": 42}, "openings must be a whole number from 0 to 41"),
        ({"game": "connect4", "openings": []}, "The list of openings is empty"),
        ({"game": "connect4", "openings": ["99"]}, "'9' is not a move"),
        ({"game": "connect4", "openings": ["1212121"]}, "is a game that is over"),
        ({"game": "tictactoe", "openings": [connect4.start()]}, "belongs to .*connect4.*, not to .*tictactoe"),
        ({"game": "connect4", "seed": -1}, "seed must be a whole number"),
    ]:
        with pytest.raises(azlab.AzlabError, match=reason):
            match(one, other, **arguments)
    with pytest.raises(azlab.AzlabError, match="at least two agents"):
        round_robin([one], "connect4")


def test_each_against_each_plays_one_game_for_every_ordered_pair():
    class Cell:
        """Takes the first or the last free cell."""

        def __init__(self, name, place):
            self.name, self.place = name, place

        def choose(self, position):
            return position.legal_actions[self.place]

    table = each_against_each([Cell("first", 0), Cell("last", -1)], "tictactoe")
    assert [[position.over for position in row] for row in table] == [[True, True], [True, True]]
    for i, black in enumerate((0, -1)):
        for j, white in enumerate((0, -1)):
            position = azlab.game("tictactoe").start()
            while not position.over:
                position = position.play(position.legal_actions[white if position.to_move else black])
            assert table[i][j] == position
