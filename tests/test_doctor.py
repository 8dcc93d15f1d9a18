import importlib
import os
import shutil
import sys
import types
from pathlib import Path

import pytest

from azlab import doctor


@pytest.fixture
def kernel_cache(tmp_path, monkeypatch) -> Path:
    """A kernel cache of our own, with two files in it."""
    cache = tmp_path / "kernels"
    cache.mkdir()
    (cache / "a.nbi").write_bytes(b"x" * 2**20)
    (cache / "b.nbc").write_bytes(b"x" * 2**20)
    monkeypatch.setitem(sys.modules, "azlab.games.kernel", types.SimpleNamespace(CACHE_DIR=cache))
    return cache


@pytest.fixture
def all_installed(monkeypatch):
    """Pretend that every package is there at its tested version; returns the versions, to be changed."""
    versions = doctor.tested_versions()
    monkeypatch.setattr(doctor, "installed_version", lambda name: versions.get(name.lower()))
    return versions


def test_a_healthy_machine_is_ok(kernel_cache, all_installed):
    text, ok = doctor.report()
    assert ok
    assert "Problems\n  none" in text
    assert "MISSING" not in text and "tested with" not in text
    assert f"{kernel_cache}\n  2 files, 2.0 MiB, writable" in text
    for line in ("Python   ", "Cores    ", "Memory   ", "Disk     ", "GPU      "):
        assert line in text


def test_a_missing_required_package_is_a_problem_with_a_fix(kernel_cache, all_installed):
    del all_installed["numba"]
    text, ok = doctor.report()
    assert not ok
    assert "numba        MISSING" in text
    assert "The package numba is missing: run make clean and make test, or pip install numba." in text


def test_another_version_is_shown_but_is_no_problem(kernel_cache, all_installed):
    tested = all_installed["numpy"]
    all_installed["numpy"] = "1.0"
    all_installed["torch"] += "+cpu"
    text, ok = doctor.report()
    assert ok
    assert f"numpy        1.0   (tested with {tested})" in text
    assert text.count("tested with") == 1


def test_an_old_python_is_a_problem(kernel_cache, all_installed, monkeypatch):
    monkeypatch.setattr(doctor, "OLDEST_PYTHON", (99, 1))
    text, ok = doctor.report()
    assert not ok
    assert "install Python 99.1 or newer" in text


def test_a_cache_that_cannot_be_written_is_a_problem(kernel_cache, all_installed, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    text, ok = doctor.report()
    assert not ok
    assert f"The kernel cache {kernel_cache} cannot be written" in text


def test_a_cache_that_others_can_write_to_is_a_problem(kernel_cache, all_installed):
    kernel_cache.chmod(0o777)
    text, ok = doctor.report()
    assert not ok and "MiB, NOT USED" in text
    assert f"{kernel_cache} belongs to another user or can be changed by others" in text
    assert f"`chmod go-w {kernel_cache}`" in text


def test_a_cache_on_a_full_disk_is_a_problem(kernel_cache, all_installed, monkeypatch):
    def full(dir):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", full)
    text, ok = doctor.report()
    assert not ok and f"The kernel cache {kernel_cache} cannot be written (No space left on device): make room there." in text


def test_without_a_home_the_cache_is_a_problem_and_the_rest_is_told(all_installed, monkeypatch):
    monkeypatch.setitem(sys.modules, "azlab.games.kernel", types.SimpleNamespace(CACHE_DIR=None))
    text, ok = doctor.report()
    assert not ok and "There is no home folder" in text and "set the variable HOME or XDG_CACHE_HOME" in text and "Cores" in text


def test_a_deleted_working_folder_is_a_hint(kernel_cache, all_installed, monkeypatch, tmp_path):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    text, ok = doctor.report()
    assert ok and "The working folder cannot be used (No such file or directory): change to another one." in text


def test_a_cache_that_cannot_be_set_up_is_a_problem(all_installed, monkeypatch):
    def fail(name):
        raise PermissionError("no room at home")

    monkeypatch.setattr(importlib, "import_module", fail)
    text, ok = doctor.report()
    assert not ok
    assert "The kernel cache cannot be set up (no room at home)" in text


def test_a_cache_that_is_not_made_yet_is_fine_and_stays_unmade(kernel_cache, all_installed):
    shutil.rmtree(kernel_cache)
    text, ok = doctor.report()
    assert ok
    assert "0 files, 0.0 MiB, writable" in text
    assert not kernel_cache.exists()


def test_missing_optional_parts_are_named_with_the_way_to_get_them(kernel_cache, all_installed, monkeypatch):
    del all_installed["bitbully"]
    del all_installed["ray"]
    monkeypatch.setattr(doctor, "find_program", lambda name: None)
    monkeypatch.setenv("AZLAB_DATA_MIRROR", "/no/such/folder")
    text, ok = doctor.report()
    assert ok
    for part in ('".[solver]"', '".[cluster]"', "apt install gnugo", "apt install chromium", "/no/such/folder is not"):
        assert part in text


def test_required_packages_are_those_of_pyproject_with_and_without_a_checkout(monkeypatch, tmp_path):
    from_checkout = doctor.required_packages()
    assert {"numpy", "numba", "torch", "tensorflow", "keras", "jupyterlab"} <= set(from_checkout)
    assert "pytest" not in from_checkout
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    lines = ["numpy>=2.0", "torch>=2.6", 'ray>=2.40; extra == "cluster"']
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: lines)
    assert doctor.required_packages() == ["numpy", "torch"]
    assert doctor.tested_versions() == {}


def test_every_required_and_optional_package_has_a_tested_version():
    tested = doctor.tested_versions()
    assert tested["torch"] == "2.13.0"
    assert [name for name in (*doctor.required_packages(), *doctor.OPTIONAL_PACKAGES) if name not in tested] == []


def test_a_gpu_that_torch_cannot_use_gives_a_hint(tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'Test Card, 8192 MiB'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])
    monkeypatch.setattr(doctor.platform, "system", lambda: "Linux")
    cuda = types.SimpleNamespace(is_available=lambda: False)
    monkeypatch.setattr(importlib, "import_module", lambda name: types.SimpleNamespace(cuda=cuda))
    assert doctor.gpu()[0] == "Test Card, 8192 MiB"
    assert "install a CUDA build of torch" in (doctor.gpu()[1] or "")
