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


def _ways(net: Any, inputs: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names and calls: the same net run in different ways on a batch."""
    import torch

    from azlab.nets.fast import FastNet
    from azlab.nets.winograd import WinogradNet

    planes = torch.from_numpy(inputs)
    last = planes.contiguous(memory_format=torch.channels_last)
    yield "torch as it is", lambda: net(planes)
    turned = copy.deepcopy(net).to(memory_format=torch.channels_last)
    yield "+ channels last", lambda: turned(last)
    folded = FastNet(net)
    yield "+ batch norms folded, heads joined", lambda: folded(planes)
    with warnings.catch_warnings(action="ignore"), torch.no_grad():
        traced = torch.jit.freeze(torch.jit.trace(FastNet(net).eval(), planes))
    yield "+ traced and frozen", lambda: traced(planes)
    half = FastNet(net).bfloat16()
    in_half = planes.bfloat16()
    yield "+ bfloat16 instead", lambda: half(in_half)
    if shutil.which("g++"):
        compiled = torch.compile(FastNet(net))
        yield "+ torch.compile", lambda: compiled(planes)
    if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"):
        session = _onnx_session(FastNet(net), planes)
        yield "ONNX Runtime, folded and joined", lambda: session.run(None, {"planes": inputs})
    winograd = WinogradNet(FastNet(net), inputs.shape[2], inputs.shape[3], torch.get_num_threads())
    yield "winograd (azlab's own)", lambda: winograd(inputs)


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

    from azlab.nets.threads import cores, set_threads

    before = torch.get_num_threads()
    for threads in sorted({1, cores()}):
        set_threads(threads)
        with torch.inference_mode():
            yield from _small_net_rows(seconds, threads)
    set_threads(before)
    yield from _each_net_rows(seconds)
    yield from _keras_rows(seconds)


def _small_net_rows(seconds: float, threads: int) -> Iterator[Row]:
    import torch

    from azlab.nets import ResidualConfig, ResidualNet, TorchEvaluator
    from azlab.nets.encodings import encode

    game = find("connect4")
    torch.manual_seed(0)
    net = ResidualNet(ResidualConfig.for_game(game, **SMALL)).eval()
    states, legal = _states(game)
    inputs = encode(game, states, "single")
    group = f"Connect 4 net of 3 blocks x 32 filters, batch {BATCH}, {threads} {'thread' if threads == 1 else 'threads'}"
    evaluator = TorchEvaluator(net, game, "cpu")
    ways = dict(_ways(net, inputs))
    ways["TorchEvaluator.forward"] = lambda: evaluator.forward(inputs)
    ways["TorchEvaluator.evaluate"] = lambda: evaluator.evaluate(states, legal)
    best = dict.fromkeys(ways, 0.0)
    for _ in range(ROUNDS):  # in turns, because others use the machine too
        for name, call in ways.items():
            best[name] = max(best[name], _rate(call, seconds / ROUNDS))
    for name, rate in best.items():
        yield Row(group, name, "azlab", rate, "evaluations/s")
    share = 100 * best["TorchEvaluator.evaluate"] / best["TorchEvaluator.forward"]
    yield Row(group, "evaluate, of its bare forward pass", "azlab", share, "%")


def _each_net_rows(seconds: float) -> Iterator[Row]:
    from azlab.nets import ResidualConfig, ResidualNet, TorchEvaluator

    game = find("connect4")
    for name, sizes in RESIDUAL_NETS:
        net = ResidualNet(ResidualConfig.for_game(game, **sizes))
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
