"""The public data sets that the notebooks use: what they are, where they come from, how to find and read them.

A data set is one file with a name such as "go/9x9_pro.tar.gz". `path` finds it, in this order:

1. in the mirror, a folder named by the environment variable AZLAB_DATA_MIRROR (it may be read-only);
2. in the cache folder: AZLAB_DATA, else $XDG_CACHE_HOME/azlab/data, else ~/.cache/azlab/data.

Nothing is ever downloaded behind your back: `get` (and `azlab data get NAME`) does it when asked. Sets that `azlab data make` has
made in the same folders are found by their names too (see `azlab.formats.made`).

Checksums are of a file's *content*. The origins are zip files and folders of game records that are packed anew after
a download, and two versions of the same compressor write different bytes. So the checksum of a `.txt.gz` is that of
the text inside, and the checksum of a `.tar.gz` is that of the sorted names and checksums of the files inside.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import http.client
import io
import json
import os
import ssl
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from azlab.errors import AzlabError
from azlab.files import expanded, make_own_folder, user_cache
from azlab.formats import made
from azlab.formats.archives import READ_ERRORS, Limits, TooLarge, members, only_text, unpacked
from azlab.formats.catalogue import CATALOGUE, Dataset

MIRROR_VARIABLE = "AZLAB_DATA_MIRROR"
CACHE_VARIABLE = "AZLAB_DATA"

# Called as progress(bytes so far, bytes in all or None when the server does not say).
Progress = Callable[[int, "int | None"], None]

_CHUNK = 1 << 20
_TIMEOUT_SECONDS = 60
# Of a download, packed and unpacked: the origin of the 9x9 games is a whole repository.
_MOST_PACKED, _MOST_UNPACKED, _MOST_FILES = 1 << 29, 1 << 31, 100_000


class MissingData(AzlabError, FileNotFoundError):
    """A data set is not on this computer, or could not be downloaded. The message says what to do."""


class DamagedData(MissingData):
    """A file has the name of a data set and not its content."""


# ---------------------------------------------------------------------------------------------------------------------
# Finding


def cache_folder() -> Path | None:
    """The folder where downloads are kept. It need not exist yet; where there is no home folder, there is none."""
    if os.environ.get(CACHE_VARIABLE):
        return expanded(os.environ[CACHE_VARIABLE])
    cache = user_cache()
    return None if cache is None else cache / "data"


def mirror_folder() -> Path | None:
    """The folder that AZLAB_DATA_MIRROR names, or None."""
    value = os.environ.get(MIRROR_VARIABLE)
    return expanded(value) if value else None


def path(name: str) -> Path:
    """The verified file of a data set; MissingData says how to get it, DamagedData that it must be replaced."""
    dataset = _dataset(name)
    for _, candidate in _candidates(dataset):
        if candidate.is_file():
            _verify(dataset, candidate)
            return candidate
    raise MissingData(_how_to_get(dataset))


def checksum(name: str) -> str:
    """The sha256 of a data set's content, of which there is a verified file; for those who keep what they made of it."""
    path(name)
    return _dataset(name).sha256


class StatusRow(NamedTuple):
    """What `status` knows of one data set. `where` is "mirror", "cache", "damaged" or "missing"."""

    name: str
    where: str
    path: Path | None
    size: int
    description: str
    origin: str
    licence: str


def status() -> list[StatusRow]:
    """One row for each data set of the catalogue, and for each that was made here."""
    rows = []
    for dataset in [*CATALOGUE.values(), *_made_here()]:
        where, found = "missing", None
        for place, candidate in _candidates(dataset):
            if candidate.is_file():
                where, found = place, candidate
                try:
                    _verify(dataset, candidate)
                except DamagedData:
                    where = "damaged"
                break
        rows.append(StatusRow(dataset.name, where, found, dataset.size, dataset.description, dataset.origin, dataset.licence))
    return rows


