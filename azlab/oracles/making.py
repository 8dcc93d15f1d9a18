"""Data sets that are made, not downloaded: `azlab data make connect4 count=10000`.

A maker is a `Maker` in a module: a frozen dataclass of its options, and functions that name, describe and make the data. MAKERS
has the place of each, so the command needs to know none of them; `register_maker` adds one from elsewhere. A `FilesMaker` makes
many files, not one packed text, and looks after them itself.

Making takes hours, so a maker keeps what is finished in the folder it is given, and called again after any kill it goes on from
there to the same content, byte for byte. The folder stands beside the file and goes when the file is complete.
"""

import dataclasses
import importlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azlab import __version__
from azlab.errors import AzlabError, whole_number
from azlab.files import expanded, locked, write_aside
from azlab.formats import made
from azlab.formats.catalogue import Dataset
from azlab.formats.datasets import CACHE_VARIABLE, cache_folder
from azlab.machine import cores

# Called as progress(positions, or whatever is made, so far; in all), first when something new is finished.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Maker:
    """One kind of data."""

    # A frozen dataclass whose fields all have defaults; it checks them when it is made. They say all of what the data is.
    options: type
    # name(options): of the data set, as "connect4/made/... .txt.gz"
    name: Callable[[Any], str]
    # describe(options): one line for people
    describe: Callable[[Any], str]
    # make(options, folder, processes, progress): the content; it may keep what it likes in the folder
    make: Callable[[Any, Path, int, Progress], bytes]
    # what the options mean, for people: {"count": "how many positions"}
    meaning: Mapping[str, str]
    # advice(options): what would make it quicker on this machine; "" if nothing
    advice: Callable[[Any], str] = lambda options: ""
    # raised when the same options give other data than before
    version: int = 1


@dataclass(frozen=True)
class FilesMaker:
    """Data of many files, such as tables of perfect play; the other fields are those of `Maker`."""

    options: type
    describe: Callable[[Any], str]
    # build(options, folder, threads, progress): make what is missing there, without a folder at its own place; gives the folder
    build: Callable[[Any, str | None, int, Progress], Path]
    meaning: Mapping[str, str]
    advice: Callable[[Any], str] = lambda options: ""


MAKERS: dict[str, "Maker | FilesMaker | str"] = {
    "connect4": "azlab.oracles.connect4_games:MAKER",
    "seega": "azlab.oracles.seega_make:MAKER",
}


def register_maker(name: str, maker: Maker | FilesMaker) -> None:
    """Let `azlab data make NAME` find a maker."""
    MAKERS[name] = maker


def find_maker(name: str) -> Maker | FilesMaker:
    """The maker with this name; its module is loaded now."""
    if name not in MAKERS:
        raise AzlabError(f"There is nothing called {name!r} to make; choose one of {', '.join(MAKERS)}.")
    found = MAKERS[name]
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        found = getattr(importlib.import_module(module), attribute)
    assert isinstance(found, Maker | FilesMaker)
    return found


def read_options(maker_name: str, values: Mapping[str, Any]) -> Any:
    """The options of a maker, checked; what is not given has its default."""
    maker = find_maker(maker_name)
    known = [field.name for field in dataclasses.fields(maker.options)]
    for name in values:
        if name not in known:
            raise AzlabError(f"{maker_name} data has no option {name!r}; its options are: {', '.join(known)}.")
    return maker.options(**values)


def make(
    maker_name: str,
    options: Any,
    out: str | Path | None = None,
    processes: int | None = None,
    progress: Progress = lambda done, total: None,
) -> tuple[Path, Dataset]:
    """Make data, or go on making it; give its file and its entry. It is in the cache folder, by its name, unless `out` is given.

    `processes` is the number of cores unless given. Data that is there already is not made again.
    """
    maker = find_maker(maker_name)
    assert isinstance(maker, Maker), f"{maker_name} makes files of its own"
    processes = cores() if processes is None else whole_number("The number of processes", processes, 1, 1024)
    file = _place(maker.name(options), out)
    values = dataclasses.asdict(options)
    settings = {"maker": maker_name, "version": maker.version, "options": values}
    words = " ".join(f"{key}={_word(value)}" for key, value in values.items())
    folder = file.with_name(file.name + ".making")
    taken = f"Another process is making {file}: wait for it, or name another file with --out."
    if (entry := _finished(file, settings)) is None:
        with locked(folder, taken):
            _check_settings(folder / "settings.json", settings)
            content = maker.make(options, folder, processes, progress)
            facts = settings | {"name": maker.name(options), "description": maker.describe(options)}
            facts |= {"origin": f"azlab {__version__}: azlab data make {maker_name} {words}"}
            entry = made.write_made(file, content, facts)
    if folder.is_dir():
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier try that was killed right after it wrote the file, too
    return file, entry


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _place(name: str, out: str | Path | None) -> Path:
    if out is not None:
        file = expanded(out).absolute()
        if not file.name.endswith(".txt.gz"):
            raise AzlabError(f"The data is packed text: name a file that ends in .txt.gz, not {out}.")
        return file
    folder = cache_folder()
    if folder is None:
        raise AzlabError(f"There is no home folder to keep data in: set {CACHE_VARIABLE} to a folder, or name a file with --out.")
    return folder / name


def _finished(file: Path, settings: dict[str, Any]) -> Dataset | None:
    """The entry of a file that is there and is what is asked for; None if there is no file."""
    if not file.exists():
        return None
    found = made.read_description(file)
    if found is None:
        raise AzlabError(f"{file} is there and nothing says what it is: delete it, or name another file with --out.")
    if any(found.get(key) != value for key, value in settings.items()):
        raise AzlabError(f"{file} holds other data ({found['description']}): delete it, or name another file with --out.")
    fields = {key: found[key] for key in ("name", "description", "origin", "sha256", "size", "content")}
    return Dataset(licence=made.LICENCE, **fields)


def _check_settings(file: Path, settings: dict[str, Any]) -> None:
    """Refuse to go on with what was begun with other settings."""
    if file.exists():
        try:
            found = json.loads(file.read_bytes())
        except ValueError:
            found = None
        if found != settings:
            begun = " ".join(f"{key}={_word(value)}" for key, value in _options_in(found).items()) or "other settings"
            raise AzlabError(
                f"{file.parent} was begun with {begun}: say the same to go on, delete it, or name another file with --out."
            )
    text = json.dumps(settings, indent=1)
    write_aside(file, lambda aside: aside.write_text(text, encoding="utf-8"))


def _options_in(found: Any) -> dict[str, Any]:
    options = found.get("options") if isinstance(found, dict) else None
    return options if isinstance(options, dict) else {}
