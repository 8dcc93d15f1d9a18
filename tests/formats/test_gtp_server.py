"""The engine's side of the protocol, without any Go: lines, numbers, errors, and answers that go on until any input."""

import os
import re
import threading
import time

import pytest

from azlab.errors import AzlabError
from azlab.formats.gtp_server import Lines, Server, parse


def fail(words):
    raise AzlabError("no such\nluck")


def forever(words):
    def run(say, is_stopped):
        count = 0
        while not is_stopped():
            say(f"info {count}")
            count += 1
            time.sleep(0.001)
        say("too late")

    return Lines(run, until_input=True)


def once(words):
    def run(say, is_stopped):
        say("info")
        if words:
            raise AzlabError("tired")
        say("play A1")

    return Lines(run, until_input=False)


def until_interrupted(words):
    def run(say, is_stopped):
        say("waiting")
        while not is_stopped():
            time.sleep(0.001)
        say("play B2")

    return Lines(run, until_input=False)


COMMANDS = {
    "echo": lambda words: " ".join(words),
    "lines": lambda words: "one\n\n  two \n\nthree\n",
    "board": lambda words: "\n. X\nO .",
    "bell": lambda words: "a\x07b\rc",
    "fail": fail,
    "fault": lambda words: [][1],
    "forever": forever,
    "once": once,
    "wait": until_interrupted,
}


def talk(text, commands=COMMANDS, chunk=None):
    """All that is answered to an input that is there at once, in pieces of `chunk` bytes."""
    data = text if isinstance(text, bytes) else text.encode()
    pieces = [data[k : k + (chunk or len(data))] for k in range(0, len(data), chunk or len(data))] if data else []
    said = []
    Server(commands, lambda: pieces.pop(0) if pieces else b"", said.append).serve()
    return b"".join(said).decode()


class Conversation:
    """A server in a thread that is talked to line by line."""

    def __init__(self, commands=COMMANDS):
        self.source, self.sink = os.pipe()
        self.said, self.more = b"", threading.Condition()
        self.server = Server(commands, lambda: os.read(self.source, 4096), self._hear)
        self.thread = threading.Thread(target=self.server.serve, daemon=True)
        self.thread.start()

    def _hear(self, data):
        with self.more:
            self.said += data
            self.more.notify_all()

    def send(self, text):
        os.write(self.sink, text.encode())

    def wait_for(self, pattern):
        """Wait until what was said holds the pattern; return all that was said."""
        with self.more:
            assert self.more.wait_for(lambda: re.search(pattern, self.said.decode()), 30), self.said
            return self.said.decode()

    def end(self):
        os.close(self.sink)
        self.thread.join(30)
        assert not self.thread.is_alive()
        os.close(self.source)
        return self.said.decode()


# --- lines ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("name", ("", "name", [])),
        ("12 play b E5", ("12", "play", ["b", "E5"])),
        ("  7\tplay\tb  e5 \r", ("7", "play", ["b", "e5"])),
        ("007 name", ("007", "name", [])),
        ("5", ("5", "", [])),
        ("5name", ("", "5name", [])),
        ("name # and more", ("", "name", [])),
        ("5 # and more", ("5", "", [])),
        ("\u0663 name", ("", "\u0663", ["name"])),
        ("na\x00me\x07", ("", "name", [])),
    ],
)
def test_a_line_is_a_number_a_name_and_words(line, found):
    assert parse(line) == found


@pytest.mark.parametrize("line", ["", " \t ", "\r", "# comment", "   # comment", "\x01\x02"])
def test_empty_lines_and_comments_ask_for_nothing(line):
    assert parse(line) is None


def test_numbers_are_repeated_and_every_answer_ends_with_an_empty_line():
    assert (
        talk("echo a b\n12 echo\n013 echo x\n5\nfly\n6 fly\n")
        == "= a b\n\n=12\n\n=013 x\n\n?5 unknown command\n\n? unknown command\n\n?6 unknown command\n\n"
    )


def test_the_protocol_knows_itself():
    assert (
        talk("protocol_version\nknown_command echo\nknown_command fly\nknown_command\n")
        == "= 2\n\n= true\n\n= false\n\n= false\n\n"
    )
    listed = talk("list_commands").removeprefix("= ").split()
    assert listed == sorted({*COMMANDS, "protocol_version", "known_command", "list_commands", "quit"})


def test_carriage_returns_comments_and_empty_lines_are_ignored():
    assert talk("\r\n# hello\r\n1 echo a\r\n\r\n \t\r\n2 echo b # c\r\n") == "=1 a\n\n=2 b\n\n"


@pytest.mark.parametrize("chunk", [1, 2, 7, None])
def test_lines_may_come_in_pieces_and_the_last_needs_no_end(chunk):
    assert talk("1 echo \u00e9\n2 echo b\n3 echo c", chunk=chunk) == "=1 \u00e9\n\n=2 b\n\n=3 c\n\n"


