"""The kernels are the same game compiled, loaded from the disk cache, and as plain Python (NUMBA_DISABLE_JIT=1)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import azlab
from azlab.games import kernel

ROOT = Path(__file__).resolve().parents[2]
GAMES = [
    ("tictactoe", {}),
    ("connect4", {"rows": 4, "cols": 5}),
    ("dots_and_boxes", {"rows": 2, "cols": 2}),
    ("go", {"size": 3}),
    ("go", {"size": 3, "ko": "positional"}),
    ("simple_go", {"size": 3}),
    ("seega", {"size": 5}),
    ("seega", {"rules": "bodogemu"}),
]
# Large boards, where int8 overflows first; too slow to check in full without the compiler, so they are only played.
LARGE_GAMES = [
    ("connect4", {"rows": 8, "cols": 7}),
    ("dots_and_boxes", {"rows": 5, "cols": 9}),
    ("go", {"size": 19}),
    ("go", {"size": 9, "ko": "situational"}),
    ("simple_go", {"size": 9}),
    ("seega", {"size": 9, "blocked": "pass", "chain": "mandatory"}),
]
SEEDS = [0, 7, -1]
# Gets [[name, options], ...], seeds and whether to check; prints the final states of playouts as hexadecimal digits.
SCRIPT = """
import json, sys
import azlab
games, seeds, check = json.loads(sys.argv[1])
for name, options in games:
    game = azlab.game(name, **options)
    if check:
        game.check(games=1)
    print(json.dumps([game.playout(game.new_states(2), seed).tobytes().hex() for seed in seeds]))
"""


def run(games: list, seeds: list[int], check: bool = False, **environment: str) -> list[list[str]]:
    """The final states of playouts, [game][seed], from a process of its own in which an overflow is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", SCRIPT, json.dumps([games, seeds, check])],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(("games", "seeds", "check"), [(GAMES, SEEDS, True), (LARGE_GAMES, SEEDS[:1], False)])
def test_plain_python_plays_the_same_games(games, seeds, check):
    assert kernel.JIT, "This test compares with compiled kernels: unset NUMBA_DISABLE_JIT."
    plain = run(games, seeds, check, NUMBA_DISABLE_JIT="1")
    for (name, options), finals in zip(games, plain, strict=True):
        game = azlab.game(name, **options)
        compiled = [game.playout(game.new_states(2), seed).tobytes().hex() for seed in seeds]
        assert compiled == finals, f"{game} differs"


@pytest.mark.slow
def test_board_sizes_cached_by_different_processes_do_not_mix(tmp_path):
    small, large = ("seega", {"size": 5}), ("seega", {"size": 7})
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    alone = run([small], SEEDS, check=True, **cache) + run([large], SEEDS, check=True, **cache)
    assert run([small, large], SEEDS, check=True, **cache) == alone
    assert run([large, small], SEEDS, check=True, **cache) == alone[::-1]
