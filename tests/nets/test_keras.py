"""The Keras nets, their evaluator and their files; in one file because loading TensorFlow takes seconds."""

import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import azlab.games
from azlab.errors import AzlabError
from azlab.nets import keras_nets
from azlab.nets.dense import is_dense
from azlab.nets.encodings import Encoding, encode, outputs_of_actions
from azlab.nets.evaluators import KerasEvaluator
from azlab.nets.weights import load_keras_weights, save_keras


@pytest.mark.parametrize(
    ("build", "parameters"),
    [
        (lambda: keras_nets.seega_net(), 8_197_221),
        (lambda: keras_nets.seega_net(outputs="cells"), 8_197_221 - 75 * 513),  # 75 outputs fewer, from 512 and a bias
        (lambda: keras_nets.dots_and_boxes_net(), 2_682_909),
        (lambda: keras_nets.dots_and_boxes_net((1024, 256, 128)), 334_365),
        (lambda: keras_nets.value_net(), 3 * 3 * 3 * 30 + 30 + 9 * 30 * 50 + 50 + 450 * 100 + 100 + 303),
        (lambda: keras_nets.value_net(5, (30, 50, 70)), 840 + 13_550 + 9 * 50 * 70 + 70 + 1750 * 100 + 100 + 303),
        (lambda: keras_nets.go_net(2, 19), 5 * 5 * 4 * 32 + 32 + 32 + 361),
        (lambda: keras_nets.go_net(3, 9), 3232 + 9248 + 32 + 81),
        (lambda: keras_nets.go_net(13, 9), 3232 + 11 * 9248 + 32 + 81),
    ],
)
def test_parameter_counts(build, parameters):
    model = build()
    assert model.count_params() == parameters
    assert not any("Lambda" in type(layer).__name__ for layer in model.layers)


def test_the_value_net_starts_as_in_the_source():
    weights = keras_nets.value_net().get_weights()
    for kernel, bias in zip(weights[::2], weights[1::2]):
        assert abs(kernel.std() - 0.1) < 0.03 and (bias == np.float32(0.1)).all()


def test_the_go_nets_start_as_in_the_source():
    """S2's program: kernels from a normal distribution of deviation 0.1 cut at two deviations, biases 0, those of points 0.1."""
    keras_nets.load_keras().utils.set_random_seed(3)
    weights = keras_nets.go_net(13, 9, deviation=0.1, last_bias=0.1).get_weights()
    kernels, biases = ([array for array in weights if (array.ndim > 1) == is_kernel] for is_kernel in (True, False))
    everything = np.concatenate([kernel.ravel() for kernel in kernels])
    assert abs(everything).max() <= 0.2 and abs(everything).max() > 0.19
    # such a distribution has 0.8796 of the deviation before the cut; Keras may or may not make up for it
    assert 0.085 < everything.std() < 0.102 and abs(everything.mean()) < 0.002
    assert not any(np.array_equal(kernels[1], other) for other in kernels[2:-1])
    assert (biases[-1] == np.float32(0.1)).all() and len(biases[-1]) == 81 and all((bias == 0).all() for bias in biases[:-1])


def test_logits_are_those_of_the_chances():
    plain, logits = (keras_nets.go_net(2, 5, 8, logits=logits) for logits in (False, True))
    logits.set_weights(spread(plain).get_weights())
    planes = np.random.default_rng(1).random((3, 5, 5, 4)).astype(np.float32)
    found = np.exp(logits(planes)["policy"].numpy())
    np.testing.assert_allclose(plain(planes)["policy"].numpy(), found / found.sum(axis=1, keepdims=True), rtol=1e-4)


def test_relu_on_logits_keeps_every_move_possible():
    planes = np.zeros((1, 5, 5, 4), np.float32)
    for quirk in (False, True):
        model = keras_nets.go_net(2, 5, relu_on_logits=quirk)
        model.get_layer("point_bias").set_weights([np.full(25, -9.0, np.float32) * (np.arange(25) > 0)])
        lowest = model(planes)["policy"].numpy().min()
        assert lowest == pytest.approx(1 / 25 if quirk else np.exp(-9) / (1 + 24 * np.exp(-9)), rel=1e-3)


