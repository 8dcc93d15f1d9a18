"""The page of a tournament: complete, without a network, and safe against names that look like HTML."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

import azlab
from azlab.arena.contestants import contestants
from azlab.arena.match import random_openings
from azlab.arena.standings import standings
from azlab.arena.student import CRASH
from azlab.arena.tournament import Tournament
from azlab.arena.tournament_file import Failure, Known, Played
from azlab.show import tournament_page
from azlab.show.board import drawn
from azlab.show.tournament_page import Boards, page

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"


class Elements(HTMLParser):
    """All elements of a page with their attributes, and its text."""

    def __init__(self, text):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


def random_game(rules, seed):
    position = random_openings(rules, 1, 2, seed)[0]
    while not position.over:
        position = position.play(position.legal_actions[seed % len(position.legal_actions)])
    return position


@pytest.fixture
def found(tmp_path):
    for name in ("anna", "ben", "carl"):
        (tmp_path / f"{name}.py").write_text("")
    rules = azlab.game("connect4")
    tournament = Tournament(contestants(tmp_path), rules, "connect4", tmp_path / "out", games=2)
    digests = {one.name: one.digest for one in tournament.players}
    for number, (_, first, second) in enumerate(tournament.all_keys()):
        position = random_game(rules, number)
        moves, result, failure = tuple(position.moves), position.result, None
        if "carl" in (first, second):
            moves, result, failure = moves[:5], (-1 if first == "carl" else 1), Failure("carl", CRASH, EVIL)
        played = Played(0, (first, second), (digests[first], digests[second]), 2, moves, result, failure)
        tournament.results.games[played.key] = played
    tournament.results.players["anna"] = Known("anna", digests["anna"], EVIL)
    return standings(tournament)


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_page_has_its_parts_and_every_game(found):
    text = page(found)
    elements = Elements(text)
    headings = re.findall(r"<h2 id=\"(\w+)\"", text)
    assert headings == ["ranking", "failures", "cross", "games"]
    assert [tag for tag, _ in elements.found].count("details") == 3
    shown = [attributes["data-game"] for tag, attributes in elements.found if "data-game" in attributes]
    assert sorted(map(int, shown)) == list(range(6)) and len(data_of(text)["games"]) == 6
    targets = {attributes.get("id") for _, attributes in elements.found}
    links = [attributes["href"] for tag, attributes in elements.found if tag == "a"]
    assert len(links) == 6 and all(link[1:] in targets for link in links)


def test_nothing_of_the_page_comes_from_elsewhere(found):
    text = page(found)
    attributes = {name for _, given in Elements(text).found for name in given}
    assert not attributes & {"src", "srcset", "action", "data"}
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", text)
    assert "default-src 'none'" in text


def test_names_and_reasons_are_shown_and_never_run(found):
    text = page(found)
    elements = Elements(text)
    assert "<img" not in text and "alert(1)</script>" not in text and "alert(2)>" not in text
    assert [attributes for tag, attributes in elements.found if tag == "script"] == [
        {"type": "application/json", "id": "data"},
        {},
    ]
    assert EVIL[:37] in elements.text  # a name has 40 letters, the last of them dots
    assert any(EVIL in game["end"] for game in data_of(text)["games"])


def test_the_page_allows_its_own_script_alone(found):
    text = page(found)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text


@pytest.mark.parametrize("name", ["connect4", "dots_and_boxes", "go", "seega", "tictactoe"])
def test_the_steps_of_a_game_give_the_boards_that_azlab_draws(name):
    rules = azlab.game(name, **({"size": 5, "max_moves": 40} if name == "go" else {}))
    boards = Boards(rules)
    position = random_game(rules, 3)
    played = Played(0, ("a", "b"), ("", ""), 2, tuple(position.moves), position.result)
    steps, movers = boards.steps(rules, played)
    board = boards.start
    for at, change, mover in zip(position.path(), [None, *steps], [*movers, None]):
        if change is not None:
            begin, end, *new = change
            board = board[:begin] + new + board[len(board) - end :]
        assert [boards.shapes[number] for number in board] == [drawn(shape) for shape in rules.picture(at).shapes]
        assert mover is None or mover == at.to_move


def test_a_page_that_would_be_too_large_lists_games_without_boards(found, monkeypatch):
    monkeypatch.setattr(tournament_page, "MOST_NUMBERS", 200)
    text = page(found)
    shown = len(data_of(text)["games"])
    assert 0 < shown < 6 and f"The last {6 - shown} games have no boards here" in text
    assert text.count("<li>") == 6 + len(found.failure_lines())
