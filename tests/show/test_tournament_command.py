"""`azlab tournament` as it is typed."""

import pytest

from azlab.cli import main

FIRST = "def choose(position):\n    return position.legal_actions[0]\n"


@pytest.fixture
def players(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "class_a"
    folder.mkdir()
    (folder / "anna.py").write_text(FIRST)
    (folder / "ben.py").write_text("def choose(position)\n    return 1")
    return folder


@pytest.mark.slow
def test_a_tournament_is_played_listed_and_changed(players, tmp_path, capsys):
    command = ["tournament", "class_a", "--game", "dots_and_boxes", "rows=2", "cols=2", "--games", "2", "--with", "random"]
    command += ["--seconds", "120", "--processes", "1"]
    assert main([*command, "--list"]) == 0
    assert "3 players, 0 games done, 6 to do" in capsys.readouterr().out
    assert main(command) == 0
    said = capsys.readouterr()
    out = tmp_path / "runs" / "tournament_class_a"
    assert "dots_and_boxes: 3 players, 6 games, seed 0" in said.out and "runs/tournament_class_a/index.html" in said.out
    assert said.err.count("ben cannot start and forfeits all games: SyntaxError: expected ':' (ben.py, line 1).") == 1
    assert (out / "index.html").read_text().startswith("<!doctype html>")
    assert "SyntaxError" in (out / "printed" / "ben.txt").read_text()
    (players / "ben.py").write_text(FIRST)
    assert main(command) == 0
    said = capsys.readouterr()
    assert "Of players that have changed or were to play again, 4 games were played anew." in said.out
    assert "cannot start" not in said.out and main([*command, "--list"]) == 0
    assert "6 games done, 0 to do" in capsys.readouterr().out
    lines = (out / "results.jsonl").read_text().splitlines()
    (out / "results.jsonl").write_text("\n".join([*lines[:-1], lines[-1][:40]]))
    assert main(command) == 0
    assert "A line of runs/tournament_class_a/results.jsonl could not be read" in capsys.readouterr().out
    assert (out / "results.jsonl").read_text().splitlines() == lines
    assert main([*command, "--seed", "1"]) == 2
    assert "has games with seed = 0, not 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere", "--game", "connect4"], "nowhere does not exist"),
        ([".", "--game", "connect4"], "There is no player in ."),
        (["class_a"], "--game"),
        (["class_a", "--game", "chess"], "There is no game 'chess'"),
        (["class_a", "--game", "connect4", "size=3"], "connect4 has no option 'size'"),
        (["class_a", "--game", "connect4", "--games", "5"], "games must be even"),
        (["class_a", "--game", "connect4", "--with", "nobody"], "There is no agent 'nobody'"),
        (["class_a", "--game", "connect4", "--seconds", "nan"], "seconds must be a number"),
        (["class_a", "--game", "connect4", "--memory", "1"], "memory must be a whole number from 50"),
        (["class_a", "--game", "connect4", "--processes", "0"], "processes must be a whole number from 1"),
        (["class_a", "--game", "connect4", "--again", "nobody"], "There is no player 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(players, capsys, words, sentence):
    assert main(["tournament", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


def test_one_player_alone_is_a_sentence(players, capsys):
    (players / "ben.py").unlink()
    assert main(["tournament", "class_a", "--game", "connect4"]) == 2
    assert "anna is the only player" in capsys.readouterr().err
