"""Numbers on boards, boards side by side, and the lines of values."""

import xml.dom.minidom

import pytest

import azlab
from azlab.learning import MonteCarloControl, TableHistory
from azlab.show import beside, move_values, value_lines

THREE = azlab.game("go", size=3, komi=0)


def test_every_move_has_its_number_and_the_pass_stands_below():
    board = move_values(THREE.start(), azlab.oracle(THREE).scores(THREE.start()), "exact", "+.0f")
    svg = board._repr_mimebundle_()["image/svg+xml"]
    xml.dom.minidom.parseString(svg)
    assert svg.count(">+3<") == 4 and svg.count(">-9<") == 4 and svg.count(">+9<") == 1 and "exact: pass -9" in svg
    assert repr(board).startswith("exact: a3 -9, b3 +3") and "b2 +9" in repr(board)


def test_plates_of_neighbouring_lines_do_not_overlap():
    boxes = azlab.game("dots_and_boxes")
    scores = dict.fromkeys(boxes.start().legal_moves, -3.0)
    root = xml.dom.minidom.parseString(move_values(boxes.start(), scores, form="+.0f").svg)
    plates = [
        tuple(float(node.getAttribute(side)) for side in ("x", "y", "width"))
        for node in root.getElementsByTagName("rect")
        if "azlab-cell" in node.getAttribute("class")
    ]
    assert len(plates) == 24
    for k, (x, y, size) in enumerate(plates):
        assert all(max(abs(x - other_x), abs(y - other_y)) >= size for other_x, other_y, _ in plates[:k])


def test_a_move_without_a_value_stays_blank():
    board = move_values(THREE.start(), {"b2": 0.25, "a1": float("nan")})
    assert repr(board) == "b2 +.25, a1 -" and ">nan<" not in board.svg


def test_boards_stand_side_by_side_in_one_picture():
    one, other = THREE.start(), move_values(THREE.from_moves("b2"), {"a1": -1.0}, "after the centre")
    both = beside(one, other)
    root = xml.dom.minidom.parseString(both.svg).documentElement
    inner = [node for node in root.childNodes if node.nodeName == "svg"]
    assert [float(node.getAttribute("x")) for node in inner] == [0, float(inner[0].getAttribute("width")) + 12]
    assert float(root.getAttribute("width")) == sum(float(node.getAttribute("width")) for node in inner) + 12
    assert repr(both) == f"{one!r}\n{other!r}"


def test_lines_of_values_have_a_panel_for_each_number_of_games():
    two = azlab.game("go", size=2, komi=0)
    exact = azlab.oracle(two)
    states = exact.positions()
    history = TableHistory(MonteCarloControl(two, key="board", seed=1), states, exact.action_scores(states))
    with pytest.raises(azlab.AzlabError, match="This history is empty"):
        value_lines(history, [10])
    figure = value_lines(history.run(200), [100, 200], pairs=7)
    assert [axes.get_title() for axes in figure.axes] == ["100 games", "200 games"]
    assert [len(axes.lines) for axes in figure.axes] == [7, 7]
    assert max(figure.axes[0].lines[0].get_xdata()) == 100
    assert len(value_lines(history, [200], pairs=10_000).axes[0].lines) == history.q.shape[1]
