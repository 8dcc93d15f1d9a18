"""How a command ends: with its exit code, and if something went wrong with one sentence instead of a traceback.

Also how another process ended, in words.
"""

import argparse
import errno
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from azlab.errors import AzlabError

STOPPED = 130  # the exit code of a program that Ctrl-C ended
REASONS = {
    "SIGILL": "an instruction that this machine refuses; `azlab doctor` knows of one case",
    "SIGKILL": "the system ends what takes too much memory",
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are sentences like all others."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Put options such as size=9 behind the names, which argparse knows by their places alone.

        `parse_intermixed_args` calls this twice: for the flags with their values, and then for what is left, without flags.
        """
        if args and not any(word.startswith("-") for word in args):
            args = sorted(args, key=lambda word: bool(re.fullmatch(r"[a-z_.]+=.*", word, re.DOTALL)))
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        raise AzlabError(f"{self.prog}: {message}. `{self.prog} --help` says more.")


def ended(command: Callable[[], int], is_debugged: bool = False) -> int:
    """Run a command and return its exit code: 2 with a sentence if the user can mend what went wrong, 1 if it is our fault.

    `is_debugged` prints the traceback too.
    """
    _print_anything()
    try:
        code = command()
        if sys.stdout is not None:
            sys.stdout.flush()  # now, so that a full disk is noticed here
        return code
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
        return 0
    except Exception as error:
        if is_debugged:
            traceback.print_exc()
        sentence, code = sentence_of(error)
        print(sentence, file=sys.stderr)
        return code


def _print_anything() -> None:
    """Characters that the terminal cannot show, and names of files that are not UTF-8, are printed as escapes."""
    for stream, errors in ((sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace"), (sys.stdin, "replace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def sentence_of(error: Exception) -> tuple[str, int]:
    """What to tell the user of an error, and the exit code."""
    if isinstance(error, AzlabError):
        return str(error), 2
    if isinstance(error, MemoryError):
        return "There is not enough memory for this: ask for less at a time, or close other programs.", 2
    if isinstance(error, FileNotFoundError | SystemError) and not _has_working_folder():  # Python 3.13.0 has the latter for it
        return "The working folder no longer exists: change to another one and try again.", 2
    if isinstance(error, OSError):
        return _of_system(error), 2
    message = " ".join(str(error).split())[:300]
    return (
        f"This is a fault of azlab ({type(error).__name__}: {message}). Please report it with the output of `azlab doctor`, as "
        "CONTRIBUTING.md describes; the same command with --debug shows where it happened."
    ), 1


def _of_system(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full, or your share of it{_of_file(error)}: make room and try again."
    if isinstance(error, PermissionError):
        return f"There is no permission for this{_of_file(error)}: choose another place, or have the permission changed."
    return f"The system says{_of_file(error)}: {reason}."


def _of_file(error: OSError) -> str:
    return f" ({os.fsdecode(error.filename)})" if isinstance(error.filename, str | bytes) else ""


def _has_working_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def ending(code: int) -> str:
    """How a process with this exit code ended, in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        which = signal.Signals(-code)
    except ValueError:
        return f"ended by signal {-code}"  # most real-time signals have no name
    return f"ended by {which.name}" + (f": {REASONS[which.name]}" if which.name in REASONS else "")
