"""The wheel holds all that azlab needs, and works where no checkout is in sight."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import azlab
from azlab import files, machine
from azlab.errors import AzlabError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
# folder of the checkout: where it is in a wheel
PLACES = {"azlab": "azlab", "data": "azlab/data", "reproductions": "azlab_reproductions"}
JUNK = shutil.ignore_patterns("__pycache__", ".*", "downloads")
FACTS = """
import json
from pathlib import Path
import azlab, azlab.learning.config, azlab.learning.shipped, azlab.repro.sources, azlab.show
from azlab import files
from azlab.repro import experiments, report
from azlab_reproductions.s3_dots_and_boxes import program
found = report.gather()
print(json.dumps({
    "azlab": azlab.__file__, "reproductions": str(files.reproductions_folder()), "data": str(files.data_folder()),
    "program": program.__file__,
    "presets": sorted(azlab.learning.config.presets()), "sources": azlab.repro.sources.source_names(),
    "players": [[path.name, repr(game)] for path, game in azlab.learning.shipped.players().items()],
    "claims": {one.source.name: dict(one.counts) for one in found.sections}, "faults": len(found.faults),
    "tables": sorted(path.name for path in (files.data_folder() / "sources").iterdir()),
    "functions": [one.id for one in experiments.load("s2_go") if one.function()],
    "picture": azlab.show.play("tictactoe").svg[:4],
}))
"""


def of_checkout() -> set[str]:
    """The files of the checkout that a wheel has to hold, by their names in it."""
    found = set()
    for folder, place in PLACES.items():
        for path, folders, names in os.walk(ROOT / folder):
            folders[:] = [name for name in folders if name not in JUNK(path, folders)]
            inside = Path(place, os.path.relpath(path, ROOT / folder))
            found |= {(inside / name).as_posix() for name in names if name not in JUNK(path, names)}
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel built without network, from a copy: a build leaves files behind."""
    copy, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in PLACES:
        shutil.copytree(ROOT / name, copy / name, ignore=JUNK)
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(out), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("azlab-*.whl"))


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def python(packages: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in `folder`, with azlab from `packages`."""
    env = {name: value for name, value in os.environ.items() if name != "AZLAB_ROOT"} | {"PYTHONPATH": str(packages)}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=folder, env=env)


def test_the_wheel_holds_every_file_of_the_library_of_data_and_of_reproductions(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    info = f"azlab-{azlab.__version__}.dist-info/"
    assert {name for name in names if not name.startswith(info)} == of_checkout()
    assert f"Version: {azlab.__version__}\n" in zipfile.ZipFile(wheel).read(f"{info}METADATA").decode()


# Measured beside azlab where they are installed (`azlab bench`), and asked for by nothing else.
PEERS = {"jax", "mctx", "onnxruntime", "pgx"}
UNSEEN = {"scipy"}  # Numba imports it when a kernel multiplies matrices


def imported() -> set[str]:
    """The packages of others that azlab and the reproductions import."""
    found = set()
    for file in (file for folder in ("azlab", "reproductions") for file in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return {name for name in found if name not in sys.stdlib_module_names and not name.startswith("azlab")}


def brought(names: list[str]) -> set[str]:
    """The packages that installing these brings, themselves among them."""
    found: set[str] = set()
    waiting = [Requirement(name) for name in names]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        if machine.installed_version(name):
            waiting += map(Requirement, metadata.requires(name) or [])
    return found


def test_what_is_imported_is_asked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [name for extra, names in project["optional-dependencies"].items() if extra != "dev" for name in names]
    owners = metadata.packages_distributions()
    needed = {canonicalize_name(owners.get(name, [name])[0]) for name in (imported() | UNSEEN) - PEERS}
    asked = brought(project["dependencies"])
    optional = brought(extras) - asked
    assert needed - asked - optional == set()
    assert needed & optional == {"bitbully", "bitbully-databases", "gymnasium", "open-spiel", "pettingzoo"}


def test_changelog_and_citation_tell_the_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d.*)\] - (\d{4}-\d\d-\d\d)$", changes, re.MULTILINE)
    assert released[0] == (azlab.__version__, cited["date-released"]) and cited["version"] == azlab.__version__


def test_what_an_installed_azlab_finds_is_what_a_checkout_finds(unpacked, tmp_path):
    there, here = (json.loads(python(packages, tmp_path, "-c", FACTS).stdout) for packages in (unpacked, ROOT))
    places = {"azlab": "azlab/__init__.py", "reproductions": "azlab_reproductions", "data": "azlab/data"}
    places["program"] = "azlab_reproductions/s3_dots_and_boxes/program.py"
    for name, place in places.items():
        assert Path(there.pop(name)) == unpacked / place and here.pop(name)
    assert there == here
    assert len(there["sources"]) == 5 and there["players"] and "s3_a" in there["presets"] and there["functions"]


def test_a_match_with_the_player_that_ships(unpacked, tmp_path):
    done = python(unpacked, tmp_path, "-m", "azlab.cli", "match", "dots_and_boxes", "az:,simulations=2", "random", "--games", "2")
    assert done.returncode == 0, done.stderr


def test_what_is_only_in_a_checkout_gets_a_sentence(unpacked, tmp_path):
    done = python(unpacked, tmp_path, "-m", "azlab.cli", "reproduce", "s2", "--keep")
    assert done.returncode == 2 and done.stderr.startswith("Results are kept only in a checkout of azlab")
    done = python(unpacked, tmp_path, "-m", "azlab.repro.refresh")
    assert "Notebooks are only in a checkout of azlab" in done.stderr


def test_azlab_root_is_looked_at_first_and_has_to_hold_reproductions(monkeypatch, tmp_path):
    assert files.reproductions_folder() == ROOT / "reproductions" and files.data_folder() == ROOT / "data"
    assert files.notebooks_folder() == ROOT / "notebooks"
    monkeypatch.setenv("AZLAB_ROOT", str(tmp_path))
    with pytest.raises(AzlabError, match="there is no folder `reproductions` in it"):
        files.reproductions_folder()
    (tmp_path / "reproductions").mkdir()
    assert files.reproductions_folder() == tmp_path / "reproductions" and files.data_folder() == tmp_path / "data"
    assert files.notebooks_folder() == tmp_path / "notebooks" and files.checkout("This is") == tmp_path
