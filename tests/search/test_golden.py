"""Golden trees: whole trees of fixed searches, stored once and compared node by node, so that no change goes unnoticed.

The file is written by `python tests/search/test_golden.py`. It does not prove the search right (test_puct.py does, against the
slow reference); it shows when a search that was right has become a different one.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import azlab
from azlab.search import Explore, Search, Searcher
from azlab.search.evaluators import PlayoutEvaluator
from azlab.search.uct import UctSearch

FILE = Path(__file__).with_name("golden_trees.json")


def connect4_puct():
    game = azlab.game("connect4")
    explore = Explore(noise=0.25, noise_alpha_base=10.0)
    search = Searcher(game, 1, PlayoutEvaluator(game, seed=5), Search(), 60, explore, seed=5)
    search.start(game.from_moves("4433").state)
    search.run()
    return search.tree


def connect4_gumbel():
    game = azlab.game("connect4")
    search = Searcher(game, 1, PlayoutEvaluator(game, seed=5), Search(gumbel=4), 32, seed=5)
    search.start(game.start().state)
    search.run()
    return search.tree


def dots_and_boxes_uct():
    search = UctSearch(azlab.game("dots_and_boxes", rows=2, cols=2).from_moves("aA aB Aa"), seed=5)
    search.run(60)
    return search.tree


def go_rave():
    search = UctSearch(azlab.game("go", size=3, komi=0.5).start(), rave=100.0, solve=True, seed=5)
    search.run(60)
    return search.tree


SEARCHES = {make.__name__: make for make in (connect4_puct, connect4_gumbel, dots_and_boxes_uct, go_rave)}


def as_rows(tree):
    """Every node as [parent, action, seat to move, visits, sum of values]."""
    size = int(tree.size[0])
    columns = (tree.parent, tree.action, tree.to_move, tree.visits, tree.value_sum)
    return [[round(float(column[0, node]), 6) for column in columns] for node in range(size)]


@pytest.mark.parametrize("name", SEARCHES)
def test_the_whole_tree_is_as_stored(name):
    stored, now = json.loads(FILE.read_text())[name], as_rows(SEARCHES[name]())
    assert len(now) == len(stored)
    for node, (expected, found) in enumerate(zip(stored, now, strict=True)):
        assert np.allclose(expected, found, atol=1e-4), f"node {node}: {found} instead of {expected}"


if __name__ == "__main__":
    FILE.write_text("{" + ",\n".join(f'"{name}": {json.dumps(as_rows(make()))}' for name, make in SEARCHES.items()) + "}\n")
