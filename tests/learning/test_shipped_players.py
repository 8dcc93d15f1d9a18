"""The players in data/players: they load, and play as well as the documentation says."""

import io

import numpy as np
import pytest

import azlab.show
from azlab.arena.agents import Evaluates, agent, ready, thinking
from azlab.cli import main
from azlab.games import game
from azlab.learning import AlphaZero, shipped
from azlab.learning.alphazero import new_learner
from azlab.learning.config import preset
from azlab.learning.evaluation import graded, graded_by_oracle, own_positions, sample, search_accuracy
from azlab.learning.learner import LossConfig
from azlab.learning.shipped import load_player, player_for, players
from azlab.oracles import oracle


def test_every_player_is_small_and_knows_its_game():
    found = players()
    assert found
    for path, rules in found.items():
        learner, config = load_player(path)
        assert learner.game == rules == config.rules() and path == player_for(rules)
        assert path.stat().st_size < 8_000_000


def test_a_shipped_player_thinks_in_steps_and_chooses_the_same():
    position = game("dots_and_boxes").start()
    player = agent("az")
    assert player.evaluator is None  # no game is known yet
    mind = thinking(player, position)
    while mind.step():
        pass
    assert mind.action() == agent("az").choose(position)
    assert isinstance(player, Evaluates) and player.evaluator is not None


@pytest.mark.learns
def test_the_player_of_3x3_boxes_hardly_ever_gives_anything_away():
    """Its training reached 99%; a network that had been damaged, or seen through a wrong encoding, is far below.

    Other seeds and instructions (SSE, AVX2) gave 99.0 to 99.8% best moves, and all moves held the result.
    """
    rules = game("dots_and_boxes")
    player = ready(agent("az"), rules)._player
    states = own_positions([player.evaluator], player.search, player.budget, games=20, random_plies=8, seed=5)
    found = search_accuracy([player.evaluator], graded_by_oracle(rules, states), player.search, player.budget)
    assert found["mcts_accuracy"] > 0.96 and found["holding_accuracy"] > 0.98


@pytest.mark.learns
@pytest.mark.parametrize("seed", [0, 1])
def test_as_second_it_wins_against_the_perfect_player(seed):
    """3x3 is a win for the second player, who must not let it go; the first tries everything with best moves."""
    rules = game("dots_and_boxes")
    player, perfect = ready(agent("az", seed), rules), agent("perfect", seed)
    position = rules.start()
    while not position.over:
        position = position.play((player if position.to_move == 1 else perfect).choose(position))
    assert position.result == -1
    assert np.sign(oracle(rules).value(rules.start())) == -1


@pytest.mark.learns
@pytest.mark.slow
def test_the_player_of_connect_4_finds_most_of_the_best_moves(need):
    """On positions that are hard on purpose, of which its training had 88% with 343 simulations. The same search with an
    untrained network must be far below, or the test could not fail."""
    need.data("connect4/hard_test.txt.gz")
    rules = game("connect4")
    player = ready(agent("az"), rules)._player
    test = sample(graded(rules, "connect4/hard_test.txt.gz"), 200, seed=9)
    assert search_accuracy([player.evaluator], test, player.search, 100)["mcts_accuracy"] > 0.8
    untrained = new_learner(rules, {"blocks": 1, "filters": 8, "stem": 8, "head": 2}, LossConfig(), 0)
    assert search_accuracy([untrained.evaluator(1)], test, player.search, 100)["mcts_accuracy"] < 0.72


@pytest.fixture
def players_folder(tmp_path, monkeypatch):
    """A folder that stands for data/players."""
    (tmp_path / "data" / "players").mkdir(parents=True)
    monkeypatch.setattr(shipped, "data_folder", lambda: tmp_path / "data")
    return tmp_path / "data" / "players"


@pytest.mark.slow
def test_a_player_of_connect_4_is_found_the_moment_its_file_is_there(players_folder, tiny, tmp_path, capsys, monkeypatch):
    """From a training to the board of a notebook, through the commands that people type."""
    with pytest.raises(azlab.AzlabError, match="No trained player ships"):
        ready(agent("az"), game("connect4"))
    AlphaZero.from_config(tiny(game="connect4", iterations=1), tmp_path / "run").train()
    file = players_folder / "connect4.safetensors"
    assert main(["run", str(tmp_path / "run"), "--player", str(file)]) == 0
    assert main(["match", "connect4", "az", "perfect", "--games", "2", "--openings", "20"]) == 0
    assert "az against perfect, 2 games" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert main(["play", "connect4", "--against", "az", "--seat", "second"]) == 0
    board = azlab.show.play("connect4", against="az", evaluation=False)
    board.play("4")
    assert board.wait(60) and board.position.ply == 2


def test_the_largest_network_for_connect_4_stays_below_2_megabytes_and_answers_alike(players_folder):
    """Half precision moves a chance by a thousandth or so, as it has 11 bits."""
    rules = game("connect4")
    config = preset("connect4_strong").changed({"net.filters": 96, "net.stem": 96, "loss.half": False})
    learner = new_learner(rules, config.net, config.loss, 1)
    shipped.save_player(learner, config, players_folder / "connect4.safetensors")
    assert player_for(rules).stat().st_size < 2_000_000
    states = rules.new_states(1)
    whole, player = learner.evaluator(1), load_player(player_for(rules))[0].evaluator(1)
    for one, other in zip(whole.evaluate(states, rules.legal_mask(states)), player.evaluate(states, rules.legal_mask(states))):
        np.testing.assert_allclose(one, other, atol=0.01)
