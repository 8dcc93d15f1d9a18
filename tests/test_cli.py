"""The command line as a user meets it, most of it in a process of its own."""

import json
import os
import random
import stat
import subprocess
import sys

import pytest

from azlab.cli import _parsed, main
from azlab.errors import AzlabError


def azlab(*arguments, stdin="", **environment):
    return subprocess.run(
        [sys.executable, "-m", "azlab.cli", *arguments],
        input=stdin, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300,
    )  # fmt: skip


def test_importing_azlab_loads_nothing_heavy():
    code = "import azlab, sys; print([m for m in ('torch', 'tensorflow', 'keras', 'numba', 'matplotlib') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_help_names_every_command():
    help_text = azlab("--help").stdout
    for command in ("play", "match", "gtp", "sweep", "reproduce", "report", "demo", "bench", "data", "course", "doctor"):
        assert command in help_text
        assert azlab(command, "--help").returncode == 0


def test_a_game_is_played_to_the_end():
    done = azlab("play", "tictactoe", "--seat", "both", stdin="a1\na2\nb1\nb2\nc1\n")
    assert done.returncode == 0 and done.stdout.rstrip().endswith("X wins")


def test_a_stopped_game_can_be_taken_up_again():
    stopped = azlab("play", "connect4", "--seed", "1", stdin="4\nquit\n").stdout
    moves = stopped.rpartition('--moves "')[2].rstrip().rstrip('"')
    assert len(moves.split()) == 2
    assert "after" not in azlab("play", "connect4", "--moves", moves, stdin="quit\n").stderr


def test_options_of_the_game_are_passed_on():
    for words in (["size=5", "ko=positional", "--seed", "1"], ["--seed", "1", "size=5", "ko=positional"]):
        assert " 5  .  .  .  .  ." in azlab("play", "go", *words, stdin="quit\n").stdout


def test_a_game_against_a_strong_agent():
    lost = azlab("play", "connect4", "--against", "minimax:2", "--moves", "1 4 1 4 2 4", stdin="7\n")
    assert "minimax:2 plays 4" in lost.stdout and lost.stdout.rstrip().endswith("Red wins")


def test_a_game_against_gnu_go(need):
    need("gnugo")
    stopped = azlab("play", "go", "size=9", "--against", "gnugo", "--seed", "1", stdin="e5\nquit\n")
    assert "gnugo plays" in stopped.stdout and '--moves "e5' in stopped.stdout


def test_a_match_prints_the_score_and_keeps_the_games(tmp_path):
    kept = tmp_path / "games.jsonl"
    done = azlab("match", "tictactoe", "perfect", "random", "--games", "10", "--save", str(kept))
    assert done.returncode == 0 and "10 games" in done.stdout and len(kept.read_text().splitlines()) >= 10


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["play", "chess"], "There is no game 'chess'"),
        (["play", "go", "size=1"], "size must be a whole number from 2 to 19, not 1"),
        (["play", "go", "colour=red"], "go has no option 'colour'"),
        (["play", "connect4", "--moves", "9"], "'9' is not a move of connect4"),
        (["play", "connect4", "--against", "deepblue"], "There is no agent 'deepblue'"),
        (["match", "connect4", "random", "random", "--games", "3"], "games"),
        (["play", "seega", "--against", "perfect"], "seega"),
        (["play", "seega", "--against", "gnugo"], "gnugo plays go, not seega"),
        (["match", "connect4", "random", "random", "--save", "/nowhere/games"], "cannot be saved"),
        (["bench", "colours"], "part must be one of"),
        (["match", "seega", "perfect", "random", "--games", "2"], "seega"),
        (["data", "get", "nothing"], "There is no data set called 'nothing'"),
        (["data", "get"], "Say which data set to get"),
        (["reproduce", "s7"], "There is no source, experiment or notebook 's7'"),
        (["reproduce", "--resume", "--out", "/nowhere"], "There is no run in /nowhere"),
        (["report", "/nowhere"], "/nowhere is not the folder of a run"),
        (["play", "tictactoe", "--against", "uct:1000,c={[]:1}"], "uct:1000,c={[]:1}' has a setting whose value is not a number"),
        (["play", "tictactoe", "--against", "az:,simulations=\u00b2"], "A trained player is az"),
        (["play", "tictactoe", "--against", "az:" + "x" * 300], "File name too long"),
        (["play", "go", "name=3"], "go has no option 'name'"),
        (["play", "go", "size=" + "[" * 3000], "size must be a whole number from 2 to 19"),
        (["play", "go", "size=" + "(" * 100_000], "size must be a whole number from 2 to 19"),
        (["play", "go", "size=[9]"], "size must be a whole number from 2 to 19, not [9]"),
        (["play", "go", "size=0x" + "f" * 5000], "size must be a whole number from 2 to 19"),
        (["play", "go", "--seed", "\u00b2"], "a seed is a whole number from 0 on"),
        (["play", "go", "--seed", "9" * 5000], "a seed is a whole number from 0 on"),
        (["play", "go", "--seed", "9" * 30], "a seed is a whole number from 0 on"),
        (["play"], "azlab play: the following arguments are required: game"),
        (["play", "go", "size=5", "seven"], "an option looks like size=9, not 'seven'"),
        (["play", "a\0b"], "zero byte"),
        (["fly"], "invalid choice: 'fly'"),
        ([], "required: COMMAND"),
        (["match", "go", "random", "random", "--games", "many"], "invalid int value"),
        (["match", "tictactoe", "random", "random", "--save", "x" * 256, "--games", "2"], "File name too long"),
        (["train", "tictactoe", "seed.x=1"], "seed is one setting and has no parts such as seed.x"),
        (["train", "tictactoe", "hours=1e999"], "hours must be a number from 0 on, not inf"),
        (["train", "tictactoe", "a.b.c=1"], "there is no setting 'a.b'"),
        (["train", "tictactoe", "evaluation.opponents=['\\udcff']"], "is not text"),
        (["train", "--config", "x" * 256], "File name too long"),
        (["train", "--config", "/nowhere/\udcff.toml"], "cannot be read"),
        (["train", "--config", "/nowhere", "--out", "x" * 256], "cannot be read"),
        (["run", "x" * 256], "File name too long"),
        (["bench", "games", "--seconds", "nan"], "--seconds must be positive"),
        (["bench", "games", "--seconds", "inf"], "--seconds must be positive"),
    ],
)
def test_a_users_mistake_gets_one_sentence_and_exit_code_2(arguments, sentence, capsys):
    assert main(arguments) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("azlab: compiling")]
    assert len(lines) == 1 and sentence in lines[0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("train --out X tictactoe", {"preset": "tictactoe", "out": "X", "options": []}),
        ("train seed=3 --json tictactoe --out X budget.simulations=9",
         {"preset": "tictactoe", "out": "X", "json": True, "options": [("seed", 3), ("budget.simulations", 9)]}),
        ("train seed=3 --config F", {"preset": "seed=3", "config": "F"}),
        ("match --games 4 go size=5 random --seed 2 uct:10 ko=positional",
         {"game": "go", "first": "random", "second": "uct:10", "games": 4, "options": [("size", 5), ("ko", "positional")]}),
        ("play --moves a=b go", {"game": "go", "moves": "a=b", "options": []}),
        ("run --count 7 FOLDER --test own", {"folder": "FOLDER", "count": 7, "test": "own"}),
        ("data get a b", {"action": "get", "name": ["a", "b"]}),
        ("data", {"action": "list", "name": []}),
        ("data make count=5 --out F connect4 perfect=0.5",
         {"action": "make", "name": ["connect4", "count=5", "perfect=0.5"], "out": "F"}),
        ("reproduce --seed 3 s1 --keep s2", {"what": ["s1", "s2"], "seed": 3, "keep": True}),
        ("bench --seconds 2 games --json search", {"part": ["games", "search"], "seconds": 2.0, "json": True}),
    ],
)  # fmt: skip
def test_words_may_stand_in_any_order(words, expected):
    assert vars(_parsed(words.split())).items() >= expected.items()


