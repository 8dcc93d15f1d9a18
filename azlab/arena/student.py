"""A student's file as a player: what the process does in which it plays one game.

A file has a function `choose(position)` or one class with a method `choose`; what it returns is a move by name or by number.
The process is made by `student_process`, gets one `Job`, and then a list of actions whenever it is to move. What it says goes
through a link of its own, so that whatever the file prints is out of the way. `random` and `numpy.random` are seeded before the
file is run.

Nothing here is a wall against malice: the file can do all that the user who started the tournament can do.
"""

import contextlib
import faulthandler
import json
import operator
import os
import random
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import parent_process
from types import ModuleType
from typing import Any

import numpy as np

from azlab.arena.agents import agent, close, ready
from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.games.registry import game as find_game
from azlab.machine import IS_WINDOWS

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

START, TIME, MEMORY, CRASH, ILLEGAL, RUBBISH = "cannot start", "too slow", "memory", "crash", "illegal move", "no move"
KINDS = (START, TIME, MEMORY, CRASH, ILLEGAL, RUBBISH)  # the ways to lose a game without playing it to the end
LONGEST_NAME, LONGEST_REASON, LONGEST_MOVE = 40, 300, 60  # letters
MARGIN = 10.0  # seconds after which a process ends itself that nobody has ended; its parent is dead then
WHERE = getattr(signal, "SIGUSR1", None)  # asks a process that is too slow to print where it is
SPARE = 64 << 20  # bytes beyond the limit, to say in that memory is short

Say = Callable[..., None]


@dataclass(frozen=True)
class Job:
    """A player and the game it is to play."""

    game: str  # as the user named it
    options: dict[str, Any]
    name: str
    path: str  # of the student's file
    source: bytes | None  # its content; None for one of azlab's own agents, which `name` then names
    seed: int
    seconds: float  # for a move
    start_seconds: float  # for running the file
    memory: int | None  # MB, beyond what azlab itself takes
    searches: tuple[str, ...] = ()  # of azlab's that players may call, to be loaded beforehand


def serve(job: Job, link: Any, printed: Any) -> None:
    """Play one game: say `ready`, run the file, say `started`, then answer every list of actions with a move."""
    _leave_the_others(printed)

    def say(**message: Any) -> None:
        link.send_bytes(json.dumps(message).encode())

    try:
        rules = find_game(job.game, **job.options)
        position = rules.start()
        _limit(job.memory)
        say(said="ready")
        _end_after(job, job.start_seconds)
        player, shown = _player(job, rules)
        say(said="started", shown=shown)
        while (actions := _asked(link)) is not None:
            for action in actions[len(position.actions) :]:
                position = position.play(action)
            _end_after(job, job.seconds)
            say(said="move", move=_as_move(player.choose(position)))
        if job.source is None:
            close(player)
    except BaseException as error:  # sys.exit and Ctrl-C's error among them: whatever it is, it ends this player alone
        _allow_more()
        kind, reason = _explained(error, job)
        with contextlib.suppress(OSError):
            say(said="failed", kind=kind, reason=reason)
    _leave()


def _asked(link: Any) -> list[int] | None:
    """The actions that have led to the next question; None when the game has ended and nobody asks any more."""
    faulthandler.cancel_dump_traceback_later()
    try:
        return json.loads(link.recv_bytes())["actions"]
    except EOFError:
        return None


def _leave() -> None:
    """End at once: threads that the file has left behind are not waited for."""
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


# --- the process ----------------------------------------------------------------------------------------------------------------


def _leave_the_others(printed: Any) -> None:
    """Be the first of a group of processes that can be ended together, with an output of its own, ending when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which tells the others
    if not IS_WINDOWS:
        os.setsid()
    target = os.open(os.devnull, os.O_WRONLY) if printed is None else printed.fileno()
    for stream in (1, 2):
        os.dup2(target, stream)
    sys.stdout, sys.stderr = (os.fdopen(stream, "w", 1, "utf-8", "replace", closefd=False) for stream in (1, 2))
    if WHERE is not None and not IS_WINDOWS:
        faulthandler.register(WHERE, file=2, all_threads=False)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is None:
        return
    parent.join()
    if not IS_WINDOWS:
        os.killpg(0, signal.SIGKILL)  # itself and all that it has started
    os._exit(1)


def _end_after(job: Job, seconds: float) -> None:
    """End a student's process that computes on although its parent is dead, even if it lets no other thread run."""
    if job.source is not None:
        faulthandler.dump_traceback_later(seconds + MARGIN, exit=True, file=2)


