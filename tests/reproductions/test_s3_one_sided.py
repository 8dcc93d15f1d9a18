"""The one-sided search against the logs of source S3's program, which print the visits and totals of every move."""

import numpy as np
import pytest

import azlab
from azlab.arena.agents import ready
from azlab.errors import AzlabError
from azlab_reproductions.s3_dots_and_boxes.one_sided import OneSidedSearch, one_sided, points_of

# The first game of 20 between the program's plain search (Blue) and its version 100, as its log has it.
GAME = "Cb bA Ac aA aB Cc cB bB Ab Aa aC Bc bD bC Bb Ba cC Bd aD Ca Cd cA Ad cD"


def searched(plies, playouts, seed=0, **settings):
    position = azlab.game("dots_and_boxes", rows=3, cols=3).from_moves(GAME.split()[:plies])
    search = OneSidedSearch(position, seed=seed, **settings)
    search.run(playouts)
    return search


def root_moves(search):
    """{move: (visits, total)} of the legal moves."""
    tree, name = search.tree, search.position.game.move_name
    nodes = range(tree.first[0], tree.first[0] + tree.children[0])
    return {name(int(tree.action[node])): (int(tree.visits[node]), float(tree.score[node])) for node in nodes}


def test_a_box_on_offer_gets_all_visits_but_the_first_of_each_move():
    """Log: 15 moves with 100 visits each, and Ab, which takes a box, with all others."""
    search = searched(8, 20_000)
    visits = {move: count for move, (count, _) in root_moves(search).items()}
    assert visits.pop("Ab") == 18_500 and set(visits.values()) == {100} and len(visits) == 15
    found = search.analysis()
    assert found.best_move == "Ab" == found.line[0] and found.simulations == 20_000 == found.visits.sum()


@pytest.mark.parametrize(("plies", "playouts", "best", "mean", "child_mean"), [
    (8, 1_756_200, "Ab", 12_239_195 / 1_756_200, 17_475_564 / 1_754_700),
    (10, 1_828_500, "aC", 14_581_141 / 1_828_500, 14_565_700 / 1_825_400),
    (17, 1_903_400, "Bd", 9_501_655 / 1_903_400, 15_202_400 / 1_902_800),
])  # fmt: skip
def test_totals_are_those_of_the_log(plies, playouts, best, mean, child_mean):
    """Means of a tree that has found its line: points of the winner, and 3 more where the move took a box."""
    search = searched(plies, playouts)
    visits, total = root_moves(search)[best]
    assert search.analysis().best_move == best and visits > 0.99 * playouts
    assert search.tree.score[0] / playouts == pytest.approx(mean, rel=0.01)
    assert total / visits == pytest.approx(child_mean, rel=0.01)


def test_a_lost_game_scores_nothing_and_any_move_will_do():
    """Log: 2,062,000 playouts at 3 boxes to 5, all totals 0, visits 687,300, 687,300 and 687,400."""
    search = searched(21, 2_062_000)
    moves = root_moves(search)
    assert sorted(moves.values()) == [(687_300, 0), (687_300, 0), (687_400, 0)]
    assert {search.analysis().best_move for _ in range(50)} == moves.keys()


def test_a_won_playout_counts_the_winners_points_and_the_bonus():
    """The last line takes the ninth box: Orange then has 6, as the log says. The root's own move is not there to get a bonus."""
    search = searched(23, 300)
    assert search.position.to_move == 1 and root_moves(search) == {"cD": (300, 300 * (6 + 3))}
    assert search.tree.score[0] == 300 * 6
    assert root_moves(searched(23, 300, bonus=0.5)) == {"cD": (300, 300 * 6.5)}


def test_the_opponent_is_taken_for_a_helper():
    """Blue, to move at 2 boxes to 3, wins only if Orange lets it; the playouts converge to such games, to the value of a win."""
    search = searched(17, 200_000)
    assert azlab.oracle(search.position.game).value(search.position) < 0
    assert search.analysis().value > 0.9


def test_a_step_adds_all_children_and_never_takes_the_last():
    """The program's off-by-one. As children never visited come first, the last one gets its turn in a later step."""
    taken = set()
    for seed in range(400):
        search = searched(0, 100, seed=seed)
        assert search.tree.size[0] == 25
        taken |= {move for move, (visits, _) in root_moves(search).items() if visits == 100}
    names = [search.position.game.move_name(action) for action in range(24)]
    assert taken == set(names[:-1])
    assert all(visits == 100 for visits, _ in root_moves(searched(0, 2400)).values())


def test_batches_are_whole_and_parts_add_up():
    assert searched(4, 50, batch=20).tree.visits[0] == 60
    whole, parts = searched(4, 3000), searched(4, 1000)
    for _ in range(2):
        parts.run(1000)
    size = whole.tree.size[0]
    assert size == parts.tree.size[0] and np.array_equal(whole.tree.score[:size], parts.tree.score[:size])


def test_points_of_games():
    assert points_of(azlab.game("dots_and_boxes", rows=2, cols=3)) == 6
    assert points_of(azlab.game("go", size=5, komi=6.5)) == pytest.approx(25)
    with pytest.raises(AzlabError, match="counts points, and connect4 has none"):
        points_of(azlab.game("connect4"))


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"playouts": 0}, "playouts"), ({"batch": 0}, "batch"), ({"c": -1}, "c must"), ({"bonus": "a"}, "bonus must")],
)
def test_settings_that_cannot_be(settings, says):
    with pytest.raises(AzlabError, match=says):
        one_sided(azlab.game("dots_and_boxes").start(), **settings)


def test_a_finished_game_has_no_move():
    with pytest.raises(AzlabError, match="is over"):
        one_sided(azlab.game("dots_and_boxes").from_moves(GAME))


def test_the_one_sided_search_plays_where_points_are_counted():
    agent = azlab.agent("onesided:3000,c=1,bonus=2,batch=50", seed=1)
    position = azlab.game("dots_and_boxes").from_moves("aA aB Aa")
    assert agent.name == "onesided:3000,c=1,bonus=2,batch=50" and agent.analyse(position).simulations == 3000
    assert position.game.move_name(agent.choose(position)) == "Ab"  # takes the box
    with pytest.raises(azlab.AzlabError, match="counts points, and connect4 has none"):
        ready(agent, azlab.game("connect4"))


def test_the_seed_makes_the_agent_repeatable():
    position = azlab.game("dots_and_boxes").start()
    one, same = azlab.agent("onesided:200", seed=3), azlab.agent("onesided:200", seed=3)
    assert [one.choose(position) for _ in range(5)] == [same.choose(position) for _ in range(5)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("onesided:0", "playouts must be a whole number from 1"),
        ("onesided:1s", "a whole number should follow the colon"),
        ("onesided:9,depth=1", "onesided has no setting 'depth'; it has playouts, c, bonus, batch"),
    ],
)
def test_a_wrong_name_gets_one_sentence(text, sentence):
    with pytest.raises(AzlabError, match=sentence):
        azlab.agent(text)
