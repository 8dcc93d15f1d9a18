"""Seega's tables: the numbering of boards against formulas, files that are damaged or of other rules, runs that are killed."""

import itertools
import math
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

import azlab
from azlab import AzlabError
from azlab.cli import main
from azlab.commands.words import as_option
from azlab.games import grid
from azlab.oracles import oracle, seega_kernels, seega_make
from azlab.oracles.making import read_options
from azlab.oracles.seega_boards import number_boards, subsets
from azlab.oracles.seega_files import Plane, rows_in_block
from azlab.oracles.seega_make import make_tables
from azlab.oracles.seega_tables import Rules, hunts, rules_of, shape, signs, values_at

RULES = Rules(5, False, "optional", "skip", 2, 20)


def cycles(image):
    """The lengths of the cycles of a permutation."""
    left, found = set(range(len(image))), []
    while left:
        cell = start = left.pop()
        length = 1
        while (cell := int(image[cell])) != start:
            left.discard(cell)
            length += 1
        found.append(length)
    return found


def sets_left_alone(image, stones):
    """How many sets of so many cells a symmetry maps onto themselves: they consist of whole cycles."""
    ways = [1] + [0] * stones
    for length in cycles(image):
        for size in range(stones, length - 1, -1):
            ways[size] += ways[size - length]
    return ways[stones]


def content(folder):
    """Every file of a folder of tables."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.depths")}


# --- the numbering --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "most"), [(3, 8), (5, 8)])
def test_there_are_as_many_rows_as_sets_of_cells_up_to_symmetry(size, most):
    """Counted by Burnside's lemma, and each row stands for as many sets as its images."""
    boards = number_boards(size, most)
    images = [image for _, image in grid.transformations(size, size)]
    for stones in range(most + 1):
        rows = boards.rows[boards.first_row[stones] : boards.first_row[stones + 1]]
        assert 8 * len(rows) == sum(sets_left_alone(image, stones) for image in images)
        turned = np.stack([sum(((rows >> cell & 1) << int(image[cell])) for cell in range(size * size)) for image in images])
        orbits = [len(set(column)) for column in turned.T.tolist()]
        assert sum(orbits) == math.comb(size * size, stones)
        assert (turned.min(axis=0) == rows).all()


@pytest.mark.parametrize(("size", "kind"), [(3, (2, 3)), (3, (4, 4)), (5, (1, 2)), (5, (2, 2))])
def test_the_boards_of_a_class_are_as_many_as_the_formula_says_and_fill_its_table(size, kind):
    own, other = kind
    cells = range(size * size)
    found = []
    for mine in itertools.combinations(cells, own):
        rest = [cell for cell in cells if cell not in mine]
        found += [(sum(1 << c for c in mine), sum(1 << c for c in others)) for others in itertools.combinations(rest, other)]
    factorial = math.factorial
    left = size * size - own - other
    assert len(found) == factorial(size * size) // (factorial(own) * factorial(other) * factorial(left))
    boards = number_boards(size, own + other)
    indices = np.empty(len(found), np.int64)
    seega_kernels.index_all(boards, *np.array(found, np.int64).T.copy(), indices)
    rows, width = shape(boards, kind)
    assert sorted(set(indices.tolist())) == list(range(rows * width))


def test_symmetric_boards_have_the_same_entry_and_others_do_not():
    boards = number_boards(5, 5)
    rng = np.random.default_rng(0)
    images = [image for _, image in grid.transformations(5, 5)]
    first = {}
    for _ in range(3000):
        cells = rng.permutation(25)[:5]
        own, other = (np.array([sum(1 << int(image[c]) for c in some) for image in images]) for some in (cells[:2], cells[2:]))
        orbit = set(zip(own.tolist(), other.tolist(), strict=True))
        indices = np.empty(8, np.int64)
        seega_kernels.index_all(boards, own, other, indices)
        if len({o | p for o, p in orbit}) == 8:  # no symmetry leaves the occupied cells as they are
            assert len(set(indices.tolist())) == 1
        assert first.setdefault(int(indices[0]), orbit) == orbit


def test_subsets_are_ranked_as_the_numbering_says():
    rank = number_boards(3, 8).rank
    for own in range(9):
        masks = subsets(8, own)
        assert rank[masks].tolist() == list(range(math.comb(8, own)))
        # all other stones, the last first: a row turned round is the order of the other side
        assert rank[255 ^ masks].tolist() == list(range(math.comb(8, own)))[::-1]


def test_classes_of_the_moving_phase():
    assert RULES.classes(5) == [(2, 3), (3, 2)]
    assert RULES.classes(24) == [(12, 12)] and RULES.classes(23) == [(11, 12), (12, 11)] and RULES.classes(3) == []
    total = sum(
        math.factorial(25) // math.factorial(b) // math.factorial(w) // math.factorial(25 - b - w)
        for n in range(25)
        for b, w in RULES.classes(n)
    )
    assert math.isclose(total, 7.764e11, rel_tol=1e-3)


