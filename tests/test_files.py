"""Folders, locks and files that are whole or not there."""

import os
import pwd
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import azlab
from azlab import files
from azlab.errors import AzlabError
from azlab.formats import datasets
from azlab.oracles.connect4_grading import _cache_file
from azlab.oracles.dots_and_boxes import table_path

WITHOUT_FCNTL = """
import sys, types
import numpy
sys.modules["fcntl"] = None  # as on Windows: importing it fails
calls = []
def locking(handle, mode, length):
    calls.append((mode, length))
    if len(calls) > 1:
        raise PermissionError(13, "Permission denied")
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
from azlab import files
from azlab.errors import AzlabError
with files.locked(files.Path(sys.argv[1]), "taken"):
    try:
        with files.locked(files.Path(sys.argv[1]), "taken"):
            print("twice")
    except AzlabError as error:
        print(error, calls)
"""


def test_a_lock_is_held_once_and_again_when_it_is_free(tmp_path):
    folder = tmp_path / "new" / "folder"
    for _ in range(2):
        with (
            files.locked(folder, "it is taken"),
            pytest.raises(AzlabError, match="it is taken"),
            files.locked(folder, "it is taken"),
        ):
            raise AssertionError
    with pytest.raises(RuntimeError, match="inside"), files.locked(folder, "it is taken"):
        raise RuntimeError("inside")
    with files.locked(folder, "it is taken"):
        pass


def test_a_lock_where_fcntl_is_missing(tmp_path):
    """Windows has msvcrt, which a stand-in plays here: the second try is refused as Windows refuses it."""
    root = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_FCNTL, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.stdout == "taken [(2, 1), (2, 1)]\n", done.stderr


def test_a_lock_empties_no_file_that_it_is_a_link_to(tmp_path):
    (tmp_path / "precious").write_text("old")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(tmp_path / "precious")
    with files.locked(tmp_path / "run", "taken"):
        pass
    assert (tmp_path / "precious").read_text() == "old"


@pytest.mark.parametrize("name", ["file", "file/below", "n" * 300, "d/" * 3000])
def test_a_folder_that_cannot_be_made_gets_a_sentence(name, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(AzlabError, match="cannot be written"):
        files.make_folder(tmp_path / name)
    with pytest.raises(AzlabError, match="cannot be written"):
        files.write_aside(tmp_path / name / "a.txt", lambda aside: aside.write_text("x"))
    assert (tmp_path / "file").read_text() == "mine"


def test_a_file_with_too_long_a_name_gets_a_sentence(tmp_path):
    with pytest.raises(AzlabError, match="cannot be written: File name too long"):
        files.write_aside(tmp_path / ("n" * 300), lambda aside: aside.write_text("x"))


ZERO, FULL = os.makedev(1, 3), os.makedev(1, 7)


def write(path, text="new"):
    files.write_aside(path, lambda aside: aside.write_text(text))


def device(path, number):
    """A device of the kernel under a name of our own; where that is not allowed, the test is skipped."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, number)
        path.open("wb").close()
    except OSError:
        pytest.skip("Only root can make devices here.")
    return path


def test_a_device_is_written_into_and_stays_a_device(tmp_path):
    node = device(tmp_path / "null", ZERO)
    write(node)
    assert stat.S_ISCHR(node.lstat().st_mode) and node.lstat().st_rdev == ZERO and os.listdir(tmp_path) == ["null"]


def test_a_link_to_a_device_leaves_both(tmp_path):
    node, link = device(tmp_path / "null", ZERO), tmp_path / "link.json"
    link.symlink_to(node)
    write(link)
    assert link.is_symlink() and stat.S_ISCHR(node.lstat().st_mode)


def test_a_full_device_gets_a_sentence(tmp_path):
    node = device(tmp_path / "full", FULL)
    with pytest.raises(AzlabError, match="full cannot be written: No space left on device.$"):
        write(node)
    assert stat.S_ISCHR(node.lstat().st_mode)


def test_a_pipe_gets_the_content(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    write(pipe)
    reader.join(20 if stat.S_ISFIFO(pipe.lstat().st_mode) else 0)
    assert read == ["new"] and stat.S_ISFIFO(pipe.lstat().st_mode)


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_target_is_written(tmp_path, exists):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target.txt", tmp_path / "link.txt"
    if exists:
        target.write_text("old")
    link.symlink_to(target)
    write(link)
    assert link.is_symlink() and target.read_text() == "new" and os.listdir(tmp_path / "there") == ["target.txt"]


def test_links_in_a_circle_get_a_sentence(tmp_path):
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    with pytest.raises(AzlabError, match="one cannot be written: Too many levels"):
        write(tmp_path / "one")
    assert (tmp_path / "one").is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o444])
def test_a_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "file.txt"
    path.write_text("old")
    path.chmod(mode)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode and path.read_text() == "new"


def test_a_file_keeps_its_owner_where_root_writes_it(tmp_path):
    if os.geteuid():
        pytest.skip("Only root can write files of others.")
    path = tmp_path / "file.txt"
    path.write_text("old")
    os.chown(path, 12345, 12345)
    write(path)
    assert (path.stat().st_uid, path.stat().st_gid, path.read_text()) == (12345, 12345, "new")


def test_long_names_are_written_and_longer_ones_get_a_sentence(tmp_path):
    for name in ("x" * 250 + ".json", "x." + "y" * 253, "\u00e9" * 125 + ".txt"):
        write(tmp_path / name)
        assert (tmp_path / name).read_text() == "new"
    with pytest.raises(AzlabError, match="File name too long"):
        write(tmp_path / ("x" * 256))
    assert len(os.listdir(tmp_path)) == 3


def test_what_is_half_written_is_taken_away_and_the_old_file_stays(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def half(aside):
        aside.write_text("ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(AzlabError, match="No space left on device. What was there before is unchanged."):
        files.write_aside(path, half)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file.txt"]


@pytest.fixture
def homeless(monkeypatch):
    """No HOME, and a user whom the system does not know."""

    def unknown(number):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)


def test_without_a_home_there_is_no_cache(homeless, monkeypatch, tmp_path):
    assert files.user_cache() is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert files.user_cache() == tmp_path / "azlab"


def test_without_a_home_a_tilde_gets_a_sentence(homeless):
    with pytest.raises(AzlabError, match="~/data names a home folder"):
        files.expanded("~/data")


def test_without_a_home_tables_are_made_and_not_kept(homeless):
    assert table_path(1, 1) is None
    game = azlab.game("dots_and_boxes", rows=1, cols=1)
    assert azlab.oracle(game).value(game.start()) == -1  # the fourth line makes the only box, and it is the second player's


def test_without_a_home_scores_of_connect4_are_not_kept(homeless):
    assert _cache_file(azlab.game("connect4"), "scores", "default") is None
    assert _cache_file(azlab.game("connect4"), "scores", "/tmp/x").parent.name == "x"


def test_without_a_home_data_sets_are_looked_for_in_the_mirror_alone(homeless, monkeypatch, tmp_path):
    monkeypatch.delenv("AZLAB_DATA", raising=False)
    monkeypatch.setenv("AZLAB_DATA_MIRROR", str(tmp_path))
    assert datasets.cache_folder() is None and {row.where for row in datasets.status()} == {"missing"}
    with pytest.raises(datasets.MissingData, match="no home folder to keep go/9x9_pro.tar.gz in: set AZLAB_DATA"):
        datasets.get("go/9x9_pro.tar.gz")
