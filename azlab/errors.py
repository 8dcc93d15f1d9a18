"""The one kind of error a user is meant to read: a sentence that says what to do."""


class AzlabError(ValueError):
    """Something asked for cannot be done; the message says what is possible instead.

    The command line prints the message alone, without a traceback.
    """


class IllegalMove(AzlabError):
    """A move that the rules forbid here, or a name that is no move of the game."""


def whole_number(name: str, value: object, low: int, high: int) -> int:
    """Return `value` as an int if it is a whole number from `low` to `high`, else raise a sentence."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not low <= int(value.__index__()) <= high:
        raise AzlabError(f"{name} must be a whole number from {low} to {high}, not {value!r}.")
    return int(value.__index__())


def one_of(name: str, value: object, choices: tuple) -> object:
    """Return `value` if it is one of `choices`, else raise a sentence that lists them."""
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        raise AzlabError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}.")
    return value
