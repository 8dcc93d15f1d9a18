"""S4's test board: what fixes it, what its moves take, and a second minimax in the ways that the text may mean."""

import numpy as np
import pytest

import azlab
from azlab.nets import keras_nets
from azlab.repro import claims
from azlab.repro.record import Recorder
from azlab.search import minimax
from azlab_reproductions.s4_seega import boards, parameters, reference
from azlab_reproductions.s4_seega.board import board

CELLS = [f"{row}{col}" for row in "ABCDE" for col in "12345"]
CHAINS = {"no chains": "none", "steps, optional": "optional", "steps, mandatory": "mandatory"}


# --- the board --------------------------------------------------------------------------------------------------------


def captures_fit(diagram):
    return all(list(boards.fits(boards.position(diagram)).values())[:-1])


def test_the_captures_fix_every_cell_but_five():
    """Another mark in any of the twenty cells contradicts the text, and in the five others none does."""
    board = boards.diagram()
    assert captures_fit(board)
    marks = board.replace("\n", "")
    for number, cell in enumerate(CELLS):
        for other in "XO.".replace(marks[number], ""):
            changed = marks[:number] + other + marks[number + 1 :]
            fits = captures_fit("\n".join(changed[k : k + 5] for k in range(0, 25, 5)))
            assert fits == (cell in boards.FREE), (cell, other)


def test_there_are_as_many_boards_as_ways_to_fill_five_cells():
    """Eleven black stones are fixed and twelve are allowed: none of five cells is black, or one."""
    found = boards.completions()
    assert found[0] == boards.diagram()
    assert len(set(found)) == len(found) == 2**5 + 5 * 2**4
    with_a5_white = [one for one in found if one.split("\n")[0][4] == "O"]
    assert len(with_a5_white) == 2**4 + 4 * 2**3


def test_the_other_board_has_the_listed_moves_and_not_the_captures_of_the_table():
    other = boards.fits(boards.position(boards.diagram("", boards.OTHER)))
    chosen = boards.fits(boards.position(boards.diagram()))
    assert [name for name, fits in other.items() if not fits] == ["B3-down takes 2"]
    assert [name for name, fits in chosen.items() if not fits] == ["and there is no other"]


def test_the_moves_of_the_text_take_what_it_says_and_another_takes_five():
    start = boards.position(boards.diagram())
    most = boards.most_captured(start)
    assert {move: most[move] for move in boards.FACTS} == {move: fact.stones for move, fact in boards.FACTS.items()}
    here = start
    for move in ("D3-down", "E3-up", "D3-up", "C3-left"):  # E2; D2 and D4; C2; B2
        assert here.to_move == 0
        here = here.play(move)
    assert start.scores[1] - here.scores[1] == 5 == most["D3-down"]
    assert here.to_move == 1


def test_a_side_that_is_passed_over_does_not_make_a_second_turn_part_of_the_first():
    blocked = azlab.game("seega").from_diagram("OX.XO\nX...X\n.....\n.....\n..X..")
    assert set(boards.most_captured(blocked).values()) == {0}


# --- the second minimax -----------------------------------------------------------------------------------------------


def some_positions(chain, count, seed):
    """Positions of random games, at the beginning of a turn."""
    game = azlab.game("seega", chain=chain, quiet_limit=300)
    rng = np.random.default_rng(seed)
    while count:
        position = game.start()
        for _ in range(int(rng.integers(24, 300))):
            if not position.over:
                position = position.play(int(rng.choice(position.legal_actions)))
        if not position.over and not position.state["placing"][0] and position.state["chain"][0] < 0:
            count -= 1
            yield position


@pytest.mark.parametrize("way", CHAINS)
def test_it_agrees_with_the_library_where_a_step_is_a_level(way):
    for position in some_positions(CHAINS[way], 12, 1):
        for depth in (1, 2, 3, 4):
            found = minimax(position, depth, prune=False, deepen=False)
            sign = 1 - 2 * position.to_move
            for move, worth in reference.move_values(position, depth, way).items():
                theirs = sign * found.values[position.game.action(move)]
                if abs(theirs) >= 1:
                    assert worth * theirs >= reference.WON
                else:
                    assert worth == pytest.approx(theirs * 24 / 0.9)


def turn_ends(position):
    """Every position that the player to move can leave at the end of the turn, by the rules of the library."""
    for move in position.legal_moves:
        after = position.play(move)
        if after.over or after.state["chain"][0] < 0:
            yield after
        else:
            yield from turn_ends(after)


def by_turns(position, depth):
    """Plain minimax for seat 0 with a whole turn as a level."""
    if position.over:
        return position.result * (reference.WON + depth)
    if depth == 0:
        return position.scores[0] - position.scores[1]
    best = max if position.to_move == 0 else min
    return best(by_turns(after, depth - 1) for after in turn_ends(position))


@pytest.mark.parametrize("chain", ["optional", "mandatory"])
def test_a_whole_turn_is_a_level(chain):
    chained = 0
    tests = [boards.position(one, chain=chain) for one in boards.completions()[::28]]
    for position in [*tests, *some_positions(chain, 6, 2)]:
        for depth in (1, 2):
            values = reference.move_values(position, depth, f"turns, {chain}")
            assert max(values.values()) == (1 - 2 * position.to_move) * by_turns(position, depth)
        chained += max(boards.most_captured(position).values()) > 1
    assert chained >= len(tests)


def test_ways_differ_on_the_test_board():
    start = boards.position(boards.diagram())
    assert reference.best_moves(start, 4, "turns, optional") == ["D3-down"]  # it takes five at once
    assert "D3-down" not in reference.best_moves(start, 2, "no chains")  # D3-up and others take one and lose none


# --- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_parameters_are_counted_as_keras_counts_them():
    shape = parameters.Shape(4, 2, (False, False), (True, True))
    assert shape.counts(101)[1024, 512] == keras_nets.seega_net().count_params() == parameters.MOVING
    found = parameters.search(parameters.MOVING, 101)["same"]
    assert [one["hidden"] for one in found] == [[1024, 512]]


def test_with_26_outputs_no_number_is_odd():
    assert parameters.search(parameters.POSITIONING, 26)["odd"] == 0
    assert parameters.POSITIONING % 2 == 1


@pytest.mark.slow
def test_the_experiment_records_every_claim_of_its_own():
    record = Recorder("s4_seega", "laptop")
    board(record, boards=2, repeats=1)
    wanted = {one.id for one in claims.load("s4_seega").claims if one.experiment == "board" and not one.unchecked}
    assert set(record.claims) == wanted
    assert record.kept["table 5.4"]["boards"] == 2
