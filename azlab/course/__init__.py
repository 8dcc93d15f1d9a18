"""Exercises of the notebooks: `azlab.course.check("02.1", answer)` says whether an answer is right, without giving it away.

The exercises of notebook 02 are in `lesson_02.py`, each a function that gets the answer and returns

    True            it is right
    False           it is wrong
    a sentence      it is wrong, and the sentence, which must not hold the answer, says in what way
    a Mistake       the same, with the name of a misconception that is known (`MISCONCEPTIONS`), so that a teacher can count them

Where possible the function computes the right answer by other means than the notebook does. `hint("02.1")` gives the next hint,
on request. `use("02.1", mine)` is the student's function if it is right and the library's otherwise, so that a notebook runs to
its end whether or not its exercises are solved. `build.py` makes the notebooks that students get from the instructor's.
"""

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from azlab.course.answers import Unanswered, guarded, is_function, is_stub
from azlab.errors import AzlabError

POINTS = {"understand": 1, "write": 3, "explore": 2}  # the three grades of exercises

# What people commonly get wrong, by a name under which it can be counted.
MISCONCEPTIONS = {
    "wrong player": "The value has the sign of the wrong player: for whom is it, and who chooses here?",
    "turns alternate": "It changes sides after every move, but in this game a player may move twice in a row.",
    "bootstrapped end": "After the end there is nothing to come: a finished game is worth its result, whatever was learned.",
    "wrong count": "Which visits are counted? The bonus needs those of the move itself and the total of its node.",
    "visits not value": "The move is to be chosen by its visits, the steadier number, not by its mean.",
    "value not visits": "It looks at how often a move was tried; here its mean is asked for.",
    "never explores": "A move that was never tried has to be tried before others are tried again.",
    "no cut": "The values are right, but every line is searched: nothing is cut off.",
    "unsound cut": "It cuts lines off that would have mattered: compare with both bounds, and hand both of them down.",
    "counts all": "That counts everything; only some of it is asked for.",
    "percent for share": "A share is a number between 0 and 1.",
}


class Mistake(NamedTuple):
    """A wrong answer whose reason is known: a name from `MISCONCEPTIONS` and what the student is told."""

    name: str
    sentence: str


def mistake(name: str, sentence: str = "") -> Mistake:
    """The misconception called `name`, explained by `sentence` or by what is always said about it."""
    return Mistake(name, sentence or MISCONCEPTIONS[name])


Checker = Callable[[Any], "bool | str | Mistake"]


@dataclass(frozen=True)
class Exercise:
    id: str
    hints: tuple[str, ...]  # from a nudge to nearly the answer
    checker: Checker
    grade: str  # understand, write or explore
    instead: Any  # what `use` returns while the answer is not right, for exercises that later cells build on
    may_ask_oracles: bool  # whether a function that is handed over may call an oracle while it is checked

    @property
    def points(self) -> int:
        return POINTS[self.grade]


@dataclass(frozen=True)
class Result:
    """What came of a check. It was printed, so a notebook does not show it again."""

    exercise: str
    points: int  # 0 unless the answer is right
    of: int
    message: str
    misconception: str = ""  # its name in MISCONCEPTIONS, if the mistake is a known one

    @property
    def is_right(self) -> bool:
        return self.points == self.of

    def __str__(self) -> str:
        return f"{self.exercise}: {self.message}"

    def _ipython_display_(self) -> None:
        pass


_EXERCISES: dict[str, Exercise] = {}
_HINTS_GIVEN: dict[str, int] = {}


def exercise(
    exercise_id: str, *hints: str, grade: str = "understand", instead: Any = None, may_ask_oracles: bool = True
) -> Callable[[Checker], Checker]:
    """Register the function below as the checker of an exercise, e.g. "02.1", the first of notebook 02."""
    if grade not in POINTS or not hints:
        raise AzlabError(f"Exercise {exercise_id} needs a hint, and a grade that is one of {', '.join(POINTS)}.")

    def register(checker: Checker) -> Checker:
        known = _EXERCISES.get(exercise_id)
        if known and known.checker.__module__ != checker.__module__:
            raise AzlabError(f"There are two exercises {exercise_id}: in {known.checker.__module__} and {checker.__module__}.")
        _EXERCISES[exercise_id] = Exercise(exercise_id, hints, checker, grade, instead, may_ask_oracles)
        return checker

    return register


def exercises() -> list[Exercise]:
    """Every exercise of every lesson, by id."""
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("lesson_"):
            importlib.import_module(f"{__name__}.{module.name}")
    return [_EXERCISES[key] for key in sorted(_EXERCISES)]


def check(exercise_id: str, answer: Any = ...) -> Result:
    """Print whether `answer` is right, and return it with its points."""
    result = graded(exercise_id, answer)
    print(result)
    return result


def graded(exercise_id: str, answer: Any) -> Result:
    """What `check` prints and returns."""
    found = _find(exercise_id)

    def result(points: int, message: str, misconception: str = "") -> Result:
        return Result(found.id, points, found.points, message, misconception)

    ask = f'azlab.course.hint("{found.id}") gives a hint.'
    if answer is ... or answer is None or (is_function(answer) and is_stub(answer)):
        return result(0, f"put your answer in place of the dots. {ask}")
    if is_function(answer):
        answer = guarded(answer, found.may_ask_oracles)
    try:
        outcome = found.checker(answer)
    except Unanswered:
        return result(0, f"put your answer in place of the dots. {ask}")
    except (AzlabError, TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        # a message of azlab's own, such as "'z9' is not a move of go", helps; one of Python's would not
        outcome = str(error) if isinstance(error, AzlabError) else "That is not the kind of answer that is asked for."
    if outcome is True:
        return result(found.points, f"right ({found.points} {'point' if found.points == 1 else 'points'}).")
    if isinstance(outcome, Mistake):
        return result(0, f"not yet. {outcome.sentence}", outcome.name)
    return result(0, f"not yet. {outcome if isinstance(outcome, str) else ask}")


def hint(exercise_id: str, step: int | None = None) -> None:
    """Print the next hint of an exercise, or the one numbered `step`, counted from 1."""
    found = _find(exercise_id)
    number = _HINTS_GIVEN.get(found.id, 0) + 1 if step is None else step
    if step is not None and not 1 <= step <= len(found.hints):
        raise AzlabError(f"Exercise {found.id} has {len(found.hints)} hint{'s' * (len(found.hints) > 1)}, counted from 1.")
    number = min(number, len(found.hints))
    _HINTS_GIVEN[found.id] = number
    print(f"{found.id}, hint {number} of {len(found.hints)}: {found.hints[number - 1]}")


def use(exercise_id: str, answer: Any) -> Any:
    """`answer` if it is right, otherwise what the library has in its place; says which."""
    found = _find(exercise_id)
    if found.instead is None:
        raise AzlabError(f"Nothing builds on exercise {found.id}; check it with azlab.course.check.")
    if graded(exercise_id, answer).is_right:
        print(f"{found.id}: yours is used from here on.")
        return answer
    print(f"{found.id}: the library's is used from here on, until yours is right.")
    return found.instead


def _find(exercise_id: str) -> Exercise:
    lesson = f"{__name__}.lesson_{str(exercise_id).split('.')[0]}"
    if importlib.util.find_spec(lesson):
        importlib.import_module(lesson)
    if exercise_id not in _EXERCISES:
        raise AzlabError(f"There is no exercise {exercise_id!r}; there are {', '.join(one.id for one in exercises())}.")
    return _EXERCISES[exercise_id]
