"""GNU Go 3.8 as referee of `azlab gtp`: both keep one game; after every move stones, captures, legal moves and score agree.

The score is that of the stones GNU Go has, counted here by filling regions: GNU Go's own `final_score` takes off what it believes
to be dead, so it is asked at the end, when nothing dead is left. AZLAB_FUZZ=34 plays 204 games.
"""

import random
import sys

import pytest

from azlab.formats import gtp
from azlab.formats.gtp import COLOURS, GtpEngine

RULES = ["--chinese-rules", "--forbid-suicide", "--simple-ko", "--capture-all-dead", "--never-resign"]
KOMI = 6.5
# points a side: how many games of six, which share of the board is played over by both before GNU Go ends the game alone
BOARDS = {5: (2, 1.0), 9: (3, 0.7), 19: (1, 0.12)}


@pytest.fixture(scope="module")
def gnugo(need):
    with GtpEngine([need("gnugo"), "--mode", "gtp", "--level", "1", "--seed", "1", *RULES]) as engine:
        yield engine


@pytest.fixture(scope="module")
def ours():
    with GtpEngine([sys.executable, "-m", "azlab.cli", "gtp", "uct:60", "size=9", "--seed", "1"]) as engine:
        yield engine


def points(engine, command):
    return sorted(engine.ask(command).lower().split())


def area(stones, size):
    """Black's points minus White's: stones, and empty regions that touch one colour alone. Nothing of azlab's rules is used."""
    neighbours = lambda cell: [  # noqa: E731
        (cell[0] + row, cell[1] + col)
        for row, col in ((0, 1), (0, -1), (1, 0), (-1, 0))
        if 0 <= cell[0] + row < size and 0 <= cell[1] + col < size
    ]
    total, seen = sum(stones.values()), set(stones)
    for start in ((row, col) for row in range(size) for col in range(size)):
        if start in seen:
            continue
        region, edge, waiting = {start}, set(), [start]
        while waiting:
            for cell in neighbours(waiting.pop()):
                if cell in stones:
                    edge.add(stones[cell])
                elif cell not in region:
                    region.add(cell)
                    waiting.append(cell)
        seen |= region
        total += len(region) * (edge.pop() if len(edge) == 1 else 0)
    return total


def compare(ours, gnugo, size):
    """Everything that both can be asked for; how many points GNU Go forbids although they are empty."""
    stones = {}
    for sign, colour in ((1, "black"), (-1, "white")):
        theirs = points(gnugo, f"list_stones {colour}")
        assert points(ours, f"list_stones {colour}") == theirs
        stones.update({divmod(gtp.action(point, size), size): sign for point in theirs})
        assert ours.ask(f"captures {colour}") == gnugo.ask(f"captures {colour}")
    forbidden = 0
    for colour in COLOURS:
        legal = points(gnugo, f"all_legal {colour}")
        assert points(ours, f"all_legal {colour}") == legal, gnugo.showboard()
        forbidden += size * size - len(stones) - len(legal)
    assert ours.final_score() == area(stones, size) - KOMI
    return forbidden


def begin(engine, size):
    engine.boardsize(size)
    engine.clear_board()
    engine.komi(KOMI)


@pytest.mark.slow
@pytest.mark.parametrize("size", BOARDS)
def test_games_against_gnu_go_agree_after_every_move(ours, gnugo, size, many):
    games, share = BOARDS[size]
    forbidden = captures = ended = 0
    for game in range(many(games)):
        begin(ours, size)
        begin(gnugo, size)
        gnugo.ask(f"set_random_seed {game + 1}")
        turn, passes, alone = 0, 0, int(share * size * size)
        longest = 3 * size * size if size < 19 or game else alone  # one long game takes a minute: only in the long version
        while passes < 2 and turn < longest:
            player, other = (ours, gnugo) if turn % 2 == game % 2 and turn < alone else (gnugo, ours)
            move = player.genmove(turn % 2)
            other.play(turn % 2, move)
            passes = passes + 1 if move == "pass" else 0
            turn += 1
            forbidden += compare(ours, gnugo, size)
        captures += sum(int(ours.ask(f"captures {colour}")) for colour in COLOURS)
        if passes == 2 and not gnugo.ask("final_status_list dead"):  # it mostly takes them off before it passes
            ended += 1
            assert ours.final_score() == gnugo.final_score()
    assert forbidden > 0 or size == 19
    assert (captures > 0 and ended > 0) or size == 19


@pytest.mark.slow
@pytest.mark.parametrize(("size", "moves"), [(5, 300), (9, 200), (19, 60)])
def test_random_moves_of_any_colour_agree(ours, gnugo, size, moves):
    """The same colour twice, passes, moves taken back and handicaps, as controllers send them."""
    rng = random.Random(size)
    begin(ours, size)
    begin(gnugo, size)
    if size > 5:
        assert points(ours, "fixed_handicap 4") == points(gnugo, "fixed_handicap 4")
    forbidden = undone = played = 0
    for _ in range(moves):
        seat = rng.randrange(2)
        legal = points(gnugo, f"all_legal {COLOURS[seat]}")
        if rng.random() < 0.1 and played:
            ours.undo()
            gnugo.undo()
            undone, played = undone + 1, played - 1
        else:
            move = rng.choice(legal) if legal and rng.random() < 0.98 else "pass"
            ours.play(seat, move)
            gnugo.play(seat, move)
            played += 1
        forbidden += compare(ours, gnugo, size)
    assert undone > 3 and (forbidden > 5 or size == 19)
