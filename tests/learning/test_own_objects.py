"""A game and a network of one's own in a training: handed in as objects or named; resumed, refused, played."""

import json

import numpy as np
import pytest
import torch
from torch import nn

import azlab
from azlab.errors import AzlabError
from azlab.games import registry
from azlab.games.tictactoe import TicTacToe
from azlab.learning import AlphaZero, KerasLearner, LossConfig, TorchLearner, TrainedAgent
from azlab.learning.settings import chosen
from azlab.nets import kinds
from azlab.nets.keras_nets import load_keras

keras = load_keras()


class Mine(TicTacToe):
    """A game that is neither azlab's nor registered."""

    name = "mine"


def torch_learner(game, width=8, seed=None):
    if seed is not None:
        torch.manual_seed(seed)
    layers = nn.Flatten(), nn.Linear(18, width), nn.ReLU(), nn.Dropout(0.3), nn.Linear(width, 10)
    return TorchLearner(game, nn.Sequential(*layers), LossConfig(optimiser="adam"))


def keras_learner(game, width=8, seed=None):
    if seed is not None:
        keras.utils.set_random_seed(seed)
    board = keras.Input((3, 3, 2))
    x = keras.layers.Dropout(0.3)(keras.layers.Dense(width, activation="tanh")(keras.layers.Flatten()(board)))
    return KerasLearner(
        game, keras.Model(board, [keras.layers.Dense(9)(x), keras.layers.Dense(3)(x)]), LossConfig(optimiser="adam")
    )


LEARNERS = [torch_learner, keras_learner]
GATED = {"gate__score": 0.55, "gate__games": 4, "evaluation__earlier": 1}


def numbers(run):
    return [array.tobytes() for array in run.learner.weights()]


@pytest.mark.parametrize("make", LEARNERS)
@pytest.mark.slow
def test_a_run_of_objects_interrupted_anywhere_equals_one_that_never_was(make, tiny, tmp_path):
    """Also in its first iteration: the weights that a handed in network began with are kept. Its dropout goes on as well."""
    game = Mine()
    whole = AlphaZero(game, make(game, seed=1), tiny(**GATED), tmp_path / "whole")
    rows = whole.train()
    for place, phase in enumerate(("playing", "training", "gate", "iteration")):
        heard = []

        def interrupt(what, done, total, phase=phase, heard=heard, **metrics):
            heard.append(what)
            if what == phase and "stop" not in heard:
                heard.append("stop")
                raise KeyboardInterrupt

        folder = tmp_path / str(place)
        with pytest.raises(KeyboardInterrupt):
            AlphaZero(game, make(game, seed=1), tiny(**GATED), folder, interrupt).train()
        again = AlphaZero(game, make(game, seed=2), None, folder)  # another process would draw other weights
        found = again.train()
        assert numbers(again) == numbers(whole), phase
        assert [row["loss"] for row in found] == [row["loss"] for row in rows]


def test_the_same_process_goes_on_with_the_same_object(tiny, tmp_path):
    game, stop = Mine(), [True]

    def interrupt(what, *_, **__):
        if what == "training" and stop:
            stop.pop()
            raise KeyboardInterrupt

    run = AlphaZero(game, torch_learner(game, seed=1), tiny(), tmp_path / "a", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run.train()
    run.train()
    other = AlphaZero(game, torch_learner(game, seed=1), tiny(), tmp_path / "b")
    other.train()
    assert numbers(run) == numbers(other)


def test_other_objects_are_refused_and_the_folder_says_what_it_is_made_of(tiny, tmp_path):
    game = Mine()
    AlphaZero(game, torch_learner(game), tiny(iterations=1), tmp_path).train()
    made_of = json.loads((tmp_path / "made_of.json").read_text())
    assert made_of["game"]["name"] == "mine" and made_of["net"]["class"] == "Sequential"
    assert made_of["net"]["parameters"] == 18 * 8 + 8 + 8 * 10 + 10 and made_of["net"]["shapes"][0] == [8, 18]
    with pytest.raises(
        AzlabError, match="begun with another net: a Sequential of 242 numbers in 4 arrays, not a Sequential of 271"
    ):
        AlphaZero(game, torch_learner(game, 9), None, tmp_path).train()
    with pytest.raises(AzlabError, match="begun with another net: a Sequential"):
        AlphaZero(game, keras_learner(game), None, tmp_path).train()
    with pytest.raises(AzlabError, match=r"begun with other settings \(game\)"):
        AlphaZero(azlab.game("tictactoe"), torch_learner(azlab.game("tictactoe")), None, tmp_path).train()
    with pytest.raises(AzlabError, match="There is no game 'mine'"):
        AlphaZero.from_config(None, tmp_path)
    with pytest.raises(AzlabError, match="was handed in as an object"):
        AlphaZero(game, None, None, tmp_path)
    with pytest.raises(AzlabError, match="There is no game 'mine'"):
        azlab.agent(f"az:{tmp_path}")
    player = TrainedAgent(tmp_path, learner=torch_learner(game))
    assert player.choose(game.start()) in range(9)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((Mine(), nn.Linear(18, 10)), r"hand in TorchLearner\(game, net, LossConfig\(\)\)"),
        ((Mine(), 3), "A learner is a TorchLearner or a KerasLearner, not 3"),
        (("tictactoe", None), "The game of a training is a Game"),
        (
            (azlab.game("tictactoe"), torch_learner(Mine())),
            r"was made for azlab.game\('mine'\), not for azlab.game\('tictactoe'\)",
        ),
    ],
)
def test_what_cannot_be_handed_in(arguments, says, tiny, tmp_path):
    with pytest.raises(AzlabError, match=says):
        AlphaZero(*arguments, tiny(), tmp_path)


