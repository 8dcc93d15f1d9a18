"""What the machine is and has: its system, programs, installed packages, cores. It needs nothing else of azlab."""

import os
import shutil
import sys
from importlib import metadata

IS_WINDOWS = sys.platform == "win32"

# program: (what it is for, Debian package, names it goes by)
PROGRAMS = {
    "gnugo": ("plays Go against our agents", "gnugo", ("gnugo",)),
    "node": ("tests our Go engine with Sabaki's client", "nodejs", ("node", "nodejs")),
    "npm": ("gets Sabaki's client for that test", "npm", ("npm",)),
    "chromium": ("tests the widgets in a browser", "chromium", ("chromium", "chromium-browser", "google-chrome")),
}


def find_program(name: str) -> str | None:
    """The path of one of PROGRAMS, or None. Debian's /usr/games is searched even if it is not on PATH."""
    places = os.environ.get("PATH", os.defpath) + os.pathsep + "/usr/games"
    found = (shutil.which(alias, path=places) for alias in PROGRAMS[name][2])
    return next((path for path in found if path), None)


def how_to_get(program: str) -> str:
    """One sentence: which Debian package brings the program."""
    purpose, package, _ = PROGRAMS[program]
    return f"{program} ({purpose}) is not installed: on Debian and Ubuntu, apt install {package}."


def installed_version(package: str) -> str | None:
    """The version of an installed package, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def cores() -> int:
    """Cores this process may use, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
