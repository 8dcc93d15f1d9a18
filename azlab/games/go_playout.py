"""Random games of Go, quickly: the playouts of `go` on a board that keeps what `stones.py` works out anew each time.

`stones.py` finds a chain and its liberties by walking over the stones, whenever it is asked. That is easy to read and quick
enough for a game, but a playout asks at every move. So here a record, `FAST_BOARD`, is kept up to date from move to move:

- `near`: how many neighbours of each point are empty, black and white, as three digits of one number. The border counts as black
  and as white, so a point is surrounded by Black where the black digit is 4.
- `chain`: the chain of each stone, named after one of its stones. Where two chains join, the smaller one is renamed; for that the
  stones of a chain are a ring, in which each knows the `following` one.
- `liberties`: the *pseudo-liberties* of each chain. A liberty is an empty point beside the chain; a pseudo-liberty is a pair of a
  stone of the chain and an empty point beside that stone, so a point that touches the chain twice counts twice.

Pseudo-liberties take the place of liberties because they are kept by adding and subtracting alone. A new stone takes one from
the chain of each of its four neighbours, and it does not matter whether two of these are the same chain; a stone that is taken
off gives one back to each. And they tell all that a random game has to know: a chain has no liberty when it has no
pseudo-liberty, and a point is the last liberty of a chain when a stone there would take its last pseudo-liberty. (libEGO, a
program in C++ by Łukasz Lew, keeps them too.) An empty point or a border place is a chain of its own whose number means nothing:
that saves asking which neighbours are stones.

The plain version is `playout` in `go.py`. Both make the same moves from the same random numbers; the tests compare every bit.
"""

import numpy as np

from azlab.games.kernel import kernel, note, random_below
from azlab.games.stones import BORDER, EMPTY, KEYS, action_of_point, area, empty_board, record, situation

PLACES = len(empty_board(19))  # room for the largest board; smaller ones use the first places

FAST_BOARD = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("stride", np.int64),
                ("free", np.int64),  # how many points are empty: those in empty[:free], in no order
                ("empty", np.uint16, (PLACES,)),
                ("captured", np.uint16, (PLACES,)),  # the points of the stones that the last move took off
                ("board", np.int8, (PLACES,)),  # as in stones.py
                ("near", np.uint16, (PLACES,)),
                ("chain", np.uint16, (PLACES,)),
                ("following", np.uint16, (PLACES,)),
                ("stones", np.uint16, (PLACES,)),  # of a chain: how many it has
                ("liberties", np.int16, (PLACES,)),  # of a chain: its pseudo-liberties
            ],
            align=True,
        ),
    )
)  # type: ignore[arg-type]

COUNTS = np.array([0x010, 0x100, 0x001, 0x110], np.int16)  # what a black, white, empty and border place adds to `near`
EMPTY_ONES = 0xF  # the digit of the empty neighbours


def part(function):
    """A kernel that is copied into those that call it: called for every point that is tried, it would cost more than it does."""
    return kernel(function, inline=True)


@part
def neighbours(fast, point):
    """The four places beside a point."""
    return point + 1, point - 1, point + fast.stride, point - fast.stride


@part
def surrounded(near, colour):
    """Whether all four neighbours, which `near` counts, are stones of `colour` or border."""
    return (near >> (4 + 4 * colour)) & 0xF == 4


@part
def join(fast, one, other):
    """Make one chain of two. The smaller one is renamed: a stone then changes its chain seldom."""
    if fast.stones[one] < fast.stones[other]:
        one, other = other, one
    fast.stones[one] += fast.stones[other]
    fast.liberties[one] += fast.liberties[other]
    place = other
    while fast.chain[place] != one:
        fast.chain[place] = one
        place = fast.following[place]
    fast.following[one], fast.following[other] = fast.following[other], fast.following[one]  # two rings become one


@kernel
def set_up(fast, board, stride):
    """Work out all that the fast board keeps, for any board on which every chain has a liberty."""
    fast.stride, fast.free = stride, 0
    for place in range(len(board)):
        fast.board[place] = board[place]
        fast.chain[place] = fast.following[place] = place
        fast.stones[place], fast.liberties[place], fast.near[place] = 1, 0, 0
    for point in range(stride + 1, len(board) - stride):
        near = COUNTS[board[point + 1]] + COUNTS[board[point - 1]] + COUNTS[board[point + stride]] + COUNTS[board[point - stride]]
        fast.near[point], fast.liberties[point] = near, near & EMPTY_ONES
        if board[point] == EMPTY:
            fast.empty[fast.free] = point
            fast.free += 1
        elif board[point] != BORDER:
            for before in (point - 1, point - stride):
                if board[before] == board[point] and fast.chain[before] != fast.chain[point]:
                    join(fast, fast.chain[before], fast.chain[point])


