"""The Keras networks of S1, S2, S3 and S4, built in code.

Importing this file imports nothing heavy; Keras (on TensorFlow) is loaded when the first net is built. No net uses a Lambda
layer, so a saved net is only numbers. A net that a search can use has the outputs "policy" (chances) and "value" (in
[-1, 1], for the player to move); the Go nets of S2 have only "policy", the value nets of S1 only "result" (logits).
"""

import contextlib
import functools
import importlib.util
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from azlab.errors import AzlabError, finite_number, one_of, whole_number
from azlab.games.game import Game


def load_keras() -> ModuleType:
    """Keras with the TensorFlow backend, whichever was set when it was first imported stays."""
    choose_backend()
    _load_quietly()
    import keras

    if keras.backend.backend() != "tensorflow":
        raise AzlabError(f"Keras runs on {keras.backend.backend()} here; set KERAS_BACKEND=tensorflow and start Python again.")
    return keras


def choose_backend() -> None:
    """What has to be said and loaded before Keras is first imported, by whomever."""
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # no lines on instruction sets in a notebook
    if "tensorflow" not in sys.modules and importlib.util.find_spec("triton"):
        importlib.import_module("triton")  # comes with torch for GPUs; loaded after TensorFlow it ends the process


@functools.cache
def _load_quietly() -> None:
    with _quiet():
        import keras  # noqa: F401
        import tensorflow as tf

        tf.config.list_physical_devices()  # looks for a graphics card now, not in some later cell
    logging.getLogger("tensorflow").setLevel(logging.ERROR)  # else it warns of every fifth network that is compiled


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hold back what a library writes to the process's standard error, past Python; show it if an error comes of it."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            os.dup2(kept, 2)
            held.seek(0)
            sys.stderr.write(held.read().decode(errors="replace"))
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)


MOST_NEURONS = 100_000  # of a layer; more do not fit into memory


def _check_layers(name: str, sizes: object) -> None:
    if not isinstance(sizes, tuple | list):
        raise AzlabError(f"{name} is a list of the layers' sizes, such as [1024, 512], not {sizes!r}.")
    for size in sizes:
        whole_number(f"a size in {name}", size, 1, MOST_NEURONS)


def _check_dropout(dropout: object) -> None:
    if not isinstance(dropout, int | float) or not 0 <= dropout < 1:
        raise AzlabError(f"dropout is a share from 0 to below 1, not {dropout!r}.")


def dots_and_boxes_net(
    layers: Sequence[int] = (1024, 1024, 1024, 512), dropout: float = 0.3, rows: int = 3, cols: int = 3
) -> Any:
    """S3's net for 3x3 boxes: the 7x4 matrix of lines in, 28 move chances and a value out; and the same for other boards.

    `layers=(1024, 256, 128)` is the smaller net of the source's version 60.
    """
    _check_layers("layers", layers)
    _check_dropout(dropout)
    keras = load_keras()
    height, width = 2 * rows + 1, cols + 1
    state = keras.Input((height, width), name="state")
    x = keras.layers.Flatten(name="flatten")(state)
    for number, size in enumerate(layers, 1):
        x = keras.layers.Dense(size, name=f"dense{number}")(x)
        x = keras.layers.BatchNormalization(name=f"norm{number}")(x)
        x = keras.layers.ReLU(name=f"relu{number}")(x)
        x = keras.layers.Dropout(dropout, name=f"drop{number}")(x)
    policy = keras.layers.Dense(height * width, activation="softmax", name="policy")(x)
    value = keras.layers.Dense(1, activation="tanh", name="value")(x)
    return keras.Model(state, {"policy": policy, "value": value}, name="dots_and_boxes")