def test_the_old_order_of_arguments_gets_a_sentence(tiny, tmp_path):
    with pytest.raises(AzlabError, match=r"AlphaZero.from_config\(config, folder\)"):
        AlphaZero(tiny(), tmp_path, None, None)


def test_learners_want_nets_of_their_library():
    with pytest.raises(AzlabError, match="trains a torch.nn.Module that has parameters, not Flatten"):
        TorchLearner(Mine(), nn.Flatten(), LossConfig())
    with pytest.raises(AzlabError, match="trains a Keras model, not Linear"):
        KerasLearner(Mine(), nn.Linear(1, 1), LossConfig())


# --- by name --------------------------------------------------------------------------------------------------------

FILE = """
import torch
from azlab.games.tictactoe import TicTacToe


class Mine(TicTacToe):
    name = "mine"

    def __init__(self, games: int = 1, colour: str = "red"):
        super().__init__()
        self.options = {"games": games, "colour": colour}


def make_net(game):
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(18, 10))
"""
SHORT = [("iterations", 1), ("budget.simulations", 4), ("positions", 30), ("selfplay.games", 4), ("workers", 1)]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_others", {})
    monkeypatch.setattr(registry, "_modules", {})
    monkeypatch.setattr(kinds, "_others", {})
    (tmp_path / "own.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "own.py"


def test_names_suffice_where_they_do_and_a_changed_file_is_noticed(file, tmp_path, monkeypatch):
    config = chosen("own.py:Mine", None, [("colour", "blue"), *SHORT], "own.py:make_net")
    assert (config.game, config.options, config.net) == ("own.py:Mine", {"colour": "blue"}, {"kind": "own.py:make_net"})
    AlphaZero.from_config(config, "run").train()
    assert len(AlphaZero.from_config(None, "run").train()) == 1  # loaded before, so it goes on by name
    assert azlab.agent("az:run").choose(azlab.game("own.py:Mine", colour="blue").start()) in range(9)

    for part in (registry, kinds):  # as in another process: what only the folder names is not run
        monkeypatch.setattr(part, "_others", {})
    for ask in (lambda: AlphaZero.from_config(None, "run"), lambda: azlab.agent("az:run")):
        with pytest.raises(AzlabError, match="own.py:Mine is code in a file, which is run only if you name it yourself"):
            ask()
    azlab.game("own.py:Mine")
    with pytest.raises(AzlabError, match="own.py:make_net is code in a file, which is run only if you name it yourself"):
        AlphaZero.from_config(None, "run")

    file.write_text(FILE + "\n# other rules?\n")
    config = chosen("own.py:Mine", None, [("colour", "blue"), *SHORT], "own.py:make_net")
    with pytest.raises(
        AzlabError, match="The file of the game own.py:Mine has changed since .*, remove run/made_of.json and go on"
    ):
        AlphaZero.from_config(config, "run").train()
    (tmp_path / "run" / "made_of.json").unlink()
    assert len(AlphaZero.from_config(config, "run").train()) == 1


def test_options_of_the_game_and_settings_are_told_apart(file):
    def made(*words):
        return chosen("own.py:Mine", None, list(words))

    config = made(("colour", "blue"), ("simulations", 7), ("blocks", 2), ("seed", 3), ("optimiser", "sgd"), ("options.games", 5))
    assert config.options == {"colour": "blue", "games": 5} and config.budget.simulations == 7 and config.net["blocks"] == 2
    assert config.seed == 3 and config.loss.optimiser == "sgd"
    assert made(("selfplay.games", 9)).selfplay.games == 9
    with pytest.raises(AzlabError, match="games may mean options.games or selfplay.games; write which"):
        made(("games", 9))
    with pytest.raises(AzlabError, match="There is no setting 'size'; options of own.py:Mine are games, colour"):
        made(("size", 9))
    assert chosen("connect4", None, [("rows", 5)]).options == {"rows": 5}
    assert chosen("go", None, [("size", 5)]).rules().size == 5  # a game of azlab's without a preset
    with pytest.raises(AzlabError, match="There is no preset or game 'chess'"):
        chosen("chess", None, [])


def test_a_config_file_alone_runs_no_code(file, tmp_path):
    (tmp_path / "a.toml").write_text('game = "own.py:Mine"\n[net]\nkind = "own.py:make_net"\n')
    with pytest.raises(AzlabError, match="only if you name it yourself"):
        chosen(None, "a.toml", [])
    with pytest.raises(AzlabError, match="only if you name it yourself: on the command line by --net"):
        AlphaZero.from_config(chosen("own.py:Mine", "a.toml", []), "run")
    AlphaZero.from_config(chosen("own.py:Mine", "a.toml", [], "own.py:make_net"), "run")
    with pytest.raises(AzlabError, match="a.toml is for own.py:Mine, not for go"):
        chosen("go", "a.toml", [])


# --- learning -------------------------------------------------------------------------------------------------------


def test_a_single_value_is_trained_by_squared_error(random_examples):
    game = azlab.game("tictactoe")
    learner = TorchLearner(game, nn.Sequential(nn.Flatten(), nn.Linear(18, 10)), LossConfig(symmetries=False))
    examples = random_examples(game, 40)
    with torch.no_grad():
        value = learner.net(torch.from_numpy(game.encode(examples.states)))[:, 9].numpy()
    losses = learner.step(examples, 0.0, 0.9, np.random.default_rng(0))
    assert losses["value_loss"] == pytest.approx(np.square(value - examples.values).mean(), rel=1e-5)
    assert losses["loss"] == pytest.approx(losses["policy_loss"] + losses["value_loss"], rel=1e-5)


@pytest.mark.parametrize("make", LEARNERS)
def test_the_loss_of_a_fixed_batch_falls(make, random_examples):
    game = azlab.game("tictactoe")
    learner = make(game, 32, seed=1)
    examples = random_examples(game, 64, plies=2)
    examples = examples._replace(policy=np.eye(9, dtype=np.float16)[examples.policy.argmax(axis=1)])
    rows = [learner.step(examples, 0.01, 0.9, np.random.default_rng(k)) for k in range(60)]
    for name in ("policy_loss", "value_loss"):
        assert sum(row[name] for row in rows[-5:]) < sum(row[name] for row in rows[:5])


def test_chances_and_logits_are_told_apart():
    game, states = azlab.game("tictactoe"), azlab.game("tictactoe").new_states(3)
    board = keras.Input((3, 3, 2))
    x = keras.layers.Flatten()(board)
    logits = keras.layers.Dense(9, kernel_initializer="random_normal", bias_initializer="random_normal")(x)
    result = keras.layers.Dense(3, bias_initializer="random_normal")(x)
    soft = keras.layers.Softmax()
    found = []
    for heads in ({"policy": logits, "value": result}, {"policy": soft(logits), "value": soft(result)}, [soft(logits), result]):
        learner = KerasLearner(game, keras.Model(board, heads), LossConfig())
        found.append(learner.evaluator().evaluate(states, game.legal_mask(states)))
    for other in found[1:]:
        for one, part in zip(found[0], other, strict=True):
            np.testing.assert_allclose(part, one, atol=1e-5)
    assert KerasLearner(game, keras.Model(board, [soft(logits), result]), LossConfig(), logits=True).logits == {
        "policy",
        "result",
    }
