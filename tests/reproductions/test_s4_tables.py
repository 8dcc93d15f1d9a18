"""What follows from S4's printed tables: gates, chances, samples."""

import math

import pytest

from azlab.repro import claims
from azlab.repro.record import Recorder
from azlab_reproductions.s4_seega import tables


@pytest.fixture(scope="module")
def found():
    record = Recorder("s4_seega", "smoke")
    tables.tables(record)
    return record


def match(wins, accepted, iteration=1):
    return {"iteration": iteration, "samples": 1, "new_wins": wins, "old_wins": 70 - wins, "accepted": accepted}


def test_a_gate_is_kept_if_it_parts_the_accepted_from_the_others():
    matches = [match(38, 0), match(39, 1), match(45, 1), match(453, 0)]  # the last one cannot be read
    assert [least for least in range(71) if tables.follows(matches, least)] == [39]
    assert not any(tables.follows([match(40, 0), match(39, 1)], least) for least in range(71))


def test_the_chance_of_a_coin_is_exact():
    assert tables.at_least(0) == 1
    assert tables.at_least(70) == 0.5**70
    assert tables.at_least(36) + tables.at_least(35) == pytest.approx(1)  # 35 or fewer is as likely as 35 or more
    for wins in (39, 42):  # the normal distribution with continuity correction
        normal = math.erfc((wins - 0.5 - 35) / math.sqrt(70 / 4) / math.sqrt(2)) / 2
        assert tables.at_least(wins) == pytest.approx(normal, abs=2e-3)


def test_the_tables_are_those_of_the_source():
    """Sums and rows that the text has, and in every row all 70 games."""
    for name, rows, samples, accepted in ((tables.MOVING, 15, 1_639_451, 7), (tables.POSITIONING, 111, 266_400, 21)):
        found = tables.rows(name)
        assert (len(found), found[-1]["samples"], sum(row["accepted"] for row in found)) == (rows, samples, accepted)
        assert all(row["new_wins"] + row["old_wins"] == 70 for row in found)
    assert [row["iteration"] for row in tables.rows(tables.POSITIONING) if row not in tables.readable([row])] == [89]
    assert len(tables.rows(tables.SAMPLE)) == 15


def test_the_gates_as_anybody_can_count_them(found):
    values = {name: one["value"] for name, one in found.claims.items()}
    assert values["s4.moving.gate_kept"] and values["s4.positioning.gate_used"] and not values["s4.positioning.gate_kept"]
    assert "12 of the 21" in found.claims["s4.positioning.gate_kept"]["note"]
    assert found.kept["thresholds that give the table"] == {"moving": [42], "positioning": [39]}
    assert values["s4.actions.example"] == "down"  # 45 = 4 * 11 + 1
    assert values["s4.positioning.games"] == 11_000


def test_a_coin_explains_the_positioning_agent_and_not_the_moving_one(found):
    values = {name: one["value"] for name, one in found.claims.items()}
    assert values["s4.positioning.beyond_chance"] < 0 < 5 < values["s4.moving.beyond_chance"]
    assert values["s4.moving.better"] - found.claims["s4.moving.better"]["spread"] > 0
    assert values["s4.positioning.better"] < 0


def test_every_claim_of_the_experiment_is_recorded(found):
    wanted = {one.id for one in claims.load("s4_seega").claims if one.experiment == "tables" and not one.unchecked}
    assert set(found.claims) == wanted


def test_a_row_of_the_short_table_is_found_in_the_long_one():
    long = [match(35, 0, 1), match(40, 1, 2), match(35, 0, 3)]
    assert [tables.iteration_of(row, long) for row in (match(40, 1, 9), match(35, 0, 9), match(41, 1, 9))] == [2, 1, 0]
