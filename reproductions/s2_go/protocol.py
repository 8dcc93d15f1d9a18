"""The Go Text Protocol (table 5.1): each of the source's commands is sent to `azlab gtp` as a controller would, and judged."""

import sys
from collections.abc import Callable

from azlab.formats.gtp import GtpEngine, GtpError
from azlab.repro.record import Recorder

# The commands of table 5.1, what is sent, and what makes an answer one. The empty board comes first, quit last.
ASKED: dict[str, tuple[str, Callable[[str, int], bool]]] = {
    "name": ("name", lambda said, size: bool(said)),
    "version": ("version", lambda said, size: bool(said)),  # the source's program answers with nothing
    "known_command": ("known_command genmove", lambda said, size: said == "true"),
    "list_commands": ("list_commands", lambda said, size: set(ASKED) <= set(said.split())),
    "boardsize": ("boardsize {size}", lambda said, size: said == ""),
    "clear_board": ("clear_board", lambda said, size: said == ""),
    "komi": ("komi 0", lambda said, size: said == ""),
    "play": ("play black c3", lambda said, size: said == ""),
    "genmove": ("genmove white", lambda said, size: is_move(said, size)),
    "undo": ("undo", lambda said, size: said == ""),
    "showboard": ("showboard", lambda said, size: said.count("\n") >= size - 1 and "X" in said),  # the black stone
    "quit": ("quit", lambda said, size: said == ""),
}


def gtp(record: Recorder, *, agent: str, sizes: list) -> None:
    """Ask an engine of ours each of the source's twelve commands.

    agent: who plays
    sizes: of the boards; a command counts if it is answered on each
    """
    found = {f"{size}x{size}": answered(agent, size) for size in sizes}
    good = [command for command in ASKED if all(own[command] for own in found.values())]
    bad = [command for command in ASKED if command not in good]
    record("s2.gtp.commands", len(good), note=f"without {', '.join(bad)}" if bad else "of `azlab gtp`, by azlab's own client")
    record.data("answered", found)


def answered(agent: str, size: int) -> dict[str, bool]:
    """Which commands an engine with this agent answers as the protocol wants."""
    command = [sys.executable, "-m", "azlab.cli", "gtp", agent, f"size={size}"]
    found = {}
    with GtpEngine(command, timeout=120) as engine:
        for name, (text, is_good) in ASKED.items():
            try:
                found[name] = is_good(engine.ask(text.format(size=size)), size)
            except GtpError:
                found[name] = False
    return found


def is_move(said: str, size: int) -> bool:
    """Whether this is a point of the board, or a pass."""
    columns = "ABCDEFGHJKLMNOPQRST"[:size]
    word = said.upper()
    return word == "PASS" or (word[:1] in columns and word[1:].isdigit() and word[:1] != "" and 1 <= int(word[1:]) <= size)
