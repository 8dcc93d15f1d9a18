"""claims.toml: every source's file is good, and every mistake in one gets a sentence."""

import pytest

import azlab
from azlab.errors import AzlabError
from azlab.repro import claims, experiments
from azlab.repro.sources import find_source, source_games, source_names

ONE = """
title = "t"
summary = "s"
[[group]]
where = "w"
profile = "smoke"
experiment = "n"
claims = [ { id = "s9.a", metric = "m", value = 1, tolerance = 0 }, %s ]
"""


def test_the_five_sources_are_there_and_load():
    sources = {source.name: source for source in claims.load_all()}
    assert list(sources) == ["s1_value_generations", "s2_go", "s3_dots_and_boxes", "s4_seega", "s5_connect4"]
    assert find_source("s3") == "s3_dots_and_boxes" and find_source("S3_dots_and_boxes") == "s3_dots_and_boxes"
    assert sum(len(source.claims) for source in sources.values()) > 200
    to_come = {"s5.ideas"}
    checked = [(source.short, claim) for source in sources.values() for claim in source.claims if not claim.unchecked]
    named = {f"{short}.{claim.experiment}" for short, claim in checked}
    assert named - set(experiments.load_all()) == to_come


def test_numbers_of_the_sources():
    s1, s3, s5 = claims.load("s1"), claims.load("s3"), claims.load("s5")
    assert s1.claim("s1.tictactoe.white.wins").value == 0.9164
    games = s1.claim("s1.go.round_robin").value
    assert isinstance(games, list) and len(games) == 25 and sum(games) == 16 - 5  # black wins 16, white 5
    curve = s3.claim("s3.curve.loss")
    assert curve.x == list(range(1, 301)) and curve.value[0] == 1.29627
    assert len(s3.claim("s3.a.new_wins").value) == 59  # of 60 matches one cannot be read
    assert s5.claim("s5.net.parameters").value["10"] == 3053130


def test_points_of_s1_follow_from_its_table():
    from azlab.repro.sources import source_table

    table = source_table("s1_round_robin.csv")
    points = dict.fromkeys("12345", 0.0)
    for black, white, score in zip(table["black"], table["white"], table["score"], strict=True):
        if black != white:
            points[black] += (1 + int(score)) / 2
            points[white] += (1 - int(score)) / 2
    assert list(points.values()) == claims.load("s1").claim("s1.go.points").value


