"""Seega: every rule and every option on hand-made boards, drawn from the text of source S4.

Random games are compared with a second set of rules in test_seega_again.py.

Rows are A to E from the top, columns 1 to 5; X is Black (seat 0), O is White (seat 1).
"""

import random
import string

import numpy as np
import pytest

import azlab
from azlab import AzlabError, IllegalMove
from azlab.games.seega import Seega
from azlab.games.seega_rules import RULE_SETS

# Figure 5.2 of S4, rebuilt so that Black's moves and the four captures are those of the text.
S4_BOARD = """
    OXO.O
    OXOXO
    XO.XO
    XOXOX
    XO.XO"""

# White's two stones in the corners cannot move; Black has a free stone on E3.
WHITE_BLOCKED = """
    OX.XO
    X...X
    .....
    .....
    ..X.."""


def board(diagram, to_move=0, **options):
    return azlab.game("seega", **options).from_diagram(diagram, to_move)


def rows(position):
    """The board as a line for each row."""
    return ["".join("XO."[stone] for stone in row) for row in position.state["board"][0]]


def play(position, moves):
    for move in moves.split():
        position = position.play(move)
    return position


def fill(game):
    """All placements row by row from the top; the position where moving begins."""
    position = game.start()
    while position.state["placing"][0]:
        position = position.play(position.legal_moves[0])
    return position


def ends(position):
    """All states in which the game can end from here."""
    if position.over:
        return {position.state.tobytes()}
    return set().union(*(ends(position.play(action)) for action in position.legal_actions))


# --- placing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("placement", "turns"), [(2, "001100110011"), (1, "010101010101")])
def test_each_turn_places_two_stones_or_one(placement, turns):
    path = azlab.game("seega", placement=placement).from_moves("A1 A2 A3 A4 A5 B1 B2 B3 B4 B5 C1").path()
    assert "".join(str(position.to_move) for position in path) == turns


@pytest.mark.parametrize(("size", "centre", "stones"), [(3, "B2", 4), (5, "C3", 12), (7, "D4", 24), (9, "E5", 40)])
def test_all_cells_but_the_centre_are_filled_and_then_stones_move(size, centre, stones):
    game = azlab.game("seega", size=size)
    position = game.start()
    for placed in range(2 * stones):
        assert len(position.legal_moves) == size * size - 1 - placed
        assert centre not in position.legal_moves
        with pytest.raises(IllegalMove):
            position.play(centre)
        position = position.play(position.legal_moves[-1])
    assert position.scores == (stones, stones)
    assert all("-" in move for move in position.legal_moves)


def test_an_occupied_cell_cannot_be_filled():
    assert "B2" not in azlab.game("seega").from_moves("B2").legal_moves


def test_stones_enclosed_while_placing_are_safe():
    position = azlab.game("seega", placement=1).from_moves("A1 A2 A3 B2 B1 B3")
    assert rows(position)[:2] == ["XOX..", "XOO.."]
    assert position.scores == (3, 3)


@pytest.mark.parametrize("placement", [1, 2])
def test_the_first_player_or_the_last_placer_starts_moving(placement):
    # Filled row by row, with either way of placing, C4 and D3 are black and B3 and C2 are white.
    first = fill(azlab.game("seega", placement=placement))
    assert first.to_move == 0
    assert set(first.legal_moves) == {"C4-left", "D3-up"}
    last = fill(azlab.game("seega", placement=placement, first_mover="last_placer"))
    assert last.to_move == 1
    assert set(last.legal_moves) == {"B3-down", "C2-right"}


def test_who_is_blocked_right_after_the_placing_is_passed_over_or_passes():
    moves = "A1 B3 A2 C2 A3 C4 A4 D3 A5 B2 B1 B4 E1 B5 E2 C1 E3 C5 E4 D2 E5 D4 D1 D5"  # all round the centre is white
    skip = azlab.game("seega", placement=1).from_moves(moves)
    assert skip.to_move == 1
    assert set(skip.legal_moves) == {"B3-down", "C2-right", "C4-left", "D3-up"}
    explicit = azlab.game("seega", placement=1, blocked="pass").from_moves(moves)
    assert explicit.to_move == 0
    assert explicit.legal_moves == ["stop"]


