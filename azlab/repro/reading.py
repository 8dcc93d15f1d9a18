"""Reads files that someone else may have written or that a crash may have cut off: a fault in one is a sentence that names it.

What comes back holds only finite numbers, text that can be written again, true, false, None, lists and tables, not deep ones.
Which keys and values a file may have is checked by whoever asked for it.
"""

import datetime
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from azlab.errors import AzlabError

LARGEST_FILE = 50_000_000  # bytes; the files that are read here have thousands
LARGEST_NUMBER = 1e300  # differences and squares' roots of such numbers are still numbers
DEEPEST = 20  # lists and tables in each other
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")  # a notebook, source or part; it cannot lead out of its folder


def read_json(file: Path, remedy: str) -> dict[str, Any]:
    """The object in a JSON file; `remedy` is the sentence on what to do if the file cannot be used."""

    def no_number(name: str) -> NoReturn:
        raise ValueError(f"{name} is no number")

    return _read(file, "JSON", lambda text: json.loads(text, parse_constant=no_number), remedy)


def read_toml(file: Path, remedy: str) -> dict[str, Any]:
    """The table in a TOML file, likewise."""
    return _read(file, "TOML", tomllib.loads, remedy)


def _read(file: Path, kind: str, parse: Callable[[str], Any], remedy: str) -> dict[str, Any]:
    try:
        if file.exists() and not file.is_file():  # a pipe or a device would be waited for
            refuse(file, "it is no regular file", remedy)
        if file.stat().st_size > LARGEST_FILE:
            refuse(file, f"it is larger than {LARGEST_FILE:,} bytes", remedy)
        content = parse(file.read_text(encoding="utf-8"))
        fault = _fault(content, 0)
    except OSError as error:
        refuse(file, f"it cannot be read ({error.strerror or error})", remedy)
    except UnicodeDecodeError:
        refuse(file, "it is not text in UTF-8", remedy)
    except RecursionError:
        refuse(file, f"lists or tables are more than {DEEPEST} deep in each other", remedy)
    except AzlabError:
        raise
    except ValueError as error:  # both parsers' own errors, and numbers of thousands of digits
        refuse(file, f"it is not valid {kind} ({str(error).rstrip('.')})", remedy)
    if fault or not isinstance(content, dict):
        refuse(file, fault or "it does not hold a table of keys and values", remedy)
    return content


def _fault(value: Any, depth: int) -> str:
    """What of `value` is nothing that azlab writes; empty if all is well."""
    if depth > DEEPEST:
        return f"lists or tables are more than {DEEPEST} deep in each other"
    if isinstance(value, dict):
        return next(filter(None, (_fault(part, depth + 1) for pair in value.items() for part in pair)), "")
    if isinstance(value, list):
        return next(filter(None, (_fault(part, depth + 1) for part in value)), "")
    if isinstance(value, str):
        return "" if is_text(value) else f"the text {value[:40]!r} holds half a character"
    if value is None or isinstance(value, bool) or is_number(value):
        return ""
    return f"{str(value)[:40]} is neither text nor a finite number, true, false, a list or a table"


def refuse(place: object, what: str, remedy: str = "") -> NoReturn:
    """Raise the sentence on a file; `place` is the file, and where in it."""
    raise AzlabError(f"{place}: {what}. {remedy}".rstrip())


def is_number(value: object) -> bool:
    """Whether it is a finite number that can be calculated with; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER


def is_whole(value: object, low: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def is_text(value: object) -> bool:
    """Whether it is text that can be written as UTF-8: JSON can name half of a character."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def is_name(value: object) -> bool:
    """Whether it may be the name of a source, notebook or part, and so a part of a file's name."""
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def is_time(value: object) -> bool:
    """Whether it is a time in ISO 8601, as runs and results note them."""
    try:
        return isinstance(value, str) and bool(datetime.datetime.fromisoformat(value))
    except ValueError:
        return False
