"""Players' processes: whatever a file does, the parent hears of a move or of a failure, and nothing is left running."""

import os
import time
from pathlib import Path

import pytest

from azlab.arena.student import CRASH, MEMORY, RUBBISH, START, TIME, Job
from azlab.arena.student_process import Forfeit, PlayerProcess

pytestmark = pytest.mark.slow
PATIENCE = 60.0  # seconds for whatever a loaded machine may take
ON_LINUX = Path("/proc/self/status").exists()


def job_of(folder: Path, source: str, **changes) -> Job:
    path = folder / "anna.py"
    path.write_text(source)
    settings = {"seed": 1, "seconds": PATIENCE, "start_seconds": PATIENCE, "memory": 500} | changes
    return Job("tictactoe", {}, "anna", str(path), source.encode(), **settings)


def played(folder: Path, source: str, **changes) -> list:
    """Two moves of a player, or how it failed."""
    process = PlayerProcess(job_of(folder, source, **changes))
    try:
        return [process.start(), process.ask([]), process.ask([0, 1])]
    except Forfeit as failure:
        return [failure.kind, failure.reason]
    finally:
        process.end()


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has buried yet has."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def wait_for(condition) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


FINE = "name = 'Anna'\ndef choose(position):\n    return position.legal_moves[-1]\n"
# what a file does: how the game is lost, and a word of the reason
AT_START = {
    "syntax": ("def choose(position)\n    return 1", "SyntaxError: expected ':' (anna.py, line 1)"),
    "bytes": ("x = '\0'", "null bytes"),
    "import": ("import there_is_no_such_module", "No module named 'there_is_no_such_module' (anna.py, line 1)"),
    "exit": ("import sys\nsys.exit()", "SystemExit (anna.py, line 2)"),
    "os._exit": ("import os\nos._exit(7)", "its process ended with exit code 7"),
    "kill": ("import os\nos.kill(os.getpid(), 9)", "its process ended by SIGKILL"),
    "no player": ("x = 1", "neither a function choose(position) nor a class with a method choose"),
    "class": ("class A:\n    def __init__(self): 1 / 0\n    def choose(self, p): return 0", "division by zero (anna.py, line 2)"),
    "closed": ("import os\nos.closerange(3, 1000)\nimport time\ntime.sleep(1000)", "its process"),
}  # fmt: skip
AT_MOVE = {
    "raises": ("raise KeyError('x')", CRASH, "KeyError: 'x' (anna.py, line 2)"),
    "exit": ("import sys; sys.exit(0)", CRASH, "SystemExit: 0 (anna.py, line 2)"),
    "os._exit": ("import os; os._exit(0)", CRASH, "its process ended with exit code 0"),
    "input": ("return input()", CRASH, "EOFError: EOF when reading a line (anna.py, line 2)"),
    "interrupt": ("raise KeyboardInterrupt", CRASH, "KeyboardInterrupt"),
    "kill": ("import os; os.kill(os.getpid(), 11)", CRASH, "its process ended by SIGSEGV"),
    "recursion": ("return choose(position)", CRASH, "RecursionError"),
    "none": ("pass", RUBBISH, "choose returned None"),
    "float": ("return 3.0", RUBBISH, "choose returned 3.0"),
    "long": ("return 'x' * 10**7", RUBBISH, "choose returned 'xxx"),
    "bool": ("return True", RUBBISH, "choose returned True"),
}  # fmt: skip


def test_a_player_plays(tmp_path):
    assert played(tmp_path, FINE) == ["Anna", "c1", "c1"]


@pytest.mark.parametrize("what", AT_START)
def test_a_player_that_cannot_start(tmp_path, what):
    source, words = AT_START[what]
    kind, reason = played(tmp_path, source)
    assert kind == START and words in reason


@pytest.mark.parametrize("what", AT_MOVE)
def test_a_player_that_gives_no_move(tmp_path, what):
    line, expected, words = AT_MOVE[what]
    kind, reason = played(tmp_path, f"def choose(position):\n    {line}\n")
    assert kind == expected and words in reason


