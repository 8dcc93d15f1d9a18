"""The one kind of error a user is meant to read, a sentence that says what to do; how what a user typed is read and checked."""

import ast
import math
import warnings
from typing import Any, SupportsIndex


class AzlabError(ValueError):
    """Something asked for cannot be done; the message says what is possible instead.

    The command line prints the message alone, without a traceback.
    """


class IllegalMove(AzlabError):
    """A move that the rules forbid here, or a name that is no move of the game."""


def whole_number(name: str, value: object, low: int, high: int) -> int:
    """Return `value` as an int if it is a whole number from `low` to `high`, else raise a sentence."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex) or not low <= int(value.__index__()) <= high:
        raise AzlabError(f"{name} must be a whole number from {low} to {high}, not {value!r}.")
    return int(value.__index__())


def finite_number(name: str, value: object, low: float = -math.inf) -> float:
    """Return `value` if it is a number from `low` on, and neither infinite nor "not a number"; else raise a sentence."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value < math.inf or value == -math.inf:
        raise AzlabError(f"{name} must be a number{'' if low == -math.inf else f' from {low:g} on'}, not {value!r}.")
    return value


def one_of(name: str, value: object, choices: tuple) -> object:
    """Return `value` if it is one of `choices`, else raise a sentence that lists them."""
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        raise AzlabError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}.")
    return value


def literal(text: str) -> Any:
    """What a user typed as the value of a setting: a number, True, None, or a list of such; all else is text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python has opinions on texts that look like code
            value = ast.literal_eval(text)
        return value if _is_plain(value) else text
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):  # the last two for texts nested deeply
        return text


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, int):
        return abs(value) < 2**64  # what is larger fits neither an array nor a message
    return value is None or isinstance(value, float | str)
