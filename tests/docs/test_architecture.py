"""docs/architecture.md names what is there: commands, files, functions."""

import ast
import re
from pathlib import Path

import pytest

from azlab.cli import _parsers

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
COMMANDS = sorted(_parsers()[1])


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_line_and_is_shown_to_users(command):
    assert re.search(rf"^\| `azlab {command}\b.*\| \w", section("Commands"), re.MULTILINE)
    pages = [ROOT / "README.md", *(page for page in (ROOT / "docs").glob("*.md") if page.name != "architecture.md")]
    assert any(f"azlab {command}" in page.read_text(encoding="utf-8") for page in pages)


def test_no_command_is_listed_that_there_is_not():
    assert set(re.findall(r"^\| `azlab (\w+)", section("Commands"), re.MULTILINE)) == set(COMMANDS)


def defined(file: Path) -> set[str]:
    """The functions and classes of a file, and methods as Class.method."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return found


def test_the_way_of_a_move_goes_through_functions_that_exist():
    way = section("The way of a move")
    stations = re.findall(r"^(\d+)\. (.*(?:\n   .*)*)", way, re.MULTILINE)
    assert [int(number) for number, _ in stations] == list(range(1, 13))
    for _, text in stations:
        named = re.findall(r"`([\w/]+\.py):([\w.]+)`", text)
        assert named
        for file, function in named:
            assert function in defined(ROOT / file), f"{file}:{function}"


def test_the_house_names_every_file_of_the_library_in_its_folder_once():
    house = section("The house").split("```")[1].split("\ntests/")[0]
    rooms = re.split(r"^  (?=[a-z]+/ )", house, flags=re.MULTILINE)
    named = {"azlab": rooms[0]} | {f"azlab/{room.split('/')[0]}": room for room in rooms[1:]}
    folders = {file.parent.relative_to(ROOT).as_posix() for file in (ROOT / "azlab").rglob("*.py")}
    assert set(named) == folders and len(rooms) == len(named)
    for folder, room in named.items():
        names = re.findall(r"(?<![\w/])\w+\.py", room)
        lessons = {"lesson_02.py": [file.name for file in (ROOT / folder).glob("lesson_*.py")]}  # one stands for all
        there = {file.name for file in (ROOT / folder).glob("*.py")} - {"__init__.py"}
        assert there <= {name for first in names for name in lessons.get(first, [first])}, folder
        heads = re.findall(r"^ {2,4}([a-z]\w+\.py) ", room, re.MULTILINE)
        assert len(heads) == len(set(heads)), folder