def test_values_follow_from_the_depths():
    depths = (np.array([0, 3, 3, 0]), np.array([0, 0, 7, 2]))
    assert values_at(RULES, (2, 3), depths, 6).tolist() == [-1, 0, 0, 0]
    assert values_at(RULES, (2, 3), depths, 7).tolist() == [-1, 0, 1, 0]
    assert values_at(RULES, (3, 2), depths, 7).tolist() == [1, 0, -1, 0]
    assert values_at(RULES, (3, 3), depths, np.array([9, 2, 6, 1])).tolist() == [0, 0, 1, 0]
    endless = Rules(5, False, "optional", "skip", 2, None)
    assert signs(endless, (2, 5)) == (0, 1, -1) and len(hunts(endless, (2, 5))) == 2 and len(hunts(RULES, (3, 3))) == 1


# --- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules",
    [RULES, Rules(5, True, "mandatory", "pass", 1, 30), Rules(3, False, "none", "skip", 2, None)],
    ids=lambda rules: rules.name,
)
def test_the_command_that_a_sentence_names_makes_the_tables_of_these_rules(rules):
    words = rules.command(5).split()
    assert words[:4] == ["azlab", "data", "make", "seega"]
    options = read_options("seega", dict(map(as_option, words[4:])))
    assert options.stones == 5 and rules_of(options.game, options.endless) == rules


