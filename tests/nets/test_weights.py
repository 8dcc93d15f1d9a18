import json
import os
import pickle

import pytest
import torch
from safetensors.torch import save_file

from azlab.errors import AzlabError
from azlab.nets.weights import load_torch, save_torch


class Bomb:
    """Unpickling this makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.fixture
def stored(tmp_path, connect4, small_net):
    net = small_net(connect4, squeeze=4, reply=True)
    save_torch(net, tmp_path / "net.safetensors")
    return net, tmp_path / "net.safetensors"


def test_weights_and_configuration_come_back(stored):
    net, path = stored
    again = load_torch(path)
    assert again.config == net.config and not again.training
    assert all(torch.equal(a, b) for a, b in zip(net.state_dict().values(), again.state_dict().values()))
    assert [file.name for file in path.parent.iterdir()] == ["net.safetensors"]


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 100, 0.5, 0.99])
def test_a_truncated_file_is_refused(stored, keep):
    data = stored[1].read_bytes()
    stored[1].write_bytes(data[: int(keep * len(data)) if isinstance(keep, float) else keep])
    with pytest.raises(AzlabError, match="net.safetensors is not a whole safetensors file"):
        load_torch(stored[1])


def test_a_damaged_byte_anywhere_is_noticed(stored):
    data = stored[1].read_bytes()
    for place in [*range(0, 2000, 37), *range(2000, len(data), 401), len(data) - 1]:
        damaged = bytearray(data)
        damaged[place] ^= 0x10
        stored[1].write_bytes(damaged)
        try:
            net = load_torch(stored[1])
        except AzlabError:
            continue
        # a name of the header's own that nobody reads, or a space
        assert all(torch.equal(a, b) for a, b in zip(net.state_dict().values(), stored[0].state_dict().values())), place


def test_a_pickle_is_refused_and_not_run(tmp_path):
    for name, write in (("plain", pickle.dump), ("torch", torch.save)):
        path = tmp_path / f"{name}.safetensors"
        with path.open("wb") as file:
            write(Bomb(tmp_path / "exploded"), file)
        with pytest.raises(AzlabError, match="not a whole safetensors file"):
            load_torch(path)
    assert not (tmp_path / "exploded").exists()
    with pytest.raises(AzlabError, match="should end in .safetensors"):
        load_torch(tmp_path / "net.pt")


def test_a_foreign_file_is_refused(tmp_path, stored):
    path = tmp_path / "foreign.safetensors"
    save_file({"a": torch.ones(3)}, path)
    with pytest.raises(AzlabError, match="is no network of azlab"):
        load_torch(path)
    for config in ("[]", "{", json.dumps({"rows": 6}), json.dumps({"rows": 6, "cols": 7, "actions": 7, "blocks": 10**9})):
        save_file({"a": torch.ones(3)}, path, {"format": "azlab residual net 1", "config": config})
        with pytest.raises(AzlabError, match="its configuration cannot be read"):
            load_torch(path)
    save_file({"a": torch.ones(3)}, path, {"format": "azlab residual net 1", "config": '{"rows": 6, "cols": 7, "actions": 7}'})
    with pytest.raises(AzlabError, match="weights do not fit its configuration"):
        load_torch(path)
    with pytest.raises(AzlabError, match="There is no file"):
        load_torch(tmp_path / "nothing.safetensors")


def test_a_failed_write_leaves_the_old_file(stored, monkeypatch):
    net, path = stored
    before = path.read_bytes()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(AzlabError, match="cannot be written: No space left on device. What was there before is unchanged"):
        save_torch(net, path)
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1
