"""A net for each phase: each sees and learns its own positions, and only those."""

import numpy as np
import pytest
import torch

import azlab
from azlab.errors import AzlabError
from azlab.games.game import Position
from azlab.learning.alphazero import AlphaZero, new_learner
from azlab.learning.config import preset
from azlab.learning.learner import LossConfig
from azlab.learning.window import Examples
from azlab.nets.kinds import new_net

GAME = azlab.game("seega")
SIZES = {"blocks": 1, "filters": 8, "stem": 8, "head": 2}


def positions(plies, count=6):
    states, rng = GAME.new_states(count), np.random.default_rng(plies)
    for _ in range(plies):
        GAME.kernels.play(states, GAME.random_actions(states, rng))
    return states


def examples(states):
    policy = GAME.legal_mask(states).astype(np.float16)
    policy /= policy.sum(axis=1, keepdims=True)
    result = np.eye(3, dtype=np.float32)[np.arange(len(states)) % 3]
    return Examples(states, policy, result, np.zeros_like(policy))


def learner():
    return new_learner(GAME, {"kind": "phases", **SIZES}, LossConfig(symmetries=False), 1)


def test_rows_go_to_the_net_of_their_phase():
    net = new_net(GAME, {"kind": "phases", **SIZES}, 1)[0].eval()
    states = np.concatenate([positions(5), positions(30)])[np.random.default_rng(0).permutation(12)]
    beyond = GAME.at_horizon(states)
    assert 0 < beyond.sum() < 12
    planes = torch.from_numpy(GAME.encode(states))
    with torch.no_grad():
        mixed = net(planes, torch.from_numpy(beyond))
        for part, rows in ((net.before, ~beyond), (net.beyond, beyond)):
            alone = part(planes[torch.from_numpy(rows)])
            for name in ("policy", "result"):
                found = getattr(mixed, name)[torch.from_numpy(rows)]
                assert torch.allclose(found, getattr(alone, name), atol=1e-5)


@pytest.mark.parametrize(("plies", "learns", "stays"), [(5, "before", "beyond"), (30, "beyond", "before")])
def test_a_net_learns_from_its_own_phase_alone(plies, learns, stays):
    one = learner()
    old = {name: tensor.clone() for name, tensor in one.net.state_dict().items()}
    loss = one.step(examples(positions(plies)), 0.1, 0.9, np.random.default_rng(0))
    assert loss["loss"] > 0
    changed = {name.split(".")[0] for name, tensor in one.net.state_dict().items() if not torch.equal(tensor, old[name])}
    assert changed == {learns} and stays not in changed


def test_the_evaluator_asks_the_net_of_the_phase_and_takes_over_both():
    one = learner()
    evaluator = one.evaluator(1)
    states = np.concatenate([positions(5), positions(30)])
    legal = GAME.legal_mask(states)
    before = evaluator.evaluate(states, legal)
    for _ in range(3):
        one.step(examples(states), 0.1, 0.9, np.random.default_rng(0))
    assert np.array_equal(evaluator.evaluate(states, legal)[0], before[0])
    evaluator.refresh()
    after = evaluator.evaluate(states, legal)
    assert (after[1] != before[1]).all()
    one.net.eval()
    with torch.no_grad():
        truth = one.net(torch.from_numpy(GAME.encode(states)), torch.from_numpy(GAME.at_horizon(states)))
    wanted = torch.softmax(truth.policy.masked_fill(~torch.from_numpy(legal), -torch.inf), dim=1).numpy()
    assert np.allclose(after[0], wanted, atol=2e-3)


def test_a_training_with_two_nets_runs_and_its_network_is_found_again(tmp_path):
    small = {"iterations": 2, "selfplay.positions": 60, "selfplay.games": 8, "budget.simulations": 4, "evaluation.opponents": []}
    config = preset("seega").changed({"net.kind": "phases", **{f"net.{key}": value for key, value in SIZES.items()}, **small})
    AlphaZero.from_config(config, tmp_path / "run").train()
    player = azlab.agent(f"az:{tmp_path / 'run'},simulations=4")
    for plies in (0, 30):
        position = Position(GAME, positions(plies, 1))
        assert player.choose(position) in position.legal_actions


def test_what_cannot_be():
    with pytest.raises(AzlabError, match="one phase, from beginning to end"):
        new_net(azlab.game("tictactoe"), {"kind": "phases", **SIZES})
    with pytest.raises(AzlabError, match="no replies"):
        new_net(GAME, {"kind": "phases", **SIZES, "reply": True})
