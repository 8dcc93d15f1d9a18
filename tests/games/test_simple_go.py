"""The "simple go" of source S1: every rule on hand-made boards, and a second, slow set of rules to compare with.

The top line of a diagram is the highest row; a1 is the lower left point. X is Black (seat 0), O is White (seat 1).
"""

import random
from collections import Counter

import numpy as np
import pytest

import azlab
from azlab import AzlabError, IllegalMove

KO = ".XO.. X.XO. .XO.. ..... ....."  # White takes c4 by b4


def board(lines, to_move=0):
    """A position from lines with blanks between; the board is as large as the lines are long."""
    lines = lines.split()
    return azlab.game("simple_go", size=len(lines)).from_diagram("\n".join(lines), to_move)


def swapped(lines):
    return lines.translate(str.maketrans("XO", "OX"))


def rows(position):
    """The board as lines with blanks between."""
    return " ".join("".join("XO."[stone] for stone in row) for row in position.game.board(position.state))


def at_ply(position, ply):
    """The same position as if `ply` moves had been played."""
    state = position.state
    state["ply"] = ply
    return position.game.position(state)


def ends(position):
    """All states in which the game can end from here."""
    if position.over:
        return {position.state.tobytes()}
    return set().union(*(ends(position.play(action)) for action in position.legal_actions))


# --- where a stone may be put ---------------------------------------------------------------------------------------


def test_black_starts_on_any_point_and_players_alternate():
    start = azlab.game("simple_go").start()
    assert start.to_move == 0
    assert len(start.legal_moves) == 25
    assert {"a1", "e1", "a5", "e5"} <= set(start.legal_moves)
    assert [position.to_move for position in start.game.from_moves("c3 d3 e3").path()] == [0, 1, 0, 1]
    assert rows(start.game.from_moves("a5 e5 b1")) == "X...O ..... ..... ..... .X..."
    assert "a5" not in start.game.from_moves("a5").legal_moves


@pytest.mark.parametrize(
    ("lines", "point"),
    [(".O... O.... ..... ..... .....", "a5"), ("X.O.. OO... ..... ..... .....", "b5"),
     ("..... ..O.. .O.O. ..O.. .....", "c3")],
    ids=["corner", "two stones", "middle"],
)  # fmt: skip
def test_suicide_is_illegal_for_both(lines, point):
    assert point not in board(lines, 0).legal_moves
    assert point not in board(swapped(lines), 1).legal_moves


def test_what_looks_like_suicide_is_legal_when_it_captures():
    position = board(".OX.. OX... X.... ..... .....").play("a5")
    assert rows(position) == "X.X.. .X... X.... ..... ....."
    assert rows(board("X.O.. OO... ..... ..... .....", 1).play("b5")) == ".OO.. OO... ..... ..... ....."


def test_chains_of_any_shape_are_captured_together():
    assert rows(board("OOX.. OXX.. .X... ..... .....").play("a3")) == "..X.. .XX.. XX... ..... ....."
    assert rows(board("OOX.. OXX.. .OX.. XX... .....").play("a3")) == "..X.. .XX.. X.X.. XX... ....."  # two chains


def test_a_ko_cannot_be_taken_back_at_once_but_later():
    position = board(KO, 1).play("b4")
    assert rows(position) == ".XO.. XO.O. .XO.. ..... ....."
    assert "c4" not in position.legal_moves
    with pytest.raises(IllegalMove):
        position.play("c4")
    later = position.play("e1").play("e2")
    assert "c4" in later.legal_moves
    taken = later.play("c4")
    assert rows(taken) == ".XO.. X.XO. .XO.. ....O ....X"
    assert "b4" not in taken.legal_moves  # now it is White who has to wait
    assert "c4" in board(rows(position), 0).legal_moves  # a drawn position has no past


def test_two_stones_taken_by_one_are_no_ko():
    position = board(".XXO. XOO.. ..... ..... .....", 1).play("a5")
    assert rows(position) == "O..O. XOO.. ..... ..... ....."
    assert rows(position.play("b5")) == ".X.O. XOO.. ..... ..... ....."


