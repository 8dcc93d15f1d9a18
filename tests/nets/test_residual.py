import subprocess
import sys

import pytest
import torch

import azlab.games
from azlab.errors import AzlabError
from azlab.nets.residual import ResidualConfig, ResidualNet, count_parameters


@pytest.mark.parametrize(("blocks", "parameters"), [(5, 1_574_730), (10, 3_053_130), (20, 6_009_930)])
def test_parameter_counts_of_the_source(connect4, blocks, parameters):
    with torch.device("meta"):
        assert count_parameters(ResidualNet(ResidualConfig.for_game(connect4, "single", blocks=blocks))) == parameters


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
