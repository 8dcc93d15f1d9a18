"""Histories of tables: what is written down and when, and the distance from perfect play, checked by slower means."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import azlab
from azlab.learning import MonteCarloControl, TableHistory, table_history
from azlab.learning.table_history import times

TWO = azlab.game("go", size=2, komi=0)
EXACT = azlab.oracle(TWO)
STATES = EXACT.positions()


def history(games=0, **settings):
    one = TableHistory(MonteCarloControl(TWO, seed=1, **{"key": "board", **settings}), STATES, EXACT.action_scores(STATES))
    return one.run(games) if games else one


def test_times_hold_the_powers_of_ten_and_double_every_three():
    assert times(1) == [1] and times(2500)[-1] == 2500
    grid = times(1_000_000)
    assert {1, 10, 100, 1000, 10_000, 100_000, 1_000_000} <= set(grid) and grid == sorted(set(grid))
    assert all(grid[k + 3] / grid[k] == pytest.approx(2, rel=0.01) for k in range(grid.index(100), len(grid) - 3))


def test_a_history_learns_what_the_table_would_learn_alone():
    table = MonteCarloControl(TWO, seed=1, key="board")
    table.run(3000)
    one = history(3000)
    assert one.games[-1] == one.table.games == 3000
    assert one.table.values(TWO.start()) == table.values(TWO.start())
    values = one.values_of(TWO.start())
    assert {move: pytest.approx(line[-1], abs=1e-6) for move, line in values.items()} == table.values(TWO.start())
    assert len(values["a1"]) == len(one.games) == len(one.perfect) == len(one.met)


def test_pairs_are_the_legal_moves_of_the_rows_a_table_can_have():
    """57 boards (OEIS A094777) and two players; on 2x2 simple ko never forbids a move of a row altogether."""
    rows = len({(state["board"].tobytes(), int(state["to_move"])) for state in STATES})
    assert rows == 114 and history()._pairs.shape == (114, 5)
    moves = {
        (s["board"].tobytes(), int(s["to_move"]), a) for s, m in zip(STATES, TWO.legal_mask(STATES)) for a in np.flatnonzero(m)
    }
    assert history(10).q.shape == (len(times(10)), len(moves))
    assert history(key="situation")._pairs.sum() > len(moves)


def test_the_perfect_play_rate_is_what_asking_position_by_position_gives():
    one = history(300)
    kept, asked = 0, 0
    for k in range(len(STATES)):
        position = TWO.position(STATES[k : k + 1])
        results = {move: np.sign(score) * (1 - 2 * position.to_move) for move, score in EXACT.scores(position).items()}
        if min(results.values()) < max(results.values()):
            asked += 1
            kept += results[TWO.move_name(one.table.best_action(position))] == max(results.values())
    assert one.perfect[-1] == one.perfect_rate() == pytest.approx(kept / asked) and 0.5 < kept / asked < 1
    assert one.matters.sum() == asked


def test_2x2_is_played_perfectly_after_100_000_games():
    one = history(100_000, epsilon=0.5, optimistic=True)
    assert one.perfect[-1] == 1 and one.met[-1] == 1
    games, changes = one.changes()
    assert games[-1] == 100_000 and changes[-1] == one.change(100_000) < 0.05 < changes[0]
    means = one.mean_by_result()
    assert means[1][-1] > 0.4 and abs(means[0][-1]) < 0.2 and means[-1][-1] < -0.4


def test_a_change_is_measured_on_pairs_that_were_tried_before():
    one = history(200)
    half = one.games.index(100)
    before, after = one.q[half], one.q[-1]
    known = ~np.isnan(before)
    assert one.change(200) == pytest.approx(np.abs(after - before)[known].mean(), rel=1e-5)
    assert one.change(200, updated=True) >= one.change(200)


# --- in a run's folder ----------------------------------------------------------------------------------------------------------


def numbers(one):
    """All that a history knows but times."""
    learned = one.table
    table = repr(learned.values(TWO.start())), learned.games, learned.rows, learned.results.tolist(), learned._rng.tolist()
    rows = [{name: value for name, value in row.items() if "seconds" not in name} for row in one.metrics]
    return one.games, one.perfect.tolist(), one.met.tolist(), one.q.tobytes(), table, rows


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_run_goes_on_as_if_never_stopped(tmp_path):
    whole = history().run(18_000, folder=tmp_path / "whole")
    assert numbers(whole)[:-2] == numbers(history(18_000))[:-2]  # the folder changes nothing
    assert [row["games"] for row in whole.metrics] == [10_000, 2589, 3260, 2151]
    assert whole.metrics[-1]["perfect"] == whole.perfect[-1]
    assert sum(row["moves"] for row in whole.metrics) == whole.table.counts.sum()

    def interrupt(done, total):
        if done > 12_000:
            raise KeyboardInterrupt

    one = history()
    with pytest.raises(KeyboardInterrupt):
        one.run(18_000, interrupt, tmp_path / "parts")
    for again in (history(), one, history()):  # a new one, the interrupted one, and one for which nothing is left to do
        assert numbers(again.run(18_000, folder=tmp_path / "parts")) == numbers(whole)
    assert names(tmp_path / "parts") == names(tmp_path / "whole") == [
        ".lock", "checkpoint/00003/metrics.json", "checkpoint/00003/table.npz", "checkpoint/00004/metrics.json",
        "checkpoint/00004/table.npz", "config.toml", "metrics.jsonl", *(f"values/0000{k}.npz" for k in (1, 2, 3, 4)),
    ]  # fmt: skip
    longer = history().run(26_000, folder=tmp_path / "parts")
    assert longer.table.values(TWO.start()) == history(26_000).table.values(TWO.start()) and len(longer.metrics) == 7


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_table_history import history, table_history

replace, left, table_history.FEW = Path.replace, [int(sys.argv[2])], 20

def counted(path, target):  # every file of a run comes into being by this call
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(path, target)

Path.replace = counted
history().run(30, folder=sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("write", [1, 2, 3, 4, 5, 6, 7, 10, 16])
def test_a_run_killed_before_any_write_goes_on_with_the_same_numbers(tmp_path, monkeypatch, write):
    """An iteration writes its values, the table and the metrics of its checkpoint, the checkpoint's name, metrics.jsonl."""
    command = [sys.executable, "-c", KILLED, str(tmp_path / "killed"), str(write), os.path.dirname(__file__)]
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    monkeypatch.setattr(table_history, "FEW", 20)
    found = [numbers(history().run(30, folder=tmp_path / folder)) for folder in ("killed", "whole")]
    assert found[0] == found[1] and len(found[0][-1]) == 3
    assert names(tmp_path / "killed") == names(tmp_path / "whole")


