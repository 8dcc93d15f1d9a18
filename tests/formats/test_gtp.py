"""The client of the Go Text Protocol, with GNU Go and with a small engine that misbehaves on request."""

import contextlib
import gc
import os
import re
import signal
import sys
import threading
import time

import pytest

import azlab
from azlab.formats import gtp
from azlab.formats.gtp import GtpEngine, GtpError

# It answers each command by what the command says, and its process id to "pid".
FAKE_ENGINE = r"""
import os, signal, sys, time
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    if line == "quit\n":
        time.sleep(1000 if "stubborn" in sys.argv else 0)
        break
    number, command, *words = line.split()
    if command == "say":
        print("=" + number, line.split(" ", 2)[2].strip().replace("/", "\n"), end="\n\n", flush=True)
    elif command == "pid":
        print("=" + number, os.getpid(), end="\n\n", flush=True)
    elif command == "quiet":
        print("=" + number, end="\n\n", flush=True)
    elif command == "refuse":
        print("?" + number, " ".join(words), end="\n\n", flush=True)
    elif command == "raw":
        print(line.split(" ", 2)[2].strip().replace("/", "\n"), flush=True)
    elif command == "rage":
        print("?" + number + " \u202e\x1b[2J" + "e" * 900000, end="\n\n", flush=True)
    elif command == "hex":
        sys.stdout.buffer.write(bytes.fromhex(words[0]).replace(b"NUMBER", number.encode()))
        sys.stdout.buffer.flush()
    elif command == "chatter":
        print("hello", "=" + number + "\twell\x01\r", "\r", sep="\n", flush=True)
    elif command == "grumble":
        sys.stderr.write("x" * 2**20)
        print("=" + number, "done", end="\n\n", flush=True)
    elif command == "mull":
        print("let me see", flush=True)
        time.sleep(1)
        print("=" + number, "there", end="\n\n", flush=True)
    elif command == "hang":
        time.sleep(1000)
    elif command == "die":
        print("\n".join(f"line {k}" for k in range(100)), "out of luck", sep="\n", file=sys.stderr)
        sys.exit(3)
"""


@pytest.fixture
def fake(tmp_path):
    """Starts the fake engine."""
    script = tmp_path / "fake.py"
    script.write_text(FAKE_ENGINE)
    started = []

    def start(*arguments, timeout=20.0):
        started.append(GtpEngine([sys.executable, "-I", "-S", str(script), *arguments], timeout))
        return started[-1]

    yield start
    for engine in started:
        engine.close()


@pytest.fixture
def gnugo(need):
    with GtpEngine([need("gnugo"), "--mode", "gtp", "--chinese-rules", "--level", "1", "--seed", "1"]) as engine:
        yield engine