# --- steps and captures ---------------------------------------------------------------------------------------------


def test_stones_step_to_the_four_empty_neighbours_only():
    position = board("X....  ....O  ..X..  .....  O....".replace("  ", "\n"))
    corner, middle = {"A1-down", "A1-right"}, {"C3-up", "C3-down", "C3-left", "C3-right"}
    assert set(position.legal_moves) == corner | middle
    assert rows(position.play("C3-left")) == ["X....", "....O", ".X...", ".....", "O...."]
    assert position.play("C3-left").to_move == 1


CAPTURES = {  # name: (board, move, board afterwards); O has stones to spare
    "one stone": ("..... XO.X. ..... ..... O...O", "B4-left", "..... X.X.. ..... ..... O...O"),
    "two stones at once": ("..X.. ..O.. XO.X. ..... O...O", "C4-left", "..X.. ..... X.X.. ..... O...O"),
    "three stones at once": ("..X.. ..O.. XO.OX ..X.. O...O", "D3-up", "..X.. ..... X.X.X ..... O...O"),
    "not diagonally": ("X.... .O... ...X. ..... O...O", "C4-left", "X.... .O... ..X.. ..... O...O"),
    "not against the edge": ("..... O.X.. ..... ..... O.X.O", "B3-left", "..... OX... ..... ..... O.X.O"),
    "not in the corner": ("O.X.. X.... ..... ..... O...O", "A3-left", "OX... X.... ..... ..... O...O"),
    "not two stones in a row": ("..... XOO.X ..... ..... O...O", "B5-left", "..... XOOX. ..... ..... O...O"),
    "not across a gap": ("..... X.O.X ..... ..... O...O", "B5-left", "..... X.OX. ..... ..... O...O"),
    "not by other stones": ("XOX.. ..... ..... ..X.. O...O", "D3-up", "XOX.. ..... ..X.. ..... O...O"),
    "not by leaving": ("..... .XOX. ..... ..... O...O", "B2-up", ".X... ..OX. ..... ..... O...O"),
    "not with the cell just left": ("..... ..XO. ..... ..... O.X.O", "B3-up", "..X.. ...O. ..... ..... O.X.O"),
    "moving between two enemies is safe": ("..X.. .O.O. ..... ..... X...O", "A3-down", "..... .OXO. ..... ..... X...O"),
    "a capture from between two enemies": ("..X.. .O.OX ..... ..... O...O", "A3-down", "..... .OX.X ..... ..... O...O"),
}


@pytest.mark.parametrize("name", CAPTURES)
@pytest.mark.parametrize("chain", ["none", "optional"])
@pytest.mark.parametrize("seat", [0, 1])
def test_what_a_step_captures(name, chain, seat):
    before, move, after = CAPTURES[name]
    if seat == 1:
        before, after = before.translate(str.maketrans("XO", "OX")), after.translate(str.maketrans("XO", "OX"))
    position = board(before.replace(" ", "\n"), seat, chain=chain).play(move)
    assert rows(position) == after.split()
    assert position.scores == (after.count("X"), after.count("O"))
    assert position.to_move == 1 - seat
    assert not position.over


def test_a_stone_between_two_enemies_stays_safe_until_one_of_them_comes_anew():
    position = play(board("..X..\n.O.O.\n.....\n....O\nX...."), "A3-down D5-down E1-right")
    assert rows(position)[1] == ".OXO."
    position = play(position, "B4-right E2-left B5-left")
    assert rows(position)[1] == ".O.O."


def test_a_stone_on_the_centre_is_immune_only_by_option():
    diagram = ".....\n.X...\n..OX.\n.....\nO...O"
    assert rows(board(diagram).play("B2-down"))[2] == ".X.X."
    assert rows(board(diagram, safe_centre=True).play("B2-down"))[2] == ".XOX."
    white = diagram.translate(str.maketrans("XO", "OX"))
    assert rows(board(white, 1, safe_centre=True).play("B2-down"))[2] == ".OXO."


