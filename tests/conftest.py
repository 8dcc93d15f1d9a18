"""What every test can use: `need`, which asks for a program, package or data set that may not be there."""

import importlib
import os
from pathlib import Path
from typing import NoReturn

import hypothesis
import pytest

from azlab import doctor

# The same examples on every machine, and no time limit: the first example may compile a kernel.
hypothesis.settings.register_profile("azlab", derandomize=True, deadline=None)
hypothesis.settings.load_profile("azlab")


class Need:
    """Skip a test that lacks something, with a sentence on how to get it; fail it where AZLAB_REQUIRE_ALL=1."""

    def __call__(self, program: str) -> str:
        """The path of a program that `azlab.doctor.PROGRAMS` names."""
        path = doctor.find_program(program)
        if path is None:
            self._without(doctor.how_to_get(program))
        return path

    def package(self, name: str):
        """An optional package, imported."""
        if doctor.installed_version(name) is None:
            extra = doctor.OPTIONAL_PACKAGES[name][1]
            self._without(f'{name} is not installed: pip install -c constraints.txt -e ".[{extra}]"')
        return importlib.import_module(name)

    def data(self, name: str) -> Path:
        """The path of a data set."""
        from azlab.formats import datasets

        try:
            return Path(datasets.path(name))
        except datasets.MissingData as error:
            self._without(f"The data set {name} is not here: {error}")

    def _without(self, sentence: str) -> NoReturn:
        if os.environ.get("AZLAB_REQUIRE_ALL", "0") not in ("", "0"):
            pytest.fail(f"{sentence} (AZLAB_REQUIRE_ALL is set, so this is a failure.)", pytrace=False)
        pytest.skip(sentence)


@pytest.fixture(scope="session")
def need() -> Need:
    return Need()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    missing = [program for program in doctor.PROGRAMS if doctor.find_program(program) is None]
    if missing:
        terminalreporter.section("programs this machine lacks")
        for program in missing:
            terminalreporter.line(doctor.how_to_get(program))
