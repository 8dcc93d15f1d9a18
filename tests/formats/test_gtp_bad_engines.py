"""Programs that flood, fall silent or speak no GTP: one sentence in time, little memory, and nothing is left of them."""

import os
import random
import select
import sys
import time
import tracemalloc

import pytest

from azlab.formats import gtp
from azlab.formats.gtp import GtpEngine, GtpError

from .test_gtp import is_gone, nothing_left

pytestmark = pytest.mark.slow

START = "import os, signal, sys, time\nfor number in (signal.SIGTERM, signal.SIGINT): signal.signal(number, signal.SIG_IGN)\n"
READY = "open({!r}, 'w').close()\n"

# What they do, and the sentence that says so. Few flood without end, for the sake of a machine on which they are not stopped.
PROGRAMS = {
    "a line without end": (
        "for _ in range(2000): print('x' * 99999, end='')",
        "printed more than 1,000,000 bytes or 10,000 lines when it was asked 'name', and was ended",
    ),
    "many lines": ("for _ in range(2000000): print('x')", "more than 1,000,000 bytes or 10,000 lines"),
    "empty lines": ("for _ in range(20000000): print()", "more than 1,000,000 bytes or 10,000 lines"),
    "a long answer": (
        "input()\nprint('=1')\nfor _ in range(2000000): print('x' * 80)",
        "more than 1,000,000 bytes or 10,000 lines",
    ),
    "a line that drips": (
        "while True: print('x', end='', flush=True); time.sleep(0.1)",
        "did not answer 'name' within 1 seconds and was ended. It only printed 'xx+'; does it speak GTP",
    ),
    "lines that drip": (
        "while True: print('x', flush=True); time.sleep(0.1)",
        "within 1 seconds and was ended. It only printed 'x'; does it speak GTP",
    ),
    "an answer that drips": (
        "input()\nprint('=1 a')\nwhile True: print('x', flush=True); time.sleep(0.1)",
        "within 1 seconds and was ended. It began '=1 a', but an answer ends with an empty line",
    ),
    "an answer without an empty line": (
        "input()\nprint('=1 a', flush=True)",
        "It began '=1 a', but an answer ends with an empty",
    ),
    "an answer without a number": ("input()\nprint('= a\\n', flush=True)", "answered '= a' to command number 1, 'name'"),
    "what is no answer": ("input()\nprint('ok', flush=True)", "It only printed 'ok'; does it speak GTP"),
    "what it is told": ("print(input(), flush=True)", "repeats '1 name' instead of answering it; does it speak GTP"),
    "stderr without end": (
        "while True: sys.stderr.write('x' * 999)",
        "did not answer 'name' within 1 seconds and was ended. Its last words: \\.\\.\\.x{400}$",
    ),
    "words on stderr": ("sys.stderr.write('no\\x1b[1m \\x9bway\\x07\\n')", "and was ended. Its last words: no\\[1m way$"),
    "nothing, and it ends": ("sys.exit(4)", "ended with exit code 4 when it was asked 'name'.$"),
    "nothing, without stdout": ("os.close(1)", "ended the conversation when it was asked 'name'.$"),
    "nothing, and its child has the pipe": ("if os.fork() > 0: sys.exit(0)", "ended with exit code 0 when it was asked 'name'.$"),
    "nothing, and its child has gone away": (
        "if os.fork() == 0: os.setsid(); time.sleep(5); os._exit(0)",
        "did not answer 'name' within 1 seconds and was ended.$",
    ),
}