WORDS = [
    "play", "match", "train", "run", "data", "report", "--seed", "--games", "--save", "--against", "--moves", "--out",
    "--config", "--json", "--count", "--debug", "--", "-", "--help", "--version", "go", "tictactoe", "random", "uct:1",
    "size=5", "get", "list", "--seat", "first",
]  # fmt: skip


def test_odd_command_lines_end_in_a_sentence(many, odd_word):
    """Only read, not run: what the words mean to a command is tested where its parts are."""
    rng = random.Random(0)
    for _ in range(many(300)):
        words = [rng.choice(WORDS) if rng.random() < 0.8 else odd_word(rng) for _ in range(rng.randrange(7))]
        try:
            _parsed(words)
        except AzlabError as error:
            assert str(error)
        except SystemExit as end:  # --help and --version
            assert end.code == 0


def test_odd_games_and_agents_end_in_a_sentence(many, odd_word, capsys):
    rng = random.Random(0)
    for _ in range(many(40)):
        words = ["play", "tictactoe", "--moves", odd_word(rng), "--against", odd_word(rng), f"size={odd_word(rng)}"]
        assert main(words) == 2, words
        assert "Traceback" not in capsys.readouterr().err


def test_a_match_does_not_replace_a_device(tmp_path):
    node = tmp_path / "null"
    try:
        os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        node.open("wb").close()
    except OSError:
        pytest.skip("Only root can make devices here.")
    assert main(["match", "tictactoe", "random", "random", "--games", "2", "--save", str(node)]) == 0
    assert stat.S_ISCHR(node.lstat().st_mode)


def test_data_lists_the_catalogue(tmp_path):
    listed = azlab("data", AZLAB_DATA=str(tmp_path), AZLAB_DATA_MIRROR="").stdout
    assert "connect4/hard_test.txt.gz" in listed and listed.count("missing") == 10
    assert listed.count("(licence: Apache-2.0)") == 2 and listed.count("(licence: none stated)") == 8


@pytest.mark.slow
def test_bench_prints_json_that_a_script_can_read():
    rows = json.loads(azlab("bench", "games", "search", "--json", "--seconds", "0.05").stdout)["rows"]
    speeds = {row["what"]: row["figure"] for row in rows if row["unit"] == "moves/s"}
    assert {"connect4", "tictactoe", "go size=19"} <= set(speeds) and min(speeds.values()) > 0
    assert any(row["unit"] == "simulations/s" for row in rows) and any("%" in row["unit"] for row in rows)


def test_the_demonstration_agrees_with_the_published_numbers():
    done = azlab("demo")
    assert done.returncode == 0 and "All numbers agree." in done.stdout and done.stdout.count("agrees") == 10


def test_reproduce_lists_every_source():
    listed = azlab("reproduce", "--list").stdout
    for source in ("s1_value_generations", "s2_go", "s3_dots_and_boxes", "s4_seega", "s5_connect4"):
        assert source in listed


def test_report_writes_a_page_without_running_anything(tmp_path):
    done = azlab("report", "--out", str(tmp_path))
    assert done.returncode == 0 and str(tmp_path / "report.html") in done.stdout
    assert "s1.tictactoe.black.losses" in (tmp_path / "report.html").read_text() and (tmp_path / "report.md").exists()
