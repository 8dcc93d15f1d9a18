"""Go: every rule on a board drawn by hand; set-ups, names and options."""

import pickle

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError, IllegalMove
from azlab.games import stones
from azlab.games.game import Position

SUPERKO = ("positional", "situational")
ALL_KO = ("simple", *SUPERKO)


def go(size: int = 5, **options):
    return azlab.game("go", size=size, **options)


def board(position: Position) -> list[str]:
    """The rows of the board from the top, e.g. ["..X", ...]."""
    return ["".join("XO."[stone] for stone in row) for row in position.game.board(position.state)]


def draw(*rows: str, to_move: int = 0, **options) -> Position:
    return go(len(rows), **options).from_diagram("\n".join(rows), to_move)


def play(position: Position, moves: str) -> Position:
    for move in moves.split():
        position = position.play(move)
    return position


# --- captures and suicide -----------------------------------------------------------------------------------------


def test_one_stone_takes_four_chains_at_once_and_the_other_side_may_not_play_there():
    rows = ("..X..", ".XOX.", "XO.OX", ".XOX.", "..X..")
    assert board(draw(*rows).play("c3")) == ["..X..", ".X.X.", "X.X.X", ".X.X.", "..X.."]
    assert "c3" not in draw(*rows, to_move=1).legal_moves  # five stones without a liberty: suicide


def test_a_long_chain_is_taken_whole():
    snake = draw("XXXXX", "XOOOX", "XXXOX", "XOOOX", "X.XX.")
    assert board(snake.play("b1")) == ["XXXXX", "X...X", "XXX.X", "X...X", "XXXX."]


@pytest.mark.parametrize("name", ["a1", "e1", "a5", "e5"])
def test_a_stone_in_a_corner_is_taken_by_two(name):
    column, row = name
    sideways, upwards = {"a": "b", "e": "d"}[column] + row, column + {"1": "2", "5": "4"}[row]
    position = go().set_up([sideways], [name]).play(upwards)
    assert sum(row.count("O") for row in board(position)) == 0
    assert sum(row.count("X") for row in board(position)) == 2


@pytest.mark.parametrize("size", [2, 3, 9, 19])
def test_the_right_end_of_a_row_is_no_neighbour_of_the_left_end_of_the_next(size):
    game = go(size)
    right, left = game.size - 1, game.size  # top row, last point; second row, first point
    position = game.set_up([], [left], 0)
    scratch = np.zeros((2, position.state["board"].shape[1]), np.int64)
    place = stones.points(size)
    expected = 2 if size == 2 else 3  # on 2x2 the left point of the last row is a corner
    assert stones.liberties(position.state["board"][0], place[left], 9, size + 1, *scratch) == expected
    both = game.set_up([right], [left])
    assert stones.liberties(both.state["board"][0], place[left], 9, size + 1, *scratch) == expected


def test_suicide_of_one_stone_is_illegal_and_filling_ones_own_eye_is_not():
    rows = (".X.", "X..", "...")
    assert "a3" not in draw(*rows, to_move=1).legal_moves
    assert "a3" in draw(*rows).legal_moves


def test_suicide_of_several_stones_is_illegal():
    white = draw("O.X", "XX.", "...", to_move=1)
    assert "b3" not in white.legal_moves
    with pytest.raises(IllegalMove, match="b3 is not legal here"):
        white.play("b3")


def test_a_move_that_captures_is_no_suicide():
    white = draw("O.X", "XXO", "..O", to_move=1)  # as above, but the black stone at c3 has no other liberty
    assert board(white.play("b3")) == ["OO.", "XXO", "..O"]


def test_snapback_black_gives_one_stone_and_takes_seven():
    start = draw(".....", ".....", "XXXX.", "OOOOX", "O..OX")
    taken = play(start, "b1 c1")  # White takes b1; its chain now has the one liberty b1
    assert board(taken)[4] == "O.OOX"
    assert "b1" in taken.legal_moves  # no ko: the stone that captured belongs to a chain
    assert board(taken.play("b1")) == [".....", ".....", "XXXX.", "....X", ".X..X"]


# --- ko -----------------------------------------------------------------------------------------------------------

KO = (".XO..", "XO.O.", ".XO..", ".....", ".....")  # Black takes b4 by c4


@pytest.mark.parametrize("ko", ALL_KO)
def test_a_ko_may_not_be_taken_back_at_once(ko):
    taken = draw(*KO, ko=ko).play("c4")
    assert board(taken)[1] == "X.XO."
    assert "b4" not in taken.legal_moves
    with pytest.raises(IllegalMove):
        taken.play("b4")


