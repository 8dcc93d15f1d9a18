"""What this machine has, what is wrong with it, and how to fix that: the text behind `azlab doctor`.

Only a real fault (Python too old, a required package missing, a cache that cannot be written) makes the report fail.
A missing optional part is named, with the way to get it.
"""

import importlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path

from azlab import amx
from azlab.machine import PROGRAMS, cores, find_program, installed_version

OLDEST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parent.parent  # the checkout, or site-packages when azlab was installed as a wheel
GIB = 2**30

# package: (what it is for, extra of azlab that brings it)
OPTIONAL_PACKAGES = {
    "bitbully": ("perfect play in Connect 4", "solver"),
    "ray": ("self-play on many machines", "cluster"),
    "open_spiel": ("OpenSpiel's games", "interop"),
    "pettingzoo": ("our games as environments of PettingZoo", "interop"),
}


def required_packages() -> list[str]:
    """Names of the packages azlab cannot do without, in the order of pyproject.toml."""
    pyproject = ROOT / "pyproject.toml"
    if pyproject.exists():
        lines = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["dependencies"]
    else:
        lines = [line for line in metadata.requires("azlab") or [] if "extra ==" not in line]
    return [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in lines]


def tested_versions() -> dict[str, str]:
    """Package -> version from constraints.txt; empty when azlab does not run from a checkout."""
    constraints = ROOT / "constraints.txt"
    if not constraints.exists():
        return {}
    pins = (line.split("==") for line in constraints.read_text(encoding="utf-8").splitlines() if "==" in line[1:])
    return {pin[0].strip().lower(): pin[1].strip() for pin in pins if len(pin) == 2 and not pin[0].startswith("#")}


def memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    text = f"{total / GIB:.1f} GiB"
    meminfo = Path("/proc/meminfo")
    available = re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text()) if meminfo.exists() else None
    return f"{text}, {int(available[1]) * 1024 / GIB:.1f} GiB of it free" if available else text


def gpu() -> tuple[str, str | None]:
    """The graphics card, and a hint if torch cannot use it."""
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return "Apple GPU", None
    program = shutil.which("nvidia-smi")
    if program is None:
        return "none found (everything runs on the processor)", None
    query = [program, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "nvidia-smi fails", "nvidia-smi does not answer: see that the NVIDIA driver is loaded."
    try:
        usable = importlib.import_module("torch").cuda.is_available()  # 2 s, so only where there is a card to ask about
    except ImportError:
        usable = False
    hint = None if usable else "torch cannot use the GPU: install a CUDA build of torch that fits the driver."
    return answer.replace("\n", "; "), hint


def machine_lines(problems: list[str], hints: list[str]) -> list[str]:
    python = platform.python_version()
    if sys.version_info[:2] < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        problems.append(f"Python {python} is too old: install Python {oldest} or newer and make a new environment.")
    card, hint = gpu()
    if hint:
        hints.append(hint)
    if refused := amx.hint():
        hints.append(refused)
    try:
        free = shutil.disk_usage(Path.cwd()).free / GIB
    except OSError as error:  # a working folder that was deleted meanwhile
        hints.append(f"The working folder cannot be used ({error.strerror or error}): change to another one.")
        disk = "unknown"
    else:
        disk = f"{free:.1f} GiB free here"
        if free < 2:
            hints.append(f"Only {free:.1f} GiB of disk are free here: training runs and data sets need more room.")
    return [
        f"Python   {python} ({sys.executable})",
        f"System   {platform.system()} {platform.release()} {platform.machine()}",
        f"Cores    {cores()}",
        f"Memory   {memory()}",
        f"Disk     {disk}",
        f"GPU      {card}",
    ]


def package_lines(problems: list[str]) -> list[str]:
    tested = tested_versions()
    lines = []
    for name in required_packages():
        version = installed_version(name)
        pin = tested.get(name.lower())
        if version is None:
            problems.append(f"The package {name} is missing: run make clean and make test, or pip install {name}.")
            note = "MISSING"
        else:
            # torch 2.13.0+cpu is torch 2.13.0 built for another processor
            same = pin is None or version.split("+")[0] == pin
            note = version if same else f"{version}   (tested with {pin})"
        lines.append(f"{name:<12} {note}")
    return lines


def cache_lines(problems: list[str]) -> list[str]:
    """Where compiled kernels are kept, so that only the first start of a game compiles."""
    try:
        folder: Path | None = importlib.import_module("azlab.games.kernel").CACHE_DIR
        obstacle = importlib.import_module("azlab.games.kernel_cache").obstacle
    except (ImportError, AttributeError) as error:
        return [f"unknown ({error})"]
    except OSError as error:
        problems.append(f"The kernel cache cannot be set up ({error}): see that your home folder can be written.")
        return [f"unusable ({error})"]
    if folder is None:
        problems.append(
            "There is no home folder, so games compile at every start and no tables of perfect play are kept: "
            "set the variable HOME or XDG_CACHE_HOME to a folder of yours."
        )
        return ["nowhere (there is no home folder)"]
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []
    size = sum(path.stat().st_size for path in files) / 2**20
    fault = obstacle(folder) or _full_disk(folder)
    if fault:
        problems.append(fault)
    state = "writable" if not fault else "NOT WRITABLE" if "cannot be written" in fault else "NOT USED"
    return [str(folder), f"{len(files)} files, {size:.1f} MiB, {state}"]


def _full_disk(folder: Path) -> str:
    """A sentence if a megabyte, about what a game needs, does not fit on the folder's disk or quota; else nothing."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(bytes(2**20))
    except OSError as error:
        return f"The kernel cache {folder} cannot be written ({error.strerror or error}): make room there."
    return ""


def optional_lines() -> list[str]:
    lines = []
    for name, (purpose, extra) in OPTIONAL_PACKAGES.items():
        what = f'-c constraints.txt -e ".[{extra}]"' if (ROOT / "constraints.txt").exists() else f'"azlab[{extra}]"'
        get_it = f"not installed ({purpose}): pip install {what}"
        lines.append(f"{name:<12} {installed_version(name) or get_it}")
    for name, (purpose, package, _) in PROGRAMS.items():
        lines.append(f"{name:<12} {find_program(name) or f'not installed ({purpose}): apt install {package}'}")
    mirror = os.environ.get("AZLAB_DATA_MIRROR")
    state = "not set; `azlab data` says which data sets are here"
    if mirror:
        state = mirror if Path(mirror).is_dir() else f"{mirror} is not a folder: correct AZLAB_DATA_MIRROR or unset it"
    return [*lines, f"{'data mirror':<12} {state}"]


def report() -> tuple[str, bool]:
    """The whole report as text, and whether this machine can run azlab."""
    problems: list[str] = []
    hints: list[str] = []
    sections = {
        "Machine": machine_lines(problems, hints),
        "Packages": package_lines(problems),
        "Compiled kernels": cache_lines(problems),
        "Optional parts": optional_lines(),
        "Problems": problems or ["none"],
        "Hints": hints,
    }
    blocks = ["\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in sections.items() if lines]
    return "\n\n".join(blocks), not problems
