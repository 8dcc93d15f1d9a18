"""The compiled kernels: the disk cache, the notice, and the random numbers."""

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import azlab
from azlab.games.kernel import SHARED, kernel, new_rng, random_below, random_unit, specialise

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


def kernels_of(package):
    """Every compiled kernel of the package with its module."""
    for info in pkgutil.walk_packages(package.__path__, "azlab."):
        if info.name.split(".")[1] in ("games", "search", "oracles", "learning"):
            module = importlib.import_module(info.name)
            for value in vars(module).values():
                if hasattr(value, "py_func") and value.py_func.__module__ == module.__name__:
                    yield value.py_func


def test_kernels_call_only_kernels_of_their_own_file_or_of_the_shared_ones():
    """Numba would go on using the old machine code when a kernel in another file changes."""
    found = 0
    for function in kernels_of(azlab):
        found += 1
        for name in function.__code__.co_names:
            called = getattr(function.__globals__.get(name), "py_func", None)
            if called is not None and called.__module__ != function.__module__:
                file = Path(called.__code__.co_filename).name
                assert file in SHARED, f"{function.__module__}.{function.__name__} calls {name} of {file}"
    assert found > 60


def template(x):
    return helper(x) + 1


@kernel
def helper(x):
    return 10 * x


@kernel
def other_helper(x):
    return 100 * x


def test_a_specialised_template_calls_the_given_kernel_and_is_made_once():
    assert specialise(template, helper=helper)(1) == 11
    assert specialise(template, helper=other_helper)(1) == 101
    assert specialise(template, helper=helper) is specialise(template, helper=helper)


SPECIALISED = """
import azlab
from azlab.search import uct
print(uct(azlab.game("tictactoe").start(), 50, seed=1).visits.tolist())
"""


def test_a_specialised_search_comes_from_the_disk_cache_in_the_second_process(tmp_path):
    def run():
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", SPECIALISED], env=environment, capture_output=True, text=True, check=True)
        return done.stdout, done.stderr, files_in(tmp_path)

    first, second = run(), run()
    assert "compiling uct" in first[1] and second[1] == "" and first[0] == second[0] and first[2] == second[2]


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
