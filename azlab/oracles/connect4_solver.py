"""Perfect Connect 4: an alpha-beta solver in one recursive function, `search`, and the small functions it asks.

A position is two words: `mine`, the stones of the player to move, and `mask`, all stones (bits as in `azlab.games.connect4`).

A *score* is for the player to move. It is positive if that player wins, and counts the stones that the winner has left,
the winning one included: a win with the winner's very last stone is 1, one stone earlier is 2. A loss is the same, negative;
a draw is 0. On 6 x 7 the first player wins from the empty board with the 41st stone, its last: score 1.

`search` does not ask for the score but whether it is at least `bound` (a "null window"); `solve` finds the score with a
few such questions. Whatever a search proves is kept in one table, for all later questions about all positions.

Everything lives in one record, `memory`. A record reaches a function as a single pointer; arrays as arguments would cost
a seventh of the speed, because Numba copies their descriptions and counts their references at every call.
"""

import numpy as np

from azlab.games.kernel import kernel

ONE, ZERO = np.uint64(1), np.uint64(0)
MOST_PLIES = 64
MOST_COLS = 32  # (rows + 1) * cols <= 64
TABLE_BITS = 24  # 2^24 entries of 8 bytes: 128 MB. For positions with 12 stones or more a quarter was as fast.
BOOK_PLY = 12  # the opening book lists the positions with this many stones
BOOK_ROOM = 4_200_899

MEMORY = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("bottom", np.uint64),  # the lowest cell of each column
                ("full", np.uint64),  # all cells
                ("upper", np.uint64),  # the top row and every second row below it: the last cells of pairs counted from the top
                ("height", np.int64),  # bits of a column: rows + 1
                ("cols", np.int64),
                ("cells", np.int64),  # their number (a record has a `size` of its own)
                ("nodes", np.int64),  # calls of `search` so far
                ("history", np.int64, (2, 64)),  # by seat and cell: how often a move there was good of late
                ("order", np.int64, (MOST_PLIES, MOST_COLS)),  # by ply: the moves to try, best first; see `order_moves`
                ("book_size", np.int64),  # 0 without a book
                ("book_codes", np.int32, (BOOK_ROOM,)),  # sorted
                ("book_scores", np.int8, (BOOK_ROOM,)),
                ("table", np.uint64, (1 << TABLE_BITS,)),  # see `store`
            ],
            align=True,
        ),
    )  # type: ignore[arg-type]
)


def new_memory(rows: int, cols: int) -> np.ndarray:
    """An empty memory for a board, an array of one record. The system hands out its pages when they are first written."""
    height = rows + 1
    bottom = sum(1 << col * height for col in range(cols))
    memory = np.zeros(1, MEMORY)
    memory["bottom"], memory["full"] = bottom, bottom * ((1 << rows) - 1)
    memory["upper"] = bottom * sum(1 << row for row in range(rows - 1, -1, -2))
    memory["height"], memory["cols"], memory["cells"] = height, cols, rows * cols
    return memory


# --- bits ---------------------------------------------------------------------------------------------------------


