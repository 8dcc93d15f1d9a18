"""SGF: the format's corners, damaged files, round trips, and every game of the public archives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azlab.formats import datasets, sgf
from azlab.formats.sgf import SgfError, SgfGame, main_line, parse, write


def comment(text: str) -> str:
    return parse(f"(;C[{text}])")[0].properties["C"][0]


def test_a_whole_small_game():
    record = main_line("(;GM[1]FF[4]SZ[9]KM[6.5]RU[Chinese]RE[B+R]PB[Ann]BR[3d]PW[Bob]WR[5k]\n;B[ee];W[aa]\n;B[ba];W[tt];B[])")
    assert record == SgfGame(
        size=9,
        komi=6.5,
        rules="Chinese",
        result="B+R",
        moves=((0, 40), (1, 0), (0, 1), (1, sgf.PASS), (0, sgf.PASS)),
        black_name="Ann",
        black_rank="3d",
        white_name="Bob",
        white_rank="5k",
    )


def test_first_letter_is_the_column_and_row_0_is_at_the_top():
    assert main_line("(;SZ[9];B[ca])").moves == ((0, 2),)
    assert main_line("(;SZ[9];B[ac])").moves == ((0, 18),)


def test_what_a_file_does_not_say():
    record = main_line("(;)")
    assert record == SgfGame()
    assert (record.size, record.komi, record.to_move, record.moves) == (19, None, 0, ())


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"a\]b", "a]b"),
        (r"a\\", "a\\"),
        (r"\\\]", "\\]"),
        (r"1\:2", "1:2"),
        ("(;B[aa\\])", "(;B[aa])"),
        ("one\\\ntwo", "onetwo"),
        ("one\\\r\ntwo", "onetwo"),
        ("one\ntwo", "one\ntwo"),
        ("", ""),
    ],
)
def test_escapes(written: str, meant: str):
    assert comment(written) == meant


def test_a_very_long_value_with_many_escapes():
    assert comment(r"x\]" * 200_000) == "x]" * 200_000


def test_variations_keep_their_order_and_the_main_line_is_the_first():
    text = "(;SZ[9];B[aa](;W[bb];B[cc](;W[dd])(;W[ee]))(;W[ff]))(;SZ[13])"
    first, second = parse(text)
    assert second.properties == {"SZ": ["13"]}
    after_black = first.children[0]
    assert [child.properties for child in after_black.children] == [{"W": ["bb"]}, {"W": ["ff"]}]
    assert [child.properties["W"] for child in after_black.children[0].children[0].children] == [["dd"], ["ee"]]
    assert main_line(text).moves == ((0, 0), (1, 10), (0, 20), (1, 30))


def test_a_long_game_and_deep_nesting_need_no_recursion():
    assert len(main_line("(;" + ";B[aa];W[bb]" * 50_000 + ")").moves) == 100_000
    assert len(main_line("(;B[aa]" * 20_000 + ")" * 20_000).moves) == 20_000


def test_legacy_names_ignore_lower_case():
    record = main_line("(;GaMe[1]SiZe[9]KoMi[5.5]PlayerBlack[Ann];Black[aa];White[bb])")
    assert (record.size, record.komi, record.black_name, record.moves) == (9, 5.5, "Ann", ((0, 0), (1, 10)))
    assert main_line("(;sz[9];b[aa])").moves == ((0, 0),)


def test_white_space_is_allowed_between_everything():
    record = main_line("\n( ; SZ [9]\r\n AB [aa]\n [bb] \t; W\n[cc] ; B[d\nd] )\n")
    assert (record.black, record.moves) == ((0, 10), ((1, 20), (0, 30)))


def test_tt_is_a_pass_up_to_19_and_a_point_above():
    assert main_line("(;SZ[19];B[tt])").moves == ((0, sgf.PASS),)
    assert main_line("(;SZ[21];B[tt])").moves == ((0, 19 * 21 + 19),)
    assert main_line("(;SZ[52];B[ZZ];W[])").moves == ((0, 52 * 52 - 1), (1, sgf.PASS))


def test_set_up_with_rectangles_and_removal():
    record = main_line("(;SZ[9]AB[aa:cb][ee]AW[ii];AE[ba]AW[ee];W[gg])")
    assert record.black == (0, 2, 9, 10, 11)
    assert record.white == (40, 80)
    assert record.to_move == 1


def test_rectangles_may_name_any_two_corners():
    assert main_line("(;SZ[9]AB[cb:aa])").black == main_line("(;SZ[9]AB[aa:cb])").black == (0, 1, 2, 9, 10, 11)


@pytest.mark.parametrize(
    ("text", "seat"),
    [
        ("(;SZ[9])", 0),
        ("(;SZ[9];W[aa])", 1),
        ("(;SZ[9]HA[2]AB[cc][gg])", 1),
        ("(;SZ[9]HA[2]AB[cc][gg];B[ee])", 0),
        ("(;SZ[9]HA[0])", 0),
        ("(;SZ[9]PL[W])", 1),
        ("(;SZ[9]PL[2])", 1),
        ("(;SZ[9]HA[2]PL[black]AB[cc][gg])", 0),
    ],
)
def test_who_plays_first(text: str, seat: int):
    assert main_line(text).to_move == seat


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ("", 0, "a game tree that starts with"),
        ("just words", 0, "a game tree that starts with"),
        ("()", 0, "a game tree that starts with"),
        ("(;B[aa];W[bb]", 13, r"'\)' to close the game tree that was opened at character 0"),
        ("(;B[aa](;W[bb])", 15, r"'\)' to close the game tree"),
        ("(;C[never closed)", 3, "']' to close the value"),
        ("(;C[escaped end\\])", 3, "']' to close the value"),
        ("(;AB[aa][bb)", 8, "']' to close the value"),
        ("(;B[aa](W[bb]))", 8, "';' after"),
        ("(;B)", 3, r"'\[' after property B"),
        ("(;[aa])", 2, "a property name before the value"),
        ("(;B[aa]!)", 7, "';', "),
        ("(;B[aa])junk", 8, "the end of the text"),
        ("(;B[aa]))", 8, "the end of the text"),
        ("(;B[aa](;W[bb]);B[cc])", 15, "after a variation"),
    ],
)
def test_broken_text_says_where_and_what_was_expected(text: str, offset: int, expected: str):
    with pytest.raises(SgfError, match=f"expected .*{expected}") as caught:
        parse(text)
    assert caught.value.offset == offset


def test_junk_before_the_first_tree_is_skipped():
    assert main_line("\ufeffFrom: ann (at home)\n\n(;SZ[9];B[aa])").moves == ((0, 0),)


def test_an_unclosed_value_is_found_in_linear_time():
    with pytest.raises(SgfError, match="to close the value"):
        parse("(;C[" + "a\\]" * 200_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(;SZ[19:13])", "square"),
        ("(;SZ[0])", "1 to 52"),
        ("(;SZ[53])", "1 to 52"),
        ("(;SZ[big])", "board size"),
        ("(;GM[2])", "a game of Go"),
        ("(;KM[six])", "komi"),
        ("(;KM[nan])", "komi"),
        ("(;HA[two])", "handicap"),
        ("(;PL[?])", "PL"),
        ("(;SZ[9];B[jj])", "9x9 board"),
        ("(;SZ[9];B[a])", "9x9 board"),
        ("(;SZ[21];B[zz])", "21x21 board"),
        ("(;SZ[9];B[aa][bb])", "one move"),
        ("(;SZ[9]AB[aj])", "9x9 board"),
        ("(;SZ[9]AB[])", "9x9 board"),
        ("(;SZ[9]AB[aa]AW[aa])", "only one of"),
        ("(;SZ[9]AB[aa]AE[aa])", "only one of"),
    ],
)
def test_values_that_make_no_game(text: str, expected: str):
    with pytest.raises(SgfError, match=expected):
        main_line(text)


@pytest.mark.parametrize("edit", ["AB[cc]", "AW[cc]", "AE[aa]", "B[dd]AW[cc]"])
def test_set_up_in_mid_game_is_refused(edit: str):
    with pytest.raises(SgfError, match="set-up in mid-game is not supported") as caught:
        main_line(f"(;SZ[9];B[aa];{edit};W[bb])")
    assert caught.value.offset == 13


def test_set_up_in_a_variation_is_no_matter():
    assert main_line("(;SZ[9];B[aa](;W[bb])(;AW[cc]))").moves == ((0, 0), (1, 10))


def test_komi_with_a_comma_and_a_square_size_written_twice():
    assert main_line("(;SZ[9:9]KM[6,5])").komi == 6.5
    assert main_line("(;SZ[9:9]KM[-20.00])").komi == -20.0


def test_names_are_one_line():
    assert main_line("(;PB[ Ann\n of Bern ])").black_name == "Ann  of Bern"


# One-line text as the format has it: no white space but spaces, and none at the ends.
one_line = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]) | st.just(" ")).map(str.strip)


@st.composite
def records(draw: st.DrawFn) -> SgfGame:
    size = draw(st.integers(1, 52))
    points = st.integers(0, size * size - 1)
    stones = draw(st.dictionaries(points, st.integers(0, 1), max_size=12))
    return SgfGame(
        size=size,
        komi=draw(st.none() | st.floats(-400, 400).map(lambda komi: round(komi, 2))),
        handicap=draw(st.integers(0, 9)),
        rules=draw(one_line),
        result=draw(one_line),
        black=tuple(sorted(point for point, seat in stones.items() if seat == 0)),
        white=tuple(sorted(point for point, seat in stones.items() if seat == 1)),
        to_move=draw(st.integers(0, 1)),
        moves=tuple(draw(st.lists(st.tuples(st.integers(0, 1), st.just(sgf.PASS) | points), max_size=40))),
        black_name=draw(one_line),
        white_name=draw(one_line),
        black_rank=draw(one_line),
        white_rank=draw(one_line),
    )


@given(records())
def test_round_trip(record: SgfGame):
    assert main_line(write(record)) == record


@given(st.text(alphabet="();[]\\BWAab:\n ", max_size=40))
def test_any_text_gives_trees_or_an_sgf_error(text: str):
    try:
        roots = parse(text)
    except SgfError as error:
        assert 0 <= error.offset <= len(text)
    else:
        assert roots


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (SgfGame(size=53), "1 to 52"),
        (SgfGame(komi=float("inf")), "finite"),
        (SgfGame(size=9, black=(81,)), "0 to 80"),
        (SgfGame(size=9, black=(3,), white=(3,)), "cannot hold"),
        (SgfGame(size=9, moves=((0, 81),)), "Move 1"),
        (SgfGame(size=9, moves=((2, 1),)), "Move 1"),
    ],
)
def test_a_record_that_cannot_be_written(record: SgfGame, problem: str):
    with pytest.raises(ValueError, match=problem):
        write(record)


@pytest.mark.parametrize(
    ("name", "games", "size", "moves"),
    [
        ("go/9x9_pro.tar.gz", 384, 9, 17_985),
        ("go/9x9_rated.tar.gz", 5_046, 9, 293_425),
        ("go/kgs_2003.tar.gz", 7_582, 19, 1_502_476),
        ("go/kgs_2015.tar.gz", 8_133, 19, 1_601_925),
    ],
)
@pytest.mark.slow
def test_every_game_of_the_archives(need, name: str, games: int, size: int, moves: int):
    need.data(name)
    found = 0
    found_moves = 0
    for member, text in datasets.sgf_games(name):
        record = main_line(text)
        assert record.size == size, member
        # The moves counted another way: these files have one move a node and no variations.
        assert len(record.moves) == text.count(";B[") + text.count(";W["), member
        assert not record.handicap or len(record.black) in (0, record.handicap), member
        if found % 50 == 0:
            assert main_line(write(record)) == record, member
        found += 1
        found_moves += len(record.moves)
    assert (found, found_moves) == (games, moves)
