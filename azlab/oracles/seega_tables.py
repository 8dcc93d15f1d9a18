"""Perfect play of Seega's moving phase, a class of boards at a time, backward from the captures.

A class (own, other) has all boards with so many stones of the side to move and of the opponent. Captures lead to classes with
fewer stones, all other moves from (b, w) to (w, b) and back, so these two are solved together, after all smaller ones.

**The limit on quiet moves.** With k such moves left before the game ends, a position is worth V_k. When none is left, more stones
win: V_0 is the sign of own - other, the same for all boards of a class. Each further quiet move can only help who would lose or
draw at the limit, so V_k changes at most twice as k grows, always in the same direction, and two depths say all about a position,
for every k:

- more stones than the opponent: V falls from 1 to 0 at one depth and to -1 at another (or never);
- fewer stones: V rises in the same way from -1;
- as many stones: V is 0 and becomes 1 at one depth, or -1 at another; at most one of the two exists.

Each depth comes from one hunt (`seega_kernels.hunt`), in which the *hunter* wants at least a draw, or a win.

**Endless play** counts as a draw: V_0 is 0 everywhere, both sides hunt for a win, and passes go on until nothing changes. Of the
depths files then keep only whether there is one.

A player who cannot move is passed over or has to pass; a chain of captures is one turn, with every way to end it that the rules
allow. The least number of stones, the chain rule, the safe centre and the limit are `Rules`.
"""

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.games.seega import Seega
from azlab.oracles import seega_kernels as kernels
from azlab.oracles.seega_boards import Boards, number_boards
from azlab.oracles.seega_files import Plane, file_name

Class = tuple[int, int]  # stones of the side to move, of the other side
WITHOUT_LIMIT = 1 << 30  # quiet moves, in endless play


@dataclass(frozen=True)
class Rules:
    """What the value of a position in the moving phase depends on. `quiet_limit` None is endless play."""

    size: int
    safe_centre: bool
    chain: str
    blocked: str
    least_stones: int
    quiet_limit: int | None

    @property
    def most(self) -> int:
        """Stones that each side places."""
        return (self.size * self.size - 1) // 2

    @property
    def name(self) -> str:
        """A name for files."""
        limit = "endless" if self.quiet_limit is None else f"quiet{self.quiet_limit}"
        centre = "_safe-centre" if self.safe_centre else ""
        return f"seega_{self.size}x{self.size}_{limit}_{self.chain}_{self.blocked}_least{self.least_stones}{centre}"

    def command(self, stones: int) -> str:
        """What makes the tables of boards with up to so many stones."""
        usual = Seega().options
        other = {name: value for name, value in self.as_dict().items() if value is not None and value != usual[name]}
        words = [f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in other.items()]
        endless = ["endless=true"] if self.quiet_limit is None else []
        return " ".join(["azlab data make seega", f"stones={stones}", *endless, *words])

    def classes(self, stones: int) -> list[Class]:
        """The classes with `stones` stones in all."""
        return [(own, stones - own) for own in range(self.least_stones, stones) if self.has((own, stones - own))]

    def has(self, kind: Class) -> bool:
        """Whether a game can come to a class."""
        return all(self.least_stones <= stones <= self.most for stones in kind)

    @property
    def limit(self) -> int:
        """Quiet moves that the game lasts at most."""
        return WITHOUT_LIMIT if self.quiet_limit is None else self.quiet_limit

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def rules_of(game: Seega, endless: bool = False) -> Rules:
    """The rules of a game that its tables depend on."""
    if game.size > 5:
        raise AzlabError(f"Perfect play of Seega is known on 3x3 and 5x5, not on {game.size}x{game.size}.")
    if not endless and game.options["move_limit"] is not None:
        raise AzlabError(
            "The tables of perfect play know a limit on quiet moves but none on all moves: leave out move_limit, or ask for "
            "endless=True."
        )
    if game.options["extra_move"] == "any" and game.options["chain"] != "none":
        raise AzlabError(
            "The tables of perfect play know chains of captures by one stone, not an extra move with any stone: leave out "
            'extra_move="any", or choose chain="none".'
        )
    options = {name: game.options[name] for name in ("size", "safe_centre", "chain", "blocked", "least_stones")}
    return Rules(**options, quiet_limit=None if endless else game.options["quiet_limit"])


def signs(rules: Rules, kind: Class) -> tuple[int, int, int]:
    """What a class is worth at the limit, and how this changes at each of the two depths."""
    own, other = kind
    if own == other or rules.quiet_limit is None:
        return 0, 1, -1
    return (1, -1, -1) if own > other else (-1, 1, 1)


