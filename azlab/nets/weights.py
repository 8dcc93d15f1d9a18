"""Weights on disk: safetensors for torch, `.keras` for Keras. Nothing is ever unpickled, and no file says which code to run.

A torch file carries a description of the net as JSON and a checksum over all of it. That of a `ResidualNet` is its
configuration: loading builds the net in code and fills in the numbers. Any other net is built by its owner and filled
(`fill_torch`). Files of other numbers (optimisers, players) have notes and a checksum too. A `.keras` file is only a container of
numbers here: the model is built in code, the file's list of layers must be that model's, and only arrays are read. Files are
written aside and renamed, so a crash leaves the old one whole.
"""

import dataclasses
import io
import json
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.files import write_aside
from azlab.intact import SHA, ZIP_ERRORS, checksum, notes_checksum, parsed

FORMAT = "azlab residual net 1"
OTHER_FORMAT = "azlab torch net 1"  # any other module: its class's name and its numbers
AUTOMATIC = re.compile(r"_\d+$")  # Keras counts the layers of a program that have no name of their own: dense_1, dense_2
KERAS_MEMBERS = {"metadata.json", "config.json", "model.weights.h5"}


def save_torch(net: Any, path: str | Path) -> None:
    """Write the weights of a `torch.nn.Module` to `path` (.safetensors); of a `ResidualNet` also the configuration."""
    from safetensors.torch import save

    from azlab.nets.residual import ResidualNet

    path = _with_suffix(path, ".safetensors")
    is_residual = isinstance(net, ResidualNet)
    tensors = torch_numbers(net)
    config = json.dumps(dataclasses.asdict(net.config) if is_residual else {"class": type(net).__name__}, sort_keys=True)
    metadata = {"format": FORMAT if is_residual else OTHER_FORMAT, "config": config, SHA: checksum(config, tensors)}
    write_aside(path, lambda aside: aside.write_bytes(save(tensors, metadata)))


def load_torch(path: str | Path) -> Any:
    """The `ResidualNet` stored at `path`, on the CPU and ready to evaluate."""
    import torch

    from azlab.nets.residual import ResidualConfig, ResidualNet

    path = _existing(_with_suffix(path, ".safetensors"))
    metadata, tensors = read_safetensors(path)
    if metadata.get("format") != FORMAT:
        raise AzlabError(
            f"{path} is no network of azlab: it has no '{FORMAT}' mark. Give a file that azlab.nets.save_torch wrote."
        )
    try:
        config = ResidualConfig(**parsed(metadata["config"]))
    except (KeyError, TypeError, ValueError) as error:  # AzlabError is a ValueError: a sentence on the number that is wrong
        raise AzlabError(f"{path} is damaged: its configuration cannot be read ({error}). Use another copy.") from None
    with torch.device("meta"):
        wanted = {name: (tensor.shape, tensor.dtype) for name, tensor in ResidualNet(config).state_dict().items()}
    if wanted != {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}:
        raise AzlabError(f"{path} is damaged: its weights do not fit its configuration. Use another copy.")
    if metadata.get(SHA) != checksum(metadata["config"], tensors):
        raise AzlabError(f"{path} is damaged: its checksum is wrong. Use another copy.")
    net = ResidualNet(config)
    net.load_state_dict(tensors)
    return net.eval()


def torch_numbers(net: Any) -> dict[str, Any]:
    """All tensors of a module's state, each a copy of its own; a sentence if there is something else in it."""
    import torch

    state = net.state_dict()
    if others := [name for name, value in state.items() if not isinstance(value, torch.Tensor)]:
        raise AzlabError(f"The net keeps something else than numbers ({others[0]}), which azlab does not write to a file.")
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in state.items()}


def fill_torch(net: Any, path: str | Path) -> None:
    """Give `net` the weights that `save_torch` wrote of a net of the same shape."""
    from azlab.nets.residual import ResidualNet

    if isinstance(net, ResidualNet):
        found = load_torch(path)
        if found.config != net.config:
            raise AzlabError(f"{path} holds a net of another shape than this training's.{_other_encoding(found, net)}")
        net.load_state_dict(found.state_dict())
        return
    path = _existing(_with_suffix(path, ".safetensors"))
    metadata, tensors = read_safetensors(path)
    if metadata.get("format") != OTHER_FORMAT:
        raise AzlabError(f"{path} holds no network such as {type(net).__name__}: it has no '{OTHER_FORMAT}' mark.")
    if metadata.get(SHA) != checksum(metadata.get("config", ""), tensors):
        raise AzlabError(f"{path} is damaged: its checksum is wrong. Use another copy.")
    wanted = {name: (tensor.shape, tensor.dtype) for name, tensor in torch_numbers(net).items()}
    if wanted != {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}:
        raise AzlabError(f"{path} holds a net of another shape than this {type(net).__name__}. Build the one it was saved from.")
    net.load_state_dict(tensors)


def _other_encoding(found: Any, net: Any) -> str:
    """Connect 4's nets once saw a single plane unless told otherwise; a run's folder of then does not say so."""
    if found.config.encoding == net.config.encoding:
        return ""
    return (
        f' It sees a position as "{found.config.encoding}": write encoding = "{found.config.encoding}" into [net] of config.toml.'
    )


