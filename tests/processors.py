"""Run the tests marked `learns` as other processors would: `make processors`.

What a network learns depends on how its sums are rounded, and that depends on the instructions a library picks for the processor.
Environment variables make torch (ATen, oneDNN, MKL), TensorFlow (oneDNN), NumPy (OpenBLAS) and Numba pick those of an older one.
A test whose margin rests on one processor fails here.

    python tests/processors.py            the quick settings
    python tests/processors.py all        every setting
    python tests/processors.py sse -k tic more words go to pytest
"""

import os
import subprocess
import sys
import time

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
TWO_THREADS = {name: "2" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")}


def without(onednn: str, aten: str, openblas: str, mkl: str) -> dict[str, str]:
    """Libraries that use instructions up to those named and none newer."""
    return {
        "ONEDNN_MAX_CPU_ISA": onednn, "ATEN_CPU_CAPABILITY": aten, "OPENBLAS_CORETYPE": openblas, "MKL_ENABLE_INSTRUCTIONS": mkl
    }  # fmt: skip


SSE = without("SSE41", "default", "Nehalem", "SSE4_2") | {"TF_ENABLE_ONEDNN_OPTS": "0"}
AVX = without("AVX", "default", "Sandybridge", "AVX")
AVX2 = without("AVX2", "avx2", "Haswell", "AVX2")
SETTINGS = {
    "sse": SSE | ONE_THREAD,
    "avx": AVX | TWO_THREADS,
    "avx2": AVX2 | ONE_THREAD,
    # Numba compiles every kernel anew for another processor, which takes minutes the first time.
    "generic": SSE | TWO_THREADS | {"NUMBA_CPU_NAME": "generic"},
}
QUICK = ("sse", "avx", "avx2")


def main(words: list[str]) -> int:
    """Run pytest once for each setting named; the exit code is 1 if any run fails."""
    names = [word for word in words if word in SETTINGS] or list(SETTINGS if "all" in words else QUICK)
    rest = [word for word in words if word not in SETTINGS and word != "all"]
    results = []
    for name in names:
        print(f"\n=== as processor {name!r}: " + " ".join(f"{key}={value}" for key, value in SETTINGS[name].items()), flush=True)
        begin = time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-q", "-m", "learns", "--durations=5", *rest]
        code = subprocess.run(command, env=os.environ | SETTINGS[name]).returncode
        results.append((name, code, time.perf_counter() - begin))
    print()
    for name, code, seconds in results:
        print(f"as processor {name!r}: {'passed' if code == 0 else 'FAILED'} in {seconds:.0f} s")
    return int(any(code for _, code, _ in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
