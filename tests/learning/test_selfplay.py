import threading
import time
from itertools import pairwise
from threading import Event

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.learning.alphazero import AlphaZero
from azlab.learning.selfplay import SelfPlay, SelfPlayConfig, Worker
from azlab.learning.window import Window
from azlab.search.config import Budget, Explore, Search
from azlab.search.evaluators import PlayoutEvaluator
from azlab.search.puct import Searcher

FORMULA, EXPLORE = Search(cpuct_base=0.0), Explore(noise=0.25, temperature=((0, 1.0),))
SEARCH = FORMULA, Budget(12), EXPLORE


class Fixed:
    """An evaluator whose answers depend on the state alone: priors that favour some moves, values and draws."""

    def __init__(self, game, fail_after=None, seconds=0.0):
        self.game, self.calls, self.fail_after, self.seconds = game, 0, fail_after, seconds

    def evaluate(self, states, legal):
        self.calls += 1
        if self.calls == self.fail_after:
            raise AzlabError("The evaluator broke.")
        time.sleep(self.seconds)
        marks = np.array([sum(state.tobytes()) for state in states])
        priors = legal * (1 + (marks[:, None] * 7 + np.arange(legal.shape[1]) * 5) % 11)
        values = (marks % 9 - 4) / 8
        return priors / priors.sum(axis=1, keepdims=True), values, (1 - np.abs(values)) * 0.6


