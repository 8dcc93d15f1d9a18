"""The public data sets that the notebooks use: what they are, where they come from, how to find and read them.

A data set is one file with a name such as "go/9x9_pro.tar.gz". `path` finds it, in this order:

1. in the mirror, a folder named by the environment variable AZLAB_DATA_MIRROR (it may be read-only);
2. in the cache folder: AZLAB_DATA, else $XDG_CACHE_HOME/azlab/data, else ~/.cache/azlab/data.

Nothing is ever downloaded behind your back: `get` (and `azlab data get NAME`) does it when asked.

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
import re
import ssl
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from azlab.errors import AzlabError
from azlab.formats.catalogue import CATALOGUE, Dataset

MIRROR_VARIABLE = "AZLAB_DATA_MIRROR"
CACHE_VARIABLE = "AZLAB_DATA"

# Called as progress(bytes so far, bytes in all or None when the server does not say).
Progress = Callable[[int, "int | None"], None]

_CHUNK = 1 << 20
_TIMEOUT_SECONDS = 60
# What a damaged archive or a broken line raises while it is read.
_READ_ERRORS = (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile)


class MissingData(AzlabError, FileNotFoundError):
    """A data set is not on this computer, or could not be downloaded. The message says what to do."""


class DamagedData(MissingData):
    """A file has the name of a data set and not its content."""


# ---------------------------------------------------------------------------------------------------------------------
# Finding


def cache_folder() -> Path:
    """The folder where downloads are kept. It need not exist yet."""
    if os.environ.get(CACHE_VARIABLE):
        return Path(os.environ[CACHE_VARIABLE]).expanduser()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG standard says that a relative path counts as not set.
    base = Path(xdg) if os.path.isabs(xdg) else Path.home() / ".cache"
    return base / "azlab" / "data"


def mirror_folder() -> Path | None:
    """The folder that AZLAB_DATA_MIRROR names, or None."""
    value = os.environ.get(MIRROR_VARIABLE)
    return Path(value).expanduser() if value else None


def path(name: str) -> Path:
    """The verified file of a data set; MissingData says how to get it, DamagedData that it must be replaced."""
    dataset = _dataset(name)
    for _, candidate in _candidates(dataset):
        if candidate.is_file():
            _verify(dataset, candidate)
            return candidate
    raise MissingData(_how_to_get(dataset))


class StatusRow(NamedTuple):
    """What `status` knows of one data set. `where` is "mirror", "cache", "damaged" or "missing"."""

    name: str
    where: str
    path: Path | None
    size: int
    description: str
    origin: str


def status() -> list[StatusRow]:
    """One row for each data set of the catalogue."""
    rows = []
    for dataset in CATALOGUE.values():
        where, found = "missing", None
        for place, candidate in _candidates(dataset):
            if candidate.is_file():
                where, found = place, candidate
                try:
                    _verify(dataset, candidate)
                except DamagedData:
                    where = "damaged"
                break
        rows.append(StatusRow(dataset.name, where, found, dataset.size, dataset.description, dataset.origin))
    return rows


def _dataset(name: str) -> Dataset:
    if name not in CATALOGUE:
        raise AzlabError(f"There is no data set called {name!r}; choose one of {', '.join(CATALOGUE)}.")
    return CATALOGUE[name]


def _candidates(dataset: Dataset) -> list[tuple[str, Path]]:
    mirror = mirror_folder()
    places = [("mirror", mirror)] if mirror is not None else []
    return [(place, folder / dataset.name) for place, folder in [*places, ("cache", cache_folder())]]


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


def content_checksum(file: Path) -> str:
    """The sha256 of what is inside a file (see the top of this module)."""
    if file.name.endswith(".tar.gz"):
        return _members_checksum(_read_members(file, r".*"))
    digest = hashlib.sha256()
    with gzip.open(file) if file.name.endswith(".gz") else file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _members_checksum(members: dict[str, bytes]) -> str:
    lines = [f"{name} {hashlib.sha256(content).hexdigest()}\n" for name, content in sorted(members.items())]
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
        found = content_checksum(file)
    except _READ_ERRORS as error:
        found = f"unreadable ({error})"
    if found != dataset.sha256:
        raise DamagedData(
            f"The file {file} is not the data set {dataset.name}: the checksum of its content should be "
            f"{dataset.sha256} and is {found}. Delete it and get it again (from {dataset.origin})."
        )
    _verified[key] = stamp
    _write_stamp(key, stamp)


def _stamp_file() -> Path:
    return cache_folder() / "verified.json"


def _read_stamps() -> dict[str, list[int | str]]:
    try:
        stamps = json.loads(_stamp_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


def _write_stamp(key: str, stamp: list[int | str]) -> None:
    # Stamps only save time, so a cache folder that cannot be written is no reason to fail.
    with contextlib.suppress(OSError):
        text = json.dumps({**_read_stamps(), key: stamp}, indent=1, sort_keys=True)
        with _written_aside(_stamp_file()) as stream:
            stream.write(text.encode())


@contextlib.contextmanager
def _written_aside(target: Path) -> Iterator[IO[bytes]]:
    """A stream to a neighbour of `target` that becomes `target` at the end, or disappears after an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
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
    target = cache_folder() / name
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
            total = int(length) if length and length.isdigit() else None
            received = 0
            while chunk := response.read(_CHUNK):
                download.write(chunk)
                received += len(chunk)
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
            members = _members_of_stream(download, dataset.members)
            found, amount = _members_checksum(members), f"{len(members)} games"
        else:
            text = _only_text(download)
            found, amount = hashlib.sha256(text).hexdigest(), f"{len(text)} bytes"
    except _READ_ERRORS as error:
        raise DamagedData(_not_as_expected(dataset, f"cannot be unpacked ({error})")) from error
    if found != dataset.sha256:
        raise DamagedData(_not_as_expected(dataset, f"has other content than expected ({amount}, checksum {found})"))
    # No time and no file name in the header, so that the same content packs to the same bytes.
    with _written_aside(target) as stream, gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
        if dataset.members:
            _write_tar(members, target.name.removesuffix(".tar.gz"), packed)
        else:
            packed.write(text)


