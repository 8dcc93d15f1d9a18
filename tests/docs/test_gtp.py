"""docs/gtp.md lists every command of the engine, and no other."""

import re
from pathlib import Path

import azlab
from azlab.arena.gtp_engine import Engine
from azlab.cli import _parsers
from azlab.formats.gtp_server import Server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "gtp.md").read_text(encoding="utf-8")


def test_every_command_is_listed_and_no_other():
    rows = re.findall(r"^\| (`.*?) \|", PAGE.split("\n## Commands\n")[1], re.MULTILINE)
    named = {word for row in rows for word in re.findall(r"`([a-z]+[-_][a-z_-]+|[a-z]+(?=[ `]))", row)}
    engine = Engine(azlab.agent("random"), {"size": 5})
    known = set(Server(engine.commands(), lambda: b"", print).commands)
    values = {"absolute", "canadian", "byoyomi", "dead", "seki"}  # arguments that stand alone in their row
    assert named - values == known


def test_the_options_are_those_of_the_command():
    flags = set(re.findall(r"--[a-z][a-z-]+", PAGE.split("| option | means |")[1].split("\n\n")[0]))
    there = {option for action in _parsers()[1]["gtp"]._actions for option in action.option_strings if option.startswith("--")}
    assert flags == there - {"--help"}
