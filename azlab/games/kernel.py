"""What every compiled rule shares: the `kernel` decorator, its disk cache and the random numbers.

A kernel is a module-level function over arrays of states. Numba compiles it at the first call and stores the machine code on
disk; the second process loads it. With `NUMBA_DISABLE_JIT=1` the same functions run as plain Python, so a rule can
be stepped through in a debugger.

Numba notices when the file of a kernel changes, but not when a kernel of *another* file that it calls changes. So kernels call
only kernels of their own file and of the files in `SHARED`, and the cache folder is named after the contents of those.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba.core import config, event
from numba.core.dispatcher import Dispatcher

from azlab.files import make_own_folder, user_cache
from azlab.games.kernel_cache import KernelCache, obstacle
from azlab.watching import watcher

SHARED = ("kernel.py", "kernel_cache.py", "stones.py")


def _cache_dir() -> Path | None:
    """The folder for compiled kernels, named by the shared files; in NUMBA_CACHE_DIR if set, else in the user's cache."""
    digest = hashlib.sha256()
    for name in SHARED:
        digest.update(Path(__file__).with_name(name).read_bytes())
    if os.environ.get("NUMBA_CACHE_DIR"):
        root = Path(os.environ["NUMBA_CACHE_DIR"])
    else:
        home = user_cache()
        if home is None:
            return None
        root = home / "kernels"
    return root / digest.hexdigest()[:12]


def _works(folder: Path | None) -> bool:
    try:
        if folder is None or obstacle(folder):
            return False
        make_own_folder(folder)
        return not obstacle(folder)  # nor was there anything made by somebody else in the meantime
    except OSError:
        return False


CACHE_DIR = _cache_dir()  # None where there is no home folder
CACHE_WORKS = _works(CACHE_DIR)  # if not, kernels are compiled anew by every process; `azlab doctor` says so
JIT = not config.DISABLE_JIT  # type: ignore[attr-defined]


_announced: dict[str, bool] = {}  # module with kernels: whether its compilation was announced


def kernel(
    function: Callable, fastmath: bool | set[str] = False, inline: bool = False, careful: bool = False
) -> Callable[..., Any]:
    """Compile `function` with Numba at its first call and keep the machine code on disk.

    `fastmath` names liberties with floating-point numbers that Numba may take; rules and searches take none. `inline` puts a
    copy of the machine code into every kernel that calls this one. `careful` checks every index and division, as Python does.
    """
    file = Path(function.__code__.co_filename)
    if file.name not in SHARED:
        _announced[function.__module__] = False
    is_cached = CACHE_WORKS and file.is_file()  # a function typed into a notebook has no file to watch
    return _compiled(function, is_cached, fastmath, inline, careful)


def _compiled(
    function: Callable, is_cached: bool, fastmath: bool | set[str] = False, inline: bool = False, careful: bool = False
) -> Callable[..., Any]:
    """`error_model="numpy"` drops the check for division by zero, which no rule of ours needs."""
    checks = {"error_model": "python", "boundscheck": True} if careful else {"error_model": "numpy"}
    made: Any = numba.njit(function, nogil=True, fastmath=fastmath, forceinline=inline, **checks)
    if JIT and is_cached and CACHE_DIR is not None and function.__closure__ is None:
        made._cache = KernelCache(function, CACHE_DIR)
    return made


def is_compiled(function: object) -> bool:
    """Whether `function` is a kernel, not plain Python."""
    return isinstance(function, Dispatcher)


def plain_python(function: Any) -> Callable[..., Any]:
    """The function that a kernel was made of; a plain one is itself."""
    return function.py_func if is_compiled(function) else function


_specialised: dict[tuple, Callable] = {}


