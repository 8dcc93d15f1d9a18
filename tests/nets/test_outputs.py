"""What nets of anyone's may return, read by a dry run: torch modules of every form give the same evaluations and learn."""

import numpy as np
import pytest
import torch
from torch import nn

import azlab
from azlab.errors import AzlabError
from azlab.nets.encodings import ENCODINGS, Encoding
from azlab.nets.evaluators import TorchEvaluator, torch_form
from azlab.nets.outputs import Form
from azlab.nets.residual import NetOutput

GAME = azlab.game("tictactoe")  # 9 actions, 2 planes of 3x3


class Shaped(nn.Module):
    """One linear layer, whose outputs are handed over in a form of their own."""

    def __init__(self, outputs, form):
        super().__init__()
        torch.manual_seed(5)
        self.linear, self.form = nn.Linear(18, outputs), form

    def forward(self, planes):
        return self.form(self.linear(planes.flatten(1)))


THREE = [  # the same 9 + 3 numbers in every form
    lambda x: x,
    lambda x: (x[:, :9], x[:, 9:]),
    lambda x: [x[:, :9], x[:, 9:]],
    lambda x: NetOutput(x[:, :9], x[:, 9:]),
    lambda x: {"policy": x[:, :9], "value": x[:, 9:]},
    lambda x: {"result": x[:, 9:], "policy": x[:, :9], "ownership": x[:, :4]},
]
ONE = [
    lambda x: x,
    lambda x: (x[:, :9], x[:, 9:]),
    lambda x: {"policy": x[:, :9], "value": x[:, 9]},
    lambda x: (x[:, :9], x[:, 9], x[:, :9] * 2),
]


@pytest.mark.parametrize(("outputs", "forms"), [(12, THREE), (10, ONE)])
def test_every_form_gives_the_same_evaluations(outputs, forms, some_states):
    states, legal = some_states(GAME, 20)
    plain = Shaped(outputs, forms[0])
    with torch.no_grad():
        rows = plain(torch.from_numpy(GAME.encode(states))).numpy()
    chances = np.exp(rows[:, :9]) * legal
    wanted = [chances / chances.sum(axis=1, keepdims=True)]
    sign = np.where(states["to_move"] == 0, 1, -1)
    if outputs == 12:
        results = np.exp(rows[:, 9:]) / np.exp(rows[:, 9:]).sum(axis=1, keepdims=True)
        wanted += [sign * (results[:, 1] - results[:, 2]), results[:, 0]]
    else:
        wanted += [sign * np.clip(rows[:, 9], -1, 1)]
    for form in forms:
        found = TorchEvaluator(Shaped(outputs, form), GAME, "cpu").evaluate(states, legal)
        assert len(found) == len(wanted)
        for mine, theirs in zip(found, wanted):
            np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_a_value_beyond_a_win_counts_as_a_win(some_states):
    states, legal = some_states(GAME, 4)
    net = Shaped(10, lambda x: (x[:, :9], 0 * x[:, 9] + 7))
    assert (TorchEvaluator(net, GAME, "cpu").evaluate(states, legal)[1] == np.where(states["to_move"] == 0, 1, -1)).all()


def test_policy_alone_has_the_value_0(some_states):
    states, legal = some_states(GAME, 4)
    net = Shaped(9, lambda x: {"policy": x})
    assert not TorchEvaluator(net, GAME, "cpu").evaluate(states, legal)[1].any()


@pytest.mark.parametrize(
    ("outputs", "form", "says"),
    [
        (
            9,
            lambda x: x,
            "The net gives 9 outputs, but tictactoe has 9 actions: with a value it is 10, with draw, win and loss 12.",
        ),
        (8, lambda x: (x, x[:, :1]), "The net gives 8 policy outputs, but tictactoe has 9 actions."),
        (9, lambda x: {"moves": x}, "The net gives no 'policy', only 'moves'."),
        (9, lambda x: (x, x[:, :2]), r"The value is one number a position, or three .*, not \[positions, 2\]."),
        (9, lambda x: (x, x[:, :1], x[:, :3]), "The reply has the policy's shape"),
        (9, lambda x: (x[:, :, None], x[:, :1]), r"of shape \[positions, actions\], not \[positions, 9, 1\]"),
        (9, lambda x: x[:, :, None], "does it need a Flatten"),
        (9, lambda x: "x", "arrays, a tuple or a dict of them, not str"),
        (
            9,
            lambda x: x @ torch.ones(3, 3),
            "The net cannot read tictactoe encoded as 'planes', which is 2x3x3 numbers a position",
        ),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(outputs, form, says):
    with pytest.raises(AzlabError, match=says):
        TorchEvaluator(Shaped(outputs, form), GAME, "cpu")


def test_the_dry_run_leaves_a_net_as_it_is():
    net = nn.Sequential(nn.BatchNorm2d(2), nn.Flatten(), nn.LazyLinear(10))
    before = net[0].running_mean.clone()
    assert torch_form(net, GAME, ENCODINGS["planes"]) == Form(9, 1, True)
    assert net.training and torch.equal(net[0].running_mean, before)
    net(torch.zeros(2, 2, 3, 3)).sum().backward()  # the lazy layer's weights can be trained


def test_which_output_is_which_action_belongs_to_the_encoding(some_states):
    """A net whose outputs are numbered backwards."""
    states, legal = some_states(GAME, 12)
    net = Shaped(10, lambda x: x)
    backwards = Encoding("backwards", lambda planes: planes, lambda game: (np.arange(9)[::-1].copy(), 9))
    assert torch_form(net, GAME, backwards).policies == 9
    # with as many outputs as actions they are the actions; one more makes the encoding's own order count
    wider = Shaped(11, lambda x: (x[:, :10], x[:, 10:]))
    shifted = Encoding("shifted", lambda planes: planes, lambda game: (np.arange(1, 10), 10))
    plain = TorchEvaluator(Shaped(11, lambda x: (x[:, 1:10], x[:, 10:])), GAME, "cpu")
    for mine, theirs in zip(
        TorchEvaluator(wider, GAME, "cpu", encoding=shifted).evaluate(states, legal), plain.evaluate(states, legal)
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_views_of_the_sources_fit_games_by_what_their_planes_show():
    for name, fitting, others in (
        ("signed", ("tictactoe", "connect4", "go", "simple_go", "seega"), ("dots_and_boxes",)),
        ("lines", ("dots_and_boxes",), ("tictactoe", "go", "seega")),
    ):
        for game in fitting:
            ENCODINGS[name].check(azlab.game(game))
        for game in others:
            with pytest.raises(AzlabError, match=f"'{name}' is for games .* unlike {game}; use 'planes'"):
                ENCODINGS[name].check(azlab.game(game))
