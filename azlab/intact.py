"""Is a file as it was written? One checksum for all kinds of files, and arrays that are read within limits.

What is written has two marks: a format and a sha256 of all the rest. A file with either must have both, and right ones; a file
with neither is from before there were checksums and is taken as it is. So a damaged mark cannot make a new file look old.
Files of arrays (.npz) need no such marks: a zip has a checksum of every member, and `read_npz` reads every member whole.

Damage is what this is about, not malice: whoever changes a file on purpose can compute a new checksum.
"""

import hashlib
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError

FORMAT = 2  # of rows and notes with a checksum; those without had no number
SHA, MARK = "sha256", "format"

# Deflate packs at most 1032 bytes into one. What packs better than `RATIO` to one and is larger than `SMALL` is taken for a trap;
# we write such arrays unpacked (azlab.files.save_arrays), so all that we write can be read.
SMALL, RATIO = 1 << 28, 100
# What a damaged zip file raises; RuntimeError is zipfile's word for encrypted members.
ZIP_ERRORS = (
    OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, struct.error, OverflowError,
    TypeError,
)  # fmt: skip
_HEADER = re.compile(rb"\{'descr': '([<>|][biuf]\d\d?)', 'fortran_order': (True|False), 'shape': \(((?:\d{1,18},? ?)*)\), \} *\n")


# --- checksums --------------------------------------------------------------------------------------------------------------


def checksum(text: str, arrays: Mapping[str, Any] | None = None) -> str:
    """The sha256 of a text and of arrays (or tensors on the CPU) with their names."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays or {}):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).data if np.size(arrays[name]) else b"")  # type: ignore[index]
    return digest.hexdigest()


def notes_checksum(notes: Mapping[str, str], arrays: Mapping[str, Any]) -> str:
    """The checksum of arrays, their types and shapes, and the notes beside them."""
    found = {name: np.asarray(array) for name, array in arrays.items()}
    layout = {name: [array.dtype.str, list(array.shape)] for name, array in found.items()}
    return checksum(json.dumps([dict(notes), layout], sort_keys=True), found)


def sealed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of JSON with the two marks."""
    return {MARK: FORMAT, **row, SHA: checksum(json.dumps(row, sort_keys=True))}


def unsealed(row: Any) -> dict[str, Any]:
    """What `sealed` was given, or a row from before there were checksums; ValueError says what is wrong."""
    if not isinstance(row, dict):
        raise ValueError("it is no list of names and values")
    if MARK not in row and SHA not in row:
        return row
    content = {name: value for name, value in row.items() if name not in (MARK, SHA)}
    if row.get(MARK) != FORMAT or row.get(SHA) != checksum(json.dumps(content, sort_keys=True)):
        raise ValueError("its checksum is wrong")
    return content


def parsed(text: str) -> Any:
    """JSON that somebody may have damaged; ValueError says what is wrong."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


# --- arrays -----------------------------------------------------------------------------------------------------------------


def most_bytes(size_on_disk: int) -> int:
    """How large the arrays of an .npz file of this size may be, where the reader does not know better."""
    return max(SMALL, RATIO * size_on_disk)


def read_npz(path: Path, limit: int | None = None) -> dict[str, np.ndarray]:
    """The arrays of an .npz file if they have at most `limit` bytes; nothing is read before all sizes are known to agree."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            limit = most_bytes(path.stat().st_size) if limit is None else limit
            names = [info.filename.removesuffix(".npy") for info in infos]
            if len(set(names)) != len(names) or not all(info.filename.endswith(".npy") for info in infos):
                raise ValueError("it holds something else than arrays")
            if _entries(path) != len(infos):  # zipfile does not compare; a damaged directory would lose arrays
                raise ValueError("its list of arrays is damaged")
            size = sum(info.file_size for info in infos)
            if size > limit + 200 * len(infos):  # of each array's header
                raise ValueError(f"it would unpack to {size:,} bytes, and at most {limit:,} are expected")
            return {name: _member(archive, info) for name, info in zip(names, infos, strict=True)}
    except ZIP_ERRORS as error:
        raise AzlabError(f"{path} cannot be read ({error}). Nothing of it was used; use another copy.") from None


def _entries(path: Path) -> int:
    """How many members a zip file without a comment says it has, in its last 22 bytes."""
    with path.open("rb") as file:
        file.seek(-22, os.SEEK_END)
        end = file.read()
    return int.from_bytes(end[10:12], "little") if end[:4] == b"PK\5\6" else -1


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """One array. Memory is only taken once the directory, the array's own header and the packed size allow for it."""
    packs = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: 1032}.get(info.compress_type, 0)
    if info.file_size > packs * info.compress_size + 64 or info.compress_size > archive.start_dir:
        raise ValueError(f"the size of {info.filename} is wrong")
    with archive.open(info) as stream:
        start = stream.read(10)
        if start[:8] != b"\x93NUMPY\x01\x00":
            raise ValueError(f"{info.filename} is no array")
        length = int.from_bytes(start[8:], "little")
        fields = _HEADER.fullmatch(stream.read(length))
        if fields is None:
            raise ValueError(f"{info.filename} is no array of numbers")
        dtype = np.dtype(fields[1].decode())
        shape = tuple(int(part) for part in fields[3].replace(b" ", b"").split(b",") if part)
        if math.prod(shape) * dtype.itemsize + 10 + length != info.file_size:
            raise ValueError(f"the shape of {info.filename} does not fit its size")
        numbers = np.empty(math.prod(shape) * dtype.itemsize, np.uint8)
        filled = 0
        while piece := stream.read(1 << 20):  # to the end, where zipfile compares the checksum
            numbers[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
            filled += len(piece)
        if filled != len(numbers):
            raise ValueError(f"{info.filename} is cut")
    return numbers.view(dtype).reshape(shape, order="F" if fields[2] == b"True" else "C")


def check_arrays(
    path: str | Path, arrays: Mapping[str, Any], wanted: Mapping[str, tuple[Any, tuple]], optional: Iterable[str] = ()
) -> None:
    """Raise a sentence unless a file holds the arrays `wanted`, {name: (type, shape)}, and no others.

    A text in a shape stands for a length that is free, but the same wherever the text stands.
    """
    missing = [name for name in wanted if name not in arrays and name not in optional]
    others = [name for name in arrays if name not in wanted]
    if missing or others:
        what = f"has no {', '.join(map(repr, missing))}" if missing else f"also holds {', '.join(map(repr, others[:5]))}"
        raise AzlabError(f"{path} is damaged: it {what}. Use another copy.")
    lengths: dict[str, int] = {}
    for name, (dtype, shape) in wanted.items():
        if name not in arrays:
            continue
        found = np.asarray(arrays[name])
        fits = len(found.shape) == len(shape) and found.dtype == dtype
        for want, have in zip(shape, found.shape):
            fits = fits and have == (lengths.setdefault(want, have) if isinstance(want, str) else want)
        if not fits:
            sizes = ", ".join(str(lengths.get(part, part)) for part in shape)
            raise AzlabError(
                f"{path} is damaged: its {name!r} should be {np.dtype(dtype)} [{sizes}] and is {found.dtype} "
                f"{list(found.shape)}. Use another copy."
            )
