"""Nets by name: azlab's own, registered ones, functions in a file. Code runs only if the user names it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import azlab
from azlab.errors import AzlabError
from azlab.games import registry
from azlab.nets import kinds

GAME = azlab.game("tictactoe")
FILE = """
from pathlib import Path
import torch

Path(__file__).with_name("was_run").touch()


def make_net(game, width=8):
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(18, width), torch.nn.Linear(width, 10))


NUMBER = 3
"""


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    monkeypatch.setattr(kinds, "_others", {})
    monkeypatch.setattr(registry, "_modules", {})
    yield
    sys.modules.pop("mynet", None)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "mynet.py").write_text(FILE)
    return tmp_path / "mynet.py"


def test_a_function_in_a_file_runs_only_if_named_by_the_user(file):
    settings = {"kind": "mynet.py:make_net", "width": 5}
    for kind in ("mynet.py:make_net", f"{file}:make_net"):
        with pytest.raises(AzlabError, match="is run only if you name it yourself: on the command line by --net"):
            kinds.new_net(GAME, {"kind": kind})
    assert not file.with_name("was_run").exists()
    assert kinds.load_net(f"{file}:make_net") == "mynet.py:make_net"
    net, encoding = kinds.new_net(GAME, settings, seed=3)
    assert net[1].out_features == 5 and encoding is None
    again, other = (kinds.new_net(GAME, settings, seed)[0] for seed in (3, 4))
    assert torch.equal(net[1].weight, again[1].weight) and not torch.equal(net[1].weight, other[1].weight)
    assert kinds.new_net(GAME, settings | {"encoding": "signed"})[1] == "signed"


@pytest.mark.parametrize(
    ("net", "says"),
    [
        (
            {"kind": "mynet.py:make_net", "height": 3},
            r"\[net\]: a net of kind mynet.py:make_net has no height; it has width, encoding",
        ),
        ({"kind": "residual", "layers": 3}, "A residual net has no layers"),
        ({"kind": "dots_and_boxes", "blocks": 3}, r"\[net\]: a net of kind dots_and_boxes has no blocks; it has layers, dropout"),
        ({"kind": "seega", "size": 7}, "a net of kind seega has no size; it has filters, dense"),
        ({"kind": "transformer"}, "the net's kind must be one of 'residual', 'phases', 'dots_and_boxes', 'seega', 'go'"),
        ({"kind": 3}, "the net's kind must be one of"),
        ({"kind": "given"}, "was handed in as an object. Hand in the same again"),
    ],
)
def test_what_cannot_be_made_is_said_in_a_sentence(file, net, says):
    kinds.load_net(f"{file}:make_net")
    with pytest.raises(AzlabError, match=says):
        kinds.new_net(GAME, net)


def test_files_without_such_a_function(file):
    with pytest.raises(AzlabError, match="has no function 'NUMBER' that makes a net"):
        kinds.load_net(f"{file}:NUMBER")
    with pytest.raises(AzlabError, match="cannot be read"):
        kinds.load_net("nothing.py:make_net")


def test_a_registered_function_is_found_by_its_name():
    kinds.register_net("mine", lambda game: torch.nn.Linear(1, 1))
    assert isinstance(kinds.new_net(GAME, {"kind": "mine"})[0], torch.nn.Linear)
    for name in ("residual", "a b", "given"):
        with pytest.raises(AzlabError, match="cannot be the name of a net"):
            kinds.register_net(name, lambda game: None)


def test_triton_is_loaded_before_a_file_that_imports_keras(tmp_path):
    """triton comes with torch for GPUs; loaded after TensorFlow it ends the process. A file of that name stands for it here."""
    (tmp_path / "triton.py").write_text("import sys\nprint('triton', 'tensorflow' in sys.modules)\n")
    (tmp_path / "mykeras.py").write_text("print('net')\ndef make_net(game): ...\n")
    code = "import sys; sys.path.insert(0, '.')\nfrom azlab.nets.kinds import load_net\nload_net('mykeras.py:make_net')"
    environment = {**os.environ, "PYTHONPATH": str(Path(azlab.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["triton False", "net"], done.stderr
