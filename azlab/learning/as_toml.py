"""Settings on disk: any dataclass of numbers, texts and lists, with sections that are dataclasses themselves, as a TOML file."""

import dataclasses
import json
import re
import tomllib
from typing import Any, SupportsFloat, SupportsIndex, get_origin, get_type_hints

from azlab.errors import AzlabError


def to_toml(config: Any) -> str:
    """The settings as a TOML file: `build(kind, read_toml(text))` gives them back."""
    plain, sections = [], []
    for item in dataclasses.fields(config):
        value = getattr(config, item.name)
        if dataclasses.is_dataclass(value):
            value = {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
        if isinstance(value, dict):
            entries = (f"{_toml_key(key)} = {_toml(entry)}" for key, entry in value.items())
            sections.append("\n".join([f"\n[{item.name}]", *entries]))
        else:
            plain.append(f"{item.name} = {_toml(value)}")
    return "\n".join([*plain, *sections]) + "\n"


def read_toml(text: str, where: str = "The config") -> dict[str, Any]:
    """The tables of a TOML file; a sentence on `where` it is if it is none."""
    try:
        values = tomllib.loads(text)
        repr(values)  # refuses numbers of thousands of digits now, not in the midst of a sentence about them
    except ValueError as error:
        raise AzlabError(f"{where} is no TOML file: {error}.") from None
    except RecursionError:
        raise AzlabError(f"{where} holds lists within lists within lists, too deep to be read.") from None
    return values


def differences(one: Any, other: Any) -> list[str]:
    """The names of the settings in which two configs of a kind differ."""
    left, right = dataclasses.asdict(one), dataclasses.asdict(other)
    names = []
    for name, value in left.items():
        if isinstance(value, dict) and isinstance(right[name], dict):
            keys = value.keys() | right[name].keys()
            names += sorted(f"{name}.{key}" for key in keys if value.get(key) != right[name].get(key))
        elif value != right[name]:
            names.append(name)
    return names


def _toml_key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else _toml(key)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if not value.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise AzlabError(f"A config file holds text, and {value!r} is not text in any language.")
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML has the escapes of JSON
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, SupportsIndex):  # numpy's numbers too
        return repr(int(value))
    if isinstance(value, SupportsFloat):
        return repr(float(value))
    raise AzlabError(f"A config file holds numbers, texts and lists of them, not {value!r}.")


def build(kind: Any, values: dict[str, Any], where: str) -> Any:
    """A dataclass from plain values, lists becoming tuples; unknown names and wrong types are sentences."""
    hints = get_type_hints(kind)
    given: dict[str, Any] = {}
    for name, value in values.items():
        if name not in hints:
            raise AzlabError(f"{where}: there is no setting {name!r}; there are {', '.join(hints)}.")
        if dataclasses.is_dataclass(hints[name]):
            if not isinstance(value, dict):
                raise AzlabError(f"{where}: {name} is a section, not {value!r}.")
            given[name] = build(hints[name], value, f"{where}, section [{name}]")
        else:
            given[name] = _fitting(value, hints[name], f"{where}: {name}")
    try:
        return kind(**given)
    except AzlabError as error:
        raise AzlabError(f"{where}: {error}") from None


def _fitting(value: Any, hint: Any, name: str) -> Any:
    origin = get_origin(hint) or hint
    wanted = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", dict: "a section"}
    if origin is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if origin in wanted and type(value) is not origin:
        raise AzlabError(f"{name} must be {wanted[origin]}, not {value!r}.")
    if isinstance(value, dict):
        return {key: _as_tuples(entry) for key, entry in value.items()}
    return _as_tuples(value)


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(item) for item in value) if isinstance(value, tuple | list) else value
