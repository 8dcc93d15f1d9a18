"""Answers in every reasonable form: what a student may write for a number, a word, several numbers or a function.

A whole number may be 131184, 131184.0, "131,184" or "131 184"; a number also "11/16", "5 %" or a fraction; several numbers a
list, a set, a range or a line such as "1, 5, 9". What cannot be read raises an `AzlabError` that says what was asked for.
"""

import dis
import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.oracles.oracle import closed


class Unanswered(Exception):
    """A function that is still the stub it was handed out as."""


def number(answer: Any, what: str = "a number") -> float:
    """The number that is meant: 0.05, "0.05", "1/20" and "5 %" are the same."""
    if isinstance(answer, np.ndarray | np.generic) and answer.size == 1:
        answer = answer.item()
    if isinstance(answer, str):
        answer = _read(answer, what)
    if isinstance(answer, bool) or not isinstance(answer, int | float | Fraction) or not math.isfinite(answer):
        raise AzlabError(f"The answer is {what}.")
    return float(answer)


def _read(text: str, what: str) -> Fraction:
    plain = re.sub(r"(?<=\d)[ ,_](?=\d{3}\b)", "", text.strip().replace("−", "-"))
    match = re.fullmatch(r"([+-]?[\d.]+(?:e[+-]?\d{1,3})?(?:\s*/\s*\d+)?)\s*(%?)", plain)
    try:
        return Fraction(re.sub(r"\s", "", match[1])) / (100 if match[2] else 1) if match else Fraction("?")
    except (ValueError, ZeroDivisionError):
        raise AzlabError(f"The answer is {what}; {text!r} cannot be read as one.") from None


def whole(answer: Any, what: str = "a whole number") -> int:
    """The whole number that is meant: 26, 26.0 and "26" are the same. Large ones stay exact."""
    if isinstance(answer, int) and not isinstance(answer, bool):
        return answer
    if isinstance(answer, str) and (exact := _read(answer, what)).denominator == 1:
        return int(exact)
    given = number(answer, what)
    if given != round(given):
        raise AzlabError(f"The answer is {what}, and {answer} is not.")
    return round(given)


def wholes(answer: Any) -> list[int]:
    """Several whole numbers, in order: a list, a range, a set, an array, or a line such as "1, 5, 9"."""
    if isinstance(answer, str):
        answer = [part for part in re.split(r"[\s,;]+", answer.strip("[]{}() ")) if part]
    if isinstance(answer, dict) or not isinstance(answer, Iterable):
        raise AzlabError("The answer is a list of whole numbers, such as [2, 3].")
    return [whole(one) for one in answer]


def word(answer: Any, *choices: str, what: str) -> str:
    """One of `choices`, whatever its capitals and the space around it."""
    given = str(answer).strip().lower()
    for choice in choices:
        if given == choice.lower():
            return choice
    raise AzlabError(f"The answer is {what}.")


def is_stub(function: Callable[..., Any]) -> bool:
    """Whether a function does nothing at all, as when its body is still the dots."""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    said = {None, getattr(function, "__doc__", None)}
    return not code.co_names and not code.co_freevars and set(code.co_consts) <= said and not code.co_cellvars and _is_short(code)


def _is_short(code: Any) -> bool:
    """Whether no argument is used: `def f(x): return x` has no names or constants either, but is an answer."""
    return not any(step.opname.startswith(("LOAD_FAST", "BINARY", "CALL", "BUILD")) for step in dis.get_instructions(code))


def guarded(function: Callable[..., Any], may_ask_oracles: bool) -> Callable[..., Any]:
    """`function`, whose errors become sentences for the student, and which cannot ask an oracle unless it may."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        reason = "" if may_ask_oracles else "This exercise is to be solved without an oracle."
        try:
            with closed(reason):
                return function(*arguments, **named)
        except (AzlabError, KeyboardInterrupt):
            raise
        except NotImplementedError:
            raise Unanswered from None
        except RecursionError:
            raise AzlabError("Your function calls itself without end: where does it stop?") from None
        except Exception as error:
            raise AzlabError(
                f"Your function ends with {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            ) from None

    return call


def is_function(answer: Any) -> bool:
    return inspect.isfunction(answer) or inspect.ismethod(answer)


def function_of(answer: Any, what: str) -> Callable[..., Any]:
    """`answer`, if it can be called; otherwise a sentence such as "The answer is a function that takes a position."."""
    if not callable(answer):
        raise AzlabError(f"The answer is {what}.")
    return answer
