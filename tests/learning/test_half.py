"""Networks that compute in bfloat16: what rounding changes, and that nothing changes without instructions for it."""

import numpy as np
import pytest
import torch

import azlab
from azlab import amx
from azlab.errors import AzlabError
from azlab.learning import learner as learners
from azlab.learning.alphazero import new_learner
from azlab.learning.learner import LossConfig
from azlab.learning.shipped import load_player, save_player
from azlab.nets.evaluators import TorchEvaluator

NET = {"blocks": 3, "filters": 16, "stem": 8, "head": 4, "squeeze": 4}
ROUNDING = 2.0**-8  # of one number in bfloat16, relative: 8 bits
pytestmark = pytest.mark.skipif(amx.hint() is not None, reason="torch in bfloat16 would end this process")


@pytest.fixture
def any_processor(monkeypatch):
    """As if this processor had the instructions; torch computes the same without them, slowly."""
    monkeypatch.setattr(learners, "is_bfloat16_fast", lambda: True)
    yield
    torch.set_num_threads(learners.wanted_threads())


def make(half, seed=1, **net):
    return new_learner(azlab.game("connect4"), NET | net, LossConfig(half=half, symmetries=False), seed)


def taught(learner, random_examples, steps=5):
    for k in range(steps):
        learner.step(random_examples(learner.game, 64, seed=k, plies=9), 0.05, 0.9, np.random.default_rng(k))
    return learner


@pytest.mark.parametrize("squeeze", [0, 4])
def test_a_rounded_network_says_nearly_the_same(squeeze, random_examples):
    """Twelve roundings one after another, as if they all added up, are 12 * 2^-8 = 5 % of the logits' size."""
    net = taught(make(False, squeeze=squeeze), random_examples).net
    game = azlab.game("connect4")
    states = random_examples(game, 300, plies=12).states
    exact, rounded = (TorchEvaluator(net, game, "cpu", fast=way, threads=1) for way in ("torch", "bfloat16"))
    inputs = exact.encoding.encode(game, states)
    logits, others = (np.concatenate(one.forward(inputs), axis=1) for one in (exact, rounded))
    errors = np.abs(logits - others)
    assert 0 < errors.max() < 12 * ROUNDING * np.abs(logits).max() and errors.mean() < 4 * ROUNDING * logits.std()
    priors, values, _ = rounded.evaluate(states, game.legal_mask(states))
    np.testing.assert_allclose(priors.sum(axis=1), 1, atol=1e-5)
    assert np.corrcoef(values, exact.evaluate(states, game.legal_mask(states))[1])[0, 1] > 0.99


def test_a_step_in_half_precision_goes_nearly_the_same_way(any_processor, random_examples):
    examples, steps, losses = random_examples(azlab.game("connect4"), 256, plies=9), [], []
    for half in (False, True):
        learner = make(half)
        before = learner.weights()
        losses.append(learner.step(examples, 0.01, 0.0, np.random.default_rng(0))["loss"])
        assert all(tensor.dtype != torch.bfloat16 for tensor in learner.net.state_dict().values())
        steps.append(np.concatenate([(now - then).ravel() for now, then in zip(learner.weights(), before, strict=True)]))
    one, other = steps
    assert losses[0] != losses[1] and abs(losses[0] - losses[1]) < 4 * ROUNDING * losses[0]
    assert one @ other > 0.98 * np.linalg.norm(one) * np.linalg.norm(other)


@pytest.mark.learns
def test_it_learns_a_fixed_batch(any_processor, random_examples):
    learner = make(True)
    examples = random_examples(learner.game, 64, plies=2)
    examples = examples._replace(policy=np.eye(7, dtype=np.float16)[examples.policy.argmax(axis=1)])
    losses = [learner.step(examples, 0.05, 0.9, np.random.default_rng(0))["policy_loss"] for _ in range(60)]
    assert sum(losses[-5:]) < 0.8 * sum(losses[:5])  # without learning they are equal


def test_learner_evaluator_and_version_are_rounded_alike_and_files_are_not(any_processor, random_examples, tmp_path):
    learner = taught(make(True), random_examples, 2)
    learner.save(tmp_path / "net.safetensors", tmp_path / "optimiser.safetensors")
    assert learner.evaluator(1).fast == learner.version(tmp_path / "net.safetensors", 1).fast == "bfloat16"
    exact = make(False)
    exact.load(tmp_path / "net.safetensors", tmp_path / "optimiser.safetensors")
    assert all(np.array_equal(a, b) for a, b in zip(exact.weights(), learner.weights(), strict=True))


def test_a_rounded_learner_goes_on_bit_for_bit_from_its_files(any_processor, random_examples, tmp_path):
    files = tmp_path / "net.safetensors", tmp_path / "optimiser.safetensors"
    one, other = taught(make(True), random_examples, 2), make(True, seed=2)
    one.save(*files)
    other.load(*files)
    for learner in (one, other):
        taught(learner, random_examples, 3)
    assert all(np.array_equal(a, b) for a, b in zip(one.weights(), other.weights(), strict=True))


def test_without_instructions_for_it_nothing_is_rounded(monkeypatch, random_examples):
    monkeypatch.setattr(learners, "is_bfloat16_fast", lambda: False)
    one, other = (taught(make(half), random_examples, 2) for half in (False, True))
    assert other.evaluator(1).fast == "winograd"
    assert all(np.array_equal(a, b) for a, b in zip(one.weights(), other.weights(), strict=True))


def test_a_player_computes_the_same_on_all_machines(any_processor, tiny, tmp_path):
    config = tiny(game="connect4", loss__half=True)
    save_player(new_learner(config.rules(), config.net, config.loss, 1), config, tmp_path / "player.safetensors")
    learner, config = load_player(tmp_path / "player.safetensors")
    assert not config.loss.half and learner.evaluator(1).fast == "winograd"


def test_it_is_for_residual_nets_and_processors():
    game = azlab.game("connect4")
    with pytest.raises(AzlabError, match="is for a ResidualNet"):
        net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(84, 8))
        TorchEvaluator(net, game, fast="bfloat16")
    with pytest.raises(AzlabError, match="half must be one of"):
        LossConfig(half="yes")