def spread(model):
    """Move the weights, so that chances differ."""
    rng = np.random.default_rng(0)
    model.set_weights([array + rng.normal(0, 0.05, array.shape).astype(np.float32) ** 2 for array in model.get_weights()])
    return model


CASES = [
    ("dots_and_boxes", {"rows": 3, "cols": 3}, "lines", lambda: keras_nets.dots_and_boxes_net((32, 16))),
    ("go", {"size": 5}, "go", lambda: keras_nets.go_net(3, 5, 8)),
    ("seega", {}, "signed", lambda: keras_nets.seega_net(5, 8, (16, 8))),
    ("seega", {}, "signed_cells", lambda: keras_nets.seega_net(5, 8, (16, 8), outputs="cells")),
]


@pytest.mark.parametrize(("name", "options", "encoding", "build"), CASES)
def test_evaluator(name, options, encoding, build, some_states):
    game = azlab.games.game(name, **options)
    model = spread(build())
    states, legal = some_states(game, 40)
    evaluator = KerasEvaluator(model, game, encoding)
    priors, values = evaluator.evaluate(states, legal)
    assert (priors[~legal] == 0).all()
    np.testing.assert_allclose(priors.sum(axis=1), 1, atol=1e-5)
    out = model(encode(game, states, encoding), training=False)
    outputs = outputs_of_actions(game, out["policy"].shape[1], encoding)
    wanted = np.where(outputs >= 0, out["policy"].numpy()[:, outputs], 0) * legal
    some = wanted.sum(axis=1) > 0
    np.testing.assert_allclose(priors[some], wanted[some] / wanted[some].sum(axis=1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(priors[~some], (legal / legal.sum(axis=1, keepdims=True))[~some], atol=1e-6)
    sign = np.where(states["to_move"] == 0, 1, -1)
    assert set(sign) == {1, -1}
    np.testing.assert_allclose(values, sign * out["value"].numpy()[:, 0] if "value" in out else 0 * values, atol=1e-5)
    for size in (1, 3, 4, 17):
        np.testing.assert_allclose(evaluator.evaluate(states[:size], legal[:size])[0], priors[:size], atol=1e-5)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [1, 40, 100])
def test_a_dense_network_gives_the_same_without_tensorflow(threads, size):
    game = azlab.games.game("dots_and_boxes")
    model = spread(keras_nets.dots_and_boxes_net((32, 16)))
    fast, slow = KerasEvaluator(model, game, "lines", threads=threads), KerasEvaluator(model, game, "lines", fast="no")
    assert fast.in_numpy and not slow.in_numpy
    inputs = np.random.default_rng(1).integers(0, 2, (size, 7, 4)).astype(np.float32)

    def compare():
        for mine, wanted in zip(fast.forward(inputs), slow.forward(inputs), strict=True):
            assert mine.shape == wanted.shape and mine.dtype == np.float32
            np.testing.assert_allclose(mine, wanted, atol=1e-5)

    compare()
    before = fast.forward(inputs)[1]
    spread(model)  # TensorFlow sees it by itself
    assert (fast.forward(inputs)[1] == before).all()
    fast.refresh()
    assert (fast.forward(inputs)[1] != before).any()
    compare()


def test_only_chains_of_dense_layers_run_without_tensorflow():
    keras = keras_nets.load_keras()
    layers = keras.layers

    def model(change=lambda x: x, activation="linear", value="tanh"):
        state = keras.Input((7, 4))
        x = layers.Dense(8, activation=activation)(layers.Flatten()(state))
        x = change(x)
        heads = {"policy": layers.Dense(28, activation="softmax", name="policy")(x)}
        return keras.Model(state, heads | {"value": layers.Dense(1, activation=value, name="value")(x)})

    def residual(x):
        return layers.Add()([x, layers.Dense(8)(x)])

    def norm_after_relu(x):
        return layers.BatchNormalization()(layers.ReLU()(x))

    def early_head():
        state = keras.Input((28,))
        x = layers.Dense(8)(state)
        value = layers.Dense(1, activation="tanh", name="value")(x)
        policy = layers.Dense(28, activation="softmax", name="policy")(layers.Dense(8)(x))
        return keras.Model(state, {"policy": policy, "value": value})

    assert is_dense(model()) and is_dense(model(layers.BatchNormalization())) and is_dense(model(layers.ReLU()))
    for other in (
        model(activation="relu"), model(value="linear"), model(residual), model(layers.ReLU(max_value=6)),
        model(norm_after_relu), early_head(),
        model(layers.LayerNormalization()), keras_nets.seega_net(5, 8, (16, 8)), keras_nets.go_net(2, 5),
    ):  # fmt: skip
        assert not is_dense(other)


def test_lines_of_the_source_are_where_our_actions_are():
    game = azlab.games.game("dots_and_boxes", rows=3, cols=3)
    outputs = outputs_of_actions(game, 28, "lines")
    assert len(set(outputs)) == 24 and not {3, 11, 19, 27} & set(outputs)
    for action in range(24):
        assert encode(game, game.start().play(action).state, "lines").ravel().nonzero()[0] == outputs[action]


def test_wrong_models_are_sentences():
    game = azlab.games.game("go", size=5)
    with pytest.raises(AzlabError, match="The net gives no 'policy', only 'value'"):
        KerasEvaluator(
            keras_nets.value_net(5), game, Encoding("three planes", lambda planes: planes.transpose(0, 2, 3, 1)[..., :3])
        )
    with pytest.raises(AzlabError, match="The net cannot read go encoded as 'go', which is 5x5x4 numbers a position"):
        KerasEvaluator(keras_nets.go_net(2, 9), game, "go")
    with pytest.raises(AzlabError, match="There is no encoding"):
        KerasEvaluator(keras_nets.go_net(2, 5), game, "planets")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("keras") / "net.keras"
    model = spread(keras_nets.dots_and_boxes_net((16, 8)))
    save_keras(model, path)
    return model, path


def test_keras_weights_come_back(stored):
    model, path = stored
    again = load_keras_weights(keras_nets.dots_and_boxes_net((16, 8)), path)
    assert all((a == b).all() for a, b in zip(model.get_weights(), again.get_weights()))
    assert [file.name for file in path.parent.iterdir()] == ["net.keras"]


def test_damaged_and_foreign_keras_files_are_refused(stored, tmp_path):
    _, good = stored
    path = tmp_path / "bad.keras"
    data = good.read_bytes()
    model = keras_nets.dots_and_boxes_net((16, 8))
    before = model.get_weights()

    def refused(match, into=model):
        with pytest.raises(AzlabError, match=match):
            load_keras_weights(into, path)

    for keep in (0, 10, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:keep])
        refused("not a whole .keras file")
    middle = bytearray(data)
    middle[len(data) // 2] ^= 1
    path.write_bytes(middle)
    refused("not a whole .keras file")
    path.write_bytes(b"\x80\x04cos\nsystem\n(S'true'\ntR.")  # a pickle
    refused("not a whole .keras file")
    shutil.copy(good, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("extra.py", "boom")
    refused("holds other files")
    shutil.copy(good, path)
    refused("holds another network", keras_nets.dots_and_boxes_net((16, 8, 4)))
    refused("do not fit dots_and_boxes", keras_nets.dots_and_boxes_net((16, 9)))
    with pytest.raises(AzlabError, match="should end in .keras"):
        load_keras_weights(model, tmp_path / "net.h5")
    assert all((a == b).all() for a, b in zip(model.get_weights(), before))


def test_a_file_that_points_elsewhere_is_refused(stored, tmp_path):
    import h5py

    path, weights = tmp_path / "links.keras", tmp_path / "model.weights.h5"
    with zipfile.ZipFile(stored[1]) as old, zipfile.ZipFile(path, "w") as new:
        old.extract("model.weights.h5", tmp_path)
        with h5py.File(weights, "a") as file:
            file["outside"] = h5py.ExternalLink("/etc/passwd", "/")
        for name in ("metadata.json", "config.json"):
            new.writestr(name, old.read(name))
        new.write(weights, "model.weights.h5")
    with pytest.raises(AzlabError, match="points to something outside"):
        load_keras_weights(keras_nets.dots_and_boxes_net((16, 8)), path)


@pytest.mark.slow
def test_loading_keras_writes_nothing_into_a_notebook():
    code = "from azlab.nets.keras_nets import load_keras; load_keras(); import tensorflow as tf; tf.constant(1.0) + 1"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    broken = "from azlab.nets.keras_nets import _quiet; import os\nwith _quiet(): os.write(2, b'the reason'); raise OSError"
    assert "the reason" in subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, timeout=60).stderr
