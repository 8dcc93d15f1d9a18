"""Makes Seega's tables of perfect play: `azlab data make seega stones=8`, or `make_tables(8)`; called again it goes on.

Classes are made in the order of their stones, and each of their files is written aside, renamed when it is whole, and never
changed again. So a process that was killed has lost the pair of classes it was at, and two runs leave the same bytes, however
often they were interrupted. A file that is damaged is made again.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.files import expanded, locked, user_cache
from azlab.games.seega import CHAINS, Seega
from azlab.machine import cores
from azlab.oracles import seega_kernels as kernels
from azlab.oracles.making import FilesMaker
from azlab.oracles.seega_boards import subsets
from azlab.oracles.seega_files import packed_blocks, write_plane
from azlab.oracles.seega_tables import Class, Hunt, Tables, hunts, rules_of, shape, signs

PIECE = 1 << 19  # entries that a thread works on before it takes the next ones
NEVER = 255  # in a byte: no depth, because the other side escapes by a capture. Where depths reach it, two bytes are used
NEVER_IN_TWO_BYTES = 65535

Progress = Callable[[int, int], Any]
Arrays = tuple[np.ndarray, np.ndarray]


def tables_folder() -> Path:
    """Where tables are kept unless somebody names another folder."""
    cache = user_cache()
    if cache is None:
        raise AzlabError("There is no home folder to keep tables of perfect play in: name a folder for them.")
    return cache / "oracles"


def make_tables(
    stones: int,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    game: Seega | None = None,
    endless: bool = False,
    threads: int | None = None,
) -> Tables:
    """Make the tables of all boards with up to `stones` stones that are not yet in `folder`.

    The rules are those of `game`; with `endless` there is no limit on quiet moves, and endless play is a draw. `progress` is told
    (done, in all), in boards. Each set of rules has a folder of its own in `folder`.
    """
    rules = rules_of(Seega() if game is None else game, endless)
    stones = whole_number("stones", stones, 2 * rules.least_stones, 2 * rules.most)
    place = tables_folder() if folder is None else expanded(folder)
    tables = Tables(rules, place)
    with locked(tables.folder, f"Another process is making tables in {tables.folder}: wait for it, or name another folder."):
        for unfinished in tables.folder.glob(".*.depths"):  # what a killed process was writing
            unfinished.unlink()
        with ThreadPoolExecutor(threads or cores()) as pool:
            _Maker(tables, stones, progress, pool).make()
    return tables


class _Maker:
    """Makes the missing tables up to a number of stones."""

    def __init__(self, tables: Tables, stones: int, progress: Progress | None, pool: ThreadPoolExecutor) -> None:
        self.tables, self.rules, self.pool = tables, tables.rules, pool
        self.boards = tables.boards(stones)
        pairs = [kind for n in range(stones + 1) for kind in self.rules.classes(n) if kind[0] <= kind[1]]
        self.work = {pair: float(np.prod(shape(self.boards, pair))) * (1 + len(hunts(self.rules, pair))) for pair in pairs}
        self.done, self.progress = 0.0, progress

    def make(self) -> None:
        for pair, work in self.work.items():
            missing = [hunt for hunt in hunts(self.rules, pair) if not all(self._is_there(*file) for file in hunt.files)]
            if missing:
                before = self.done
                self._solve(pair, missing)
                self.done = before
            self._advance(work)

    def _is_there(self, kind: Class, plane: int) -> bool:
        try:
            self.tables.plane(kind, plane)
        except AzlabError:
            return False
        return True

    def _advance(self, work: float) -> None:
        self.done += work
        if self.progress is not None:
            self.progress(int(self.done), int(sum(self.work.values())))

    def _in_pieces(self, length: int, entries_each: int, call: Callable[[int, int], Any], work: float = 0) -> None:
        """`call(first, last)` for pieces of 0 to `length`, on all threads."""
        piece = max(1, PIECE // entries_each)
        bounds = [*range(0, length, piece), length]
        for first, last, _ in zip(bounds, bounds[1:], self.pool.map(call, bounds, bounds[1:])):
            if work:
                self._advance(work * (last - first) / length)

    def _solve(self, pair: Class, missing: list[Hunt]) -> None:
        """Make the files of the classes (b, w) and (w, b)."""
        entries = int(np.prod(shape(self.boards, pair)))
        depths = np.zeros(entries, np.uint8), np.zeros(entries, np.uint8)  # with the hunter and with the other side to move
        self._look_at_captures(pair, depths)
        by_captures = self._packed(depths[0]), self._packed(depths[1])
        for hunt in missing:
            begin = self.done
            found, longest = self._hunt(hunt, hunt.kind != pair, by_captures, depths)
            self._write(hunt, found, longest)
            self.done = begin + entries

    def _look_at_captures(self, pair: Class, worth: Arrays) -> None:
        stones, (rows, width) = sum(pair), shape(self.boards, pair)
        known, start = self._known(pair)
        chain_rule, least, masks = CHAINS.index(self.rules.chain), self.rules.least_stones, subsets(stones, pair[0])

        def look(first: int, last: int) -> None:
            kernels.captures_worth(self.boards, stones, masks, known, start, chain_rule, least, *worth, first, last)

        self._in_pieces(rows, width, look, rows * width)

    def _known(self, pair: Class) -> tuple[np.ndarray, np.ndarray]:
        """The values of all classes that captures lead to, packed one behind the other, and where each begins."""
        needed = {(left, own) for own, other in (pair, pair[::-1]) for left in range(self.rules.least_stones, other)}
        start, total = np.zeros((self.rules.most + 1, self.rules.most + 1), np.int64), 0
        for kind in needed:
            start[kind] = total
            total += -(-int(np.prod(shape(self.boards, kind))) // 4) * 4
        known = np.zeros(max(total // 4, 1), np.uint8)
        for kind in needed:
            value, *steps = signs(self.rules, kind)
            first, second = self.tables.planes(kind)

            def unpack(number: int, first=first, second=second, value=value, steps=tuple(steps), begin=int(start[kind])) -> None:
                kernels.pack_values(
                    value, steps, first.block(number), second.block(number), self.rules.limit, known,
                    begin + number * first.per_block * first.width,
                )  # fmt: skip

            for _ in self.pool.map(unpack, range(first.blocks)):
                pass
        return known, start

    def _packed(self, worth: np.ndarray) -> np.ndarray:
        packed = np.empty(-(-len(worth) // 4), np.uint8)
        self._in_pieces(len(packed), 1, lambda first, last: kernels.pack(worth, packed, first, last))
        return packed

    def _hunt(self, hunt: Hunt, is_reversed: bool, by_captures: Arrays, depths: Arrays) -> tuple[Arrays, int]:
        """All passes of one hunt, in the arrays `depths` or, if these are too narrow, in wider ones; and the greatest depth."""
        stones, (rows, width) = sum(hunt.kind), shape(self.boards, hunt.kind)
        masks, never, depth, longest = subsets(stones, hunt.kind[0]), NEVER, 0, 0
        worth = by_captures[::-1] if is_reversed else by_captures

        def begin(first: int, last: int) -> None:
            kernels.begin_hunt(*worth, hunt.wants, NEVER, width, is_reversed, *depths, first, last)

        self._in_pieces(rows, width, begin)
        fresh = np.zeros((3, rows), np.bool_)  # see the kernel
        fresh[2] = True
        while depth < self.rules.limit and fresh.any():
            depth += 1
            if depth == never:
                depths, never = (_widened(depths[0], never), _widened(depths[1], never)), NEVER_IN_TWO_BYTES
            new = np.zeros((3, rows), np.bool_)
            new[::2] = depth == 1  # by captures
            self._pass(stones, masks, depths, fresh, new, depth)
            fresh = new
            longest = depth if fresh[:2].any() else longest
            self._advance(rows * width * 8 / ((depth + 7) * (depth + 8)))  # nobody knows how many passes there will be
        for found in depths:
            self._in_pieces(rows * width, 1, lambda first, last, found=found: self._as_kept(found[first:last], never))  # type: ignore[misc]
        return depths, longest

    def _as_kept(self, depths: np.ndarray, never: int) -> None:
        """Change depths to what files keep. Without a limit it only matters whether there is a depth, and files become small."""
        depths[depths == never] = 0
        if self.rules.quiet_limit is None:
            np.minimum(depths, 1, out=depths)

    def _pass(self, stones: int, masks: np.ndarray, depths: Arrays, fresh: np.ndarray, new: np.ndarray, depth: int) -> None:
        passes = self.rules.blocked == "pass"

        def look(first: int, last: int) -> None:
            kernels.hunt(self.boards, stones, masks, *depths, fresh, new, depth, passes, first, last)

        self._in_pieces(len(fresh[0]), len(masks), look)

    def _write(self, hunt: Hunt, found: Arrays, longest: int) -> None:
        rows, width = shape(self.boards, hunt.kind)
        for (kind, plane), depths, is_reversed in zip(hunt.files, found, (False, True), strict=True):
            blocks = packed_blocks(depths, rows, width, is_reversed, self.pool.map)
            about = {**self.tables.about(kind, plane), "longest": longest}
            write_plane(self.tables.path(kind, plane), about, depths.dtype, rows, width, blocks)


def _widened(depths: np.ndarray, never: int) -> np.ndarray:
    """The same depths in two bytes each."""
    wide = depths.astype(np.uint16)
    wide[depths == never] = NEVER_IN_TWO_BYTES
    return wide


@dataclass(frozen=True)
class SeegaTables:
    """What `azlab data make seega` takes: how many stones, and the rules."""

    stones: int = 8
    endless: bool = False
    size: int = 5
    safe_centre: bool = False
    chain: str = "optional"
    blocked: str = "skip"
    least_stones: int = 2
    quiet_limit: int = 20

    def __post_init__(self) -> None:
        one_of("endless", self.endless, (False, True))
        rules = rules_of(self.game, self.endless)
        whole_number("stones", self.stones, 2 * rules.least_stones, 2 * rules.most)

    @property
    def game(self) -> Seega:
        """A game with these rules."""
        names = ("size", "safe_centre", "chain", "blocked", "least_stones", "quiet_limit")
        return Seega(**{name: getattr(self, name) for name in names})


def _build(options: SeegaTables, folder: str | None, threads: int, progress: Progress) -> Path:
    return make_tables(options.stones, folder, progress, options.game, options.endless, threads).folder


def _describe(options: SeegaTables) -> str:
    return f"Seega, perfect play with up to {options.stones} stones ({rules_of(options.game, options.endless).name})"


MAKER = FilesMaker(
    options=SeegaTables,
    describe=_describe,
    build=_build,
    meaning={
        "stones": "tables of all boards with up to so many stones (docs/perfect_play.md: how long each takes)",
        "endless": "as if no limit on quiet moves ended games",
        "size": "3 or 5",
        "safe_centre": "whether a stone on the centre is immune",
        "chain": "captures that go on: optional, mandatory or none",
        "blocked": "a side that cannot move: skip or pass",
        "least_stones": "who has fewer has lost",
        "quiet_limit": "moves without a capture that end a game",
    },
)
