"""Figures from processes of their own, some of which are really killed."""

import pytest

from azlab.bench.alone import Alone

# Children import what they run by name, so it stands in a module of its own.
MODULE = """
import os, resource, signal

def count():
    return 1000

def steady():
    return count

def killed(number):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), number)

def killed_in_the_third_call(number):
    calls = []
    def run():
        calls.append(0)
        if len(calls) == 3:
            killed(number)
        return 1
    return run

def broken():
    raise ValueError("no such thing\\nand a second line")

def silent():
    os._exit(7)
"""


@pytest.fixture
def runs(tmp_path, monkeypatch):
    (tmp_path / "runs_for_children.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import runs_for_children

    return runs_for_children


def test_a_child_gives_rates(runs):
    child = Alone(runs.steady)
    assert child.rate(0.001) > 0 and child.rate(0.001) > 0 and child.lost == ""
    child.close()
    assert child._process.exitcode is not None


@pytest.mark.parametrize(
    ("name", "args", "says"),
    [
        ("killed", [4], "ended by SIGILL: an instruction that this machine refuses; `azlab doctor` knows of one case"),
        ("killed_in_the_third_call", [11], "ended by SIGSEGV"),
        ("broken", [], "failed: ValueError: no such thing"),
        ("silent", [], "ended with exit code 7"),
    ],
)
def test_what_ends_a_child_is_said_and_ends_nothing_else(runs, name, args, says):
    child = Alone(getattr(runs, name), *args)
    assert child.rate(60) == 0 and child.lost == says
    assert child.rate(60) == 0 and child.lost == says  # asked again, it does not wait
    child.close()
