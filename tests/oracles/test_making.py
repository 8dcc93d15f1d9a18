"""Makers by name, where the data goes, and what is refused."""

import gzip
import json
from dataclasses import dataclass

import pytest

from azlab.cli import main
from azlab.errors import AzlabError
from azlab.formats import datasets
from azlab.learning.evaluation import graded
from azlab.learning.position_sets import connect4_set
from azlab.oracles import making
from azlab.oracles.making import Maker, find_maker, make, read_options, register_maker
from azlab.oracles.making_command import MakingProgress, listing


@dataclass(frozen=True)
class Lines:
    count: int = 3
    kept: bool = False


NAME = "connect4/made/lines_{}.txt.gz"
TEXT = b" 4 2\n4 4 0\n42 26 2\n44 4 1\n"


def make_lines(options, folder, processes, progress):
    (folder / "begun").touch()
    if options.kept:
        raise KeyboardInterrupt
    progress(options.count, options.count)
    return b"".join(TEXT.splitlines(keepends=True)[: options.count])


LINES = Maker(
    Lines, lambda o: NAME.format(o.count), lambda o: f"{o.count} lines", make_lines, {"count": "lines", "kept": "end early"}
)


@pytest.fixture(autouse=True)
def lines(monkeypatch, tmp_path):
    monkeypatch.setenv("AZLAB_DATA", str(tmp_path / "cache"))
    monkeypatch.delenv("AZLAB_DATA_MIRROR", raising=False)
    monkeypatch.setattr(making, "MAKERS", dict(making.MAKERS))
    register_maker("lines", LINES)


def test_what_was_made_is_found_by_its_name_and_read(tmp_path, capsys):
    assert main(["data", "make", "lines", "count=4"]) == 0
    printed = capsys.readouterr().out
    assert NAME.format(4) in printed and "sha256" in printed
    file = tmp_path / "cache" / NAME.format(4)
    assert datasets.path(NAME.format(4)) == file and gzip.decompress(file.read_bytes()) == TEXT
    assert not file.with_name(file.name + ".making").exists()
    positions = connect4_set(NAME.format(4))
    assert positions.size == 4 and positions.results.tolist() == [1, 1, 1, 0]
    test = graded(positions.game, NAME.format(4))
    assert test.best.sum(axis=1).tolist() == [1, 1, 2, 1]
    main(["data"])
    assert f"{NAME.format(4)}   cache " in capsys.readouterr().out


def test_a_damaged_set_is_not_read_and_a_lone_file_is_no_set(tmp_path):
    file, entry = make("lines", Lines())
    assert entry.content == len(b" 4 2\n4 4 0\n42 26 2\n")
    with pytest.raises(AzlabError, match=f"no data set called.*{NAME.format(3)}"):
        datasets.path("connect4/made/others.txt.gz")
    file.write_bytes(gzip.compress(b" 4 1\n4 4 0\n42 26 2\n"))
    with pytest.raises(datasets.DamagedData, match="checksum"):
        datasets.path(NAME.format(3))
    assert {row.name: row.where for row in datasets.status()}[NAME.format(3)] == "damaged"
    (tmp_path / "cache" / (NAME.format(3) + ".json")).write_text("{}")
    with pytest.raises(AzlabError, match="no data set called"):
        datasets.path(NAME.format(3))


@pytest.mark.parametrize("name", ["connect4/made/../../x.txt.gz", "../made/x.txt.gz", "connect4/made/", "/connect4/made/x"])
def test_names_do_not_lead_out_of_the_folder(name):
    with pytest.raises(AzlabError, match="There is no data set called"):
        datasets.path(name)


def test_data_that_is_there_is_not_made_again_nor_replaced(tmp_path):
    out = tmp_path / "x.txt.gz"
    file, entry = make("lines", Lines(), out)
    assert file == out
    before = out.stat().st_mtime_ns
    assert make("lines", Lines(), out) == (file, entry) and out.stat().st_mtime_ns == before
    with pytest.raises(AzlabError, match=r"holds other data \(3 lines\): delete it, or name another file"):
        make("lines", Lines(count=2), out)
    (tmp_path / "x.txt.gz.json").unlink()
    with pytest.raises(AzlabError, match="nothing says what it is"):
        make("lines", Lines(), out)


def test_what_was_begun_goes_on_with_the_same_settings_only(tmp_path, capsys):
    out = str(tmp_path / "x.txt.gz")
    assert main(["data", "make", "lines", "kept=true", "--out", out]) == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert json.loads((tmp_path / "x.txt.gz.making" / "settings.json").read_text())["options"] == {"count": 3, "kept": True}
    assert main(["data", "make", "lines", "--out", out]) == 2
    assert "was begun with count=3 kept=true: say the same to go on" in capsys.readouterr().err
    assert main(["data", "make", "lines", "kept=true", "--out", out]) == 130


def test_two_do_not_make_the_same_file_at_once(tmp_path):
    out = tmp_path / "x.txt.gz"

    def meanwhile(options, folder, processes, progress):
        with pytest.raises(AzlabError, match="Another process is making"):
            make("lines", Lines(), out)
        return TEXT

    register_maker("slow", Maker(Lines, LINES.name, LINES.describe, meanwhile, LINES.meaning))
    make("slow", Lines(), out)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["make", "chess"], "There is nothing called 'chess' to make; choose one of connect4"),
        (["make", "connect4", "size=3"], "connect4 data has no option 'size'; its options are: perfect, one_a_game, count"),
        (["make", "connect4", "perfect=2"], "from 0 to 1"),
        (["make", "connect4", "--out", "x.zip"], "ends in .txt.gz"),
        (["make", "lines", "--processes", "0"], "from 1 to 1024"),
        (["make", "lines", "many"], "looks like count=1000, not 'many'"),
        (["get", "--out", "x"], "are for `azlab data make`"),
    ],
)
def test_mistakes_get_a_sentence(words, sentence, capsys):
    assert main(["data", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_the_listing_explains_every_option_of_every_maker(capsys):
    assert main(["data", "make"]) == 0
    assert capsys.readouterr().out == "\n".join(listing()) + "\n"
    assert [line.split()[3] for line in listing() if line.startswith("azlab")] == ["connect4", "seega", "lines"]
    for name in ("connect4", "seega"):
        assert find_maker(name).meaning.keys() == vars(read_options(name, {})).keys()
    assert "  count=3              lines" in listing()


def test_a_log_gets_a_line_with_rate_and_remaining_time_now_and_then(tmp_path):
    with (tmp_path / "log").open("w") as stream:
        progress = MakingProgress(stream, pause=0.0)
        progress(500, 1000)  # there from an earlier start
        progress._begin = (progress._begin[0] - 10, 500)
        progress(600, 1000)
        progress.close()
    first, second = (tmp_path / "log").read_text().splitlines()
    assert first == "500 of 1,000" and second.startswith("600 of 1,000, 10.0 a second, 0.01 hours left")
