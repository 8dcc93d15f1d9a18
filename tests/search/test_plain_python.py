"""The searches run as plain Python too, for the debugger, and give the same trees as compiled."""

import json
import os
import subprocess
import sys

SCRIPT = """
import json
import azlab
from azlab.search import Explore, Search, minimax, puct, uct
from azlab.search.evaluators import CachedEvaluator, PlayoutEvaluator, UniformEvaluator

found = []
dots = azlab.game("dots_and_boxes", rows=1, cols=2)
for position in (azlab.game("tictactoe").from_moves("b2 a1"), dots.from_moves("aA aB Aa")):
    found.append(minimax(position, 4))
    found.append(uct(position, 40, seed=1))
    found.append(uct(position, 30, rave=50, solve=True, seed=1))
    formulas = {"search": Search(gumbel=4)}, {"search": Search(solve=True)}
    for settings in ({}, {"leaves": 4}, *formulas, {"explore": Explore(noise=0.25)}):
        found.append(puct(position, UniformEvaluator(), budget=30, seed=1, **settings))
    found.append(puct(position, PlayoutEvaluator(position.game, seed=2), Search(), 20))
    found.append(puct(position, CachedEvaluator(UniformEvaluator(), 15), Search(), 30))
print(json.dumps([[one.visits.tolist(), round(one.value, 6), one.line] for one in found]))
"""


def run(**environment):
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", SCRIPT]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_compiled_and_plain_searches_are_the_same():
    assert run() == run(NUMBA_DISABLE_JIT="1")
