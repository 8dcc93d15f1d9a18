"""Go compared with GNU Go 3.8, which is asked over the Go Text Protocol (GTP).

GNU Go's `all_legal` follows its rules of play: a single ko may not be taken back at once and suicide is forbidden
(its options --simple-ko and --forbid-suicide, both given below). These are our rules with ko="simple".
"""

import subprocess

import numpy as np
import pytest

import azlab
from azlab.formats import datasets, sgf
from azlab.games.game import Position


class GnuGo:
    """A GNU Go that answers commands; just enough of GTP for these tests."""

    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen(
            [program, "--mode", "gtp", "--simple-ko", "--forbid-suicide", "--chinese-rules"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def ask(self, command: str) -> str:
        """The answer to a command, without the leading sign; lines are joined by spaces."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        lines = []
        while line := self.process.stdout.readline().strip():
            lines.append(line)
        answer = " ".join(lines)
        assert answer.startswith("="), f"GNU Go answered {answer!r} to {command!r}"
        return answer[1:].strip()

    def names(self, command: str) -> list[str]:
        """An answer that is a list of points, in our spelling and sorted."""
        return sorted(self.ask(command).lower().split())

    def close(self) -> None:
        with self.process:
            self.process.communicate("quit\n")


@pytest.fixture(scope="module")
def gnugo(need):
    program = GnuGo(need("gnugo"))
    yield program
    program.close()


def stones_of(position: Position, seat: int) -> list[str]:
    cells = np.flatnonzero(position.game.board(position.state).ravel() == seat)
    return sorted(position.game.move_name(int(cell)) for cell in cells)


def compare(gnugo: GnuGo, position: Position) -> None:
    """The stones of both sides, and the legal moves of the side to move."""
    for seat, colour in enumerate(("black", "white")):
        assert gnugo.names(f"list_stones {colour}") == stones_of(position, seat), position
    if not position.over:
        colour = ("black", "white")[position.to_move]
        assert gnugo.names(f"all_legal {colour}") == sorted(name for name in position.legal_moves if name != "pass"), position


@pytest.mark.parametrize(("size", "games", "length"), [(5, 15, 120), (9, 6, 250), (13, 2, 400), (19, 1, 700)])
def test_random_games_have_the_same_stones_legal_moves_and_captures(gnugo, size, games, length):
    game = azlab.game("go", size=size)
    rng = np.random.default_rng(size)
    positions, kos, captures, suicides = 0, 0, 0, 0
    for _ in range(games):
        gnugo.ask(f"boardsize {size}")
        gnugo.ask("clear_board")
        position, prisoners = game.start(), [0, 0]
        while not position.over and position.ply < length:
            compare(gnugo, position)
            positions += 1
            kos += int(position.state["ko"][0] > 0)
            empty = int((game.board(position.state) == 2).sum())
            suicides += int(empty > len(position.legal_actions) - 1 + int(position.state["ko"][0] > 0))
            points = [action for action in position.legal_actions if action != size * size]
            action = int(rng.choice(points)) if points and rng.random() < 0.98 else size * size
            colour, seat = ("black", "white")[position.to_move], position.to_move
            gnugo.ask(f"play {colour} {game.move_name(action)}")
            following = position.play(action)
            before, after = ((game.board(each.state) == 1 - seat).sum() for each in (position, following))
            prisoners[seat] += int(before - after)
            assert prisoners[seat] == int(gnugo.ask(f"captures {colour}"))
            position = following
        compare(gnugo, position)
        captures += sum(prisoners)
    # The games were long enough to be a test
    assert positions > 300 and kos > 0 and captures > 100 and suicides > 50


@pytest.mark.parametrize("size", range(7, 20))
def test_handicap_stones_are_where_gnu_go_puts_them(gnugo, size):
    for count in range(2, 10 if size % 2 and size > 7 else 5):
        gnugo.ask(f"boardsize {size}")
        gnugo.ask("clear_board")
        points = gnugo.names(f"fixed_handicap {count}")
        assert stones_of(azlab.game("go", size=size, handicap=count).start(), 0) == points


@pytest.mark.parametrize(("name", "step"), [("go/9x9_pro.tar.gz", 8), ("go/9x9_rated.tar.gz", 50), ("go/kgs_2003.tar.gz", 300)])
def test_recorded_games_end_on_the_same_board(gnugo, need, tmp_path, name, step):
    need.data(name)
    for file, text in list(datasets.sgf_games(name))[::step]:
        record = sgf.main_line(text)
        game = azlab.game("go", size=record.size)
        position = game.set_up(list(record.black), list(record.white), record.to_move)
        for _, point in record.moves:
            position = position.play(record.size**2 if point == sgf.PASS else point)
        (tmp_path / file).write_text(sgf.write(record), encoding="utf-8")
        gnugo.ask(f"loadsgf {tmp_path / file}")
        compare(gnugo, position)