@pytest.mark.parametrize("ko", ALL_KO)
def test_a_ko_may_be_taken_back_after_a_threat_and_its_answer(ko):
    back = play(draw(*KO, ko=ko), "c4 e1 a1 b4")
    assert board(back) == [".XO..", "XO.O.", ".XO..", ".....", "X...O"]
    assert "c4" not in back.legal_moves  # and now Black must find a threat


@pytest.mark.parametrize("ko", ALL_KO)
def test_a_pass_and_a_move_elsewhere_lift_the_ko_too(ko):
    position = play(draw(*KO, ko=ko), "c4 pass")
    assert position.state["ko"][0] == 0
    assert "b4" in play(position, "a1").legal_moves


def test_taking_two_stones_or_connecting_is_no_ko():
    two = draw(".XXO.", "XOO.O", ".XXO.", ".....", ".....").play("d4")
    assert board(two)[1] == "X..XO"
    assert "c4" in two.legal_moves  # takes d4 back at once
    joined = draw(".XO..", "XO.O.", "..XO.", ".....", ".....").play("b3")
    assert joined.state["ko"][0] == 0  # nothing was taken at all
    friend = draw(".XO..", "XO.O.", ".XXO.", ".....", ".....").play("c4")
    assert board(friend)[1] == "X.XO." and friend.state["ko"][0] == 0  # c4 is joined to c3
    assert "b4" not in friend.legal_moves  # merely suicide: the black chain has other liberties


# White to move sends two stones (a1, b1) and takes one back:
#   White a1 makes the chain a1-b1, Black c1 takes both, White b1 takes c1. The board is then the one below,
#   but with Black to move, where it was White. Positional superko asks for the board alone and forbids b1;
#   situational superko asks whose turn it is too, and allows it; so does simple ko, as two stones had been taken.
SEND_TWO = (".....", ".....", ".....", "XXO..", ".O.O.")


@pytest.mark.parametrize("first", ["", "e5"])  # the position that comes back was set up, or was reached by play
def test_sending_two_and_returning_one_tells_positional_from_situational_superko(first):
    starts = {ko: play(draw(*SEND_TWO, to_move=0 if first else 1, ko=ko), first) for ko in ALL_KO}
    before_return = {ko: play(start, "a1 c1") for ko, start in starts.items()}
    assert all(board(position)[4] == "..XO." for position in before_return.values())
    assert {ko: "b1" in position.legal_moves for ko, position in before_return.items()} == {
        "simple": True, "positional": False, "situational": True
    }  # fmt: skip
    assert board(before_return["situational"].play("b1")) == board(starts["situational"])


def test_situational_superko_ends_the_second_round_of_sending_two():
    # After Black's pass it is the start again, White to move. A pass may repeat, a stone may not:
    # White a1 would make the board after the first move with Black to move for the second time.
    second_round = {ko: play(draw(*SEND_TWO, to_move=1, ko=ko), "a1 c1 b1 pass") for ko in ("simple", "situational")}
    assert "a1" in second_round["simple"].legal_moves
    assert "a1" not in second_round["situational"].legal_moves


# Three kos, one below the other. Black may take the first and the third, White the second.
TRIPLE_KO = (
    ".XO......", "XO.O.....", ".XO......",
    ".XO......", "X.XO.....", ".XO......",
    ".XO......", "XO.O.....", ".XO......",
)  # fmt: skip
ROUND = "c8 b5 c2 b8 c5 b2"  # each ko is taken and taken back: the sixth move brings back the start


def test_a_triple_ko_goes_round_for_ever_under_simple_ko_until_the_limit_of_moves():
    start = draw(*TRIPLE_KO, max_moves=18)
    once = play(start, ROUND)
    assert board(once) == list(TRIPLE_KO) and once.to_move == 0 and not once.over
    assert play(once, ROUND + " " + ROUND).over


@pytest.mark.parametrize("ko", SUPERKO)
def test_a_triple_ko_is_stopped_by_superko_at_the_move_that_closes_the_round(ko):
    fifth = play(draw(*TRIPLE_KO, ko=ko), "c8 b5 c2 b8 c5")
    assert "b2" not in fifth.legal_moves
    assert "b2" in play(fifth, "j9 j1").legal_moves  # the board is another one now


@pytest.mark.parametrize("ko", SUPERKO)
def test_superko_remembers_the_stones_set_up_at_the_start(ko):
    taken = draw(*KO, ko=ko).play("c4")
    state = taken.state
    state["ko"] = 0  # the simple ko rule looks away; only the memory of the first board is left
    assert "b4" not in taken.game.position(state).legal_moves


