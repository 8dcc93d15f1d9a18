"""Move prediction as source S2 stores it (section 5.3): records of fixed length, one a position, that any program can read.

    write_records(Path("games"), boards, moves, files=5)      # games_1.bin ... games_5.bin and games.prop
    records = read_records(Path("games"))
    records.moves[0], records.boards[0]

A record is the move to predict, two bytes with the lower one first, and then planes of N x N bytes that are 0 or 1: stones of the
player to move, stones of the other, empty points, ones. Moves and points are counted row by row from the top. The text of S2 says
361 x 361 x 4 bytes for the planes; its program writes 361 x 4, and so do we. The `.prop` file has four lines of text: how many
records each file has, separated by commas; the number of planes; and twice the size of the board. Its program adds the
test file's number as the last.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from azlab.errors import AzlabError, whole_number
from azlab.files import write_aside

PLANES = 4
OWN, OTHER, EMPTY = 0, 1, 2  # what a point of a board holds
LABEL = 2  # bytes of a move
LARGEST = 25  # board


class Records(NamedTuple):
    """N positions of a size x size board and the moves played there."""

    moves: np.ndarray  # int16 [N], points
    boards: np.ndarray  # int8 [N, size, size] of OWN, OTHER and EMPTY

    @property
    def size(self) -> int:
        return self.boards.shape[1]


def encode(moves: np.ndarray, boards: np.ndarray) -> bytes:
    """The records as bytes; `moves` [N] and `boards` [N, size, size] as in `Records`."""
    boards, moves = np.asarray(boards), np.asarray(moves)
    if boards.ndim != 3 or boards.shape[1] != boards.shape[2] or moves.shape != boards.shape[:1]:
        raise AzlabError("Records need boards [N, size, size] and as many moves.")
    count, size, _ = boards.shape
    whole_number("size", size, 1, LARGEST)
    if count and not 0 <= moves.min() <= moves.max() < size * size:
        raise AzlabError(f"A record's move is a point of the board, 0 to {size * size - 1}; a pass has no record.")
    if not np.isin(boards, (OWN, OTHER, EMPTY)).all():
        raise AzlabError("A point of a board holds 0 (own), 1 (other) or 2 (empty).")
    rows = np.ones((count, LABEL + PLANES * size * size), np.uint8)
    rows[:, :LABEL] = moves.astype("<u2").view(np.uint8).reshape(count, LABEL)
    planes = boards.reshape(count, 1, size * size) == np.array([OWN, OTHER, EMPTY])[:, None]
    rows[:, LABEL : LABEL + 3 * size * size] = planes.reshape(count, 3 * size * size)
    return rows.tobytes()


def decode(data: bytes, size: int, name: str = "The data") -> Records:
    """What `encode` wrote; a sentence that begins with `name` if it is cut, or is something else."""
    whole_number("size", size, 1, LARGEST)
    length = LABEL + PLANES * size * size
    if len(data) % length:
        raise AzlabError(
            f"{name} has {len(data):,} bytes, but a record of {size}x{size} has {length:,}: the file is cut, or of another board."
        )
    rows = np.frombuffer(data, np.uint8).reshape(-1, length)
    moves = rows[:, :LABEL].copy().view("<u2")[:, 0].astype(np.int64)
    planes = rows[:, LABEL:].reshape(-1, PLANES, size * size)
    is_whole = (planes[:, :3].sum(axis=1) == 1).all() and (planes[:, 3] == 1).all() and (planes <= 1).all()
    if not is_whole or (len(moves) and moves.max() >= size * size):
        raise AzlabError(f"{name} does not hold records of {size}x{size}: planes or moves are not what they should be.")
    boards = planes[:, :3].argmax(axis=1).astype(np.int8).reshape(-1, size, size)
    return Records(moves.astype(np.int16), boards)


class Properties(NamedTuple):
    """What a `.prop` file says."""

    counts: tuple[int, ...]  # records of each file
    planes: int
    size: int


def write_properties(file: Path, properties: Properties) -> None:
    """Write a `.prop` file."""
    lines = [",".join(map(str, properties.counts)), properties.planes, properties.size, properties.size]
    text = "".join(f"{line}\n" for line in lines)
    write_aside(file, lambda aside: aside.write_text(text, encoding="ascii"))


def read_properties(file: Path) -> Properties:
    """Read a `.prop` file; a sentence if it is none."""
    text = _bytes(file).decode("ascii", errors="replace")
    found = re.fullmatch(r"(\d{1,12}(?:,\d{1,12})*)\s*\n\s*(\d{1,3})\s*\n\s*(\d{1,2})\s*\n\s*(\d{1,2})\s*", text)
    if found is None or found[3] != found[4] or not 1 <= int(found[3]) <= LARGEST:
        raise AzlabError(
            f"{file} is no file of properties: it should have the numbers of records, of planes, and twice the size."
        )
    return Properties(tuple(int(count) for count in found[1].split(",")), int(found[2]), int(found[3]))


def write_records(place: Path, boards: np.ndarray, moves: np.ndarray, files: int = 1) -> list[Path]:
    """Write `place`_1.bin and so on, as nearly equal as can be, and then `place`.prop; the paths of the record files."""
    whole_number("files", files, 1, 1000)
    parts = np.array_split(np.arange(len(moves)), files)
    paths = [place.with_name(f"{place.name}_{number}.bin") for number in range(1, files + 1)]
    for path, rows in zip(paths, parts, strict=True):
        data = encode(np.asarray(moves)[rows], np.asarray(boards)[rows])
        write_aside(path, lambda aside, data=data: aside.write_bytes(data))  # type: ignore[misc]
    properties = Properties(tuple(len(rows) for rows in parts), PLANES, np.asarray(boards).shape[1])
    write_properties(place.with_name(f"{place.name}.prop"), properties)
    return paths


def read_records(place: Path, numbers: Sequence[int] | None = None) -> Records:
    """The records of `place`_1.bin and so on, as many files as `place`.prop says, or those of these numbers."""
    properties = read_properties(place.with_name(f"{place.name}.prop"))
    if properties.planes != PLANES:
        raise AzlabError(f"The records of {place} have {properties.planes} planes; only those with {PLANES} can be read.")
    chosen = list(range(1, len(properties.counts) + 1)) if numbers is None else list(numbers)
    found = []
    for number in chosen:
        whole_number("the number of a file of records", number, 1, len(properties.counts))
        path, count = place.with_name(f"{place.name}_{number}.bin"), properties.counts[number - 1]
        found.append(decode(_bytes(path), properties.size, str(path)))
        if len(found[-1].moves) != count:
            raise AzlabError(
                f"{path} has {len(found[-1].moves):,} records, but {place.name}.prop says {count:,}: use another copy."
            )
    return Records(np.concatenate([part.moves for part in found]), np.concatenate([part.boards for part in found]))


def in_parts(records: int, train_files: int = 5, test_share: float = 0.1) -> tuple[int, int]:
    """How S2's program deals out records: those of each training file, and of the test file, which takes what is left over."""
    train = math.floor((records - int(test_share * records)) / train_files) * train_files
    return train // train_files, records - train


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise AzlabError(f"{file} cannot be read: {error.strerror or error}.") from None