def is_gone(pid):
    """Whether no process, not even a zombie, has this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@contextlib.contextmanager
def nothing_left():
    """Fails if threads or file handles are left over."""
    before = threading.active_count(), len(os.listdir("/dev/fd"))
    yield
    assert (threading.active_count(), len(os.listdir("/dev/fd"))) == before


# --- points -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 9, 19])
def test_points_are_translated_both_ways(size):
    for action in range(size * size + 1):
        assert gtp.action(gtp.vertex(action, size), size) == action
        assert gtp.action(azlab.game("go", size=size).move_name(action), size) == action


def test_points_count_from_the_lower_left_and_skip_the_letter_i():
    assert [gtp.vertex(action, 9) for action in (0, 8, 72, 80, 81)] == ["A9", "J9", "A1", "J1", "pass"]
    assert gtp.action("T19", 19) == 18 and gtp.action(" PASS ", 19) == 361


@pytest.mark.parametrize("text", ["I5", "K1", "A0", "A10", "", "A", "5", "a1b", "resign", "A01", "A\u0663", "A1 B2", "A1 # good"])
def test_what_is_no_point_is_refused(text):
    with pytest.raises(GtpError, match="no point of a 9x9 board, whose points are A1 to J9"):
        gtp.action(text, 9)


# --- the protocol -------------------------------------------------------------------------------------------------


def test_answers_of_one_line_several_lines_and_none(fake):
    engine = fake()
    assert engine.ask("say b2 c3") == "b2 c3"
    assert engine.ask("say one/  two/three") == "one\n  two\nthree"
    assert engine.ask("quiet") == ""


def test_stray_lines_control_characters_and_carriage_returns_are_ignored(fake):
    assert fake().ask("chatter") == "well"


@pytest.mark.parametrize(
    ("printed", "answer"),
    [
        (b"=NUMBER D4\r\n\r\n", "D4"),
        (b"=NUMBER\t  D4 \t\n \t\n", "D4"),
        (b"=NUMBERD4\n\n", "D4"),
        (b"# thinking\n\n\n=NUMBER D4\n\n", "D4"),
        (b"=NUMBER D\x004\x07\n\n", "D4"),
        (b"=NUMBER caf\xe9\n\n", "caf\ufffd"),
        (b"=NUMBER \xc2\x9b31mred\x1b[0m\n\n", "31mred[0m"),  # U+009B begins an escape sequence as ESC [ does
        (b"=NUMBER\n\tone\n  two\n\n", "\tone\n  two"),
        (b"=NUMBER\n\n", ""),
    ],
)
def test_answers_with_strange_contents(fake, printed, answer):
    engine = fake()
    assert engine.ask(f"hex {printed.hex()}") == answer
    assert engine.ask("say on we go") == "on we go"


def test_a_refusal_repeats_the_engines_words_and_the_engine_goes_on(fake):
    engine = fake()
    with pytest.raises(GtpError, match="answered 'illegal move' to 'refuse illegal move'"):
        engine.ask("refuse illegal move")
    assert engine.ask("say yes") == "yes"


@pytest.mark.parametrize("command", ["", " ", "say a\nsay b"])
def test_a_command_is_one_line(fake, command):
    with pytest.raises(GtpError, match="one line of text"):
        fake().ask(command)


def test_an_answer_to_another_command_is_not_taken(fake):
    with pytest.raises(GtpError, match="answered '=7 x' to command number 1"):
        fake().ask("raw =7 x/")


@pytest.mark.parametrize("unasked", ["=1 again", "=2 early", "?2 early"])
def test_an_answer_that_nobody_asked_for_is_not_taken(fake, unasked):
    engine = fake()
    assert engine.ask(f"raw =1 x//{unasked}//") == "x"
    with pytest.raises(GtpError, match=f"had answered '{re.escape(unasked)}' before it was asked 'say y'; .* every command once"):
        engine.ask("say y")
    assert is_gone(engine._pipes.process.pid)


@pytest.mark.parametrize(("answer", "score"), [("B+3.5", 3.5), ("W+12", -12.0), ("0", 0.0), ("b+0.5", 0.5), ("draw", 0.0)])
def test_scores_are_blacks(fake, monkeypatch, answer, score):
    engine = fake()
    monkeypatch.setattr(engine, "ask", lambda command: answer)
    assert engine.final_score() == score


@pytest.mark.parametrize("answer", ["B+Resign", "B+" + "9" * 400, "W+\u0663", "3.5"])
def test_a_score_without_points_is_refused(fake, monkeypatch, answer):
    engine = fake()
    monkeypatch.setattr(engine, "ask", lambda command: answer)
    with pytest.raises(GtpError, match=f"'{re.escape(answer[:200])}'.*, which is no number"):
        engine.final_score()


# --- engines that go wrong ----------------------------------------------------------------------------------------


def test_a_missing_program_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("azlab.machine.find_program", lambda name: None)
    with pytest.raises(GtpError, match="gnugo .* is not installed: on Debian and Ubuntu, apt install gnugo"):
        GtpEngine("gnugo --mode gtp")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("no_such_program --gtp", "There is no program 'no_such_program'"),
        ("", "started by a command"),
        ("gnugo '--mode", "cannot be read: No closing quotation"),
        ([os.path.dirname(__file__)], "cannot be started: Permission denied"),
        (["cat", "a\0b"], "'cat' cannot be started: embedded null byte"),
    ],
)
def test_a_command_that_cannot_be_started_gets_a_sentence(command, sentence):
    with pytest.raises(GtpError, match=sentence):
        GtpEngine(command)


@pytest.mark.parametrize("timeout", [0, -1, "long"])
def test_a_timeout_is_a_positive_number(timeout):
    with pytest.raises(GtpError, match="timeout must be a positive number of seconds"):
        GtpEngine("cat", timeout)


def test_a_dead_engine_leaves_its_last_words(fake):
    engine = fake()
    with pytest.raises(GtpError, match="ended with exit code 3 when it was asked 'die'. Its last words: line 96.*out of luck$"):
        engine.ask("die")
    with pytest.raises(GtpError, match="has been ended; start it again"):
        engine.ask("say x")


def test_a_killed_engine_is_noticed_at_the_next_command(fake):
    engine = fake()
    os.kill(int(engine.ask("pid")), signal.SIGKILL)
    with pytest.raises(GtpError, match="ended by signal SIGKILL when it was asked 'say x'"):
        for _ in range(100):
            engine.ask("say x")


def test_an_engine_that_does_not_answer_is_ended(fake):
    engine = fake(timeout=0.3)
    pid = engine._pipes.process.pid
    begun = time.monotonic()
    with pytest.raises(GtpError, match="did not answer 'hang' within 0.3 seconds and was ended"):
        engine.ask("hang")
    assert time.monotonic() - begun < 5 and is_gone(pid)


def test_a_timeout_may_be_endless(fake):
    assert fake(timeout=float("inf")).ask("say x") == "x" and fake(timeout=10**400).ask("say x") == "x"


def test_a_signal_without_a_name_has_its_number():
    assert gtp._how(-signal.SIGTERM) == "by signal SIGTERM" and gtp._how(-50) == "by signal 50"


def test_long_and_wild_refusals_are_shortened(fake):
    engine = fake()
    with pytest.raises(GtpError) as error:
        engine.ask("rage")
    assert len(str(error.value)) < 700 and str(error.value).isprintable()
    assert "answered '\\u202e[2Jeee" in str(error.value) and "eee'... (900,004 characters) to 'rage'." in str(error.value)
    assert engine.ask("say yes") == "yes"


def test_a_long_command_reaches_an_engine_that_prints_meanwhile(fake):
    """Its answer is larger than the pipe too, so that neither could finish if each waited for the other."""
    assert fake().ask("say " + "x" * 900_000) == "x" * 900_000


def test_an_engine_may_write_more_to_stderr_than_its_pipe_holds(fake):
    assert [fake().ask("grumble") for _ in range(2)] == ["done", "done"]


def test_an_engine_that_has_answered_before_may_print_and_think(fake, monkeypatch):
    monkeypatch.setattr(gtp, "_SECONDS_TO_SPEAK", 0.2)
    engine = fake()
    engine.ask("quiet")
    assert engine.ask("mull") == "there"


@pytest.mark.parametrize(("where", "lines"), [("terminal", 1), ("jupyter", 1), ("unwatched", 0), ("", 0)])
@pytest.mark.slow
def test_whoever_watches_is_told_about_a_slow_start(fake, monkeypatch, capsys, where, lines):
    monkeypatch.setattr(gtp, "watcher", lambda: where)
    monkeypatch.setattr(gtp, "_SECONDS_TO_NOTICE", 0.1)
    engine = fake()
    engine.ask("mull")
    engine.ask("mull")
    notice = f"azlab: waiting for {engine.program} to answer 'mull', for at most 20 seconds.\n"
    assert capsys.readouterr().err == notice * lines


# --- no process is left behind ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stubborn", [(), ("stubborn",)])
def test_the_process_ends_with_the_block(fake, stubborn):
    with fake(*stubborn) as engine:
        pid = int(engine.ask("pid"))
    assert is_gone(pid)
    engine.close()  # once more does no harm


def test_the_process_ends_with_garbage_collection():
    with nothing_left():
        engine = GtpEngine([sys.executable, "-I", "-S", "-c", FAKE_ENGINE])
        pid = int(engine.ask("pid"))
        del engine
        gc.collect()
        assert is_gone(pid)


def test_an_engine_that_another_thread_closes_ends_with_a_sentence(fake):
    engine = fake("stubborn")
    engine.ask("quiet")
    threading.Timer(0.3, engine.close).start()
    with pytest.raises(GtpError, match="ended .* when it was asked 'hang'"):
        engine.ask("hang")


def test_ctrl_c_while_the_engine_thinks_ends_it(fake):
    engine = fake()
    pid = int(engine.ask("pid"))
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        engine.ask("hang")
    assert is_gone(pid)


# --- GNU Go -------------------------------------------------------------------------------------------------------


def test_gnu_go_introduces_itself(gnugo):
    assert gnugo.name() == "GNU Go" and gnugo.version().startswith("3.")
    assert {"play", "genmove", "undo", "final_score"} <= set(gnugo.list_commands())


def test_gnu_go_plays_shows_and_takes_back(gnugo):
    gnugo.boardsize(5)
    gnugo.clear_board()
    gnugo.play(0, "c3")
    assert gtp.action(gnugo.genmove(1), 5) != gtp.action("c3", 5)
    assert gnugo.showboard().startswith("   A B C D E\n 5 ") and len(gnugo.ask("list_stones white").split()) == 1
    gnugo.undo()
    assert gnugo.ask("list_stones white") == "" and gnugo.ask("list_stones black") == "C3"
    with pytest.raises(GtpError, match="answered 'illegal move' to 'play white c3'"):
        gnugo.play(1, "c3")


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9, 19])
def test_gnu_go_plays_on_boards_of_every_size(gnugo, size):
    gnugo.boardsize(size)
    gnugo.clear_board()
    assert 0 <= gtp.action(gnugo.genmove(0), size) <= size * size


def test_gnu_go_refuses_larger_boards(gnugo):
    with pytest.raises(GtpError, match="answered 'unacceptable size' to 'boardsize 20'"):
        gnugo.boardsize(20)


@pytest.mark.parametrize(("size", "komi"), [(3, 8.5), (5, 0.0), (7, -3.0), (9, 7.0)])
def test_finished_games_without_dead_stones_are_counted_alike(gnugo, size, komi):
    game = azlab.game("go", size=size, komi=komi)
    player = azlab.agent("gnugo:1", seed=size)
    position = game.start()
    while not position.over:
        position = position.play(player.choose(position))
    player.close()
    gnugo.boardsize(size)
    gnugo.clear_board()
    gnugo.komi(komi)
    for k, move in enumerate(position.moves):
        gnugo.play(k % 2, move)
    assert position.moves[-2:] == ["pass", "pass"]
    assert position.scores is not None
    assert gnugo.final_score() == position.scores[0] - position.scores[1]
