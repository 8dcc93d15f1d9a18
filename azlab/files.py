"""Where the checkout is, and files that are whole or not there: written aside and renamed. Nothing is ever unpickled."""

import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError


def root() -> Path:
    """The checkout: the folder that holds `reproductions/`, `notebooks/` and `data/`.

    The variable AZLAB_ROOT names another folder with the same parts, for reproductions of one's own.
    """
    folder = Path(os.environ.get("AZLAB_ROOT") or Path(__file__).resolve().parents[1]).resolve()
    if not (folder / "reproductions").is_dir():
        raise AzlabError(
            f"There is no folder `reproductions` in {folder}: reproductions and trained players are in a checkout of azlab. "
            "Get one with git, or name it in the environment variable AZLAB_ROOT."
        )
    return folder


def write_aside(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` make a file beside `path` and rename it to `path` when it is complete and on disk."""
    aside = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(aside)
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        raise AzlabError(f"{path} cannot be written: {error.strerror or error}. What was there before is unchanged.") from None
    finally:
        aside.unlink(missing_ok=True)


def save_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays as a compressed .npz file."""

    def write(aside: Path) -> None:
        with aside.open("wb") as file:
            np.savez_compressed(file, **arrays)

    write_aside(path, write)


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read what `save_arrays` wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise AzlabError(f"{path} cannot be read ({error}); the run cannot go on from it.") from None
