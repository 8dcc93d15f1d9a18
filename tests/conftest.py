"""What every test can use: `need`, which asks for a program, package or data set that may not be there; `many`, how often to try
random input; `odd_word`, one."""

import importlib
import os
import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import hypothesis
import pytest

from azlab import doctor, machine
from azlab.files import reproductions

reproductions()  # so that tests can import from azlab_reproductions in any checkout

# A shell starts background jobs with Ctrl-C switched off, and children inherit that; some tests press it in theirs.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every machine, and no time limit: the first example may compile a kernel.
hypothesis.settings.register_profile("azlab", derandomize=True, deadline=None)
hypothesis.settings.load_profile("azlab")


class Need:
    """Skip a test that lacks something, with a sentence on how to get it; fail it where AZLAB_REQUIRE_ALL=1."""

    def __call__(self, program: str) -> str:
        """The path of a program that `azlab.machine.PROGRAMS` names."""
        path = machine.find_program(program)
        if path is None:
            self._without(machine.how_to_get(program))
        return path

    def package(self, name: str):
        """An optional package, imported."""
        if machine.installed_version(name) is None:
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

    def npm(self, package: str, folder: Path) -> str:
        """The path of node, with an npm package installed in `folder`."""
        node = self("node")
        install = [self("npm"), "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), package]
        done = subprocess.run(install, capture_output=True, text=True, timeout=300)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            self._without(f"npm cannot install {package}: {said[-1] if said else 'it says nothing'}")
        return node

    def _without(self, sentence: str) -> NoReturn:
        if os.environ.get("AZLAB_REQUIRE_ALL", "0") not in ("", "0"):
            pytest.fail(f"{sentence} (AZLAB_REQUIRE_ALL is set, so this is a failure.)", pytrace=False)
        pytest.skip(sentence)


@pytest.fixture(scope="session")
def need() -> Need:
    return Need()


@pytest.fixture
def one_thread() -> Iterator[None]:
    """torch computes on one thread; TensorFlow, whose threads are fixed once another test has run it, is left alone."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def many() -> Callable[[int], int]:
    """How many random inputs to try where a quick run takes `count`: AZLAB_FUZZ=50 makes all such tests 50 times as long."""
    factor = float(os.environ.get("AZLAB_FUZZ") or 1)
    return lambda count: max(1, round(count * factor))


ODD_VALUES = [
    "", " ", "0", "1", "-1", "3", "5", "9", "100", "0.5", "1.5", "1e999", "-1e999", "1e-400", "nan", "inf", "1_0", "0x10", "1j",
    "2s", "-1s", "1e999s", "[]s", "\u00b2", "\u0663", "{[]:1}", "{}", "{1:2}", "[]", "()", "(1,)", "[1, 2]", "[[[]]]",
    "((0, 1.0),)", "((0,1),(1,'a'))", "None", "True", "true", "'a'", "'", "b'x'", "...", "9" * 30, "9" * 5000, "0x" + "f" * 5000,
    "(" * 3000, "[" * 500 + "]" * 500, "-" * 5000 + "1", "\udcff", "\n1", "\\d", "x" * 300, "a b", "simple", "positional",
    "/nowhere", "~nobody",
]  # fmt: skip
ODD_LETTERS = "abcdefs0123456789,=:.()[]{}'\" -+_\\/\n\u00b2\u00e9\udcff"


@pytest.fixture(scope="session")
def odd_word() -> Callable[[random.Random], str]:
    """Draws what nobody should type as a value: numbers of every kind, lists, code, deep nesting, letters of no language."""

    def draw(rng: random.Random) -> str:
        if rng.random() < 0.8:
            return rng.choice(ODD_VALUES)
        return "".join(rng.choice(ODD_LETTERS) for _ in range(rng.randrange(12)))

    return draw


BROWSER = ("test_browser.py", "test_search_browser.py", "test_tournament_browser.py")
GNU_GO = ("test_go_gnugo.py", "test_gtp_agent.py", "test_gtp.py", "test_gtp_bad_engines.py", "test_gtp_referee.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With several processes, the tests of a file stay in one. So do all browser tests, which watch the clock, and all tests that
    play GNU Go. A notebook needs no other, so each is a group of its own."""
    for item in items:
        name = item.path.name
        group = "browser" if name in BROWSER else "gnugo" if name in GNU_GO else str(item.path)
        if name == "test_notebooks.py":
            group = item.nodeid
        item.add_marker(pytest.mark.xdist_group(group))
        if name in BROWSER:
            item.add_marker(pytest.mark.slow)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    missing = [program for program in machine.PROGRAMS if machine.find_program(program) is None]
    if missing:
        terminalreporter.section("programs this machine lacks")
        for program in missing:
            terminalreporter.line(machine.how_to_get(program))
