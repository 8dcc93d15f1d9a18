"""Thoughts as other programs read them, from searches whose numbers are made up or can be counted by hand."""

import json

import numpy as np
import pytest

import azlab
from azlab.arena import gtp_reports as reports
from azlab.arena.agents import thinking
from azlab.search.analysis import Analysis

GAME = azlab.game("go", size=5, komi=0.5)


class Thought:
    """A search with given visits and values for Black."""

    def __init__(self, position, found):
        visits, values = np.zeros(26, np.int64), np.full(26, np.nan)
        for name, (count, value) in found.items():
            visits[GAME.action(name)], values[GAME.action(name)] = count, value
        legal = GAME.legal_mask(position.state)[0]
        proven = np.full(26, 2, np.int8)
        self.found = Analysis(position, visits, values, legal / legal.sum(), proven, 0.2, [], 2, 9, int(visits.sum()))

    def line(self, action):
        return [action, 0]


def test_rows_are_for_the_player_to_move_the_choice_first():
    thought = Thought(GAME.from_moves("c3"), {"b2": (100, -0.5), "d4": (25, 0.0), "pass": (1, 1.0)})
    first, second, third = reports.rows(thought, thought.found)
    assert first[:3] == ("B2", 100, 0.75) and second[:3] == ("D4", 25, 0.5) and third[:3] == ("pass", 1, 0.0)
    assert first.line == "B2 A5" and first.prior == pytest.approx(1 / 25)
    assert first.lcb == pytest.approx(0.75 - 1.96 * (0.75 * 0.25 / 100) ** 0.5)
    assert second.lcb == pytest.approx(0.5 - 1.96 * 0.1)
    assert len(reports.rows(thought, thought.found, 2)) == 2


def test_leela_zero_and_katago_have_all_moves_in_one_line():
    thought = Thought(GAME.from_moves("c3"), {"b2": (100, -0.5), "d4": (25, 0.0)})
    rows = reports.rows(thought, thought.found)
    assert reports.leela_zero(rows) == (
        "info move B2 visits 100 winrate 7500 prior 400 lcb 6651 order 0 pv B2 A5 "
        "info move D4 visits 25 winrate 5000 prior 400 lcb 3040 order 1 pv D4 A5"
    )
    assert reports.katago(rows[:1]) == (
        "info move B2 visits 100 utility 0.500000 winrate 0.750000 prior 0.040000 lcb 0.665130 order 0 pv B2 A5"
    )
    assert reports.katago_root(thought.found) == "rootInfo visits 125 utility -0.200000 winrate 0.400000"
    told = json.loads(reports.cgos(thought.found, rows))
    assert told["winrate"] == 0.4 and told["visits"] == 125
    assert told["moves"][0] == {"move": "B2", "winrate": 0.75, "prior": 0.04, "visits": 100, "pv": "B2 A5"}


def test_a_move_of_unknown_value_has_even_chances_and_is_told():
    mind = thinking(azlab.agent("random", 1), GAME.start())
    mind.step()
    (row,) = reports.rows(mind, mind.analysis())
    assert (row.visits, row.winrate) == (1, 0.5)


def test_winrates_stay_between_0_and_1_and_draws_count_half():
    assert [reports.winrate(value, 0) for value in (-1.0, 0.0, 1.0, 1.001)] == [0.0, 0.5, 1.0, 1.0]
    assert [reports.winrate(value, 1) for value in (-1.0, 0.5, -1.001)] == [1.0, 0.25, 1.0]


def test_tables_and_lines_for_gogui():
    assert reports.table(np.array([[0.5, 1], [0, -0.25]])) == "0.5000 1.0000\n0.0000 -0.2500"
    assert reports.per_point(np.arange(26.0), 5)[4, 4] == 24
    thought = Thought(GAME.from_moves("c3"), {"b2": (100, -0.5)})
    assert reports.principal_line(thought, thought.found) == "VAR w B2 b A5"


def test_ownership_of_a_board_that_is_divided_for_good():
    """Black's wall with two eyes and White's: whatever is played, these points stay theirs."""
    position = GAME.from_diagram(
        """
        .X.XO
        XXXXO
        XXXOO
        XXXO.
        XXXOO
        """
    )
    owners = reports.ownership(position, 50)
    assert owners.shape == (5, 5)
    assert (owners[:, :3] == 1).all() and owners[0, 3] == 1 and abs(owners).max() <= 1
    swapped = GAME.from_diagram("\n".join([".O.OX", "OOOOX", "OOOXX", "OOOX.", "OOOXX"]))
    assert (reports.ownership(swapped, 50)[:, :3] == -1).all()