def shape(boards: Boards, kind: Class) -> tuple[int, int]:
    """How many rows the table of a class has, and how many entries a row."""
    stones = sum(kind)
    return int(boards.first_row[stones + 1] - boards.first_row[stones]), math.comb(stones, kind[0])


def values_at(rules: Rules, kind: Class, depths: tuple[np.ndarray, np.ndarray], moves_left: Any) -> np.ndarray:
    """The values for the side to move, -1, 0 or 1, with so many quiet moves left (a number or an array): int64."""
    value, *steps = signs(rules, kind)
    return value + sum(step * ((depth > 0) & (depth <= moves_left)) for step, depth in zip(steps, depths, strict=True))


@dataclass(frozen=True)
class Hunt:
    """One hunt: stones of the hunter and of the other side, what the hunter wants, and which depth this is in the class where the
    hunter moves and in that where the other side does."""

    kind: Class
    wants: int
    plane: int
    other_plane: int

    @property
    def files(self) -> list[tuple[Class, int]]:
        """The depths that it finds."""
        own, other = self.kind
        return [((own, other), self.plane), ((other, own), self.other_plane)]


def hunts(rules: Rules, pair: Class) -> list[Hunt]:
    """The hunts that solve the classes (b, w) and (w, b), for b <= w."""
    fewer, more = pair
    if fewer == more:  # the other side's hunt is the same with colours swapped
        return [Hunt(pair, kernels.WIN, 0, 1)]
    if rules.quiet_limit is None:
        return [Hunt(pair, kernels.WIN, 0, 1), Hunt((more, fewer), kernels.WIN, 0, 1)]
    return [Hunt(pair, kernels.DRAW, 0, 0), Hunt(pair, kernels.WIN, 1, 1)]


class Tables:
    """The tables of some rules in a folder: which are there, and what they say. Files are verified when they are first read."""

    def __init__(self, rules: Rules, folder: Path) -> None:
        self.rules, self.folder = rules, folder / rules.name
        self._planes: dict[Class, tuple[Plane, Plane]] = {}
        self._boards: Boards | None = None

    @property
    def stones(self) -> int:
        """Up to how many stones all classes are there; less than twice the least number if none is."""
        stones = 2 * self.rules.least_stones - 1
        while stones < 2 * self.rules.most and self._has(stones + 1):
            stones += 1
        return stones

    def _has(self, stones: int) -> bool:
        return all(self.path(kind, plane).is_file() for kind in self.rules.classes(stones) for plane in (0, 1))

    def path(self, kind: Class, plane: int) -> Path:
        return self.folder / file_name(kind, plane)

    def about(self, kind: Class, plane: int) -> dict[str, Any]:
        """What the file of a depth says about itself."""
        return {**self.rules.as_dict(), "own": kind[0], "other": kind[1], "depth": plane}

    def boards(self, stones: int) -> Boards:
        """The numbering of boards with at least up to `stones` stones."""
        if self._boards is None or len(self._boards.first_row) < stones + 2:
            self._boards = number_boards(self.rules.size, stones, self.rules.safe_centre)
        return self._boards

    def plane(self, kind: Class, plane: int) -> Plane:
        """One of the two depths of a class; a sentence if its file is not as it should be."""
        again = f"Make it again with `{self.rules.command(max(sum(kind), 4))}`, which replaces what is damaged."
        rows, width = shape(self.boards(sum(kind)), kind)
        return Plane(self.path(kind, plane), self.about(kind, plane), rows, width, again)

    def planes(self, kind: Class) -> tuple[Plane, Plane]:
        """Both depths of a class, verified once."""
        if kind not in self._planes:
            self._planes[kind] = (self.plane(kind, 0), self.plane(kind, 1))
        return self._planes[kind]

    def values(self, own: np.ndarray, other: np.ndarray, moves_left: np.ndarray) -> np.ndarray:
        """The values for the side to move, -1, 0 or 1, of boards given as sets of cells int64 [B], with so many quiet moves
        left."""
        found = np.zeros(len(own), np.int64)
        counts = np.stack([np.bitwise_count(own), np.bitwise_count(other)], axis=1).astype(np.int64)
        for stones in np.unique(counts, axis=0).tolist():
            kind = (stones[0], stones[1])
            here = np.flatnonzero((counts == stones).all(axis=1))
            indices = np.empty(len(here), np.int64)
            kernels.index_all(self.boards(sum(kind)), own[here], other[here], indices)
            first, second = (plane.depths(indices) for plane in self.planes(kind))
            found[here] = values_at(self.rules, kind, (first, second), moves_left[here])
        return found
