"""The test board of S4 (figures 5.2 and 5.4), whose drawing is lost: what the text says of it, and all boards that fit.

Rows are letters from the top, columns numbers from the left, since "B4 up" leads to A4. Every stone that the text sees captured
lies between two black ones, so the captures and the list of moves fix twenty cells:

- B4 steps up and takes A3: A4 is empty, A3 white, A2 and B4 black.
- D3 steps up to C3 and takes C2: C1 is black. Back on D3 it takes D2 and D4: D1 and D5 are black. Down on E3 it takes E2: E1 is
  black.
- B3 steps down to C3 and takes C2 and B2. From C3 no stone reaches B2; the stone has to step back up: B1 is black, and so is B3.
- C4 and E4 can step left, so they are black, and C3 and E3 are empty.

Nothing is said of A1, A5, B5, C5 and E5. And the text contradicts itself: it lists five moves of Black and says these are all,
but table 5.4 has B3-down, which is not among them.
"""

import itertools
from dataclasses import dataclass

from azlab.games.game import Position
from azlab.games.seega import Seega

KNOWN = "?XO.?  XOXX?  XO.X?  XOXOX  XO.X?"  # ? for the cells of which nothing is said
FREE = ("A1", "A5", "B5", "C5", "E5")
MOST = 12  # stones of a side
CHOSEN = "OOOOO"  # in the cells that are free: White's, so that Black has no further moves
# Black's moves can be as listed if B1, B2 and B3 have the other colour each; then two rows of table 5.4 are impossible.
OTHER = "OXO.O  OXOXO  XO.XO  XOXOX  XO.XO"
LISTED = ("B4-up", "C4-left", "D3-up", "D3-down", "E4-left")


@dataclass(frozen=True)
class Fact:
    """Something the text says of the board: a move and its continuations, and the stones that each takes."""

    where: str
    moves: tuple[str, ...]
    taken: tuple[frozenset[str], ...]

    @property
    def stones(self) -> int:
        return sum(map(len, self.taken))


def _fact(where: str, line: str) -> Fact:
    """From a line such as "D3-up C2, C3-down D2 D4"."""
    steps = [step.split() for step in line.split(",")]
    return Fact(where, tuple(step[0] for step in steps), tuple(frozenset(step[1:]) for step in steps))


FACTS = {
    "B3-down": _fact("table 5.4, depths 2 and 6", "B3-down C2, C3-up B2"),
    "B4-up": _fact("table 5.4, depth 4", "B4-up A3"),
    "D3-up": _fact("figure 5.2, and table 5.4, depth 8", "D3-up C2, C3-down D2 D4, D3-down E2"),
}
TABLE = {2: "B3-down", 4: "B4-up", 6: "B3-down", 8: "D3-up"}  # table 5.4: depth and move


def diagram(free: str = CHOSEN, known: str = KNOWN) -> str:
    """The board with the marks of the cells that are free, a line for each row."""
    marks = iter(free)
    return "\n".join("".join(next(marks) if mark == "?" else mark for mark in row) for row in known.split())


def position(board: str, **options: object) -> Position:
    """A board with Black to move."""
    return Seega(**options).from_diagram(board)  # type: ignore[arg-type]


def taken_by(before: Position, after: Position) -> frozenset[str]:
    """The cells from which the enemy stones of the player to move vanished."""
    size, other = before.game.planes_shape[1], 1 - before.to_move
    gone = (before.state["board"][0] == other) & (after.state["board"][0] != other)
    return frozenset(f"{'ABCDEFGHI'[cell // size]}{cell % size + 1}" for cell in gone.reshape(-1).nonzero()[0])


def holds(fact: Fact, start: Position) -> bool:
    """Whether its moves can be played on a board and take just these stones."""
    here = start
    for move, taken in zip(fact.moves, fact.taken, strict=True):
        if here.to_move != start.to_move or move not in here.legal_moves:
            return False
        after = here.play(move)
        if taken_by(here, after) != taken:
            return False
        here = after
    return True


def fits(start: Position) -> dict[str, bool]:
    """What the text says, and whether it is so on a board."""
    found = {f"{move} takes {fact.stones}": holds(fact, start) for move, fact in FACTS.items()}
    found["the five moves are legal"] = set(LISTED) <= set(start.legal_moves)
    found["and there is no other"] = len(start.legal_moves) == len(LISTED)
    return found


def completions() -> list[str]:
    """All boards on which every capture of the text happens and the five moves are legal, CHOSEN first."""
    found = ["".join(marks) for marks in itertools.product("OX.", repeat=len(FREE))]
    boards = [diagram(marks) for marks in found if diagram(marks).count("X") <= MOST]
    return [board for board in boards if all(list(fits(position(board)).values())[:-1])]


def most_captured(start: Position) -> dict[str, int]:
    """Stones that each move can take with all its continuations."""
    enemy = 1 - start.to_move

    def line(here: Position, move: str) -> int:
        after = here.play(move)
        taken = int(here.state["stones"][0, enemy]) - int(after.state["stones"][0, enemy])
        goes_on = not after.over and after.state["chain"][0] >= 0  # else the turn is over
        return taken + max((line(after, on) for on in after.legal_moves if goes_on), default=0)

    return {move: line(start, move) for move in start.legal_moves}