def test_an_answer_has_no_empty_line_and_no_control_characters():
    assert talk("lines\nboard\nbell\n") == "= one\n  two\nthree\n\n=\n. X\nO .\n\n= abc\n\n"


def test_errors_are_answers_of_one_line_and_the_conversation_goes_on():
    said = talk("1 fail\n2 fault\n3 echo a\n")
    assert said.startswith("?1 no such luck\n\n?2 This is a fault of azlab (IndexError: ") and said.endswith("\n\n=3 a\n\n")
    assert said.count("\n") == 6


def test_bytes_that_are_no_text_are_no_problem():
    assert talk(b"1 echo \xff\xfe\n2 echo ok\n") == "=1 \ufffd\ufffd\n\n=2 ok\n\n"


def test_a_line_without_end_is_refused_and_not_kept():
    said = talk("1 echo " + "x" * 3_000_000 + "\n2 echo ok\n", chunk=65536)
    assert said == "?1 syntax error: a line has at most 100,000 characters\n\n=2 ok\n\n"


def test_quit_is_answered_and_ends_it():
    assert talk("quit\necho a\n") == "=\n\n"
    assert talk("4 quit\necho a\n") == "=4\n\n"
    assert talk("") == ""


def test_a_log_has_both_sides(tmp_path):
    lines = []
    pieces = [b"1 echo a\n2 fail\n"]
    Server(COMMANDS, lambda: pieces.pop() if pieces else b"", lambda data: None, lines.append).serve()
    assert sorted(lines) == sorted(["> 1 echo a", "> 2 fail", "< =1 a", "< ", "< ?2 no such luck", "< "])


# --- answers that take their time -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["\n", "# stop\n", "9 echo a\n", "fly\n", "\r\n"])
def test_an_analysis_goes_on_until_any_input(ending):
    talking = Conversation()
    talking.send("7 forever\n")
    said = talking.wait_for(r"^=7\ninfo 0\ninfo 1\ninfo 2\n")
    assert "\n\n" not in said
    talking.send(ending)
    talking.wait_for("\n\n")
    talking.send("8 echo last\n")
    talking.wait_for("=8 last\n\n")
    analysis, _, rest = talking.end().partition("\n\n")
    assert re.fullmatch(r"=7(\ninfo \d+)+", analysis)
    assert rest == {"9 echo a\n": "=9 a\n\n", "fly\n": "? unknown command\n\n"}.get(ending, "") + "=8 last\n\n"


def test_one_analysis_ends_another_and_the_end_of_the_input_ends_all():
    talking = Conversation()
    talking.send("1 forever\n")
    talking.wait_for("info 3\n")
    talking.send("2 forever\n")
    talking.wait_for(r"\n\n=2\n(info \d+\n)+")
    said = talking.end()
    assert re.fullmatch(r"=1\n(info \d+\n)+\n=2\n(info \d+\n)+\n", said) and "late" not in said
    assert not [thread for thread in threading.enumerate() if thread.name == "azlab gtp analysis"]


def test_an_answer_in_lines_ends_by_itself():
    assert talk("3 once\n4 echo a\n") == "=3\ninfo\nplay A1\n\n=4 a\n\n"


def test_a_failure_in_the_middle_of_an_answer_ends_it_with_a_word_on_stderr(capsys):
    assert talk("3 once more\n4 echo a\n") == "=3\ninfo\n\n=4 a\n\n"
    assert capsys.readouterr().err == "tired\n"


def test_a_failed_analysis_ends_its_answer(capsys):
    def broken(words):
        return Lines(lambda say, is_stopped: [][1], until_input=True)

    talking = Conversation({**COMMANDS, "broken": broken})
    talking.send("1 broken\n")
    talking.wait_for("=1\n\n")
    talking.send("2 echo a\n")
    talking.wait_for("=2 a\n\n")
    assert talking.end() == "=1\n\n=2 a\n\n"
    assert "fault of azlab (IndexError" in capsys.readouterr().err


def test_gogui_interrupts_what_is_running():
    talking = Conversation()
    talking.send("1 wait\n")
    talking.wait_for("waiting")
    talking.send("# a comment\n# interrupt\n")
    talking.wait_for("play B2\n\n")
    talking.send("2 wait\n")
    talking.wait_for("=2\nwaiting")
    assert "=2\nwaiting\nplay" not in talking.said.decode()  # an interrupt is for one command
    talking.send("# interrupt\n")
    talking.wait_for("=2\nwaiting\nplay B2\n\n")
    talking.end()


def test_a_controller_that_is_gone_ends_it():
    def write(data):
        raise BrokenPipeError

    pieces = [b"echo a\n", b"echo b\n"]
    with pytest.raises(BrokenPipeError):
        Server(COMMANDS, lambda: pieces.pop(0) if pieces else b"", write).serve()
