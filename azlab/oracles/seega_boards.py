"""All boards of Seega with up to so many stones, numbered: what the tables of perfect play are indexed by.

A board is a set of occupied cells (bit k of a number is cell k) and, among these, the set of one side's stones. Boards that the
eight symmetries turn into each other are one board, which is decided by the occupied cells alone: of the eight images of such a
set the smallest number is its *row*. A row with n stones holds all C(n, b) ways to choose b of them, numbered by `rank`. On the
few rows that a symmetry leaves as they are some boards therefore appear twice; they get the same values.

`rank` of a number is how many smaller ones have as many bits. The set of occupied cells is split into a low and a high half,
whose ranks give a number below C(cells, n) by two look-ups, and `where` then has the row and the symmetry that leads to it.
"""

import math
from typing import NamedTuple

import numpy as np

from azlab.games import grid

LOW_BITS = 13  # of the 25 cells of 5x5; a table of 2**13 stays in the processor's cache
DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Boards(NamedTuple):
    """The numbering of boards of up to N stones, as arrays that kernels read. T is the number of sets, R that of rows."""

    low: int  # bits of the low half
    step: np.ndarray  # int64 [cells, 4]: the cell beside each, -1 beyond the edge
    near: np.ndarray  # int64 [cells, 4]: the bit of that cell if a stone can be captured there, else 0
    far: np.ndarray  # int64 [cells, 4]: the bit of the cell behind it, or 0
    image_low: np.ndarray  # int32 [8, 2 ** low]: what each symmetry makes of the low half
    image_high: np.ndarray  # int32 [8, 2 ** high]
    bits: np.ndarray  # int64 [2 ** low]: how many bits a number has
    rank: np.ndarray  # int32 [2 ** max(low, N)]: how many smaller numbers have as many bits
    choose: np.ndarray  # int64 [cells + 1, cells + 1]: C(n, k)
    base: np.ndarray  # int64 [N + 1, high + 1]: first number of the sets by their stones and those of them in the high half
    where: np.ndarray  # int32 [T]: 8 * row + symmetry, for every set
    rows: np.ndarray  # int32 [R]: the rows, those with few stones first
    first_row: np.ndarray  # int64 [N + 2]: the first of the rows with n stones


def bit_counts(bits: int) -> np.ndarray:
    """How many bits each number below 2 ** bits has: int64."""
    counts = np.zeros(1, np.int64)
    for _ in range(bits):
        counts = np.concatenate([counts, counts + 1])
    return counts


def ranks(counts: np.ndarray) -> np.ndarray:
    """How many smaller numbers have as many bits: int32, for numbers whose bits are counted in `counts`."""
    found = np.empty(len(counts), np.int32)
    for count in range(int(counts.max()) + 1):
        same = np.flatnonzero(counts == count)
        found[same] = np.arange(len(same))
    return found


def subsets(stones: int, own: int) -> np.ndarray:
    """All numbers of `stones` bits with `own` of them set, in the order of their rank: int64 [C(stones, own)]."""
    return np.flatnonzero(bit_counts(stones) == own)


def _beside(size: int, safe_centre: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`step`, `near` and `far` of `Boards`."""
    cells = size * size
    step = np.full((cells, 4), -1, np.int64)
    near, far = np.zeros((cells, 4), np.int64), np.zeros((cells, 4), np.int64)
    for cell in range(cells):
        for d, (down, right) in enumerate(DIRECTIONS):
            places = [(cell // size + k * down, cell % size + k * right) for k in (1, 2)]
            beside, behind = (r * size + c if 0 <= r < size and 0 <= c < size else -1 for r, c in places)
            step[cell, d] = beside
            if behind >= 0 and not (safe_centre and beside == cells // 2):
                near[cell, d], far[cell, d] = 1 << beside, 1 << behind
    return step, near, far


def _images(cells: range, image: np.ndarray) -> np.ndarray:
    """What a symmetry makes of every set of some neighbouring cells: int32 [2 ** len(cells)]."""
    made = np.zeros(1, np.int32)
    for cell in cells:
        made = np.concatenate([made, made | np.int32(1 << int(image[cell]))])
    return made


def number_boards(size: int, stones: int, safe_centre: bool = False) -> Boards:
    """The numbering of all boards of size x size with up to `stones` stones."""
    cells = size * size
    low = min(LOW_BITS, cells)
    high = cells - low
    transformations = [image for _, image in grid.transformations(size, size)]
    image_low = np.stack([_images(range(low), image) for image in transformations])
    image_high = np.stack([_images(range(low, cells), image) for image in transformations])
    counts = bit_counts(max(low, stones))
    rank = ranks(counts)
    choose = np.array([[math.comb(n, k) for k in range(cells + 1)] for n in range(cells + 1)], np.int64)
    base = np.zeros((stones + 1, high + 1), np.int64)
    first_row = np.zeros(stones + 2, np.int64)
    where, rows, total = [], [], 0
    by_count = [[np.flatnonzero(counts[: 1 << bits] == n) for n in range(bits + 1)] for bits in (low, high)]
    for n in range(stones + 1):
        sets = []
        for up in range(high + 1):
            base[n, up] = total
            if 0 <= n - up <= low:
                sets.append(np.add.outer(by_count[1][up] << low, by_count[0][n - up]).ravel())
                total += len(sets[-1])
        of_n = np.concatenate(sets).astype(np.int32)
        found, rows_of_n = _rows(of_n, image_low, image_high, low)
        where.append(found)
        rows.append(rows_of_n)
        first_row[n + 1] = first_row[n] + len(rows_of_n)
    step, near, far = _beside(size, safe_centre)
    return Boards(
        low, step, near, far, image_low, image_high, counts[: 1 << low], rank, choose, base,
        np.concatenate(where), np.concatenate(rows), first_row,
    )  # fmt: skip


def _rows(sets: np.ndarray, image_low: np.ndarray, image_high: np.ndarray, low: int) -> tuple[np.ndarray, np.ndarray]:
    """8 * row + symmetry of each of `sets`, which are all sets of so many stones; and the rows, sorted."""
    smallest, symmetry = sets.copy(), np.zeros(len(sets), np.int32)
    below, above = sets & ((1 << low) - 1), sets >> low
    for t in range(1, 8):
        image = image_low[t][below] | image_high[t][above]
        is_smaller = image < smallest
        smallest[is_smaller] = image[is_smaller]
        symmetry[is_smaller] = t
    rows = np.sort(sets[smallest == sets])
    return (8 * np.searchsorted(rows, smallest) + symmetry).astype(np.int32), rows
