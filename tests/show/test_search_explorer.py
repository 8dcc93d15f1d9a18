"""The search explorer without a browser: what it sends, what a stored notebook shows, what it refuses."""

import json
import re
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.search import Search, puct, uct
from azlab.search.evaluators import PlayoutEvaluator, UniformEvaluator
from azlab.show.search_tree import MOST_NODES, shown_nodes, signed


@pytest.fixture(scope="module")
def explorer():
    return azlab.show.search("tictactoe", "puct:150")


def boxes(svg):
    return [int(node) for node in re.findall(r'data-node="(\d+)"', svg)]


def test_the_numbers_are_those_of_the_search(explorer):
    explorer.step = explorer.total
    position = azlab.game("tictactoe").start()
    found = puct(position, PlayoutEvaluator(position.game), Search(), 150)
    choices = explorer.snapshot.choices()
    assert [choice.visits for choice in choices] == found.visits.tolist()
    assert [choice.value for choice in choices] == pytest.approx(found.values.tolist())
    cells = re.findall(r"<td>(.*?)</td>", explorer.view["table"])
    assert len(cells) == 9 * 7 and cells[1:3] == [choices[0].name, str(choices[0].visits)]
    assert cells[3] == signed(choices[0].value) and cells[6] == signed(choices[0].value + choices[0].bonus)


def test_a_step_sends_a_tree_of_that_step(explorer):
    explorer.step = 7
    assert "simulation 7 of 150, 8 nodes" in explorer.view["status"] and boxes(explorer.view["tree"]) == list(range(8))
    path = explorer.snapshot.path()
    assert explorer.view["tree"].count("azlab-mark-line") == 2 * (len(path) - 1) + 1  # edges, boxes, style
    explorer.step = 0
    assert boxes(explorer.view["tree"]) == [0] and "last path" not in explorer.view["status"]
    explorer.step = 10_000
    assert explorer.step == 150


def test_a_click_shows_the_board_and_the_moves_there(explorer):
    explorer.step, explorer.selected = 100, 1
    position = explorer.steps.position_at(1)
    assert position.ply == 1 and f"After {position.moves[0]}: O to move" in explorer.view["heading"]
    assert position.status in explorer.view["board"] and explorer.view["table"].count("<tr") == 1 + 8
    explorer.step = 0  # node 1 is not there yet
    assert explorer.view["selected"] == 0 and "At the start: X to move" in explorer.view["heading"]
    explorer.selected = 0


def test_large_trees_show_the_most_visited_part_and_more_on_demand():
    explorer = azlab.show.search("tictactoe", "uct:2000")
    now = explorer.snapshot
    shown = shown_nodes(now)
    assert len(shown) <= MOST_NODES + len(now.path()) < now.size
    rest = np.delete(now.tree.visits[0], shown)
    assert rest.max() <= np.sort(now.tree.visits[0])[-MOST_NODES]
    node = next(node for node in shown if f'data-toggle="{node}"' in explorer.view["tree"])
    children = {child for child in now.tree.children[0, node].tolist() if child >= 0}
    assert not children <= set(boxes(explorer.view["tree"]))
    explorer.expanded = [node]
    assert children <= set(boxes(explorer.view["tree"])) and ">−</text>" in explorer.view["tree"]
    explorer.folded = [node]
    assert not children & set(boxes(explorer.view["tree"])) and f">+{len(children)}</text>" in explorer.view["tree"]


def test_ten_thousand_nodes_are_fast_and_small():
    explorer = azlab.show.search(azlab.game("go", size=9), UniformEvaluator(), Search(), 10_000)
    assert explorer.steps.tree.size[0] > 9_900
    explorer.step = 4_000  # compiled from here on
    begin = time.perf_counter()
    for step in (5_000, 9_999, 3, 10_000):
        explorer.step = step
        assert len(json.dumps(explorer.get_state())) < 80_000  # the browser never gets the whole tree
    assert time.perf_counter() - begin < 4  # 0.03 s a step on an idle machine
    assert "and 70 more moves" in explorer.view["table"]


def test_a_page_without_a_kernel_shows_a_picture_and_text():
    one, two = (azlab.show.search("connect4", "uct:60,c=1.0", seed=2) for _ in range(2))
    data, _ = one._repr_mimebundle_()
    assert set(data) >= {"application/vnd.jupyter.widget-view+json", "image/svg+xml", "text/plain"}
    again = two._repr_mimebundle_()[0]
    assert data["image/svg+xml"] == again["image/svg+xml"] and data["text/plain"] == again["text/plain"]
    assert "UCT, simulation 60 of 60" in ET.fromstring(data["image/svg+xml"])[0].text
    lines = data["text/plain"].splitlines()
    assert lines[0].startswith("UCT search: simulation 60 of 60") and lines[1].split() == ["move", "N", "Q", "bonus", "UCB"]
    visits = uct(azlab.game("connect4").start(), 60, c=1.0, seed=2).visits
    assert [int(line.split()[1]) for line in lines[2:]] == visits.tolist()
    assert repr(one) == "<UCT search of 60 simulations, after 60>"


def test_a_proven_result_is_called_exact():
    explorer = azlab.show.search(azlab.game("tictactoe").from_moves("a1 b1 a2 b2"), "uct:200,solve=True")
    winning = next(choice for choice in explorer.snapshot.choices() if choice.proven and choice.value == 1)
    assert winning.name == "a3" and explorer.total < 200 and "exact" in explorer.view["table"]


def test_what_cannot_be_shown_is_refused_with_a_sentence():
    start = azlab.game("tictactoe").start()
    for how, message in (("random", "does not search"), ("uct:1s", "number of simulations"), ("uct:50,rave=10", "without RAVE")):
        with pytest.raises(AzlabError, match=message):
            azlab.show.search(start, how)
    with pytest.raises(AzlabError, match="starts from a position"):
        azlab.show.search(3)
    with pytest.raises(AzlabError, match="for PUCT"):
        azlab.show.search(start, "uct:50", Search())
    assert azlab.show.search(start, "uct").total == 200 and azlab.show.search(start).total == 200
