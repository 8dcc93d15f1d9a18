"""Seega's tables on disk: one file for each depth of each class, packed in blocks, with a checksum of everything.

The first line of a file is JSON with the rules, the class, the layout, the sha256 of the rest, and marks of its own
(`azlab.intact`). The rest are the places of the blocks, int64 [blocks + 1], and the blocks: so many rows of depths, packed by
zlib. A file is verified as a whole when it is first read; then a question unpacks only the block that it needs.
"""

import functools
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.files import write_aside
from azlab.intact import parsed, sealed, unsealed

KIND = "seega table"
BLOCK = 1 << 16  # entries of a block, about: a fraction of a millisecond to unpack
MOST_HEADER = 10_000  # bytes of the first line
KEPT_BLOCKS = 1024  # unpacked ones kept in memory, about 64 MB


def rows_in_block(width: int) -> int:
    """How many rows of so many entries a block has: a multiple of four, so that no byte of packed values spans two blocks."""
    return max(4, BLOCK // width // 4 * 4)


def file_name(kind: tuple[int, int], plane: int) -> str:
    """The file of one of the two depths of a class."""
    return f"{kind[0]}-{kind[1]}-{'ab'[plane]}.depths"


def write_plane(path: Path, about: dict[str, Any], dtype: np.dtype, rows: int, width: int, packed: Iterable[bytes]) -> None:
    """Write the depths of a class, already packed in blocks."""
    blocks = list(packed)
    places = np.cumsum([0, *map(len, blocks)], dtype="<i8").tobytes()
    digest = hashlib.sha256(places)
    for block in blocks:
        digest.update(block)
    size = len(places) + sum(map(len, blocks))
    layout = {"kind": KIND, **about, "dtype": dtype.str, "rows": rows, "width": width, "bytes": size}
    layout["content"] = digest.hexdigest()

    def write(aside: Path) -> None:
        with aside.open("wb") as file:
            file.write(json.dumps(sealed(layout)).encode() + b"\n" + places)
            file.writelines(blocks)

    write_aside(path, write)


class Plane:
    """One of the two depths of all entries of a class, in a verified file."""

    def __init__(self, path: Path, about: dict[str, Any], rows: int, width: int, again: str) -> None:
        """`about` is what the file has to be about; `again` ends the sentence about a file that is not as it should be."""
        self.path, self.rows, self.width = path, rows, width
        self.per_block = rows_in_block(width)
        try:
            with path.open("rb") as file:
                line = file.readline(MOST_HEADER)
                header = _read_header(line)
                self._body = len(line)
                other = {name: header.get(name) for name in about if header.get(name) != about[name]}
                if other:
                    name = min(other)
                    raise AzlabError(f"{path} is of other rules: its {name} is {other[name]}, not {about[name]}. {again}")
                self._check(file, header)
                self.dtype = np.dtype(header["dtype"])
                self.longest = int(header["longest"])  # the greatest depth of the hunt that found these, in either class
                file.seek(self._body)
                blocks = -(-rows // self.per_block)
                self._places = np.frombuffer(file.read(8 * (blocks + 1)), "<i8")
        except OSError as error:
            raise AzlabError(f"{path} cannot be read ({error.strerror or error}). {again}") from None
        except (ValueError, TypeError, KeyError) as error:
            if isinstance(error, AzlabError):
                raise
            raise AzlabError(f"{path} is truncated or damaged: {error}. {again}") from None

    def _check(self, file: Any, header: dict[str, Any]) -> None:
        """ValueError unless layout, length and checksum are right."""
        if (header.get("rows"), header.get("width")) != (self.rows, self.width) or header.get("dtype") not in ("|u1", "<u2"):
            raise ValueError("its layout is wrong")
        length = os.fstat(file.fileno()).st_size - self._body
        if length != header.get("bytes"):
            raise ValueError(f"it has {length:,} bytes of {header.get('bytes'):,}")
        digest = hashlib.sha256()
        while piece := file.read(1 << 20):
            digest.update(piece)
        if digest.hexdigest() != header.get("content"):
            raise ValueError("its checksum is wrong")

    @property
    def blocks(self) -> int:
        return len(self._places) - 1

    def block(self, number: int) -> np.ndarray:
        """The depths of a block, unpacked: [entries]."""
        with self.path.open("rb") as file:
            file.seek(self._body + 8 * len(self._places) + int(self._places[number]))
            packed = file.read(int(self._places[number + 1] - self._places[number]))
        return np.frombuffer(zlib.decompress(packed), self.dtype)

    def depths(self, indices: np.ndarray) -> np.ndarray:
        """The depths of some entries: int64 [B]."""
        found = np.empty(len(indices), np.int64)
        numbers, within = np.divmod(indices, self.per_block * self.width)
        for number in np.unique(numbers):
            here = numbers == number
            found[here] = _kept_block(self, int(number))[within[here]]
        return found


@functools.lru_cache(KEPT_BLOCKS)
def _kept_block(plane: Plane, number: int) -> np.ndarray:
    return plane.block(number)


def _read_header(line: bytes) -> dict[str, Any]:
    """The first line of a file; ValueError says what is wrong."""
    header = unsealed(parsed(line.decode()))
    if "content" not in header or header.get("kind") != KIND:
        raise ValueError("it does not begin as a table of Seega does")
    return header


def packed_blocks(
    depths: np.ndarray, rows: int, width: int, is_reversed: bool, run: Callable[[Callable, Iterable], Iterable]
) -> Iterable[bytes]:
    """The blocks of an array of depths [rows * width], packed. `is_reversed` turns every row round, into the order of the other
    side's stones. `run` is a map, of several threads perhaps."""
    per_block = rows_in_block(width)

    def pack(first: int) -> bytes:
        piece = depths[first * width : (first + per_block) * width].reshape(-1, width)
        return zlib.compress((piece[:, ::-1] if is_reversed else piece).tobytes(), 6)

    return run(pack, range(0, rows, per_block))
