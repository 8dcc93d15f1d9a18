"""The code of docs/data.md runs as shown, and its commands are understood."""

import gzip
import re
from pathlib import Path

import pytest

from azlab.cli import _parsed
from azlab.commands.words import as_option
from azlab.oracles import making

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_records_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(BLOCKS[0], {"__name__": "page"})
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine.prop", "mine_1.bin"]
    assert (tmp_path / "mine_1.bin").stat().st_size == 2 + 4 * 81


def test_the_table_of_archives_is_what_was_counted():
    from azlab.repro import result

    for name, own in result("s2.data").data["archives"].items():
        empty = own["left out"].get("no moves", 0)
        numbers = [f"{own['games']:,}", f"{empty}", f"{own['positions']:,}", f"{own['a game']:.1f}"]
        assert f"| `{name.removesuffix('.tar.gz')}` | {' | '.join(numbers)} | {own['passes']:,} |" in PAGE


def test_the_maker_makes(tmp_path, monkeypatch):
    monkeypatch.setenv("AZLAB_DATA", str(tmp_path))
    monkeypatch.setattr(making, "MAKERS", dict(making.MAKERS))
    code = BLOCKS[1]
    names: dict = {"__name__": "page"}
    exec(code, names)
    assert names["file"] == tmp_path / "connect4/made/openings_3.txt.gz"
    assert gzip.decompress(names["file"].read_bytes()) == b"1 4 0\n2 4 0\n3 4 0\n"


@pytest.mark.parametrize("command", re.findall(r"^azlab (data make connect4 .*?)(?: +#.*)?$", PAGE, re.MULTILINE))
def test_the_commands_are_understood(command):
    words = _parsed(command.split()).name
    making.read_options(words[0], dict(map(as_option, words[1:])))


def test_the_name_on_the_page_is_the_one_that_is_made():
    options = making.read_options("connect4", {"count": 10_000, "seed": 1})
    assert making.find_maker("connect4").name(options) in PAGE
