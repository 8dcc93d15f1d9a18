"""The batched PUCT search against the slow reference, and each of its switches."""

import numpy as np
import pytest

import azlab
from azlab.search import Budget, Explore, Search, Searcher, puct
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
FORMULAS = {
    "AlphaZero": Search(),
    "constant cpuct": Search(cpuct=2.5, cpuct_base=0),
    "absolute first-play urgency": Search(fpu=0.4),
    "relative first-play urgency": Search(fpu=0.2, fpu_relative=True),
    "draws liked": Search(draw_value=0.5),
    "all at once": Search(cpuct=3.09, cpuct_base=0, fpu=0.709, draw_value=0.3826),
}


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("position", POSITIONS, ids=lambda p: p.game.name)
def test_the_fast_search_visits_the_same_nodes_as_the_slow_one(position, formula, plain_puct, hash_evaluator):
    root = plain_puct.search(position, hash_evaluator(), formula, 120)
    search = Searcher(position.game, 1, hash_evaluator(), formula, 120)
    search.start(position.state)
    search.run()
    plain_puct.compare(root, search.tree, 0)


def test_a_batch_of_games_gives_what_each_game_gives_alone(hash_evaluator):
    game = azlab.game("connect4")
    positions = [game.from_moves(moves) for moves in ("4", "44", "1234567", "3344", "777")]
    together = puct(positions, hash_evaluator(), budget=60)
    for position, found in zip(positions, together, strict=True):
        alone = puct(position, hash_evaluator(), budget=60)
        assert (alone.visits == found.visits).all() and alone.line == found.line
    states = np.concatenate([position.state for position in positions])
    again = puct(states, hash_evaluator(), budget=60, game=game)
    assert [(a.visits == b.visits).all() for a, b in zip(again, together, strict=True)] == [True] * 5


def test_virtual_losses_are_taken_back(hash_evaluator):
    position = azlab.game("connect4").start()
    search = Searcher(position.game, 1, hash_evaluator(), Search(), 500, leaves=16)
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


@pytest.mark.parametrize(
    ("formula", "settings"),
    [
        (Search(), {}),
        (Search(), {"leaves": 8}),
        (Search(), {"reuse_tree": True}),
        (Search(solve=True), {}),
        (Search(gumbel=4), {}),
    ],
)
def test_a_searcher_used_again_is_as_good_as_new(formula, settings, hash_evaluator):
    game = azlab.game("connect4")
    used = Searcher(game, 2, hash_evaluator(), formula, 90, seed=1, **settings)
    used.start(np.concatenate([game.from_moves("4").state, game.from_moves("1111").state]))
    used.run()
    for moves in ("445566", "3", "1212"):
        fresh = Searcher(game, 2, hash_evaluator(), formula, 90, seed=7, **settings)
        used.rng = np.random.default_rng(7)
        for search in (used, fresh):
            search.start(np.repeat(game.from_moves(moves).state, 2))
            search.run()
        for g in range(2):
            assert used.root_visits(g).tolist() == fresh.root_visits(g).tolist() and not broken_nodes(used.tree, g)


def test_every_search_of_a_game_keeps_its_books(hash_evaluator):
    for reuse in (False, True):
        game = azlab.game("dots_and_boxes", rows=2, cols=2)
        search = Searcher(game, 1, hash_evaluator(), Search(), 80, reuse_tree=reuse)
        search.start(game.new_states(1))
        for _ in range(9):
            search.run()
            assert not broken_nodes(search.tree)
            search.advance(np.array([search.choose(0, 0)]))


def test_some_games_of_a_batch_can_go_on_while_another_begins_anew(hash_evaluator):
    game = azlab.game("tictactoe")
    search = Searcher(game, 3, hash_evaluator(), Search(), 40, reuse_tree=True)
    search.start(game.new_states(3))
    search.run()
    search.advance(np.array([4, 0]), games=np.array([0, 2]))
    search.start(game.from_moves("a1 b1").state, np.array([1]))
    search.run()
    assert search.root_states()["ply"].tolist() == [1, 2, 1] and (search.done == 40).all()


@pytest.mark.parametrize(
    "settings",
    [
        {}, {"leaves": 4}, {"search": Search(gumbel=4)}, {"search": Search(solve=True)}, {"budget": Budget(150, gain=(1e-3, 50))},
        {"explore": Explore(noise=0.25)},
    ],
)  # fmt: skip
def test_a_native_evaluator_gives_the_same_search_as_one_called_from_python(settings):
    class Plain:
        evaluate = UniformEvaluator.evaluate

    game = azlab.game("connect4")
    positions = [game.from_moves(moves) for moves in ("4", "445566", "1234567")]
    settings = {"budget": 150} | settings
    native, plain = (puct(positions, evaluator, **settings, seed=3) for evaluator in (UniformEvaluator(), Plain()))
    for one, other in zip(native, plain, strict=True):
        assert one.visits.tolist() == other.visits.tolist() and one.value == pytest.approx(other.value)


