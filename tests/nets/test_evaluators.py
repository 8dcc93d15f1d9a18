import numpy as np
import pytest
import torch

import azlab.games
from azlab.errors import AzlabError
from azlab.nets.encodings import encode
from azlab.nets.evaluators import SIZES, TorchEvaluator, find_device, in_fixed_sizes
from azlab.nets.residual import ResidualConfig, ResidualNet
from azlab.nets.winograd import line_matrices
from azlab.search import Search, Searcher, puct

GAMES = [("connect4", {}), ("tictactoe", {}), ("dots_and_boxes", {"rows": 2, "cols": 2}), ("go", {"size": 9}), ("seega", {})]


@pytest.mark.parametrize(("name", "options"), GAMES)
@pytest.mark.parametrize("sizes", [{}, {"squeeze": 4, "stem": 16}, {"filters": 7, "squeeze": 3, "head": 3}])
@pytest.mark.parametrize("way", ["winograd", "torch"])
def test_the_fast_ways_say_what_the_plain_net_says(name, options, sizes, way, small_net, some_states):
    game = azlab.games.game(name, **options)
    net = small_net(game, reply=True, **sizes)
    states, legal = some_states(game, 50)
    fast, plain = TorchEvaluator(net, game, "cpu", fast=way), TorchEvaluator(net, game, "cpu", fast="no")
    for a, b in zip(fast.evaluate(states, legal), plain.evaluate(states, legal)):
        np.testing.assert_allclose(a, b, atol=1e-4)


@pytest.mark.parametrize("fast", ["auto", "torch", "no"])
def test_priors_values_and_draws_are_those_of_the_net(fast, connect4, small_net, some_states):
    net = small_net(connect4)
    states, legal = some_states(connect4, 60)
    legal[:, 3] = False
    priors, values, draws = TorchEvaluator(net, connect4, "cpu", fast=fast).evaluate(states, legal)
    with torch.no_grad():
        out = net(torch.from_numpy(encode(connect4, states, "single")))
    wanted = torch.softmax(out.policy, dim=1).numpy() * legal
    np.testing.assert_allclose(priors, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-4)
    assert (priors[~legal] == 0).all() and priors.dtype == values.dtype == draws.dtype == np.float32
    chances = torch.softmax(out.result, dim=1).numpy()
    sign = np.where(states["to_move"] == 0, 1, -1)
    assert set(sign) == {1, -1}
    np.testing.assert_allclose(values, sign * (chances[:, 1] - chances[:, 2]), atol=1e-4)
    np.testing.assert_allclose(draws, chances[:, 0], atol=1e-4)


def test_the_sign_follows_the_seat_to_move_and_not_the_ply(small_net):
    game = azlab.games.game("dots_and_boxes", rows=1, cols=1)
    position = game.start()
    states = position.state
    turned = states.copy()
    turned["to_move"] = 1  # the planes show no seat, so the mover's value is the same
    evaluator = TorchEvaluator(small_net(game), game, "cpu")
    legal = game.legal_mask(states)
    value, other = evaluator.evaluate(states, legal)[1], evaluator.evaluate(turned, legal)[1]
    assert value == -other != 0


def test_batches_of_any_size_give_the_same(connect4, small_net, some_states):
    states, legal = some_states(connect4, 300)
    evaluator = TorchEvaluator(small_net(connect4), connect4, "cpu")
    whole = evaluator.evaluate(states, legal)
    assert evaluator.fast == "winograd"
    for size in [*range(1, 40), 64, 65, 100, 255, 256, 257, 299, 300]:
        for part, all_of_it in zip(evaluator.evaluate(states[-size:], legal[-size:]), whole):
            np.testing.assert_allclose(part, all_of_it[-size:], atol=1e-5)


def test_nets_only_ever_see_the_fixed_sizes():
    seen = set()

    def forward(inputs):
        seen.add(len(inputs))
        return (inputs.copy(),)

    for count in range(1, 600):
        (out,) = in_fixed_sizes(np.arange(count), SIZES, forward)
        assert (out == np.arange(count)).all()
    assert seen == set(SIZES)


def test_refresh_takes_over_new_weights(connect4, small_net, some_states):
    net = small_net(connect4)
    states, legal = some_states(connect4, 3)
    evaluator = TorchEvaluator(net, connect4, "cpu")
    before = evaluator.evaluate(states, legal)[1]
    with torch.no_grad():
        net.result.linear.bias += torch.tensor([0.0, 3.0, 0.0])
    assert (evaluator.evaluate(states, legal)[1] == before).all()
    evaluator.refresh()
    assert (np.abs(evaluator.evaluate(states, legal)[1] - before) > 0.01).all()


def test_the_net_it_was_given_is_left_alone(connect4, small_net):
    net = small_net(connect4).train()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    TorchEvaluator(net, connect4, "cpu")
    assert net.training and all(parameter.requires_grad for parameter in net.parameters())
    assert all(
        torch.equal(tensor, before[name]) and tensor.dtype == before[name].dtype for name, tensor in net.state_dict().items()
    )


def test_a_search_runs_on_it(connect4, small_net):
    evaluator = TorchEvaluator(small_net(connect4), connect4, "cpu")
    assert puct(connect4.start(), evaluator, Search(), 50).simulations == 50
    search = Searcher(connect4, 20, evaluator, Search(), 10)
    search.start(connect4.new_states(20))
    search.run()


def test_faults_are_sentences(connect4, small_net, some_states):
    net = small_net(connect4)
    with pytest.raises(AzlabError, match="The net is for a board of 6x7"):
        TorchEvaluator(net, azlab.games.game("connect4", rows=5, cols=7))
    with pytest.raises(
        AzlabError, match="'single' is for games whose first two planes are own and other stones, unlike dots_and_boxes"
    ):
        TorchEvaluator(net, azlab.games.game("dots_and_boxes"))
    if not torch.cuda.is_available():
        with pytest.raises(AzlabError, match="no cuda device"):
            find_device("cuda")
    with pytest.raises(AzlabError, match="device must be one of"):
        find_device("abacus")
    with torch.no_grad():
        net.result.linear.bias.fill_(float("nan"))
    with pytest.raises(AzlabError, match="not numbers; its training has diverged"):
        TorchEvaluator(net, connect4).evaluate(*some_states(connect4, 2))


def test_single_plane_of_the_source(connect4):
    picture = encode(connect4, connect4.from_moves("445").state, "single")[0, 0]  # the second player is to move
    assert picture[5, 3] == 2 and picture[4, 3] == 1 and picture[5, 4] == 2
    assert (np.sort(picture.ravel())[3:] == 3).all()


@pytest.mark.parametrize("length", range(1, 20))
def test_winograd_lines_convolve(length):
    a, g, b = line_matrices(length)
    rng = np.random.default_rng(length)
    line, weights = rng.normal(size=length), rng.normal(size=3)
    np.testing.assert_allclose(a @ ((g @ weights) * (b @ line)), np.correlate(np.pad(line, 1), weights), atol=1e-9)


def test_a_net_of_the_source_s_size_rounds_well(connect4, some_states):
    torch.manual_seed(0)
    net = ResidualNet(ResidualConfig.for_game(connect4, "single", blocks=5)).eval()
    states, legal = some_states(connect4, 32)
    for a, b in zip(*(TorchEvaluator(net, connect4, "cpu", fast=way).evaluate(states, legal) for way in ("winograd", "no"))):
        np.testing.assert_allclose(a, b, atol=1e-5)
