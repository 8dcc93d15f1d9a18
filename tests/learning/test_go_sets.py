"""Position sets of Go: what the records say, broken ones left out and counted, and a cache that is never wrong."""

import numpy as np
import pytest

from azlab.errors import AzlabError
from azlab.formats import datasets
from azlab.learning import go_set, go_sets, split_set
from azlab.learning.evaluation import UNKNOWN, accuracy_of
from azlab.learning.position_sets import PositionSet, leak

PRO = "go/9x9_pro.tar.gz"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "azlab" / "go_games"


@pytest.fixture(scope="module")
def pro(need) -> PositionSet:
    need.data(PRO)
    return go_set(PRO, 9)


def test_the_games_of_professionals_are_read_whole(pro):
    assert (pro.size, len(np.unique(pro.games)), pro.left_out) == (17_985, 384, {})
    assert pro.game.legal_mask(pro.states)[np.arange(pro.size), pro.moves[:, 0]].all()
    assert set(pro.results.tolist()) == {-1, 1}
    examples = pro.examples(slice(0, 50))
    assert (examples.policy.sum(axis=1) == 1).all()
    assert (examples.policy.argmax(axis=1) == pro.moves[:50, 0]).all()


def test_each_state_of_a_go_game_follows_from_the_one_before(pro):
    rows = np.flatnonzero(pro.games == 7)
    position = pro.game.start()
    for row in rows:
        assert (pro.states["board"][row] == position.state["board"][0]).all()
        assert pro.states["to_move"][row] == position.to_move
        position = position.play(int(pro.moves[row, 0]))
    assert len(rows) > 10


def test_go_games_are_split_whole(pro):
    sets = split_set(pro)
    assert leak(sets) == 0
    assert leak(split_set(pro, by_position=True)) > 0.9


GAMES = {
    "good": "(;SZ[5]RE[B+3]KM[1.5];B[cc];W[bb];B[dd])",
    "passes": "(;SZ[5]RE[0];B[cc];W[];B[];W[aa];B[bb])",  # two passes: the rest does not count
    "handicap": "(;SZ[5]HA[2]AB[bb][dd]RE[W+R];W[cc];B[cb])",
    "no result": "(;SZ[5]RE[Void];B[cc])",
    "other size": "(;SZ[9];B[cc])",
    "broken": "(;SZ[5];B[cc",
    "twice": "(;SZ[5];B[cc];B[dd])",
    "occupied": "(;SZ[5];B[cc];W[cc])",
    "no liberty": "(;SZ[5]AB[aa]AW[ab][ba];B[cc])",
    "no moves": "(;SZ[5])",
}


@pytest.fixture
def small_games(monkeypatch):
    monkeypatch.setattr(datasets, "sgf_games", lambda name: iter(GAMES.items()))
    monkeypatch.setattr(datasets, "checksum", lambda name: "the first")


def test_games_that_cannot_be_used_are_left_out_and_counted(small_games):
    found = go_set("go/some", 5)
    assert found.left_out == {
        "another board size": 1,
        "cannot be read": 1,
        "moves against the rules": 2,
        "impossible set-up": 1,
        "no moves": 1,
    }
    assert [found.moves[found.games == game, 0].tolist() for game in np.unique(found.games)] == [
        [12, 6, 18],
        [12, 25, 25],
        [12, 7],
        [12],
    ]
    assert found.results.tolist() == [1] * 3 + [0] * 3 + [-1] * 2 + [UNKNOWN]
    assert found.states["komi"][0] == 1.5
    assert found.states["to_move"].tolist() == [0, 1, 0, 0, 1, 0, 1, 0, 0]
    assert found.examples().result.tolist()[-4:] == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_handicaps_and_passes_can_be_left_out(small_games):
    assert go_set("go/some", 5, handicap=False).left_out["stones at the start"] == 2
    found = go_set("go/some", 5, passes=False)
    assert found.size == 7
    assert (found.moves < 25).all()


def test_unknown_results_are_not_counted(small_games):
    found = go_set("go/some", 5)
    values = np.where(found.results == UNKNOWN, 0, found.results).astype(np.float32)
    assert accuracy_of((found.examples().policy, values), found.graded())["result_accuracy"] == 1


def test_no_usable_game_is_a_sentence(small_games):
    with pytest.raises(AzlabError, match="no games that can be used on 7x7"):
        go_set("go/some", 7)


def test_one_move_is_judged_as_the_whole_mask_judges_it(pro):
    rows = np.random.default_rng(1).permutation(pro.size)[:300]
    states = pro.states[rows]
    whole = pro.game.legal_mask(states)
    for action in range(pro.game.num_actions):
        each = pro.game.are_legal(states, np.full(len(states), action))
        assert np.array_equal(each, whole[:, action])
    over = states[:1].copy()
    over["over"] = True
    assert not pro.game.are_legal(over, np.array([81])).any()


# --- the cache --------------------------------------------------------------------------------------------------------


def same(one, other):
    names = ("states", "moves", "results", "games")
    return one.left_out == other.left_out and all(getattr(one, n).tobytes() == getattr(other, n).tobytes() for n in names)


def test_what_was_parsed_is_not_parsed_again(small_games, own_cache, monkeypatch):
    first = go_set("go/some", 5)
    assert len(list(own_cache.iterdir())) == 1
    monkeypatch.setattr(go_sets, "main_line", None)  # parsing would fail now
    assert same(go_set("go/some", 5), first)
    assert go_set("go/some", 5, handicap=False).left_out["stones at the start"] == 2  # asked after reading


@pytest.mark.parametrize("what", ["archive", "code", "count", "size"])
def test_another_archive_code_or_part_is_read_anew(small_games, own_cache, monkeypatch, what):
    go_set("go/some", 5)
    if what == "archive":
        monkeypatch.setattr(datasets, "checksum", lambda name: "the second")
    if what == "code":
        monkeypatch.setattr(go_sets, "_code_version", lambda: "another")
    found = go_set("go/some", 9 if what == "size" else 5, 7 if what == "count" else None)
    assert len(list(own_cache.iterdir())) == 2
    assert found.size == {"size": 1, "count": 9}.get(what, 9)


def test_a_damaged_cache_is_read_anew_and_one_that_cannot_be_written_is_done_without(small_games, own_cache, monkeypatch):
    first = go_set("go/some", 5)
    file = next(own_cache.iterdir())
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], b""):
        file.write_bytes(damaged)
        assert same(go_set("go/some", 5), first)
        assert file.read_bytes() == whole  # mended
    for at in range(0, len(whole), 41):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        assert same(go_set("go/some", 5), first)
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))  # a file where a folder has to be
    assert same(go_set("go/some", 5), first)


def test_long_readings_say_how_far_they_are(small_games, own_cache):
    seen = []
    go_set("go/some", 5, progress=lambda what, done, total: seen.append((what, done, total)))
    assert seen == [("reading", 10, 10), ("playing", 7, 7)]
