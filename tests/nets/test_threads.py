import subprocess
import sys

import pytest

from azlab.errors import AzlabError
from azlab.nets.threads import cores, set_threads


def test_all_libraries_get_the_same_number():
    code = """
from azlab.nets.threads import set_threads, threads
set_threads(1)
import numba, torch
print(torch.get_num_threads(), threads())
set_threads(2)
print(torch.get_num_threads(), numba.get_num_threads() <= 2)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", "2", "True"]


def test_a_wrong_number_is_a_sentence():
    assert cores() >= 1
    with pytest.raises(AzlabError, match="The number of threads must be a whole number"):
        set_threads(0)
