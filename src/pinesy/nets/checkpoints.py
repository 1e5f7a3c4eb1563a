"""Checkpoints of trainings, as safetensors files."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from pinesy._common.files import atomic_bytes, wrap_read_errors
from pinesy.exceptions import DataError, DomainError, placed
from pinesy.nets.recipes import Recipe

FORMAT, CHECKPOINT = "pinesy.training/1", "checkpoint; delete it to begin anew"
HISTORY = ("losses", "accuracies", "seconds")
#: With a validation score: one more score than epochs, the first for the start.
SCORES = "scores"
#: The name of the weights with the best score in a file.
BEST = "kept"
#: The names of parts of an `Identity` in messages.
PART_NAMES = {"architecture": "network", "data": "fingerprint of the data"}


@dataclass(frozen=True)
class Identity:
    """The identity of a training: a checkpoint of another one is refused.

    Attributes
    ----------
    architecture : the layers of the network
    recipe : how it is trained
    seed : of the order of images, and of dropout
    data : the fingerprint of the data, and of the loss
    """

    architecture: str
    recipe: Recipe
    seed: int
    data: str

    def metadata(self) -> dict[str, str]:
        """Return the identity as texts."""
        return {**{k: str(v) for k, v in vars(self).items()}, "recipe": self.recipe.to_json()}

    @classmethod
    def of_metadata(cls, texts: Mapping[str, str]) -> "Identity":
        """Return the identity that `metadata` gave."""
        recipe = Recipe.from_json(texts["recipe"])
        return cls(texts["architecture"], recipe, int(texts["seed"]), texts["data"])


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A training after some epochs.

    Attributes
    ----------
    identity : which training it is
    history : the loss, accuracy and seconds of each epoch that is done, and the scores if there
        are some
    network : the weights
    optimizer : its state, ``"<number of the parameter>.<name>"``
    average : the mean of the weights, if the recipe wants one and the training is so far; else
        empty
    best : the weights with the best score, if there are scores; else empty
    """

    identity: Identity
    history: dict[str, list[float]]
    network: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    average: dict[str, Tensor]
    best: dict[str, Tensor]

    @property
    def final_weights(self) -> dict[str, Tensor]:
        """The weights that the training would end with: the best, the average, or the last."""
        return self.best or self.average or self.network

    def check(self, identity: Identity) -> None:
        """Raise `DataError` unless this is a beginning of the training `identity`.

        `ValueError` if it contradicts itself.
        """
        epochs = identity.recipe.epochs
        # The number of epochs may grow: nothing in an epoch depends on it.
        own_identity = replace(self.identity, recipe=replace(self.identity.recipe, epochs=epochs))
        for name, expected in vars(identity).items():
            saved = getattr(own_identity, name)
            if saved != expected:
                raise DataError(
                    f"a checkpoint of another training: its {PART_NAMES.get(name, name)} is "
                    f"{_difference(str(saved), str(expected))}; give another file"
                )
        epochs_done = len(self.history["losses"])
        if epochs_done > epochs:
            raise DataError(
                f"the checkpoint is after epoch {epochs_done}, and the recipe has only {epochs}; "
                "give another file"
            )
        start = identity.recipe.average_from
        if bool(self.average) != (start is not None and epochs_done > start):
            raise ValueError("its average is not that of its epochs")


def _restore_optimizer(
    optimizer: torch.optim.Optimizer, network: nn.Module, saved: Mapping[str, Tensor]
) -> None:
    """Load the saved state of an optimizer; parameters without a gradient have none."""
    parts = [name.partition(".") for name in saved]
    indices, keys = {index for index, _, _ in parts}, {key for _, _, key in parts}
    parameters = {str(i): p for i, p in enumerate(network.parameters())}
    state = {
        int(n): {k: _as_layout(parameters[n], saved[f"{n}.{k}"]) for k in keys} for n in indices
    }
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def _difference(saved: str, expected: str) -> str:
    """Return excerpts of two texts, around their first difference."""
    first = next((i for i, (a, b) in enumerate(zip(saved, expected, strict=False)) if a != b), 0)
    start = max(first - 20, 0)
    saved_text, expected_text = (
        " ".join(text[start : start + 50].split()) for text in (saved, expected)
    )
    dots = "..." if start else ""
    return f"'{dots}{saved_text}', not '{dots}{expected_text}'"


def _as_layout(parameter: Tensor, saved: Tensor) -> Tensor:
    """Return a saved tensor in the memory layout of its parameter."""
    if saved.ndim and saved.shape != parameter.shape:
        raise ValueError(f"shape {tuple(saved.shape)} for a parameter {tuple(parameter.shape)}")
    return torch.empty_like(parameter).copy_(saved).detach() if saved.ndim else saved


