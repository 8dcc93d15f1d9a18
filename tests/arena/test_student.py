"""A student's file as a player: which part of it plays, what counts as a move, and how errors are told. No processes here."""

from types import ModuleType

import numpy as np
import pytest

from azlab.arena import student
from azlab.arena.student import CRASH, MEMORY, START, Job


def module_of(source: str) -> ModuleType:
    return student._run("/nowhere/anna.py", source.encode())


def test_a_function_plays():
    player, name = student.player_in(module_of("name = 'Anna'\ndef choose(position):\n    return 'd4'"))
    assert player.choose(None) == "d4" and name == "Anna"


def test_a_class_plays_and_is_made_once():
    source = (
        "class Anna:\n    name = 'A'\n    def __init__(self): self.n = 0\n    def choose(self, p): self.n += 1; return self.n"
    )
    player, name = student.player_in(module_of(source))
    assert [player.choose(None), player.choose(None), name] == [1, 2, "A"]


def test_a_class_that_others_only_build_upon_does_not_play():
    source = "class Base:\n    def choose(self, p): return 1\nclass Mine(Base):\n    def choose(self, p): return 2"
    assert student.player_in(module_of(source))[0].choose(None) == 2


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "neither a function"),
        ("choose = 5", "neither a function"),
        ("class A:\n  def choose(self, p): 0\nclass B:\n  def choose(self, p): 0", "several classes with a method choose (A, B)"),
        ("from azlab.arena.agents import RandomAgent", "neither a function"),  # an agent that was imported is not the student's
    ],
)
def test_a_file_without_one_player_says_so(source, words):
    with pytest.raises(student._NoPlayer) as error:
        student.player_in(module_of(source))
    assert words in str(error.value)


@pytest.mark.parametrize("name", [5, None, ["x"]])
def test_a_name_that_is_no_text_is_left_out(name):
    assert student._shown(name) == ""


def test_a_name_is_one_short_line():
    assert student._shown("a\nb\x00c\u202e") == "a b?c?"
    assert len(student._shown("x" * 1000)) == student.LONGEST_NAME


@pytest.mark.parametrize(("answer", "move"), [("d4", "d4"), (3, 3), (np.int64(3), 3), (np.str_("a1"), "a1"), (np.array(2), 2)])
def test_names_and_whole_numbers_are_moves(answer, move):
    found = student._as_move(answer)
    assert found == move and type(found) in (str, int)


@pytest.mark.parametrize("answer", [None, True, np.True_, 3.0, b"d4", [3], object(), "x" * 1000, 10**30, float("nan")])
def test_anything_else_is_none(answer):
    with pytest.raises(student._Rubbish, match="choose returned"):
        student._as_move(answer)


def failed(source: str, at_start: bool = False) -> tuple[str, str]:
    job = Job("tictactoe", {}, "anna", "/nowhere/anna.py", source.encode(), 0, 1.0, 1.0, None)
    try:
        try:
            module_of(source).choose(None)
        except BaseException as error:
            if not at_start:
                raise
            raise student._AtStart from error
    except BaseException as error:
        return student._explained(error, job)
    raise AssertionError("nothing failed")


def test_an_error_is_told_with_the_line_of_the_file():
    assert failed("def choose(p):\n    import json\n    json.loads('x')\n") == (
        CRASH, "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (anna.py, line 3)",
    )  # fmt: skip
    assert failed("x = (\n", at_start=True) == (START, "SyntaxError: '(' was never closed (anna.py, line 1)")
    assert failed("import sys\ndef choose(p):\n    sys.exit(3)\n") == (CRASH, "SystemExit: 3 (anna.py, line 3)")
    assert failed("def choose(p): raise MemoryError\n") == (MEMORY, "MemoryError (anna.py, line 1)")


def test_an_error_whose_text_fails_is_told_by_its_kind():
    source = "class Odd(Exception):\n    def __str__(self): raise ValueError\ndef choose(p): raise Odd"
    assert failed(source) == (CRASH, "Odd")


def test_addresses_are_left_out_of_reasons():
    kind, reason = failed("def choose(p): raise ValueError(object())")
    assert kind == CRASH and "0x..." in reason


def test_a_file_does_not_hide_modules_of_python(tmp_path):
    (tmp_path / "queue.py").write_text("WRONG = True")
    found = student._run(str(tmp_path / "random.py"), b"import queue\ndef choose(p): return hasattr(queue, 'WRONG')")
    assert found.choose(None) is False
