"""The board behind an engine: what controllers do that no game of ours allows."""

import pytest

import azlab
from azlab.arena.gtp_board import Board, Setup
from azlab.errors import AzlabError
from azlab.formats import sgf


def board(size=5, **options):
    return Board(azlab.game("go", size=size, **options))


def play(board, moves, seat=None):
    """Moves by name, in turn or all for one seat."""
    for k, name in enumerate(moves.split()):
        board.play(k % 2 if seat is None else seat, board.game.action(name))


def names(board, seat):
    return {board.game.move_name(cell) for cell in board.stones(seat)}


def test_one_colour_may_move_again_and_again():
    made = board()
    play(made, "a1 a2 b3", seat=1)
    play(made, "e5", seat=0)
    assert names(made, 1) == {"a1", "a2", "b3"} and names(made, 0) == {"e5"}
    assert made.position.to_move == 1 and made.for_seat(0).to_move == 0


def test_stones_taken_out_of_turn_are_counted():
    made = board()
    play(made, "a1", seat=0)
    play(made, "a2 b1", seat=1)
    assert made.prisoners == (0, 1) and names(made, 0) == set()
    made.undo()
    assert made.prisoners == (0, 0) and names(made, 0) == {"a1"}


def test_ko_binds_the_other_colour_only():
    made = board()
    play(made, "b2 c2 a3 d3 b4 c4 e5 b3 c3")  # Black c3 takes b3
    taken = made.game.action("b3")
    assert made.prisoners == (1, 0)
    assert taken not in made.legal(1) and taken in made.legal(0)
    with pytest.raises(AzlabError, match="illegal move"):
        made.play(1, taken)
    made.play(0, made.game.action("e1"))
    assert taken in made.legal(1)  # a move has been played in between


@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
def test_play_goes_on_after_two_passes_and_after_the_longest_game(ko):
    made = board(2, ko=ko, max_moves=6)
    play(made, "a1 pass pass")
    assert made.position.over
    play(made, "b2", seat=0)
    assert names(made, 0) == {"a1", "b2"} and not made.position.over
    for _ in range(10):
        made.play(1, 4)
    assert names(made, 0) == {"a1", "b2"}
    while made.played:
        made.undo()
    assert made.is_empty


def test_superko_remembers_across_moves_out_of_turn():
    made = board(3, ko="positional")
    play(made, "a1 b1 pass a2")  # White takes a1
    assert made.prisoners == (0, 1)
    assert made.game.action("a1") not in made.legal(0)  # suicide
    made = board(5, ko="positional")
    play(made, "b2 c2 a3 d3 b4 c4 e5 b3 c3")
    made.play(1, 25)
    made.play(0, 25)
    assert made.game.action("b3") not in made.legal(1)  # the same board would come back
    plain = board(5)
    play(plain, "b2 c2 a3 d3 b4 c4 e5 b3 c3 pass pass")
    assert plain.game.action("b3") in plain.legal(1)


def test_komi_and_ko_change_in_the_middle_of_a_game():
    made = board(5, komi=7)
    play(made, "c3 b2 d2")
    before = made.score()
    made.change(azlab.game("go", size=5, komi=0.5))
    assert made.score() == before + 6.5 and len(made.played) == 3 and made.for_seat(1).game.komi == 0.5
    made.change(azlab.game("go", size=5, ko="positional"))
    assert len(made.for_seat(1).actions) == 3


def test_rules_that_the_game_breaks_are_refused_and_nothing_changes():
    made = board(5)
    play(made, "b2 c2 a3 d3 b4 c4 e5 b3 c3 pass pass b3")  # White takes back: the board of move 8 again, but for Black's e5 ...
    again = [one.position.game.board(one.position.state).tobytes() for one in made.played]
    assert len(set(again)) < len(again) - 2  # ... and the two passes
    with pytest.raises(AzlabError, match="breaks these rules"):
        made.change(azlab.game("go", size=5, ko="positional"))
    assert made.game.ko == "simple" and len(made.played) == 12


def test_handicaps():
    made = board(9)
    assert made.handicap(2) == [made.game.action("c3"), made.game.action("g7")]
    assert made.position.to_move == 1 and made.setup.handicap == 2
    with pytest.raises(AzlabError, match="^board not empty$"):
        made.handicap(2)
    with pytest.raises(AzlabError, match="^cannot undo$"):
        made.undo()
    made.clear()
    for wrong in (-1, 0, 1, 10):
        with pytest.raises(AzlabError, match="^invalid number of stones$"):
            made.handicap(wrong)
    assert [board(size).most_handicap() for size in (5, 7, 8, 9, 19)] == [0, 4, 4, 9, 9]
    for wrong in ([], [3], [3, 3], [3, 81], list(range(81))):
        with pytest.raises(AzlabError, match="^bad vertex list$"):
            made.free_handicap(wrong)
    made.free_handicap([0, 5, 80])
    assert made.stones(0) == [0, 5, 80] and made.position.to_move == 1


def test_a_list_of_moves_is_played_whole_or_not_at_all():
    made = board()
    play(made, "c3")
    with pytest.raises(AzlabError):
        made.play_all([(1, 0), (1, 1), (0, 0)])
    assert len(made.played) == 1 and made.stones(1) == []


def test_records_read_back_as_the_same_game():
    made = board(9, komi=6.5)
    made.free_handicap([10, 20])
    play(made, "e5 c4 pass", seat=1)
    play(made, "d5", seat=0)
    record = sgf.main_line(sgf.write(made.record()))
    assert record == made.record() and record.handicap == 2 and len(record.moves) == 4
    again = board(9, komi=6.5)
    again.load(record, again.game)
    assert [one[:2] for one in again.played] == [one[:2] for one in made.played]
    assert (again.stones(0), again.stones(1)) == (made.stones(0), made.stones(1))
    again.load(record, again.game, before=3)
    assert len(again.played) == 2
    again.load(record, again.game, before=0)
    assert len(again.played) == 0 and again.stones(0) == [10, 20]


def test_a_record_with_an_illegal_move_is_refused_and_nothing_changes():
    made = board()
    play(made, "c3")
    with pytest.raises(AzlabError, match="^cannot load file: move 2 is not legal$"):
        made.load(sgf.SgfGame(5, moves=((0, 3), (1, 3))), made.game)
    assert names(made, 0) == {"c3"}


def test_a_set_up_without_liberties_is_refused_and_nothing_changes():
    made = board(2)
    play(made, "a1")
    with pytest.raises(AzlabError, match="no liberty"):
        made.clear(setup=Setup((0, 1, 2, 3)))
    assert names(made, 0) == {"a1"}