def test_tables_are_made_by_the_command(tmp_path, capsys):
    words = ["data", "make", "seega", "size=3", "stones=5", "quiet_limit=3", "--out", str(tmp_path)]
    assert main(words) == 0
    said = capsys.readouterr().out
    game = azlab.game("seega", size=3, quiet_limit=3)
    folder = make_tables(5, tmp_path, game=game).folder
    assert said == f"Seega, perfect play with up to 5 stones ({rules_of(game).name}): in {folder}.\n"
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert before and main(words) == 0 and {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    for wrong, sentence in (("stones=9", "from 4 to 8"), ("size=7", "not on 7x7"), ("chain=maybe", "chain")):
        assert main([*words[:4], wrong, "--out", str(tmp_path)]) == 2
        assert sentence in capsys.readouterr().err


@pytest.fixture
def small(tmp_path):
    """The tables of 3x3 with a limit of four, and their folder."""
    game = azlab.game("seega", size=3, quiet_limit=4)
    return game, make_tables(8, tmp_path / "tables", game=game), tmp_path / "tables"


def damage(path, how):
    whole = path.read_bytes()
    line = whole.index(b"\n") + 1
    changed = {
        "cut": whole[:-3],
        "cut in the first line": whole[: line // 2],
        "empty": b"",
        "longer": whole + b"x",
        "a bit in a block": whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
        "a bit in the places": whole[: line + 9] + bytes([whole[line + 9] ^ 1]) + whole[line + 10 :],
        "the limit in the first line": whole.replace(b'"quiet_limit": 4', b'"quiet_limit": 5'),
        "no first line": whole[line:],
        "other text": b'{"a": 1}\n' + whole[line:],
    }[how]
    assert changed != whole
    path.write_bytes(changed)
    return whole


@pytest.mark.parametrize(
    "how",
    ["cut", "cut in the first line", "empty", "longer", "a bit in a block", "a bit in the places", "the limit in the first line",
     "no first line", "other text"],
)  # fmt: skip
def test_a_damaged_file_is_refused_in_a_sentence_and_made_again_on_request(small, how):
    game, tables, folder = small
    path = tables.path((3, 4), 1)
    whole = damage(path, how)
    position = game.from_diagram("XOX\nO.X\nO.O")
    again = "Make it again with `azlab data make seega stones=7 size=3 quiet_limit=4`"
    with pytest.raises(AzlabError, match=f"3-4-b.depths is truncated or damaged: .* {again}") as caught:
        oracle(game, folder=folder).value(position)
    assert "\n" not in str(caught.value)
    make_tables(8, folder, game=game)
    assert path.read_bytes() == whole
    assert oracle(game, folder=folder).value(position) in (-1, 0, 1)


def test_a_file_of_other_rules_is_refused_in_a_sentence_and_made_again_on_request(small):
    game, tables, folder = small
    other = make_tables(8, folder, game=azlab.game("seega", size=3, quiet_limit=5))
    path = tables.path((3, 4), 0)
    whole = path.read_bytes()
    shutil.copy(other.path((3, 4), 0), path)
    with pytest.raises(AzlabError, match="3-4-a.depths is of other rules: its quiet_limit is 5, not 4. Make it again"):
        oracle(game, folder=folder).value(game.from_diagram("XOX\nO.X\nO.O"))
    shutil.copy(tables.path((4, 3), 0), path)
    with pytest.raises(AzlabError, match="3-4-a.depths is of other rules: its other is 3, not 4"):
        oracle(game, folder=folder).value(game.from_diagram("XOX\nO.X\nO.O"))
    make_tables(8, folder, game=game)
    assert path.read_bytes() == whole


def test_tables_of_fewer_stones_are_kept_and_more_are_added(tmp_path):
    game = azlab.game("seega", size=3)
    few = make_tables(5, tmp_path, game=game)
    assert few.stones == 5
    before = {path: path.stat().st_mtime_ns for path in few.folder.glob("*.depths")}
    assert make_tables(8, tmp_path, game=game).stones == 8
    assert {path: path.stat().st_mtime_ns for path in before} == before
    few.path((2, 3), 0).unlink()
    assert few.stones == 4


def test_blocks_of_rows_give_back_what_was_written(small):
    _, tables, _ = small
    rows, width = shape(tables.boards(7), (3, 4))
    plane = Plane(tables.path((3, 4), 0), tables.about((3, 4), 0), rows, width, "")
    everything = np.concatenate([plane.block(number) for number in range(plane.blocks)])
    assert len(everything) == rows * width and 0 < everything.max() <= 4
    assert (plane.depths(np.arange(rows * width)) == everything).all()
    assert rows_in_block(10) % 4 == 0 and rows_in_block(10**7) == 4


@pytest.mark.parametrize("endless", [False, True])
def test_depths_beyond_a_byte_are_kept_in_two(tmp_path, monkeypatch, endless):
    """As if a byte ended at 3: nothing else may change."""
    game = azlab.game("seega", size=3)
    usual = make_tables(8, tmp_path / "usual", game=game, endless=endless)
    monkeypatch.setattr(seega_make, "NEVER", 3)
    wide = make_tables(8, tmp_path / "wide", game=game, endless=endless)
    deep = 0
    for n in range(4, 9):
        for kind in usual.rules.classes(n):
            for one, two in zip(usual.planes(kind), wide.planes(kind), strict=True):
                assert (one.depths(np.arange(one.rows * one.width)) == two.depths(np.arange(one.rows * one.width))).all()
                deep += two.dtype == np.uint16
    assert deep


def test_one_thread_and_several_write_the_same_bytes(tmp_path, monkeypatch):
    make_tables(5, tmp_path / "one", threads=1)
    monkeypatch.setattr(seega_make, "PIECE", 500)
    make_tables(5, tmp_path / "three", threads=3)
    assert content(tmp_path / "one") == content(tmp_path / "three")


# --- runs that stop -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [1, 9, 20])
def test_an_interrupted_run_goes_on_and_ends_with_the_same_bytes(tmp_path, after):
    game = azlab.game("seega", size=3)
    make_tables(8, tmp_path / "whole", game=game)
    reports = itertools.count(1)

    def interrupt(done, total):
        if next(reports) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_tables(8, tmp_path / "parts", interrupt, game)
    assert content(tmp_path / "parts") != content(tmp_path / "whole")
    make_tables(8, tmp_path / "parts", game=game)
    assert content(tmp_path / "parts") == content(tmp_path / "whole")


KILLED = """
import os, signal, sys
from azlab.oracles.seega_make import make_tables

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

when = sys.argv[2]
if when == "writing":
    os.fsync = kill
make_tables(5, sys.argv[1], lambda done, total: when != "writing" and done > float(when) * total and kill())
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_a_run_killed_at_any_time_goes_on_and_ends_with_the_same_bytes(tmp_path):
    make_tables(5, tmp_path / "whole")
    left = []
    for when in ("0.01", "writing", "0.1", "0.5", "writing"):
        done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "parts"), when], env=os.environ)
        assert done.returncode == -signal.SIGKILL
        assert content(tmp_path / "parts") != content(tmp_path / "whole")
        left += [path for path in (tmp_path / "parts").rglob(".*.depths")]
    assert left  # a file that was being written
    make_tables(5, tmp_path / "parts")
    assert content(tmp_path / "parts") == content(tmp_path / "whole")


def test_two_processes_cannot_make_the_same_tables_at_once(small):
    game, tables, folder = small
    from azlab.files import locked

    with locked(tables.folder, "taken"), pytest.raises(AzlabError, match="^Another process is making tables in "):
        make_tables(8, folder, game=game)


@pytest.mark.parametrize("stones", [3, 25, 4.5, "8"])
def test_an_impossible_number_of_stones_is_refused(stones, tmp_path):
    with pytest.raises(AzlabError, match="stones must be a whole number from 4 to 24"):
        make_tables(stones, tmp_path)
