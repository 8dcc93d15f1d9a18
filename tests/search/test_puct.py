"""The batched PUCT search against the slow reference, and each of its switches."""

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.search import SearchConfig, Searcher, puct
from azlab.search import tree as trees
from azlab.search.evaluators import CachedEvaluator, OracleEvaluator, PlayoutEvaluator, UniformEvaluator
from azlab.search.puct import halving_schedule, kl_divergence

GAMES = [
    azlab.game("tictactoe").from_moves("a1 b2"),
    azlab.game("connect4").from_moves("4453"),
    azlab.game("dots_and_boxes", rows=2, cols=2).from_moves("aA aB Aa"),  # an extra turn is near
    azlab.game("go", size=3, komi=0.5),
    azlab.game("seega"),
]
POSITIONS = [g if hasattr(g, "play") else g.start() for g in GAMES]
CONFIGS = {
    "AlphaZero": SearchConfig(simulations=120),
    "constant cpuct": SearchConfig(simulations=120, cpuct=2.5, cpuct_base=0),
    "absolute first-play urgency": SearchConfig(simulations=120, fpu=0.4),
    "relative first-play urgency": SearchConfig(simulations=120, fpu=0.2, fpu_relative=True),
    "draws liked": SearchConfig(simulations=120, draw_value=0.5),
    "source S5": SearchConfig(simulations=120, cpuct=1.545, cpuct_base=0, fpu=0.8545, draw_value=0.6913, unit_values=True),
    "values at the root alone": SearchConfig(simulations=120, root_values_only=True),
    "walks to the end": SearchConfig(simulations=20, to_the_end=True),
    "source S3": SearchConfig(simulations=20, cpuct=1, cpuct_base=0, to_the_end=True, root_values_only=True),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("position", POSITIONS, ids=lambda p: p.game.name)
def test_the_fast_search_visits_the_same_nodes_as_the_slow_one(position, config, plain_puct, hash_evaluator):
    root = plain_puct.search(position, hash_evaluator(), config)
    search = Searcher(position.game, 1, hash_evaluator(), config)
    search.start(position.state)
    search.run()
    compare(root, search.tree, 0)


def compare(node, tree, index):
    """The plain node and node `index` of the fast tree agree, and so do all nodes below."""
    assert tree.visits[0, index] == node.visits
    assert tree.value_sum[0, index] == pytest.approx(node.value_sum, abs=1e-9)
    assert tree.draw_sum[0, index] == pytest.approx(node.draw_sum, abs=1e-9)
    assert tree.to_move[0, index] == node.position.to_move and tree.over[0, index] == node.position.over
    assert tree.state[0, index].tobytes() == node.position.state.tobytes()
    children = tree.children[0, index]
    assert {a: c for a, c in enumerate(children) if c >= 0}.keys() == node.children.keys()
    assert np.flatnonzero(children != trees.ILLEGAL).tolist() == node.position.legal_actions
    for action, child in node.children.items():
        compare(child, tree, children[action])


def test_a_batch_of_games_gives_what_each_game_gives_alone(hash_evaluator):
    game, config = azlab.game("connect4"), SearchConfig(simulations=60)
    positions = [game.from_moves(moves) for moves in ("4", "44", "1234567", "3344", "777")]
    together = puct(positions, hash_evaluator(), config)
    for position, found in zip(positions, together, strict=True):
        alone = puct(position, hash_evaluator(), config)
        assert (alone.visits == found.visits).all() and alone.line == found.line
    states = np.concatenate([position.state for position in positions])
    again = puct(states, hash_evaluator(), config, game=game)
    assert [(a.visits == b.visits).all() for a, b in zip(again, together, strict=True)] == [True] * 5


def test_the_wrong_sign_of_source_s3_can_be_switched_on(hash_evaluator):
    """Orange can take a box and move again; with the sign flipped at every ply its next move looks like Blue's."""
    position = azlab.game("dots_and_boxes", rows=2, cols=2).from_moves("aA aB Aa")
    config = SearchConfig(simulations=300)
    found = {}
    for flip in (False, True):
        search = Searcher(position.game, 1, hash_evaluator(), config, flip_every_ply=flip)
        search.start(position.state)
        search.run()
        found[flip] = search
    right, wrong = (found[flip].tree for flip in (False, True))
    child = right.children[0, 0, position.game.action("Ab")]  # completes the box: the same player moves on
    assert right.to_move[0, child] == position.to_move
    assert wrong.to_move[0, wrong.children[0, 0, position.game.action("Ab")]] == 1 - position.to_move
    assert not np.array_equal(found[False].root_visits(0), found[True].root_visits(0))


class OneMove:
    """Expects the first legal move with certainty."""

    def evaluate(self, states, legal):
        priors = np.zeros(legal.shape, np.float32)
        priors[np.arange(len(legal)), legal.argmax(axis=1)] = 1
        return priors, np.zeros(len(states), np.float32)


def walked(position, evaluator, walks=100, flip_every_ply=False, **settings):
    """A search as source S3's program makes it."""
    config = SearchConfig(walks, cpuct=1.0, cpuct_base=0.0, to_the_end=True, root_values_only=True, **settings)
    search = Searcher(position.game, 1, evaluator, config, flip_every_ply=flip_every_ply)
    search.start(position.state)
    search.run()
    return search


def test_walks_to_the_end_visit_as_often_as_the_program_of_source_s3_prints():
    """From its logs: 2,325 visits for 100 walks with even priors, 121 at ply 3 with a prior of 1, 101 and 100 with a line left.

    Walks with even priors: the first 24 begin with the 24 lines and add 24 nodes each, the other 76 add 23 each below known
    first moves: 1 + 24 * 24 + 76 * 23. With a prior of 1: one walk of 21 nodes, then 99 along it to its known end.
    """
    game = azlab.game("dots_and_boxes", rows=3, cols=3)
    search = walked(game.start(), UniformEvaluator())
    assert search.tree.visits[0, 0] == 2325 and search.done[0] == 100
    assert walked(game.start().play(0).play(4).play(20), OneMove()).tree.visits[0, 0] == 121
    position = game.start()
    while len(position.legal_actions) > 1:
        position = position.play(position.legal_actions[0])
    search = walked(position, UniformEvaluator())
    assert search.tree.visits[0, 0] == 101 and search.root_visits(0).max() == 100


def test_walks_without_python_equal_those_with_it():
    """`UniformEvaluator` has a kernel, so its search runs compiled; a plain copy of it does not."""

    class Plain:
        def evaluate(self, states, legal):
            return UniformEvaluator().evaluate(states, legal)

    game = azlab.game("dots_and_boxes", rows=2, cols=2)
    assert UniformEvaluator().native is not None
    native, plain = (walked(game.start(), evaluator, 200).tree for evaluator in (UniformEvaluator(), Plain()))
    assert native.size[0] == plain.size[0]
    for one, other in zip(native, plain, strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def test_without_values_below_the_root_no_sign_matters(hash_evaluator):
    """The mistake and the right sign of source S3 make the same visits everywhere if values go to the root alone."""
    position = azlab.game("dots_and_boxes", rows=3, cols=3).from_moves("aA aB Aa")  # boxes and extra turns are near
    right, wrong = (walked(position, hash_evaluator(), flip_every_ply=flip).tree for flip in (False, True))
    size = right.size[0]
    assert not np.array_equal(right.to_move[0, :size], wrong.to_move[0, :size])
    assert right.value_sum[0, 0] != wrong.value_sum[0, 0] and not right.value_sum[0, 1:size].any()
    assert size == wrong.size[0] and np.array_equal(right.visits[0, :size], wrong.visits[0, :size])
    assert np.array_equal(right.action[0, :size], wrong.action[0, :size])


def test_a_walking_search_keeps_the_tree_below_its_move(hash_evaluator):
    game = azlab.game("dots_and_boxes", rows=2, cols=2)
    config = SearchConfig(30, to_the_end=True, reuse_tree=True)
    search = Searcher(game, 2, hash_evaluator(), config)
    search.start(game.new_states(2))
    search.run()
    best = np.array([search.choose(g, 0) for g in range(2)])
    kept = search.root_visits(0)[best[0]]
    search.advance(best)
    assert search.tree.visits[0, 0] == kept > 30
    search.run()
    assert (search.done == 30).all() and broken_nodes(search.tree) == []


def test_ties_are_broken_at_random_if_wanted():
    game = azlab.game("dots_and_boxes", rows=1, cols=1)
    chosen = {}
    for random_ties in (False, True):
        search = Searcher(game, 1, UniformEvaluator(), SearchConfig(4, random_ties=random_ties))  # each of the 4 lines once
        search.start(game.new_states(1))
        search.run()
        assert search.root_visits(0).tolist() == [1, 1, 1, 1]
        chosen[random_ties] = [search.choose(0, 0) for _ in range(100)]
    assert set(chosen[False]) == {0} and set(chosen[True]) == {0, 1, 2, 3}


def test_before_a_ply_visits_are_drawn_and_not_searched():
    """3/4 of the prior, all on the first legal move, and 1/4 shared by all; later plies are searched."""
    game = azlab.game("dots_and_boxes", rows=3, cols=3)
    config = SearchConfig(20_000, drawn_plies=4, temperature=((0, 1.0),))
    search = Searcher(game, 2, OneMove(), config, seed=3)
    early, late = game.from_moves("aA aD Ca"), game.from_moves("aA aD Ca Cd")
    search.start(np.concatenate([early.state, late.state]))
    search.run()
    drawn = search.root_visits(0) / 20_000
    legal = early.legal_actions
    expected = np.zeros(24)
    expected[legal] = 0.25 / len(legal)
    expected[legal[0]] += 0.75
    assert drawn.sum() == 1 and drawn == pytest.approx(expected, abs=5 * np.sqrt(0.25 / 20_000))
    assert search.tree.size.tolist()[0] == 1 and search.tree.size[1] > 20
    assert {search.choose(0, 3) for _ in range(20)} == {legal[0]}  # whatever the temperature
    analysis = search.analysis(0, early)
    assert np.array_equal(analysis.visits, search.root_visits(0)) and analysis.best_action == legal[0]
    assert (search.done == 20_000).all()


@pytest.mark.parametrize(
    "settings",
    [
        {"to_the_end": True, "gumbel": 4},
        {"to_the_end": True, "leaves": 2},
        {"to_the_end": True, "solve": True},
        {"to_the_end": True, "forced_playouts": 2.0},
        {"root_values_only": True, "solve": True},
        {"root_values_only": True, "fpu_relative": True},
        {"root_values_only": True, "reuse_tree": True},
        {"random_ties": True, "gumbel": 4},
        {"drawn_plies": 2, "gumbel": 4},
    ],
)
def test_settings_that_make_no_sense_together_are_refused(settings):
    switch, other = settings
    with pytest.raises(AzlabError, match=f"With {switch}, .*: leave out `{other}`"):
        SearchConfig(**settings)


def test_virtual_losses_are_taken_back(hash_evaluator):
    position = azlab.game("connect4").start()
    search = Searcher(position.game, 1, hash_evaluator(), SearchConfig(simulations=500, leaves=16))
    search.start(position.state)
    search.run()
    tree, size = search.tree, search.tree.size[0]
    assert search.done[0] == 500 and tree.visits[0, 0] == 501
    for node in range(size):
        children = [c for c in tree.children[0, node] if c >= 0]
        own = 0 if tree.over[0, node] else 1
        if children:
            assert tree.visits[0, node] == own + tree.visits[0, children].sum()
            total = tree.own_value[0, node] + tree.value_sum[0, children].sum()
            assert tree.value_sum[0, node] == pytest.approx(total, abs=1e-4)


def broken_nodes(tree, g=0):
    """Nodes whose visits are not one plus those of their children."""
    found = []
    for node in range(tree.size[g]):
        children = [c for c in tree.children[g, node] if c >= 0]
        if children and tree.visits[g, node] != 1 + tree.visits[g, children].sum():
            found.append(node)
    return found


@pytest.mark.parametrize("settings", [{}, {"leaves": 8}, {"reuse_tree": True}, {"solve": True}, {"gumbel": 4}])
def test_a_searcher_used_again_is_as_good_as_new(settings, hash_evaluator):
    game = azlab.game("connect4")
    config = SearchConfig(simulations=90, **settings)
    used = Searcher(game, 2, hash_evaluator(), config, seed=1)
    used.start(np.concatenate([game.from_moves("4").state, game.from_moves("1111").state]))
    used.run()
    for moves in ("445566", "3", "1212"):
        fresh = Searcher(game, 2, hash_evaluator(), config, seed=7)
        used.rng = np.random.default_rng(7)
        for search in (used, fresh):
            search.start(np.repeat(game.from_moves(moves).state, 2))
            search.run()
        for g in range(2):
            assert used.root_visits(g).tolist() == fresh.root_visits(g).tolist() and not broken_nodes(used.tree, g)


def test_every_search_of_a_game_keeps_its_books(hash_evaluator):
    for reuse in (False, True):
        game = azlab.game("dots_and_boxes", rows=2, cols=2)
        search = Searcher(game, 1, hash_evaluator(), SearchConfig(simulations=80, reuse_tree=reuse))
        search.start(game.new_states(1))
        for _ in range(9):
            search.run()
            assert not broken_nodes(search.tree)
            search.advance(np.array([search.choose(0, 0)]))


def test_some_games_of_a_batch_can_go_on_while_another_begins_anew(hash_evaluator):
    game = azlab.game("tictactoe")
    search = Searcher(game, 3, hash_evaluator(), SearchConfig(simulations=40, reuse_tree=True))
    search.start(game.new_states(3))
    search.run()
    search.advance(np.array([4, 0]), games=np.array([0, 2]))
    search.start(game.from_moves("a1 b1").state, np.array([1]))
    search.run()
    assert search.root_states()["ply"].tolist() == [1, 2, 1] and (search.done == 40).all()


@pytest.mark.parametrize("settings", [{}, {"leaves": 4}, {"gumbel": 4}, {"solve": True}, {"kl_threshold": 1e-3}, {"noise": 0.25}])
def test_a_native_evaluator_gives_the_same_search_as_one_called_from_python(settings):
    class Plain:
        evaluate = UniformEvaluator.evaluate

    game = azlab.game("connect4")
    positions = [game.from_moves(moves) for moves in ("4", "445566", "1234567")]
    config = SearchConfig(simulations=150, **settings)
    native, plain = (puct(positions, evaluator, config, seed=3) for evaluator in (UniformEvaluator(), Plain()))
    for one, other in zip(native, plain, strict=True):
        assert one.visits.tolist() == other.visits.tolist() and one.value == pytest.approx(other.value)


def test_native_playouts_have_the_right_mean():
    game = azlab.game("connect4")
    found = puct([game.start()] * 300, PlayoutEvaluator(game, seed=1), SearchConfig(simulations=7))
    first_moves = np.mean([a.value for a in found])
    assert first_moves == pytest.approx(game.playout(game.new_states(20_000))["result"].mean(), abs=0.06)


def test_playouts_do_not_repeat_themselves():
    """A stream reseeded from few bits soon runs in a circle."""
    game = azlab.game("connect4")
    evaluator, state = PlayoutEvaluator(game, 1, seed=0), game.new_states(64)
    legal = game.legal_mask(state)
    seen = {evaluator.evaluate(state, legal)[1].tobytes() for _ in range(3000)}
    assert len(seen) == 3000


def test_a_proven_loss_is_never_played_while_something_else_is_left():
    oracle, rng = azlab.oracle("tictactoe"), np.random.default_rng(5)
    for _ in range(60):
        position = azlab.game("tictactoe").start()
        while not position.over:
            search = Searcher(position.game, 1, UniformEvaluator(), SearchConfig(simulations=400, solve=True))
            search.start(position.state)
            search.run()
            for action, child in enumerate(search.tree.children[0, 0]):  # whatever is proven is true
                if child >= 0 and search.tree.proven[0, child] != trees.UNPROVEN:
                    assert oracle.value(position.play(action)) == search.tree.proven[0, child]
            assert search.choose(0, 0) in [position.game.action(move) for move in oracle.best_moves(position)] or (
                search.tree.proven[0, 0] == trees.UNPROVEN
            )
            position = position.play(int(rng.choice(position.legal_actions)))


def test_playout_caps_of_the_config_are_drawn_for_every_search():
    game = azlab.game("connect4")
    search = Searcher(game, 400, UniformEvaluator(), SearchConfig(simulations=20, cap_probability=0.25, cap_simulations=4))
    search.start(game.new_states(400))
    search.run()
    assert (search.done == np.where(search.is_full, 20, 4)).all() and 60 < search.is_full.sum() < 140


def test_the_halving_of_gumbel_search_follows_the_budget():
    game = azlab.game("connect4")
    search = Searcher(game, 1, UniformEvaluator(), SearchConfig(simulations=200, gumbel=4), seed=2)
    search.start(game.new_states(1))
    search.run(8)
    assert sorted(search.root_visits(0).tolist())[-4:] == [1, 1, 3, 3]


def test_a_million_simulations_on_one_position_work():
    analysis = puct(azlab.game("tictactoe").start(), UniformEvaluator(), SearchConfig(simulations=1_000_000, leaves=64))
    assert analysis.simulations == 1_000_000 and analysis.visits.sum() == 1_000_000
    assert analysis.best_move == "b2" or abs(analysis.value) < 0.2


@pytest.mark.parametrize("alpha", [{"noise_alpha": 0.3}, {"noise_alpha_base": 10.0}])
def test_root_noise_changes_priors_at_the_root_only_and_by_the_seed(alpha, hash_evaluator):
    position = azlab.game("connect4").start()

    def roots(seed):
        search = Searcher(position.game, 2, hash_evaluator(), SearchConfig(simulations=50, noise=0.25, **alpha), seed)
        search.start(np.repeat(position.state, 2))
        search.run()
        return search

    one, same, other = roots(1), roots(1), roots(2)
    assert np.array_equal(one.tree.prior[:, 0], same.tree.prior[:, 0])
    assert not np.array_equal(one.tree.prior[:, 0], other.tree.prior[:, 0])
    assert not np.array_equal(one.tree.prior[0, 0], one.tree.prior[1, 0])  # each game has its own
    assert np.allclose(one.tree.prior[:, 0].sum(axis=1), 1, atol=1e-5)
    raw = hash_evaluator().evaluate(position.state, position.game.legal_mask(position.state))[0][0]
    assert np.allclose(one.raw_prior, raw)
    share = (one.tree.prior[0, 0] - 0.75 * raw) / 0.25
    assert (share >= -1e-6).all() and share.sum() == pytest.approx(1, abs=1e-5)


def test_dirichlet_alpha_follows_the_number_of_legal_moves():
    """A large alpha gives nearly equal noise, a small one concentrates it."""
    game = azlab.game("connect4")
    spread = {}
    for base in (0.7, 7000.0):
        search = Searcher(game, 200, UniformEvaluator(), SearchConfig(simulations=1, noise=1.0, noise_alpha_base=base))
        search.start(game.new_states(200))
        spread[base] = search.tree.prior[:, 0].std()
    assert spread[7000.0] < 0.01 < 0.2 < spread[0.7]


def test_the_temperature_schedule_draws_early_and_takes_the_best_later():
    game = azlab.game("connect4")
    config = SearchConfig(simulations=40, temperature=((0, 1.0), (10, 0.0)))
    search = Searcher(game, 1, UniformEvaluator(), config, seed=1)
    search.start(game.new_states(1))
    search.run()
    early = {search.choose(0, ply=3) for _ in range(60)}
    late = {search.choose(0, ply=10) for _ in range(60)}
    assert len(early) > 3 and len(late) == 1
    assert config.temperature_at(9) == 1.0 and config.temperature_at(10) == 0.0


def test_sequential_halving_gives_every_phase_its_budget():
    assert halving_schedule(16, 4).tolist() == [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]
    assert halving_schedule(5, 1).tolist() == [0, 1, 2, 3, 4]
    for simulations in (1, 7, 50, 64):
        for considered in (2, 3, 7, 16):
            assert len(halving_schedule(simulations, considered)) == simulations


def test_gumbel_search_spreads_visits_by_halving_and_prefers_the_better_move():
    position = azlab.game("connect4").from_moves("445566")  # 3 and 7 win at once
    search = Searcher(position.game, 1, UniformEvaluator(), SearchConfig(simulations=16, gumbel=4), seed=3)
    search.start(position.state)
    search.run()
    assert sorted(search.root_visits(0)[search.root_visits(0) > 0].tolist()) == [2, 2, 6, 6]
    policy = search.policy(0)
    assert policy.sum() == pytest.approx(1) and (policy > 0).all()
    wins = 0
    for seed in range(40):
        search = Searcher(position.game, 1, UniformEvaluator(), SearchConfig(simulations=16, gumbel=7), seed=seed)
        search.start(position.state)
        search.run()
        wins += search.choose(0, 0) in (2, 6)
    assert wins == 40  # sixteen simulations are enough to see a win that is one move away


def test_forced_playouts_reach_their_number_and_are_pruned_from_the_target(hash_evaluator):
    position = azlab.game("connect4").start()
    config = SearchConfig(simulations=400, forced_playouts=2.0)
    search = Searcher(position.game, 1, hash_evaluator(), config)
    search.start(position.state)
    search.run()
    visits, prior = search.root_visits(0), search.tree.prior[0, 0]
    tried = visits > 0
    assert (visits[tried] + 1 >= np.sqrt(2 * prior[tried] * 400) * 0.97).all()
    target = search.policy(0) * search.policy(0).size
    pruned = search._without_forced(0, visits.astype(float))
    assert pruned[np.argmax(visits)] == visits.max() and (pruned <= visits).all() and pruned.sum() < visits.sum()
    assert target.max() > 0


def test_kl_gain_stops_a_search_that_no_longer_changes(hash_evaluator):
    position = azlab.game("connect4").start()
    done = {}
    for threshold in (1e-9, 0.02, 10.0):
        config = SearchConfig(simulations=2000, kl_threshold=threshold, kl_step=50)
        search = Searcher(position.game, 1, hash_evaluator(), config)
        search.start(position.state)
        search.run()
        done[threshold] = search.done[0]
    assert done[1e-9] == 2000 and 50 < done[0.02] < 2000 and done[10.0] == 100
    assert kl_divergence(np.array([0.5, 0.5]), np.array([0.5, 0.5])) == 0
    assert kl_divergence(np.array([1.0, 0.0]), np.array([0.5, 0.5])) == pytest.approx(1)  # one bit


def test_reusing_the_tree_keeps_exactly_the_part_below_the_move(hash_evaluator):
    position = azlab.game("connect4").start()
    search = Searcher(position.game, 1, hash_evaluator(), SearchConfig(simulations=300, reuse_tree=True))
    search.start(position.state)
    search.run()
    action = int(np.argmax(search.root_visits(0)))
    before = subtree(search.tree, search.tree.children[0, 0, action])
    search.advance(np.array([action]))
    assert subtree(search.tree, 0) == before
    search.run()
    assert search.tree.visits[0, 0] == before[1] + 300 and search.root_states().tobytes() == position.play(action).state.tobytes()


def test_reusing_the_tree_for_a_whole_game_never_overflows(hash_evaluator):
    game = azlab.game("connect4", rows=4, cols=4)
    search = Searcher(game, 3, hash_evaluator(), SearchConfig(simulations=200, reuse_tree=True))
    search.start(game.new_states(3))
    for _ in range(9):
        search.run()
        assert (search.tree.size <= search.tree.parent.shape[1]).all() and (search.done == 200).all()
        actions = np.array([search.choose(g, 0) for g in range(3)])
        following = search.root_states()
        game.kernels.play(following, actions)
        if following["over"].any():
            break
        search.advance(actions)


def subtree(tree, node):
    """A node and all below it as nested tuples."""
    children = tuple((a, subtree(tree, c)) for a, c in enumerate(tree.children[0, node]) if c >= 0)
    return tree.state[0, node].tobytes(), int(tree.visits[0, node]), float(tree.value_sum[0, node]), children


def test_proven_results_are_carried_up_and_end_the_search():
    win = puct(azlab.game("connect4").from_moves("445566"), UniformEvaluator(), SearchConfig(simulations=500, solve=True))
    assert win.value == 1 and win.best_move in ("3", "7") and win.simulations < 500
    block = azlab.game("tictactoe").from_moves("b2 a1 a3")  # O must block at c1, then it is a draw
    draw = puct(block, UniformEvaluator(), SearchConfig(simulations=100_000, solve=True))
    assert draw.value == 0 and draw.simulations < 100_000 and draw.best_move == "c1"
    assert (draw.proven[[block.game.action(m) for m in ("a2", "b1", "c2")]] == 1).all()


def test_with_a_perfect_evaluator_the_search_plays_perfectly():
    oracle = azlab.oracle("tictactoe")
    rng = np.random.default_rng(0)
    for _ in range(30):
        position = azlab.game("tictactoe").start()
        while not position.over:
            found = puct(position, OracleEvaluator(oracle), SearchConfig(simulations=60))
            assert found.best_move in oracle.best_moves(position)
            position = position.play(int(rng.choice(position.legal_actions)))


def test_playouts_as_evaluator_find_a_win():
    position = azlab.game("connect4").from_moves("445566")
    found = puct(position, PlayoutEvaluator(position.game, 4, seed=1), SearchConfig(simulations=300))
    assert found.best_move in ("3", "7") and found.value > 0.8


class Returning:
    def __init__(self, make):
        self.make = make

    def evaluate(self, states, legal):
        return self.make(states, legal)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda p: puct(p, Returning(lambda s, m: (m * np.nan, np.zeros(len(s))))), "infinite or not a number"),
        (lambda p: puct(p, Returning(lambda s, m: (m / m.sum(1), np.full(len(s), np.inf)))), "infinite"),
        (lambda p: puct(p, Returning(lambda s, m: (m[:, :3], np.zeros(len(s))))), "returned shapes (1, 3)"),
        (lambda p: puct(p, Returning(lambda s, m: (m, np.zeros((len(s), 1))))), "returned shapes"),
        (lambda p: puct(p, Returning(lambda s, m: m)), "An evaluator returns (priors, values)"),
        (lambda p: puct(p.game.from_moves("4141414"), UniformEvaluator()), "is over"),
        (lambda p: SearchConfig(simulations=0), "simulations must be a whole number from 1"),
        (lambda p: SearchConfig(noise=2.0), "noise is a share"),
        (lambda p: SearchConfig(temperature=((5, 1.0),)), "temperature is a tuple"),
        (lambda p: SearchConfig(gumbel=4, leaves=2), "Gumbel search takes one leaf"),
        (lambda p: SearchConfig(gumbel=4, reuse_tree=True), "Gumbel search takes one leaf"),
        (lambda p: SearchConfig(simulations=10.5), "simulations must be a whole number"),
        (lambda p: SearchConfig(cpuct="abc"), "cpuct must be a number"),
        (lambda p: SearchConfig(temperature=1), "temperature is a tuple"),
        (lambda p: puct(p, None), "An evaluator has a method evaluate"),
        (lambda p: puct(p, UniformEvaluator(), game=azlab.game("tictactoe")), "not of"),
        (lambda p: puct(p, CachedEvaluator(Returning(lambda s, m: (m[:, :3], np.zeros(len(s)))))), "returned shapes (1, 3)"),
        (lambda p: puct([], UniformEvaluator()), "one or more positions"),
        (lambda p: puct(p.state, UniformEvaluator()), "does not say its game"),
        (lambda p: puct([p, azlab.game("tictactoe").start()], UniformEvaluator()), "all of one game"),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(azlab.AzlabError) as raised:
        call(azlab.game("connect4").start())
    assert sentence in str(raised.value) and "\n" not in str(raised.value)