def test_a_safe_centre_protects_no_other_cell_and_its_stone_captures_as_usual():
    assert rows(board(".....\n.....\nX.XO.\n....X\nO...O", safe_centre=True).play("D5-up"))[2] == "X.X.X"
    assert rows(board(".....\n..X..\n...OX\n.....\nO...O", safe_centre=True).play("B3-down"))[2] == "..X.X"


@pytest.mark.parametrize("size", [7, 9])
def test_the_safe_centre_lies_in_the_middle_of_larger_boards(size):
    middle = size // 2
    lines = [list("." * size) for _ in range(size)]
    lines[middle][middle - 1 : middle + 2] = "XO."
    lines[middle - 1][middle + 1], lines[0][0] = "X", "O"
    diagram = "\n".join(map("".join, lines))
    step = f"{string.ascii_uppercase[middle - 1]}{middle + 2}-down"
    for safe in (False, True):
        # least_stones=1, because one white stone is left after the capture
        position = board(diagram, size=size, safe_centre=safe, least_stones=1).play(step)
        assert position.scores == (2, 2 if safe else 1)


# --- going on with a capture ----------------------------------------------------------------------------------------


def test_the_example_of_s4_captures_four_stones_in_one_turn():
    position = board(S4_BOARD)
    assert set(position.legal_moves) == {"B4-up", "C4-left", "D3-up", "D3-down", "E4-left"}
    assert rows(position.play("B4-up"))[0] == "OX.XO"
    for move, white_left, following in [
        ("D3-up", 11, {"C3-down", "stop"}),
        ("C3-down", 9, {"D3-down", "stop"}),
        ("D3-down", 8, None),
    ]:
        position = position.play(move)
        assert position.scores == (10, white_left)
        if following:
            assert position.to_move == 0
            assert set(position.legal_moves) == following
    assert position.to_move == 1
    assert rows(position) == ["OXO.O", "OXOXO", "X..XO", "X...X", "X.XXO"]


def test_the_example_of_s4_on_7x7_captures_three_and_then_one():
    position = board(".......\n...X...\n...OOX.\n.XO.OX.\n...X...\n.......\nO.....O", size=7).play("E4-up")
    assert position.scores == (5, 3)
    assert position.play("D4-up").scores == (5, 2)


def test_a_chain_may_be_stopped_at_any_time_when_it_is_optional():
    for moves, white_left in [("D3-up stop", 11), ("D3-up C3-down stop", 9)]:
        position = play(board(S4_BOARD), moves)
        assert position.to_move == 1
        assert position.scores == (10, white_left)
        assert "stop" not in position.legal_moves


def test_a_mandatory_chain_cannot_be_stopped():
    position = board(S4_BOARD, chain="mandatory").play("D3-up")
    assert position.legal_moves == ["C3-down"]
    assert play(position, "C3-down").legal_moves == ["D3-down"]
    assert play(position, "C3-down D3-down").to_move == 1
    assert len(board(S4_BOARD, chain="mandatory").legal_moves) == 5  # the first capture is no duty


def test_without_chains_the_turn_ends_after_one_capture():
    position = board(S4_BOARD, chain="none").play("D3-up")
    assert position.to_move == 1
    assert position.scores == (10, 11)


def test_a_quiet_step_never_starts_a_chain():
    # From B3 the stone could capture C2 by going down, but its step to B3 captured nothing.
    position = board(".....\n...X.\nXO...\n.....\nO...O", chain="mandatory").play("B4-left")
    assert position.to_move == 1


def test_a_chain_offers_every_capturing_step_of_that_stone_and_no_other():
    position = board("...OX\nXO.X.\nXO...\n.....\nX.OX.")
    assert "E1-right" in position.legal_moves  # it would capture E3
    position = position.play("B4-left")
    assert set(position.legal_moves) == {"B3-up", "B3-down", "stop"}
    assert rows(position.play("B3-up")) == ["..X.X", "X....", "XO...", ".....", "X.OX."]
    assert rows(position.play("B3-down")) == ["...OX", "X....", "X.X..", ".....", "X.OX."]
    assert position.play("B3-up").to_move == position.play("B3-down").to_move == 1


