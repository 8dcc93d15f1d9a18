"""Progress: one stable line for nobody, a live bar for whoever watches."""

import io
import sys

import pytest

from azlab.show import progress


def test_for_nobody_there_is_one_line_without_times(capsys):
    with progress("match") as report:
        for done in range(1, 2001):
            report(done, 2000)
    assert list(progress("items", "abc")) == ["a", "b", "c"]
    with progress("training") as report:
        report("games", 5, 5)
        report("epochs", 1, 2)
        report("epochs", 2, 2)
    with progress("nothing"):
        pass
    out, err = capsys.readouterr()
    assert out == "match: 2,000 of 2,000\nitems: 3 of 3\ntraining: games 5 of 5; epochs 2 of 2\nnothing: done\n" and err == ""


def test_work_that_fails_leaves_no_line(capsys):
    with pytest.raises(ValueError, match="broken"), progress("match") as report:
        report(1, 2)
        raise ValueError("broken")
    assert capsys.readouterr().out == ""


def test_in_a_terminal_a_bar_is_drawn_and_wiped(monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("match") as report:
        report(1, 2)
    drawn = terminal.getvalue()
    assert "match [############            ] 1 of 2" in drawn and drawn.endswith("\r\033[K")


@pytest.mark.parametrize("watched", [True, False])
def test_in_a_notebook_it_depends_on_who_runs_it(watched, capsys, monkeypatch):
    from IPython.core import getipython
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    class Kernel:
        _allow_stdin = watched  # what JupyterLab says of itself, and nbclient does not

    shell = InteractiveShell.instance()
    shell.display_pub = publisher = CapturingDisplayPublisher()
    shell.kernel = Kernel()
    monkeypatch.setattr(getipython, "get_ipython", lambda: shell)
    try:
        with progress("match") as report:
            report(1, 2)
            report(2, 2)  # too soon after the last to be drawn, but not forgotten
    finally:
        InteractiveShell.clear_instance()
    shown = [output["data"] for output in publisher.outputs]
    if watched:
        assert len(shown) == 2 and '<progress max="2" value="1">' in shown[0]["text/html"]
        assert shown[-1] == {"text/plain": "match: 2 of 2"} and capsys.readouterr().out == ""
    else:
        assert shown == [] and capsys.readouterr().out == "match: 2 of 2\n"
