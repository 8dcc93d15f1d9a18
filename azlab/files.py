"""Where reproductions, data and notebooks are; files that are whole or not there: written aside and renamed, never unpickled."""

import errno
import importlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.intact import most_bytes, read_npz

try:
    import fcntl
except ImportError:  # Windows, which has msvcrt instead
    fcntl = None  # type: ignore[assignment]


REPRODUCTIONS = "azlab_reproductions"  # the package that `reproductions/` becomes where azlab is installed
_HERE = Path(__file__).resolve().parents[1]  # the checkout, or the folder of installed packages


def _root() -> Path | None:
    """The folder with `reproductions/`, `data/` and `notebooks/`: what AZLAB_ROOT names, or the checkout; else None."""
    named = os.environ.get("AZLAB_ROOT")
    if not named:
        return None if (_HERE / REPRODUCTIONS).is_dir() else _HERE
    folder = Path(named).resolve()
    if not (folder / "reproductions").is_dir():
        raise AzlabError(
            f"AZLAB_ROOT names {folder}, and there is no folder `reproductions` in it: correct or unset that variable."
        )
    return folder


def checkout(what: str) -> Path:
    """The checkout, or the folder that AZLAB_ROOT names; where there is none, a sentence that says: `what` only in a checkout."""
    root = _root()
    if root is None:
        raise AzlabError(
            f"{what} only in a checkout of azlab, and this one is an installed package: get a checkout with git, or name one in "
            "the environment variable AZLAB_ROOT."
        )
    return root


def reproductions_folder() -> Path:
    """The folder with a folder for each source: `reproductions/`, or the installed package that was made of it."""
    root = _root()
    return _HERE / REPRODUCTIONS if root is None else root / "reproductions"


def data_folder() -> Path:
    """The folder with what ships: players, records of trainings, tables of the sources."""
    root = _root()
    return Path(__file__).resolve().parent / "data" if root is None else root / "data"


def notebooks_folder() -> Path:
    """The folder of the lessons, which is in a checkout alone."""
    return checkout("Notebooks are") / "notebooks"


def reproductions() -> ModuleType:
    """The package `azlab_reproductions`, whatever its folder is called."""
    if REPRODUCTIONS not in sys.modules:
        module = ModuleType(REPRODUCTIONS, "What belongs to one source alone: claims, presets, programs, results.")
        module.__path__ = [str(reproductions_folder())]
        sys.modules[REPRODUCTIONS] = module
    return sys.modules[REPRODUCTIONS]


def reproduction_files(pattern: str) -> list[Path]:
    """The files of all reproductions that match, e.g. "presets/*.toml"."""
    return sorted(path for place in reproductions().__path__ for path in Path(place).glob(f"*/{pattern}"))


def user_cache() -> Path | None:
    """Where azlab keeps what it can make again: $XDG_CACHE_HOME/azlab, else ~/.cache/azlab; None where there is no home."""
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg):  # the XDG standard says that a relative path counts as not set
        return Path(xdg) / "azlab"
    try:
        return Path.home() / ".cache" / "azlab"
    except RuntimeError:  # neither the variable HOME nor an entry among the system's users
        return None


def make_own_folder(folder: Path) -> None:
    """Make a folder and those above it. Only their owner can write in them, whatever the user's own habit (umask) is."""
    for place in (*reversed(folder.parents), folder):
        if not place.exists():
            place.mkdir(mode=0o755, exist_ok=True)


def expanded(path: str | Path) -> Path:
    """The path with ~ replaced by the home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise AzlabError(f"{path} names a home folder, and there is none here: write the whole path.") from None


def write_aside(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` make a file beside `path` and rename it to `path` when it is complete and on disk.

    A link stays and its target is written; a file keeps its owner and permissions; a device or pipe is written into.
    """
    unchanged = " What was there before is unchanged."
    try:
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        old = target.stat() if target.exists() else None
        if old is not None and not stat.S_ISREG(old.st_mode) and not stat.S_ISDIR(old.st_mode):
            unchanged = ""
            _write_through(target, path.suffix, write)
        else:
            _write_and_rename(target, old, write)
    except OSError as error:
        raise AzlabError(f"{path} cannot be written: {error.strerror or error}.{unchanged}") from None


def _write_and_rename(target: Path, old: os.stat_result | None, write: Callable[[Path], Any]) -> None:
    # a name of up to 255 bytes has to leave room for the number of the process
    aside = target.with_name(f".{target.stem[:40]}.{os.getpid()}{target.suffix[-16:]}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write(aside)
        if old is not None:
            with suppress(OSError, AttributeError):  # only root may give files away; Windows knows no such thing
                os.chown(aside, old.st_uid, old.st_gid)
            with suppress(OSError):
                os.chmod(aside, stat.S_IMODE(old.st_mode))
        with aside.open("r+b") as file:  # Windows brings to disk only what may be written
            os.fsync(file.fileno())
        aside.replace(target)
    finally:
        with suppress(OSError):  # gone, or never made: a name that is too long, a file where a folder should be
            aside.unlink()


def _write_through(device: Path, suffix: str, write: Callable[[Path], Any]) -> None:
    """Into a device or a pipe, which must not be replaced by a file; `write` may need a file that it can go back in."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / f"file{suffix}"
        write(whole)
        with whole.open("rb") as source, device.open("wb") as stream:
            shutil.copyfileobj(source, stream)


def save_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays as an .npz file: packed, unless they pack so well that `load_arrays` would take the file for a trap."""

    def write(aside: Path) -> None:
        with aside.open("wb") as file:
            np.savez_compressed(file, **arrays)
        if sum(np.asarray(array).nbytes for array in arrays.values()) > most_bytes(aside.stat().st_size):
            with aside.open("wb") as file:
                np.savez(file, **arrays)

    write_aside(path, write)


def load_arrays(path: Path, limit: int | None = None) -> dict[str, np.ndarray]:
    """Read what `save_arrays` wrote. Give `limit`, in bytes, where you know how large the arrays can be at most."""
    return read_npz(path, limit)


def make_folder(folder: Path) -> Path:
    """Make a folder, and those above it, unless it is there; return its full path."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return folder.resolve()
    except (FileExistsError, NotADirectoryError):
        raise AzlabError(f"{folder} cannot be written: a file stands where a folder has to be. Name another folder.") from None
    except OSError as error:
        raise AzlabError(f"{folder} cannot be written: {error.strerror or error}. Name another folder.") from None


@contextmanager
def locked(folder: Path, taken: str) -> Iterator[None]:
    """While this process works in `folder`, no other may: it gets the sentence `taken`.

    A lock ends with its process, however that ends.
    """
    make_folder(folder)
    try:
        file = (folder / ".lock").open("a")  # cuts nothing off, should it be a link to something
    except OSError as error:
        raise AzlabError(f"{folder} cannot be written: {error.strerror or error}. See that it may be, or name another.") from None
    with file:
        _lock(file.fileno(), folder, taken)
        yield


def _lock(handle: int, folder: Path, taken: str) -> None:
    try:
        if fcntl is None:
            msvcrt = importlib.import_module("msvcrt")
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # flock's word and Windows's word for the same
        raise AzlabError(taken) from None
    except OSError as error:
        raise AzlabError(f"{folder} cannot be locked ({error.strerror or error}): name a folder on a local disk.") from None