def read_safetensors(path: Path, framework: str = "pt") -> tuple[dict[str, str], dict[str, Any]]:
    """The notes of a safetensors file, and its tensors for torch ("pt") or NumPy ("np")."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework=framework) as file:
            return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (
        SafetensorError,
        OSError,
        ValueError,
        TypeError,
        AttributeError,
    ) as error:  # the last two: kinds of numbers we do not use
        raise AzlabError(f"{path} is not a whole safetensors file ({error}). Nothing of it was used; use another copy.") from None


def save_numbers(path: Path, kind: str, notes: dict[str, str], arrays: dict[str, np.ndarray]) -> None:
    """Write arrays as a safetensors file of a `kind` such as "azlab player 2", with notes and a checksum over all of it."""
    from safetensors.numpy import save

    notes = {"format": kind, **notes}
    metadata = notes | {SHA: notes_checksum(notes, arrays)}
    write_aside(path, lambda aside: aside.write_bytes(save(arrays, metadata)))


def load_numbers(path: Path, kind: str, old: str | None) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """The notes and arrays that `save_numbers` wrote; `old` is the mark of files from before there were checksums, or None."""
    metadata, arrays = read_safetensors(path, "np")
    notes = {name: text for name, text in metadata.items() if name != SHA}
    is_old = notes.get("format") == old and SHA not in metadata and (old or not notes)
    if notes.get("format") != kind and not is_old:
        raise AzlabError(f"{path} is no {kind.split()[1]} of azlab: it has no '{kind}' mark. Use another file.")
    if not is_old and metadata.get(SHA) != notes_checksum(notes, arrays):
        raise AzlabError(f"{path} is damaged: its checksum is wrong. Use another copy.")
    return notes, arrays


def save_keras(model: Any, path: str | Path) -> None:
    """Write a Keras model to `path` (.keras)."""
    write_aside(_with_suffix(path, ".keras"), model.save)


def load_keras_weights(model: Any, path: str | Path) -> Any:
    """Fill `model`, built by azlab.nets.keras_nets, with the weights of a `.keras` file of the same model; returns it.

    Nothing that the file describes is built: its layers are compared with those of `model` by kind and name, its arrays read.
    """
    path = _existing(_with_suffix(path, ".keras"))
    before = model.get_weights()
    # weights, the optimiser's two copies of them, and the names around them
    most = 4 * sum(array.nbytes for array in before) + 10_000_000
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            if len(infos) != len(KERAS_MEMBERS) or {info.filename for info in infos} != KERAS_MEMBERS:
                raise AzlabError(
                    f"{path} is not a Keras model as azlab saves them: it holds other files. Nothing of it was used."
                )
            if sum(info.file_size for info in infos) > most:
                raise AzlabError(f"{path} is larger than the weights of this model can be. Nothing of it was used.")
            layers = _layers(parsed(archive.read("config.json").decode()))
            arrays = archive.read("model.weights.h5")  # the whole file, so its checksum is verified
    except ZIP_ERRORS as error:
        if isinstance(error, AzlabError):
            raise
        raise AzlabError(f"{path} is not a whole .keras file ({error}). Nothing of it was used; use another copy.") from None
    if layers != _layers(json.loads(model.to_json())):
        raise AzlabError(f"{path} holds another network than {model.name}. Build the one it was saved from, and load into that.")
    _refuse_all_but_numbers(path, arrays, most)
    try:
        model.set_weights([np.full_like(array, np.nan) for array in before])  # to notice what the file leaves out
        with warnings.catch_warnings(action="ignore"):
            model.load_weights(path)
        if not all(np.isfinite(array).all() for array in model.get_weights()):
            raise ValueError("numbers are missing")
    except Exception as error:  # whatever Keras or HDF5 finds wrong with the arrays
        model.set_weights(before)
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise AzlabError(f"The weights in {path} do not fit {model.name} ({reason}). The model is unchanged.") from None
    return model


def _layers(config: Any) -> list[tuple[str, str]] | None:
    """Kind and name of each layer in a model's configuration, as plain text, without Keras's counting; None if there is no such
    list."""
    try:
        layers = [(layer["class_name"], layer["config"]["name"]) for layer in config["config"]["layers"]]
        # an input has no weights, and a copy of a model gives it another name
        return [(kind, "" if kind == "InputLayer" else AUTOMATIC.sub("", name)) for kind, name in layers]
    except (KeyError, TypeError):
        return None


def _refuse_all_but_numbers(path: Path, data: bytes, most: int) -> None:
    """An HDF5 file can point to other files of the machine, and packed arrays can be huge; ours are neither."""
    import h5py

    left = most

    def walk(group: Any, depth: int = 0) -> None:
        nonlocal left
        for name in group:
            if not isinstance(group.get(name, getlink=True), h5py.HardLink) or depth > 20:
                raise AzlabError(f"{path} points to something outside of itself. Nothing of it was used.")
            item = group[name]
            if isinstance(item, h5py.Group):
                walk(item, depth + 1)
            elif item.external or item.is_virtual or item.dtype.hasobject:
                raise AzlabError(f"{path} holds something else than numbers. Nothing of it was used.")
            else:
                left -= item.nbytes
                if left < 0:
                    raise AzlabError(f"{path} is larger than the weights of this model can be. Nothing of it was used.")

    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            walk(file)
    except (OSError, RuntimeError, KeyError, TypeError) as error:
        raise AzlabError(f"{path} is damaged: its weights cannot be read ({error}). Use another copy.") from None


def _with_suffix(path: str | Path, suffix: str) -> Path:
    path = Path(path)
    if path.suffix != suffix:
        raise AzlabError(f"{path.name} should end in {suffix}; azlab reads and writes no other kind of file for these weights.")
    return path


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise AzlabError(f"There is no file {path}.")
    return path
