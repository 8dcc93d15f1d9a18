"""Games saved by a board: a damaged file is a sentence on the board, and the game on it stays."""

import json
import random

import pytest

import azlab
from azlab.errors import AzlabError
from azlab.show.record_file import from_text, read, to_text

GO = azlab.game("go", size=5, komi=0.5)
NONSENSE = [
    None,
    True,
    -1,
    2,
    10**40,
    1e308,
    float("nan"),
    "",
    "a1",
    "\ud800",
    "xyz",
    "00" * 30,
    [],
    ["a1"],
    [1, 2],
    {},
    {"a": 1},
]


@pytest.fixture(scope="module")
def line():
    """A saved game that began in the middle."""
    position = GO.position(GO.from_moves("a1 b2 c3").state).play("d4").play("pass")
    return json.loads(to_text(position, ("you", "someone")))


def damaged(line, rng):
    text = json.dumps(line)
    kind = rng.random()
    if kind < 0.2:
        place = rng.randrange(len(text))
        return text[:place] + chr(rng.randrange(32, 300)) + text[place + rng.randrange(2) :]
    if kind < 0.25:
        return rng.choice([text[: rng.randrange(len(text))], text + text, "", "[" * 100_000, '{"azlab": "game 1"}', "null"])
    copy = dict(line)
    name = rng.choice(list(copy))
    if kind < 0.35:
        del copy[name]
    elif kind < 0.7:
        place = rng.randrange(len(line["start"]))
        copy["start"] = line["start"][:place] + rng.choice("0123456789abcdef") + line["start"][place + 1 :]
    else:
        copy[name] = rng.choice(NONSENSE)
    return json.dumps(copy)


def test_a_damaged_game_is_refused_in_a_sentence_or_shown(line, many):
    rng, refused = random.Random(3), 0
    board = azlab.show.play(GO, evaluation=False)
    for _ in range(many(300)):
        text, before = damaged(line, rng), board.position
        board._hear(board, {"what": "load", "text": text}, [])
        try:
            found = from_text(text, GO)
        except AzlabError as error:
            refused += 1
            assert board.view["message"] == str(error) and str(error).endswith(".") and str(error).encode()
            assert board.position is before
        else:
            assert board.position == found and board.view["message"] == ""
    assert refused > many(300) / 2


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"start": "0"}, "'start' is not a state in hexadecimal"),
        ({"start": azlab.game("simple_go").new_states(1).tobytes().hex()}, "'start' has 64 bytes"),
        ({"start": azlab.game("go", size=5, komi=7).new_states(1).tobytes().hex()}, "komi is not 0.5"),
        ({"moves": ["d4", 3]}, "'moves, entry 2' is not a text"),
        ({"moves": ["d4", "d4"]}, "d4 is not legal here"),
        ({"moves": ["pass", "pass", "d4"]}, "The game is over"),
        ({"players": "me"}, "'players' is not a list"),
        ({"result": 1}, "the result is said to be 1, but the moves end None"),
        ({"result": "1"}, "'result' must be one of"),
        ({"options": {"size": 5}}, "was expected"),
        ({"game": 5}, "'game' is not a name"),
    ],
)
def test_what_is_wrong_is_named(line, changes, reason):
    with pytest.raises(AzlabError, match=f"This saved game cannot be read: .*{reason}"):
        from_text(json.dumps(line | changes), GO)


def test_what_is_no_text_file_is_refused(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xff\xfe")
    for path, reason in [("x.json", "is not a text file"), ("none.json", "There is no file"), (".", "cannot be read")]:
        with pytest.raises(AzlabError, match=reason):
            read(tmp_path / path)