def test_one_stone_taken_by_a_chain_of_two_is_no_ko():
    # White takes b5 by a5, which joins a4 and b4; Black takes the three back at b5.
    position = board(".XO.. OOX.. XX... ..... .....", 1).play("a5")
    assert rows(position) == "O.O.. OOX.. XX... ..... ....."
    assert rows(position.play("b5")) == ".XO.. ..X.. XX... ..... ....."


# --- own eyes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "legal"),
    [
        (".X... XX... ..... ..... .....", False),  # a solid eye
        (".X... X.... ..... ..... .....", False),  # neither stone is in danger
        (".X... XO... ..... ..... .....", False),  # a false eye is an eye all the same
        (".X... XO... O.... ..... .....", True),  # a4 has no other liberty and b5 has c5
        (".XO.. XO... ..... ..... .....", True),  # b5 has no other liberty and a4 has a3
        (".XO.. XO... O.... ..... .....", False),  # both are lost: filling the eye would be suicide
    ],
)
def test_an_own_eye_is_filled_only_to_save_stones_in_atari(lines, legal):
    assert ("a5" in board(lines, 0).legal_moves) == legal
    assert ("a5" in board(swapped(lines), 1).legal_moves) == legal


def test_the_opponent_may_play_in_an_eye_exactly_when_that_captures():
    assert "a5" not in board(".X... XO... ..... ..... .....", 1).legal_moves
    assert rows(board(".XO.. XO... O.... ..... .....", 1).play("a5")) == "O.O.. .O... O.... ..... ....."


def test_the_winner_of_a_ko_may_fill_it():
    position = board(KO, 1).play("b4").play("e1")
    assert "c4" in position.legal_moves  # White's own eye, but it saves b4


def test_a_space_of_two_points_is_no_eye():
    assert {"a5", "a4"} <= set(board(".X... .X... X.... ..... .....").legal_moves)


# --- passing and the end --------------------------------------------------------------------------------------------

WHITE_STUCK = "O.X XXX .X."  # White has only suicide; Black can take a3 by b3


def test_nobody_passes_who_can_move():
    for position in (azlab.game("simple_go").start(), board(WHITE_STUCK, 0)):
        assert "pass" not in position.legal_moves
        with pytest.raises(IllegalMove):
            position.play("pass")


@pytest.mark.parametrize("seat", [0, 1])
def test_a_player_without_a_move_must_pass_and_the_game_goes_on(seat):
    position = board(WHITE_STUCK if seat == 1 else swapped(WHITE_STUCK), seat)
    assert position.legal_moves == ["pass"]
    position = position.play("pass")
    assert (position.over, position.to_move, position.legal_moves) == (False, 1 - seat, ["b3"])
    position = position.play("b3")
    assert (position.over, position.winner) == (True, 1 - seat)
    assert position.scores == ((0, 3) if seat == 0 else (3, 0))


def test_a_player_whose_only_move_is_a_forbidden_ko_must_pass_and_the_pass_lifts_the_ko():
    # Black takes c2 by c1; White could only take back. Black may then fill c2, which saves c1.
    position = board("O.X XXO .O.").play("c1")
    assert position.legal_moves == ["pass"]
    assert set(position.play("pass").legal_moves) == {"a1", "b3", "c2"}
    # Black takes e4 by e3, all else is eyes: White passes, Black has to fill e4, and then neither can move.
    position = board(".X.XX XXXXO OOOO. OOOOO .O.OO").play("e3")
    assert (position.over, position.legal_moves) == (False, ["pass"])
    assert position.play("pass").legal_moves == ["e4"]
    final = position.play("pass").play("e4")
    assert (final.over, final.result, final.scores) == (True, 0, (2, 2))


@pytest.mark.parametrize("seat", [0, 1])
def test_the_game_ends_when_neither_can_move_and_more_eyes_win(seat):
    lines = ".X. XX. .X." if seat == 0 else ".O. OO. .O."
    position = board(lines, seat).play("c2")
    assert (position.over, position.result, position.legal_moves) == (True, 1 - 2 * seat, [])
    assert position.scores == ((4, 0) if seat == 0 else (0, 4))


