"""Perfect Seega: against trying everything by the rules, with the limit on quiet moves and without, and what it says to bad
input."""

import itertools

import numpy as np
import pytest

import azlab
from azlab import AzlabError
from azlab.games.count import children, distinct, exact_value, solve
from azlab.games.seega import begin_turn
from azlab.oracles import oracle, seega_make
from azlab.oracles.seega_make import make_tables

VARIANTS = [
    {"chain": chain, "blocked": blocked, "least_stones": least, "safe_centre": safe}
    for chain, blocked, least, safe in itertools.product(
        ("optional", "mandatory", "none"), ("skip", "pass"), (1, 2), (False, True)
    )
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables that the tests of this file share."""
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def perfect(folder):
    return oracle("seega", folder=folder)


def boards_of(game, own, other, to_move=0):
    """All positions of the moving phase with so many stones of either side in which that seat can move."""
    cells = range(game.cells)
    found = []
    for mine in itertools.combinations(cells, own):
        rest = [cell for cell in cells if cell not in mine]
        found += [(mine, others) for others in itertools.combinations(rest, other)]
    states = game.new_states(len(found))
    flat = states["board"].reshape(len(found), -1)
    rows = np.arange(len(found))[:, None]
    flat[rows, np.array([mine for mine, _ in found])] = to_move
    flat[rows, np.array([others for _, others in found])] = 1 - to_move
    return begun(states, to_move)


def random_boards(game, count, stones, seed):
    """Random positions of the moving phase with so many stones, at least the least number of each side."""
    rng = np.random.default_rng(seed)
    states = game.new_states(count)
    flat = states["board"].reshape(count, -1)
    least = game.options["least_stones"]
    for i in range(count):
        own = rng.integers(least, stones - least + 1)
        cells = rng.permutation(game.cells)[:stones]
        flat[i, cells[:own]], flat[i, cells[own:]] = 0, 1
    return begun(states, 0)


def begun(states, seat):
    """Give the turn to `seat` in states whose boards are set; with blocked="skip" the other one has it where that one cannot
    move."""
    states["placing"] = False
    states["stones"] = np.stack([(states["board"] == who).sum(axis=(1, 2)) for who in (0, 1)], axis=1)
    for i in range(len(states)):
        begin_turn(states[i], seat)
    return states


def with_quiet(states, rng):
    """The same with a random number of quiet moves played, below the limit."""
    states["quiet"] = states["moves"] = rng.integers(0, states["quiet_limit"].max(), len(states))
    return states


def graph(game, states):
    """`states` and all that can follow from them without a limit, counters left out: the states, and of every move the state
    before, the one after it, and whether it took nothing."""

    def plain(states):
        states["quiet_limit"] = states["move_limit"] = states["quiet"] = states["moves"] = states["ply"] = 0
        return distinct(states)[0]

    found = [plain(states.copy())]
    seen = {state.tobytes() for state in found[0]}
    while len(found[-1]):
        after = plain(children(game, found[-1])[0])
        found.append(after[[state.tobytes() not in seen for state in after]])
        seen.update(state.tobytes() for state in found[-1])
    nodes = np.concatenate(found)
    number = {state.tobytes(): i for i, state in enumerate(nodes)}
    after, before = children(game, nodes)
    is_quiet = after["quiet"] > 0
    after["quiet"] = after["moves"] = after["ply"] = 0
    return nodes, before, np.array([number[state.tobytes()] for state in after]), is_quiet


def best_of(nodes, before, values):
    """The best of `values` after each move for whoever moves, for every node that has a move: float64, NaN where none has."""
    best = np.where(nodes["to_move"] == 0, -9.0, 9.0)
    first = nodes["to_move"][before] == 0
    np.maximum.at(best, before[first], values[first])
    np.minimum.at(best, before[~first], values[~first])
    return np.where(abs(best) == 9, np.nan, best)


def endless_values(game, states):
    """All nodes of `graph` and their results for seat 0: every one begins as a draw, and better results are carried back until
    nothing changes."""
    nodes, before, after, _ = graph(game, states)
    values = nodes["result"].astype(np.float64)
    while True:
        better = np.where(nodes["over"], values, best_of(nodes, before, values[after]))
        if (better == values).all():
            return nodes, values
        values = better


def limited_values(game, states, limit):
    """All nodes of `graph` that are not within a chain, and their results with 0, 1, ..., `limit` quiet moves left, [limit + 1,
    N].

    Few stones come first: what takes a stone leads to the full number of quiet moves with fewer stones.
    """
    nodes, before, after, is_quiet = graph(game, states)
    values = np.full((limit + 1, len(nodes)), np.nan)
    total = nodes["stones"].sum(axis=1)
    values[:, nodes["over"]] = nodes["result"][nodes["over"]]
    for stones in np.unique(total):
        for chained in (False, True):
            here = (total == stones) & ~nodes["over"] & ((nodes["chain"] >= 0) == chained)
            moves = np.flatnonzero(here[before])
            values[0, here] = np.sign(np.subtract(*nodes["stones"][here].T.astype(np.int64)))
            for left in range(1, limit + 1):
                worth = np.where(is_quiet[moves], values[left - 1, after[moves]], values[limit, after[moves]])
                values[left, here] = best_of(nodes, before[moves], worth)[here]
    is_plain = ~nodes["over"] & (nodes["chain"] < 0)
    return nodes[is_plain], values[:, is_plain]


# --- against the rules ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", VARIANTS, ids=lambda rules: "-".join(map(str, rules.values())))
def test_all_of_3x3_agrees_with_trying_everything(rules, folder):
    """Every position that a whole game can come to, placing and chains of captures included."""
    for placement, limit in ((1, 1), (2, 3)):
        game = azlab.game("seega", size=3, quiet_limit=limit, placement=placement, **rules)
        judge = oracle(game, folder=folder)
        for states, values in solve(game, game.new_states(1)):
            assert (judge.values(states) == np.sign(values)).all()


def agree(game, judge, nodes, values):
    """Whether the oracle gives these values for every number of quiet moves left; how many are there of each result."""
    limit = len(values) - 1
    states = np.repeat(nodes, limit)
    states["quiet_limit"] = limit
    states["quiet"] = states["moves"] = np.tile(np.arange(limit), len(nodes))
    known = values[limit:0:-1].T.ravel()
    return (judge.values(states) == known).all(), {result: int((known == result).sum()) for result in (-1, 0, 1)}


@pytest.mark.parametrize("rules", VARIANTS[::5], ids=lambda rules: "-".join(map(str, rules.values())))
def test_all_boards_of_3x3_agree_with_the_rules_for_every_number_of_quiet_moves_left(rules, folder):
    game = azlab.game("seega", size=3, **rules)
    classes = [kind for kind in itertools.product(range(rules["least_stones"], 5), repeat=2)]
    nodes, values = limited_values(
        game, np.concatenate([boards_of(game, *kind, seat) for kind in classes for seat in (0, 1)]), 20
    )
    is_same, counts = agree(game, oracle(game, folder=folder), nodes, values)
    assert is_same and min(counts.values()) > 1000


@pytest.mark.slow
@pytest.mark.parametrize("rules", [{}, {"least_stones": 1, "blocked": "pass", "chain": "mandatory"}], ids=str)
def test_few_stones_on_5x5_agree_with_the_rules_for_every_number_of_quiet_moves_left(rules, folder):
    game = azlab.game("seega", **rules)
    nodes, values = limited_values(game, boards_of(game, 2, 2), 20)
    is_same, counts = agree(game, oracle(game, folder=folder, stones=4), nodes, values)
    assert is_same and min(counts.values()) > 1000 and len(nodes) > 150_000


@pytest.mark.parametrize("rules", VARIANTS[::5], ids=lambda rules: "-".join(map(str, rules.values())))
def test_endless_play_on_3x3_agrees_with_values_carried_back_until_nothing_changes(rules, folder):
    game = azlab.game("seega", size=3, **rules)
    states = np.concatenate([boards_of(game, own, other, seat) for own, other in ((4, 4), (3, 4)) for seat in (0, 1)])
    nodes, values = endless_values(game, states)
    assert (oracle(game, endless=True, folder=folder).values(nodes) == values).all()
    assert {*values.tolist()} == {-1, 0, 1} and len(nodes) > 2000


@pytest.mark.slow
@pytest.mark.parametrize("rules", [{}, {"least_stones": 1, "safe_centre": True, "chain": "mandatory"}], ids=str)
def test_endless_play_on_5x5_agrees_with_values_carried_back_until_nothing_changes(rules, folder):
    game = azlab.game("seega", **rules)
    nodes, values = endless_values(game, boards_of(game, 2, 2))
    assert (oracle(game, endless=True, folder=folder, stones=4).values(nodes) == values).all()
    assert {*values.tolist()} == {-1, 0, 1} and len(nodes) > 150_000


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_few_stones_on_5x5_agree_with_minimax_to_the_end(limit, folder):
    rng = np.random.default_rng(limit)
    for rules in ({}, {"chain": "mandatory", "blocked": "pass", "least_stones": 1}):
        game = azlab.game("seega", quiet_limit=limit, **rules)
        judge = oracle(game, folder=folder, stones=5)
        states = with_quiet(random_boards(game, 40, 5, seed=limit), rng)
        assert (judge.values(states) == np.sign(exact_value(game, states))).all()


def test_with_two_stones_each_the_usual_limit_agrees_with_minimax_to_the_end(perfect):
    """Any capture ends the game there, so that even several quiet moves can be tried through."""
    states = random_boards(perfect.game, 30, 4, seed=1)
    states["quiet"] = states["moves"] = 20 - np.arange(30) % 6 - 1
    assert (perfect.values(states) == np.sign(exact_value(perfect.game, states))).all()


@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("rules", [{}, {"chain": "mandatory", "blocked": "pass", "safe_centre": True}], ids=str)
def test_every_value_is_the_best_of_what_the_moves_lead_to(rules, endless, folder):
    game = azlab.game("seega", **rules)
    judge = oracle(game, endless=endless, folder=folder)
    rng = np.random.default_rng(2)
    states = with_quiet(np.concatenate([random_boards(game, 400, stones, stones) for stones in (4, 5, 6)]), rng)
    scores, values = judge.action_scores(states), judge.values(states)
    assert (np.isnan(scores) == ~game.legal_mask(states)).all()
    signed = 1 - 2 * states["to_move"].astype(np.int64)
    assert (np.nanmax(scores * signed[:, None], axis=1) * signed == values).all()
    assert {*values.tolist()} == {-1.0, 0.0, 1.0}


def test_a_position_is_worth_the_same_under_every_symmetry_and_the_opposite_with_colours_swapped(perfect):
    game = perfect.game
    states = with_quiet(random_boards(game, 300, 6, seed=3), np.random.default_rng(3))
    values = perfect.values(states)
    for symmetry in game.symmetries:
        turned = states.copy()
        turned["board"].reshape(len(states), -1)[:, symmetry.cells] = states["board"].reshape(len(states), -1)
        assert (perfect.values(turned) == values).all()
    swapped = states.copy()
    swapped["board"] = np.where(states["board"] >= 0, 1 - states["board"], states["board"])
    swapped["stones"], swapped["to_move"] = states["stones"][:, ::-1], 1 - states["to_move"]
    assert (perfect.values(swapped) == -values).all()
    assert (values != 0).sum() > 50


def test_what_is_won_with_many_quiet_moves_left_may_be_drawn_with_few(perfect):
    """One more quiet move never takes a forced result away; the table's depth says when it comes."""
    states = random_boards(perfect.game, 500, 6, seed=5)
    states = states[states["stones"][:, 0] == states["stones"][:, 1]]
    by_quiet = []
    for quiet in range(19, -1, -1):
        states["quiet"] = states["moves"] = quiet
        by_quiet.append(perfect.values(states))
    changes = np.diff(np.array(by_quiet), axis=0)
    assert ((changes != 0).sum(axis=0) <= 1).all()
    assert (changes != 0).any(axis=0).sum() > 5


def test_perfect_players_reach_the_value(perfect):
    rng = np.random.default_rng(4)
    for state in random_boards(perfect.game, 12, 6, seed=4):
        position = perfect.game.position(state.reshape(1))
        value = perfect.result(position)
        while not position.over:
            position = position.play(str(rng.choice(perfect.best_moves(position))))
        assert position.result == value


# --- what it says ---------------------------------------------------------------------------------------------------


def test_a_capture_that_leaves_one_stone_wins(perfect):
    position = perfect.game.from_diagram("XO.X.\n.....\n.....\n.....\nO....")
    assert perfect.value(position) == 1 and perfect.best_moves(position) == ["A4-left"]
    assert perfect.value(position.play("A4-left")) == 1 and perfect.value(position.play("A1-down")) < 1


def test_a_position_in_the_middle_of_a_chain_is_judged_by_its_ends(perfect):
    position = perfect.game.from_diagram("...X.\nXO...\nXO...\n.....\n....O").play("A4-left").play("E5-up")
    position = position.play("A3-down")
    assert set(position.legal_moves) == {"B3-down", "stop"} and perfect.value(position) == 1
    assert perfect.scores(position)["B3-down"] == 1
    assert perfect.knows(position.state).tolist() == [True]


@pytest.mark.slow
def test_a_chain_that_had_better_be_stopped_counts_as_stopped(tmp_path):
    game = azlab.game("seega")
    make_tables(7, tmp_path, game=game)
    judge = oracle(game, folder=tmp_path, stones=7)
    position = game.from_diagram("OX.OX\n.OO..\n.X...\n.....\n.....")
    ends = judge.scores(position.play("A2-right"))
    assert ends["stop"] > max(score for move, score in ends.items() if move != "stop")
    assert judge.best_moves(position) == ["A2-right"] and judge.value(position) == ends["stop"]


def test_a_position_outside_the_tables_says_how_many_stones_they_know(perfect):
    full = perfect.game.from_diagram("XOXOX\nOXOXO\nX...O\n.....\n.....")
    assert perfect.knows(full.state).tolist() == [False]
    for ask in (perfect.value, perfect.scores, perfect.best_moves):
        with pytest.raises(
            AzlabError, match="^This position has 12 stones, and the tables of Seega here know up to 6: `azlab data make"
        ):
            ask(full)
        with pytest.raises(AzlabError, match="is known when stones move, not while they are placed"):
            ask(perfect.game.start())
    crowd = perfect.game.from_diagram("XXXXX\nXXXXX\nXXX..\n.....\n...OO")
    with pytest.raises(AzlabError, match="^One side has 13 stones, and the tables know up to 12 of each"):
        oracle("seega", folder=perfect.tables.folder.parent, stones=6).value(crowd)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"size": 7}, "Perfect play of Seega is known on 3x3 and 5x5, not on 7x7."),
        ({"move_limit": 50}, "know a limit on quiet moves but none on all moves"),
        ({"rules": "bodogemu"}, "know chains of captures by one stone, not an extra move with any stone"),
        ({"stones": 9}, "for these rules are not made yet: make them with `azlab data make seega stones=9`."),
        ({"stones": 25}, "stones must be a whole number from 4 to 24, not 25."),
        ({"stones": 3}, "stones must be a whole number from 4 to 24, not 3."),
        ({"stones": 1, "size": 3}, "stones must be a whole number from 4 to 8, not 1."),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_sentence(options, sentence, tmp_path):
    with pytest.raises(AzlabError, match=sentence) as caught:
        oracle("seega", folder=tmp_path, **options)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_without_a_home_a_folder_has_to_be_named(monkeypatch):
    monkeypatch.setattr(seega_make, "user_cache", lambda: None)
    with pytest.raises(AzlabError, match="name a folder"):
        oracle("seega")


def test_finished_games_and_no_games_at_all_are_no_trouble(perfect):
    game = perfect.game
    over = game.from_diagram("XO.X.\n.....\n.....\n.....\nO....").play("A4-left")
    assert perfect.value(over) == 1 and np.isnan(perfect.action_scores(over.state)).all()
    assert perfect.values(game.new_states(0)).shape == (0,) and perfect.action_scores(game.new_states(0)).shape == (0, 126)


def test_tables_are_made_once_and_found_again(tmp_path):
    game = azlab.game("seega", size=3, quiet_limit=2)
    reports = []
    judge = oracle(game, folder=tmp_path, progress=lambda done, total: reports.append((done, total)))
    assert not reports  # not before they are needed
    value = judge.value(game.start())
    assert reports and reports[-1][0] == reports[-1][1] and [done for done, _ in reports] == sorted(done for done, _ in reports)
    count = len(reports)
    assert oracle(game, folder=tmp_path, progress=reports.append).value(game.start()) == value and len(reports) == count