def _dataset(name: str) -> Dataset:
    found = CATALOGUE.get(name) or made.find(name, _folders())
    if found is None:
        names = [*CATALOGUE, *(dataset.name for dataset in _made_here())]
        raise AzlabError(f"There is no data set called {name!r}; choose one of {', '.join(names)}.")
    return found


def _folders() -> list[Path]:
    """Where data sets are looked for, in this order."""
    return [folder for folder in (mirror_folder(), cache_folder()) if folder is not None]


def _made_here() -> list[Dataset]:
    return list({dataset.name: dataset for folder in reversed(_folders()) for dataset in made.all_in(folder)}.values())


def _candidates(dataset: Dataset) -> list[tuple[str, Path]]:
    places = (("mirror", mirror_folder()), ("cache", cache_folder()))
    return [(place, folder / dataset.name) for place, folder in places if folder is not None]


def _how_to_get(dataset: Dataset) -> str:
    if dataset.address:
        fetch = f"Run `azlab data get {dataset.name}` to download it, or set"
    else:
        fetch = "It has no download; set"
    return (
        f"The data set {dataset.name} ({dataset.description}) is not on this computer. It comes from {dataset.origin}. "
        f"{fetch} the environment variable {MIRROR_VARIABLE} to a folder that holds {dataset.name}."
    )


# ---------------------------------------------------------------------------------------------------------------------
# Verifying

# What this process has verified; it stands in for the stamp file when the cache folder cannot be written.
_verified: dict[str, list[int | str]] = {}


def content_checksum(file: Path, dataset: Dataset) -> str:
    """The sha256 of what is inside a file (see the top of this module), unless it is more than the data set's content."""
    if file.name.endswith(".tar.gz"):
        return _members_checksum(_read_members(file, r".*", dataset))
    digest = hashlib.sha256()
    with _opened(file, dataset) as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextlib.contextmanager
def _opened(file: Path, dataset: Dataset) -> Iterator[IO[bytes]]:
    """The content of a file that is no archive."""
    with file.open("rb") as packed:
        if not file.name.endswith(".gz"):
            if file.stat().st_size > dataset.content:
                raise TooLarge(f"it has more than {dataset.content:,} bytes")
            yield packed
        else:
            with unpacked(packed, dataset.content) as stream:
                yield stream


def _limits(dataset: Dataset) -> Limits:
    """Those of a data set's own archive: beside its content each file has a header or two, and is filled up."""
    return Limits(dataset.content, dataset.content + 4096 * dataset.files + (1 << 20), 2 * dataset.files + 1000)


def _read_members(file: Path, pattern: str, dataset: Dataset) -> dict[str, bytes]:
    with file.open("rb") as stream:
        return members(stream, pattern, _limits(dataset))