def test_a_drawn_position_where_neither_can_move_is_over():
    for seat in (0, 1):
        assert (board(".X. XXX .X.", seat).over, board(".X. XXX .X.", seat).result) == (True, 1)


@pytest.mark.parametrize(("size", "limit"), [(5, 50), (3, 18), (2, 8)])
def test_the_game_ends_after_two_moves_for_each_point(size, limit):
    start = azlab.game("simple_go", size=size).start()
    assert start.game.max_length == limit
    assert not at_ply(start, limit - 2).play("a1").over
    last = at_ply(start, limit - 1).play("a1")
    assert (last.over, last.result, last.ply) == (True, 0, limit)


@pytest.mark.parametrize(
    ("lines", "scores"),
    [
        (".X.X. XXXX. ..... ...O. ..O.O", (2, 1)),  # corner and edge; e5 is open to e4, e2 to e3
        ("..... ..X.. .X.X. ..X.. .....", (1, 0)),
        ("..... ..X.. .X.O. ..X.. .....", (0, 0)),  # neighbours of both colours
        ("..... .XXX. X...X .XXX. .....", (0, 0)),  # three points together
        ("..... .OXO. O.X.O .OXO. .....", (0, 0)),
        (".O.O. OOOOO ..... XXXXX .X.X.", (3, 3)),
    ],
)
def test_points_are_single_point_eyes_only(lines, scores):
    assert board(lines).scores == scores
    assert board(swapped(lines)).scores == scores[::-1]
    final = at_ply(board(lines), 49).play(board(lines).legal_moves[0])
    black, white = final.scores
    assert (final.over, final.result) == (True, (black > white) - (black < white))


# --- planes, text, options ------------------------------------------------------------------------------------------


def test_the_planes_are_own_stones_other_stones_and_ones_for_black():
    game = azlab.game("simple_go")
    for moves, own, other in (("a5 e5", [(0, 0)], [(0, 4)]), ("a5 e5 c1", [(0, 4)], [(0, 0), (4, 2)])):
        position = game.from_moves(moves)
        planes = game.encode(position.state)[0]
        assert [tuple(map(int, cell)) for cell in np.argwhere(planes[0])] == own
        assert [tuple(map(int, cell)) for cell in np.argwhere(planes[1])] == other
        assert (planes[2] == (position.to_move == 0)).all()


def test_a_printed_position_can_be_read_back():
    position = board(KO, 1).play("b4")
    assert position.text.splitlines() == [
        " 5  .  X  O  .  .",
        " 4  X (O) .  O  .",
        " 3  .  X  O  .  .",
        " 2  .  .  .  .  .",
        " 1  .  .  .  .  .",
        "    a  b  c  d  e",
        "Black to move, 1-1",
    ]
    assert rows(position.game.from_diagram(position.text)) == rows(position)


@pytest.mark.parametrize("size", [1, 20, 5.0, "5", None])
def test_an_impossible_size_is_refused_in_one_sentence(size):
    with pytest.raises(AzlabError, match="size must be a whole number from 2 to 19"):
        azlab.game("simple_go", size=size)


@pytest.mark.parametrize(("lines", "to_move"), [("XX XX", 0), ("XO .X", 2), ("XO X", 0)])
def test_an_impossible_diagram_is_refused_in_one_sentence(lines, to_move):
    with pytest.raises(AzlabError, match=r"\.$"):
        board(lines, to_move)


# --- a second implementation ----------------------------------------------------------------------------------------


