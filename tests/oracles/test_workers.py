"""Processes that share work."""

import os
import signal
import time

import pytest

from azlab.errors import AzlabError
from azlab.oracles.workers import Workers, check_stop


def test_one_process_is_this_one():
    with Workers(1) as workers:
        assert workers.submit(os.getpid).result() == os.getpid()
        check_stop()


def until_stopped(file):
    file.touch()
    while True:
        check_stop()
        time.sleep(0.01)


@pytest.mark.slow
def test_work_is_shared_what_is_raised_arrives_and_what_is_not_wanted_stops(tmp_path):
    with Workers(2) as workers:
        assert workers.submit(os.getpid).result() != os.getpid()
        wrong = workers.submit(int, "x")
        with pytest.raises(ValueError, match="'x'"):
            workers.wait([wrong])
        workers.submit(until_stopped, tmp_path / "begun")
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)


@pytest.mark.slow
def test_a_process_that_is_ended_from_outside_is_a_sentence():
    with Workers(2) as workers:
        number = workers.submit(os.getpid).result()
        endless = workers.submit(time.sleep, 600)
        os.kill(number, signal.SIGKILL)
        with pytest.raises(AzlabError, match="ended from outside.*The same command goes on"):
            workers.wait([endless])
        with pytest.raises(AzlabError, match="ended from outside"):
            workers.submit(os.getpid)
