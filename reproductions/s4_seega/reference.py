"""Minimax on Seega once more, small and separate from `azlab.search`, in the five ways that S4 may have meant by "depth".

S4 says neither what a level of its search is nor whether its search knows that a stone may go on capturing. So there are

- `no chains`: the turn passes after every step;
- `steps`: a chain is searched, and every step of it, and its end, is a level; going on is optional or mandatory;
- `turns`: a chain is searched and is one level as a whole, optional or mandatory.

At the horizon the difference in stones counts. A side with fewer than two stones has lost, the sooner the worse; a side that
cannot move is passed over. Boards are sets of cells, bit 5*row + column. Alpha-beta leaves the value of every move at the root
exact, since each gets the full window.
"""

import numpy as np

from azlab.games.game import Position
from azlab.games.kernel import kernel
from azlab.games.seega import CHAIN_MANDATORY, CHAIN_NONE, CHAIN_OPTIONAL, DIRECTIONS

SIZE, CELLS = 5, 25
STOP = 4 * CELLS  # the action that ends a chain
LEAST = 2
WON = 100  # more than any difference in stones
NONE = -1
ROOM = 64  # a line has at most 8 levels, 24 captures and 24 ends of chains
OWN, OTHER, CHAIN, LEFT, LOW, HIGH, BEST, NEXT, AGAIN = range(9)  # of a frame: a position, its window and what was tried
WAYS = {
    "no chains": (CHAIN_NONE, False),
    "steps, optional": (CHAIN_OPTIONAL, False),
    "steps, mandatory": (CHAIN_MANDATORY, False),
    "turns, optional": (CHAIN_OPTIONAL, True),
    "turns, mandatory": (CHAIN_MANDATORY, True),
}  # how chains are searched: the rule, and whether a whole turn is a level


def _neighbours() -> np.ndarray:
    """The cell beside each cell in each direction, or NONE: int64 [cells, 4]."""
    found = np.full((CELLS, 4), NONE)
    for cell in range(CELLS):
        row, col = divmod(cell, SIZE)
        for direction, (down, right) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
            if 0 <= row + down < SIZE and 0 <= col + right < SIZE:
                found[cell, direction] = cell + SIZE * down + right
    return found


BESIDE = _neighbours()


@kernel
def count(cells):
    """How many cells a set has."""
    found = 0
    while cells:
        cells &= cells - 1
        found += 1
    return found


@kernel
def captured(own, other, cell):
    """The enemy stones that a stone of `own` which has just come to `cell` takes, as a set."""
    taken = 0
    for direction in range(4):
        near = BESIDE[cell, direction]
        far = BESIDE[near, direction] if near != NONE else NONE
        if far != NONE and other >> near & 1 and own >> far & 1:
            taken |= 1 << near
    return taken


@kernel
def target(own, other, cell, direction):
    """Where the stone on `cell` comes by a step, or NONE if it cannot."""
    to = BESIDE[cell, direction]
    if not own >> cell & 1 or to == NONE or (own | other) >> to & 1:
        return NONE
    return to


@kernel
def can_move(own, other):
    """Whether any stone of `own` can step."""
    for cell in range(CELLS):
        for direction in range(4):
            if target(own, other, cell, direction) != NONE:
                return True
    return False


@kernel
def can_capture(own, other, cell):
    """Whether the stone on `cell` can capture by its next step."""
    for direction in range(4):
        to = target(own, other, cell, direction)
        if to != NONE and captured(own & ~(1 << cell), other, to):
            return True
    return False


@kernel
def after(own, other, chain, action, depth, rule, by_turn):
    """What follows from a step, 4*cell + direction, or from the stop of a chain, STOP: own and other stones, the stone of the
    chain or NONE, the levels left, and whether the same side goes on. What is not possible leaves -1 levels."""
    taken = 0
    to = NONE
    if action != STOP:
        cell = action // 4
        to = target(own, other, cell, action % 4)
        if to == NONE or (chain != NONE and cell != chain):
            return own, other, NONE, -1, False
        own = own & ~(1 << cell)
        taken = captured(own, other, to)
        if chain != NONE and not taken:
            return own, other, NONE, -1, False
        own |= 1 << to
        other &= ~taken
    elif chain == NONE or rule != CHAIN_OPTIONAL:
        return own, other, NONE, -1, False
    if count(other) < LEAST:
        return own, other, NONE, depth - 1, True  # won, and nobody moves any more
    if taken and rule != CHAIN_NONE and can_capture(own, other, to):
        return own, other, to, depth if by_turn else depth - 1, True
    return own, other, NONE, depth - 1, not can_move(other, own)


@kernel
def enter(frame, own, other, chain, left, low, high, is_again):
    """Begin a position: what is known of it, nothing tried yet."""
    frame[OWN], frame[OTHER], frame[CHAIN], frame[LEFT] = own, other, chain, left
    frame[LOW], frame[HIGH], frame[BEST], frame[NEXT], frame[AGAIN] = low, high, -2 * WON, 0, is_again


@kernel
def value(own, other, chain, depth, rule, by_turn):
    """The value for `own`, who is to move: at the beginning of a turn, or in a chain with the stone on `chain`."""
    frames = np.empty((ROOM, 9), np.int64)  # the positions of the line that is tried
    top = 0
    enter(frames[0], own, other, chain, depth, -2 * WON, 2 * WON, False)
    while True:
        frame = frames[top]
        own, other, left = frame[OWN], frame[OTHER], frame[LEFT]
        if count(other) < LEAST:
            worth = WON + left
        elif left == 0:
            worth = count(own) - count(other)
        elif frame[NEXT] > STOP or frame[BEST] >= frame[HIGH]:
            worth = frame[BEST]
        else:
            frame[NEXT] += 1
            mine, theirs, going_on, rest, is_again = after(own, other, frame[CHAIN], frame[NEXT] - 1, left, rule, by_turn)
            if rest >= 0:
                top += 1
                low, high = max(frame[LOW], frame[BEST]), frame[HIGH]
                if is_again:
                    enter(frames[top], mine, theirs, going_on, rest, low, high, True)
                else:
                    enter(frames[top], theirs, mine, NONE, rest, -high, -low, False)
            continue
        if top == 0:
            return worth
        top -= 1
        frames[top, BEST] = max(frames[top, BEST], worth if frame[AGAIN] else -worth)


def move_values(start: Position, depth: int, way: str) -> dict[str, int]:
    """The exact value of every step of the player to move, at the beginning of a turn, in the order of their numbers."""
    cells = start.state["board"][0].reshape(-1)
    own, other = (sum(1 << int(cell) for cell in np.flatnonzero(cells == seat)) for seat in (start.to_move, 1 - start.to_move))
    rule, by_turn = WAYS[way]
    found = {}
    for action in range(STOP):
        mine, theirs, chain, left, is_again = after(own, other, NONE, action, depth, rule, by_turn)
        if left >= 0:
            if is_again:
                worth = value(mine, theirs, chain, left, rule, by_turn)
            else:
                worth = -value(theirs, mine, NONE, left, rule, by_turn)
            found[f"{'ABCDE'[action // 20]}{action // 4 % 5 + 1}-{DIRECTIONS[action % 4]}"] = int(worth)
    return found


def best_moves(start: Position, depth: int, way: str) -> list[str]:
    """All moves that are best, in the order of their numbers."""
    values = move_values(start, depth, way)
    return [move for move, worth in values.items() if worth == max(values.values())]
