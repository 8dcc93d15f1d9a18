"""Games of the user's own: found by name, and never loaded because a file says so."""

import json
import sys

import pytest

import azlab
from azlab.arena import match
from azlab.arena.results import MatchResult
from azlab.errors import AzlabError
from azlab.games import known_game, registry
from azlab.games.tictactoe import TicTacToe
from azlab.learning.config import AlphaZeroConfig

FILE = """
from pathlib import Path
from azlab.games.tictactoe import TicTacToe
from beside import SIDE

Path(__file__).with_name("was_run").touch()


class Mine(TicTacToe):
    name = "mine"
    side = SIDE
"""


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """Nothing stays registered after a test."""
    monkeypatch.setattr(registry, "_others", {})
    monkeypatch.setattr(registry, "_modules", {})
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.split("_")[0] in ("mine", "beside", "broken"):
            del sys.modules[name]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "beside.py").write_text("SIDE = 3\n")
    (tmp_path / "mine.py").write_text(FILE)
    return tmp_path / "mine.py"


def test_a_registered_class_is_found_by_its_name():
    @azlab.register
    class Mine(TicTacToe):
        name = "mine"

    assert type(azlab.game("mine")) is Mine
    assert type(known_game("mine")) is Mine
    assert AlphaZeroConfig(game="mine").rules() == azlab.game("mine")


def test_a_cell_that_is_run_again_registers_its_class_anew():
    first, second = (azlab.register(type("Mine", (TicTacToe,), {"name": "mine"})) for _ in range(2))
    assert type(azlab.game("mine")) is second is not first


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (TicTacToe, "azlab's own"),
        (int, "subclass"),
        (TicTacToe(), "subclass"),
        (type("Mine", (TicTacToe,), {"name": "a b"}), "letters"),
        (type("Mine", (TicTacToe,), {"name": "x:y"}), "letters"),
        (type("Mine", (TicTacToe,), {"name": 3}), "letters"),
    ],
)
def test_what_cannot_be_registered_is_refused(wrong, why):
    with pytest.raises(AzlabError, match=why):
        azlab.register(wrong)


def test_a_class_in_a_file_is_loaded_with_what_lies_beside_it(file):
    game = azlab.game(f"{file}:Mine")
    assert game.side == 3
    assert repr(game) == "azlab.game('mine.py:Mine')"
    assert str(file.parent) not in sys.path


def test_the_same_file_gives_the_same_class_and_a_changed_one_another(file):
    one, same = azlab.game(f"{file}:Mine"), azlab.game(f"{file}:Mine")
    assert one == same
    file.write_text(FILE.replace('"mine"', '"changed"'))
    assert azlab.game(f"{file}:Mine").name == "changed"


def test_a_class_of_a_package_is_loaded():
    assert repr(azlab.game("azlab.games.tictactoe:TicTacToe")) == "azlab.game('tictactoe')"


def test_a_name_from_elsewhere_loads_nothing(file, tmp_path):
    name = f"{file}:Mine"
    for find in (known_game, lambda name: AlphaZeroConfig(game=name).rules()):
        with pytest.raises(AzlabError, match="only if you name it yourself"):
            find(name)
    saved = tmp_path / "match.jsonl"
    match("random", "random", 2, "tictactoe").save(saved)
    head, *games = saved.read_text().splitlines()
    saved.write_text("\n".join([json.dumps({**json.loads(head), "game": name}), *games]))
    with pytest.raises(AzlabError, match="only if you name it yourself"):
        MatchResult.load(saved)
    assert not (tmp_path / "was_run").exists()
    azlab.game(name)
    assert (tmp_path / "was_run").exists()
    assert MatchResult.load(saved).game == known_game(name)


def test_a_match_of_a_loaded_game_is_read_again(file, tmp_path):
    game = azlab.game(f"{file}:Mine")
    match("random", "random", 2, game).save(tmp_path / "match.jsonl")
    assert MatchResult.load(tmp_path / "match.jsonl").game == game


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nothing.py:Mine", "cannot be read"),
        ("no_such_package.games:Mine", "cannot be loaded"),
        ("{file}:Yours", "its games are: Mine"),
        ("{file}:SIDE", "its games are: Mine"),
        ("{broken}:Mine", "SyntaxError"),
        (":Mine", "cannot be loaded"),
        ("\0.py:Mine", "cannot be read"),
        ("..:Mine", "cannot be loaded"),
    ],
)
def test_code_that_cannot_be_loaded_is_said_in_a_sentence(file, name, why):
    broken = file.with_name("broken.py")
    broken.write_text("def x(:\n")
    with pytest.raises(AzlabError, match=why):
        azlab.game(name.format(file=file, broken=broken))
    assert "broken" not in sys.modules
