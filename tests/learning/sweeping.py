"""Units of work that only calculate, for tests/learning/test_sweep.py: found by other processes, so they stand in a file.

As a program it runs a sweep of them: python sweeping.py FOLDER PROCESSES CONFIG...
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from azlab.errors import AzlabError
from azlab.nets.threads import ONE_THREAD, threads


def count(config, seed, folder):
    """Each step adds a line to journal.txt, from which the next try goes on; `trouble` comes at step 2 of seed 2."""
    (folder / "pids.txt").open("a").write(f"{os.getpid()}\n")
    journal = folder / "journal.txt"
    for iteration in range(1, config.get("steps", 3) + 1):
        if iteration > len(journal.read_text().splitlines() if journal.exists() else []):
            time.sleep(config.get("pause", 0))
            if seed == 2 and iteration == 2:
                trouble(config.get("trouble"), folder / "been_here")
            journal.open("a").write(f"{iteration}\n")
        square = None if iteration == 1 else iteration**2
        yield {"iteration": iteration, "score": config["gain"] * iteration + seed / 8, "square": square, "word": "no number"}


def trouble(kind, mark):
    first = not mark.exists()
    mark.touch()
    if kind == "fault":
        raise ZeroDivisionError("nothing\nand more")
    if kind == "sentence" and first:
        raise AzlabError("This cannot be.")
    if kind == "sleeps once" and first:
        time.sleep(100)
    if kind == "killed" or (kind == "killed once" and first):
        os.kill(os.getpid(), signal.SIGKILL)


def threads_here(config, seed, folder):
    print("for the log")
    yield {"iteration": 1, "threads": threads(), **{name: int(os.environ[name]) for name in ONE_THREAD}}


def not_a_row(config, seed, folder):
    return [{"loss": 1.0}]


if __name__ == "__main__":
    from azlab.learning.sweep import Sweep

    folder, processes, *configs = sys.argv[1:]
    arms = {f"arm{k}": json.loads(config) for k, config in enumerate(configs)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would we
    Sweep(arms, [1, 2], Path(folder), count).run(int(processes))
