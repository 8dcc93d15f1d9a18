"""What the engine tells of its thoughts: Leela Zero's, KataGo's, CGOS's and GoGui's commands."""

import json
import re

import numpy as np
import pytest

from azlab.arena.agents import PuctAgent
from azlab.search.evaluators import UniformEvaluator

INFO = r"info move \w+ visits \d+ winrate \d{1,5} prior \d+ lcb \d+ order \d+ pv( (pass|[A-E][1-5]))+"
KATA_INFO = (
    r"info move \w+ visits \d+ utility -?\d\.\d+ winrate \d\.\d+ prior \d\.\d+ lcb \d\.\d+ order \d+ pv( (pass|[A-E][1-5]))+"
)


@pytest.mark.parametrize("agent", ["uct:100", "puct:50", "minimax:2", "random"])
@pytest.mark.parametrize(("command", "info"), [("lz", INFO), ("", INFO), ("kata", KATA_INFO)])
def test_a_move_with_thoughts(asked, agent, command, info):
    ask = asked(agent)
    said = ask.raw(f"7 {command}{'-' if command else ''}genmove_analyze w 1", "8 last_move")
    begin, *lines, move, empty, last = said[:-2].split("\n")
    assert begin == "=7" and lines and empty == ""
    assert all(re.fullmatch(f"{info}( {info})*", line) for line in lines)
    assert last == f"=8 white {move.removeprefix('play ')}" and move.startswith("play ")
    if agent != "random":
        assert lines[-1].split()[2] == move.removeprefix("play ")


def test_a_move_for_cgos(asked):
    ask = asked("uct:100")
    begin, told, move, *_ = ask.raw("cgos-genmove_analyze b").split("\n")
    found = json.loads(told)
    assert begin == "=" and move == f"play {found['moves'][0]['move']}" and found["visits"] == 100
    assert 0 <= found["winrate"] <= 1 and found["moves"][0]["pv"].startswith(found["moves"][0]["move"])


def test_katago_is_asked_for_more(asked):
    ask = asked("uct:100")
    line = ask.raw("kata-genmove_analyze b 1 maxmoves 2 rootInfo true ownership true pvVisits true minmoves 1").split("\n")[-4]
    infos, _, rest = line.partition(" rootInfo visits 100 ")
    assert infos.count("info move") == 2
    owners = rest.partition(" ownership ")[2].split()
    assert len(owners) == 25 and all(-1 <= float(owner) <= 1 for owner in owners)


def test_a_network_is_asked_without_search(asked):
    ask = asked(PuctAgent(UniformEvaluator(), budget=20))
    said = ask("kata-raw-nn 0").split("\n")
    assert said[:4] == ["symmetry 0", "whiteWin 0.500000", "whiteLoss 0.500000", "policy"]
    assert np.array([line.split() for line in said[4:9]], float).sum() == pytest.approx(25 / 26, abs=0.01)
    assert said[9] == "policyPass 0.038462"


def test_gogui_shows_tables(asked):
    ask = asked("uct:200")
    ask("play b c3")
    listed = [line.split("/") for line in ask("gogui-analyze_commands").split("\n")]
    assert {kind for kind, _, _ in listed} == {"dboard", "gfx"}
    for kind, _, command in listed:
        said = ask(command)
        if kind == "dboard":
            numbers = np.array([line.split() for line in said.split("\n")], float)
            assert numbers.shape == (5, 5) and abs(numbers).max() <= 1
        else:
            assert re.fullmatch(r"VAR w [A-E][1-5]( [bw] ([A-E][1-5]|PASS))*", said)
    assert np.array([line.split() for line in ask("azlab-shares").split("\n")], float).max() == 1
