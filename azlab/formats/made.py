"""Data sets that were made here, by `azlab data make`, instead of downloaded: a file, and beside it what it is, as JSON.

    connect4/made/perfect_0.5_all_10000_seed_0.txt.gz
    connect4/made/perfect_0.5_all_10000_seed_0.txt.gz.json

The second file stands in for an entry of the catalogue: with it `azlab.formats.datasets` finds, verifies and reads the first.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.files import write_aside
from azlab.formats.catalogue import Dataset

NAME = re.compile(r"[a-z0-9_]+/made/\w[\w.-]{0,200}")  # names of made sets, in a folder of data sets
MOST_TEXT = 1 << 16  # of a description, in bytes
LICENCE = "made here"


def description_of(file: Path) -> Path:
    """Where the description of a made file stands."""
    return file.with_name(file.name + ".json")


def read_description(file: Path) -> dict[str, Any] | None:
    """What a made file is: name, maker, options, description, origin, sha256, size, content. None if nothing sensible says so."""
    try:
        with description_of(file).open("rb") as stream:
            found = json.loads(stream.read(MOST_TEXT))
    except (OSError, ValueError, RecursionError):
        return None
    kinds = {
        "name": str,
        "maker": str,
        "options": dict,
        "description": str,
        "origin": str,
        "sha256": str,
        "size": int,
        "content": int,
    }
    is_sensible = isinstance(found, dict) and all(isinstance(found.get(key), kind) for key, kind in kinds.items())
    return found if is_sensible else None


def find(name: str, folders: Iterable[Path]) -> Dataset | None:
    """The entry of the made set with this name in one of the folders of data sets."""
    if not NAME.fullmatch(name):
        return None
    for folder in folders:
        if (folder / name).is_file():
            return _entry(folder, name)
    return None


def all_in(folder: Path) -> Iterator[Dataset]:
    """The entries of all made sets in a folder of data sets."""
    for file in sorted(folder.glob("*/made/*.json")):
        name = file.relative_to(folder).as_posix().removesuffix(".json")
        entry = _entry(folder, name) if NAME.fullmatch(name) and (folder / name).is_file() else None
        if entry is not None:
            yield entry


def _entry(folder: Path, name: str) -> Dataset | None:
    found = read_description(folder / name)
    if found is None:
        return None
    fields = {key: found[key] for key in ("description", "origin", "sha256", "size", "content")}
    return Dataset(name=name, licence=LICENCE, **fields)


def write_made(file: Path, content: bytes, facts: dict[str, Any]) -> Dataset:
    """Write a made file, packed, and its description with the checksum; the file comes last, so that it never stands alone."""
    if not file.name.endswith(".gz"):
        raise AzlabError(f"{file} cannot be written: data that is made is packed, so its name ends in .gz.")
    packed = gzip.compress(content, mtime=0)  # no time, so that the same content packs to the same bytes
    entry = Dataset(
        name=facts["name"], description=facts["description"], origin=facts["origin"], licence=LICENCE,
        sha256=hashlib.sha256(content).hexdigest(), size=len(packed), content=len(content),
    )  # fmt: skip
    known = {key: value for key, value in asdict(entry).items() if key in ("sha256", "size", "content")}
    text = json.dumps(facts | known, indent=1) + "\n"
    write_aside(description_of(file), lambda aside: aside.write_text(text, encoding="utf-8"))
    write_aside(file, lambda aside: aside.write_bytes(packed))
    return entry
