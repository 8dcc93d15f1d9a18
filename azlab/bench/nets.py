"""How fast networks are: ways to run the small Connect 4 net on a CPU, what an evaluator adds, and the speed of each net."""

import copy
import importlib.util
import io
import shutil
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from azlab.bench import Row
from azlab.bench.alone import Alone
from azlab.bench.search import best_rate
from azlab.games import game as find
from azlab.games.game import Game

BATCH, ROUNDS = 256, 20
SMALL = {"blocks": 3, "filters": 32, "stem": 32}
RESIDUAL_NETS: list[tuple[str, dict]] = [
    ("3 blocks x 32", SMALL),
    ("3 blocks x 64", {"blocks": 3, "filters": 64, "stem": 64}),
    ("5 blocks x 128 (S5)", {}),
    ("bottleneck (S5)", {"stem": 128, "filters": 32, "blocks": 3, "squeeze": 4, "head": 1}),
]


def _states(game: Game, count: int = BATCH) -> tuple[np.ndarray, np.ndarray]:
    """States after five random moves, and their legal moves."""
    states, rng = game.new_states(count), np.random.default_rng(0)
    for _ in range(5):
        game.kernels.play(states, (rng.random((count, game.num_actions)) * game.legal_mask(states)).argmax(axis=1))
    return states, game.legal_mask(states)


# --- ways to run the same net: each takes the net and a batch of inputs [B, C, H, W] and returns a call without arguments


def _as_it_is(net: Any, inputs: np.ndarray) -> Callable[[], Any]:
    import torch

    planes = torch.from_numpy(inputs)
    return lambda: net(planes)


def _channels_last(net: Any, inputs: np.ndarray) -> Callable[[], Any]:
    import torch

    last = torch.from_numpy(inputs).contiguous(memory_format=torch.channels_last)
    turned = copy.deepcopy(net).to(memory_format=torch.channels_last)
    return lambda: turned(last)


def _folded(net: Any, inputs: np.ndarray) -> Callable[[], Any]:
    from azlab.nets.fast import FastNet

    return _as_it_is(FastNet(net), inputs)


def _traced(net: Any, inputs: np.ndarray) -> Callable[[], Any]:
    import torch

    from azlab.nets.fast import FastNet

    with warnings.catch_warnings(action="ignore"), torch.no_grad():
        traced = torch.jit.freeze(torch.jit.trace(FastNet(net).eval(), torch.from_numpy(inputs)))
    return _as_it_is(traced, inputs)


def _bfloat16(net: Any, inputs: np.ndarray) -> Callable[[], Any]:
    import torch

    from azlab.nets.fast import FastNet

    half, planes = FastNet(net).bfloat16(), torch.from_numpy(inputs).bfloat16()
    return lambda: half(planes)


def _compiled(net: Any, inputs: np.ndarray) -> Callable[[], Any]:
    import torch

    from azlab.nets.fast import FastNet

    return _as_it_is(torch.compile(FastNet(net)), inputs)


def _onnx(net: Any, inputs: np.ndarray) -> Callable[[], Any]:
    import torch

    from azlab.nets.fast import FastNet

    session = _onnx_session(FastNet(net), torch.from_numpy(inputs))
    return lambda: session.run(None, {"planes": inputs})


def _winograd(net: Any, inputs: np.ndarray) -> Callable[[], Any]:
    import torch

    from azlab.nets.fast import FastNet
    from azlab.nets.winograd import WinogradNet

    winograd = WinogradNet(FastNet(net), inputs.shape[2], inputs.shape[3], torch.get_num_threads())
    return lambda: winograd(inputs)


WAYS: dict[str, Callable[[Any, np.ndarray], Callable[[], Any]]] = {
    "torch as it is": _as_it_is,
    "+ channels last": _channels_last,
    "+ batch norms folded, heads joined": _folded,
    "winograd (azlab's own)": _winograd,
}
# Code that is made for this very processor, or uses instructions of which azlab itself uses none: measured where it may crash.
RISKY_WAYS: dict[str, Callable[[Any, np.ndarray], Callable[[], Any]]] = {
    "+ traced and frozen": _traced,
    "+ bfloat16 instead": _bfloat16,
}
if shutil.which("g++"):
    RISKY_WAYS["+ torch.compile"] = _compiled
if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"):
    RISKY_WAYS["ONNX Runtime, folded and joined"] = _onnx


def _onnx_session(module: Any, planes: Any) -> Any:
    import onnxruntime
    import torch

    file = io.BytesIO()
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(module.eval(), (planes,), file, dynamo=False, input_names=["planes"])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # its idle threads would slow the others down
    return onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])


def _rate(call: Callable[[], Any], seconds: float, count: int = BATCH) -> float:
    def run() -> int:
        call()
        return count

    return best_rate(run, seconds)


