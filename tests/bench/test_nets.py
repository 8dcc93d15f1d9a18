"""The rows of `azlab bench nets`: a way that kills its process costs its own row only."""

import json

import pytest

from azlab.bench import Row, as_json, nets, table

MODULE = """
import os, resource, signal

def deadly(net, inputs):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return lambda: os.kill(os.getpid(), signal.SIGILL)
"""


@pytest.fixture
def deadly(tmp_path, monkeypatch):
    (tmp_path / "deadly_way.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import deadly_way

    return deadly_way.deadly


@pytest.mark.slow
def test_a_way_that_kills_its_process_costs_one_row(deadly, monkeypatch):
    monkeypatch.setattr(nets, "RISKY_WAYS", {"deadly": deadly, "+ bfloat16 instead": nets._bfloat16})
    monkeypatch.setattr(nets, "ROUNDS", 2)
    rows = list(nets._small_net_rows(0.01, 1))
    found = {row.what: row for row in rows}
    assert found["deadly"].figure is None and found["deadly"].note.startswith("ended by SIGILL: ")
    assert (found["+ bfloat16 instead"].figure is None) == (found["+ bfloat16 instead"].note != "")  # it too may be refused here
    others = [row for row in rows if row.what not in ("deadly", "+ bfloat16 instead")]
    assert {*nets.WAYS, "TorchEvaluator.evaluate"} < {row.what for row in others} and all(row.figure > 0 for row in others)
    line = next(line for line in table(rows).splitlines() if "deadly" in line)
    assert "ended by SIGILL" in line and "evaluations/s" not in line


def test_a_row_without_a_figure_is_json_that_any_program_reads():
    rows = [Row("a", "b", "azlab", 2.0, "x/s"), Row("a", "c", "azlab", None, "x/s", "ended by SIGILL")]

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    found = json.loads(as_json(rows), parse_constant=refuse)["rows"]
    assert [row["figure"] for row in found] == [2.0, None] and found[1]["note"] == "ended by SIGILL"
