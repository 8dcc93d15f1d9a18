import pytest

from azlab import machine


def test_installed_version_tells_present_from_absent():
    assert machine.installed_version("pytest") == pytest.__version__
    assert machine.installed_version("no-such-package-azlab") is None


def test_programs_are_found_by_any_of_their_names(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(machine.PROGRAMS, "browser", ("shows pages", "browser-package", ("no-such-name", "found-name")))
    assert machine.find_program("browser") is None
    assert machine.how_to_get("browser").endswith("apt install browser-package.")
    program = tmp_path / "found-name"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert machine.find_program("browser") == str(program)


def test_need_skips_with_the_debian_package_and_fails_when_all_is_required(need, monkeypatch):
    monkeypatch.setattr(machine, "find_program", lambda name: None)
    monkeypatch.delenv("AZLAB_REQUIRE_ALL", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt install gnugo"):
        need("gnugo")
    monkeypatch.setenv("AZLAB_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception, match="apt install gnugo"):
        need("gnugo")
