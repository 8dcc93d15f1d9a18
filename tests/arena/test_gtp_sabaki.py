"""A real client: @sabaki/gtp, by which Sabaki talks to engines, sets `azlab gtp` to positions, analyses and aborts."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = "@sabaki/gtp@3.0.0"
SCRIPT = Path(__file__).with_name("sabaki_client.js")
INFO = r"info move \S+ visits \d+ .*winrate \S+ .*order 0 pv \S+"


@pytest.fixture(scope="module")
def found(need, tmp_path_factory):
    """What the script saw."""
    folder = tmp_path_factory.mktemp("sabaki")
    node = need.npm(PACKAGE, folder)
    engine = [sys.executable, "-m", "azlab.cli", "gtp", "uct:200", "size=9", "--seed", "1"]
    done = subprocess.run(
        [node, str(SCRIPT), *engine], capture_output=True, text=True, timeout=300,
        env={**os.environ, "NODE_PATH": str(folder / "node_modules")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


pytestmark = pytest.mark.slow


def test_it_knows_what_the_engine_can(found):
    assert found["known"].pop("rectangular_boardsize") is False
    assert all(found["known"].values())


def test_it_brings_the_engine_to_a_position_and_takes_back_only_what_differs(found):
    assert found["first"] == "black D2\nwhite B2\nblack C3"
    assert found["resync"] == ["undo", "play B pass"]
    assert found["second"] == "black pass\nwhite B2\nblack C3"


def test_an_analysis_is_subscribed_to_and_aborted(found):
    for analysis in found["analyses"]:
        assert len(analysis["infos"]) >= 3 and all(re.match(INFO, line) for line in analysis["infos"])
        assert analysis["error"] is False and analysis["version"] == "2" and analysis["busy"] is False
    visits = [int(re.search(r"visits (\d+)", line)[1]) for line in found["analyses"][0]["infos"]]
    assert visits == sorted(visits)  # it goes on thinking
    winrates = [re.search(r"winrate (\S+)", analysis["infos"][0])[1] for analysis in found["analyses"]]
    assert ["." in winrate for winrate in winrates] == [False, False, True]
    assert found["afterAnalyses"] == found["second"]


def test_it_follows_the_engines_own_moves(found):
    moves = [line.split()[1] for line in reversed(found["third"].splitlines())]
    assert [word.split()[1].lower() for word in found["tracked"]] == [move.lower() for move in moves]
    assert found["genmove"].lower() == moves[3].lower() and found["genmoveAnalyze"].split()[-1].lower() == moves[4].lower()


def test_handicaps_refusals_and_the_end(found):
    assert found["handicap"] == "D4 B2"
    assert found["refused"] == {"id": None, "content": "illegal move", "error": True}
    assert found["rectangle"] == "Board size is not supported by engine"
    assert found["exit"] == 0 and [line for line in found["stderr"] if line and not line.startswith("azlab: compiling")] == []
