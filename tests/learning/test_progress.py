import io
import json

from azlab.learning.progress import JsonProgress, TerminalProgress, headline

ROW = {"iteration": 3, "total_seconds": 90.0, "moves": 500, "play_seconds": 2.0, "loss": 1.23456, "mcts_accuracy": 0.875}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_an_iteration_in_one_line():
    assert headline(ROW) == "iteration 3, 1.5 min, 250 moves/s, loss 1.235, search 87.5%"
    full = ROW | {"network_accuracy": 0.5, "elo": -12.4, "gate_score": 0.45, "accepted": False, "diversity": 0.251}
    assert headline(full).endswith("loss 1.235, net 50.0%, search 87.5%, Elo -12, gate 45.0%, new 25%, rejected")
    assert headline(ROW | {"gate_score": None, "accepted": True}) == headline(ROW)


def test_a_bar_for_each_kind_of_work_and_a_line_for_each_iteration():
    stream = Terminal()
    listener = TerminalProgress(stream)
    for done in (1, 5, 10):
        listener("playing", done, 10)
        assert (listener._bar.n, listener._bar.total) == (done, 10)
    listener("training", 3, 4)
    listener("iteration", 3, 9, **ROW)
    listener("playing", 2, 10)
    listener.close()
    listener.close()
    text = stream.getvalue()
    assert "playing" in text and "training" in text and headline(ROW) + "\n" in text
    assert text.endswith("\r")  # nothing is left of the last bar


def test_a_log_has_only_the_iterations():
    stream = io.StringIO()
    listener = TerminalProgress(stream)  # no terminal: no bars
    for what in ("playing", "training", "iteration"):
        listener(what, 1, 2, **(ROW if what == "iteration" else {}))
    assert stream.getvalue() == headline(ROW) + "\n"


def test_json_lines():
    stream = io.StringIO()
    listener = JsonProgress(stream)
    listener("playing", 1, 2)
    listener("iteration", 3, 9, **ROW)
    listener("iteration", 4, 9, **ROW | {"iteration": 4})
    assert [json.loads(line) for line in stream.getvalue().splitlines()] == [ROW, ROW | {"iteration": 4}]