class Watched(Worker):
    """Writes down what happens to each game, beside the worker's own books."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.going = [[] for _ in range(self.games)]  # (state, action, policy, search's result, whether full, nodes) of each move
        self.ended = []  # such lists of the finished games, in order
        self.opened = []  # first states

    def _open(self, games, rng):
        super()._open(games, rng)
        self.opened += [self.states[g].copy() for g in games]

    def _move(self, searcher):
        before, policies, results = self.states.copy(), searcher.policies(), searcher.root_results()
        actions, over = super()._move(searcher)
        for g in range(self.games):
            row = before[g], int(actions[g]), policies[g], results[g], bool(searcher.is_full[g]), int(searcher.done[g])
            self.going[g].append(row)
        for g in over:
            self.ended.append(self.going[g])
            self.going[g] = []
        return actions, over


def targets(game, moves, search_value, discount):
    """(state, policy, (draw, win, loss), reply) of each full search of a game, by playing it again with `Position`."""
    position = game.position(np.array([moves[0][0]], game.dtype))
    path = []
    for _, action, *_ in moves:
        path.append(position)
        position = position.play(action)
    assert position.over
    final = position.result  # of seat 0
    found = []
    for k, (state, _, policy, search, is_full, _) in enumerate(moves):
        assert path[k].state.tobytes() == state.tobytes()
        if not is_full:
            continue
        weight = discount ** (len(moves) - 1 - k)
        win, loss = weight * (final == 1), weight * (final == -1)
        win = (1 - search_value) * win + search_value * search[1]
        loss = (1 - search_value) * loss + search_value * search[2]
        if path[k].to_move == 1:
            win, loss = loss, win
        reply = np.zeros(game.num_actions)
        if k + 1 < len(moves) and moves[k + 1][4] and path[k + 1].to_move != path[k].to_move:
            reply = moves[k + 1][2]
        found.append((state.tobytes(), policy, (1 - win - loss, win, loss), reply))
    return found


@pytest.mark.parametrize(
    ("name", "options", "settings"),
    [
        ("tictactoe", {}, {}),
        ("tictactoe", {}, {"search_value": 0.3, "discount": 0.8, "random_plies": 4}),
        ("dots_and_boxes", {"rows": 2, "cols": 2}, {"discount": 0.9}),
        ("dots_and_boxes", {"rows": 2, "cols": 2}, {"search_value": 1.0}),
        ("dots_and_boxes", {"rows": 1, "cols": 2}, {"search_value": 0.5, "random_plies": 3}),
    ],
)
@pytest.mark.parametrize("cap", [1.0, 0.5])
def test_examples_are_what_the_games_played_again_say(name, options, settings, cap):
    game = azlab.game(name, **options)
    config = SelfPlayConfig(games=7, workers=1, **settings)
    worker = Watched(game, 7, Fixed(game), FORMULA, Budget(12, cap=(cap, 3)), EXPLORE, config)
    parts = [worker.play(60, [1, part], Event()) for part in range(3)]  # games go on from part to part
    expected = [row for moves in worker.ended for row in targets(game, moves, config.search_value, config.discount)]
    found = [row for part in parts for row in zip(*part.examples)]
    assert len(found) == len(expected) >= 180
    extra_turns = replies = 0
    for (state, policy, result, reply), (mark, policy2, result2, reply2) in zip(found, expected):
        assert state.tobytes() == mark
        assert policy == pytest.approx(policy2, abs=1e-3) and reply == pytest.approx(reply2, abs=1e-3)
        assert result == pytest.approx(result2, abs=1e-5) and result.sum() == pytest.approx(1, abs=1e-5)
        replies += bool(reply.any())
    for moves in worker.ended:
        extra_turns += sum(one[0]["to_move"] == two[0]["to_move"] for one, two in pairwise(moves))
    assert replies > 20 and (extra_turns > 20) == (name == "dots_and_boxes")
    assert sum(part.games for part in parts) == len(worker.ended) == sum(sum(part.wins) for part in parts)
    moves = sum(map(len, worker.ended)) + sum(map(len, worker.going))
    assert sum(part.moves for part in parts) == moves
    full = sum(row[4] for moves in worker.ended for row in moves)
    assert len(found) == full and (full < moves * 0.8) == (cap < 1)  # playout caps: small searches teach nothing


def test_who_wins_is_counted_by_seat():
    game = azlab.game("dots_and_boxes", rows=1, cols=2)
    worker = Watched(game, 5, Fixed(game), *SEARCH, SelfPlayConfig(games=5, workers=1))
    found = worker.play(100, [0], Event())
    results = [game.position(np.array([moves[-1][0]], game.dtype)).play(moves[-1][1]).result for moves in worker.ended]
    assert found.wins == tuple(results.count(result) for result in (1, 0, -1)) and min(found.wins[0], found.wins[2]) > 0
    assert found.lengths == sum(len(moves) for moves in worker.ended)


def test_a_finished_game_makes_room_for_a_new_one_at_once():
    """No place is ever idle: every place moves in every round, and a game that ended is followed by a start."""
    game = azlab.game("tictactoe")
    worker = Watched(game, 7, Fixed(game), *SEARCH, SelfPlayConfig(games=7, workers=1))
    found = worker.play(200, [0], Event())
    assert found.moves % 7 == 0 and not worker.states["over"].any()
    assert len(worker.opened) == 7 + len(worker.ended)
    assert all(state.tobytes() == game.start().state.tobytes() for state in worker.opened)
    assert {len(moves) for moves in worker.ended} > {7, 8}  # they do not all end together


@pytest.mark.parametrize(("name", "plies"), [("tictactoe", 4), ("connect4", 9), ("dots_and_boxes", 30)])
def test_games_open_with_up_to_so_many_random_moves(name, plies):
    game = azlab.game(name)
    worker = Watched(game, 300, Fixed(game), FORMULA, Budget(1), None, SelfPlayConfig(games=300, random_plies=plies))
    worker._open(np.arange(300), np.random.default_rng(0))
    opened = np.array(worker.opened)
    assert not opened["over"].any() and (worker.recording.played == 0).all()
    counts = np.bincount(opened["ply"])
    assert len(counts) <= plies + 1 and counts[:5].min() > 0 and len({state.tobytes() for state in opened}) > 30
    if name == "tictactoe":  # nothing can end within four moves: each number of moves is equally likely
        assert counts.min() > 300 / 5 * 0.6


def test_going_on_with_unfinished_games_is_never_having_stopped():
    game = azlab.game("dots_and_boxes", rows=2, cols=2)
    settings = FORMULA, Budget(40, gain=(0.01, 5), clock=(60, 4)), Explore(noise=0.2, temperature=((0, 1.0),))
    config = SelfPlayConfig(games=6, workers=1, random_plies=3)
    one, other = (Worker(game, 6, Fixed(game), *settings, config) for _ in range(2))
    one.play(40, [1], Event())
    kept = {name: array.copy() for name, array in one.unfinished().items()}
    assert kept["played"].any() and kept["clock"].shape == (6, 2) and len(np.unique(kept["clock"])) > 1
    other.resume(kept | {"clock": kept["clock"][:, 0]})  # as version 0.2 wrote it, one for both players
    assert other.clock.left.tolist() == [[left, left] for left in kept["clock"][:, 0]]
    other.resume(kept)
    for a, b in zip(one.play(40, [2], Event()).examples, other.play(40, [2], Event()).examples, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("now", lambda now: now[:3], "'now' should be"),
        ("now", lambda now: now[:, 1:], "'now' should be"),
        ("now", lambda now: now | 1, "is no possible state"),
        ("states", lambda states: states ^ 1, "is no possible state"),
        ("states", lambda states: states[1:], "should be"),
        ("played", lambda played: played - 50, "numbers of moves do not fit"),
        ("played", lambda played: played + 50, "numbers of moves do not fit"),
        ("played", lambda played: played.astype(float), "'played' should be"),
        ("policy", lambda policy: policy[:, :2], "'policy' should be"),
        ("clock", lambda clock: clock[:2], "'clock' should be"),
        ("is_full", None, "is_full"),
    ],
)
def test_damaged_unfinished_games_are_refused(name, change, reason):
    game = azlab.game("connect4")
    budget = Budget(12, gain=(0.01, 5), clock=(60, 4))
    one, other = (Worker(game, 4, Fixed(game), FORMULA, budget, EXPLORE, SelfPlayConfig(games=4, workers=1)) for _ in range(2))
    one.play(30, [1], Event())
    kept = one.unfinished()
    assert len(kept["states"]) > 1
    if change is None:
        del kept[name]
    else:
        kept[name] = change(kept[name])
    with pytest.raises(AzlabError, match=f"games.npz .*{reason}"):
        other.resume(kept)
    assert not other.recording.played.any()


def test_all_games_may_end_in_the_same_move():
    """One game at a time: when an iteration ends there is no unfinished move to keep."""
    game = azlab.game("tictactoe")
    one, other = (Worker(game, 1, Fixed(game), *SEARCH, SelfPlayConfig(games=1, workers=1)) for _ in range(2))
    one.play(1, [1], Event())
    kept = one.unfinished()
    assert len(kept["states"]) == 0 and kept["now"].shape == (1, game.dtype.itemsize)
    other.resume(kept)
    assert other.states.tobytes() == game.start().state.tobytes()


def test_a_node_clock_is_each_players_for_a_whole_game_however_often_it_is_interrupted():
    game = azlab.game("dots_and_boxes", rows=2, cols=2)  # who closes a box moves again, on the same clock
    budget = Budget(40, gain=(1e-9, 10), clock=(50, 5))
    worker = Watched(game, 4, Fixed(game), FORMULA, budget, EXPLORE, SelfPlayConfig(games=4, workers=1))
    while len(worker.ended) < 12:
        worker.play(1, [len(worker.ended)], Event())
    for moves in worker.ended:
        for seat in (0, 1):
            left = 50
            for nodes in [row[5] for row in moves if row[0]["to_move"] == seat]:
                assert nodes <= min(40, left + 5)
                left += 5 - nodes
    assert all(sum(row[5] for row in moves) > 50 + 5 * len(moves) for moves in worker.ended)  # one clock for both has no more


@pytest.mark.parametrize("cache", [0, 1000])
@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.slow
def test_several_workers_play_the_same_every_time(cache, reuse):
    """However fast each of them is."""
    game = azlab.game("tictactoe")

    def play(seconds):
        evaluators = [Fixed(game, seconds=pause) for pause in seconds]
        config = SelfPlayConfig(games=8, workers=3, cache=cache, reuse_tree=reuse)
        selfplay = SelfPlay(game, evaluators, *SEARCH, config)
        assert [worker.games for worker in selfplay.workers] == [3, 3, 2]
        return [selfplay.play(90, [3, part]).examples for part in range(2)]

    for one, other in zip(play([0, 0.002, 0]), play([0.002, 0, 0])):
        assert all(np.array_equal(a, b) for a, b in zip(one, other)) and one.size >= 90


def test_a_worker_that_fails_stops_the_others():
    game = azlab.game("tictactoe")
    evaluators = [Fixed(game, seconds=0.001), Fixed(game, fail_after=30)]
    selfplay = SelfPlay(game, evaluators, *SEARCH, SelfPlayConfig(games=4, workers=2))
    with pytest.raises(AzlabError, match="The evaluator broke"):
        selfplay.play(4000, [0])
    assert threading.active_count() < 10 and evaluators[0].calls < 2000  # not the 20,000 that 2,000 positions take


def test_a_listener_that_fails_or_is_interrupted_stops_the_play():
    game = azlab.game("tictactoe")
    for workers, error in ((1, KeyboardInterrupt), (2, RuntimeError)):
        selfplay = SelfPlay(game, [Fixed(game)] * workers, *SEARCH, SelfPlayConfig(games=4, workers=workers))

        def listener(count, error=error):
            raise error

        with pytest.raises(error):
            selfplay.play(10**6, [0], listener)


@pytest.mark.parametrize("merge", [0.0, 0.8])
def test_only_positions_that_are_not_in_the_window_count_if_asked(tiny, tmp_path, merge):
    """A position that the window has dropped is new again, while the run's diversity counts it as seen: here all 15 soon are."""
    board = {"game": "dots_and_boxes", "options": {"rows": 1, "cols": 1}, "training__window": ((1, 4),), "training__merge": merge}
    run = AlphaZero.from_config(tiny(**board, selfplay__count_new=True, selfplay__positions=8, iterations=4), tmp_path)
    seen, window = set(), Window(run.game, merge)
    for row in run.train():
        games = run.folder.load_games(row["iteration"], run.game)
        played = {state.tobytes() for state in games.states}
        assert len(played - {state.tobytes() for state in window.examples().states}) >= 8
        assert row["diversity"] == pytest.approx(len(played - seen) / row["examples"])
        seen |= played
        window.add(games)
        window.trim(4)
    assert len(seen) <= 15 and row["diversity"] < 0.1