class PlainSimpleGo:
    """The rules once more, straight from the text: a dictionary of stones by the names of their points."""

    def __init__(self, size):
        letters = "abcdefghjklmnopqrst"[:size]
        self.near = {}
        for x, letter in enumerate(letters):
            for y in range(1, size + 1):
                sides = [f"{letters[other]}{y}" for other in (x - 1, x + 1) if 0 <= other < size]
                above_and_below = [f"{letter}{other}" for other in (y - 1, y + 1) if 1 <= other <= size]
                self.near[f"{letter}{y}"] = sides + above_and_below
        self.stones, self.turn, self.ply = {}, 0, 0
        self.before = None  # the board before the opponent's last stone: a move may not bring it back
        self.over = False

    def breathless(self, stones, point):
        """The chain at `point` if it has no liberty, else nothing."""
        chain = {point}
        while True:
            grown = chain | {n for p in chain for n in self.near[p] if stones.get(n) == stones[point]}
            if grown == chain:
                return chain if all(n in stones for p in chain for n in self.near[p]) else set()
            chain = grown

    def after(self, seat, point):
        """The board after a stone on `point`, and whether it captured; no board if the move is suicide."""
        stones = {**self.stones, point: seat}
        dead = set().union(*(self.breathless(stones, n) for n in self.near[point] if stones.get(n) == 1 - seat), set())
        stones = {p: owner for p, owner in stones.items() if p not in dead}
        return (None if self.breathless(stones, point) else stones), bool(dead)

    def is_eye(self, point, seat):
        return point not in self.stones and all(self.stones.get(n) == seat for n in self.near[point])

    def moves(self, seat, before):
        found = set()
        for point in set(self.near) - set(self.stones):
            stones, captures = self.after(seat, point)
            if stones is None or stones == before:
                continue
            if self.is_eye(point, seat) and not captures and not self.after(1 - seat, point)[1]:
                continue
            found.add(point)
        return found

    def legal(self):
        return set() if self.over else self.moves(self.turn, self.before) or {"pass"}

    def play(self, point):
        old = self.stones
        if point != "pass":
            self.stones = self.after(self.turn, point)[0]
        self.before = None if point == "pass" else old
        self.turn, self.ply = 1 - self.turn, self.ply + 1
        blocked = not self.moves(self.turn, self.before) and not self.moves(1 - self.turn, None)
        self.over = blocked or self.ply == 2 * len(self.near)

    def scores(self):
        return tuple(sum(self.is_eye(point, seat) for point in self.near) for seat in (0, 1))

    def lines(self):
        by_row = sorted(self.near, key=lambda point: (-int(point[1:]), point[0]))
        return "".join("XO."[self.stones.get(point, 2)] for point in by_row)


@pytest.mark.parametrize(("size", "games"), [(2, 40), (3, 200), (4, 80), (5, 80)])
@pytest.mark.slow
def test_a_plain_second_implementation_agrees_in_random_games(size, games):
    seen = Counter()
    for number in range(games):
        chance = random.Random(f"{size} {number}")
        plain, position = PlainSimpleGo(size), azlab.game("simple_go", size=size).start()
        while True:
            legal = plain.legal()
            where = f"after {' '.join(position.moves)}"
            assert set(position.legal_moves) == legal, where
            assert rows(position).replace(" ", "") == plain.lines(), where
            assert position.over == plain.over, where
            assert position.scores == plain.scores(), where
            if plain.over:
                break
            assert position.to_move == plain.turn, where
            seen["passes"] += legal == {"pass"}
            seen["passes in a ko"] += legal == {"pass"} and bool(position.state["ko"][0])
            seen["kos"] += bool(position.state["ko"][0])
            seen["eyes filled"] += any(plain.is_eye(point, plain.turn) for point in legal - {"pass"})
            move = chance.choice(sorted(legal))
            plain.play(move)
            position = position.play(move)
        black, white = plain.scores()
        assert position.result == (black > white) - (black < white), where
        seen["at the limit" if position.ply == 2 * size * size else "blocked"] += 1
    assert size != 3 or seen["passes in a ko"] > 2, seen
    if size >= 3:
        assert all(seen[event] > 2 for event in ("passes", "kos", "eyes filled", "at the limit", "blocked")), seen


@pytest.mark.parametrize("seed", range(4))
def test_random_playouts_reach_exactly_the_ends_that_legal_moves_reach(seed):
    position, chance = azlab.game("simple_go", size=3).start(), random.Random(seed)
    for _ in range(8):
        position = position.play(chance.choice(position.legal_actions))
    position = at_ply(position, 15)
    final = position.game.playout(np.repeat(position.state, 4000))
    assert {state.tobytes() for state in final} == ends(position)
