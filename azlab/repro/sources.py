"""Where the reproductions are: the folders of the sources, their notebooks, their tables.

A checkout holds `reproductions/<source>/`, `notebooks/` and `data/sources/`; an installed azlab has no notebooks (`azlab.files`).
"""

import contextlib
import csv
from pathlib import Path

from azlab.arena.results import GameRecord
from azlab.errors import AzlabError
from azlab.files import data_folder, notebooks_folder, reproductions, reproductions_folder
from azlab.games.game import Game
from azlab.repro.reading import is_name

with contextlib.suppress(AzlabError):  # AZLAB_ROOT may be wrong, which is said when a source is asked for
    reproductions()  # so that notebooks can import from azlab_reproductions

PROFILES = ("smoke", "laptop", "paper")  # from small to large


def source_names() -> list[str]:
    """The folders of the sources, in order."""
    return sorted(file.parent.name for file in reproductions_folder().glob("*/claims.toml"))


def short_name(source: str) -> str:
    """What a source is called on the command line and in claims: s1 for s1_value_generations."""
    return source.split("_")[0]


def find_source(text: str) -> str | None:
    """The source called `text`: its folder's name, or the part before the first underscore, such as s1. None if there is none."""
    return next((name for name in source_names() if text.lower() in (name, short_name(name))), None)


def source_folder(name: str) -> Path:
    """The folder of a source, by its short or its full name."""
    found = find_source(name)
    if found is None:
        raise AzlabError(f"There is no source {name!r}; the sources are {', '.join(source_names())}.")
    return reproductions_folder() / found


def notebook_path(name: str) -> Path:
    return notebooks_folder() / f"{name}.ipynb"


def has_notebook(name: str) -> bool:
    """Whether a notebook is here; in an installed azlab there is none."""
    with contextlib.suppress(AzlabError):
        return notebook_path(name).exists()
    return False


def source_table(name: str) -> dict[str, list[str]]:
    """A table of a source, `data/sources/<name>`: the cells of each column as text."""
    file = data_folder() / "sources" / name
    if not is_name(name) or not file.is_file():
        raise AzlabError(f"There is no table {name} in {file.parent}.")
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, restval="", strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise AzlabError(f"{file} cannot be read as a table ({error}). Restore it with git.") from None
    if not rows or any(None in row for row in rows):  # None is where DictReader puts cells without a column
        raise AzlabError(f"{file} has no rows, or a row with more cells than columns. Restore it with git.")
    return {column: [row[column] for row in rows] for column in rows[0]}


def source_games(name: str, game: Game) -> dict[str, list[GameRecord]]:
    """Games that a source played, `data/sources/<name>`, by the log they are from; every move is played by our rules.

    A line `# log | anything` begins a log. Any other line is a game: who began, who was second, and all moves.
    """
    file = data_folder() / "sources" / name
    if not file.is_file():
        raise AzlabError(f"There are no games {name} in {file.parent}.")
    found: dict[str, list[GameRecord]] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            log = found.setdefault(line[1:].split("|")[0].strip(), [])
            continue
        first, second, *moves = line.split()
        try:
            result = game.from_moves(moves).result
        except AzlabError as error:
            raise AzlabError(f"{name}, line {number}: {error}") from None
        if result is None:
            raise AzlabError(f"{name}, line {number}: the game is not over after these moves.")
        log.append(GameRecord(game, (first, second), tuple(moves), 0, result, len(log)))
    return found
