"""The experiments of a source: functions in `reproductions/<source>/experiment.py`, and their settings in `profiles.toml`.

    def tabular(record: Recorder, *, games_2x2: int, epsilon: float) -> None:     # experiment.py
        ...                                                                      # record: see azlab/repro/record.py

    [tabular]                             # profiles.toml: the function's name
    notebook = "05_tabular_go"            # which shows what it found
    [tabular.smoke]                       # seconds: every part runs
    games_2x2 = 1000
    epsilon = 0.5
    [tabular.laptop]                      # two cores, no GPU, at most about an hour
    [tabular.paper]                       # the source's own settings

Keys of a profile are the function's settings, all of them. For `azlab reproduce --estimate` there is also a `probe`, somewhat
larger than smoke, and `work`: numbers in proportion to the running time of each. Timing smoke and probe gives start-up and speed.

    [tabular.work]
    smoke = 2
    probe = 4
    laptop = 1750
"""

import importlib.util
import inspect
import sys
import typing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from azlab.errors import AzlabError
from azlab.files import reproductions, reproductions_folder
from azlab.repro.reading import is_name, is_number, read_toml
from azlab.repro.sources import PROFILES, find_source, notebook_path, short_name, source_names

TYPES: dict[type, tuple[type, ...]] = {int: (int,), float: (int, float), str: (str,), bool: (bool,), list: (list,)}


@dataclass(frozen=True)
class Experiment:
    """One experiment: its function's name, its settings at each profile, the notebook that shows it, what --estimate needs."""

    source: str
    name: str
    notebook: str
    settings: dict[str, dict[str, Any]]  # by profile, and `probe` if there is one
    work: dict[str, float]

    @property
    def id(self) -> str:
        """Its name on the command line and in notebooks: s2.tabular."""
        return f"{short_name(self.source)}.{self.name}"

    @property
    def notebook_path(self) -> Path:
        return notebook_path(self.notebook)

    def at(self, profile: str) -> dict[str, Any]:
        if profile not in self.settings:
            raise AzlabError(f"{self.id} has no profile {profile!r} in its profiles.toml; it has {', '.join(self.settings)}.")
        return self.settings[profile]

    def function(self) -> Callable[..., None]:
        """The function itself, from experiment.py of its source."""
        file = reproductions_folder() / self.source / "experiment.py"
        if not file.is_file():
            raise AzlabError(f"{self.id} cannot be run: there is no {file}.")
        function = getattr(_module(f"{reproductions().__name__}.{self.source}.experiment", file), self.name, None)
        if not inspect.isfunction(function):
            raise AzlabError(f"{self.id} cannot be run: there is no function {self.name} in {file}.")
        return function

    def check(self, settings: dict[str, Any]) -> None:
        """Refuse settings that the function does not have, or lacks, or a value of another type."""
        hints = typing.get_type_hints(function := self.function())
        wanted = [one.name for one in list(inspect.signature(function).parameters.values())[1:]]
        for name in [*settings, *wanted]:
            if name not in wanted:
                raise AzlabError(f"{self.id} has no setting {name!r}; its settings are {', '.join(wanted) or 'none'}.")
            if name not in settings:
                raise AzlabError(f"{self.id}: the setting {name} is missing.")
        for name, value in settings.items():
            kind = typing.get_origin(hints.get(name)) or hints.get(name)
            if not isinstance(kind, type) or kind not in TYPES:
                raise AzlabError(f"{self.id}: the setting {name} has no type among {', '.join(one.__name__ for one in TYPES)}.")
            if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind is not bool):
                raise AzlabError(f"{self.id}: the setting {name} is of type {kind.__name__}, so {value!r} does not fit.")

    def check_texts(self, settings: dict[str, Any]) -> None:
        """Refuse text that no profile of the checkout has for that setting.

        A player's name can be a program to start: the numbers of a run may be anyone's, its words only ours.
        """
        for name, value in settings.items():
            known = {text for profile in self.settings.values() for text in _texts(profile.get(name))}
            for text in _texts(value):
                if text not in known:
                    raise AzlabError(f"{self.id}: no profile of this checkout has {text!r} for the setting {name}.")


