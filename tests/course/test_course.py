"""Exercises: right answers pass, wrong ones get a hint, and no message gives an answer away."""

import re

import pytest

import azlab
from azlab import course
from azlab.errors import AzlabError

# Lessons 01 and 02 from the literature, not from our own counts; 03 by hand or by the library, which its checkers do not use.
FIRST = lambda states: azlab.game("tictactoe").legal_mask(states).argmax(axis=1)  # noqa: E731
PERFECT = lambda states: azlab.oracle("tictactoe").best_actions(states).argmax(axis=1)  # noqa: E731
RIGHT = {"01.1": 5478, "01.2": 131184, "02.1": 57, "02.2": "b2"}
RIGHT |= {"04.1": 25, "04.2": 11 / 16, "04.3": 416, "04.4": 887, "04.5": PERFECT}
WRONG = {"01.1": 6046, "01.2": 255168, "02.1": 81, "02.2": "a1"}
WRONG |= {"04.1": 9, "04.2": 0.5, "04.3": 200, "04.4": 866, "04.5": FIRST}


@pytest.mark.parametrize("exercise", course.exercises(), ids=lambda exercise: exercise.id)
def test_an_exercise_knows_right_from_wrong_and_keeps_its_answer(exercise):
    right, wrong = RIGHT[exercise.id], WRONG[exercise.id]
    assert course.verdict(exercise.id, right) == f"{exercise.id}: right."
    for answer in (wrong, "nonsense", [1], ..., None):
        line = course.verdict(exercise.id, answer)
        assert not line.endswith("right.") and len(line.splitlines()) == 1
        assert str(right) not in re.findall(r"[\w.]+", line.replace(exercise.id, ""))


def test_check_prints_one_line_and_returns_nothing(capsys):
    assert azlab.course.check("02.1", 57) is None
    assert capsys.readouterr().out == "02.1: right.\n"
    azlab.course.check("02.1")
    assert "in place of the dots" in capsys.readouterr().out


def test_an_unknown_exercise_names_those_there_are():
    with pytest.raises(AzlabError, match=r"There is no exercise '99.1'; there are 01.1"):
        course.check("99.1", 3)


def test_an_error_in_a_checker_is_not_taken_for_a_wrong_answer(monkeypatch):
    monkeypatch.setattr(course, "_EXERCISES", dict(course._EXERCISES))

    @course.exercise("98.1", "none")
    def broken(answer):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        course.check("98.1", 1)


def test_two_lessons_cannot_have_the_same_exercise(monkeypatch):
    monkeypatch.setattr(course, "_EXERCISES", dict(course._EXERCISES))
    course.exercises()
    with pytest.raises(AzlabError, match="two exercises 02.1"):
        course.exercise("02.1", "again")(lambda answer: True)
