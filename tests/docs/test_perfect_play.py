"""docs/perfect_play.md: its code runs, and its table of 3x3 Seega is what the oracle says."""

import itertools
import re
from pathlib import Path

import pytest

import azlab

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "perfect_play.md").read_text(encoding="utf-8")
CODE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_code_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names: dict = {}
    for block in CODE:
        exec(block, names)
    oracle, position = names["oracle"], names["position"]
    assert oracle.best_moves(position) and oracle.knows(position.state).all()
    assert not oracle.knows(oracle.game.start().state).any()


def results():
    """{(placement, first mover, safe centre, chain): result} as the page has it."""
    rows = re.findall(r"^\| ([12]) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    movers = {"either": ("first", "last_placer"), "Black": ("first",), "White, the last placer": ("last_placer",)}
    centres = {"either": (False, True), "safe": (True,), "not safe": (False,)}
    words = {"Black, who places first, wins": (1, 1), "Black wins": (1, 1), "draw": (0, 0),
             "draw with chains of captures, Black wins without": (0, 1)}  # fmt: skip
    found = {}
    for placed, mover, centre, result in rows:
        for key in itertools.product((int(placed),), movers[mover], centres[centre], ("optional", "mandatory", "none")):
            found[key] = words[result][key[-1] == "none"]
    return found


@pytest.mark.slow
def test_who_wins_on_3x3(tmp_path):
    told = results()
    assert len(told) == 24
    for (placement, mover, safe, chain), result in told.items():
        rules = {"placement": placement, "first_mover": mover, "safe_centre": safe, "chain": chain}
        for options in ({"blocked": "skip", "least_stones": 2}, {"blocked": "pass", "least_stones": 1, "endless": True}):
            oracle = azlab.oracle("seega", size=3, folder=tmp_path, **rules, **options)
            assert oracle.value(oracle.game.start()) == result, rules