def test_a_stone_on_the_safe_centre_is_no_reason_to_go_on():
    diagram = ".X...\n..OX.\n..OX.\n.....\nO...O"
    assert set(board(diagram).play("A2-down").legal_moves) == {"B2-down", "stop"}
    assert board(diagram, safe_centre=True).play("A2-down").to_move == 1


# B5-left takes B3; after that no black stone can capture.
EXTRA = """
    .....
    .XO.X
    .....
    X....
    O...O"""


def test_an_extra_move_with_any_stone_is_any_step():
    position = board(EXTRA, extra_move="any").play("B5-left")
    assert position.scores == (3, 2)
    assert position.to_move == 0
    steps = {"B2-up", "B2-down", "B2-left", "B2-right", "B4-up", "B4-down", "B4-left", "B4-right", "D1-up", "D1-right"}
    assert set(position.legal_moves) == steps | {"stop"}
    assert position.play("D1-up").to_move == 1  # it took nothing, and so the turn ends
    assert position.play("stop").to_move == 1
    assert board(EXTRA, extra_move="same").play("B5-left").to_move == 1  # that stone cannot capture again
    forced = board(EXTRA, extra_move="any", chain="mandatory").play("B5-left")
    assert set(forced.legal_moves) == steps
    assert board(EXTRA, extra_move="any", chain="none").play("B5-left").to_move == 1


def test_an_extra_move_that_captures_gives_another():
    position = play(board("XO.X.\nXO.X.\n.....\n.....\nO...O", extra_move="any"), "A4-left B4-left")
    assert position.scores == (4, 2)
    assert position.to_move == 0
    assert play(position, "A1-right").to_move == 1


# --- rule sets ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RULE_SETS)
def test_a_rule_set_is_its_options_and_nothing_more(name):
    game = azlab.game("seega", rules=name)
    assert game == azlab.game("seega", **RULE_SETS[name])
    assert "rules" not in game.options
    assert eval(repr(game), {"azlab": azlab}) == game


def test_the_text_of_s4_is_the_default():
    assert azlab.game("seega", rules="s4") == azlab.game("seega")


def test_an_option_beside_the_rules_takes_their_place():
    game = azlab.game("seega", rules="maic", quiet_limit=20, size=7)
    assert (game.options["quiet_limit"], game.size) == (20, 7)
    assert game.options["safe_centre"] and game.options["first_mover"] == "last_placer"
    assert game == Seega(7, rules="maic", quiet_limit=20)


def test_an_unknown_rule_set_is_refused_with_the_names_of_the_others():
    with pytest.raises(AzlabError, match="one of 's4', 'maic', 'khamsawee', 'neto', 'richgames', 'bodogemu', not 'x'"):
        azlab.game("seega", rules="x")


def test_the_contest_of_programs_passes_the_turn_after_a_capture_and_keeps_the_centre_safe():
    maic = azlab.game("seega", rules="maic")
    assert maic.from_diagram(S4_BOARD).play("D3-up").to_move == 1
    assert fill(maic).to_move == 1
    assert rows(maic.from_diagram(".....\n.X...\n..OX.\n.....\nO...O").play("B2-down"))[2] == ".XOX."


# --- blocked players ------------------------------------------------------------------------------------------------


def test_a_blocked_player_is_passed_over():
    position = board(WHITE_BLOCKED).play("E3-left")
    assert position.to_move == 0
    assert "stop" not in position.legal_moves
    assert position.play("E2-left").to_move == 0
    assert position.play("A2-right").to_move == 1  # this lets A1 out


def test_a_blocked_player_passes_explicitly():
    position = board(WHITE_BLOCKED, blocked="pass").play("E3-left")
    assert position.to_move == 1
    assert position.legal_moves == ["stop"]
    position = position.play("stop")
    assert position.to_move == 0
    assert "stop" not in position.legal_moves