@kernel
def count_bits(x):
    """How many bits of `x` are set; the compiler knows this pattern and makes it one instruction."""
    x = x - ((x >> ONE) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def fourth_cells(x, step):
    """The cells that have three others of `x` in a line of four along `step`: before, after, or on both sides."""
    before = (x << step) & (x << (step + step))
    after = (x >> step) & (x >> (step + step))
    beyond_before, beyond_after = x << (step + step + step), x >> (step + step + step)
    return (before & (beyond_before | (x >> step))) | (after & ((x << step) | beyond_after))


@kernel
def winning_cells(stones, height):
    """The cells, empty or not, on the board or beyond its edge, that would complete four of `stones`."""
    up = (stones << np.uint64(1)) & (stones << np.uint64(2)) & (stones << np.uint64(3))
    if height > 16:  # fewer than four columns; shifts by 64 and more would mean nothing
        return up
    if height == 7:  # the usual board: with constants the shifts are faster
        across = fourth_cells(stones, np.uint64(7)) | fourth_cells(stones, np.uint64(6)) | fourth_cells(stones, np.uint64(8))
    else:
        step = np.uint64(height)
        across = fourth_cells(stones, step) | fourth_cells(stones, step - ONE) | fourth_cells(stones, step + ONE)
    return up | across


@kernel
def line_of_four(x, step):
    """The first cells of fours in `x` along `step`."""
    pairs = x & (x >> step)
    return pairs & (pairs >> (step + step))


@kernel
def has_four(x, height):
    """Whether the cells `x` hold four in a row."""
    step = np.uint64(height)
    across = line_of_four(x, step) | line_of_four(x, step - ONE) | line_of_four(x, step + ONE)
    return (across | line_of_four(x, ONE)) != ZERO


@kernel
def mirrored(memory, x):
    """The cells `x` seen in a mirror."""
    column = (ONE << np.uint64(memory.height)) - ONE
    seen = ZERO
    for col in range(memory.cols):
        seen = (seen << np.uint64(memory.height)) | ((x >> np.uint64(col * memory.height)) & column)
    return seen


@kernel
def playable(memory, mask):
    """The cells where a stone can be dropped: the addition carries up each column to its first empty cell."""
    return (mask + memory.bottom) & memory.full


# --- what has been proved before ----------------------------------------------------------------------------------


@kernel
def hashed(memory, mine, mask, ply):
    """A number for the position, different for different positions, with its high bits well mixed.

    mine + mask is such a number already, and to multiply by an odd number loses nothing. While there are few stones, a
    position shares its entry with its mirror image; later they hardly ever meet in one search.
    """
    key = mine + mask
    if ply <= BOOK_PLY:
        key = min(key, mirrored(memory, mine) + mirrored(memory, mask))
    return key * np.uint64(0x9E3779B97F4A7C15)


@kernel
def stored(memory, number):
    """What the table knows of a position: the score is in [low, high]; [-64, 64] if nothing.

    An entry is the low 48 bits of the position's number, then low + 64, then high + 64. The place in the table tells the other
    bits of the number, so another position is never mistaken for this one.
    """
    entry = memory.table[number >> np.uint64(64 - TABLE_BITS)]
    if entry == ZERO or (entry >> np.uint64(16)) << np.uint64(16) != number << np.uint64(16):
        return -64, 64
    return np.int64((entry >> np.uint64(8)) & np.uint64(255)) - 64, np.int64(entry & np.uint64(255)) - 64


@kernel
def store(memory, number, low, high):
    """Keep that the score is in [low, high], in place of whatever was there."""
    bounds = (np.uint64(low + 64) << np.uint64(8)) | np.uint64(high + 64)
    memory.table[number >> np.uint64(64 - TABLE_BITS)] = (number << np.uint64(16)) | bounds


@kernel
def book_code(memory, mine, mask):
    """The book's code of a position: column by column from the bottom, 10 for `mine`, 11 for the others, 0 ends a column."""
    code = 0
    for col in range(memory.cols):
        for row in range(memory.height - 1):
            cell = ONE << np.uint64(col * memory.height + row)
            if not mask & cell:
                break
            code = (code << 2) | (2 if mine & cell else 3)
        code <<= 1
    code <<= 1
    return code - (1 << 32) if code >= 1 << 31 else code  # the book holds signed numbers of 32 bits


@kernel
def book_score(memory, mine, mask):
    """The score of a position with 12 stones and no win at hand; 99 if the book lacks it."""
    for flip in range(2):
        if flip:
            mine, mask = mirrored(memory, mine), mirrored(memory, mask)
        code = book_code(memory, mine, mask)
        low, high = 0, memory.book_size
        while low < high:
            middle = (low + high) // 2
            if memory.book_codes[middle] < code:
                low = middle + 1
            else:
                high = middle
        if low < memory.book_size and memory.book_codes[low] == code:
            return np.int64(memory.book_scores[low])
    return 99


# --- what can be said without searching ---------------------------------------------------------------------------


@kernel
def safe_moves(memory, mine, mask, their_wins):
    """The moves after which the opponent cannot win at once; `their_wins` are the empty cells that would complete its fours."""
    moves = playable(memory, mask)
    forced = moves & their_wins
    if forced:
        if forced & (forced - ONE):  # two wins to stop at once
            return ZERO
        moves = forced
    return moves & ~(their_wins >> ONE)  # never right below a cell where the opponent wins


@kernel
def follow_up_bound(memory, mine, mask, their_wins):
    """An upper bound of the score from the simplest plan of the opponent: always to answer in the same column.

    If every column has an even number of empty cells, the plan works to the end: the player to move gets the first cell of
    every pair, the opponent the second ("claimeven"). Without a four in the first cells the player to move cannot
    win, and with a four in the second ones the opponent does. If one column has an odd number, the plan still works where
    the opponent wins on a second cell of that column: sooner or later the player to move must go below it (zugzwang).
    """
    height = memory.height
    theirs, empty = mine ^ mask, memory.full ^ mask
    odd = playable(memory, mask) & memory.upper  # the next cells of columns with odd room
    if odd == ZERO:
        if has_four(mine | (empty & ~memory.upper), height):
            return 64
        return -1 if has_four(theirs | (empty & memory.upper), height) else 0
    if odd & (odd - ONE):
        return 64
    column = memory.full & ~(memory.full + odd)  # the empty cells of the odd column: the carry runs up through them
    win = their_wins & column & ~memory.upper
    if win == ZERO:
        return 64
    win &= ZERO - win  # the lowest
    below = column & (win - ONE)
    if has_four(mine | (empty & ~column & ~memory.upper) | (below & memory.upper), height):
        return 64
    latest = memory.cells - count_bits(column & ~(win | below))  # stones on the board when all but the cells above are taken
    return -((memory.cells + 2 - latest) // 2)


# --- the search ---------------------------------------------------------------------------------------------------

THREAT_WEIGHT = 512  # what a new threat counts in the order of moves
CENTRE_WEIGHT = 256  # what one column nearer to the centre counts at first
HISTORY_LIMIT, HISTORY_SPEED = 4096, 6  # each surprise moves an entry by 1/2^6 of its way to the limit
ETC_PLIES_LEFT = 16  # nearer to the end it is quicker to search than to look up every child


@kernel
def forget_history(memory):
    """Before each new position: moves near the centre come first until the search knows better."""
    for seat in range(2):
        for cell in range(memory.cols * memory.height):
            col = cell // memory.height
            memory.history[seat, cell] = CENTRE_WEIGHT * min(col, memory.cols - 1 - col)


@kernel
def note_surprise(memory, ply, index):
    """The move at `index` of the order was good enough and those before it were not: move their history."""
    seat = ply & 1
    for i in range(index + 1):
        cell = memory.order[ply, i] & 63
        if i == index:
            memory.history[seat, cell] += (HISTORY_LIMIT - memory.history[seat, cell]) >> HISTORY_SPEED
        else:
            memory.history[seat, cell] -= (HISTORY_LIMIT + memory.history[seat, cell]) >> HISTORY_SPEED


@kernel
def order_moves(memory, mine, mask, ply, moves, bound):
    """Sort `moves` into memory.order[ply] as weight * 64 + cell, best first, and return 64.

    If one of them is seen to be good enough, return the score that it proves instead.
    """
    theirs = mine ^ mask
    look_up = ply < memory.cells - ETC_PLIES_LEFT
    count = 0
    while moves:
        move = moves & (ZERO - moves)
        moves ^= move
        after = mask | move
        threats = winning_cells(mine | move, memory.height) & (memory.full ^ after)
        direct = threats & playable(memory, after)
        if direct & (direct - ONE) or (direct << ONE) & threats:
            return (memory.cells - 1 - ply) // 2  # two threats at once, or one above the other: a win two plies on
        if look_up:
            high = stored(memory, hashed(memory, theirs, after, ply + 1))[1]
            if -high >= bound:
                return -high
        cell = count_bits(move - ONE)
        item = ((THREAT_WEIGHT * count_bits(threats) + memory.history[ply & 1, cell]) << 6) + cell
        place = count
        while place > 0 and memory.order[ply, place - 1] < item:
            memory.order[ply, place] = memory.order[ply, place - 1]
            place -= 1
        memory.order[ply, place] = item
        count += 1
    return 64


@kernel
def search(memory, mine, mask, ply, bound):
    """Whether the score is at least `bound`: a lower bound of it that is >= `bound`, or an upper bound that is below.

    The player to move must have no win at hand.
    """
    memory.nodes += 1
    size = memory.cells
    theirs, empty = mine ^ mask, memory.full ^ mask
    their_wins = winning_cells(theirs, memory.height) & empty
    moves = safe_moves(memory, mine, mask, their_wins)
    if moves == ZERO:
        return -((size - ply) // 2)  # the opponent wins with its next stone
    if ply >= size - 2:
        return 0
    low, high = -((size - 2 - ply) // 2), (size - 1 - ply) // 2  # nobody wins within two plies
    if low >= bound:
        return low
    if high < bound:
        return high
    if ply == BOOK_PLY and memory.book_size:
        score = book_score(memory, mine, mask)
        if score != 99:
            return score
    number = hashed(memory, mine, mask, ply)
    known_low, known_high = stored(memory, number)
    if known_low >= bound:
        return known_low
    if known_high < bound:
        return known_high
    if bound > 0 and not has_four(mine | empty, memory.height):
        return 0
    follow_up = follow_up_bound(memory, mine, mask, their_wins)
    if follow_up < bound:
        return follow_up
    seen = order_moves(memory, mine, mask, ply, moves, bound)
    if seen < 64:
        return seen
    best = -64
    for i in range(count_bits(moves)):
        move = ONE << np.uint64(memory.order[ply, i] & 63)
        best = max(best, -search(memory, theirs, mask | move, ply + 1, 1 - bound))
        if best >= bound:
            if i:
                note_surprise(memory, ply, i)
            store(memory, number, max(best, known_low), min(high, known_high))
            return best
    store(memory, number, max(low, known_low), min(best, known_high))
    return best


# --- questions ----------------------------------------------------------------------------------------------------


@kernel
def at_least(memory, mine, mask, ply, bound):
    """Like `search`, for any position that is not over or is a full board."""
    if winning_cells(mine, memory.height) & playable(memory, mask):
        return (memory.cells + 1 - ply) // 2
    if ply == memory.cells:
        return 0
    return search(memory, mine, mask, ply, bound)


@kernel
def solve(memory, mine, mask, ply):
    """The score: first whether it is a win, a loss or a draw, then how soon.

    From a draw outwards one by one: to halve the range takes fewer questions, but they are harder and take longer.
    """
    low, high = -((memory.cells - ply) // 2), (memory.cells + 1 - ply) // 2
    while low < high:
        bound = max(low + 1, min(high, 1))
        proved = at_least(memory, mine, mask, ply, bound)
        if proved >= bound:
            low = proved
        else:
            high = proved
    return low


ILLEGAL, WORSE = -128, -127  # what `score_moves` and `find_best` write for columns that are full, and for moves that are not best


@kernel
def score_moves(memory, mine, mask, ply, scores):
    """The score after a move in each column, for the player to move: int8 [cols]."""
    forget_history(memory)
    wins = winning_cells(mine, memory.height)
    column = (ONE << np.uint64(memory.height)) - ONE
    for col in range(memory.cols):
        move = playable(memory, mask) & (column << np.uint64(col * memory.height))
        if move == ZERO:
            scores[col] = ILLEGAL
        elif move & wins:
            scores[col] = (memory.cells + 1 - ply) // 2
        else:
            scores[col] = -solve(memory, mine ^ mask, mask | move, ply + 1)


@kernel
def find_best(memory, mine, mask, ply, scores):
    """As `score_moves`, but only for the best moves; of the others it is only proved that they are worse."""
    forget_history(memory)
    wins = winning_cells(mine, memory.height)
    column = (ONE << np.uint64(memory.height)) - ONE
    best = solve(memory, mine, mask, ply)
    for col in range(memory.cols):
        move = playable(memory, mask) & (column << np.uint64(col * memory.height))
        if move == ZERO:
            scores[col] = ILLEGAL
        elif move & wins:
            scores[col] = best
        else:
            proved = -at_least(memory, mine ^ mask, mask | move, ply + 1, 1 - best)
            scores[col] = best if proved >= best else WORSE


@kernel
def first_best(memory, mine, mask, ply, order):
    """The first column of `order`, int64 [columns that are not full], that is a best move.

    In a random order this is a random one of the best moves, and on average half of the others need not be refuted.
    """
    forget_history(memory)
    wins = winning_cells(mine, memory.height)
    column = (ONE << np.uint64(memory.height)) - ONE
    best = solve(memory, mine, mask, ply)
    for i in range(len(order) - 1):
        move = playable(memory, mask) & (column << np.uint64(order[i] * memory.height))
        if move & wins:
            return order[i]
        if -at_least(memory, mine ^ mask, mask | move, ply + 1, 1 - best) >= best:
            return order[i]
    return order[len(order) - 1]  # one of them is


@kernel
def score_position(memory, mine, mask, ply):
    """The score of a position that is not over."""
    forget_history(memory)
    return solve(memory, mine, mask, ply)
