"""Fingerprints: short texts that differ where data or networks differ."""

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn


def data_fingerprint(*arrays: npt.NDArray[Any]) -> str:
    """Return the SHA-256 of the shapes, types and values of arrays.

    Examples
    --------
    >>> data_fingerprint(np.zeros(2)) == data_fingerprint(np.zeros((2, 1)))
    False
    """
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def network_fingerprint(network: nn.Module) -> str:
    """Return the SHA-256 of the layers and weights of a network."""
    digest = hashlib.sha256(repr(network).encode())
    for name, tensor in network.state_dict().items():
        digest.update(f"{name} {data_fingerprint(tensor.detach().cpu().numpy())};".encode())
    return digest.hexdigest()
