"""Every command of the engine: in this process, and as `azlab gtp` through our own client."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

import azlab
from azlab import __version__
from azlab.arena.gtp_engine import Engine
from azlab.errors import AzlabError
from azlab.formats import sgf
from azlab.formats.gtp import GtpEngine, GtpError

COMMAND = [sys.executable, "-m", "azlab.cli", "gtp"]


def refused(ask, line):
    with pytest.raises(AzlabError) as caught:
        ask(line)
    return str(caught.value)


# --- the game -------------------------------------------------------------------------------------------------------


def test_it_has_a_name_and_a_version(asked):
    ask = asked()
    assert (ask("protocol_version"), ask("name"), ask("version")) == ("2", "azlab random", __version__)
    named = Engine(azlab.agent("random"), {"size": 5}, "Fred", "0.17")
    assert (named.name, named.version) == ("Fred", "0.17")


def test_stones_captures_and_undo(asked):
    ask = asked()
    for move in ("b a1", "w A2", "W b1"):
        assert ask(f"play {move}") == ""
    assert (ask("list_stones b"), ask("list_stones w"), ask("captures white"), ask("captures b")) == ("", "A2 B1", "1", "0")
    assert ask("last_move") == "white B1" and ask("move_history") == "white B1\nwhite A2\nblack A1"
    assert (ask("is_legal b a1"), ask("is_legal w a1"), ask("is_legal b pass"), ask("is_legal b b1")) == ("0", "1", "1", "0")
    assert "A1" not in ask("all_legal b").split() and len(ask("all_legal w").split()) == 23
    ask("undo")
    assert (ask("list_stones b"), ask("captures w")) == ("A1", "0")
    ask("undo")
    ask("undo")
    assert refused(ask, "undo") == "cannot undo" and refused(ask, "last_move") == "no previous move known"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("play b a1", "illegal move"),
        ("play w", "syntax error: a point, or pass, is missing"),
        ("play green a2", "syntax error: 'green' is not a colour, black or white"),
        ("play b z9", "syntax error: 'z9' is not a point from A1 to E5, or pass"),
        ("boardsize 1", "unacceptable size"),
        ("boardsize 25", "unacceptable size"),
        ("boardsize", "syntax error: the size of the board is missing"),
        ("boardsize nine", "syntax error: 'nine' is not the size of the board"),
        ("komi", "syntax error: a number of points is missing"),
        ("komi 6.3", "komi must be a whole or half number of points, not 6.3."),
        ("fixed_handicap 2", "board not empty"),
        ("set_free_handicap b2 c3", "board not empty"),
        ("set_free_handicap b2 z3", "bad vertex list"),
        ("place_free_handicap 1", "invalid number of stones"),
        ("genmove", "syntax error: a colour, black or white, is missing"),
        ("final_status_list", "syntax error: alive, dead or seki is missing"),
        ("final_status_list ill", "syntax error: a status is alive, dead or seki"),
        ("time_settings 10 5", "syntax error: a number of stones is missing"),
        ("time_left b x 1", "syntax error: 'x' is not a time in seconds"),
        ("kgs-time_settings sudden", "syntax error: a time system is none, absolute, byoyomi or canadian"),
        ("kgs-rules japanese", "azlab counts the area, by Chinese rules only"),
        ("kata-set-rules japanese", "azlab counts the area and forbids suicide: the rules are chinese, or JSON with another ko"),
        ('kata-set-rules {"ko":"SPIGHT"}', "ko is one of SIMPLE, POSITIONAL, SITUATIONAL"),
        ("loadsgf", "syntax error: the name of a file is missing"),
        ("loadsgf /nowhere/at.sgf", "cannot load file: '/nowhere/at.sgf' is not a file of at most 10,000,000 bytes"),
        ("loadsgf /dev/zero", "cannot load file: '/dev/zero' is not a file of at most 10,000,000 bytes"),
        ("printsgf /dev/null", "cannot write file: it is a folder or a device"),
        ("lz-analyze avoid b c3 1", "azlab looks at all moves: avoid and allow are not possible"),
        ("kata-analyze colour red", "syntax error: an analysis has no setting 'colour'"),
        ("lz-analyze interval", "syntax error: an interval in hundredths of a second is missing"),
        ("kata-raw-nn 0", "random has no network"),
        ("gogui-setup_player w", "moves have been played; whose turn it is then follows from genmove and play"),
        ("gogui-setup b a1 w a1", "A set-up puts at most one stone on each point of the board."),
        ("gogui-play_sequence b b1 w", "syntax error: colours and points come in pairs"),
        ("gogui-play_sequence b b1 w b1", "illegal move"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_a_sentence_and_changes_nothing(asked, line, words):
    ask = asked(komi=7)
    ask("play b a1")
    assert refused(ask, line) == words
    assert (ask("list_stones b"), ask("list_stones w"), ask("get_komi"), ask("query_boardsize")) == ("A1", "", "7", "5")


def test_moves_come_from_the_agent_and_are_played(asked):
    ask = asked("uct:50")
    for colour in ("b", "w", "white", "b"):
        move = ask(f"genmove {colour}")
        assert re.fullmatch("[A-E][1-5]|pass", move) and ask("last_move").split()[1] == move
    before = ask("move_history")
    assert re.fullmatch("[A-E][1-5]|pass", ask("reg_genmove b")) and ask("move_history") == before


def test_a_move_is_found_after_two_passes_too(asked):
    ask = asked("uct:50")
    for line in ("play b c3", "play w pass", "play b pass", "play b resign"):
        ask(line)
    assert ask("genmove w") and ask("genmove b")


def test_the_agents_choice_is_that_of_a_match(asked):
    ask, agent = asked("uct:300"), azlab.agent("uct:300", 1)
    agent.think(azlab.game("go", size=5).start())  # as the engine does to warm up
    position = azlab.game("go", size=5).from_moves("c3")
    ask("play b c3")
    assert ask("genmove w").lower() == position.game.move_name(agent.choose(position))


def test_an_agents_illegal_move_is_refused(asked):
    class Wrong:
        name = "wrong"

        def choose(self, position):
            return 0

    ask = asked(Wrong())
    ask("genmove b")
    assert refused(ask, "genmove w") == "wrong chose action 0, which is not legal here"
    assert ask("move_history") == "black A5"


def test_size_and_komi(asked):
    ask = asked()
    ask("komi 6.5")
    ask("play b c3")
    assert ask("final_score") == "B+18.5"
    ask("komi -3")
    assert (ask("get_komi"), ask("final_score")) == ("-3", "B+28")
    ask("komi 25")
    assert ask("final_score") == "0"
    ask("boardsize 9")
    assert (ask("query_boardsize"), ask("list_stones b"), ask("get_komi"), ask("final_score")) == ("9", "", "25", "W+25")


def test_an_agent_of_one_size_says_so(asked):
    ask = asked("perfect", size=3)
    assert refused(ask, "boardsize 9").startswith("unacceptable size: ")
    assert ask("query_boardsize") == "3" and ask("genmove b") == "B2"  # the only move that keeps all of 3x3
    with pytest.raises(AzlabError, match="Perfect Go is known here on 2x2 and 3x3"):
        asked("perfect", size=9)


def test_the_board_is_shown(asked):
    ask = asked()
    ask("play b b4")
    assert ask("showboard").split("\n")[1:4] == [" 5  .  .  .  .  .", " 4  . (X) .  .  .", " 3  .  .  .  .  ."]


def test_no_stone_is_dead_that_is_on_the_board(asked):
    ask = asked()
    ask("gogui-play_sequence b c3 w a1 b d3")
    assert (ask("final_status_list alive"), ask("final_status_list dead"), ask("final_status_list seki")) == ("C3 D3\nA1", "", "")


def test_handicaps_are_placed_as_the_protocol_says(asked):
    ask = asked(size=9)
    assert ask("fixed_handicap 3") == "C3 G7 C7"
    assert refused(ask, "undo") == "cannot undo"
    ask("clear_board")
    assert len(ask("place_free_handicap 30").split()) == 9  # as many as there are places
    ask("clear_board")
    ask("set_free_handicap E5 c4 a1")
    assert ask("list_stones b") == "E5 C4 A1" and ask("printsgf").count("AB[") == 1
    ask("boardsize 5")
    assert refused(ask, "place_free_handicap 2") == "invalid number of stones"


def test_gogui_sets_up_positions(asked):
    ask = asked()
    ask("gogui-setup b a1 b a2 w c3")
    ask("gogui-setup_player w")
    assert ask("list_stones b") == "A2 A1" and ask("list_stones w") == "C3" and "PL[W]" in ask("printsgf")
    assert ask("gogui-interrupt") == "" and ask("clear_cache") == "" and ask("stop") == ""


def test_rules_are_told_and_changed(asked):
    ask = asked(ko="simple")
    assert json.loads(ask("kata-get-rules"))["ko"] == "SIMPLE"
    ask('kata-set-rules {"ko": "POSITIONAL", "scoring": "AREA", "friendlyPassOk": true}')
    assert json.loads(ask("kata-get-rules")) == {
        "hasButton": False, "ko": "POSITIONAL", "scoring": "AREA", "suicide": False, "tax": "NONE", "whiteHandicapBonus": "0",
    }  # fmt: skip
    ask("boardsize 4")
    assert json.loads(ask("kata-get-rules"))["ko"] == "POSITIONAL"
    ask("kata-set-rules chinese")
    assert json.loads(ask("kata-get-rules"))["ko"] == "SIMPLE" and ask("kgs-rules chinese") == ""


def test_rules_that_the_game_breaks_are_not_taken_over(asked):
    ask = asked()
    turns = "b b2 w c2 b a3 w d3 b b4 w c4 b e5 w b3 b c3 w pass b pass w b3"
    ask(f"gogui-play_sequence {turns}")
    assert refused(ask, 'kata-set-rules {"ko":"POSITIONAL"}') == "the game so far breaks these rules"
    ask("boardsize 5")  # which makes the rules anew
    assert json.loads(ask("kata-get-rules"))["ko"] == "SIMPLE"


# --- files ----------------------------------------------------------------------------------------------------------


def test_games_are_written_and_read(asked, tmp_path):
    ask = asked(komi=6.5)
    ask("gogui-play_sequence b c3 w b2 b pass")
    assert ask("printsgf") == "(;GM[1]FF[4]CA[UTF-8]SZ[5]KM[6.5]RU[Chinese]\n;B[cc];W[bd];B[])"
    file = tmp_path / "a game.sgf"
    assert ask(f"printsgf {file}") == "" and sgf.main_line(file.read_text()).moves == ((0, 12), (1, 16), (0, -1))
    ask("boardsize 9")
    ask("komi 7")
    assert ask(f"loadsgf {file}") == ""
    assert (ask("query_boardsize"), ask("get_komi"), ask("move_history")) == ("5", "6.5", "black pass\nwhite B2\nblack C3")
    ask(f"loadsgf {file} 3")
    assert ask("move_history") == "white B2\nblack C3"
    ask("undo")
    assert ask("list_stones w") == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(;SZ[9]KM[0.5];B[aa];W[aa])", "cannot load file: move 2 is not legal"),
        ("(;SZ[5]AB[aa][ab][ba][bb][ca][cb][da][db][ea][eb]AW[ac][bc][cc][dc][ec])", "cannot load file: In this set-up a chain"),
        ("(;SZ[25];B[aa])", "cannot load file: size must be a whole number from 2 to 19"),
        ("(;SZ[5]KM[6.3];B[aa])", "cannot load file: komi must be a whole or half number"),
        ("(;SZ[5];B[zz])", "cannot load file: This SGF text cannot be used"),
        ("hello", "cannot load file: This SGF text cannot be used"),
        ("", "cannot load file: This SGF text cannot be used"),
    ],
)
def test_a_record_that_cannot_be_loaded_changes_nothing(asked, text, words, tmp_path):
    (tmp_path / "game.sgf").write_text(text)
    ask = asked(komi=7)
    ask("play b c3")
    assert refused(ask, f"loadsgf {tmp_path / 'game.sgf'}").startswith(words)
    assert (ask("list_stones b"), ask("query_boardsize"), ask("get_komi")) == ("C3", "5", "7")
    ask("boardsize 5")  # which makes the rules anew
    assert ask("get_komi") == "7" and ask("genmove b")


# --- time -----------------------------------------------------------------------------------------------------------


def test_time_settings_shorten_the_search(asked):
    ask = asked("uct:2000000")
    ask("time_settings 0 1 10")  # a tenth of a second a move: the whole search would take minutes
    for colour in "bw" * 3:
        visits = re.findall(r" visits (\d+)", ask(f"lz-genmove_analyze {colour}"))
        assert 16 <= sum(map(int, visits)) < 1_000_000


def test_time_left_and_the_settings_of_kgs(asked):
    ask = asked("uct:2000000")
    ask("kgs-time_settings byoyomi 0 30 5")
    ask("time_left b 0.2 1")
    ask("genmove b")
    ask("kgs-time_settings canadian 0 1 10")
    ask("genmove w")
    ask("kgs-time_settings absolute 1")
    ask("genmove b")
    ask("time_left w -1 0")  # some clocks run below zero
    ask("genmove w")
    for line in ("kgs-time_settings none", "time_settings 0 1 0"):
        ask(line)
        assert ask.raw("genmove x") and ask.engine.clock.allot(0, 5, 0) is None


@pytest.mark.slow
def test_a_search_is_interrupted():
    process = subprocess.Popen(
        [*COMMAND, "uct:2000000", "size=5"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    process.stdin.write(b"lz-genmove_analyze b 1\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"=\n" and process.stdout.readline().startswith(b"info move")
    process.stdin.write(b"# interrupt\nquit\n")
    process.stdin.flush()
    rest = process.stdout.read().decode()
    assert re.search(r"\nplay \w+\n\n=\n\n$", rest) and process.wait(60) == 0


# --- as a program ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    with GtpEngine([*COMMAND, "uct:200", "size=5", "--seed", "1", "--name", "Fred"]) as engine:
        yield engine


def test_our_own_client_asks_every_command(client, tmp_path):
    """Each is answered as it should be: with what to say where it needs words, and no refusal but those of the protocol."""
    words = {
        "known_command": "name", "boardsize": "5", "komi": "7", "play": "b c3", "genmove": "w", "reg_genmove": "b",
        "final_status_list": "alive", "fixed_handicap": "2", "place_free_handicap": "2", "set_free_handicap": "a1 b2",
        "time_settings": "0 1 0", "time_left": "b 5 0", "kgs-time_settings": "none", "loadsgf": str(tmp_path / "a.sgf"),
        "printsgf": str(tmp_path / "a.sgf"), "is_legal": "b a1", "all_legal": "b", "list_stones": "w", "captures": "b",
        "kgs-rules": "chinese", "kata-set-rules": "chinese", "gogui-play_sequence": "b a1 w a2", "gogui-setup": "b a1",
        "gogui-setup_player": "w", "genmove_analyze": "b 10", "lz-genmove_analyze": "w 10", "kata-genmove_analyze": "b 10",
        "cgos-genmove_analyze": "w",
    }  # fmt: skip
    analyses = {"analyze", "lz-analyze", "kata-analyze"}  # these go on until the next line, which our client never sends too soon
    refusals = {"fixed_handicap", "place_free_handicap"}  # on 5x5
    listed = client.list_commands()
    (tmp_path / "a.sgf").write_text("(;SZ[5];B[aa])")
    assert set(words) <= set(listed)
    for command in sorted(set(listed) - {"quit"} - analyses):
        client.ask("clear_board")
        if command in ("undo", "last_move"):
            client.ask("play b a1")
        line = f"{command} {words.get(command, '')}".strip()
        if command in refusals:
            with pytest.raises(GtpError, match="invalid number of stones"):
                client.ask(line)
        elif command != "kata-raw-nn":
            client.ask(line)
    with pytest.raises(GtpError, match="has no network"):
        client.ask("kata-raw-nn 0")


def test_the_client_plays_a_game(client):
    assert client.name() == "Fred" and client.version() == __version__
    client.boardsize(5)
    client.clear_board()
    client.komi(0.5)
    for turn in range(10):
        move = client.genmove(turn % 2)
        assert re.fullmatch("[a-e][1-5]|pass", move)
    client.undo()
    client.play(1, "pass")
    assert client.final_score() % 1 == 0.5
    assert "Black (X) has taken" in client.showboard()


def test_the_engine_is_an_agent_of_ours():
    """azlab plays azlab over the protocol."""
    command = " ".join([*COMMAND, "uct:30", "size=5", "--seed", "2"])
    result = azlab.arena.match(f"gtp:{command}", "random", games=2, game=azlab.game("go", size=5, max_moves=30), seed=1)
    assert result.complete and len(result.records) == 2


def run(*arguments, stdin):
    return subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, text=True, timeout=300)


def test_stdout_has_answers_only_and_the_end_of_input_ends_it(tmp_path):
    done = run("random", "size=5", "--log", str(tmp_path / "log"), stdin="1 name\r\n\r\n# hi\r\n2 genmove b\r\n3 fly")
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert re.fullmatch(r"=1 azlab random\n\n=2 [A-E][1-5]\n\n\?3 unknown command\n\n", done.stdout)
    assert "> 1 name" in (tmp_path / "log").read_text() and "< =1 azlab random" in (tmp_path / "log").read_text()


def test_what_lizzie_sends_is_answered():
    """By its source (Leelaz.java) it reads the second number of the version, and lines that begin with info or play."""
    sent = "0 name\n1 version\n2 boardsize 5\n3 komi 7.5\n4 play B C3\n5 lz-genmove_analyze W 10\n6 undo\n7 clear_board\n8 quit\n"
    said = run("uct:50", "--as-version", "0.17", stdin=sent).stdout
    assert int(re.search(r"^=1 \d+\.(\d+)$", said, re.MULTILINE)[1]) >= 15
    assert re.search(r"^=5\n(info move .*\n)+play .*\n\n=6\n\n=7\n\n=8\n\n$", said, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nobody"], "There is no agent 'nobody'"),
        (["random", "size=1"], "size must be a whole number from 2 to 19, not 1"),
        (["random", "colour=red"], "go has no option 'colour'"),
        (["random", "handicap=2"], "Handicap stones are placed by the program that uses the engine"),
        (["perfect", "size=9"], "Perfect Go is known here on 2x2 and 3x3 points only"),
        (["random", "--log", "/nowhere/log"], "The log cannot be written to /nowhere/log"),
        ([], "required: AGENT"),
    ],
)  # fmt: skip
def test_a_wrong_start_is_one_sentence_on_stderr(arguments, sentence, capsys):
    from azlab.cli import main

    assert main(["gtp", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and sentence in err.splitlines()[-1]


@pytest.mark.slow
def test_ctrl_c_and_a_controller_that_dies_end_it_without_a_traceback():
    process = subprocess.Popen([*COMMAND, "uct:2000000", "size=5"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)  # fmt: skip
    process.stdin.write(b"lz-analyze b 1\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"=\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130 and b"Traceback" not in process.stderr.read()
    process = subprocess.Popen([*COMMAND, "uct:2000000", "size=5"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)  # fmt: skip
    process.stdin.write(b"lz-analyze b 1\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"=\n"
    process.stdout.close()
    os.close(process.stdin.fileno())
    assert process.wait(60) == 0 and b"Traceback" not in process.stderr.read()
