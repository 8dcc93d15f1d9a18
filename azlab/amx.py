"""Does this machine let us use AMX, Intel's instructions for matrices, if its processor announces them?

Some virtual machines announce AMX and forbid it. A library that believes the announcement, as torch does for bfloat16, is then
ended by the system with "Illegal instruction". A child process that tries the instructions tells in a moment, without torch.
"""

import functools
import signal
import subprocess
import sys
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
# Ask Linux for the tiles' memory (arch_prctl, ARCH_REQ_XCOMP_PERM), as oneDNN does, then set up three tiles and multiply two.
PROBE = """
import ctypes, mmap, resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
ctypes.CDLL(None).syscall(158, 0x1023, 18)
code = bytes.fromhex(
    "c4e2784907"  # ldtilecfg [rdi]
    "c4e27b49c0" "c4e27b49c8" "c4e27b49d0"  # tilezero tmm0, tmm1, tmm2
    "c4e26a5cc1"  # tdpbf16ps tmm0, tmm1, tmm2
    "c4e27849c0"  # tilerelease
    "c3"  # ret
)
memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(code)
config = bytearray(64)
config[0] = 1  # the palette with 8 tiles
for tile in range(3):
    config[16 + 2 * tile] = 64  # bytes of a row
    config[48 + tile] = 16  # rows
place = ctypes.addressof(ctypes.c_char.from_buffer(memory))
ctypes.CFUNCTYPE(None, ctypes.c_char_p)(place)(bytes(config))
"""
HINT = (
    'The processor announces AMX, but this machine refuses it, so torch in bfloat16 ends with "Illegal instruction": '
    "export ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 before you start Python. What azlab itself runs is in float32 and not concerned."
)


def is_announced() -> bool:
    """Whether the processor says that it can multiply bfloat16 matrices by AMX."""
    return {"amx_tile", "amx_bf16"} <= _flags()


def _flags() -> set[str]:
    """What the processor says it can; nothing where Linux does not tell."""
    try:
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    return set(next((line for line in text.splitlines() if line.startswith("flags")), "").split())


@functools.cache
def is_bfloat16_fast() -> bool:
    """Whether torch in bfloat16 finds instructions for it here that work: AVX512-BF16, and AMX unless it is refused."""
    return "avx512_bf16" in _flags() and not (is_announced() and is_refused())


def is_refused() -> bool:
    """Whether a process that uses AMX is ended for it; False also where that cannot be tried."""
    try:
        done = subprocess.run([sys.executable, "-I", "-S", "-c", PROBE], capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == -signal.SIGILL


def hint() -> str | None:
    """What to do, where AMX is announced and refused."""
    return HINT if is_announced() and is_refused() else None