def test_counting_new_positions_ends_when_there_are_none(tiny, tmp_path):
    config = tiny(game="dots_and_boxes", options={"rows": 1, "cols": 1}, selfplay__count_new=True, selfplay__positions=1000)
    with pytest.raises(AzlabError, match="this game is explored"):
        AlphaZero.from_config(config, tmp_path).train()


def test_an_unlucky_last_game_is_no_explored_game(tiny, tmp_path, monkeypatch):
    """A round that was to find one last new position and did not, does not end the training."""
    run = AlphaZero.from_config(tiny(selfplay__count_new=True, selfplay__positions=100), tmp_path)
    given = iter([99, 0, 0, 1])
    monkeypatch.setattr(Window, "count_new", lambda self, examples: next(given))
    assert run._play(1)["diversity"] > 0 and next(given, None) is None


class Counting(Fixed):
    """Counts the positions it is asked about."""

    asked = 0

    def evaluate(self, states, legal):
        self.asked += len(states)
        return super().evaluate(states, legal)


@pytest.mark.parametrize("cache", [0, 100_000])
@pytest.mark.parametrize("reuse", [False, True])
def test_costs_are_counted(cache, reuse):
    game = azlab.game("connect4")
    net = Counting(game)
    config = SelfPlayConfig(games=5, workers=1, cache=cache, reuse_tree=reuse)
    worker = Worker(game, 5, net, FORMULA, Budget(20, cap=(0.5, 6)), EXPLORE, config)
    parts = [worker.play(80, [1, part], Event()) for part in range(2)]
    assert sum(part.computed for part in parts) == net.asked
    for part in parts:
        assert part.searches == part.moves and part.computed < part.evaluations
        roots = part.evaluations - part.simulations
        assert 5 <= roots < part.searches / 2 if reuse else roots == part.searches  # kept trees have been evaluated
    if cache:  # the games share their openings
        assert sum(part.computed for part in parts) < 0.8 * sum(part.evaluations for part in parts)


