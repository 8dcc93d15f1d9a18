"""docs/tournament.md works as printed: its players play, its options are the command's, its last block reads the results."""

import re
from pathlib import Path

import pytest

from azlab.arena.student import KINDS
from azlab.cli import _parsers, main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tournament.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.slow
def test_the_players_play_and_the_results_are_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class_a").mkdir()
    anna, ben, reading = BLOCKS
    (tmp_path / "class_a" / "anna.py").write_text(anna)
    (tmp_path / "class_a" / "ben.py").write_text(ben)
    (command,) = re.findall(r"```sh\nazlab (.*)\n```", PAGE)
    assert main([*command.split(), "--games", "2", "--seconds", "120", "--processes", "1"]) == 0
    said = capsys.readouterr().out
    assert "Anna's first player (anna)" in said and "Ben the patient (ben)" in said
    exec(reading, {})
    assert capsys.readouterr().out == "2 games, of which 0 were not played to their end\n"


def test_the_options_are_those_of_the_command():
    flags = set(re.findall(r"--[a-z][a-z-]+", PAGE.split("| option | means |")[1].split("\n\n")[0]))
    there = {word for action in _parsers()[1]["tournament"]._actions for word in action.option_strings if word.startswith("--")}
    assert flags == there - {"--help"}


def test_every_way_to_lose_is_named():
    table = PAGE.split("| what happens | what follows |")[1].split("\n\n")[0]
    assert all(kind in table for kind in KINDS)
