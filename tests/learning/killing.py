"""Train by the command line in child processes that are killed, one after another, at the moments given on stdin.

A moment is ["before write", n], ["after write", n], ["progress", what, n], ["interrupt", what, n], ["seconds", s] or ["never"].
Prints, for each, how the child ended (a negative number is a signal) and the iterations finished by then. This process imports
everything and plays a little, so that its forks start at once; it does not train, which torch cannot do before and after a fork.
"""

import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import torch

from azlab.cli import main
from azlab.learning import progress
from azlab.learning.alphazero import AlphaZero
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.run_folder import RunFolder


def arm(kind, *which):
    """See to it that this process is killed at the moment."""
    count = Counter()
    replace = Path.replace

    def counted_replace(path, target):  # every file of a run comes into being by this call
        count["write"] += 1
        if kind == "before write" and count["write"] == which[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(path, target)
        if kind == "after write" and count["write"] == which[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def listen(self, what, done, total, **metrics):
        count[what] += 1
        if kind in ("progress", "interrupt") and what == which[0] and count[what] == which[1]:
            os.kill(os.getpid(), signal.SIGKILL if kind == "progress" else signal.SIGINT)

    Path.replace = counted_replace
    progress.JsonProgress.__call__ = listen


def run(folder, config, moment):
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would we
        arm(*moment)
        os._exit(main(["train", "--config", config, "--out", folder, "--json"]))
    if moment[0] == "seconds":
        time.sleep(moment[1])
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def warm_up(config):
    torch.set_num_threads(1)  # no threads of OpenMP's may be there when this process forks
    with tempfile.TemporaryDirectory() as folder:
        run = AlphaZero.from_config(AlphaZeroConfig.load(config), folder)
        run._prepare_evaluation()
        run._play(1)
        run._evaluate(1)


if __name__ == "__main__":
    folder, config = sys.argv[1:]
    warm_up(config)
    for moment in json.load(sys.stdin):
        code = run(folder, config, moment)
        print(json.dumps([moment, code, RunFolder(folder).iteration()]), flush=True)
