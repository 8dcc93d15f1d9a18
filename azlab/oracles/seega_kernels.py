"""The kernels behind Seega's tables of perfect play: what captures are worth, and a hunt through the quiet moves.

All boards with h stones of one side, the hunter, and n - h of the other are numbered by `seega_boards`: entry row * C(n, h) +
rank of the hunter's stones. Each has two entries, in the array `hunter` with the hunter to move and in `other` with the other
side to move.

`captures_worth` looks one turn ahead, through chains of captures, into the finished tables of fewer stones. `hunt` then finds,
for the moves that take nothing, how many of them the hunter needs to force what it wants. The hunter's entry gets depth k if one
move leads to an entry of the other side with depth k - 1; the other's entry gets depth k if every move leads to one below k. Pass
k looks only at rows beside rows that changed in pass k - 1, and reads only depths below k, so that threads which work on
different rows at the same time always find the same.
"""

import numpy as np

from azlab.games.kernel import kernel
from azlab.games.seega import CHAIN_NONE, CHAIN_OPTIONAL

LOSS, DRAW, WIN = 0, 1, 2  # of the side to move, two bits each in packed tables
LONGEST = 32  # captures of one chain; a board has fewer stones


@kernel
def bits_in(boards, cells):
    """How many bits a set of cells has."""
    return boards.bits[cells & ((1 << boards.low) - 1)] + boards.bits[cells >> boards.low]


@kernel
def place_of(boards, cells, stones):
    """8 * row + symmetry of a set of `stones` occupied cells."""
    below, above = cells & ((1 << boards.low) - 1), cells >> boards.low
    up = boards.bits[above]
    number = boards.base[stones, up] + boards.rank[above] * boards.choose[boards.low, stones - up] + boards.rank[below]
    return np.int64(boards.where[number])


@kernel
def image_of(boards, symmetry, cells):
    """What a symmetry makes of a set of cells."""
    below, above = cells & ((1 << boards.low) - 1), cells >> boards.low
    return np.int64(boards.image_low[symmetry, below] | boards.image_high[symmetry, above])


@kernel
def index_of(boards, own, other):
    """The entry of a board in the table of its class, seen by the side with the stones `own`."""
    stones = bits_in(boards, own | other)
    place = place_of(boards, own | other, stones)
    own_image = image_of(boards, place & 7, own)
    occupied = np.int64(boards.rows[boards.first_row[stones] + (place >> 3)])
    rank = np.int64(0)
    chosen = 0
    while own_image:
        lowest = own_image & -own_image
        chosen += 1
        rank += boards.choose[bits_in(boards, occupied & (lowest - 1)), chosen]
        own_image ^= lowest
    return (place >> 3) * boards.choose[stones, chosen] + rank


@kernel
def index_all(boards, own, other, indices):
    """The entries of many boards: int64 [B] each."""
    for i in range(len(own)):
        indices[i] = index_of(boards, own[i], other[i])


# --- captures -----------------------------------------------------------------------------------------------------


@kernel
def taken_at(boards, own, foe, at):
    """The set of enemy stones that a stone just arrived `at` encloses."""
    taken = np.int64(0)
    for d in range(4):
        if boards.near[at, d] & foe and boards.far[at, d] & own:
            taken |= boards.near[at, d]
    return taken


@kernel
def taken_by_step(boards, own, foe, at, d):
    """What the stone `at` would take by stepping in direction d; nothing if it cannot step."""
    to = boards.step[at, d]
    if to < 0 or (own | foe) >> to & 1:
        return np.int64(0)
    return taken_at(boards, own ^ (1 << at) ^ (1 << to), foe, to)


