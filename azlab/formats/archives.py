"""Packed files, read within limits: a file of a few kilobytes can unpack to gigabytes. Nothing is unpacked to disk."""

import gzip
import io
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple

# What a damaged archive or a broken line raises while it is read; RuntimeError is zipfile's word for encrypted members.
READ_ERRORS = (
    OSError, EOFError, ValueError, zlib.error, tarfile.TarError, zipfile.BadZipFile, RuntimeError, struct.error, OverflowError,
)  # fmt: skip


class TooLarge(OSError):
    """A file holds more than it should."""


class Limits(NamedTuple):
    """How much an archive may hold."""

    wanted: int  # bytes of the files that are read, together
    unpacked: int  # bytes of all that is unpacked on the way
    files: int  # files of any kind


class _Bounded(io.RawIOBase):
    """A stream that ends with an error after `limit` bytes."""

    def __init__(self, stream: gzip.GzipFile, limit: int) -> None:
        self._stream, self._left, self._limit = stream, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def, override]
        data = self._stream.read(min(len(buffer), self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise TooLarge(f"it unpacks to more than {self._limit:,} bytes")
        buffer[: len(data)] = data
        return len(data)


def unpacked(stream: IO[bytes], limit: int) -> io.BufferedReader:
    """The content of a gzip file of at most `limit` bytes."""
    return io.BufferedReader(_Bounded(gzip.GzipFile(fileobj=stream), limit), 1 << 16)


def members(stream: IO[bytes], pattern: str, limits: Limits) -> dict[str, bytes]:
    """Base name and content of the files in a .tar.gz archive whose full names match."""
    wanted = re.compile(pattern)
    found: dict[str, bytes] = {}
    # as a stream ("|"), which asks for no more at once than a block: headers can claim any length
    with tarfile.open(fileobj=unpacked(stream, limits.unpacked), mode="r|") as archive:
        for member, content in _contents(archive, wanted, limits):
            # Only the base name counts: the folder is a matter of how somebody packed it.
            name = member.name.rpartition("/")[2]
            if found.setdefault(name, content) != content:
                raise tarfile.TarError(f"two different files are called {name}")
    return found


def _contents(archive: tarfile.TarFile, wanted: re.Pattern, limits: Limits) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    left = limits.wanted
    for number, member in enumerate(archive, 1):
        if number > limits.files:
            raise TooLarge(f"it holds more than {limits.files:,} files")
        if member.isfile() and wanted.fullmatch(member.name):
            left -= member.size
            if left < 0:  # before it is read: a sparse file is large without any content
                raise TooLarge(f"its files have more than {limits.wanted:,} bytes")
            file = archive.extractfile(member)
            assert file is not None
            yield member, file.read()


def only_text(stream: IO[bytes], limit: int) -> bytes:
    """The one text file of a zip archive, of at most `limit` bytes."""
    with zipfile.ZipFile(stream) as archive:
        # Archives made on a Mac carry a hidden twin of each file.
        infos = [
            info for info in archive.infolist() if info.filename.endswith(".txt") and not info.filename.startswith("__MACOSX/")
        ]
        if len(infos) != 1:
            raise zipfile.BadZipFile(f"one text file was expected, found {len(infos)}")
        if infos[0].file_size > limit:
            raise TooLarge(f"its text has more than {limit:,} bytes")
        return archive.read(infos[0])