def _not_as_expected(dataset: Dataset, problem: str) -> str:
    return (
        f"The download of {dataset.name} {problem}, so nothing was kept; try again, and if that does not help, find "
        f"the set at {dataset.origin} or set {MIRROR_VARIABLE} to a folder that holds {dataset.name}."
    )


def _only_text(download: IO[bytes]) -> bytes:
    """The one text file of a zip archive."""
    with zipfile.ZipFile(download) as archive:
        # Archives made on a Mac carry a hidden twin of each file.
        names = [name for name in archive.namelist() if name.endswith(".txt") and not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise zipfile.BadZipFile(f"one text file was expected, found {len(names)}")
        return archive.read(names[0])


def _read_members(file: Path, pattern: str) -> dict[str, bytes]:
    with file.open("rb") as stream:
        return _members_of_stream(stream, pattern)


def _members_of_stream(stream: IO[bytes], pattern: str) -> dict[str, bytes]:
    """Base name and content of the files in a tar archive whose full names match. Nothing is unpacked to disk."""
    wanted = re.compile(pattern)
    members: dict[str, bytes] = {}
    with tarfile.open(fileobj=stream, mode="r:gz") as archive:
        for member in archive:
            if member.isfile() and wanted.fullmatch(member.name):
                content = archive.extractfile(member)
                assert content is not None
                # Only the base name counts: the folder is a matter of how somebody packed it.
                name = member.name.rpartition("/")[2]
                data = content.read()
                if members.setdefault(name, data) != data:
                    raise tarfile.TarError(f"two different files are called {name}")
    return members


def _write_tar(members: dict[str, bytes], folder: str, stream: gzip.GzipFile) -> None:
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(members.items()):
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
    return _connect4_lines(file)


def _connect4_lines(file: Path) -> Iterator[Connect4Position]:
    # Few different answers occur, so their tuples are shared: a million positions then fit in little memory.
    answers: dict[str, tuple[int, ...]] = {}
    with gzip.open(file, "rt", encoding="ascii") as lines:
        for number, line in enumerate(lines, start=1):
            # Split at single spaces: the line of the empty board starts with one, its first field is "".
            fields = line.rstrip("\n").split(" ")
            if len(fields) < 3 or fields[2] not in ("0", "1", "2") or not fields[1].isdigit():
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
    members = _read_members(file, r".*\.sgf")
    return ((member, _decode(members[member])) for member in sorted(members))


def _named(start: str, end: str) -> list[str]:
    return [name for name in CATALOGUE if name.startswith(start) and name.endswith(end)]


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        # Every byte is a latin-1 character. Names may look odd then; moves never do.
        return content.decode("latin-1")
