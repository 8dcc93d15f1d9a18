"""Training for the margin: targets, evaluation, and players in a file."""

import numpy as np
import pytest

from azlab.arena.agents import agent, ready
from azlab.cli import main
from azlab.errors import AzlabError
from azlab.games import game
from azlab.learning.alphazero import AlphaZero
from azlab.learning.config import AlphaZeroConfig, preset
from azlab.learning.evaluation import graded, graded_by_oracle, own_positions, search_accuracy
from azlab.learning.selfplay import SelfPlay, SelfPlayConfig
from azlab.learning.shipped import load_player, save_player
from azlab.learning.targets import with_searches
from azlab.oracles import oracle
from azlab.oracles.dots_and_boxes import boxes_of_lines
from azlab.search import Budget, Explore, Search
from azlab.search.evaluators import OracleEvaluator, RestEvaluator, UniformEvaluator

BOXES = game("dots_and_boxes", rows=2, cols=2)
FORMULA, EXPLORE = Search(cpuct_base=0.0, margin=True), Explore(temperature=((0, 1.0),))
SEARCH = FORMULA, Budget(8), EXPLORE


def boxes_in(lines):
    """How many boxes are complete in each set of lines, counted from the matrix."""
    return sum(
        lines[:, 2 * r, c] & lines[:, 2 * r + 2, c] & lines[:, 2 * r + 1, c] & lines[:, 2 * r + 1, c + 1]
        for r in range(2)
        for c in range(2)
    )


def test_the_target_is_what_the_mover_makes_of_the_rest():
    """Followed through each game by the lines alone: who draws a box goes on, and the rest adds up."""
    play = SelfPlay(BOXES, [RestEvaluator(UniformEvaluator(), BOXES)], *SEARCH, SelfPlayConfig(games=8, workers=1))
    examples = play.play(200, [0]).examples
    assert (examples.states["boxes"] == 0).all() and (examples.states["to_move"] == 0).all()
    starts = np.flatnonzero(examples.states["ply"] == 0)
    assert len(starts) > 8
    for first, last in zip(starts, [*starts[1:], examples.size], strict=True):
        assert last - first == 12  # a whole game
        done = [*boxes_in(examples.states["lines"][first:last]), 4]  # however the boards are turned
        rest = 0.0
        for k in range(11, -1, -1):  # from the last move back
            won = done[k + 1] - done[k]
            rest = won + rest if won else -rest
            assert examples.values[first + k] * 4 == pytest.approx(rest, abs=1e-5)


def test_the_searchs_own_value_counts_without_the_lead():
    """A search that knows the exact margin of the rest teaches it, whatever the game made of it."""

    class Exact:
        def evaluate(self, states, legal):
            return legal / legal.sum(axis=1, keepdims=True), (oracle(BOXES).values(states) / 4).astype(np.float32)

    config = SelfPlayConfig(games=4, workers=1, search_value=1.0)
    examples = SelfPlay(BOXES, [RestEvaluator(Exact(), BOXES)], FORMULA, 1, EXPLORE, config).play(100, [0]).examples
    exact = oracle(BOXES).values(examples.states) / 4
    late = examples.states["ply"] == 11  # one line is left, one move to make: root and child agree
    assert late.any() and np.allclose(examples.values[late], exact[late], atol=1e-5)
    assert np.abs(examples.values - exact).mean() < 0.3  # one simulation from a random move is not far off


def test_targets_that_bootstrap_stop_at_the_next_searches():
    """With an even chance to stop at every position, worked out by hand for three moves."""
    targets = with_searches(np.array([1.0, 1.0, 1.0]), np.array([9.0, 0.5, -0.5]), SelfPlayConfig(bootstrap=0.5))
    assert targets.tolist() == [0.5 * 0.5 + 0.5 * 0.25, 0.5 * -0.5 + 0.5 * 1, 1]  # the last move has only the result
    with pytest.raises(AzlabError, match="discount"):
        SelfPlayConfig(bootstrap=0.5, discount=0.9)


def test_a_discount_is_refused():
    with pytest.raises(AzlabError, match="discount"):
        SelfPlay(BOXES, [UniformEvaluator()], *SEARCH, SelfPlayConfig(games=2, workers=1, discount=0.9))
    with pytest.raises(AzlabError, match="margin"):
        AlphaZeroConfig(search=Search(margin=True))