@kernel
def worth_of_turn(boards, known, start, own, foe, at, chain_rule, least, stack):
    """The most that the mover can get once the stone now `at` has taken something: LOSS, DRAW or WIN.

    `known` has two bits for each entry of smaller classes, from start[stones of the side to move, of the other side] on. `stack`
    is int64 [LONGEST, 4]: own stones, enemy stones, cell and next direction along the chain that is being tried.
    """
    best = LOSS
    top = 0
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = own, foe, at, -1
    while top >= 0:
        own, foe, at, d = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if d < 0:  # here for the first time
            enemies = bits_in(boards, foe)
            if enemies < least:
                return WIN
            can_go_on = False
            if chain_rule != CHAIN_NONE:
                for direction in range(4):
                    can_go_on |= taken_by_step(boards, own, foe, at, direction) != 0
            if not can_go_on or chain_rule == CHAIN_OPTIONAL:
                entry = start[enemies, bits_in(boards, own)] + index_of(boards, foe, own)
                best = max(best, WIN - (known[entry >> 2] >> 2 * (entry & 3) & 3))
                if best == WIN:
                    return best
            stack[top, 3] = 0 if can_go_on else 4
        elif d == 4:
            top -= 1
        else:
            stack[top, 3] += 1
            taken = taken_by_step(boards, own, foe, at, d)
            if taken:
                to = boards.step[at, d]
                top += 1
                stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = own ^ (1 << at) ^ (1 << to), foe ^ taken, to, -1
    return best


@kernel
def list_moves(boards, occupied, stones, cells, moves):
    """All steps on a row into `moves` int64 [M, 10]; returns their number M and the set of stones (as a mask) that can step.

    A move is: stone, cell it comes to, row and symmetry of the cells occupied then, and three pairs of masks: an enemy stone that
    would be taken if the second mask is an own stone. A mask has a bit for each stone, `cells` int64 [stones] says where it
    stands.
    """
    count, mobile, stone = 0, 0, 0
    for cell in range(len(boards.step)):
        if occupied >> cell & 1:
            cells[stone] = cell
            stone += 1
    for stone in range(stones):
        for d in range(4):
            to = boards.step[cells[stone], d]
            if to < 0 or occupied >> to & 1:
                continue
            mobile |= 1 << stone
            place = place_of(boards, occupied ^ (1 << cells[stone]) ^ (1 << to), stones)
            move = moves[count]
            move[0], move[1], move[2], move[3] = stone, to, place >> 3, place & 7
            move[4:] = 0
            pair = 4
            for e in range(4):
                near, far = boards.near[to, e], boards.far[to, e]
                if near & occupied and far & occupied and boards.step[to, e] != cells[stone]:
                    move[pair] = 1 << bits_in(boards, occupied & (near - 1))
                    move[pair + 1] = 1 << bits_in(boards, occupied & (far - 1))
                    pair += 2
            count += 1
    return count, mobile


@kernel
def takes(move, own):
    """Whether a move takes something if the mask `own` are the mover's stones."""
    for pair in range(4, 10, 2):
        if move[pair] and not own & move[pair] and own & move[pair + 1]:
            return True
    return False


@kernel
def captures_worth(boards, stones, masks, known, start, chain_rule, least, hunter, other, first, last):
    """Write into `hunter` and `other` the most that captures bring the side to move, for the rows from `first` to `last`: LOSS
    (also where nothing can be taken), DRAW or WIN. `masks` int64 [C]: the hunter's stones by their rank; see
    `worth_of_turn` for others."""
    cells, moves = np.empty(stones, np.int64), np.empty((4 * stones, 10), np.int64)
    stack, all_stones = np.empty((LONGEST, 4), np.int64), (1 << stones) - 1
    for row in range(first, last):
        occupied = np.int64(boards.rows[boards.first_row[stones] + row])
        count, _ = list_moves(boards, occupied, stones, cells, moves)
        for choice in range(len(masks)):
            entry = row * len(masks) + choice
            for side in range(2):
                own = masks[choice] if side == 0 else all_stones ^ masks[choice]
                stood = np.int64(-1)
                best = LOSS
                for k in range(count):
                    if not own >> moves[k, 0] & 1 or not takes(moves[k], own):
                        continue
                    if stood < 0:
                        stood = np.int64(0)
                        for stone in range(stones):
                            stood |= (own >> stone & 1) << cells[stone]
                    to = moves[k, 1]
                    moved = stood ^ (1 << cells[moves[k, 0]]) ^ (1 << to)
                    foe = occupied ^ stood
                    foe ^= taken_at(boards, moved, foe, to)
                    best = max(best, worth_of_turn(boards, known, start, moved, foe, to, chain_rule, least, stack))
                    if best == WIN:
                        break
                if side == 0:
                    hunter[entry] = best
                else:
                    other[entry] = best


