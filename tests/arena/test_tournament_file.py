"""results.jsonl: what is written is read again, what is damaged or no longer true is played anew."""

import json

import pytest

import azlab
from azlab.arena.contestants import Contestant
from azlab.arena.student import ILLEGAL
from azlab.arena.tournament_file import Failure, Known, Played, ResultsFile
from azlab.errors import AzlabError

GAME = azlab.game("tictactoe")
SETTINGS = {"seed": 0, "seconds": 5.0}
WON = ("a1", "a2", "b1", "b2", "c1")
GAMES = [
    Played(1, ("anna", "ben"), ("1", "2"), 2, WON, 1),
    Played(0, ("ben", "anna"), ("2", "1"), 2, ("a1", "b2"), 1, Failure("anna", ILLEGAL, "'x9' is no move")),
    Played(0, ("anna", "carl"), ("1", "3"), 2, WON, 1),
]


def written(folder, order=(0, 1, 2)):
    file = ResultsFile(folder / "results.jsonl", GAME, SETTINGS)
    file.write()
    for number in order:
        file.add(GAMES[number])
    file.add(Known("anna", "1", "Anna", None))
    return file


def again(folder, **changes):
    return ResultsFile(folder / "results.jsonl", GAME, SETTINGS | changes)


def test_what_is_added_is_read_again(tmp_path):
    written(tmp_path)
    found = again(tmp_path)
    assert found.games == {played.key: played for played in GAMES} and found.damaged == 0
    assert found.players == {"anna": Known("anna", "1", "Anna", None)}


def test_the_file_does_not_tell_in_which_order_games_ended(tmp_path):
    texts = []
    for order in ((0, 1, 2), (2, 0, 1)):
        written(tmp_path, order).write()
        texts.append((tmp_path / "results.jsonl").read_text())
        (tmp_path / "results.jsonl").unlink()
    assert texts[0] == texts[1]


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_was_cut_off_is_left_out(tmp_path, cut):
    path = written(tmp_path).path
    path.write_bytes(path.read_bytes()[:-cut])
    found = again(tmp_path)
    assert found.games.keys() == {played.key for played in GAMES}
    assert (found.damaged, len(found.players)) == ((0, 1) if cut == 1 else (1, 0))


@pytest.mark.parametrize(
    "change",
    [
        {"result": -1}, {"result": 0}, {"result": 5}, {"moves": ["a1", "a1"]}, {"moves": ["a1"]}, {"given": 9}, {"opening": -1},
        {"players": ["anna"]}, {"digests": None}, {"forfeit": {"player": "ben", "kind": "crash", "reason": ""}},
        {"forfeit": {"player": "ben", "kind": "odd", "reason": ""}}, {"forfeit": 3},
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_true_is_left_out(tmp_path, change):
    path = written(tmp_path, ()).path
    line = GAMES[0].line() | change
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n[1]\nno JSON\n")
    found = again(tmp_path)
    assert found.games == {} and found.damaged == 3


def test_games_of_a_changed_player_are_forgotten_and_those_of_an_absent_one_kept(tmp_path):
    file = written(tmp_path)
    assert file.forget([Contestant("anna", "1"), Contestant("ben", "new")]) == 2
    assert list(file.games) == [(0, "anna", "carl")] and list(file.players) == ["anna"]
    assert file.forget([Contestant("anna", "1")], again=["anna"]) == 1 and not file.players


@pytest.mark.parametrize("change", [{"seed": 1}, {"seconds": 6.0}])
def test_other_settings_are_another_tournament(tmp_path, change):
    written(tmp_path)
    with pytest.raises(AzlabError, match=f"has games with {min(change)} = "):
        again(tmp_path, **change)


@pytest.mark.parametrize("text", ["", "{}\n", "no JSON\n", '{"azlab": "match 1"}\n'])
def test_a_file_of_something_else_is_a_sentence(tmp_path, text):
    (tmp_path / "results.jsonl").write_text(text)
    with pytest.raises(AzlabError, match="is no tournament"):
        again(tmp_path)
