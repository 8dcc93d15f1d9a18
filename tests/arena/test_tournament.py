"""Tournaments of real files: the same by seed whatever plays when, going on after any end, and never hurt by a player."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import azlab
from azlab.arena.contestants import contestants
from azlab.arena.match import random_openings
from azlab.arena.student import CRASH, ILLEGAL, RUBBISH, START, TIME
from azlab.arena.tournament import Limits, Tournament
from azlab.arena.tournament_file import Played
from azlab.errors import AzlabError

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0  # seconds for whatever a loaded machine may take

RANDOM = "import random\ndef choose(position):\n    return random.choice(list(set(position.legal_moves)))\n"
NUMPY = "import numpy\nclass Ben:\n    def choose(self, position):\n        return numpy.random.choice(position.legal_actions)\n"
FIRST = "def choose(position):\n    return position.legal_actions[0]\n"
# remembers moves: what a file keeps from one game must not change the next
COUNTS = """
seen = []
def choose(position):
    seen.append(1)
    return position.legal_moves[len(seen) % len(position.legal_moves)]
"""
GOOD = {"anna.py": RANDOM, "ben.py": NUMPY, "carl.py": FIRST, "dora.py": COUNTS}


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, source in files.items():
        (folder / name).write_text(source)
    return folder


def tournament(tmp_path: Path, files: dict[str, str], out: str = "out", agents=(), **settings) -> Tournament:
    players = contestants(write(tmp_path / "players", files), agents)
    limits = Limits(settings.pop("seconds", PATIENCE), PATIENCE)
    rules = azlab.game(settings.pop("game", "tictactoe"))
    return Tournament(players, rules, rules.name, tmp_path / out, limits=limits, **{"games": 4} | settings)


def results(tmp_path: Path, out: str = "out") -> bytes:
    return (tmp_path / out / "results.jsonl").read_bytes()


def test_everyone_meets_everyone_from_the_same_openings_in_both_seats(tmp_path):
    found = tournament(tmp_path, GOOD, agents=["random"], games=4, seed=5)
    news = []
    found.run(1, report=news.append)
    games = found.finished()
    assert len(games) == 5 * 4 // 2 * 4 == len(set(played.key for played in games)) and not found.missing()
    openings = random_openings(azlab.game("tictactoe"), 2, None, 5)
    for played in games:
        assert list(played.moves[: played.given]) == openings[played.opening].moves and played.forfeit is None
        assert found.rules.from_moves(list(played.moves)).result == played.result
    assert [one.done for one in news if isinstance(one.what, Played)] == list(range(1, 41)) and news[-1].total == 40


def test_results_are_the_same_byte_for_byte_with_one_process_and_with_two(tmp_path):
    for out, processes in (("one", 1), ("two", 2), ("again", 2)):
        tournament(tmp_path, GOOD, out, agents=["random"], game="connect4", games=2).run(processes)
    assert results(tmp_path, "one") == results(tmp_path, "two") == results(tmp_path, "again")
    other = tournament(tmp_path, GOOD, "other", agents=["random"], game="connect4", games=2, seed=1)
    other.run(2)
    assert results(tmp_path, "other").splitlines()[6:] != results(tmp_path, "one").splitlines()[6:]


BAD = {
    "illegal": ("def choose(p): return 'a9'", ILLEGAL, "'a9' after"),
    "taken": ("def choose(p): return p.moves[0]", ILLEGAL, "is not legal here"),
    "number": ("def choose(p): return -1", ILLEGAL, "There is no action -1"),
    "rubbish": ("def choose(p): return p", RUBBISH, "choose returned <tictactoe"),
    "raises": ("def choose(p):\n    return {}[p.ply]", CRASH, "KeyError: "),
    "dies": ("import os\ndef choose(p): os._exit(1)", CRASH, "its process ended with exit code 1"),
    "syntax": ("def choose(p) return 0", START, "SyntaxError"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_player_loses_its_games_and_the_tournament_goes_on(tmp_path, what):
    source, kind, words = BAD[what]
    found = tournament(tmp_path, {"anna.py": RANDOM, "bad.py": source, "carl.py": FIRST}, games=2)
    found.run(1)
    assert len(found.finished()) == 6
    for opponent in ("anna", "carl"):
        games = [played for played in found.finished() if set(played.players) == {"bad", opponent}]
        assert all(played.result == (1 if played.players[1] == "bad" else -1) for played in games)
        assert all(played.forfeit.player == "bad" and played.forfeit.kind == kind for played in games)
        assert all(words in played.forfeit.reason for played in games)
    assert all(played.forfeit is None for played in found.finished() if "bad" not in played.players)


def test_a_player_that_thinks_for_ever_loses_on_time(tmp_path):
    found = tournament(tmp_path, {"anna.py": FIRST, "bad.py": "def choose(p):\n    while True: pass"}, games=2, seconds=4.0)
    found.run(1)
    assert {played.forfeit.player for played in found.finished()} == {"bad"}
    assert {played.forfeit.kind for played in found.finished()} == {TIME}
    assert 'bad.py", line 2 in choose' in (tmp_path / "out" / "printed" / "bad.txt").read_text()


def test_two_who_cannot_start_do_not_meet(tmp_path):
    found = tournament(tmp_path, {"anna.py": FIRST, "bad.py": "1 / 0", "worse.py": "import nothing_of_the_kind"}, games=2)
    found.run(2)
    assert {played.players for played in found.finished()} == {
        ("anna", "bad"),
        ("bad", "anna"),
        ("anna", "worse"),
        ("worse", "anna"),
    }
    assert not found.missing() and found.fault("bad").reason == "ZeroDivisionError: division by zero (bad.py, line 1)"


def test_finished_games_are_never_played_again(tmp_path):
    found = tournament(tmp_path, GOOD, games=2)
    found.run(2)
    before = results(tmp_path)
    news = []
    tournament(tmp_path, GOOD, games=2).run(2, report=news.append)
    assert news == [] and results(tmp_path) == before
    longer = tournament(tmp_path, GOOD, games=4)
    longer.run(2, report=news.append)
    assert len(news) == 12 and len(longer.finished()) == 24
    tournament(tmp_path, GOOD, games=2).run(2)  # asked for fewer, none is lost
    assert not tournament(tmp_path, GOOD, games=4).missing()


def test_a_changed_file_is_played_anew_and_the_rest_is_kept(tmp_path):
    tournament(tmp_path, GOOD, games=2).run(2)
    before = results(tmp_path)
    news = []
    changed = tournament(tmp_path, GOOD | {"ben.py": FIRST + "name = 'New Ben'\n"}, games=2)
    assert changed.run(2, report=news.append) == 6
    games = [one.what for one in news if isinstance(one.what, Played)]
    assert len(games) == 6 and all("ben" in played.players for played in games) and changed.shown("ben") == "New Ben"
    back = tournament(tmp_path, GOOD, games=2)
    back.run(2)
    assert results(tmp_path) == before
    assert back.run(2, again=["anna"]) == 6 and results(tmp_path) == before
    with pytest.raises(AzlabError, match="There is no player 'nobody'"):
        back.run(2, again=["nobody"])


def test_an_agent_that_cannot_play_the_game_is_a_sentence(tmp_path):
    with pytest.raises(AzlabError, match="minimax:2,endgame=5 cannot play here: The endgame solver is for Dots and Boxes"):
        tournament(tmp_path, {"anna.py": FIRST}, agents=["minimax:2,endgame=5"]).run(1)


@pytest.mark.parametrize(
    ("settings", "words"), [({"games": 3}, "try 4"), ({"games": 0}, "from 2"), ({"seconds": 0}, "more than 0")]
)
def test_wrong_settings_are_sentences(tmp_path, settings, words):
    with pytest.raises(AzlabError, match=words):
        tournament(tmp_path, GOOD, **settings)


# --- a tournament that is ended in the middle ---------------------------------------------------------------------------------

SLOW = "import os, random, time\nopen('pids', 'a').write(f'{os.getpid()}\\n')\ndef choose(p):\n    time.sleep(0.05)\n"
SLOWLY = {name: f"{SLOW}    return random.choice(list(set(p.legal_moves)))\n" for name in ("anna.py", "ben.py", "carl.py")}


def begun(tmp_path: Path, files: dict[str, str], is_time: Callable[[], bool]) -> subprocess.Popen:
    """The command in a process of its own, at the moment when it is time to end it."""
    write(tmp_path / "players", files)
    command = [sys.executable, "-m", "azlab.cli", "tournament", str(tmp_path / "players"), "--game", "tictactoe", "--games", "20"]
    command += ["--seconds", str(PATIENCE), "--start-seconds", str(PATIENCE), "--processes", "2", "--out", str(tmp_path / "out")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))}
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None and not is_time():
        time.sleep(0.02)
    assert process.poll() is None and is_time()
    return process


def games_in(tmp_path: Path) -> list[dict]:
    path = tmp_path / "out" / "results.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if '"moves"' in line and line.endswith("\n")]


def all_gone(tmp_path: Path) -> bool:
    """Whether the players' processes end, which happens soon and not at once."""
    pids = [int(line) for line in (tmp_path / "players" / "pids").read_text().split()]
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if all(is_gone(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_killed_tournament_goes_on_and_ends_as_if_nothing_had_happened(tmp_path):
    process = begun(tmp_path, SLOWLY, lambda: len(games_in(tmp_path)) >= 4)
    process.kill()
    process.wait()
    done = games_in(tmp_path)
    assert 4 <= len(done) < 60 and all_gone(tmp_path)
    news = []
    resumed = tournament(tmp_path, SLOWLY, games=20)
    resumed.run(2, report=news.append)
    assert len([one for one in news if isinstance(one.what, Played)]) == 60 - len(done)
    tournament(tmp_path, SLOWLY, "undisturbed", games=20).run(2)
    assert results(tmp_path) == results(tmp_path, "undisturbed")


LOOPS = """
import os, subprocess, sys
def choose(position):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    with open("pids", "a") as file:
        file.write(f"{os.getpid()} {child.pid}\\n")
    while True:
        pass
"""


def test_players_that_never_stop_end_with_a_killed_tournament_and_so_does_what_they_started(tmp_path):
    pids = tmp_path / "players" / "pids"
    process = begun(tmp_path, {"anna.py": LOOPS, "ben.py": LOOPS}, lambda: pids.exists() and pids.read_text().count("\n") == 2)
    assert not any(is_gone(int(pid)) for pid in pids.read_text().split())
    process.kill()
    process.wait()
    assert all_gone(tmp_path)


def test_ctrl_c_keeps_finished_games_and_writes_the_page(tmp_path):
    process = begun(tmp_path, SLOWLY, lambda: len(games_in(tmp_path)) >= 4)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and "the same command goes on from there" in said
    assert 4 <= len(games_in(tmp_path)) < 60 and all_gone(tmp_path)
    assert "It is not finished" in (tmp_path / "out" / "index.html").read_text()
