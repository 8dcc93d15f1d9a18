"""The fast playouts of Go against the plain rules: every move of long games, and whole playouts bit by bit."""

import numba
import numpy as np
import pytest

import azlab
from azlab.games import go, go_playout, stones
from azlab.games.game import NO_TRACE
from azlab.games.go_playout import FAST_BOARD
from azlab.games.kernel import new_rng

ALL_KO = ("simple", "positional", "situational")
PLAIN = {"simple": go.playout, "positional": go.playout_superko, "situational": go.playout_superko}


# --- move by move: the fast board, the plain board and the game side by side ------------------------------------------


@numba.njit  # not a cached kernel: it has to notice changes in the kernels that it calls
def look(fasts, board, ko, stride, fast_says, plain_says):
    """For each seat and place: whether random play may choose it."""
    marks, stack = np.zeros(len(board), np.int64), np.empty(len(board), np.int64)
    for seat in range(2):
        for point in range(stride + 1, len(board) - stride):
            if board[point] == stones.EMPTY:
                fast_says[seat, point] = go_playout.is_candidate(fasts[0], point, seat, ko)
                may = stones.may_place(board, point, seat, ko, stride, marks, stack)
                plain_says[seat, point] = may and not stones.is_safe_eye(board, point, seat, stride)


def chains(board, stride):
    """All chains as sets of points, found by hand."""
    left = {int(point) for point in np.flatnonzero(board < stones.EMPTY)}
    while left:
        found, fresh = set(), {min(left)}
        while fresh:
            found |= fresh
            around = {point + step for point in fresh for step in (1, -1, stride, -stride)}
            fresh = {point for point in around - found if board[point] == board[min(found)]}
        left -= found
        yield found


def check_what_is_kept(fast, board, stride):
    """Chains with their rings and pseudo-liberties, neighbours and empty points are those of `board`."""
    empty = np.flatnonzero(board == stones.EMPTY)
    assert np.array_equal(fast.board[: len(board)], board)
    assert sorted(fast.empty[: fast.free]) == empty.tolist()
    for point in np.flatnonzero(board < stones.BORDER):
        beside = [int(board[point + step]) for step in (1, -1, stride, -stride)]
        black, white, none = (beside.count(kind) for kind in (stones.BLACK, stones.WHITE, stones.EMPTY))
        border = 4 - black - white - none
        assert fast.near[point] == none + 0x10 * (black + border) + 0x100 * (white + border)
    for chain in chains(board, stride):
        name = int(fast.chain[min(chain)])
        assert {int(fast.chain[point]) for point in chain} == {name} and name in chain
        assert fast.stones[name] == len(chain)
        pairs = sum(board[point + step] == stones.EMPTY for point in chain for step in (1, -1, stride, -stride))
        assert fast.liberties[name] == pairs
        ring, place = set(), name
        while place not in ring:
            ring.add(place)
            place = int(fast.following[place])
        assert ring == chain


def play_side_by_side(game, state, rng):
    """A game of random legal moves, eyes filled and all; return how many moves, captures and kos there were."""
    stride, length = game.size + 1, state["board"].shape[1]
    fasts, scratch, captured = np.zeros(1, FAST_BOARD), np.zeros((2, length), np.int64), np.zeros(length, np.int64)
    go_playout.set_up(fasts[0], state["board"][0], stride)
    seen = np.zeros(3, np.int64)
    while not state["over"][0]:
        seat, ko = int(state["to_move"][0]), int(state["ko"][0])
        fast_says, plain_says = np.zeros((2, 2, length), np.bool_)
        look(fasts, state["board"][0], ko, stride, fast_says, plain_says)
        assert np.array_equal(fast_says, plain_says)
        if seen[0] % 16 == 0:
            check_what_is_kept(fasts[0], state["board"][0], stride)
        actions = np.flatnonzero(game.legal_mask(state)[0])
        action = rng.choice(actions[:-1]) if len(actions) > 1 and rng.random() < 0.97 else actions[-1]
        point = int(go.point_of_action(action, stride))
        if point:
            fast, plain = fasts[0], state["board"][0].copy()
            count, new_ko = stones.place_stone(plain, point, seat, stride, *scratch, captured)
            next_hash = go_playout.hash_after(fast, point, seat, hash_of(state["board"][0]))
            index = np.flatnonzero(fast.empty[: fast.free] == point)[0]
            alone = np.zeros(1, game.dtype)  # a state of which `play_one` may change what it likes
            alone[0] = state[0]
            go_playout.play_one(fast, alone[0], int(index))
            assert np.array_equal(fast.board[:length], plain)
            assert fast.captured[:count].tolist() == captured[:count].tolist()  # in this order, on which the random games depend
            assert alone["ko"][0] == new_ko and next_hash == hash_of(plain)
            seen += 1, count, new_ko > 0
        game.kernels.play(state, np.array([action]))
        assert np.array_equal(fasts[0].board[:length], state["board"][0])
        if point:
            assert (
                alone["ko"][0] == state["ko"][0] and alone["passes"][0] == state["passes"][0] and alone["over"] == state["over"]
            )
    check_what_is_kept(fasts[0], state["board"][0], stride)
    return seen


def hash_of(board):
    """The keys of all stones."""
    points = np.flatnonzero(board < stones.EMPTY)
    return np.bitwise_xor.reduce(stones.KEYS[board[points], points], initial=np.uint64(0))


