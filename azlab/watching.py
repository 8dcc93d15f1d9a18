"""Does someone watch? Asked by whatever shows passing notices, which must not end up in stored notebooks."""

import sys


def watcher() -> str:
    """Where someone watches: "jupyter" or "terminal"; "" for nobody, and "unwatched" in a notebook that runs by itself.

    A front end at which someone sits allows cells to ask for input; papermill, nbval and nbconvert do not. ipykernel keeps what
    the front end said with the cell that is running.
    """
    if "IPython" in sys.modules:
        from IPython.core.getipython import get_ipython

        kernel = getattr(get_ipython(), "kernel", None)
        if kernel is not None:
            return "jupyter" if getattr(kernel, "_allow_stdin", False) else "unwatched"
    return "terminal" if sys.stderr.isatty() else ""
