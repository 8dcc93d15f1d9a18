"""A sweep as a small TOML file, for `azlab sweep FILE`.

    [sweep]
    preset = "tictactoe"                # or config = "my.toml", a file beside this one, or game = "connect4"
    seeds = [1, 2, 3]

    [settings]                          # of all arms, with the names that `azlab train` knows; may be left out
    iterations = 10

    [arms.baseline]

    [arms.more]
    "budget.simulations" = 100

A unit has one core, so `selfplay.workers` is 1 unless the file says otherwise. Code that a config names ("othello.py:Othello") is
run only if the command names it too.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.learning.config import ANY_GAME, AlphaZeroConfig, preset
from azlab.learning.settings import with_settings
from azlab.learning.sweep import check_names

BASES = ("preset", "config", "game")
EXAMPLE = '[sweep] with preset = "tictactoe" and seeds = [1, 2], then [arms.baseline] and [arms.more] with iterations = 20'


@dataclass(frozen=True)
class Plan:
    """What a file asks for."""

    arms: dict[str, AlphaZeroConfig]
    seeds: list[int]


def read(file: str | Path) -> Plan:
    """The sweep that a file describes; what is wrong with it is a sentence that names the place."""
    try:
        content = tomllib.loads(Path(file).read_text("utf-8"))
        repr(content)  # refuses numbers of thousands of digits now, not in the midst of a sentence about them
    except OSError as error:
        raise AzlabError(f"{file} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:  # no TOML, which also forbids the same name twice, or no text
        raise AzlabError(f"{file} is no TOML file: {error}.") from None
    head, shared, arms = (_table(content, name, file) for name in ("sweep", "settings", "arms"))
    _only(content, ("sweep", "settings", "arms"), file)
    _only(head, (*BASES, "seeds"), f"{file}, [sweep]")
    if not arms:
        raise AzlabError(f"{file} has no arms. A sweep looks like this: {EXAMPLE}.")
    base = _base(head, file)
    found = {}
    for arm in arms:
        own = _table(arms, arm, f"{file}, [arms]")
        found[arm] = _arm(base, {"selfplay.workers": 1} | _flat(shared) | _flat(own), f"{file}, arm {arm}")
    seeds = head.get("seeds", [])
    try:
        check_names(found, seeds)
    except AzlabError as error:
        raise AzlabError(f"{file}: {error}") from None
    return Plan(found, seeds)


def _base(head: dict[str, Any], file: str | Path) -> AlphaZeroConfig:
    """What all arms begin with."""
    given = [name for name in BASES if name in head]
    if len(given) != 1 or not isinstance(head[given[0]], str):
        raise AzlabError(f'{file}: [sweep] needs one of {", ".join(BASES)}, a text, such as preset = "tictactoe".')
    value = head[given[0]]
    try:
        if given == ["config"]:
            return AlphaZeroConfig.load(Path(file).parent / value)
        return preset(value) if given == ["preset"] else preset(ANY_GAME).changed({"game": value})
    except AzlabError as error:
        raise AzlabError(f"{file}, [sweep]: {error}") from None


def _arm(base: AlphaZeroConfig, settings: dict[str, Any], place: str) -> AlphaZeroConfig:
    if "seed" in settings:
        raise AzlabError(f"{place}: the seeds stand in [sweep], so that all arms have the same.")
    try:
        config = with_settings(base, settings)
        config.rules()
    except AzlabError as error:
        raise AzlabError(f"{place}: {error}") from None
    return config


def _flat(settings: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Settings by dotted names, however the file writes them: "budget.simulations" = 1, or [arms.more.budget]."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        found |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return found


def _table(content: dict[str, Any], name: str, place: str | Path) -> dict[str, Any]:
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise AzlabError(f"{place}: {name} is a section, not {value!r}. A sweep looks like this: {EXAMPLE}.")
    return value


def _only(content: dict[str, Any], known: tuple[str, ...], place: str | Path) -> None:
    for name in content:
        if name not in known:
            raise AzlabError(f"{place}: there is no {name!r}; there are {', '.join(known)}.")
