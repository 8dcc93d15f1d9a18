"""Go compared with GNU Go 3.8, which is asked over the Go Text Protocol (GTP).

GNU Go's `all_legal` follows its rules of play: a single ko may not be taken back at once and suicide is forbidden
(its options --simple-ko and --forbid-suicide, both given below). These are our rules with ko="simple".
"""

import numpy as np
import pytest

import azlab
from azlab.formats import datasets, gtp, sgf
from azlab.games.game import Position


@pytest.fixture(scope="module")
def gnugo(need):
    with gtp.GtpEngine([need("gnugo"), "--mode", "gtp", "--simple-ko", "--forbid-suicide", "--chinese-rules"]) as engine:
        yield engine


def points(gnugo: gtp.GtpEngine, command: str) -> list[str]:
    """An answer that is a list of points, in our spelling and sorted."""
    return sorted(gnugo.ask(command).lower().split())


def stones_of(position: Position, seat: int) -> list[str]:
    cells = np.flatnonzero(position.game.board(position.state).ravel() == seat)
    return sorted(position.game.move_name(int(cell)) for cell in cells)


def compare(gnugo: gtp.GtpEngine, position: Position) -> None:
    """The stones of both sides, and the legal moves of the side to move."""
    for seat, colour in enumerate(gtp.COLOURS):
        assert points(gnugo, f"list_stones {colour}") == stones_of(position, seat), position
    if not position.over:
        colour = gtp.COLOURS[position.to_move]
        assert points(gnugo, f"all_legal {colour}") == sorted(name for name in position.legal_moves if name != "pass"), position


@pytest.mark.parametrize(("size", "games", "length"), [(5, 15, 120), (9, 6, 250), (13, 2, 400), (19, 1, 700)])
def test_random_games_have_the_same_stones_legal_moves_and_captures(gnugo, size, games, length):
    game = azlab.game("go", size=size)
    rng = np.random.default_rng(size)
    positions, kos, captures, suicides = 0, 0, 0, 0
    for _ in range(games):
        gnugo.boardsize(size)
        gnugo.clear_board()
        position, prisoners = game.start(), [0, 0]
        while not position.over and position.ply < length:
            compare(gnugo, position)
            positions += 1
            kos += int(position.state["ko"][0] > 0)
            empty = int((game.board(position.state) == 2).sum())
            suicides += int(empty > len(position.legal_actions) - 1 + int(position.state["ko"][0] > 0))
            places = [action for action in position.legal_actions if action != size * size]
            action = int(rng.choice(places)) if places and rng.random() < 0.98 else size * size
            seat = position.to_move
            gnugo.play(seat, game.move_name(action))
            following = position.play(action)
            before, after = ((game.board(each.state) == 1 - seat).sum() for each in (position, following))
            prisoners[seat] += int(before - after)
            assert prisoners[seat] == int(gnugo.ask(f"captures {gtp.COLOURS[seat]}"))
            position = following
        compare(gnugo, position)
        captures += sum(prisoners)
    # The games were long enough to be a test
    assert positions > 300 and kos > 0 and captures > 100 and suicides > 50


@pytest.mark.parametrize("size", range(7, 20))
def test_handicap_stones_are_where_gnu_go_puts_them(gnugo, size):
    for count in range(2, 10 if size % 2 and size > 7 else 5):
        gnugo.boardsize(size)
        gnugo.clear_board()
        placed = points(gnugo, f"fixed_handicap {count}")
        assert stones_of(azlab.game("go", size=size, handicap=count).start(), 0) == placed


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