# --- counting and the end of the game -----------------------------------------------------------------------------


def test_area_counts_stones_and_the_points_that_only_they_touch():
    position = draw(".X.O.", "XX.O.", "..XOO", "XXXO.", ".X.OO")
    # Black has 8 stones and a5, a3, b3, a1; White 7 stones and e5, e4, e2, and the komi; c5, c4 and c1 touch both
    assert position.scores == (8 + 4, 7 + 3 + 7)


def test_the_shared_liberties_of_a_seki_are_nobodys():
    # Both chains live by the two points c4 and c2: who plays one of them is taken by the other
    seki = draw("XXXOO", "XX.OO", "XXOOO", "XX.OO", "XXXOO", komi=0)
    assert seki.scores == (12, 11)
    assert sum(row.count("O") for row in board(play(seki, "c4"))) == 11
    assert sum(row.count("X") for row in board(play(seki, "c4 c2"))) == 0
    assert seki.play("pass").play("pass").result == 1


def test_dead_stones_are_not_taken_off_as_the_rules_of_area_scoring_by_play_say():
    # The white stone at a1 makes the whole corner neutral until Black takes it
    assert draw(".X.", "XX.", "O..", komi=0).scores == (3 + 1, 1)
    assert draw(".X.", "XX.", "O..", komi=0).play("b1").scores == (9, 0)


@pytest.mark.parametrize(
    ("komi", "result", "status"),
    [(-0.5, 1, "Black wins 0--0.5"), (0, 0, "Draw 0-0"), (0.5, -1, "White wins 0-0.5"), (7, -1, "White wins 0-7")],
)
def test_an_empty_board_is_decided_by_the_komi(komi, result, status):
    final = go(komi=komi).from_moves("pass pass")
    assert final.over and final.result == result and final.status == status


@pytest.mark.parametrize(("komi", "result"), [(8.5, 1), (9, 0), (9.5, -1)])
def test_half_a_point_decides(komi, result):
    assert go(3, komi=komi).from_moves("b2 pass pass").result == result


def test_two_passes_in_a_row_end_the_game_and_two_apart_do_not():
    assert not go().from_moves("pass").over
    assert not go().from_moves("pass c3 pass").over
    final = go().from_moves("pass c3 pass pass")
    assert final.over and final.legal_moves == [] and final.winner == 1
    with pytest.raises(IllegalMove, match="The game is over"):
        final.play("a1")


@pytest.mark.parametrize("ko", ALL_KO)
def test_the_limit_of_moves_ends_the_game_with_a_count(ko):
    game = go(3, komi=0, ko=ko, max_moves=3)
    assert game.max_length == 3
    assert not game.from_moves("b2 a1").over
    final = game.from_moves("b2 a1 b1")
    assert final.over and final.result == 1 and final.scores == (2 + 0, 1) and final.legal_actions == []


# --- set-ups, names, options --------------------------------------------------------------------------------------

NINE = {2: "c3 g7", 3: "c7", 4: "g3", 5: "e5", 6: "c5 g5", 7: "e5", 8: "e3 e7", 9: "e5"}  # added to the even count below


@pytest.mark.parametrize("stones_given", range(2, 10))
def test_handicap_stones_on_9x9_and_white_moves_first(stones_given):
    base = {2: [2], 3: [2, 3], 4: [2, 3, 4], 5: [2, 3, 4, 5], 6: [2, 3, 4, 6], 7: [2, 3, 4, 6, 7]}
    base |= {8: [2, 3, 4, 6, 8], 9: [2, 3, 4, 6, 8, 9]}
    wanted = sorted(" ".join(NINE[k] for k in base[stones_given]).split())
    start = go(9, handicap=stones_given).start()
    found = [start.game.move_name(int(cell)) for cell in np.flatnonzero(start.game.board(start.state).ravel() == 0)]
    assert sorted(found) == wanted and len(found) == stones_given
    assert start.to_move == 1 and start.play("a1").to_move == 0


@pytest.mark.parametrize("ko", ALL_KO)
def test_handicap_is_the_same_as_setting_the_stones_up(ko):
    game = go(9, handicap=3, ko=ko)
    assert game.set_up(["c3", "g7", "c7"], [], 1) == game.start()
    assert go(9, handicap=3, ko=ko).set_up([], []).scores == (0, 7)  # a set-up replaces the handicap


