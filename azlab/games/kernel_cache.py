"""The disk cache of compiled kernels: checked before it is loaded, and never an obstacle.

Numba's own cache unpickles and runs whatever it finds, and stops the program when the disk is full. Here each kernel compiled for
one kind of arguments is a file: 32 bytes of SHA-256, then what they are the digest of. A damaged file is deleted and the kernel
compiled anew; a file or folder that somebody else could have written is not used; what cannot be written is not kept.

There is no index that processes could write at the same time: a file is found by the digest of its key, and is written aside
and renamed.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from azlab.machine import IS_WINDOWS

DIGEST_BYTES = 32
_said: set[str] = set()  # sentences printed so far


def obstacle(folder: Path) -> str:
    """Why compiled kernels cannot be kept in `folder`, as a sentence that says what to do; empty if they can.

    Folders that are not there yet are made by us and are no obstacle.
    """
    existing = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        return (
            f"The kernel cache {folder} cannot be written, so games compile at every start: "
            "give yourself write permission there, or remove it if it belongs to another user."
        )
    for place in _own_folders(folder):
        if place.exists() and not _is_private(place.stat()):
            return (
                f"The kernel cache {folder} is not used, so games compile at every start: {place} belongs to another user or "
                f"can be changed by others, who could put their code there. Run `chmod go-w {place}`, or remove the folder."
            )
    return ""


def _own_folders(folder: Path) -> list[Path]:
    """The folders that are azlab's: .../azlab/kernels/DIGEST, or NUMBA_CACHE_DIR/DIGEST; the innermost first."""
    places = [folder, *folder.parents]
    return places[:3] if [place.name for place in places[1:3]] == ["kernels", "azlab"] else places[:2]


def _is_private(found: os.stat_result) -> bool:
    """Whether only this user can have written there."""
    if IS_WINDOWS:  # by its access lists, of which the mode tells nothing, a user's folders are private
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@functools.cache
def _digest_of_file(path: str, changed: int, size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class KernelCache(_Cache):
    """What Numba asks for the compiled code of one function without a closure. `folder` holds the files of all functions."""

    def __init__(self, function: Callable, folder: Path) -> None:
        file = function.__code__.co_filename
        details = os.stat(file)
        versions = f"{numba.__version__} {llvmlite.__version__} {np.__version__}"
        place = os.path.dirname(os.path.abspath(file))
        name = re.sub(r"[^\w.-]", "", f"{Path(file).stem}.{function.__qualname__}")[:100]
        self._code = hashlib.sha256(function.__code__.co_code).hexdigest()
        self._folder = folder / f"{os.path.basename(place)[:40]}_{_short(os.fsencode(place))}"
        self._name = f"{name}.py{sys.version_info[0]}{sys.version_info[1]}"
        self._stamp = _short(f"{versions} {_digest_of_file(file, details.st_mtime_ns, details.st_size)}".encode())

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function from disk, or None."""
        target_context.refresh()
        key = self._key(sig, target_context.codegen())
        file = self._file(key)
        try:
            with file.open("rb") as stream:
                if not _is_private(os.fstat(stream.fileno())):
                    return None
                digest, content = stream.read(DIGEST_BYTES), stream.read()
        except OSError:
            return None
        if hashlib.sha256(content).digest() != digest:
            with contextlib.suppress(OSError):
                file.unlink()
            return None
        stored_key, compiled = pickle.loads(content)
        return CompileResult._rebuild(target_context, *compiled) if stored_key == key else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled function, where it can be kept."""
        if data.lifted or data.library.has_dynamic_globals:  # these hold addresses of this process
            return
        key = self._key(sig, data.codegen)
        content = dumps((key, data._reduce()))
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._remove_outdated()
            _write(self._file(key), hashlib.sha256(content).digest() + content)
        except OSError as error:
            reason = error.strerror or error
            _say_once(
                f"azlab: compiled kernels cannot be kept in {self._folder.parent} ({reason}), so they compile at every start."
            )

    def _key(self, sig: Any, codegen: Any) -> tuple:
        """What the machine code depends on, beside the source: types, processor, and the function's own bytecode."""
        return sig, codegen.magic_tuple(), self._code

    def _file(self, key: tuple) -> Path:
        return self._folder / f"{self._name}.{self._stamp}.{_short(repr(key).encode())}.nbc"

    def _remove_outdated(self) -> None:
        """Delete what was compiled from an earlier source of this function."""
        for file in self._folder.glob(f"{self._name}.*.*.nbc"):
            if not file.name.startswith(f"{self._name}.{self._stamp}."):
                file.unlink(missing_ok=True)

    def enable(self) -> None:
        """Numba's: a kernel's cache is always on."""

    def disable(self) -> None:
        """Numba's: a kernel's cache is always on."""

    def flush(self) -> None:
        """Forget what was compiled."""
        for file in self._folder.glob(f"{self._name}.*.nbc"):
            file.unlink(missing_ok=True)


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _write(file: Path, content: bytes) -> None:
    """Written aside, so that no process reads half a file; not forced to the disk, since a file cut short is noticed."""
    handle, aside = tempfile.mkstemp(dir=file.parent, prefix=".new")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(aside, file)
    except BaseException:
        os.unlink(aside)
        raise


def _say_once(sentence: str) -> None:
    if sentence not in _said:
        _said.add(sentence)
        print(sentence, file=sys.stderr, flush=True)