def test_native_playouts_have_the_right_mean():
    game = azlab.game("connect4")
    found = puct([game.start()] * 300, PlayoutEvaluator(game, seed=1), Search(), 7)
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
            search = Searcher(position.game, 1, UniformEvaluator(), Search(solve=True), 400)
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
    search = Searcher(game, 400, UniformEvaluator(), Search(), Budget(20, cap=(0.25, 4)), Explore())
    search.start(game.new_states(400))
    search.run()
    assert (search.done == np.where(search.is_full, 20, 4)).all() and 60 < search.is_full.sum() < 140


def test_the_halving_of_gumbel_search_follows_the_budget():
    game = azlab.game("connect4")
    search = Searcher(game, 1, UniformEvaluator(), Search(gumbel=4), 200, seed=2)
    search.start(game.new_states(1))
    search.run(8)
    assert sorted(search.root_visits(0).tolist())[-4:] == [1, 1, 3, 3]


def test_a_million_simulations_on_one_position_work():
    analysis = puct(azlab.game("tictactoe").start(), UniformEvaluator(), Search(), 1_000_000, leaves=64)
    assert analysis.simulations == 1_000_000 and analysis.visits.sum() == 1_000_000
    assert analysis.best_move == "b2" or abs(analysis.value) < 0.2


@pytest.mark.parametrize("alpha", [{"noise_alpha": 0.3}, {"noise_alpha_base": 10.0}])
def test_root_noise_changes_priors_at_the_root_only_and_by_the_seed(alpha, hash_evaluator):
    position = azlab.game("connect4").start()

    def roots(seed):
        search = Searcher(position.game, 2, hash_evaluator(), Search(), 50, Explore(noise=0.25, **alpha), seed)
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


@pytest.mark.parametrize("share", [1.0, 0.1, 0.0])
def test_small_searches_of_playout_caps_have_their_share_of_the_noise(share, hash_evaluator):
    position = azlab.game("connect4").start()
    explore = Explore(noise=0.25, noise_alpha_base=10.0, capped_noise=share)
    search = Searcher(position.game, 40, hash_evaluator(), Search(), Budget(6, cap=(0.5, 2)), explore, seed=3)
    search.start(np.repeat(position.state, 40))
    drawn = (search.tree.prior[:, 0].copy() - 0.75 * search.raw_prior) / 0.25
    search.run()
    assert 10 < search.is_full.sum() < 30
    noise = np.where(search.is_full, 0.25, 0.25 * share)[:, None]
    assert np.allclose(search.tree.prior[:, 0], (1 - noise) * search.raw_prior + noise * drawn, atol=1e-6)
    assert np.array_equal(search.tree.prior[~search.is_full, 0], search.raw_prior[~search.is_full]) == (share == 0)


def test_dirichlet_alpha_follows_the_number_of_legal_moves():
    """A large alpha gives nearly equal noise, a small one concentrates it."""
    game = azlab.game("connect4")
    spread = {}
    for base in (0.7, 7000.0):
        search = Searcher(game, 200, UniformEvaluator(), Search(), 1, Explore(noise=1.0, noise_alpha_base=base))
        search.start(game.new_states(200))
        spread[base] = search.tree.prior[:, 0].std()
    assert spread[7000.0] < 0.01 < 0.2 < spread[0.7]


def test_the_temperature_schedule_draws_early_and_takes_the_best_later():
    game = azlab.game("connect4")
    explore = Explore(temperature=((0, 1.0), (10, 0.0)))
    search = Searcher(game, 1, UniformEvaluator(), Search(), 40, explore, seed=1)
    search.start(game.new_states(1))
    search.run()
    early = {search.choose(0, ply=3) for _ in range(60)}
    late = {search.choose(0, ply=10) for _ in range(60)}
    assert len(early) > 3 and len(late) == 1
    assert explore.temperature_at(9) == 1.0 and explore.temperature_at(10) == 0.0


def test_sequential_halving_gives_every_phase_its_budget():
    assert halving_schedule(16, 4).tolist() == [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]
    assert halving_schedule(5, 1).tolist() == [0, 1, 2, 3, 4]
    for simulations in (1, 7, 50, 64):
        for considered in (2, 3, 7, 16):
            assert len(halving_schedule(simulations, considered)) == simulations


def test_gumbel_search_spreads_visits_by_halving_and_prefers_the_better_move():
    position = azlab.game("connect4").from_moves("445566")  # 3 and 7 win at once
    search = Searcher(position.game, 1, UniformEvaluator(), Search(gumbel=4), 16, seed=3)
    search.start(position.state)
    search.run()
    assert sorted(search.root_visits(0)[search.root_visits(0) > 0].tolist()) == [2, 2, 6, 6]
    policy = search.policy(0)
    assert policy.sum() == pytest.approx(1) and (policy > 0).all()
    wins = 0
    for seed in range(40):
        search = Searcher(position.game, 1, UniformEvaluator(), Search(gumbel=7), 16, seed=seed)
        search.start(position.state)
        search.run()
        wins += search.choose(0, 0) in (2, 6)
    assert wins == 40  # sixteen simulations are enough to see a win that is one move away