def test_points_have_names_without_the_letter_i():
    game = go(19)
    assert [game.move_name(k) for k in (0, 7, 8, 18, 361 - 19, 360, 361)] == ["a19", "h19", "j19", "t19", "a1", "t1", "pass"]
    assert game.action("J19") == 8 and game.action("Pass") == 361
    with pytest.raises(IllegalMove, match=r"'i3' is not a move of go; a move is a point from a1 \(lower left\) to t19"):
        game.action("i3")


def test_a_printed_position_can_be_read_back():
    game = go(13)
    position = game.from_moves("d4 k10 a1 n13 g7 pass")
    for shown in (position, game.from_moves("d4 k10 a1 n13 g7")):  # the last stone is in brackets, or there is none
        assert board(game.from_diagram(shown.text, shown.to_move)) == board(shown)
    assert go(2).from_moves("a1 b2").text == " 2  . (O)\n 1  X  .\n    a  b\nBlack to move, 1-8"


def test_names_and_numbers_set_up_the_same_position():
    assert go(3).set_up(["a3", "b3"], ["c1"], 1) == go(3).set_up([0, 1], [8], 1) == draw("XX.", "...", "..O", to_move=1)


@pytest.mark.parametrize(
    ("black", "white", "to_move", "sentence"),
    [
        (["a1"], ["a1"], 0, "at most one stone on each point"),
        (["a1", "a1"], [], 0, "at most one stone on each point"),
        (["pass"], [], 0, "at most one stone on each point"),
        ([9], [], 0, "at most one stone on each point"),
        ([-1], [], 0, "at most one stone on each point"),
        (["d4"], [], 0, "'d4' is not a move of go"),
        (["a2", "b1"], ["a1"], 0, "a chain has no liberty"),
        (["a1"], [], 2, "to_move must be a whole number from 0 to 1, not 2"),
    ],
)
def test_impossible_set_ups_are_refused_with_a_sentence(black, white, to_move, sentence):
    with pytest.raises(AzlabError, match=sentence):
        go(3).set_up(black, white, to_move)


def test_a_diagram_of_the_wrong_shape_is_refused():
    with pytest.raises(AzlabError, match="has 3 lines of 3 marks"):
        go(3).from_diagram("XX.\n...")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"size": 1}, "size must be a whole number from 2 to 19, not 1"),
        ({"size": 20}, "size must be a whole number from 2 to 19, not 20"),
        ({"size": 9.0}, "size must be a whole number"),
        ({"komi": "x"}, "komi must be a whole or half number of points, not 'x'"),
        ({"komi": 0.3}, "komi must be a whole or half number of points, not 0.3"),
        ({"komi": float("nan")}, "komi must be a whole or half number"),
        ({"komi": float("inf")}, "komi must be a whole or half number"),
        ({"ko": "foo"}, "ko must be one of 'simple', 'positional', 'situational', not 'foo'"),
        ({"size": 9, "handicap": 1}, "A handicap has at least 2 stones"),
        ({"size": 9, "handicap": 10}, "handicap on 9x9 must be a whole number from 2 to 9"),
        ({"size": 8, "handicap": 5}, "handicap on 8x8 must be a whole number from 2 to 4"),
        ({"size": 5, "handicap": 2}, "A 5x5 board is too small for handicap stones"),
        ({"max_moves": 0}, "max_moves must be a whole number from 1 to 30000, not 0"),
        ({"colour": 1}, "go has no option 'colour'"),
    ],
)
def test_bad_options_are_refused_with_a_sentence(options, sentence):
    with pytest.raises(AzlabError, match=sentence):
        azlab.game("go", **options)


@pytest.mark.parametrize(("size", "most"), [(5, 96), (9, 160), (19, 480)])
def test_a_state_is_small_and_only_superko_pays_for_a_memory(size, most):
    simple = go(size).dtype
    assert simple.itemsize <= most
    assert not {"history", "hash"} & set(simple.names)
    assert {"history", "hash"} <= set(go(size, ko="positional").dtype.names)


@pytest.mark.parametrize("options", [{}, {"ko": "positional"}, {"ko": "situational"}, {"size": 9, "handicap": 5}, {"size": 2}])
def test_the_contract_of_all_games_holds(options):
    game = go(**({"size": 4} | options))
    game.check(games=6)
    assert pickle.loads(pickle.dumps(game)) == game


def test_planes_show_own_stones_other_stones_the_ko_and_black_to_move():
    taken = draw(*KO).play("c4")
    planes = taken.game.encode(taken.state)[0]
    assert planes.sum(axis=(1, 2)).tolist() == [3, 4, 1, 0]
    assert planes[2, 1, 1] == 1 and planes[0, 1, 3] == 1 and planes[1, 1, 2] == 1
    assert taken.game.encode(taken.game.start().state)[0, 3].all()
