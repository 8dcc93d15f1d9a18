"""Damaged files of matches and games end in a sentence: never a traceback, never a process that dies in a kernel."""

import contextlib
import json
import random

import numpy as np
import pytest

import azlab
from azlab.arena import match, round_robin
from azlab.arena.agents import RandomAgent
from azlab.arena.results import Crosstable, GameRecord, MatchResult
from azlab.arena.saved import start_of
from azlab.errors import AzlabError

NONSENSE = [
    None, True, -1, 0, 3, 10**9, 10**40, -(10**400), 0.5, 1e308, float("inf"), float("nan"), "", "4", "x" * 300, "\ud800", "\0",
    [], ["4"], [["4"]], [1, 2], [None], ["a", "b"], {}, {"size": 5}, {"rows": "6"}, {"name": 1}, {"x": {}},
]  # fmt: skip


class Named(RandomAgent):
    def __init__(self, seed):
        super().__init__(seed)
        self.name = f"player {seed}"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The text of a match with a start of its own, and that of a round robin."""
    folder = tmp_path_factory.mktemp("saved")
    go = azlab.game("go", size=4, komi=0.5, ko="situational", max_moves=40)
    middle = go.position(go.from_moves("a1 b2 c3").state)
    match(Named(1), Named(2), 4, go, openings=[middle, "b2 c3"]).save(folder / "match")
    round_robin([Named(1), Named(2), Named(3)], "tictactoe", games=2).save(folder / "table")
    return {name: (folder / name).read_bytes() for name in ("match", "table")}


def changed_anywhere(value, rng):
    """The same JSON value with one thing in it removed, replaced by nonsense or written twice."""
    if isinstance(value, dict | list) and value and rng.random() < 0.7:
        copy = value.copy()
        key = rng.choice(list(copy) if isinstance(copy, dict) else range(len(copy)))
        chance = rng.random()
        if chance < 0.2:
            del copy[key]
        elif chance < 0.3 and isinstance(copy, list):
            copy.append(copy[key])
        else:
            copy[key] = changed_anywhere(copy[key], rng)
        return copy
    if isinstance(value, str) and value and rng.random() < 0.5:  # another letter, as in a state in hexadecimal
        place = rng.randrange(len(value))
        return value[:place] + rng.choice("0123456789abcdefxyz \u00e9") + value[place + rng.randrange(2) :]
    if isinstance(value, int) and rng.random() < 0.3:
        return value + rng.choice([-1, 1])
    return rng.choice(NONSENSE)


def damaged(content, rng):
    """A file that differs: in its bytes, in its lines, or in one entry of a line."""
    kind = rng.random()
    if kind < 0.2:
        raw = bytearray(content)
        for _ in range(rng.randint(1, 3)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        return bytes(raw[: rng.choice([len(raw), rng.randrange(len(raw))])])
    lines = content.splitlines(keepends=True)
    place = rng.randrange(len(lines))
    if kind < 0.3:
        lines[place] = rng.choice([b"", lines[rng.randrange(len(lines))], b"[" * 100_000 + b"\n", b"\xff\n", b"7\n", b"null\n"])
    else:
        lines[place] = json.dumps(changed_anywhere(json.loads(lines[place]), rng)).encode() + b"\n"
    return b"".join(lines)


@pytest.mark.parametrize(("name", "load"), [("match", MatchResult.load), ("table", Crosstable.load), ("match", Crosstable.load)])
def test_a_damaged_file_is_refused_in_a_sentence_or_is_a_match(saved, name, load, tmp_path, many):
    path, rng, refused = tmp_path / "file.jsonl", random.Random(name), 0
    for _ in range(many(300)):
        path.write_bytes(damaged(saved[name], rng))
        try:
            found = load(path)
        except AzlabError as error:
            refused += 1
            assert str(error).endswith(".") and str(error).encode()
        else:  # all that people see of it can be made
            assert str(found).encode() and found._repr_html_()
            assert all(record.final.over for record in found.records)
    assert refused > many(300) / 3


def line_of(saved, number=1):
    return json.loads(saved["match"].splitlines()[number])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"start": 7}, "'start' is not a state in hexadecimal"),
        ({"start": "xyz"}, "'start' is not a state in hexadecimal"),
        ({"start": "abc"}, "'start' is not a state in hexadecimal"),
        ({"start": ""}, "'start' has 0 bytes"),
        ({"start": "00" * 31}, "'start' has 31 bytes"),
        ({"start": azlab.game("go", size=5).new_states(1).tobytes().hex()}, "'start' has .* bytes, and a state of"),
        ({"moves": [0, 1]}, "'moves, entry 1' is not a text"),
        ({"moves": "a1"}, "'moves' is not a list"),
        ({"moves": ["zz"]}, "'zz' is not a move of go"),
        ({"opening": -1}, "'opening' must be a whole number"),
        ({"opening": 10**6}, "'opening' must be a whole number"),
        ({"pair": "0"}, "'pair' must be a whole number"),
        ({"result": True}, "'result' must be one of"),
        ({"result": 1e400}, "'result' must be one of"),
        ({"players": [1, 2]}, "'players, entry 1' is not a text"),
        ({"players": ["player 1"]}, "'players' has 1 names"),
        ({"players": ["player 1", "player 3"]}, "'players' are not player 1 and player 2"),
    ],
)
def test_what_is_wrong_with_a_game_is_named(saved, tmp_path, changes, reason):
    lines = saved["match"].decode().splitlines()
    (tmp_path / "m").write_text("\n".join([lines[0], json.dumps(line_of(saved) | changes)]))
    with pytest.raises(AzlabError, match=f"Line 2 of .* is not a game of go .*{reason}"):
        MatchResult.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"options": {"size": "4"}}, "size must be a whole number"),
        ({"options": {"colour": 1}}, "go has no option 'colour'"),
        ({"options": {"name": "go"}}, "go has no such options|go has no option"),
        ({"options": []}, "'options' are not options by name"),
        ({"game": ["go"]}, "'game' is not a name"),
        ({"planned": 1}, "'planned' must be a whole number from 4"),
        ({"seed": 0.5}, "float"),
        ({"openings": 3}, "'openings' is not a text"),
        ({"names": ["a", "b", "c"]}, "'names' has 3 names"),
        ({"names": ["a", "\ud800"]}, "'names, entry 2' is not a text"),
    ],
)
def test_what_is_wrong_with_a_match_is_named(saved, tmp_path, changes, reason):
    lines = saved["match"].decode().splitlines()
    (tmp_path / "m").write_text("\n".join([json.dumps(json.loads(lines[0]) | changes), *lines[1:]]))
    with pytest.raises(AzlabError, match=f"Line 1 of .* does not describe a match .*({reason})"):
        MatchResult.load(tmp_path / "m")


def test_a_missing_entry_is_named(saved, tmp_path):
    lines = saved["match"].decode().splitlines()
    for number, name in [(0, "game"), (0, "options"), (0, "names"), (0, "planned"), (0, "seed"), (0, "openings")] + [
        (1, name) for name in ("pair", "players", "result", "opening", "moves")
    ]:
        line = json.loads(lines[number])
        del line[name]
        (tmp_path / "m").write_text("\n".join([*lines[:number], json.dumps(line), *lines[number + 1 :]]))
        with pytest.raises(AzlabError, match=f"Line {number + 1} of .*'{name}' is (missing|not a text)"):
            MatchResult.load(tmp_path / "m")


def test_a_match_of_another_game_than_asked_for_is_refused(saved, tmp_path):
    (tmp_path / "m").write_bytes(saved["match"])
    with pytest.raises(AzlabError, match="it is a game of go .*, and .*size=5.* was expected"):
        MatchResult.load(tmp_path / "m", game=azlab.game("go", size=5))
    with pytest.raises(AzlabError, match="cannot be read"):
        MatchResult.load(tmp_path)


def test_a_round_robin_names_its_players_and_matches(saved, tmp_path):
    lines = saved["table"].decode().splitlines()
    for changes, reason in [
        ({"players": "abc"}, "'players' is not a list"),
        ({"players": ["player 1", "player 2"]}, "not of one game between the players"),
        ({"players": ["player 1", "player 2", "player 3", "player 3"]}, "not of one game between the players"),
        ({"matches": 1}, "'matches' must be a whole number from 3"),
    ]:
        (tmp_path / "t").write_text("\n".join([json.dumps(json.loads(lines[0]) | changes), *lines[1:]]))
        with pytest.raises(AzlabError, match=reason):
            Crosstable.load(tmp_path / "t")
    (tmp_path / "t").write_bytes(saved["match"] + saved["table"])
    with pytest.raises(AzlabError, match="not of one game"):
        Crosstable.load(tmp_path / "t")


def test_a_game_that_is_over_at_its_start_has_no_moves():
    game = azlab.game("tictactoe")
    over = game.from_moves("a1 b1 a2 b2 a3")
    start = over.state.tobytes().hex()
    assert GameRecord(game, ("a", "b"), (), 0, 1, 0, start).final == over
    with pytest.raises(AzlabError, match="The game is over"):
        _ = GameRecord(game, ("a", "b"), ("c3",), 0, 1, 0, start).positions


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "dots_and_boxes", "go", "simple_go", "seega"])
def test_altered_starts_are_refused_or_played(name, many):
    """Single hexadecimal digits of a state, as a slip of the hand in an editor changes them."""
    game, rng = azlab.game(name, **({"size": 5} if name == "go" else {})), np.random.default_rng(5)
    state = game.new_states(1)
    for _ in range(6):
        game.kernels.play(state, game.random_actions(state, rng))
    text, refused = state.tobytes().hex(), 0
    for _ in range(many(200)):
        place = int(rng.integers(len(text)))
        try:
            position = start_of(game, text[:place] + rng.choice(list("0123456789abcdef")) + text[place + 1 :])
        except AzlabError as error:
            refused += 1
            assert "is no possible state of" in str(error)
            continue
        with contextlib.suppress(IndexError):
            while True:
                position = position.play(position.legal_actions[0])
        assert position.over
    assert refused > many(200) / 2
