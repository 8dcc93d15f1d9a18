import subprocess
import sys

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import azlab.games
from azlab.errors import AzlabError
from azlab.nets.residual import ResidualConfig, ResidualNet, count_multiplications, count_parameters


@pytest.mark.parametrize(("blocks", "parameters"), [(5, 1_574_730), (10, 3_053_130), (20, 6_009_930)])
def test_parameter_counts_of_the_source(connect4, blocks, parameters):
    with torch.device("meta"):
        assert count_parameters(ResidualNet(ResidualConfig.for_game(connect4, "single", blocks=blocks))) == parameters


SMALL = {"stem": 32, "filters": 32, "head": 8}


@pytest.mark.parametrize(
    ("encoding", "sizes", "millions"),
    [
        ("single", {}, "65.4"),
        ("single", {"filters": 16}, "1.44"),
        ("single", {"filters": 32}, "4.77"),
        ("single", {"filters": 64}, "17.1"),
        ("single", {"filters": 256}, "255"),
        ("single", {"blocks": 4, **SMALL}, "3.31"),
        ("single", {"blocks": 3, **SMALL}, "2.53"),
        ("single", {"blocks": 3, "stem": 128, "filters": 32, "head": 1, "squeeze": 4}, "2.57"),  # the bottleneck
        ("planes", {"blocks": 2, "squeeze": 8, "reply": True, **SMALL}, None),
    ],
)
def test_multiplications_are_those_that_torch_counts(connect4, encoding, sizes, millions):
    config = ResidualConfig.for_game(connect4, encoding, **sizes)
    with torch.device("meta"), FlopCounterMode(display=False) as counted:
        ResidualNet(config)(torch.zeros(3, config.channels, 6, 7))
    assert counted.get_total_flops() == 2 * 3 * count_multiplications(config)  # it counts additions apart
    assert millions is None or f"{count_multiplications(config) / 1e6:.3g}" == millions


def test_the_bottleneck_net_is_small_and_has_42_features_a_head(connect4):
    net = ResidualNet(ResidualConfig.bottleneck(connect4))
    assert count_parameters(net) == 63_312 < 70_000
    assert net.policy.features(net.trunk(torch.ones(2, 1, 6, 7))).shape == (2, 1, 6, 7)


def test_squeeze_adds_two_matrices_a_block(connect4):
    plain, squeezed = (ResidualNet(ResidualConfig.for_game(connect4, "single", squeeze=neurons)) for neurons in (0, 8))
    assert count_parameters(squeezed) - count_parameters(plain) == 5 * 2 * 128 * 8


def test_the_reply_head_shares_the_policy_convolution(connect4):
    sizes = {"blocks": 1, "filters": 8, "head": 2}
    plain, reply = (ResidualNet(ResidualConfig.for_game(connect4, "single", reply=flag, **sizes)) for flag in (False, True))
    assert count_parameters(reply) - count_parameters(plain) == 2 * 42 * 7 + 7
    assert plain(torch.ones(3, 1, 6, 7)).reply is None
    assert reply(torch.ones(3, 1, 6, 7)).reply.shape == (3, 7)


@pytest.mark.parametrize("name", list(azlab.games.GAMES))
def test_every_game_has_a_net(name, small_net, some_states):
    game = azlab.games.game(name)
    net = small_net(game, encoding="planes")
    out = net(torch.from_numpy(game.encode(some_states(game, 4)[0])))
    assert out.policy.shape == (4, game.num_actions) and out.result.shape == (4, 3)


def test_wrong_sizes_are_sentences(connect4):
    with pytest.raises(AzlabError, match="blocks must be a whole number from 1 to 200"):
        ResidualConfig.for_game(connect4, blocks=0)
    with pytest.raises(AzlabError, match="has no layers; its sizes are blocks"):
        ResidualConfig.for_game(connect4, layers=3)


def test_importing_azlab_nets_loads_no_library():
    code = "import sys, azlab.nets; dir(azlab.nets); print(*(name in sys.modules for name in ('torch', 'tensorflow', 'keras')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"] * 3