def test_what_is_given_away_is_counted_in_boxes():
    test = graded(BOXES, "reachable")
    perfect = OracleEvaluator(oracle(BOXES))
    perfect.game = BOXES
    assert (test.lost >= 0).all() and ((test.lost == 0) | ~test.best).all()
    boxes = boxes_of_lines(2, 2)
    assert len(boxes) == 12 and test.lost.max() <= 8  # all four boxes for the other one
    found = search_accuracy([perfect], test.take(slice(0, 200)), Search(cpuct_base=0.0), 1)
    assert found["mean_loss"] == 0 and found["mcts_accuracy"] == 1
    known_nothing = RestEvaluator(UniformEvaluator(), BOXES)
    found = search_accuracy([known_nothing], test.take(slice(0, 200)), Search(cpuct_base=0.0, margin=True), 1)
    assert found["mean_loss"] > 0


def test_own_positions_are_those_of_whole_games():
    nets = [RestEvaluator(UniformEvaluator(), BOXES)]
    states = own_positions(nets, FORMULA, 8, games=10, seed=1)
    assert len(states) == 10 * 12 and sorted(states["ply"].tolist()) == sorted(list(range(12)) * 10)
    opened = own_positions(nets, FORMULA, 8, games=10, random_plies=6, seed=1)
    assert 10 * 6 <= len(opened) < 10 * 12
    assert len(graded_by_oracle(BOXES, opened).best) == len(opened)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    config = preset("dots_and_boxes").changed(
        {
            "options.rows": 2, "options.cols": 2, "iterations": 1, "net.layers": (16,), "budget.simulations": 4,
            "search.gumbel": 4, "evaluation.simulations": 8, "selfplay.games": 8, "selfplay.positions": 50,
            "evaluation.count": 20,
        }
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("runs") / "small"
    trained = AlphaZero.from_config(config, folder)
    trained.train()
    return trained


@pytest.mark.learns
def test_a_player_in_a_file_plays_as_the_run_does(run, tmp_path, monkeypatch, capsys):
    root = tmp_path / "checkout"
    (root / "reproductions").mkdir(parents=True)
    file = root / "data" / "players" / "small.safetensors"
    assert main(["run", str(run.folder.path), "--player", str(file)]) == 0
    assert "The player is in" in capsys.readouterr().out
    monkeypatch.setenv("AZLAB_ROOT", str(root))
    shipped, trained = ready(agent("az"), BOXES), agent(f"az:{run.folder.path}")
    states = BOXES.new_states(20)
    rng = np.random.default_rng(0)
    for _ in range(4):
        BOXES.kernels.play(states, BOXES.random_actions(states, rng))
    answers = [player.evaluator.evaluate(states, BOXES.legal_mask(states)) for player in (shipped._player, trained)]
    assert np.allclose(answers[0][0], answers[1][0], atol=5e-3)  # half precision
    assert np.allclose(answers[0][1], answers[1][1], atol=5e-3)
    assert file.stat().st_size < 100_000
    position = BOXES.start()
    assert shipped.choose(position) in position.legal_actions
    with pytest.raises(AzlabError, match="No trained player ships"):
        ready(agent("az"), game("tictactoe"))


def test_damaged_and_foreign_files_are_named(run, tmp_path):
    file = tmp_path / "player.safetensors"
    save_player(run.learner, run.config, file)
    learner, config = load_player(file)
    assert config == run.config and len(learner.weights()) == len(run.learner.weights())
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    with pytest.raises(AzlabError, match="whole safetensors file"):
        load_player(file)
    run.learner.save(tmp_path / "net.keras", tmp_path / "optimiser.safetensors")
    with pytest.raises(AzlabError, match="no player of azlab"):
        load_player(tmp_path / "optimiser.safetensors")
    with pytest.raises(AzlabError, match="ends in .safetensors"):
        save_player(run.learner, run.config, tmp_path / "player.txt")


def test_the_run_command_tests_on_own_games(run, capsys):
    assert main(["run", str(run.folder.path), "--test", "own", "--count", "20"]) == 0
    out = capsys.readouterr().out
    assert "mean loss: " in out and "network accuracy" in out
