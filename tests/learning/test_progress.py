import io
import json

from azlab.learning.progress import JsonProgress, SweepProgress, TerminalProgress, headline

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


def test_a_sweep_in_a_log_says_what_ends_and_now_and_then_how_all_is():
    stream = io.StringIO()
    listener = SweepProgress(stream, pause=3600)
    listener("units", 0, 3)
    listener("a seed 1", 1, 4, loss=0.5)
    listener("b seed 1", 0, 4)
    assert stream.getvalue() == ""
    listener("b seed 1", 0, 4, error="It broke.")
    listener("a seed 1", 4, 4, finished=True)
    assert stream.getvalue() == "b seed 1 failed after 0 of 4: It broke.\na seed 1 is done: 4 of 4\n"
    listener._pause = -1.0
    listener("units", 1, 3)
    listener("c seed 1", 2, 0, loss=0.25)  # how many there will be is not known
    assert stream.getvalue().splitlines()[2:] == ["1 of 3 units are done", "1 of 3 units are done; c seed 1: 2, loss 0.250"]


def test_a_sweep_on_a_terminal_is_redrawn_in_place(monkeypatch):
    monkeypatch.setenv("COLUMNS", "21")
    stream = Terminal()
    listener = SweepProgress(stream)
    listener("units", 0, 2)
    listener("a seed 1", 1, 4, loss=0.5)
    assert stream.getvalue().endswith("\033[1A\r\033[Ja seed 1: 1 of 4, lo\n0 of 2 units are don\n")  # cut to the width
    listener("a seed 1", 4, 4, finished=True)
    assert stream.getvalue().endswith("\033[2A\r\033[Ja seed 1 is done: 4 of 4\n0 of 2 units are don\n")
    listener.close()
    assert stream.getvalue().endswith("\033[1A\r\033[J")