def write_checkpoint(
    path: Path,
    identity: Identity,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    history: Mapping[str, list[float]],
    average: nn.Module | None = None,
    best: Mapping[str, Tensor] | None = None,
) -> None:
    """Write a checkpoint; an old file is replaced only once the new one is complete."""
    states = optimizer.state_dict()["state"].items()
    parts: dict[str, Mapping[str, Tensor]] = {
        "network": network.state_dict(),
        "average": {} if average is None else average.state_dict(),
        BEST: best or {},
        "optimizer": {f"{i}.{key}": x for i, state in states for key, x in state.items()},
        "history": {k: torch.tensor(v, dtype=torch.float64) for k, v in history.items()},
    }
    tensors = {
        f"{part}.{name}": x
        for part, tensors_of_part in parts.items()
        for name, x in tensors_of_part.items()
    }
    metadata = {"format": FORMAT, "epoch": str(len(history["losses"])), **identity.metadata()}
    write_tensors(path, tensors, metadata)


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> None:
    """Write a safetensors file; an old file is replaced only once the new one is complete."""
    # Copies, because weights that a network uses in two places are the same memory.
    copies = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    content = safetensors.torch.save(copies, metadata)
    with atomic_bytes(path) as stream:
        stream.write(content)


def read_tensors(path: Path, file_type: str) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Return the metadata and the tensors of a safetensors file, or raise `DataError`."""
    try:
        with wrap_read_errors(path), safe_open(path, "pt") as file:
            # Copies: what is read may be a view of the file.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
            return file.metadata() or {}, tensors
    except SafetensorError as error:
        raise damage_error(path, file_type, error) from None


def damage_error(path: Path, file_type: str, error: Exception) -> DataError:
    """Return the error for a damaged file."""
    return DataError(f"{path}: a damaged {file_type} ({' '.join(str(error).split()):.200})")


def resume(
    path: Path,
    identity: Identity,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: nn.Module | None = None,
) -> Checkpoint:
    """Load a checkpoint into network, optimizer and average; return it, or raise `DataError`."""
    checkpoint = read_checkpoint(path)
    try:
        with placed(str(path)):
            checkpoint.check(identity)
        network.load_state_dict(checkpoint.network)
        if average is not None and checkpoint.average:
            average.load_state_dict(checkpoint.average)
        _restore_optimizer(optimizer, network, checkpoint.optimizer)
    except (KeyError, ValueError, RuntimeError) as error:
        raise damage_error(path, CHECKPOINT, error) from None
    return checkpoint


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint, or raise `DataError`."""
    metadata, tensors = read_tensors(path, CHECKPOINT)
    if metadata.get("format") != FORMAT:
        raise DataError(f"{path}: not a checkpoint of pinesy ({FORMAT}); give another file")
    try:
        parts: dict[str, dict[str, Any]] = {
            part: {} for part in ("network", "optimizer", "history", "average", BEST)
        }
        for name, tensor in tensors.items():
            part, _, key = name.partition(".")
            parts[part][key] = tensor
        epochs, best = int(metadata["epoch"]), parts.pop(BEST)
        lengths = dict.fromkeys(HISTORY, epochs) | ({SCORES: epochs + 1} if best else {})
        parts["history"] = {name: parts["history"][name].tolist() for name in lengths}
        if any(len(parts["history"][name]) != length for name, length in lengths.items()):
            raise ValueError("its history is not that of its epochs")
        return Checkpoint(Identity.of_metadata(metadata), **parts, best=best)
    except (DomainError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise damage_error(path, CHECKPOINT, error) from None


def load_weights(network: nn.Module, checkpoint: str | os.PathLike[str]) -> nn.Module:
    """Put the weights of a checkpoint into a network of the same layers, and return it.

    Averaged weights are preferred, if the checkpoint has them.
    """
    path = Path(checkpoint)
    try:
        saved = read_checkpoint(path)
        network.load_state_dict(saved.final_weights)
    except RuntimeError as error:
        detail = " ".join(str(error).split())
        raise DataError(f"{path}: the weights of another network: {detail:.200}") from None
    return network.eval()


def data_fingerprint(*content: npt.NDArray[Any] | str) -> str:
    """Return the SHA-256 of the shapes, types and values of arrays, and of texts.

    Examples
    --------
    >>> data_fingerprint(np.zeros(2)) == data_fingerprint(np.zeros((2, 1)))
    False
    """
    digest = hashlib.sha256()
    for part in content:
        array = np.frombuffer(part.encode(), np.uint8) if isinstance(part, str) else part
        digest.update(f"{array.dtype.str} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def network_fingerprint(network: nn.Module) -> str:
    """Return the SHA-256 of the layers and weights of a network."""
    digest = hashlib.sha256(repr(network).encode())
    for name, tensor in network.state_dict().items():
        digest.update(f"{name} {data_fingerprint(tensor.detach().cpu().numpy())};".encode())
    return digest.hexdigest()