def test_logged_games_of_s3_follow_our_rules_and_end_as_the_log_says():
    """Moves, seats and points were compared with the log one by one; of each log some of its 20 games are kept."""
    logs = source_games("s3_games.txt", azlab.game("dots_and_boxes"))
    wins = [[sum(one.result == result for one in records) for result in (1, -1)] for records in logs.values()]
    assert wins == [[3, 9], [4, 6], [7, 3], [6, 0]]
    assert {one.players for records in logs.values() for one in records} == {
        ("v100", "v24"), ("v100", "MCTS"), ("MCTS", "v100"), ("v100", "v60")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("ann bob aA aA", "games.txt, line 2: .*aA"),
        ("ann bob aA aB", "games.txt, line 2: the game is not over"),
    ],
)
def test_a_wrong_game_of_a_source_gets_a_sentence(line, sentence, toy):
    (toy.folder / "data" / "sources" / "games.txt").write_text(f"# log | 1 game\n{line}\n")
    with pytest.raises(AzlabError, match=sentence):
        source_games("games.txt", azlab.game("dots_and_boxes", rows=1, cols=1))
    with pytest.raises(AzlabError, match="no games other.txt"):
        source_games("other.txt", azlab.game("dots_and_boxes"))


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ('{ id = "s9.b", metric = "m", value = 1, tolerence = 0 }', "no key 'tolerence'. Did you mean tolerance?"),
        ('{ id = "s9.b", metric = "m", value = 1 }', "exactly one of tolerance, relative and direction, and has none"),
        ('{ id = "s9.b", metric = "m", value = 1, tolerance = 0, relative = 0.1 }', "has tolerance and relative"),
        ('{ id = "s9.b", metric = "m", value = 1, tolerance = -1 }', "tolerance has to be a number from 0 on"),
        ('{ id = "s9.b", metric = "m", value = 1, direction = "over" }', "direction has to be one of"),
        ('{ id = "s9.b", metric = "m", value = "word", tolerance = 0 }', "have to be equal"),
        ('{ id = "s9.b", metric = "m", direction = "above" }', "without a `value`"),
        ('{ id = "s9.b", metric = "m", direction = "above", than = "s9.x" }', "no claim 's9.x'"),
        ('{ id = "s9.b", metric = "m", value = 1, tolerance = 0, than = "s9.a" }', "go with a direction"),
        ('{ id = "s9.b", metric = "m", value = 1, direction = "above", margin = 1 }', "`margin` goes with"),
        ('{ id = "s9.b", metric = "m", value = [1, "2"], tolerance = 0 }', "holds numbers"),
        ('{ id = "s9.b", metric = "m", value = [1, 2], x = [1], tolerance = 0 }', "of the same length"),
        ('{ id = "s9.b", metric = "m", value = [1, 2], x = [2, 1], tolerance = 0 }', "`x` has to increase"),
        ('{ id = "s9.b", metric = "m", value = 1, tolerance = 0, profile = "big" }', "profile has to be one of"),
        ('{ id = "s9.b", metric = "m", value = 1, tolerance = 0, experiment = "" }', "it names no experiment"),
        ('{ id = "s9.a", metric = "m", value = 1, tolerance = 0 }', "is used twice"),
        ('{ id = "s8.b", metric = "m", value = 1, tolerance = 0 }', "has to start with s9."),
        ('{ id = "s9.b", value = 1, tolerance = 0 }', "it has no metric"),
        ('{ id = "s9.b", metric = "m", tolerance = 0, table = { file = "no.csv", value = "v" } }', "There is no table no.csv"),
        ('{ id = "s9.b", metric = "m", value = 1, tolerance = 0', "not valid TOML"),
        ('{ id = "s9.b", metric = "m", value = 1, tolerance = 0, sure = 1 }', "sure has to be true or false"),
        ('{ id = "s9.b", metric = "m", value = "word", sure = true }', "`sure` asks for an interval"),
        ('{ id = "s9.b", metric = "m", value = true, sure = true }', "`sure` asks for an interval"),
        ('{ id = "s9.b", metric = "m", direction = "rises", sure = true }', "`sure` asks for an interval"),
        ('{ id = "s9.b", metric = "m", value = [1, 2], x = [1, 2], tolerance = 0, sure = true }', "`sure` asks for an interval"),
    ],
)
def test_a_mistake_in_claims_gets_a_sentence(claim, sentence, toy):
    toy.source(ONE % claim)
    with pytest.raises(AzlabError, match=".") as caught:
        claims.load("s9")
    assert sentence in str(caught.value)


def test_a_claim_overrides_its_group(toy):
    toy.source(ONE.replace("[[group]]", "[[group]]\ntolerance = 5") % '{ id = "s9.b", metric = "m", value = 1, relative = 0.1 }')
    loaded = claims.load("s9").claim("s9.b")
    assert loaded.relative == 0.1 and loaded.tolerance is None and loaded.where == "w"


def test_tables_become_values_and_rows_with_gaps_are_left_out(toy):
    (toy.folder / "data" / "sources" / "t.csv").write_text("x,y\n1,5\n2,\n3,7\n")
    toy.source(ONE % '{ id = "s9.b", metric = "m", tolerance = 0, table = { file = "t.csv", value = "y", x = "x" } }')
    claim = claims.load("s9").claim("s9.b")
    assert (claim.x, claim.value, claim.kind) == ([1.0, 3.0], [5.0, 7.0], "curve")


def test_an_unknown_claim_names_similar_ones():
    with pytest.raises(AzlabError, match="Did you mean .*s1.tictactoe.black.losses"):
        claims.load("s1").claim("s1.tictactoe.black.loses")


def test_an_unknown_source_names_the_sources():
    with pytest.raises(AzlabError, match="s1_value_generations"):
        claims.load("s7")
    assert len(source_names()) == 5


def test_outside_of_a_checkout_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("AZLAB_ROOT", str(tmp_path))
    with pytest.raises(AzlabError, match="no folder `reproductions`"):
        claims.load_all()