def _module(name: str, file: Path) -> ModuleType:
    """The module in `file`; that of another AZLAB_ROOT, loaded before, makes way for it."""
    module = sys.modules.get(name)
    if module is None or module.__file__ != str(file):
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return module


def load(source: str) -> list[Experiment]:
    """The experiments of a source (its full name), in the order of the file."""
    file = reproductions_folder() / source / "profiles.toml"
    if not file.exists():
        return []
    content = read_toml(file, "Mend it, or restore it with git.")
    return [_experiment(source, name, tables, f"{file}, {name}") for name, tables in content.items()]


def _experiment(source: str, name: str, tables: Any, place: str) -> Experiment:
    if not name.isidentifier():
        raise AzlabError(f"{place}: an experiment has the name of a function, such as tabular.")
    if not isinstance(tables, dict) or not is_name(tables.get("notebook")):
        raise AzlabError(f'{place}: it needs the notebook that shows it, notebook = "05_tabular_go".')
    notebook, work = tables.pop("notebook"), tables.pop("work", {})
    for profile, settings in tables.items():
        if profile not in (*PROFILES, "probe"):
            raise AzlabError(f"{place}: there is no profile {profile!r}; there are {', '.join(PROFILES)}, probe and work.")
        if not isinstance(settings, dict):
            raise AzlabError(f"{place}: a profile is a table of its own, such as [{name}.smoke].")
    if not isinstance(work, dict):
        raise AzlabError(f"{place}: work is a table of its own, [{name}.work].")
    for profile, amount in work.items():
        if profile not in tables or not is_number(amount) or amount <= 0:
            raise AzlabError(f"{place}, work: {profile} has to be one of its profiles with a positive number.")
    if "probe" in work and not work.get("smoke", 0) < work["probe"]:
        raise AzlabError(f"{place}, work: a probe has more work than smoke, or no speed can be told from the two.")
    return Experiment(source, name, notebook, tables, work)


def load_all() -> dict[str, Experiment]:
    """Every experiment of every source, by its id."""
    return {one.id: one for source in source_names() for one in load(source)}


def find(name: str) -> Experiment:
    """The experiment with this id."""
    source = find_source(name.partition(".")[0])
    known = {one.id: one for one in load(source)} if source else load_all()
    if name not in known:
        raise AzlabError(f"There is no experiment {name!r}; there are {', '.join(known) or 'none'}.")
    return known[name]


def select(words: Iterable[str]) -> tuple[list[Experiment], list[str]]:
    """The experiments that the words of a command mean, and the sources among them without any; no words mean everything.

    A word is an experiment (s2.tabular), a source (s2, s2_go: all of its experiments), or a notebook (05_tabular_go, with or
    without .ipynb: all that it shows). A mistake in the files of a source that was not asked for does no harm.
    """
    chosen: dict[str, Experiment] = {}
    empty = []
    for word in list(words) or source_names():
        source, stem = find_source(word), Path(word).name.removesuffix(".ipynb")
        if source is not None:
            found = load(source)
            empty += [] if found else [source]
        elif find_source(word.partition(".")[0]) is not None:
            found = [find(word.lower())]
        else:
            known = load_all().values()
            found = [one for one in known if one.notebook == stem]
            if not found:
                notebooks = dict.fromkeys(one.notebook for one in known)
                raise AzlabError(
                    f"There is no source, experiment or notebook {word!r}. Sources: {', '.join(source_names())}. "
                    f"Experiments: {', '.join(one.id for one in known)}. Notebooks: {', '.join(notebooks)}."
                )
        chosen.update({one.id: one for one in found})
    return list(chosen.values()), empty


def _texts(value: Any) -> Iterator[str]:
    """Every text in a setting's value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(part)