def test_a_drawn_position_of_a_blocked_player_is_treated_alike():
    assert board(WHITE_BLOCKED, to_move=1).to_move == 0
    assert board(WHITE_BLOCKED, to_move=1, blocked="pass").legal_moves == ["stop"]


def test_a_pass_counts_as_a_move_and_being_passed_over_does_not():
    for limit in ("quiet_limit", "move_limit"):
        passing = board(WHITE_BLOCKED, blocked="pass", **{limit: 2})
        assert not play(passing, "E3-left").over
        assert play(passing, "E3-left stop").over
        passed_over = board(WHITE_BLOCKED, **{limit: 2})
        assert not play(passed_over, "E3-left").over
        assert play(passed_over, "E3-left E2-left").over


# --- the end --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1])
def test_fewer_stones_than_the_least_end_the_game_and_more_stones_win(seat):
    diagram = "XO.X.\nX....\n.....\n.....\nO...."
    if seat == 1:
        diagram = diagram.translate(str.maketrans("XO", "OX"))
    for least, over in ((2, True), (1, False)):
        position = board(diagram, seat, least_stones=least).play("A4-left")
        assert position.over == over
        assert position.result == ((1, -1)[seat] if over else None)
        assert position.winner == (seat if over else None)
        assert (position.legal_moves == []) == over
    with pytest.raises(IllegalMove, match="The game is over"):
        board(diagram, seat).play("A4-left").play(0)


def test_with_least_stones_1_the_game_goes_on_until_no_stone_is_left():
    position = board("XO.X.\n.....\n.....\n.....\n.....", least_stones=1).play("A4-left")
    assert (position.over, position.result, position.scores) == (True, 1, (2, 0))


def test_the_capture_that_ends_the_game_has_no_continuation():
    # A3-down would capture B2 with B1, but White has one stone left.
    position = board("XO.X.\nXO...\n.....\n.....\n.....").play("A4-left")
    assert (position.over, position.scores) == (True, (3, 1))


STONES = {1: "X...X\n.....\n.....\n..X..\nO...O", 0: "X...X\n.....\n.....\n.....\nO...O"}
STONES[-1] = "X...X\n.....\n..O..\n.....\nO...O"


@pytest.mark.parametrize("result", STONES)
@pytest.mark.parametrize("limit", ["quiet_limit", "move_limit"])
def test_at_a_limit_the_majority_of_stones_wins(result, limit):
    path = play(board(STONES[result], **{limit: 3}), "A1-right E1-up A2-left").path()
    assert [position.over for position in path] == [False, False, False, True]
    assert path[-1].result == result


def test_twenty_moves_of_both_players_without_a_capture_end_the_game_by_default():
    path = play(board(STONES[1]), "A1-right E1-right A2-left E2-left " * 5).path()
    assert [position.over for position in path] == [False] * 20 + [True]
    assert path[-1].result == 1


def test_a_capture_starts_the_quiet_count_anew_but_not_the_count_of_moves():
    diagram, moves = "XO.X.\n.....\nX....\n.....\nO.O..", "C1-right E1-up A4-left E3-right C2-right D1-down C3-left"
    quiet = play(board(diagram, quiet_limit=3), "C1-right E1-up A4-left E3-right C2-right E4-right").path()
    assert [position.over for position in quiet] == [False] * 6 + [True]
    capped = play(board(diagram, quiet_limit=None, move_limit=7), moves).path()
    assert [position.over for position in capped] == [False] * 7 + [True]


def test_a_capture_on_the_last_move_still_counts():
    position = board("XO.X.\n.....\n.....\nO....\nO....", move_limit=1).play("A4-left")
    assert (position.over, position.result, position.scores) == (True, 0, (2, 2))


def test_each_step_of_a_chain_is_a_move_and_stopping_is_none():
    capped = board(S4_BOARD, quiet_limit=None, move_limit=2)
    assert not play(capped, "D3-up stop").over
    assert play(capped, "D3-up stop A3-right").over
    assert play(capped, "D3-up C3-down").over
    assert not play(board(S4_BOARD, quiet_limit=1), "D3-up stop").over
    assert play(board(S4_BOARD, quiet_limit=1), "D3-up stop A3-right").over