# --- the hunt -----------------------------------------------------------------------------------------------------


@kernel
def follow(boards, move, cells, stones, low_masks, high_masks):
    """Write what a move makes of the masks of stones: of the lower half of the bits into `low_masks`, of the upper half into
    `high_masks`. After the move the stones stand elsewhere, and the symmetry to the new row changes their order."""
    half = (stones + 1) // 2
    occupied = np.int64(0)
    for stone in range(stones):
        cell = move[1] if stone == move[0] else cells[stone]
        occupied |= 1 << cell
    occupied = image_of(boards, move[3], occupied)
    low_masks[0] = high_masks[0] = 0
    for stone in range(stones):
        cell = move[1] if stone == move[0] else cells[stone]
        bit = 1 << bits_in(boards, occupied & (image_of(boards, move[3], 1 << cell) - 1))
        if stone < half:
            for mask in range(1 << stone):
                low_masks[mask | 1 << stone] = low_masks[mask] | bit
        else:
            for mask in range(1 << stone - half):
                high_masks[mask | 1 << stone - half] = high_masks[mask] | bit


@kernel
def hunt_by_hunter(boards, move, masks, left, hunter, other, begin, half, low_masks, high_masks, depth):
    """The hunter's entries from `begin` on that reach the other's depth - 1 by `move`. `left` int64 [C] are those still
    without a depth, their number is in its last place. Returns whether there were any."""
    entry_to = move[2] * len(masks)
    bit, low_bits = 1 << move[0], (1 << half) - 1
    kept = 0
    for i in range(left[-1]):
        choice = left[i]
        own = masks[choice]
        if own & bit and not takes(move, own):
            child = entry_to + boards.rank[low_masks[own & low_bits] | high_masks[own >> half]]
            if other[child] == depth - 1:
                hunter[begin + choice] = depth
                continue
        left[kept] = choice
        kept += 1
    found = kept < left[-1]
    left[-1] = kept
    return found


@kernel
def hunt_by_other(boards, move, masks, left, hunter, all_stones, half, low_masks, high_masks, depth):
    """Drop from `left` the other side's entries that escape by `move` to one without a depth below `depth`."""
    entry_to = move[2] * len(masks)
    bit, low_bits = 1 << move[0], (1 << half) - 1
    kept = 0
    for i in range(left[-1]):
        choice = left[i]
        mask = masks[choice]
        if not mask & bit and not takes(move, all_stones ^ mask):
            reached = hunter[entry_to + boards.rank[low_masks[mask & low_bits] | high_masks[mask >> half]]]
            if reached == 0 or reached >= depth:
                continue
        left[kept] = choice
        kept += 1
    left[-1] = kept


@kernel
def hunt_by_blocked(masks, all_stones, mobile, hunter, other, begin, depth, passes):
    """Entries of a side that cannot move: worth what the same board is worth to the opponent, at the same depth if it is passed
    over and one deeper if it has to pass. Returns whether the hunter's and the other's entries changed."""
    hunter_changed = other_changed = False
    highest = depth - 1 if passes else depth
    for choice in range(len(masks)):
        entry = begin + choice
        if not masks[choice] & mobile and hunter[entry] == 0 and 0 < other[entry] <= highest:
            hunter[entry] = depth
            hunter_changed = True
        elif not (all_stones ^ masks[choice]) & mobile and other[entry] == 0 and 0 < hunter[entry] <= highest:
            other[entry] = depth
            other_changed = True
    return hunter_changed, other_changed


@kernel
def fresh_rows(moves, count, fresh, row, passes):
    """Whether one of the rows beside a row changed in the pass before, or the row itself where it matters."""
    if passes and fresh[row]:
        return True
    for k in range(count):
        if fresh[moves[k, 2]]:
            return True
    return False