def test_other_settings_are_refused_in_the_folder_of_a_run(tmp_path):
    history().run(20, folder=tmp_path)
    changes = {"epsilon": 0.3, "optimistic": True, "key": "planes", "discount": 0.9}
    for name, value in changes.items():
        with pytest.raises(azlab.AzlabError, match=rf"begun with other settings \({name}\)"):
            history(**{name: value}).run(30, folder=tmp_path)
    table = MonteCarloControl(TWO, seed=1, key="board")
    with pytest.raises(azlab.AzlabError, match=r"other settings \(watched\)"):
        TableHistory(table, STATES[1:], EXACT.action_scores(STATES[1:])).run(30, folder=tmp_path)
    with pytest.raises(azlab.AzlabError, match="has learned already"):
        history(5).run(30, folder=tmp_path / "new")


def test_a_damaged_checkpoint_says_how_to_go_on_and_the_run_goes_on_so(tmp_path, monkeypatch):
    monkeypatch.setattr(table_history, "FEW", 10)
    whole = history().run(30, folder=tmp_path)
    for name in ("checkpoint/00006/table.npz", "values/00006.npz"):
        file = tmp_path / name
        data = file.read_bytes()
        file.write_bytes(data[:-9])
        with pytest.raises(azlab.AzlabError, match=r"delete .*00006: the run then goes on after iteration 5\."):
            history().run(30, folder=tmp_path)
        file.write_bytes(data)
    for file in (tmp_path / "checkpoint" / "00006").iterdir():
        file.unlink()
    (tmp_path / "checkpoint" / "00006").rmdir()
    assert numbers(history().run(30, folder=tmp_path)) == numbers(whole)


def test_bad_input_gets_one_sentence():
    for call, sentence in (
        (lambda: times(0), "at least one game"),
        (lambda: history(10).at(7777), "Nothing was written down after 7,777 games"),
        (lambda: history(10).values_of(TWO.from_moves("a1 pass pass")), "not among the states"),
    ):
        with pytest.raises(azlab.AzlabError, match=sentence):
            call()
