"""Lines that nobody should send: each that asks for something is answered once, none by a fault, and the game stays a game."""

import random
import re

import pytest

from azlab.formats import sgf

WORDS = [
    "b", "w", "B", "White", "black", "A1", "b2", "C3", "d4", "E5", "pass", "PASS", "resign", "t19", "I5", "a0", "0", "1", "5",
    "9", "19", "20", "-1", "0.5", "7", "6.5", "6.3", "1e9", "nan", "alive", "dead", "seki", "none", "absolute", "byoyomi",
    "canadian", "chinese", "japanese", '{"ko":"POSITIONAL"}', '{"ko":"SIMPLE"}', "{", "[" * 3000, "true", "interval", "maxmoves",
    "rootInfo", "ownership", "avoid", "minmoves", "game.sgf", "bad.sgf", "nothing.sgf", ".", "name", "\u00e9", "\x00", "\ufeff",
]  # fmt: skip
SIZES = ["2", "5", "9"]  # each size of the board is compiled anew
LETTERS = "abcw 0123456789=?#\t\r\\'\"[](){}.,;:-_\x00\x07\x7f\u00b2\u00e9\u0663"


def odd_line(rng, commands, odd_word):
    """Words behind a number: mostly a command with something like its arguments."""
    kind = rng.random()
    if kind < 0.05:
        return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(30)))
    if kind < 0.3:
        return f"play {rng.choice('bw')} {rng.choice('abcde')}{rng.randrange(1, 6)}"
    command = rng.choice(commands)
    if command == "printsgf":  # it would write to any file of that name
        return rng.choice(["printsgf", "printsgf game.sgf", "printsgf .", "printsgf no/folder\x00"])
    if command in ("boardsize", "quit"):
        return f"boardsize {rng.choice(SIZES)}"
    words = [rng.choice(WORDS) if rng.random() < 0.9 else odd_word(rng) for _ in range(rng.randrange(5))]
    return " ".join([command, *words]).replace("\n", " ")


def answers(said):
    """The answers as (sign, number, text)."""
    found = re.findall(r"([=?])([0-9]*)((?:.|\n(?!\n))*)\n\n", said)
    assert "".join(f"{sign}{number}{text}\n\n" for sign, number, text in found) == said  # nothing but answers
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "share"), [("random", 0.9), ("uct:2", 0.1)])
def test_every_line_is_answered_once_and_none_by_a_fault(agent, share, asked, many, odd_word, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.sgf").write_text("(;SZ[5];B[aa];W[aa])")
    rng = random.Random(agent)
    ask = asked(agent, size=5)
    commands = [*ask.engine.commands(), "known_command", "list_commands", "protocol_version", "quit"]
    count, done, good = round(many(2000) * share), 0, 0
    while done < count:
        lines = [f"{k} {odd_line(rng, commands, odd_word)}" for k in range(done, min(count, done + 500))]
        data = "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")  # bytes that are no text, too
        found = answers(ask.raw_bytes(data))
        assert [number for _, number, _ in found] == [str(k) for k in range(done, done + len(lines))]
        for (sign, _, text), line in zip(found, lines, strict=True):
            assert "fault of azlab" not in text and "Traceback" not in text, line
            assert sign == "=" or re.fullmatch(r" \S.*", text), line
        good += sum(sign == "=" for sign, _, _ in found)
        done += len(lines)
        check(ask, tmp_path)
    assert count / 3 < good < count  # it was a test of both
    assert "Traceback" not in capsys.readouterr().err


def check(ask, folder):
    """The game is still one: written and read again it has the same stones, and both colours can move."""
    before = [ask(f"list_stones {colour}") for colour in "bw"]
    record = sgf.main_line(ask("printsgf"))
    (folder / "check.sgf").write_text(sgf.write(record))
    ask(f"loadsgf {folder / 'check.sgf'}")
    assert [ask(f"list_stones {colour}") for colour in "bw"] == before
    ask("kgs-time_settings none")
    for colour in "bw":
        assert ask(f"is_legal {colour} pass") == "1" and ask(f"reg_genmove {colour}")


def test_bytes_without_sense_are_no_end_of_it(asked, many):
    rng = random.Random(1)
    ask = asked()
    for _ in range(many(20)):
        data = bytes(rng.choice(b"\x00\n\r\t #=?\xff\xc3play b a1 genmove w 0123456789 quit") for _ in range(500))
        answers(ask.raw_bytes(data.replace(b"quit", b"")))
    assert ask("name") == "azlab random"