def specialise(template: Callable, **kernels: Callable) -> Callable[..., Any]:
    """A kernel made of `template`, in which the given global names stand for the given kernels.

    This is how one search loop calls the rules of any game at full speed. A closure over the kernels would do the same, but
    Numba never finds closures over kernels in its disk cache. So the template's code gets globals of its own, and a name
    that tells all kernels it calls and the contents of their files, for the cache to know it by. If one of the kernels is plain
    Python (a game that Numba cannot compile), the template is plain Python too.
    """
    key = (template, *sorted(kernels.items()))
    if key not in _specialised:
        digest = hashlib.sha256()
        has_files = True
        in_template = {name: template.__globals__.get(name) for name in template.__code__.co_names}
        called: dict[str, Any] = {name: other for name, other in in_template.items() if is_compiled(other)}
        called.update(kernels)
        for name, function in sorted(called.items()):
            plain = plain_python(function)
            file = Path(plain.__code__.co_filename)
            has_files &= file.is_file()
            digest.update(f"{name} {plain.__module__}.{plain.__qualname__}".encode())
            digest.update(file.read_bytes() if file.is_file() else plain.__code__.co_code)
        name = f"{template.__name__}_{digest.hexdigest()[:16]}"
        function = FunctionType(template.__code__, {**template.__globals__, **kernels}, name, template.__defaults__)
        function.__qualname__, function.__module__, function.__doc__ = name, template.__module__, template.__doc__
        _announced.setdefault(template.__module__, False)
        can_compile = all(map(is_compiled, kernels.values()))
        _specialised[key] = _compiled(function, CACHE_WORKS and has_files) if can_compile else function
    return _specialised[key]


def _symbol_of_type(record_type: Any) -> tuple[str, tuple[str]]:
    """The part of a kernel's symbol that tells the types of states apart.

    Numba itself numbers record types in the order in which a process meets them, and leaves out the shape of an array in
    a record. So 5x5 compiled in one process and 7x7 in another get the same symbols, and a process that loads both from
    the cache would run the code of one for the other.
    """
    return type(record_type).__name__, (hashlib.sha256(record_type.name.encode()).hexdigest()[:16],)


for _type in (numba.types.Record, numba.types.NestedArray):
    _type.mangling_args = property(_symbol_of_type)  # type: ignore[method-assign, assignment]


def tell(sentence: str) -> None:
    """Tell the user something about compiling, where it does not disturb."""
    # in a notebook that runs by itself it goes to the log, so that stored outputs do not depend on the cache
    print(f"azlab: {sentence}", file=sys.__stderr__ if watcher() == "unwatched" else sys.stderr, flush=True)


class _CompileNotice(event.Listener):
    """Says once for each module that its kernels are being compiled, so that nobody takes the wait for a hang."""

    def on_start(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if _announced.get(module) is False:
            _announced[module] = True
            name = module.rpartition(".")[2]
            how_often = "once" if CACHE_WORKS else "at every start (`azlab doctor` says why)"
            tell(f"compiling {name} for this machine; it takes some seconds, {how_often}.")

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _CompileNotice())


# --- random numbers -----------------------------------------------------------------------------------------------
# Every game of a batch has its own stream, a uint64 in an array, so a game does not depend on its neighbours in the
# batch. The generator is Marsaglia's xorshift64: shifts and xors alone, hence the same numbers compiled and as plain Python.


def new_rng(seed: int, streams: int = 1) -> np.ndarray:
    """Return `streams` independent random states, uint64 [streams], derived from `seed` (any whole number)."""
    state = np.random.SeedSequence(seed if seed >= 0 else [1, -seed]).generate_state(streams, np.uint64)
    return state | np.uint64(1)  # xorshift must not start at zero


@kernel
def random_bits(rng, i):
    """Advance stream `i` of `rng` and return 64 random bits."""
    x = rng[i]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    rng[i] = x
    return x


@kernel
def random_below(rng, i, n):
    """Return a random whole number in [0, n), n < 2**31, from stream `i` of `rng`."""
    high_bits = random_bits(rng, i) >> np.uint64(32)  # the high bits of xorshift are the good ones
    return np.int64((high_bits * np.uint64(n)) >> np.uint64(32))


@kernel
def mix(value, data):
    """Stir 64 bits of data into a hash. Shifts and xors alone, hence no overflow as plain Python."""
    value ^= data
    value ^= value << np.uint64(13)
    value ^= value >> np.uint64(7)
    value ^= value << np.uint64(17)
    return value


@kernel
def note(trace, i, turn, action):
    """Write down the `turn`-th action of playout `i`, where the trace has room: int32 [B, L], L may be 0."""
    if turn < trace.shape[1]:
        trace[i, turn] = action


@kernel
def random_unit(rng, i):
    """Return a random float in [0, 1) from stream `i` of `rng`."""
    return np.float64(random_bits(rng, i) >> np.uint64(11)) * 2.0**-53
