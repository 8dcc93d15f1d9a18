"""The settings of `azlab train`: a preset, a config file, or a game of anyone's, and words such as size=6 simulations=100."""

import dataclasses
import inspect
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.games.registry import GAMES, game_class, load_game
from azlab.learning.config import ANY_GAME, AlphaZeroConfig, preset, presets
from azlab.nets.kinds import load_net

YIELDING = ("test_search", "gate", "evaluation", "begin")  # a short name such as `simulations` means self-play's, not these


def chosen(what: str | None, file: str | None, words: list[tuple[str, Any]], net: str | None = None) -> AlphaZeroConfig:
    """The config of a training that the user asks for.

    what: a preset, or a game: one of azlab's, or "othello.py:Othello", whose code is run because the user names it here
    file: a TOML file; a game in it that is code must be `what` as well
    words: settings by full name (budget.simulations) or short (simulations), and options of the game
    net: a kind of net, or a function in a file, which is run
    """
    if what is None and file is None:
        raise AzlabError(
            f"Say what to train: a preset ({', '.join(presets())}), a game such as othello.py:Othello, or --config FILE."
        )
    settings = dict(words)
    if kind := net or settings.get("net.kind"):
        settings["net.kind"] = load_net(str(kind))
    return with_settings(_begun(what, file), settings)


def with_settings(config: AlphaZeroConfig, settings: dict[str, Any]) -> AlphaZeroConfig:
    """A config with other settings, by full or short names. The sizes of one kind of net mean nothing to another: they go."""
    kind = settings.get("net.kind", config.net.get("kind", "residual"))
    if kind != config.net.get("kind", "residual"):
        config = dataclasses.replace(config, net={"kind": kind})
    return config.changed(full_names(config, settings))


def _begun(what: str | None, file: str | None) -> AlphaZeroConfig:
    if what is not None and what not in presets():
        spec = _loaded(what)
        config = AlphaZeroConfig.load(file) if file else preset(ANY_GAME).changed({"game": spec})
        if file and config.game != spec:
            raise AzlabError(f"{file} is for {config.game}, not for {what}.")
    else:
        config = AlphaZeroConfig.load(file) if file else preset(str(what))
        if file and what and config.game != what:
            raise AzlabError(f"{file} is for {config.game}, not for {what}.")
    return config


def _loaded(what: str) -> str:
    """What the game is called in configs; its code is run if it is in a file."""
    try:
        found = load_game(what)
    except AzlabError:
        if ":" in what:
            raise
        raise AzlabError(
            f"There is no preset or game {what!r}; presets are {', '.join(presets())}, games {', '.join(GAMES)}, and one of "
            "your own is named by its file: othello.py:Othello."
        ) from None
    return found.loaded_as or found.name


def full_names(config: AlphaZeroConfig, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings by their full names: an option of the game is options.size, a short name that of the one section that has it."""
    options = list(inspect.signature(game_class(config.game)).parameters)
    return {_full_name(config, options, name): value for name, value in settings.items()}


def _full_name(config: AlphaZeroConfig, options: list[str], name: str) -> str:
    if "." in name:
        return name
    found = [f"options.{name}"] if name in options else []
    sections = {}
    for part in dataclasses.fields(config):
        value = getattr(config, part.name)
        if part.name == name:
            found.append(name)
        elif dataclasses.is_dataclass(value) or part.name == "net":
            sections[part.name] = list(value) if isinstance(value, dict) else [item.name for item in dataclasses.fields(value)]
    having = [section for section, names in sections.items() if name in names]
    found += [f"{section}.{name}" for section in [one for one in having if one not in YIELDING] or having]
    if len(found) > 1:
        raise AzlabError(f"{name} may mean {' or '.join(found)}; write which.")
    if not found:
        known = f"; options of {config.game} are {', '.join(options)}" if options else ""
        raise AzlabError(f"There is no setting {name!r}{known}; docs/training.md lists the settings.")
    return found[0]


def folder_for(what: str | None, file: str | None, config: AlphaZeroConfig) -> Path:
    """Where a run goes unless the user says so: runs/ and the name of the preset, file or game."""
    name = Path(file).stem if file else what if what in presets() else game_class(config.game).name
    return Path("runs") / str(name)