def dots_and_boxes_for(
    game: Game, layers: Sequence[int] = (1024, 1024, 1024, 512), dropout: float = 0.3, encoding: str = "lines"
) -> tuple[Any, str]:
    """The kind of net that configs call "dots_and_boxes", for the board of `game`, and its encoding."""
    one_of("the net's encoding", encoding, ("lines", "lines_and_score"))
    _, height, width = game.planes_shape
    return dots_and_boxes_net(layers, dropout, (height - 1) // 2, width - 1), encoding


def value_net(size: int = 3, filters: Sequence[int] = (30, 50), dense: int = 100) -> Any:
    """S1's net on afterstates [size, size, 3]: logits of tie, black wins, white wins.

    Tic-tac-toe as it stands; 5x5 "simple go" is `value_net(5, (30, 50, 70))`. Weights start as N(0, 0.1), biases as 0.1.
    """
    keras = load_keras()
    board = keras.Input((size, size, 3), name="board")
    x = board
    for number, count in enumerate(filters, 1):
        x = keras.layers.Conv2D(count, 3, padding="same", activation="relu", name=f"conv{number}", **_s1_start(keras))(x)
    x = keras.layers.Flatten(name="flatten")(x)
    x = keras.layers.Dense(dense, activation="relu", name="dense", **_s1_start(keras))(x)
    result = keras.layers.Dense(3, name="result", **_s1_start(keras))(x)
    return keras.Model(board, {"result": result}, name="value")


def _s1_start(keras: ModuleType) -> dict[str, Any]:
    """Fresh initialisers: one object used twice would give two layers the same numbers."""
    return {
        "kernel_initializer": keras.initializers.RandomNormal(stddev=0.1),
        "bias_initializer": keras.initializers.Constant(0.1),
    }


SEEGA_OUTPUTS = {"steps": (4, "signed"), "cells": (1, "signed_cells")}  # how many for a cell, and the encoding that knows them


def seega_net(
    size: int = 5, filters: int = 512, dense: Sequence[int] = (1024, 512), dropout: float = 0.3, outputs: str = "steps"
) -> Any:
    """S4's moving net: the board (own 1, other -1) in, size*size*4 step chances and a value out.

    Two convolutions that keep the size, two that shrink it; no biases but in the outputs, a batch norm after every other
    layer. That gives the source's 8,197,221 parameters on 5x5. With outputs="cells" there is a chance for each cell, as in S4's
    positioning net; what its layers were the text does not tell.
    """
    whole_number("size", size, 5, 19)
    whole_number("filters", filters, 1, MOST_NEURONS)
    _check_layers("dense", dense)
    _check_dropout(dropout)
    one_of("outputs", outputs, tuple(SEEGA_OUTPUTS))
    keras = load_keras()
    board = keras.Input((size, size), name="board")
    x = keras.layers.Reshape((size, size, 1), name="channel")(board)
    for number, padding in enumerate(("same", "same", "valid", "valid"), 1):
        x = keras.layers.Conv2D(filters, 3, padding=padding, use_bias=False, name=f"conv{number}")(x)
        x = keras.layers.BatchNormalization(name=f"conv_norm{number}")(x)
        x = keras.layers.ReLU(name=f"conv_relu{number}")(x)
    x = keras.layers.Flatten(name="flatten")(x)
    for number, count in enumerate(dense, 1):
        x = keras.layers.Dense(count, use_bias=False, name=f"dense{number}")(x)
        x = keras.layers.BatchNormalization(name=f"norm{number}")(x)
        x = keras.layers.ReLU(name=f"relu{number}")(x)
        x = keras.layers.Dropout(dropout, name=f"drop{number}")(x)
    policy = keras.layers.Dense(SEEGA_OUTPUTS[outputs][0] * size * size, activation="softmax", name="policy")(x)
    value = keras.layers.Dense(1, activation="tanh", name="value")(x)
    return keras.Model(board, {"policy": policy, "value": value}, name="seega")


def seega_for(
    game: Game, filters: int = 512, dense: Sequence[int] = (1024, 512), dropout: float = 0.3, outputs: str = "steps"
) -> tuple[Any, str]:
    """The kind of net that configs call "seega", for the board of `game`, and its encoding."""
    return seega_net(game.planes_shape[1], filters, dense, dropout, outputs), SEEGA_OUTPUTS[outputs][1]


@functools.cache
def _point_bias() -> type:
    """The layer that adds a number of its own to each point of the board; made when Keras is first needed."""
    keras = load_keras()

    class PointBias(keras.layers.Layer):  # type: ignore[name-defined, misc]
        def __init__(self, first: float = 0.0, **settings: Any) -> None:
            super().__init__(**settings)
            self.first = first

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "first": self.first}

        def build(self, shape: tuple) -> None:
            start = keras.initializers.Constant(self.first)
            self.bias = self.add_weight(name="bias", shape=shape[1:], initializer=start)

        def call(self, x: Any) -> Any:
            return x + self.bias

    return PointBias


def go_net(
    layers: int = 3,
    size: int = 9,
    filters: int = 32,
    relu_on_logits: bool = False,
    deviation: float = 0.0,
    last_bias: float = 0.0,
    logits: bool = False,
) -> Any:
    """S2's move predictors with 2, 3 or 13 convolutions: 4 planes [size, size, 4] in, a chance for each point out.

    5x5, then 3x3 up to the last, which is a single 1x1 filter with a bias for every point. The source's program applied a ReLU to
    the logits before the softmax, which keeps no move below chance 1/(sum of e^x); `relu_on_logits=True` does so too.

    deviation: kernels start as numbers from a normal distribution of this deviation, cut off at two of them (S2: 0.1); 0 for
        Keras's own start, which takes the layers' sizes into account
    last_bias: with which the biases of the points start (S2: 0.1, so that the ReLU on the logits does not cut at once)
    logits: give logits in place of chances; a loss of logits is exact where chances near 0 are not
    """
    one_of("layers", layers, (2, 3, 13))
    whole_number("size", size, 2, 25)
    whole_number("filters", filters, 1, MOST_NEURONS)
    finite_number("deviation", deviation, 0)
    finite_number("last_bias", last_bias)
    for name, switch in (("relu_on_logits", relu_on_logits), ("logits", logits)):
        one_of(name, switch, (True, False))
    keras = load_keras()

    def start() -> dict[str, Any]:  # a new one each time: one object used twice would give two layers the same numbers
        return {"kernel_initializer": keras.initializers.TruncatedNormal(stddev=deviation)} if deviation else {}

    planes = keras.Input((size, size, 4), name="planes")
    x = planes
    for number in range(1, layers):
        width = 5 if number == 1 else 3
        x = keras.layers.Conv2D(filters, width, padding="same", activation="relu", name=f"conv{number}", **start())(x)
    x = keras.layers.Conv2D(1, 1, use_bias=False, name=f"conv{layers}", **start())(x)
    x = keras.layers.Flatten(name="flatten")(x)
    x = _point_bias()(last_bias, name="point_bias")(x)
    if relu_on_logits:
        x = keras.layers.ReLU(name="relu_on_logits")(x)
    if not logits:
        x = keras.layers.Softmax(name="policy")(x)
    return keras.Model(planes, {"policy": x}, name="go")


def go_for(
    game: Game,
    layers: int = 3,
    filters: int = 32,
    relu_on_logits: bool = False,
    deviation: float = 0.0,
    last_bias: float = 0.0,
) -> tuple[Any, str]:
    """The kind of net that configs call "go", for the board of `game`, and its encoding; it gives logits, and no value."""
    return go_net(layers, game.planes_shape[1], filters, relu_on_logits, deviation, last_bias, logits=True), "go"