@pytest.fixture
def program(tmp_path):
    """Starts a program that ignores signals, runs the code and then does nothing for a long time."""

    def start(code, timeout=1.0):
        ready = tmp_path / "ready"
        lines = f"{START}{READY.format(str(ready))}{code}\ntime.sleep(99)"
        engine = GtpEngine([sys.executable, "-I", "-S", "-c", lines], timeout)
        while not ready.exists():  # so that the timeout is for the code, however long Python takes
            time.sleep(0.01)
        return engine

    return start


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_program_that_does_not_answer_gets_one_sentence_in_time(program, what):
    code, sentence = PROGRAMS[what]
    begun = time.monotonic()
    with nothing_left():
        engine = program(code)
        with pytest.raises(GtpError, match=sentence) as error:
            engine.ask("name")
        assert is_gone(engine._pipes.process.pid)
    assert len(str(error.value)) < 700 and str(error.value).isprintable()
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("flood", ["print('x' * 2**26, end='')", "print('x\\n' * 2**22)", "sys.stderr.write('x' * 2**26)"])
def test_a_flood_takes_no_memory(program, flood):
    engine = program(flood)
    tracemalloc.start()
    try:
        with pytest.raises(GtpError):
            engine.ask("name")
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


def test_a_flood_while_nobody_asks_waits_in_the_pipe(program, tmp_path):
    """The program notes each 100 kB that it has written; a pipe holds 64 kB, or a little more elsewhere."""
    log = tmp_path / "log"
    with program(f"for k in range(100): print('x' * 99999, flush=True); open({str(log)!r}, 'a').write('x')"):
        time.sleep(1)
        assert not log.exists() or len(log.read_text()) < 5


def test_a_command_that_is_not_read_ends_with_the_timeout(program):
    with program("") as engine, pytest.raises(GtpError, match="did not answer 'say xxx.*within 1 seconds") as error:
        engine.ask("say " + "x" * 300_000)
    assert len(str(error.value)) < 700


def test_what_is_no_engine_is_known_soon_by_what_it_prints(program, monkeypatch):
    monkeypatch.setattr(gtp, "_SECONDS_TO_SPEAK", 0.2)
    with program("print('Welcome!', flush=True)", timeout=30) as engine:
        with pytest.raises(GtpError, match="did not answer 'boardsize 9' within .* only printed 'Welcome!'; does it speak GTP"):
            engine.boardsize(9)
        assert engine._deadline - engine._asked < 20


@pytest.mark.parametrize("leader", ["time.sleep(99)", "sys.exit(0)"])
def test_what_the_program_has_started_ends_too(program, tmp_path, leader):
    """The program and its child hold a pipe to us, which has its end when both have theirs."""
    os.mkfifo(fifo := tmp_path / "fifo")
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    hold = f"held = open({str(fifo)!r}, 'w'); print('here', file=held, flush=True)"
    try:
        with program(f"{hold}\nif os.fork() > 0: {leader}") as engine, pytest.raises(GtpError):
            engine.name()
        assert os.read(reader, 100) == b"here\n"
        assert select.select([reader], [], [], 5)[0] and os.read(reader, 100) == b""
    finally:
        os.close(reader)


def test_random_answers(many, tmp_path):
    """Whatever is printed, there is an answer or a `GtpError`, soon, with words that a terminal can bear."""
    rng, answers, errors = random.Random(5), 0, 0
    pieces = [b"=1", b"=", b"?1 ", b"?", b"\n", b"\n\n", b" ", b"\0", b"\r", b"\xff", b"\x1b[1m", b"1 name\n", b"D4", b"#"]
    script = 'read line; cat "$0"; [ $1 = end ] || cat > /dev/null'
    for k in range(many(40)):
        printed = b"".join(rng.choice([*pieces, rng.randbytes(9), rng.randbytes(40)]) for _ in range(rng.randrange(12)))
        path = tmp_path / str(k)
        if rng.random() < 0.2:
            printed = printed.replace(b"\n", b"") * 10_000
        path.write_bytes(rng.choice([b"", b"=1 ", b"?1 "]) + printed + b"\n\n" * rng.randrange(2))
        begun = time.monotonic()
        with GtpEngine(["sh", "-c", script, str(path), rng.choice(["end", "stay"])], timeout=0.2) as engine:
            try:
                answers += isinstance(engine.ask("name"), str)
            except GtpError as error:
                assert len(str(error)) < 2000 and str(error).isprintable(), printed[:1000]
                errors += 1
        assert is_gone(engine._pipes.process.pid) and time.monotonic() - begun < 10
    assert answers and errors