def _members_checksum(files: dict[str, bytes]) -> str:
    lines = [f"{name} {hashlib.sha256(content).hexdigest()}\n" for name, content in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _verify(dataset: Dataset, file: Path) -> None:
    """Raise DamagedData unless the file's content is the catalogue's. A file is only read again after it changed."""
    details = file.stat()
    stamp: list[int | str] = [details.st_size, details.st_mtime_ns, dataset.sha256]
    key = str(file.absolute())
    if _verified.get(key) == stamp or _read_stamps().get(key) == stamp:
        _verified[key] = stamp
        return
    try:
        found = content_checksum(file, dataset)
    except READ_ERRORS as error:
        found = f"unreadable ({error})"
    if found != dataset.sha256:
        raise DamagedData(
            f"The file {file} is not the data set {dataset.name}: the checksum of its content should be "
            f"{dataset.sha256} and is {found}. Delete it and get it again (from {dataset.origin})."
        )
    _verified[key] = stamp
    _write_stamp(key, stamp)


def _stamp_file() -> Path | None:
    folder = cache_folder()
    return None if folder is None else folder / "verified.json"


def _read_stamps() -> dict[str, list[int | str]]:
    file = _stamp_file()
    try:
        stamps = json.loads(file.read_text(encoding="utf-8")) if file is not None else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


def _write_stamp(key: str, stamp: list[int | str]) -> None:
    file = _stamp_file()
    if file is None:
        return
    # Stamps only save time, so a cache folder that cannot be written is no reason to fail.
    with contextlib.suppress(OSError):
        text = json.dumps({**_read_stamps(), key: stamp}, indent=1, sort_keys=True)
        with _written_aside(file) as stream:
            stream.write(text.encode())


@contextlib.contextmanager
def _written_aside(target: Path) -> Iterator[IO[bytes]]:
    """A stream to a neighbour of `target` that becomes `target` at the end, or disappears after an error."""
    make_own_folder(target.parent)
    handle, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        # mkstemp makes files that only their owner can read; a cache may be shared.
        os.chmod(aside, 0o644)
        os.replace(aside, target)
    except BaseException:
        os.unlink(aside)
        raise


# ---------------------------------------------------------------------------------------------------------------------
# Downloading


def get(name: str, progress: Progress | None = None, web: str = "https://") -> Path:
    """Download a data set into the cache folder unless it is already at hand; give its verified file.

    `web` is what the addresses in the catalogue begin with: "http://127.0.0.1:8000/" fetches
    "http://127.0.0.1:8000/raw.githubusercontent.com/...", which is how to use a proxy that mirrors the web.
    """
    dataset = _dataset(name)
    with contextlib.suppress(MissingData):
        return path(name)
    if not dataset.address:
        raise MissingData(_how_to_get(dataset))
    mirror = mirror_folder()
    if mirror is not None and (mirror / name).is_file():
        # A download would go unseen behind the mirror's file: say what is wrong with that one instead.
        return path(name)
    folder = cache_folder()
    if folder is None:
        raise MissingData(f"There is no home folder to keep {name} in: set {CACHE_VARIABLE} to a folder for data sets.")
    target = folder / name
    try:
        with tempfile.TemporaryFile() as download:
            _fetch(dataset, web + dataset.address, download, progress)
            download.seek(0)
            _repack(dataset, download, target)
    except MissingData:
        raise
    except OSError as error:
        raise MissingData(
            f"Could not store {name} in {cache_folder()} ({error}); set {CACHE_VARIABLE} to a folder "
            "that can be written and has room."
        ) from error
    return path(name)


def _fetch(dataset: Dataset, url: str, download: IO[bytes], progress: Progress | None) -> None:
    """Copy the whole of `url` into `download`."""
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response:
            length = response.headers.get("Content-Length")
            total = int(length) if length and length.isdecimal() else None
            received = 0
            while chunk := response.read(_CHUNK):
                download.write(chunk)
                received += len(chunk)
                if received > _MOST_PACKED:
                    raise MissingData(_download_failed(dataset, url, f"it has more than {_MOST_PACKED:,} bytes"))
                if progress is not None:
                    progress(received, total)
    except (urllib.error.URLError, http.client.HTTPException, ssl.SSLError, ConnectionError, TimeoutError) as error:
        raise MissingData(_download_failed(dataset, url, str(error))) from error
    if total is not None and received != total:
        raise MissingData(_download_failed(dataset, url, f"the connection ended after {received} of {total} bytes"))


def _download_failed(dataset: Dataset, url: str, reason: str) -> str:
    return (
        f"Could not download {dataset.name} from {url} ({reason}); check the internet connection and try again, or set "
        f"{MIRROR_VARIABLE} to a folder that holds {dataset.name}."
    )


def _repack(dataset: Dataset, download: IO[bytes], target: Path) -> None:
    """Turn the origin's archive into the data set's own file, if the content is what the catalogue expects."""
    try:
        if dataset.members:
            games = members(download, dataset.members, Limits(dataset.content, _MOST_UNPACKED, _MOST_FILES))
            found, amount = _members_checksum(games), f"{len(games)} games"
        else:
            text = only_text(download, dataset.content)
            found, amount = hashlib.sha256(text).hexdigest(), f"{len(text)} bytes"
    except READ_ERRORS as error:
        raise DamagedData(_not_as_expected(dataset, f"cannot be unpacked ({error})")) from error
    if found != dataset.sha256:
        raise DamagedData(_not_as_expected(dataset, f"has other content than expected ({amount}, checksum {found})"))
    # No time and no file name in the header, so that the same content packs to the same bytes.
    with _written_aside(target) as stream, gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
        if dataset.members:
            _write_tar(games, target.name.removesuffix(".tar.gz"), packed)
        else:
            packed.write(text)


def _not_as_expected(dataset: Dataset, problem: str) -> str:
    return (
        f"The download of {dataset.name} {problem}, so nothing was kept; try again, and if that does not help, find "
        f"the set at {dataset.origin} or set {MIRROR_VARIABLE} to a folder that holds {dataset.name}."
    )


def _write_tar(games: dict[str, bytes], folder: str, stream: gzip.GzipFile) -> None:
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(games.items()):
            # A new TarInfo has time 0, owner 0 and mode 644: nothing of this computer gets in.
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


# ---------------------------------------------------------------------------------------------------------------------
# Reading


class Connect4Position(NamedTuple):
    """A solved Connect 4 position."""

    # The columns played so far, "1" to "7" from the left; "" is the empty board.
    moves: str
    # All best columns, counted from 1.
    best: tuple[int, ...]
    # For the player to move, under perfect play: 0 loss, 1 draw, 2 win.
    result: int


def connect4_positions(name: str) -> Iterator[Connect4Position]:
    """The positions of one of the Connect 4 sets, in the file's order.

    The lines of the easy and the perfect test set go on with positions that came later in the game; these are left
    out.
    """
    file = path(name)
    if not name.startswith("connect4/") or not name.endswith(".txt.gz"):
        raise AzlabError(f"{name} holds no Connect 4 positions; choose one of {', '.join(_named('connect4/', '.gz'))}.")
    return _connect4_lines(file, _dataset(name))


def _connect4_lines(file: Path, dataset: Dataset) -> Iterator[Connect4Position]:
    # Few different answers occur, so their tuples are shared: a million positions then fit in little memory.
    answers: dict[str, tuple[int, ...]] = {}
    with _opened(file, dataset) as stream, io.TextIOWrapper(stream, encoding="ascii", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            # Split at single spaces: the line of the empty board starts with one, its first field is "".
            fields = line.rstrip("\n").split(" ")
            is_columns = len(fields) >= 3 and set(fields[0]) | set(fields[1]) <= set("1234567") and 1 <= len(fields[1]) <= 7
            if not is_columns or fields[2] not in ("0", "1", "2"):
                raise DamagedData(f"Line {number} of {file} is not 'moves best-columns result': {line!r}.")
            best = answers.get(fields[1])
            if best is None:
                best = answers[fields[1]] = tuple(int(column) for column in fields[1])
            yield Connect4Position(fields[0], best, int(fields[2]))


def sgf_games(name: str) -> Iterator[tuple[str, str]]:
    """File name and SGF text of each game of a Go set, in the order of the file names."""
    file = path(name)
    if not name.startswith("go/"):
        raise AzlabError(f"{name} holds no Go games; choose one of {', '.join(_named('go/', '.tar.gz'))}.")
    games = _read_members(file, r".*\.sgf", _dataset(name))
    return ((member, _decode(games[member])) for member in sorted(games))


def _named(start: str, end: str) -> list[str]:
    return [name for name in CATALOGUE if name.startswith(start) and name.endswith(end)]


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        # Every byte is a latin-1 character. Names may look odd then; moves never do.
        return content.decode("latin-1")
