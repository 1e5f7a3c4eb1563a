"""Fingerprints differ where data or networks differ."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from pinesy.nets import DeepSoftLogCNN, PaperCNN, data_fingerprint, network_fingerprint  # noqa: E402


def test_arrays() -> None:
    one = np.zeros((3, 28, 28), np.uint8)
    two = one.copy()
    two[2, 27, 27] = 1
    views = {data_fingerprint(a) for a in (one, one.astype(np.int64), one.reshape(28, 3, 28), two)}
    assert len(views) == 4
    assert data_fingerprint(two[::-1]) == data_fingerprint(two[::-1].copy())
    assert data_fingerprint(one, two) != data_fingerprint(two, one)
    assert data_fingerprint(one[:0]) != data_fingerprint(one[:0, :0])


def test_networks() -> None:
    networks = [DeepSoftLogCNN(4, seed=0), DeepSoftLogCNN(4, seed=1), PaperCNN(4, seed=0)]
    prints = [network_fingerprint(network) for network in networks]
    assert len(set(prints)) == 3
    assert network_fingerprint(DeepSoftLogCNN(4, seed=0)) == prints[0]
    other_layers = PaperCNN(4, seed=0)
    other_layers.layers[7] = torch.nn.Dropout(0.5)
    assert network_fingerprint(other_layers) != prints[2]
    plain = PaperCNN(4, seed=0)
    for parameter in plain.parameters():
        parameter.data = parameter.data.contiguous()
    assert network_fingerprint(plain) == prints[2]