@part
def remove_chain(fast, point, count):
    """Take the chain at `point` off and append its points to `captured[count:]`; return the new count."""
    board, colour = fast.board, fast.board[point]
    change = COUNTS[EMPTY] - COUNTS[colour]
    board[point] = EMPTY
    fast.captured[count] = point
    done = count
    count += 1
    while done < count:
        place = fast.captured[done]
        fast.chain[place] = place
        for beside in neighbours(fast, place):
            fast.near[beside] += change
            fast.liberties[fast.chain[beside]] += 1
            if board[beside] == colour:
                board[beside] = EMPTY
                fast.captured[count] = beside
                count += 1
        done += 1
    return count


@part
def place_stone(fast, point, colour):
    """Put a stone down and take off what it captures: `captured[:n]`. Return (n, the ko point or 0)."""
    board, near = fast.board, fast.near[point]
    beside_it = neighbours(fast, point)
    board[point] = colour
    fast.following[point], fast.stones[point], fast.liberties[point] = point, 1, near & EMPTY_ONES
    change = COUNTS[colour] - COUNTS[EMPTY]
    for beside in beside_it:
        fast.near[beside] += change
        fast.liberties[fast.chain[beside]] -= 1
    count = 0
    for beside in beside_it:
        if board[beside] == colour:
            if fast.chain[beside] != fast.chain[point]:
                join(fast, fast.chain[beside], fast.chain[point])
        elif board[beside] == 1 - colour and fast.liberties[fast.chain[beside]] == 0:
            count = remove_chain(fast, beside, count)
    # Ko: a lone stone took exactly one stone and its only liberty is the point just vacated.
    return count, np.int64(fast.captured[0]) if count == 1 and surrounded(near, 1 - colour) else np.int64(0)


@part
def may_fill(fast, point, colour):
    """Whether `colour` may play on a point without an empty neighbour: it captures, or joins a chain with another liberty."""
    beside_it = neighbours(fast, point)
    for beside in beside_it:  # as if the stone lay there
        fast.liberties[fast.chain[beside]] -= 1
    may = False
    for beside in beside_it:
        left = fast.liberties[fast.chain[beside]]
        may |= (fast.board[beside] == colour and left > 0) or (fast.board[beside] == 1 - colour and left == 0)
    for beside in beside_it:
        fast.liberties[fast.chain[beside]] += 1
    return may


@part
def is_safe_eye(fast, point, colour):
    """See `stones.is_safe_eye`."""
    if not surrounded(fast.near[point], colour):
        return False
    enemies, at_edge = 0, 0
    for step in (fast.stride + 1, fast.stride - 1, -fast.stride + 1, -fast.stride - 1):
        enemies += fast.board[point + step] == 1 - colour
        at_edge |= fast.board[point + step] == BORDER
    return enemies + at_edge < 2


@part
def is_candidate(fast, point, colour, ko):
    """Whether random play may choose the empty `point`: legal, and no safe eye of its own."""
    if point == ko:
        return False
    if fast.near[point] & EMPTY_ONES:
        return True
    return not is_safe_eye(fast, point, colour) and may_fill(fast, point, colour)


@part
def random_candidate(fast, colour, ko, rng, i, untried):
    """Draw points from `empty[:untried]` until one is a candidate. Points that failed are moved behind those.

    Return (its index, or -1 if there is none; the number of points still untried).
    """
    while untried:
        k = random_below(rng, i, untried)
        point = fast.empty[k]
        untried -= 1
        fast.empty[k], fast.empty[untried] = fast.empty[untried], point
        if is_candidate(fast, point, colour, ko):
            return untried, untried
    return -1, 0


@part
def play_one(fast, state, k):
    """Play `empty[k]`, or pass if k < 0. The board of the state itself waits for the end of the game."""
    if k < 0:
        state.passes += 1
        state.ko = 0
    else:
        point = fast.empty[k]
        fast.free -= 1
        fast.empty[k] = fast.empty[fast.free]
        taken, state.ko = place_stone(fast, point, state.to_move)
        for j in range(taken):
            fast.empty[fast.free + j] = fast.captured[j]
        fast.free += taken
        state.passes = 0
    state.to_move = 1 - state.to_move
    state.ply += 1
    state.over = state.passes == 2 or state.ply == state.max_moves


@part
def write_down(trace, i, turn, fast, k):
    """Note the move `empty[k]` (the pass if k < 0), if anyone wants to know it."""
    if turn < trace.shape[1]:
        note(trace, i, turn, action_of_point(fast.empty[k] if k >= 0 else 0, fast.stride))