@kernel
def hunt(boards, stones, masks, hunter, other, fresh, new, depth, passes, first, last):
    """Pass number `depth` over the rows from `first` to `last`. `fresh`, bool [3, rows], says which rows of `hunter` and of
    `other` changed in the pass before, and which rows have one of these beside them; `new` is set in the same way for the
    next pass."""
    fresh_hunter, fresh_other, due = fresh[0], fresh[1], fresh[2]
    cells, moves = np.empty(stones, np.int64), np.empty((4 * stones, 10), np.int64)
    half, all_stones = (stones + 1) // 2, (1 << stones) - 1
    low_masks, high_masks = np.empty(1 << half, np.int64), np.empty(1 << stones - half, np.int64)
    by_hunter, by_other = np.empty(len(masks) + 1, np.int64), np.empty(len(masks) + 1, np.int64)
    hunters = bits_in(boards, masks[0])
    for row in range(first, last):
        if not due[row]:
            continue
        begin = row * len(masks)
        count, mobile = list_moves(boards, np.int64(boards.rows[boards.first_row[stones] + row]), stones, cells, moves)
        by_hunter[-1] = by_other[-1] = 0
        if fresh_rows(moves, count, fresh_other, row, passes):
            for choice in range(len(masks)):
                if hunter[begin + choice] == 0:
                    by_hunter[by_hunter[-1]] = choice
                    by_hunter[-1] += 1
        if depth == 1 or fresh_rows(moves, count, fresh_hunter, row, passes):
            for choice in range(len(masks)):
                if other[begin + choice] == 0 and (all_stones ^ masks[choice]) & mobile:
                    by_other[by_other[-1]] = choice
                    by_other[-1] += 1
        for k in range(count):
            is_fresh = fresh_other[moves[k, 2]] and by_hunter[-1] > 0
            if is_fresh or by_other[-1] > 0:
                follow(boards, moves[k], cells, stones, low_masks, high_masks)
            if is_fresh and hunt_by_hunter(
                boards, moves[k], masks, by_hunter, hunter, other, begin, half, low_masks, high_masks, depth
            ):
                new[0, row] = True
            if by_other[-1] > 0:
                hunt_by_other(boards, moves[k], masks, by_other, hunter, all_stones, half, low_masks, high_masks, depth)
        for i in range(by_other[-1]):  # no way out was found for these
            other[begin + by_other[i]] = depth
            new[1, row] = True
        if bits_in(boards, mobile) <= max(hunters, stones - hunters):  # only then can all mobile stones be of one side
            changed = hunt_by_blocked(masks, all_stones, mobile, hunter, other, begin, depth, passes)
            new[0, row] |= changed[0]
            new[1, row] |= changed[1]
        if new[0, row] or new[1, row]:  # whoever can come here by a move has to look again
            new[2, row] = True
            for k in range(count):
                new[2, moves[k, 2]] = True


# --- packed values ------------------------------------------------------------------------------------------------


@kernel
def pack(values, packed, first, last):
    """Four entries of `values` (LOSS, DRAW, WIN) in each byte of `packed`, for the bytes from `first` to `last`."""
    for place in range(first, last):
        byte = 0
        for k in range(min(4, len(values) - 4 * place)):
            byte |= values[4 * place + k] << 2 * k
        packed[place] = byte


@kernel
def pack_values(value, steps, first_depths, second_depths, moves_left, known, begin):
    """Pack what entries are worth with so many quiet moves left: `value`, and steps[0] and steps[1] more from each depth on. They
    go into `known` from entry `begin` on, a multiple of four."""
    for i in range(len(first_depths)):
        worth = value + DRAW
        if 0 < first_depths[i] <= moves_left:
            worth += steps[0]
        if 0 < second_depths[i] <= moves_left:
            worth += steps[1]
        entry = begin + i
        byte = 0 if i & 3 == 0 else known[entry >> 2]
        known[entry >> 2] = byte | worth << 2 * (i & 3)


@kernel
def begin_hunt(worth_of_hunter, worth_of_other, wants, never, width, is_reversed, hunter, other, first, last):
    """Set the entries of the rows from `first` to `last` as they are before any quiet move. The packed arrays say what
    captures are worth; depth 1 is a capture that gets the hunter what it wants, `never` is one by which the other side
    always escapes. `is_reversed` if the packed arrays are in the order of the other side's stones."""
    for row in range(first, last):
        for choice in range(width):
            entry = row * width + choice
            source = row * width + width - 1 - choice if is_reversed else entry
            shift = 2 * (source & 3)
            hunter[entry] = 1 if worth_of_hunter[source >> 2] >> shift & 3 >= wants else 0
            other[entry] = never if worth_of_other[source >> 2] >> shift & 3 > WIN - wants else 0
