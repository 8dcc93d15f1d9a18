"""The words of a GTP command as numbers, colours and points; what cannot be read is a sentence beginning "syntax error"."""

import re
from collections.abc import Sequence

from azlab.errors import AzlabError
from azlab.formats import gtp

SEATS = {"b": 0, "black": 0, "w": 1, "white": 1}
_SHOWN = 40  # characters of a wrong word that an answer repeats

_WHOLE = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})", re.ASCII)


def word(words: Sequence[str], place: int, what: str) -> str:
    """The word at a place."""
    if len(words) <= place:
        raise AzlabError(f"syntax error: {what} is missing")
    return words[place]


def seat(words: Sequence[str], place: int = 0) -> int:
    """A colour; capitals do not matter."""
    text = word(words, place, "a colour, black or white,")
    if text.lower() not in SEATS:
        raise _wrong(text, "a colour, black or white")
    return SEATS[text.lower()]


def whole(words: Sequence[str], place: int, what: str) -> int:
    """A whole number."""
    text = word(words, place, what)
    if not _WHOLE.fullmatch(text):
        raise _wrong(text, what)
    return int(text)


def number(words: Sequence[str], place: int, what: str) -> float:
    """A number, such as 6.5."""
    text = word(words, place, what)
    if not _NUMBER.fullmatch(text):
        raise _wrong(text, what)
    return float(text)


def point(words: Sequence[str], place: int, size: int) -> int:
    """A point or the pass, as an action of Go."""
    text = word(words, place, "a point, or pass,")
    try:
        return gtp.action(text, size)
    except gtp.GtpError:
        raise _wrong(text, f"a point from A1 to {gtp.vertex(size - 1, size)}, or pass") from None


def moves(words: Sequence[str], size: int) -> list[tuple[int, int]]:
    """Colours and points in turn, as seats and actions."""
    if len(words) % 2:
        raise AzlabError("syntax error: colours and points come in pairs")
    return [(seat(words, k), point(words, k + 1, size)) for k in range(0, len(words), 2)]


def vertices(actions: Sequence[int], size: int) -> str:
    """Points as the protocol lists them."""
    return " ".join(gtp.vertex(action, size) for action in actions)


def _wrong(text: str, what: str) -> AzlabError:
    return AzlabError(f"syntax error: {text[:_SHOWN]!r} is not {what}")