def test_forced_playouts_reach_their_number_and_are_pruned_from_the_target(hash_evaluator):
    position = azlab.game("connect4").start()
    search = Searcher(position.game, 1, hash_evaluator(), Search(), 400, Explore(forced_playouts=2.0))
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
        search = Searcher(position.game, 1, hash_evaluator(), Search(), Budget(2000, gain=(threshold, 50)))
        search.start(position.state)
        search.run()
        done[threshold] = search.done[0]
    assert done[1e-9] == 2000 and 50 < done[0.02] < 2000 and done[10.0] == 50  # the first step is compared with the priors
    assert kl_divergence(np.array([0.5, 0.5]), np.array([0.5, 0.5])) == 0
    assert kl_divergence(np.array([1.0, 0.0]), np.array([0.5, 0.5])) == pytest.approx(1)  # one bit


def test_the_first_kl_gain_is_that_over_the_priors_of_the_moves_visited(hash_evaluator):
    """Root noise is no part of what the network knew."""
    position = azlab.game("connect4").start()
    raw = hash_evaluator().evaluate(position.state, position.game.legal_mask(position.state))[0][0].astype(float)
    whole = Searcher(position.game, 1, hash_evaluator(), Search(), 6, Explore(noise=0.25), seed=1)
    whole.start(position.state)
    whole.run()
    visits = whole.root_visits(0)
    assert 1 < (visits > 0).sum() < 7
    shares, known = visits[visits > 0] / visits.sum(), raw[visits > 0] / raw[visits > 0].sum()
    gain = (known * np.log2(known / shares)).sum()
    done = []
    for threshold in (0.999 * gain, 1.001 * gain):
        search = Searcher(position.game, 1, hash_evaluator(), Search(), Budget(12, gain=(threshold, 6)), Explore(noise=0.25), 1)
        search.start(position.state)
        search.run()
        done.append(int(search.done[0]))
    assert done == [12, 6]


def test_reusing_the_tree_keeps_exactly_the_part_below_the_move(hash_evaluator):
    position = azlab.game("connect4").start()
    search = Searcher(position.game, 1, hash_evaluator(), Search(), 300, reuse_tree=True)
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
    search = Searcher(game, 3, hash_evaluator(), Search(), 200, reuse_tree=True)
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
    win = puct(azlab.game("connect4").from_moves("445566"), UniformEvaluator(), Search(solve=True), 500)
    assert win.value == 1 and win.best_move in ("3", "7") and win.simulations < 500
    block = azlab.game("tictactoe").from_moves("b2 a1 a3")  # O must block at c1, then it is a draw
    draw = puct(block, UniformEvaluator(), Search(solve=True), 100_000)
    assert draw.value == 0 and draw.simulations < 100_000 and draw.best_move == "c1"
    assert (draw.proven[[block.game.action(m) for m in ("a2", "b1", "c2")]] == 1).all()


def test_with_a_perfect_evaluator_the_search_plays_perfectly():
    oracle = azlab.oracle("tictactoe")
    rng = np.random.default_rng(0)
    for _ in range(30):
        position = azlab.game("tictactoe").start()
        while not position.over:
            found = puct(position, OracleEvaluator(oracle), Search(), 60)
            assert found.best_move in oracle.best_moves(position)
            position = position.play(int(rng.choice(position.legal_actions)))


def test_playouts_as_evaluator_find_a_win():
    position = azlab.game("connect4").from_moves("445566")
    found = puct(position, PlayoutEvaluator(position.game, 4, seed=1), Search(), 300)
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
        (lambda p: Budget(0), "simulations must be a whole number from 1"),
        (lambda p: Budget(10.5), "simulations must be a whole number"),
        (lambda p: Budget(10, cap=(2.0, 5)), "cap is a share and must lie between 0 and 1, not 2.0"),
        (lambda p: Budget(10, cap=(0.5,)), "cap is a pair of numbers"),
        (lambda p: Budget(10, gain=(-1.0, 5)), "gain must not be negative"),
        (lambda p: Budget(10, gain=(0.1, 0)), "the second number of gain must be a whole number from 1"),
        (lambda p: Budget(10, clock=(100, 5)), "only where searches stop early: set `gain` too"),
        (lambda p: Explore(noise=2.0), "noise is a share"),
        (lambda p: Explore(noise=0.1, noise_alpha=0), "Root noise needs a positive"),
        (lambda p: Explore(temperature=((5, 1.0),)), "temperature is a tuple"),
        (lambda p: Explore(temperature=1), "temperature is a tuple"),
        (lambda p: Search(cpuct="abc"), "cpuct must be a number"),
        (lambda p: Search(cpuct=-1), "cpuct must not be negative"),
        (lambda p: puct(p, UniformEvaluator(), Search(gumbel=4), 9, leaves=2), "Gumbel search takes one leaf"),
        (lambda p: Searcher(p.game, 1, UniformEvaluator(), Search(gumbel=4), 9, reuse_tree=True), "Gumbel search takes one leaf"),
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
