"""Exercises of the notebooks: `azlab.course.check("02.1", answer)` says whether an answer is right, without giving it away.

The exercises of notebook 02 are in `lesson_02.py`, each a function that gets the answer and returns

    True            it is right
    False           it is wrong; the exercise's hint is shown
    a sentence      it is wrong, and the sentence, which must not hold the answer, says in what way

Where possible the function computes the right answer by other means than the notebook does.
"""

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from azlab.errors import AzlabError

Checker = Callable[[Any], bool | str]


@dataclass(frozen=True)
class Exercise:
    id: str
    hint: str
    checker: Checker


_EXERCISES: dict[str, Exercise] = {}


def exercise(exercise_id: str, hint: str) -> Callable[[Checker], Checker]:
    """Register the function below as the checker of an exercise, e.g. "02.1", the first of notebook 02."""

    def register(checker: Checker) -> Checker:
        known = _EXERCISES.get(exercise_id)
        if known and known.checker.__module__ != checker.__module__:
            raise AzlabError(f"There are two exercises {exercise_id}: in {known.checker.__module__} and {checker.__module__}.")
        _EXERCISES[exercise_id] = Exercise(exercise_id, hint, checker)
        return checker

    return register


def exercises() -> list[Exercise]:
    """Every exercise of every lesson, by id."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return [_EXERCISES[key] for key in sorted(_EXERCISES)]


def check(exercise_id: str, answer: Any = ...) -> None:
    """Print whether `answer` is right, with a hint if it is not. Leave the answer as ... to see the hint."""
    print(verdict(exercise_id, answer))


def verdict(exercise_id: str, answer: Any) -> str:
    """The line that `check` prints."""
    found = _find(exercise_id)
    if answer is ... or answer is None:
        return f"{exercise_id}: put your answer in place of the dots. Hint: {found.hint}"
    try:
        outcome = found.checker(answer)
    except (AzlabError, TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        # a message of azlab's own, such as "'z9' is not a move of go", helps; one of Python's would not
        outcome = str(error) if isinstance(error, AzlabError) else "That is not the kind of answer that is asked for."
    if outcome is True:
        return f"{exercise_id}: right."
    return f"{exercise_id}: not yet. {outcome if isinstance(outcome, str) else f'Hint: {found.hint}'}"


def _find(exercise_id: str) -> Exercise:
    lesson = f"{__name__}.lesson_{str(exercise_id).split('.')[0]}"
    if importlib.util.find_spec(lesson):
        importlib.import_module(lesson)
    if exercise_id not in _EXERCISES:
        raise AzlabError(f"There is no exercise {exercise_id!r}; there are {', '.join(one.id for one in exercises())}.")
    return _EXERCISES[exercise_id]
