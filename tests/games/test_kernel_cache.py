"""The disk cache of kernels: damage, a full disk, folders of others, several processes at once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from azlab.games import kernel_cache

pytestmark = pytest.mark.slow

USE = """
import azlab
position = azlab.game("tictactoe").start().play("a1").play("b2")
assert sorted(position.legal_moves) == ["a2", "a3", "b1", "b3", "c1", "c2", "c3"], position.legal_moves
"""


def use_a_game(cache, code=USE):
    """Use a game in a new process with its own cache; return what it wrote to stderr."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "NUMBA_CACHE_DIR": ""}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compiled")
    use_a_game(folder)
    return folder


@pytest.fixture
def cache(compiled, tmp_path):
    """A cache folder of this test's own, in which the game is compiled."""
    return shutil.copytree(compiled, tmp_path / "cache")


def cache_files(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


# Imports once, then damages one file at a time and uses the game in a fork, whose end tells what came of it.
DAMAGE = """
import os, random, sys
from pathlib import Path
import azlab.games.tictactoe
from azlab.games.kernel import CACHE_DIR
rng = random.Random(5)
for trial in range(int(sys.argv[1])):
    files = sorted(path for path in CACHE_DIR.rglob("*") if path.is_file())
    assert files
    file = rng.choice(files)
    data = bytearray(file.read_bytes())
    kind = trial % 4
    if kind == 0 and data:  # a kernel that only other kernels call is not looked at again, and may be empty from before
        for _ in range(rng.choice([1, 1, 100])):
            data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    elif kind == 1:
        del data[len(data) // 2 :]
    elif kind == 2:
        data = bytearray(rng.randbytes(rng.choice([0, 1, 40, 5000])))
    else:
        data = bytearray(rng.choice(files).read_bytes())  # a whole file, of another kernel
    file.write_bytes(data)
    child = os.fork()
    if child == 0:
        try:
            exec(sys.argv[2])
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    print(trial, kind, file.name, os.waitstatus_to_exitcode(status))
"""


@pytest.mark.slow
def test_damaged_files_are_noticed_and_compiled_anew(cache, many):
    whole = cache_files(cache)
    trials = many(40)
    done = subprocess.run(
        [sys.executable, "-c", DAMAGE, str(trials), USE],
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "NUMBA_CACHE_DIR": ""}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    ends = [line.split()[-1] for line in done.stdout.splitlines()]
    assert ends == ["0"] * trials, done.stdout + done.stderr
    assert cache_files(cache) == whole  # what was damaged and needed was written again, and nothing is left lying about
    assert use_a_game(cache) == ""


def test_a_full_disk_is_no_obstacle_and_is_said_once(tmp_path):
    if (
        os.geteuid()
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "none", str(tmp_path)], capture_output=True).returncode
    ):
        pytest.skip("Only root can make a small disk to fill.")
    try:
        said = use_a_game(tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert said.count("cannot be kept") == 1 and "No space left on device" in said and "compile at every start" in said


FULL = """
import errno, os, tempfile
def full(*args, **options):
    raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
tempfile.mkstemp = full
"""


def test_a_used_up_quota_is_no_obstacle_either(tmp_path):
    said = use_a_game(tmp_path, FULL + USE)
    assert said.count("cannot be kept") == 1 and os.strerror(122) in said and cache_files(tmp_path) == []


@pytest.mark.parametrize("part", ["azlab", "azlab/kernels", "azlab/kernels/*"])
@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_a_folder_that_others_can_write_to_is_an_obstacle(tmp_path, part, mode):
    folder = tmp_path / "azlab" / "kernels" / "0123"
    folder.mkdir(parents=True)
    (place,) = tmp_path.glob(part)
    for each in (folder, folder.parent, folder.parent.parent):
        each.chmod(0o755)
    assert kernel_cache.obstacle(folder) == ""
    place.chmod(mode)
    sentence = kernel_cache.obstacle(folder)
    assert "is not used" in sentence and f"chmod go-w {place}`" in sentence


def test_a_folder_of_another_user_is_an_obstacle(tmp_path, monkeypatch):
    folder = tmp_path / "azlab" / "kernels" / "0123"
    folder.mkdir(mode=0o755, parents=True)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert "belongs to another user" in kernel_cache.obstacle(folder)


def test_nothing_is_loaded_from_a_folder_that_others_can_write_to(cache):
    written = cache_files(cache)
    (cache / "azlab").chmod(0o777)
    before = {file: file.read_bytes() for file in written}
    assert "at every start (`azlab doctor` says why)" in use_a_game(cache)
    assert {file: file.read_bytes() for file in cache_files(cache)} == before


def test_a_file_that_others_can_write_to_is_not_loaded(cache):
    for file in cache_files(cache):
        assert not file.stat().st_mode & 0o022  # whatever the umask is
        file.chmod(0o666)
    assert "compiling" in use_a_game(cache)
    assert use_a_game(cache) == ""  # it was written again, for this user alone


def test_folders_are_made_for_their_owner_alone_whatever_the_umask_is(tmp_path):
    use_a_game(tmp_path, "import os; os.umask(0)\n" + USE)
    assert [path for path in tmp_path.rglob("*") if path.stat().st_mode & 0o022] == []
    assert use_a_game(tmp_path) == ""


def test_processes_that_compile_at_the_same_time_do_not_disturb_each_other(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    running = [subprocess.Popen([sys.executable, "-c", USE], env=environment, stderr=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate() and process.returncode for process in running] == [0] * 4
    assert use_a_game(tmp_path) == "" and not [file for file in cache_files(tmp_path) if file.suffix != ".nbc"]


MODULE = """
from azlab.games.kernel import kernel
@kernel
def double(x):
    return {factor} * x
"""


def test_a_changed_source_is_compiled_anew_and_the_old_code_removed(tmp_path):
    for factor in (2, 3):
        (tmp_path / "doubling.py").write_text(MODULE.format(factor=factor))
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import doubling; assert doubling.double(5) == {5 * factor}"
        assert "compiling doubling" in use_a_game(tmp_path / "cache", code)
        assert len(list((tmp_path / "cache").rglob("doubling.double.*"))) == 1
        assert use_a_game(tmp_path / "cache", code) == ""


def test_closures_over_different_numbers_are_not_taken_for_each_other(tmp_path):
    """Their bytecode and source are the same."""
    module = "from azlab.games.kernel import kernel\ndef times(k):\n    def f(x):\n        return k * x\n    return kernel(f)\n"
    (tmp_path / "closing.py").write_text(module)
    for factor in (2, 3):
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import closing"
        use_a_game(tmp_path / "cache", f"{code}\nassert closing.times({factor})(5) == {5 * factor}")