@pytest.mark.parametrize("loop", ["while True: pass", "import time; time.sleep(1000)", "import re; re.match('(a*)*b', 'a' * 40)"])
def test_a_player_that_is_too_slow(tmp_path, loop):
    """The last of them lets no other thread of Python run."""
    assert played(tmp_path, f"def choose(position):\n    {loop}\n", seconds=0.5) == [TIME, "it took longer than 0.5 s"]
    assert played(tmp_path, loop, start_seconds=0.5) == [START, "it took longer than 0.5 s"]


def test_one_that_is_too_slow_prints_where_it_was(tmp_path):
    process = PlayerProcess(job_of(tmp_path, "def choose(position):\n    while True:\n        pass\n", seconds=0.5))
    process.start()
    with pytest.raises(Forfeit):
        process.ask([])
    process.end()
    assert 'anna.py", line' in process.printed and "in choose" in process.printed


@pytest.mark.skipif(not ON_LINUX, reason="memory is counted on Linux alone")
@pytest.mark.parametrize(
    "hog", ["kept.extend([0] * 10**7 for _ in range(100))", "bytearray(10**9)", "import numpy; numpy.ones(10**9)"]
)
def test_a_player_that_takes_too_much_memory(tmp_path, hog):
    kind, reason = played(tmp_path, f"kept = []\ndef choose(position):\n    {hog}\n    return 0\n")
    assert kind == MEMORY and "anna.py, line 3" in reason
    assert played(tmp_path, f"kept = []\n{hog}\ndef choose(position): return 0")[0] == START


def test_printing_is_kept_and_disturbs_nothing(tmp_path):
    source = "import os, sys\ndef choose(p):\n    print('to stdout')\n    os.write(2, b'to stderr\\n')\n"
    process = PlayerProcess(job_of(tmp_path, f"{source}    sys.stdout.write('x' * 10**6)\n    return 0\n"))
    process.start()
    assert process.ask([]) == 0
    process.end()
    assert process.printed.endswith("xxx") and len(process.printed) <= 20_000
    process = PlayerProcess(job_of(tmp_path, f"{source}    return 0\n"))
    process.start()
    process.ask([])
    process.end()
    assert process.printed == "to stdout\nto stderr\n"


def test_threads_and_processes_that_a_player_leaves_behind_are_ended(tmp_path):
    source = (
        "import subprocess, sys, threading, time\n"
        "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        "open('pid', 'w').write(str(child.pid))\n"
        "def choose(p): return 0\n"
    )
    process = PlayerProcess(job_of(tmp_path, source))
    process.start()
    pid = int((tmp_path / "pid").read_text())
    assert process.ask([]) == 0 and not is_gone(pid) and not is_gone(process._process.pid)
    process.end()
    process.end()
    assert wait_for(lambda: is_gone(pid)) and is_gone(process._process.pid)


def test_what_is_drawn_at_random_depends_on_the_seed_alone(tmp_path):
    source = (
        "import random, numpy\nfirst = random.random()\n"
        'def choose(p): return f\'{first:.6f} {numpy.random.rand():.6f} {list({"a", "b", "c", "d", "e"})}\'[:60]\n'
    )
    found = {seed: [played(tmp_path, source, seed=seed)[1] for _ in range(2)] for seed in (1, 2)}
    assert found[1][0] == found[1][1] != found[2][0] == found[2][1]


def test_an_agent_of_azlab_plays_and_a_wrong_one_says_why(tmp_path):
    job = Job("tictactoe", {}, "minimax:9", "", None, 0, PATIENCE, PATIENCE, None)
    process = PlayerProcess(job)
    process.start()
    assert process.ask([0, 4]) in range(9)
    process.end()
    process = PlayerProcess(Job("seega", {}, "perfect", "", None, 0, PATIENCE, PATIENCE, None))
    with pytest.raises(Forfeit, match="perfect"):
        process.start()
    process.end()