def _limit(memory: int | None) -> None:
    """From now on this process gets so many MB more, where the system counts them (Linux); a crash leaves no large file."""
    if resource is None:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    taken = _data_bytes()
    if memory is not None and taken is not None:
        most = taken + (memory << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most + SPARE))


def _data_bytes() -> int | None:
    """How much memory of its own this process has, as RLIMIT_DATA counts it; None where the system does not tell."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
            found = re.search(r"^VmData:\s*(\d+) kB", lines.read(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) << 10 if found else None


def _allow_more() -> None:
    """To say that memory is short takes some."""
    if resource is not None:
        with contextlib.suppress(ValueError, OSError):
            most = resource.getrlimit(resource.RLIMIT_DATA)[1]
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))


# --- the player -----------------------------------------------------------------------------------------------------------------


class _NoPlayer(Exception):
    """The file runs, and there is no player in it."""


class _Rubbish(Exception):
    """What `choose` returned is no move."""


class _AtStart(Exception):
    """Something went wrong before the first move; the cause is the error itself."""


def _player(job: Job, rules: Game) -> tuple[Any, str]:
    """What has a function `choose`, and the name that it gives itself."""
    try:
        if job.source is None:
            player = ready(agent(job.name, job.seed), rules)
            return player, ""
        random.seed(job.seed)
        np.random.seed(job.seed)
        os.chdir(os.path.dirname(job.path))
        return player_in(_run(job.path, job.source))
    except BaseException as error:
        raise _AtStart from error


def _run(path: str, source: bytes) -> ModuleType:
    """Run a file as a module. What lies beside it can be imported, and hides no module of Python's own."""
    stem = os.path.splitext(os.path.basename(path))[0]
    module = ModuleType(f"student_{stem}")
    module.__file__ = path
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    sys.path.append(os.path.dirname(path))
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    return module


def player_in(module: ModuleType) -> tuple[Any, str]:
    """The player of a file: itself if it has a function `choose`, or its class with such a method; and its `name`, if any."""
    if callable(getattr(module, "choose", None)):
        return module, _shown(getattr(module, "name", ""))
    classes = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
    found = [one for one in dict.fromkeys(classes) if callable(getattr(one, "choose", None))]
    last = [one for one in found if not any(one in other.__mro__[1:] for other in found)]  # not what others only build upon
    if not last:
        raise _NoPlayer("it has neither a function choose(position) nor a class with a method choose")
    if len(last) > 1:
        names = ", ".join(one.__name__ for one in last)
        raise _NoPlayer(f"it has several classes with a method choose ({names}); keep one, or add a function choose(position)")
    player = last[0]()
    return player, _shown(getattr(player, "name", ""))


def _shown(name: object) -> str:
    return one_line(name, LONGEST_NAME) if isinstance(name, str) else ""


def one_line(text: str, longest: int) -> str:
    """A text of anybody's as one line of letters that can be shown; addresses in memory, which differ each time, are left out."""
    text = re.sub(r"0x[0-9a-fA-F]{6,}", "0x...", " ".join(text.split()))
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _as_move(answer: Any) -> str | int:
    if isinstance(answer, str) and len(answer) <= LONGEST_MOVE:
        return str(answer)
    if not isinstance(answer, bool | np.bool_):
        with contextlib.suppress(TypeError):
            number = operator.index(answer)
            if abs(number) < 2**31:
                return number
    raise _Rubbish(f"choose returned {one_line(repr(answer), 80)}, and a move is a name or a whole number")


# --- what went wrong ------------------------------------------------------------------------------------------------------------


def _explained(error: BaseException, job: Job) -> tuple[str, str]:
    """What kind of failure this is, and a reason that names the line of the file."""
    at_start = isinstance(error, _AtStart)
    cause = error.__cause__ if isinstance(error, _AtStart) and error.__cause__ else error
    traceback.print_exception(cause)  # to what the player has printed
    try:
        reason = _reason(cause, job)
    except BaseException:  # an error's own text may be code of the student's
        reason = type(cause).__name__
    if at_start:
        return START, reason
    kind = MEMORY if isinstance(cause, MemoryError) else RUBBISH if isinstance(cause, _Rubbish) else CRASH
    return kind, reason


def _reason(error: BaseException, job: Job) -> str:
    said = one_line(str(error), LONGEST_REASON)
    if isinstance(error, _NoPlayer | _Rubbish) or (isinstance(error, AzlabError) and job.source is None):
        return said
    line = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == job.path:
            line = number
    if isinstance(error, SyntaxError) and error.filename == job.path:
        line, said = error.lineno, one_line(str(error.msg), LONGEST_REASON)
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return what if line is None else f"{what} ({os.path.basename(job.path)}, line {line})"
