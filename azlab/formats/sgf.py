"""Game records in the Smart Game Format (SGF), FF[1] to FF[4], for the game of Go.

An SGF text is a collection of game trees. `parse` gives the trees as they are, variations and unknown properties
included; `main_line` gives what most programs want, the one game that was played; `write` turns such a record back
into text.

    >>> record = main_line("(;SZ[9]KM[7]PB[Ann]PW[Bob];B[ee];W[])")
    >>> record.size, record.moves
    (9, ((0, 40), (1, -1)))

Black is seat 0 and white is seat 1. A point is `row * size + column` with row 0 at the top and column 0 at the left,
which is how SGF itself counts; a pass is -1.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from azlab.formats.sgf_tree import Node, SgfError, parse

__all__ = ["BLACK", "PASS", "WHITE", "SgfGame", "Node", "SgfError", "main_line", "parse", "record_of", "write"]

PASS = -1
BLACK = 0
WHITE = 1

# The coordinate letters: a to z and then A to Z, so a board has at most 52 lines.
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_INDEX = {letter: index for index, letter in enumerate(_LETTERS)}
_LARGEST_BOARD = len(_LETTERS)

_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)")

_SETUP = ("AB", "AW", "AE")


@dataclass(frozen=True)
class SgfGame:
    """One game as it was played, without variations or comments."""

    size: int = 19
    # None when the file does not say; the usual value depends on the rules.
    komi: float | None = None
    # What the file says in HA. The stones themselves are in `black`.
    handicap: int = 0
    # The rules' name as written in the file ("Japanese", "Chinese", ...), or "".
    rules: str = ""
    # The result as written in the file ("B+3.5", "W+R", "W+Resign", "0", "Void", ...), or "".
    result: str = ""
    # Stones on the board before the first move, in ascending order.
    black: tuple[int, ...] = ()
    white: tuple[int, ...] = ()
    # The seat that plays first.
    to_move: int = BLACK
    # (seat, point) of every move; the point of a pass is -1. The same seat may move twice in a row.
    moves: tuple[tuple[int, int], ...] = ()
    black_name: str = ""
    white_name: str = ""
    black_rank: str = ""
    white_rank: str = ""


# ---------------------------------------------------------------------------------------------------------------------
# Trees to records


def main_line(text: str) -> SgfGame:
    """The first game in `text`, along its main line.

    Stones may be set up (AB, AW, AE) only before the first move: a record cannot say the rest, so a game that edits
    the board later raises SgfError.
    """
    return record_of(parse(text)[0])


def record_of(root: Node) -> SgfGame:
    """The main line of one game tree as a record."""
    header = root.properties
    if _simple_text(header, "GM") not in ("", "1"):
        raise SgfError(root.offset, f"expected a game of Go (GM[1]), found GM[{_simple_text(header, 'GM')}].")
    size = _board_size(root)
    stones, first_player, moves = _play_through(root, size)
    black = tuple(sorted(point for point, seat in stones.items() if seat == BLACK))
    white = tuple(sorted(point for point, seat in stones.items() if seat == WHITE))
    handicap = _handicap(root)
    if first_player is None:
        first_player = _default_first_player(handicap, moves)
    return SgfGame(
        size=size,
        komi=_komi(root),
        handicap=handicap,
        rules=_simple_text(header, "RU"),
        result=_simple_text(header, "RE"),
        black=black,
        white=white,
        to_move=first_player,
        moves=tuple(moves),
        black_name=_simple_text(header, "PB"),
        white_name=_simple_text(header, "PW"),
        black_rank=_simple_text(header, "BR"),
        white_rank=_simple_text(header, "WR"),
    )


def _default_first_player(handicap: int, moves: list[tuple[int, int]] | tuple[tuple[int, int], ...]) -> int:
    """Who plays first when the file does not say it with PL."""
    if moves:
        return moves[0][0]
    return WHITE if handicap >= 2 else BLACK


def _play_through(root: Node, size: int) -> tuple[dict[int, int], int | None, list[tuple[int, int]]]:
    """The stones before the first move, the player that PL names (or None), and the moves."""
    stones: dict[int, int] = {}
    first_player: int | None = None
    moves: list[tuple[int, int]] = []
    points = _points_of_board(size)
    for node in root.main_line():
        properties = node.properties
        if len(properties) > 1 or not ("B" in properties or "W" in properties):
            if any(name in properties for name in _SETUP):
                if moves:
                    problem = f"stones are edited (AB, AW or AE) after move {len(moves)}"
                    raise SgfError(node.offset, f"set-up in mid-game is not supported: {problem}.")
                _set_up(node, size, stones)
            if "PL" in properties and not moves:
                first_player = _player(node)
        for name, values in properties.items():
            if name == "B" or name == "W":
                if len(values) != 1:
                    raise SgfError(node.offset, f"expected one move in {name}, found {len(values)}.")
                point = points.get(values[0])
                if point is None:
                    point = _move_point(values[0], size, node.offset)
                moves.append((BLACK if name == "B" else WHITE, point))
    return stones, first_player, moves


def _points_of_board(size: int) -> dict[str, int]:
    """The point of every two-letter coordinate of the board, and the ways to write a pass."""
    if size not in _POINTS:
        letters = _LETTERS[:size]
        points = {column + row: y * size + x for y, row in enumerate(letters) for x, column in enumerate(letters)}
        points[""] = PASS
        # Old programs wrote a pass as the point just off a 19x19 board. On a larger board `tt` is a point.
        if size <= 19:
            points["tt"] = PASS
        _POINTS[size] = points
    return _POINTS[size]


_POINTS: dict[int, dict[str, int]] = {}


def _move_point(value: str, size: int, offset: int) -> int:
    """The point of a move that was written with white space, or SgfError for one that is off the board."""
    point = _points_of_board(size).get("".join(value.split()))
    if point is None:
        raise SgfError(offset, f"expected a point of the {size}x{size} board such as 'cd', found {value!r}.")
    return point


def _set_up(node: Node, size: int, stones: dict[int, int]) -> None:
    """Put and remove the stones that one node asks for."""
    done: set[int] = set()
    for name, seat in (("AB", BLACK), ("AW", WHITE), ("AE", None)):
        for value in node.properties.get(name, ()):
            for point in _point_list(value, size, node.offset):
                # The same point twice in one list is harmless; in two lists nobody can say what was meant.
                if point in done and stones.get(point) != seat:
                    raise SgfError(node.offset, f"expected each point in only one of AB, AW and AE, found {value!r}.")
                done.add(point)
                if seat is None:
                    stones.pop(point, None)
                else:
                    stones[point] = seat


def _point_list(value: str, size: int, offset: int) -> list[int]:
    """The points of one value: a single point such as `dd`, or a rectangle such as `aa:cc`."""
    first, colon, last = "".join(value.split()).partition(":")
    corners = []
    for corner in (first, last) if colon else (first,):
        if len(corner) != 2 or not all(_INDEX.get(letter, size) < size for letter in corner):
            raise SgfError(offset, f"expected a point of the {size}x{size} board such as 'cd', found {value!r}.")
        corners.append((_INDEX[corner[0]], _INDEX[corner[1]]))
    columns, rows = zip(*corners, strict=True)
    return [row * size + column for row in range(min(rows), max(rows) + 1) for column in range(min(columns), max(columns) + 1)]


def _simple_text(properties: dict[str, list[str]], name: str) -> str:
    """The first value of a one-line property; line breaks and tabs in it count as spaces."""
    values = properties.get(name)
    if not values:
        return ""
    return re.sub(r"\r\n|\n\r|\s", " ", values[0]).strip()


def _board_size(root: Node) -> int:
    text = _simple_text(root.properties, "SZ") or "19"
    columns, colon, rows = text.partition(":")
    if not re.fullmatch(r"\s*[0-9]{1,3}\s*", columns) or (colon and not re.fullmatch(r"\s*[0-9]{1,3}\s*", rows)):
        raise SgfError(root.offset, f"expected a board size such as SZ[19], found SZ[{text}].")
    if colon and int(columns) != int(rows):
        raise SgfError(root.offset, f"expected a square board, found SZ[{text}].")
    if not 1 <= int(columns) <= _LARGEST_BOARD:
        raise SgfError(root.offset, f"expected a board size from 1 to {_LARGEST_BOARD}, found SZ[{text}].")
    return int(columns)


def _komi(root: Node) -> float | None:
    text = _simple_text(root.properties, "KM")
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise SgfError(root.offset, f"expected a number as komi such as KM[6.5], found KM[{text}].")
    return float(text.replace(",", "."))


def _handicap(root: Node) -> int:
    text = _simple_text(root.properties, "HA")
    if not text:
        return 0
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise SgfError(root.offset, f"expected a whole number of handicap stones such as HA[2], found HA[{text}].")
    return int(text)


def _player(node: Node) -> int:
    """The seat that PL names. FF[3] wrote 1 and 2, and some programs write the whole word."""
    text = _simple_text(node.properties, "PL").lower()
    if text in ("b", "black", "1"):
        return BLACK
    if text in ("w", "white", "2"):
        return WHITE
    raise SgfError(node.offset, f"expected PL[B] or PL[W], found PL[{text}].")


# ---------------------------------------------------------------------------------------------------------------------
# Records to text


def write(record: SgfGame) -> str:
    """The record as SGF text (FF[4]), which `main_line` reads back as an equal record."""
    _check_record(record)
    header = [("GM", "1"), ("FF", "4"), ("CA", "UTF-8"), ("SZ", str(record.size))]
    header += [("KM", str(record.komi))] if record.komi is not None else []
    header += [("HA", str(record.handicap))] if record.handicap else []
    for name, text in (
        ("RU", record.rules),
        ("RE", record.result),
        ("PB", record.black_name),
        ("BR", record.black_rank),
        ("PW", record.white_name),
        ("WR", record.white_rank),
    ):
        if text:
            header.append((name, _escape(text)))
    parts = ["(;"] + [f"{name}[{value}]" for name, value in header]
    for name, points in (("AB", record.black), ("AW", record.white)):
        if points:
            parts.append(name + "".join(f"[{_coordinate(point, record.size)}]" for point in points))
    if record.to_move != _default_first_player(record.handicap, record.moves):
        parts.append("PL[W]" if record.to_move == WHITE else "PL[B]")
    for number, (seat, point) in enumerate(record.moves):
        # Ten moves a line keep the file readable and its lines under 80 characters.
        parts.append("\n" if number % 10 == 0 else "")
        parts.append(f";{'BW'[seat]}[{'' if point == PASS else _coordinate(point, record.size)}]")
    return "".join(parts) + ")\n"


def _check_record(record: SgfGame) -> None:
    """Refuse what would not read back as the same game."""
    if not 1 <= record.size <= _LARGEST_BOARD:
        raise ValueError(f"SGF can write boards of size 1 to {_LARGEST_BOARD}; this record has size {record.size}.")
    if record.komi is not None and not math.isfinite(record.komi):
        raise ValueError(f"SGF needs a finite number as komi; this record has {record.komi}.")
    last = record.size * record.size - 1
    for point in (*record.black, *record.white):
        if not 0 <= point <= last:
            raise ValueError(f"Set-up stones must be on points 0 to {last}; this record has one on {point}.")
    both = sorted(set(record.black) & set(record.white))
    if both:
        raise ValueError(f"A point cannot hold a black and a white stone; take {both[0]} out of one of the two.")
    for number, (seat, point) in enumerate(record.moves, start=1):
        if seat not in (BLACK, WHITE) or not PASS <= point <= last:
            raise ValueError(
                f"Move {number} is {(seat, point)}; it must be seat 0 or 1 and a point from 0 to {last}, or -1 to pass."
            )


def _coordinate(point: int, size: int) -> str:
    row, column = divmod(point, size)
    return _LETTERS[column] + _LETTERS[row]


def _escape(text: str) -> str:
    return re.sub(r"\s", " ", text).replace("\\", "\\\\").replace("]", "\\]")
