"""S2's records: a record by hand, round trips, real games, and files that are cut or damaged."""

import numpy as np
import pytest

from azlab.errors import AzlabError
from azlab.formats import records
from azlab.formats.records import Properties, decode, encode, in_parts, read_properties, read_records, write_records
from azlab.learning import go_set
from azlab.learning.go_sets import as_records

RNG = np.random.default_rng(5)


def some(count, size):
    return RNG.integers(0, 3, (count, size, size)).astype(np.int8), RNG.integers(0, size * size, count).astype(np.int16)


def test_a_record_by_hand():
    board = np.full((1, 19, 19), records.EMPTY, np.int8)
    board[0, 0, 2], board[0, 18, 18] = records.OWN, records.OTHER
    data = encode(np.array([300]), board)
    assert len(data) == 2 + 4 * 361
    assert data[:2] == bytes([300 - 256, 1])  # the lower byte first
    own, other, empty, ones = (data[2 + 361 * k : 2 + 361 * (k + 1)] for k in range(4))
    assert own.index(1) == 2 and sum(own) == 1  # row by row from the top
    assert other.index(1) == 360 and sum(other) == 1
    assert sum(empty) == 359 and ones == bytes([1]) * 361


@pytest.mark.parametrize(("count", "size"), [(0, 9), (1, 2), (57, 9), (13, 19)])
def test_what_is_written_is_read(count, size):
    boards, moves = some(count, size)
    found = decode(encode(moves, boards), size)
    assert np.array_equal(found.boards, boards) and np.array_equal(found.moves, moves)
    assert found.size == size and found.moves.dtype == np.int16


def test_files_are_written_and_read_together_or_one_by_one(tmp_path):
    boards, moves = some(53, 9)
    paths = write_records(tmp_path / "games", boards, moves, files=5)
    assert [path.name for path in paths] == [f"games_{k}.bin" for k in range(1, 6)]
    assert (tmp_path / "games.prop").read_text() == "11,11,11,10,10\n4\n9\n9\n"
    whole = read_records(tmp_path / "games")
    assert np.array_equal(whole.boards, boards) and np.array_equal(whole.moves, moves)
    assert np.array_equal(read_records(tmp_path / "games", [2]).moves, moves[11:22])
    with pytest.raises(AzlabError, match="number of a file"):
        read_records(tmp_path / "games", [6])


def test_cut_and_damaged_files_are_told(tmp_path):
    boards, moves = some(20, 9)
    path = write_records(tmp_path / "games", boards, moves)[0]
    whole = path.read_bytes()
    for damaged, says in (
        (whole[:-1], "the file is cut"),
        (whole[: 326 * 7], "7 records, but games.prop says 20"),
        (whole[:-1] + b"\x07", "planes or moves"),  # the plane of ones
        (b"\xff\xff" + whole[2:], "planes or moves"),
        (whole[:2] + bytes([1]) * 243 + whole[245:], "planes or moves"),  # all stones at once
        (b"", "0 records"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(AzlabError, match=says):
            read_records(tmp_path / "games")
    path.unlink()
    with pytest.raises(AzlabError, match="cannot be read"):
        read_records(tmp_path / "games")


@pytest.mark.parametrize("text", ["", "5\n4\n9\n", "5\n4\n9\n19\n", "5;6\n4\n9\n9\n", "-5\n4\n9\n9\n", "5\n4\n0\n0\n", "\xff"])
def test_what_is_no_file_of_properties_is_told(tmp_path, text):
    file = tmp_path / "games.prop"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(AzlabError, match="no file of properties"):
        read_properties(file)


def test_other_planes_and_bad_boards_are_refused(tmp_path):
    records.write_properties(tmp_path / "games.prop", Properties((3,), 6, 9))
    with pytest.raises(AzlabError, match="6 planes"):
        read_records(tmp_path / "games")
    board = np.zeros((1, 9, 9), np.int8)
    for moves, boards, says in (([81], board, "0 to 80"), ([-1], board, "a pass has no record"), ([3], board + 3, "holds 0")):
        with pytest.raises(AzlabError, match=says):
            encode(np.array(moves), boards)
    with pytest.raises(AzlabError, match="as many moves"):
        encode(np.array([1, 2]), board)


def test_the_programs_rule_gives_the_source_s_own_numbers():
    """S2 table 5.3: 385,694 and 643 test records; its training numbers are those of four of the five files."""
    assert in_parts(3_856_919) == (694_245, 385_694) and 4 * 694_245 == 2_776_980
    assert in_parts(6_403) == (1_152, 643) and 4 * 1_152 == 4_608


def test_records_of_real_games(need):
    need.data("go/9x9_pro.tar.gz")
    positions = go_set("go/9x9_pro.tar.gz", 9, 20)
    found = as_records(positions)
    played = positions.moves[:, 0] != 81
    assert np.array_equal(found.moves, positions.moves[played, 0])
    assert (found.boards[np.arange(len(found.moves)), found.moves // 9, found.moves % 9] == records.EMPTY).all()
    again = decode(encode(found.moves, found.boards), 9)
    assert np.array_equal(again.boards, found.boards)
    row = 31
    state = positions.states[played][row : row + 1]
    board, seat = positions.game.board(state), state["to_move"][0]
    own = np.where(board == seat, records.OWN, np.where(board == 1 - seat, records.OTHER, records.EMPTY))
    assert np.array_equal(found.boards[row], own)
