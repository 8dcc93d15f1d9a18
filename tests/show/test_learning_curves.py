import json

import pytest

from azlab.errors import AzlabError
from azlab.show import LiveCurves, curves
from azlab.show.learning_curves import PANELS


def rows(count=3, **more):
    base = {
        "moves": 100,
        "play_seconds": 2.0,
        "seconds": 3.0,
        "cpu_seconds": 3.0,
        "policy_loss": 1.0,
        "value_loss": 0.5,
        "loss": 1.5,
    }
    return [base | {"iteration": k, "total_seconds": 60.0 * k * k} | more for k in range(1, count + 1)]


def lines(figure):
    """{title: {label: ([x], [y])}}"""
    return {
        axes.get_title(): {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}
        for axes in figure.axes
    }


def test_only_what_was_measured_is_drawn():
    found = lines(curves(rows()))
    assert found.keys() == {"loss", "moves a second"} and found["loss"].keys() == {"policy", "value"}
    assert found["loss"]["policy"] == ([1, 4, 9], [1, 1, 1]) and found["moves a second"]["self-play"][1] == [50, 50, 50]


def test_evaluations_between_iterations_are_joined():
    data = rows(4)
    data[1] |= {"mcts_accuracy": 0.5, "elo": 0.0}
    data[3] |= {"mcts_accuracy": 0.75, "elo": None}
    found = lines(curves(data, against="iteration"))
    assert found["accuracy"] == {"with search": ([2, 4], [0.5, 0.75])} and found["Elo"] == {"Elo": ([2], [0.0])}
    full = lines(curves(rows(network_accuracy=0.1, mcts_accuracy=0.2, result_accuracy=0.3, elo=5.0, reply_loss=2.0, perfect=0.4)))
    assert list(full) == [panel[0] for panel in PANELS] and [len(panel) for panel in full.values()] == [3, 3, 1, 1, 1]


def test_curves_of_a_folder(tmp_path):
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
    assert lines(curves(tmp_path)) == lines(curves(rows()))
    figure = curves(str(tmp_path))
    for name in ("curves.png", "curves.svg"):
        figure.savefig(tmp_path / name)
    assert (tmp_path / "curves.png").read_bytes()[:4] == b"\x89PNG" and "<svg" in (tmp_path / "curves.svg").read_text()


def test_what_cannot_be_drawn(tmp_path):
    with pytest.raises(AzlabError, match="There is no folder"):
        curves(tmp_path / "nothing")
    with pytest.raises(AzlabError, match="no finished iteration"):
        curves(tmp_path)
    with pytest.raises(AzlabError, match="'minutes' or 'iteration'"):
        curves(rows(), against="hours")


def test_jupyter_shows_a_picture_without_pyplot():
    from IPython.core.formatters import DisplayFormatter

    data, _ = DisplayFormatter().format(curves(rows()))
    assert data["image/png"][:4] == b"\x89PNG"


def test_live_curves_renew_one_picture(monkeypatch):
    shown = []

    class Handle:
        def __init__(self, thing):
            self.things = [thing]

        def update(self, thing):
            self.things.append(thing)

    def display(thing, display_id):
        shown.append(Handle(thing))
        return shown[-1]

    monkeypatch.setattr("IPython.display.display", display)
    listener = LiveCurves()
    for row in rows():
        for done in range(0, 1001, 1):
            listener("playing", done, 1000)
        listener("iteration", row["iteration"], 3, **row)
    text, chart = shown
    assert [lines(figure)["loss"]["policy"][0] for figure in chart.things] == [[1], [1, 4], [1, 4, 9]]
    assert len(text.things) == 3 * 102 and text.things[101].data.startswith("iteration 1, 1.0 min")
    assert text.things[50].data == "playing: 50%"


def test_live_curves_follow_another_process(tmp_path, monkeypatch):
    """Another process adds lines to the folder; every one is shown, and the last ends the following."""
    from azlab.learning import AlphaZeroConfig

    (tmp_path / "config.toml").write_text(AlphaZeroConfig(iterations=3).to_toml())
    file, data, shown = tmp_path / "metrics.jsonl", rows(), []
    file.write_text(json.dumps(data[0]) + "\n")

    def another_process(seconds):
        if len(shown) < 3:
            file.write_text("".join(json.dumps(row) + "\n" for row in data[: len(shown) + 1]))

    monkeypatch.setattr("time.sleep", another_process)
    monkeypatch.setattr(LiveCurves, "__call__", lambda self, what, done, total, **row: shown.append((done, total, row)))
    assert curves(tmp_path, live=True) is None
    assert shown == [(k + 1, 3, data[k]) for k in range(3)]
    with pytest.raises(AzlabError, match="no training run"):
        curves(tmp_path / "nothing", live=True)