@pytest.mark.slow
@pytest.mark.parametrize("ko", ALL_KO)
@pytest.mark.parametrize(("size", "games"), [(2, 10), (5, 10), (9, 5), (19, 1)])
def test_the_fast_board_is_the_plain_board_after_every_move(size, games, ko):
    rng, seen = np.random.default_rng(size), np.zeros(3, np.int64)
    for _ in range(games):
        game = azlab.game("go", size=size, ko=ko, handicap=5 if size == 9 else 0, max_moves=1000 if size == 19 else None)
        seen += play_side_by_side(game, game.new_states(1), rng)
    assert seen[0] > {2: 20, 5: 500, 9: 700, 19: 600}[size], "hardly any moves"
    assert seen[1] > games and (size == 2 or seen[2] > 0), "no captures or kos"


# --- whole playouts -------------------------------------------------------------------------------------------------


def somewhere(game, count, seed):
    """States after different numbers of random moves; some are over, wait for a second pass, or have a ko."""
    rng = np.random.default_rng(seed)
    states, stop = game.new_states(count), rng.integers(0, min(game.max_length + 1, 3 * game.size * game.size), count)
    for ply in range(stop.max()):
        going = np.flatnonzero((stop > ply) & ~states["over"])
        if len(going):
            some = states[going]
            drawn = np.where(game.legal_mask(some), rng.random((len(some), game.num_actions)), -1)
            drawn[:, -1] -= 0.5  # few passes
            game.kernels.play(some, drawn.argmax(axis=1))
            states[going] = some
            special = (some["ko"] > 0) | (some["passes"] == 1)
            stop[going[special & (rng.random(len(some)) < 0.3)]] = ply
    return states


def both(game, states, seed):
    """What the fast and the plain playout make of copies of `states`: the final states, random numbers and moves, as bytes."""
    found = []
    for playout in (game.kernels.playout, PLAIN[game.ko]):
        final, rng, trace = states.copy(), new_rng(seed, len(states)), np.full((len(states), game.max_length), -1, np.int32)
        playout(final, rng, trace)
        assert final["over"].all()
        found.append((final.tobytes(), rng.tobytes(), trace.tobytes()))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("ko", ALL_KO)
@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"size": 2}, 200),
        ({"size": 3, "komi": 0.5}, 200),
        ({"size": 5, "komi": -3}, 200),
        ({"size": 7, "handicap": 4, "max_moves": 60}, 100),
        ({"size": 9}, 100),
        ({"size": 9, "handicap": 9, "komi": 0}, 50),
        ({"size": 19, "handicap": 3}, 8),
    ],
)
def test_fast_playouts_are_the_plain_ones_bit_by_bit(options, count, ko):
    game = azlab.game("go", ko=ko, **options)
    assert game.kernels.playout is not PLAIN[ko]
    states = somewhere(game, count, seed=1)
    states[0] = game.new_states(1)[0]
    assert count < 100 or (states["passes"] == 1).any()
    assert count < 100 or game.size == 2 or (states["ko"] > 0).any()
    for seed in range(3):
        fast, plain = both(game, states, seed)
        assert fast == plain


SEND_TWO = ".....\n.....\n.....\nXXO..\n.O.O."
TRIPLE_KO = "\n".join([".XO......", "XO.O.....", ".XO......", ".XO......", "X.XO.....", ".XO......"] + [".XO......"] * 3)
SEKI = "\n".join(["XXXOO", "XX.OO", "XXOOO", "XX.OO", "XXXOO"])


@pytest.mark.slow
@pytest.mark.parametrize("ko", ALL_KO)
@pytest.mark.parametrize("to_move", [0, 1])
@pytest.mark.parametrize("diagram", [SEND_TWO, TRIPLE_KO, SEKI])
def test_playouts_of_drawn_positions_are_the_plain_ones(diagram, to_move, ko):
    game = azlab.game("go", size=len(diagram.split()), ko=ko)
    fast, plain = both(game, np.repeat(game.from_diagram(diagram, to_move).state, 200), seed=5)
    assert fast == plain


def test_a_pending_ko_is_kept_in_the_first_move_only():
    position = azlab.game("go", size=5).from_diagram(".XO..\nXO.O.\n.XO..\n.....\n.....").play("c4")
    states, trace = np.repeat(position.state, 500), np.full((500, 2), -1, np.int32)
    position.game.kernels.playout(states, new_rng(0, 500), trace)
    assert position.game.action("b4") not in trace[:, 0]
    assert set(trace[:, 0]) == set(position.legal_actions[:-1])  # all the others, except the pass


def test_playouts_from_other_random_numbers_have_the_same_lengths_and_scores():
    """Of independent games: means of 2,000 lie within four standard errors of their difference."""
    game, count = azlab.game("go", size=9), 2000
    measured = []
    for seed, playout in ((1, game.kernels.playout), (2, go.playout)):
        states, leads = game.new_states(count), np.zeros(count)
        playout(states, new_rng(seed, count), NO_TRACE)
        game.kernels.lead(states, leads)
        measured.append(np.stack([states["ply"].astype(float), leads, states["result"].astype(float)]))
    fast, plain = measured
    error = np.sqrt((fast.var(axis=1) + plain.var(axis=1)) / count)
    assert (np.abs(fast.mean(axis=1) - plain.mean(axis=1)) < 4 * error).all()
    assert 100 < fast[0].mean() < 120  # light games on 9x9 take about 110 moves
