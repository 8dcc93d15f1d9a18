"""How many threads the libraries may use, so that torch, TensorFlow and Numba do not fight over the same cores.

Each of them starts as many threads as there are cores, and each lets idle threads spin. Two of them in one process, or two
processes on one machine, then slow each other down several times over. `set_threads` gives all the same number.
"""

import os
import sys

from azlab.errors import AzlabError, whole_number
from azlab.machine import cores

# For a new process that is to use a single thread, whatever it loads. TensorFlow's first number is for one operation.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS",
     "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"), "1",
)  # fmt: skip

_wanted: int | None = None


def threads() -> int:
    """What `set_threads` was given last, else the number of cores."""
    return _wanted or cores()


def set_threads(count: int | None = None) -> int:
    """Let torch, TensorFlow, Numba and our own networks use `count` threads each (default: all cores); returns the number.

    Libraries that are not loaded yet are told through environment variables and not loaded for it. TensorFlow cannot be changed
    once it has run something: an error says so.
    """
    global _wanted
    _wanted = count = whole_number("The number of threads", cores() if count is None else count, 1, 1024)
    for variable in ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS"):
        os.environ[variable] = str(count)
    os.environ["TF_NUM_INTEROP_THREADS"] = "1"  # our nets are chains: there is nothing to run side by side
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(count)
    if "numba" in sys.modules:
        import numba

        numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    if "tensorflow" in sys.modules:
        _set_tensorflow(count)
    return count


def _set_tensorflow(count: int) -> None:
    import tensorflow as tf

    if tf.config.threading.get_intra_op_parallelism_threads() == count:
        return
    try:
        tf.config.threading.set_intra_op_parallelism_threads(count)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    except RuntimeError:
        raise AzlabError(
            "TensorFlow has already run and keeps its threads; call set_threads at the start of the program."
        ) from None


def one_blas_thread() -> None:
    """From now on NumPy's matrix products take a single thread each, for callers that share the work among threads of their own.

    It is for the whole process. Going back and forth does not pay: two threads of self-play then ran at half their speed.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, user_api="blas")