@pytest.mark.parametrize("playouts", [1, 2])
def test_an_evaluator_in_compiled_code_is_counted_too(playouts):
    """Nothing is asked about the ends of games, and each position of a tree is asked about once."""
    game = azlab.game("tictactoe")
    search = Searcher(game, 3, PlayoutEvaluator(game, playouts), FORMULA, 60)
    search.start(game.from_moves("a1 b1 a2 b2 c1").state.repeat(3))
    search.run(np.array([60, 20, 40]))
    nodes = [~search.tree.over[g, : search.tree.size[g]] for g in range(3)]
    assert search.asked == sum(part.sum() for part in nodes) < 120 + 3 and search.roots == 3


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"workers": 3, "games": 2}, "too little to do"),
        ({"search_value": 1.1}, "between 0 and 1"),
        ({"discount": "a"}, "between 0 and 1"),
        ({"positions": 0}, "whole number"),
        ({"count_new": 1}, "True, False"),
    ],
)
def test_settings_that_cannot_be(settings, says):
    with pytest.raises(AzlabError, match=says):
        SelfPlayConfig(**settings)


def test_searches_without_a_network_teach_too():
    """Any evaluator will do: random playouts, for example."""
    game = azlab.game("tictactoe")
    selfplay = SelfPlay(game, [PlayoutEvaluator(game)], *SEARCH, SelfPlayConfig(games=4, workers=1))
    found = selfplay.play(50, [0]).examples
    assert found.size >= 50 and found.policy.sum(axis=1) == pytest.approx(np.ones(found.size), abs=0.01)
