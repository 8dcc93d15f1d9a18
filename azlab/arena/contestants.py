"""Who plays in a tournament: the files of a folder, one a player, and agents of azlab's own.

A player is known by the name of its file and by a digest of its content, so that a changed file is noticed. Files whose names
begin with "_" are no players: the others may import them, and are taken as changed when one of these changes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from azlab.arena.agents import agent
from azlab.errors import AzlabError
from azlab.files import expanded

LARGEST = 20 << 20  # bytes of a file; what is larger is no program that a student wrote


@dataclass(frozen=True)
class Contestant:
    """One who plays."""

    name: str  # of the file without its ending, or of the agent
    digest: str
    path: str = ""
    source: bytes | None = None  # None for an agent of azlab's own
    agent: str = ""


def contestants(folder: str | Path, agents: Sequence[str] = ()) -> list[Contestant]:
    """The players of a folder in the order of their names, then the agents."""
    place = expanded(folder)
    if not place.is_dir():
        what = (
            "is a file: name the folder that it lies in" if place.exists() else "does not exist: name the folder of the players"
        )
        raise AzlabError(f"{folder} {what}.")
    files = sorted(file for file in place.glob("*.py") if file.is_file() and file.name[0] != ".")
    shared = hashlib.sha256(b"".join(_content(file) for file in files if file.name[0] == "_"))
    found = []
    for file in files:
        if file.name[0] == "_":
            continue
        source = _content(file)
        digest = shared.copy()
        digest.update(source)
        found.append(Contestant(_text(file.stem), digest.hexdigest()[:16], str(file.resolve()), source))
    if not found:
        raise AzlabError(
            f"There is no player in {folder}: put a file such as anna.py there for each, with a function choose(position)."
        )
    names = {one.name for one in found}
    for text in dict.fromkeys(word.strip() for word in agents):
        agent(text)  # says now what is wrong with the name
        found.append(_of_azlab(text, names))
    if len(found) < 2:
        raise AzlabError(f"{found[0].name} is the only player in {folder}: add another file, or an agent with --with random.")
    return found


def _of_azlab(text: str, taken: set[str]) -> Contestant:
    name = text if text not in taken else f"{text} (azlab)"
    return Contestant(name, hashlib.sha256(f"agent {text}".encode()).hexdigest()[:16], agent=text)


def _content(file: Path) -> bytes:
    try:
        if file.stat().st_size > LARGEST:
            raise AzlabError(f"{file} is larger than {LARGEST >> 20} MB: keep data in a file beside the player.")
        return file.read_bytes()
    except OSError as error:
        raise AzlabError(f"{file} cannot be read: {error.strerror or error}.") from None


def _text(name: str) -> str:
    """The name of a file as text that can be written down."""
    return name.encode("utf-8", "backslashreplace").decode()
