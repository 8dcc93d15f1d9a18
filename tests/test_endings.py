"""How commands end: sentences, exit codes, and output that no terminal can refuse."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from azlab import cli, doctor
from azlab.endings import ended, ending


def raising(error):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (
            ZeroDivisionError("division\nby zero"),
            1,
            "This is a fault of azlab (ZeroDivisionError: division by zero). Please report",
        ),
        (RecursionError("too deep"), 1, "with the output of `azlab doctor`"),
        (MemoryError(), 2, "not enough memory"),
        (OSError(errno.ENOSPC, "No space left on device", "/x/y"), 2, "The disk is full, or your share of it (/x/y): make room"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), 2, "The disk is full"),
        (PermissionError(errno.EACCES, "Permission denied", "/x/y"), 2, "There is no permission for this (/x/y)"),
        (OSError(errno.ENAMETOOLONG, "File name too long", b"x\xff"), 2, "The system says (x\\udcff): File name too long."),
        (KeyboardInterrupt(), 130, "Stopped."),
    ],
)
def test_an_error_ends_in_one_sentence_and_an_exit_code(error, code, sentence, capsys):
    assert ended(raising(error)) == code
    written = capsys.readouterr().err.strip()
    assert sentence in written and "\n" not in written and "Traceback" not in written


@pytest.mark.parametrize("words", [["--debug", "doctor"], ["doctor", "--debug"]])
def test_debug_shows_where_it_happened_before_or_after_the_command(words, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "report", raising(ZeroDivisionError("here")))
    assert cli.main(words) == 1
    shown = capsys.readouterr().err
    assert "Traceback" in shown and "in command" in shown and "This is a fault of azlab" in shown
    assert cli.main(["doctor"]) == 1
    assert "Traceback" not in capsys.readouterr().err


def azlab(*arguments, text=True, **options):
    return subprocess.run([sys.executable, "-m", "azlab.cli", *arguments], capture_output=True, text=text, timeout=300, **options)


ASCII_ONLY = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_terminal_that_knows_only_ascii_gets_escapes(tmp_path):
    code = "import sys; from azlab.endings import ended, ending; sys.exit(ended(lambda: print('\\u00b1 \\u25cf \\udcff') or 0))"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **ASCII_ONLY}, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, rb"\xb1 \u25cf \udcff" + b"\n", b"")


def test_unicode_names_work_where_only_ascii_is_known(tmp_path):
    kept = os.fsencode(tmp_path) + "/gespielt-\u00e9\u25cf.jsonl".encode()
    environment = {**os.environ, **ASCII_ONLY}
    done = azlab("match", "tictactoe", "random", "random", "--games", "2", "--save", kept, text=False, env=environment)
    assert done.returncode == 0 and os.path.getsize(kept) > 0 and b"The games are in" in done.stdout, done.stderr


def test_a_deleted_working_folder_is_named(tmp_path):
    code = """
import os, sys
from azlab.cli import main
os.mkdir(sys.argv[1]); os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])
print(main(["doctor"]), main(["match", "tictactoe", "random", "random", "--games", "2", "--save", "x"]))
"""
    # -P: the folder is not among those that Python looks for modules in, as for the installed command
    done = subprocess.run([sys.executable, "-P", "-c", code, str(tmp_path / "gone")], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] in ("0 2", "1 2"), done.stderr
    assert "The working folder cannot be used (No such file or directory): change to another one." in done.stdout
    assert done.stderr.splitlines()[-1] == "The working folder no longer exists: change to another one and try again."


def test_output_that_finds_no_room_is_said(tmp_path):
    full = tmp_path / "full"
    try:
        os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        stream = full.open("wb")
    except OSError:
        pytest.skip("Only root can make devices here.")
    with stream:
        done = subprocess.run([sys.executable, "-m", "azlab.cli", "data"], stdout=stream, stderr=subprocess.PIPE, text=True)
    assert done.stderr.startswith("The disk is full, or your share of it: make room") and "Traceback" not in done.stderr


HOMELESS = """
import pwd, sys
def unknown(number):
    raise KeyError(number)
pwd.getpwuid = unknown
from azlab.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("is_real", [True, False])
@pytest.mark.slow
def test_every_command_works_without_a_home(is_real):
    """Really: as a user without an entry, which only root can become (and stays able to read this checkout)."""
    if is_real and os.geteuid():
        pytest.skip("Only root can become another user.")
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "AZLAB_DATA")}
    become = {"preexec_fn": lambda: os.setreuid(12345, os.geteuid())} if is_real else {}

    def run(*words, stdin=""):
        program = ["-m", "azlab.cli"] if is_real else ["-c", HOMELESS]
        return subprocess.run(
            [sys.executable, *program, *words], input=stdin, capture_output=True, text=True, env=environment, **become
        )

    report = run("doctor")
    assert report.returncode == 1 and "There is no home folder, so games compile at every start" in report.stdout, report.stderr
    assert run("data").returncode == 0
    played = run("play", "tictactoe", "--seat", "both", stdin="a1\na2\nb1\nb2\nc1\n")
    assert played.returncode == 0 and "X wins" in played.stdout and "at every start" in played.stderr


def test_endings_in_words():
    assert ending(-9) == "ended by SIGKILL: the system ends what takes too much memory"
    assert ending(-40) == "ended by signal 40" and ending(3) == "ended with exit code 3"
