"""The compiled kernels: the disk cache, the notice, and the random numbers."""

import os
import subprocess
import sys

import numpy as np

from azlab.games.kernel import new_rng, random_below, random_unit

USE = "import azlab; azlab.game('tictactoe').start().play('a1').legal_moves"


def use_a_game(cache, **environment):
    """Run a small use of a game in a new process; return what it wrote to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", USE],
        env={**os.environ, "XDG_CACHE_HOME": str(cache), **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stderr


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_the_first_process_compiles_and_says_so_the_second_loads(tmp_path):
    assert use_a_game(tmp_path).count("compiling tictactoe") == 1
    written = files_in(tmp_path)
    assert written
    assert use_a_game(tmp_path) == ""
    assert files_in(tmp_path) == written  # nothing new: the cache was found


def test_an_unwritable_cache_is_no_obstacle(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file where the cache folder should be")
    assert "compiling tictactoe" in use_a_game(blocked)


def test_a_users_own_numba_functions_are_not_cached_in_our_folder(tmp_path):
    import numba

    from azlab.games import kernel

    before = numba.config.CACHE_DIR
    kernel.kernel(lambda x: x)
    assert before == numba.config.CACHE_DIR


def test_random_numbers_are_repeatable_and_streams_differ():
    one, same = new_rng(3, 4), new_rng(3, 4)
    assert [random_below(one, i % 4, 1000) for i in range(40)] == [random_below(same, i % 4, 1000) for i in range(40)]
    assert len(set(new_rng(3, 100)) | set(new_rng(4, 100))) == 200
    assert len(set(new_rng(-3, 2)) & set(new_rng(3, 2))) == 0


def test_random_numbers_are_uniform():
    rng = new_rng(0, 1)
    draws = np.array([random_below(rng, 0, 7) for _ in range(70_000)])
    counts = np.bincount(draws, minlength=7)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 22.5  # chi-square with 6 degrees of freedom, p = 0.001
    units = np.array([random_unit(rng, 0) for _ in range(20_000)])
    assert units.min() >= 0 and units.max() < 1 and abs(units.mean() - 0.5) < 0.01
