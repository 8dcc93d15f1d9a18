"""docs/new_game.md works as printed: its first half is a game module that keeps the contract, its second half runs."""

import contextlib
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from azlab.games import kernel

pytestmark = pytest.mark.slow  # a new module is compiled, for three board sizes

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "new_game.md"
MODULE_ENDS = "## Try it"  # the page says: the blocks up to here are one file


class Block(NamedTuple):
    """A fenced block of the page."""

    language: str
    code: str
    line: int  # of its first line of code, counted from 1


def blocks() -> list[Block]:
    """All fenced blocks of the page in order."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(match[1], match[2], text.count("\n", 0, match.start(2)) + 1) for match in found]


def module_and_rest() -> tuple[list[Block], list[Block]]:
    """The blocks of the module, and all that follow."""
    end = PAGE.read_text(encoding="utf-8").splitlines().index(MODULE_ENDS) + 1
    return [block for block in blocks() if block.line < end], [block for block in blocks() if block.line > end]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder a reader works in: othello.py, put together from the page."""
    place = tmp_path_factory.mktemp("new_game")
    (place / "othello.py").write_text("\n\n".join(block.code for block in module_and_rest()[0]), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def othello(folder):
    """The module, imported; its machine code is thrown away afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(kernel, "CACHE_DIR", folder / "kernels")
        yield importlib.import_module("othello")
        sys.modules.pop("othello")


def test_the_page_has_the_blocks_this_test_expects():
    module, rest = module_and_rest()
    assert module and {block.language for block in module} == {"python"}
    assert {block.language for block in rest} == {"python", "text", "sh"}
    assert PAGE.read_text(encoding="utf-8").count("```") == 2 * len(blocks())


@pytest.mark.parametrize("size", [4, 6, 8])
def test_the_game_keeps_the_contract(othello, size):
    game = othello.Othello(size=size)
    game.check()
    assert game.start().svg.count("<circle") == 4


def test_move_sequences_on_8x8_are_as_many_as_published(othello):
    game = othello.Othello(size=8)
    states, counts = game.new_states(), []
    for _ in range(7):
        parents, actions = np.nonzero(game.legal_mask(states))
        states = states[parents]
        game.kernels.play(states, np.ascontiguousarray(actions))
        counts.append(len(states))
    # Aart Bik, "Perft for Reversi", 2009
    assert counts == [4, 12, 56, 244, 1396, 8200, 55092]


def test_blocks_after_the_module_run_and_print_what_the_page_shows(othello, monkeypatch):
    reader = types.ModuleType("reader")  # a module, so that classes defined on the page can be pickled
    monkeypatch.setitem(sys.modules, "reader", reader)
    _, rest = module_and_rest()
    for block, following in zip(rest, [*rest[1:], Block("", "", 0)], strict=True):
        if block.language != "python":
            continue
        # The empty lines before the code make a traceback name the lines of the page.
        code = compile("\n" * (block.line - 1) + block.code, str(PAGE), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, vars(reader))
        if following.language == "text":
            assert printed.getvalue() == following.code, f"The output shown in line {following.line} is another."


def test_shell_commands_run(folder):
    commands = [line for block in module_and_rest()[1] if block.language == "sh" for line in block.code.splitlines()]
    assert any("NUMBA_DISABLE_JIT=1" in line and "check(" in line for line in commands)
    for line in commands:
        words = shlex.split(line)
        settings = dict(words.pop(0).split("=", 1) for _ in range(words.index("python")))
        done = subprocess.run(
            [sys.executable, *words[1:]],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **settings},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