@pytest.mark.parametrize("limit", ["quiet_limit", "move_limit"])
def test_placing_counts_toward_no_limit(limit):
    position = fill(azlab.game("seega", **{"quiet_limit": None, limit: 1}))
    assert not position.over
    assert position.play("D3-up").over
    assert position.play("D3-up").ply == 25


@pytest.mark.parametrize(
    "position",
    [
        board(S4_BOARD, move_limit=2),
        board(S4_BOARD, move_limit=2, chain="mandatory"),
        board(S4_BOARD, move_limit=2, chain="none"),
        board(WHITE_BLOCKED, move_limit=2, blocked="pass"),
        board(S4_BOARD, move_limit=3).play("D3-up"),
        azlab.game("seega", move_limit=1).from_moves(fill(azlab.game("seega")).moves[:-2]),
    ],
    ids=["optional", "mandatory", "none", "pass", "within a chain", "placing"],
)
def test_random_playouts_reach_exactly_the_ends_that_legal_moves_reach(position):
    final = position.game.playout(np.repeat(position.state, 3000))
    assert {state.tobytes() for state in final} == ends(position)


# --- names, text, options -------------------------------------------------------------------------------------------


def test_actions_are_numbered_as_in_s4_and_named_by_cell_and_direction():
    game = azlab.game("seega")
    numbers = {"A1-up": 0, "D3-up": 68, "D3-down": 69, "D3-left": 70, "D3-right": 71, "A1": 100, "B2": 106, "stop": 125}
    assert {name: game.action(name) for name in numbers} == numbers
    assert game.action("d3-UP") == 68
    assert azlab.game("seega", size=9).action("I9") == 4 * 81 + 80
    with pytest.raises(IllegalMove, match="step with a cell and a direction"):
        game.action("D3-sideways")


def test_the_text_shows_the_board_the_last_move_and_the_stones():
    assert play(board(".....\nXO.X.\n.....\n.....\nO...O"), "B4-left").text.splitlines() == [
        "A .   .   .   .   .",
        "B X   .  (X)  .   .",
        "C .   .   .   .   .",
        "D .   .   .   .   .",
        "E O   .   .   .   O",
        "  1   2   3   4   5",
        "White to move, 2-2",
    ]


@pytest.mark.parametrize("size", [3, 5, 7, 9])
def test_a_printed_position_can_be_read_back(size):
    game = azlab.game("seega", size=size, chain="none", quiet_limit=200)
    position, chance = fill(game), random.Random(size)
    for _ in range(60):
        if position.over:
            break
        again = game.from_diagram(position.text, position.to_move)
        assert (rows(again), again.status) == (rows(position), position.status)
        position = position.play(chance.choice(position.legal_actions))


@pytest.mark.parametrize(
    "options",
    [{"size": 6}, {"size": 1}, {"size": 5.0}, {"placement": 3}, {"placement": 0}, {"first_mover": "white"},
     {"safe_centre": "yes"}, {"chain": "maybe"}, {"extra_move": "all"}, {"rules": "mine"},
     {"blocked": "lose"}, {"least_stones": 0}, {"least_stones": 3},
     {"quiet_limit": 0}, {"quiet_limit": 301}, {"move_limit": 0}, {"move_limit": 2.5}, {"quiet_limit": None, "move_limit": None}],
    ids=str,
)  # fmt: skip
def test_an_impossible_option_is_refused_in_one_sentence(options):
    with pytest.raises(AzlabError, match=next(iter(options))) as caught:
        azlab.game("seega", **options)
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message


@pytest.mark.parametrize(
    ("diagram", "to_move"),
    [("XX\nOO", 0), ("XO..." * 6, 0), ("XOXOX\n" * 5, 0), ("X...O\n....." + "\n....." * 3, 0), (S4_BOARD, 2)],
    ids=["too small", "one line", "full", "too few stones", "no such seat"],
)
def test_an_impossible_diagram_is_refused_in_one_sentence(diagram, to_move):
    with pytest.raises(AzlabError):
        board(diagram, to_move)
