"""Imports point one way: no module of azlab imports from a layer above its own, be it inside a function or by name in a text."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from azlab import lazy

ROOT = Path(__file__).resolve().parents[1]
# Lowest first. Parts of one layer may use each other, but not in a circle.
LAYERS = [
    {"amx", "endings", "errors", "files", "intact", "lazy", "machine", "watching"},
    {"games", "formats"},
    {"search", "oracles"},
    {"nets"},
    {"arena"},
    {"learning"},
    {"show"},
    # azlab itself is azlab.game, azlab.agent and so on: whoever imports it can reach all the others
    {"repro", "course", "bench", "interop", "doctor", "commands", "cli", "azlab"},
    {"reproductions"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
MODULE_NAME = re.compile(r"(azlab|azlab_reproductions|reproductions)(\.\w+)*(:\w+)?")


def part_of(module: str) -> str:
    """The part of the house that a module belongs to: "azlab.games.go" is of "games"."""
    first, _, rest = module.partition(".")
    if first in ("azlab_reproductions", "reproductions"):
        return "reproductions"
    part = rest.split(".")[0]
    return part if part in LEVEL else "azlab"


def of_azlab(names: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    return ((line, name) for line, name in names if name.split(".")[0] in ("azlab", "azlab_reproductions", "reproductions"))


def named(tree: ast.Module, package: str) -> Iterator[tuple[int, str]]:
    """Line and name of everything that a file imports, or names as a text such as "azlab.show.board:draw"."""
    passed_over: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            passed_over.update(inner for line in node.body for inner in ast.walk(line))
    for node in ast.walk(tree):
        if node in passed_over:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            if MODULE_NAME.fullmatch(node.value):
                yield node.lineno, node.value.partition(":")[0]


def sources() -> Iterator[tuple[str, str, ast.Module]]:
    """Path, package and syntax tree of every file of azlab and of the reproductions."""
    for folder in ("azlab", "reproductions"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            inside = file.relative_to(ROOT)
            yield inside.as_posix(), ".".join(inside.parent.parts), ast.parse(file.read_text(encoding="utf-8"))


def upward(path: str, package: str, tree: ast.Module) -> list[str]:
    """The imports of a file that point up."""
    own = part_of(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    return [
        f"{path}:{line} {name}"
        for line, name in of_azlab(named(tree, package))
        if LEVEL[part_of(name)] > LEVEL[own] and name != "azlab.__version__"
    ]


def test_every_part_of_azlab_has_a_layer():
    parts = {path.stem if path.suffix else path.name for path in (ROOT / "azlab").iterdir() if path.name[0] not in "_."}
    assert parts == set(LEVEL) - {"azlab", "reproductions"} | {"py"}  # py.typed


def test_no_module_imports_from_a_layer_above_its_own():
    found = [fault for path, package, tree in sources() if path != "azlab/lazy.py" for fault in upward(path, package, tree)]
    assert found == []


def test_parts_of_one_layer_do_not_import_each_other_in_a_circle():
    uses: dict[str, set[str]] = {}
    for path, package, tree in sources():
        own = part_of(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        uses.setdefault(own, set()).update(part_of(name) for _, name in of_azlab(named(tree, package)))
    for own, used in uses.items():
        beside = {other for other in used - {own} if LEVEL[other] == LEVEL[own]}
        assert not [other for other in beside if own in uses.get(other, ())], own


def test_what_is_asked_for_above_is_there_and_is_used():
    everything = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "azlab").rglob("*.py"))
    for what, place in lazy.ABOVE.items():
        module, _, name = place.partition(":")
        assert callable(getattr(importlib.import_module(module), name))
        assert f'above("{what}")' in everything


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("azlab/games/new.py", "from azlab.search import uct", "azlab.search.uct"),
        ("azlab/games/new.py", "import azlab", "azlab"),
        ("azlab/games/new.py", "from azlab import agent", "azlab.agent"),
        ("azlab/games/new.py", "from .. import show", "azlab.show"),
        ("azlab/nets/new.py", "def f():\n    import azlab.learning.player", "azlab.learning.player"),
        ("azlab/oracles/new.py", 'where = "azlab.show.board:draw"', "azlab.show.board"),
        ("azlab/repro/new.py", "from azlab_reproductions import s3_dots_and_boxes", "azlab_reproductions.s3_dots_and_boxes"),
        ("azlab/errors.py", "from azlab.games.game import Game", "azlab.games.game.Game"),
    ],
)
def test_an_import_that_points_up_is_found(path, text, name):
    package = path.rpartition("/")[0].replace("/", ".")
    (found,) = upward(path, package, ast.parse(text))
    assert found.startswith(path) and found.endswith(f" {name}")


@pytest.mark.parametrize(
    "text",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from azlab.show.board import draw",
        "from azlab.games.game import Game\nfrom azlab.errors import AzlabError\nimport numpy",
        '"""Drawn by azlab.show."""',
    ],
)
def test_an_import_for_types_alone_and_one_that_points_down_are_not(text):
    assert upward("azlab/search/new.py", "azlab.search", ast.parse(text)) == []