def rows(seconds: float) -> Iterator[Row]:
    """All figures, with one thread and, where there are more cores, with all of them."""
    import torch

    from azlab.machine import cores
    from azlab.nets.threads import set_threads

    before = torch.get_num_threads()
    for threads in sorted({1, cores()}):
        set_threads(threads)
        with torch.inference_mode():
            yield from _small_net_rows(seconds, threads)
    set_threads(before)
    yield from _each_net_rows(seconds)
    yield from _keras_rows(seconds)


def _small_net() -> tuple[Any, np.ndarray]:
    """The net whose ways are compared, the same in every process, and a batch of inputs [B, C, H, W]."""
    import torch

    from azlab.nets import ResidualConfig, ResidualNet
    from azlab.nets.encodings import encode

    game = find("connect4")
    torch.manual_seed(0)
    return ResidualNet(ResidualConfig.for_game(game, "single", **SMALL)).eval(), encode(game, _states(game)[0], "single")


def _run_of(build: Callable[[Any, np.ndarray], Callable[[], Any]], threads: int) -> Callable[[], int]:
    """What a child process times: the small net, run in one way."""
    import torch

    from azlab.nets.threads import set_threads

    set_threads(threads)
    call = build(*_small_net())

    def run() -> int:
        with torch.inference_mode():
            call()
        return BATCH

    return run


def _small_net_rows(seconds: float, threads: int) -> Iterator[Row]:
    from azlab.nets import TorchEvaluator

    game = find("connect4")
    net, inputs = _small_net()
    states, legal = _states(game)
    group = f"Connect 4 net of 3 blocks x 32 filters, batch {BATCH}, {threads} {'thread' if threads == 1 else 'threads'}"
    evaluator = TorchEvaluator(net, game, "cpu")
    calls = {name: build(net, inputs) for name, build in WAYS.items()}
    calls["TorchEvaluator.forward"] = lambda: evaluator.forward(inputs)
    calls["TorchEvaluator.evaluate"] = lambda: evaluator.evaluate(states, legal)
    alone = {name: Alone(_run_of, build, threads) for name, build in RISKY_WAYS.items()}
    best = dict.fromkeys([*calls, *alone], 0.0)
    for _ in range(ROUNDS):  # in turns, because others use the machine too
        for name, call in calls.items():
            best[name] = max(best[name], _rate(call, seconds / ROUNDS))
        for name, child in alone.items():
            best[name] = max(best[name], child.rate(seconds / ROUNDS))
    for child in alone.values():
        child.close()
    for name, rate in best.items():
        lost = alone[name].lost if name in alone else ""
        yield Row(group, name, "azlab", None if lost else rate, "evaluations/s", lost)
    share = 100 * best["TorchEvaluator.evaluate"] / best["TorchEvaluator.forward"]
    yield Row(group, "evaluate, of its bare forward pass", "azlab", share, "%")


def _each_net_rows(seconds: float) -> Iterator[Row]:
    from azlab.nets import ResidualConfig, ResidualNet, TorchEvaluator

    game = find("connect4")
    for name, sizes in RESIDUAL_NETS:
        net = ResidualNet(ResidualConfig.for_game(game, "single", **sizes))
        evaluator = TorchEvaluator(net, game)
        for count in (1, BATCH):
            states, legal = _states(game, count)
            rate = _rate(lambda e=evaluator, s=states, m=legal: e.evaluate(s, m), seconds, count)  # type: ignore[misc]
            yield Row("Connect 4 nets as evaluators, all cores", f"{name}, batch {count}", "azlab", rate, "evaluations/s")


def _keras_rows(seconds: float) -> Iterator[Row]:
    from azlab.nets import KerasEvaluator, keras_nets

    nets: list[tuple[str, Game, str, Callable[[], Any]]] = [
        ("Dots and Boxes 3x3 (S3)", find("dots_and_boxes", rows=3, cols=3), "lines", keras_nets.dots_and_boxes_net),
        ("Seega 5x5, moving net (S4)", find("seega"), "signed", keras_nets.seega_net),
        ("Go 9x9, 3 layers (S2)", find("go", size=9), "go", lambda: keras_nets.go_net(3, 9)),
        ("Go 9x9, 13 layers (S2)", find("go", size=9), "go", lambda: keras_nets.go_net(13, 9)),
    ]
    for name, game, encoding, build in nets:
        evaluator = KerasEvaluator(build(), game, encoding)
        for count in (1, BATCH):
            states, legal = _states(game, count)
            rate = _rate(lambda e=evaluator, s=states, m=legal: e.evaluate(s, m), seconds, count)  # type: ignore[misc]
            yield Row("Keras nets as evaluators, all cores", f"{name}, batch {count}", "azlab", rate, "evaluations/s")