@kernel
def finish(fast, state, marks, stack):
    """Give the state its board back and count the area."""
    state.board[:] = fast.board[: len(state.board)]
    black, white = area(state.board, state.stride, marks, stack)
    state.result = np.sign(black - white - state.komi)


@kernel
def play_to_the_end(fasts, states, i, rng, trace, marks, stack):
    """The playout of one state. `fasts` is an array because Numba frees an array of which only a record is still used."""
    fast, state = fasts[0], states[i]
    set_up(fast, state.board, state.stride)
    start = state.ply
    while not state.over:
        k, _ = random_candidate(fast, state.to_move, state.ko, rng, i, fast.free)
        write_down(trace, i, state.ply - start, fast, k)
        play_one(fast, state, k)
    finish(fast, state, marks, stack)


@kernel
def playout(states, rng, trace):
    """See `Kernels`. Random play that never fills its own eyes and passes only when nothing else is left; it ends in time."""
    fasts = np.empty(1, FAST_BOARD)
    marks, stack = np.zeros(len(states[0].board), np.int64), np.empty(len(states[0].board), np.int64)
    for i in range(len(states)):
        if not states[i].over:
            play_to_the_end(fasts, states, i, rng, trace, marks, stack)


# --- superko: the same, and no position comes back ----------------------------------------------------------------

SEEN = (
    4096  # places of a table that says at once of nearly all positions that they are new; the last bits of a hash are the place
)


@part
def hash_after(fast, point, colour, board_hash):
    """The hash of the board, which is `board_hash` now, after a stone on `point`."""
    beside_it = neighbours(fast, point)
    board_hash ^= KEYS[colour, point]
    for beside in beside_it:  # as if the stone lay there
        fast.liberties[fast.chain[beside]] -= 1
    for beside in beside_it:
        chain = fast.chain[beside]
        if fast.board[beside] == 1 - colour and fast.liberties[chain] == 0:
            first = point
            for other in beside_it[::-1]:
                first = other if fast.chain[other] == chain else first
            if beside == first:  # a chain that the stone touches twice is taken once
                board_hash ^= hash_of_chain(fast, chain, 1 - colour)
    for beside in beside_it:
        fast.liberties[fast.chain[beside]] += 1
    return board_hash


@kernel
def hash_of_chain(fast, chain, colour):
    """The keys of its stones."""
    keys = KEYS[colour, chain]
    place = fast.following[chain]
    while place != chain:
        keys ^= KEYS[colour, place]
        place = fast.following[place]
    return keys


@part
def place_in_seen(wanted):
    """Where `seen` says whether a position with this hash may have been on the board."""
    return np.int64(wanted & np.uint64(SEEN - 1))


@kernel
def is_in_history(state, wanted):
    """Whether this position was on the board before."""
    for k in range(state.ply + 1):
        if state.history[k] == wanted:
            return True
    return False


@part
def random_new_candidate(fast, state, seen, rng, i):
    """As `random_candidate`, but no point whose stone would bring back a position. Return (its index or -1, the next hash)."""
    k, untried = random_candidate(fast, state.to_move, state.ko, rng, i, fast.free)
    while k >= 0:
        board_hash = hash_after(fast, fast.empty[k], state.to_move, state.hash)
        wanted = situation(board_hash, state, 1 - state.to_move)
        if not (seen[place_in_seen(wanted)] and is_in_history(state, wanted)):
            return k, board_hash
        k, untried = random_candidate(fast, state.to_move, state.ko, rng, i, untried)
    return k, state.hash


@kernel
def play_to_the_end_superko(fasts, states, i, rng, trace, seen, marks, stack):
    """See `play_to_the_end`."""
    fast, state = fasts[0], states[i]
    set_up(fast, state.board, state.stride)
    seen[:] = False
    for turn in range(state.ply + 1):
        seen[place_in_seen(state.history[turn])] = True
    start = state.ply
    while not state.over:
        k, board_hash = random_new_candidate(fast, state, seen, rng, i)
        write_down(trace, i, state.ply - start, fast, k)
        play_one(fast, state, k)
        record(state, board_hash)
        seen[place_in_seen(state.history[state.ply])] = True
    finish(fast, state, marks, stack)


@kernel
def playout_superko(states, rng, trace):
    """See `playout`."""
    fasts, seen = np.empty(1, FAST_BOARD), np.empty(SEEN, np.bool_)
    marks, stack = np.zeros(len(states[0].board), np.int64), np.empty(len(states[0].board), np.int64)
    for i in range(len(states)):
        if not states[i].over:
            play_to_the_end_superko(fasts, states, i, rng, trace, seen, marks, stack)
