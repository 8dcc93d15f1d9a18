"""Weights on disk: safetensors for torch, `.keras` for Keras. Nothing is ever unpickled, and no file says which code to run.

A torch file carries the net's configuration as JSON and a checksum over all of it; loading builds the net in code and fills in
the numbers. A `.keras` file is only a container of numbers here: the model is built in code, the file's list of layers must
be that model's, and only arrays are read. Files are written aside and renamed, so a crash leaves the old one whole.
"""

import dataclasses
import hashlib
import io
import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from azlab.errors import AzlabError
from azlab.files import write_aside

FORMAT = "azlab residual net 1"
KERAS_MEMBERS = {"metadata.json", "config.json", "model.weights.h5"}


def save_torch(net: Any, path: str | Path) -> None:
    """Write a `ResidualNet`'s configuration and weights to `path` (.safetensors)."""
    from safetensors.torch import save

    path = _with_suffix(path, ".safetensors")
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    config = json.dumps(dataclasses.asdict(net.config), sort_keys=True)
    metadata = {"format": FORMAT, "config": config, "sha256": _checksum(config, tensors)}
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
        config = ResidualConfig(**json.loads(metadata["config"]))
    except (KeyError, TypeError, ValueError) as error:  # AzlabError is a ValueError: a sentence on the number that is wrong
        raise AzlabError(f"{path} is damaged: its configuration cannot be read ({error}). Use another copy.") from None
    with torch.device("meta"):
        wanted = {name: (tensor.shape, tensor.dtype) for name, tensor in ResidualNet(config).state_dict().items()}
    if wanted != {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}:
        raise AzlabError(f"{path} is damaged: its weights do not fit its configuration. Use another copy.")
    if metadata.get("sha256") != _checksum(metadata["config"], tensors):
        raise AzlabError(f"{path} is damaged: its checksum is wrong. Use another copy.")
    net = ResidualNet(config)
    net.load_state_dict(tensors)
    return net.eval()


def read_safetensors(path: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """The notes and the tensors of a safetensors file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise AzlabError(f"{path} is not a whole safetensors file ({error}). Nothing of it was used; use another copy.") from None


def _checksum(config: str, tensors: dict[str, Any]) -> str:
    digest = hashlib.sha256(config.encode())
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensors[name].numpy()).tobytes())
    return digest.hexdigest()


def save_keras(model: Any, path: str | Path) -> None:
    """Write a Keras model to `path` (.keras)."""
    write_aside(_with_suffix(path, ".keras"), model.save)


def load_keras_weights(model: Any, path: str | Path) -> Any:
    """Fill `model`, built by azlab.nets.keras_nets, with the weights of a `.keras` file of the same model; returns it.

    Nothing that the file describes is built: its layers are compared with those of `model` by kind and name, its arrays read.
    """
    path = _existing(_with_suffix(path, ".keras"))
    before = model.get_weights()
    size = sum(array.nbytes for array in before)
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            if len(infos) != len(KERAS_MEMBERS) or {info.filename for info in infos} != KERAS_MEMBERS:
                raise AzlabError(
                    f"{path} is not a Keras model as azlab saves them: it holds other files. Nothing of it was used."
                )
            # weights, the optimiser's two copies of them, and the names around them
            if sum(info.file_size for info in infos) > 4 * size + 10_000_000:
                raise AzlabError(f"{path} is larger than the weights of this model can be. Nothing of it was used.")
            layers = _layers(json.loads(archive.read("config.json")))
            arrays = archive.read("model.weights.h5")  # the whole file, so its checksum is verified
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, AzlabError):
            raise
        raise AzlabError(f"{path} is not a whole .keras file ({error}). Nothing of it was used; use another copy.") from None
    if layers != _layers(json.loads(model.to_json())):
        raise AzlabError(f"{path} holds another network than {model.name}. Build the one it was saved from, and load into that.")
    _refuse_links(path, arrays)
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
    """Kind and name of each layer in a model's configuration, as plain text; None if there is no such list."""
    try:
        return [(layer["class_name"], layer["config"]["name"]) for layer in config["config"]["layers"]]
    except (KeyError, TypeError):
        return None


def _refuse_links(path: Path, data: bytes) -> None:
    """An HDF5 file can point to other files of the machine; ours never do."""
    import h5py

    def walk(group: Any, depth: int = 0) -> None:
        for name in group:
            if not isinstance(group.get(name, getlink=True), h5py.HardLink) or depth > 20:
                raise AzlabError(f"{path} points to something outside of itself. Nothing of it was used.")
            item = group[name]
            if isinstance(item, h5py.Group):
                walk(item, depth + 1)
            elif item.external or item.is_virtual or item.dtype.hasobject:
                raise AzlabError(f"{path} holds something else than numbers. Nothing of it was used.")

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
