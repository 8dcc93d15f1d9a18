"""Train by the command line in child processes that are killed, one after another, at the moments given on stdin.

A moment is ["before write", n], ["after write", n], ["progress", what, n], ["interrupt", what, n], ["seconds", s] or ["never"].
Prints, for each, how the child ended (a negative number is a signal) and the iterations finished by then. This process imports
everything once and computes nothing itself, so that its forks start at once.
"""

import json
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import safetensors.torch  # noqa: F401
import torch  # noqa: F401

import azlab.learning.alphazero
import azlab.oracles  # noqa: F401
from azlab.cli import main
from azlab.learning import progress
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
        arm(*moment)
        os._exit(main(["train", "--config", config, "--out", folder, "--json"]))
    if moment[0] == "seconds":
        time.sleep(moment[1])
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    folder, config = sys.argv[1:]
    for moment in json.load(sys.stdin):
        code = run(folder, config, moment)
        print(json.dumps([moment, code, RunFolder(folder).iteration()]), flush=True)
