"""The runner behind `make processors`: its settings reach the libraries, and a failure in one of them is a failure."""

import os
import platform
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("processors.py")
ASK = """
import torch, numpy, threadpoolctl
blas = [pool for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"]
print(torch.backends.cpu.get_cpu_capability(), torch.get_num_threads(), *(pool["architecture"] for pool in blas))
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *words], cwd=folder, capture_output=True, text=True, timeout=300)


def test_one_failing_setting_is_named_and_fails_the_whole(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = learns\n")
    (tmp_path / "test_it.py").write_text(
        "import os, pytest\n"
        "@pytest.mark.learns\n"
        "def test_it(): assert os.environ['ONEDNN_MAX_CPU_ISA'] != 'AVX' and os.environ['OMP_NUM_THREADS'] in ('1', '2')\n"
        "def test_unmarked(): assert False\n"
    )
    done = run(tmp_path)
    assert done.returncode == 1
    said = [line.rsplit(" in ", 1)[0] for line in done.stdout.splitlines() if line.startswith("as processor")]
    assert said == ["as processor 'sse': passed", "as processor 'avx': FAILED", "as processor 'avx2': passed"]
    assert "=== as processor 'sse': ONEDNN_MAX_CPU_ISA=SSE41 " in done.stdout
    assert run(tmp_path, "avx2", "-k", "it").returncode == 0


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the settings name instructions of x86-64")
def test_the_libraries_follow_the_settings():
    sse = runpy.run_path(str(SCRIPT))["SETTINGS"]["sse"]
    done = subprocess.run([sys.executable, "-c", ASK], env=os.environ | sse, capture_output=True, text=True, check=True)
    assert done.stdout.split()[:2] == ["DEFAULT", "1"] and set(done.stdout.split()[2:]) <= {"Nehalem"}
