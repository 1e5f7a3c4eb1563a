"""Network, transformation and rules in one graph."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

from exchange.onnx_runs import run, same_bits  # noqa: E402
from pinesy import DataError, NeuroSymbolic, to_onnx  # noqa: E402
from pinesy.nets import NetworkPerception  # noqa: E402
from pinesy.problems import addition  # noqa: E402


def small_network() -> Any:
    torch.manual_seed(0)
    layers = [torch.nn.Flatten(), torch.nn.Linear(784, 10), torch.nn.Dropout()]
    return torch.nn.Sequential(*layers).train()


def test_the_whole_gives_the_same_numbers_from_images_on() -> None:
    rules, network = addition(1), small_network()
    model = NeuroSymbolic(NetworkPerception(network), rules)
    graph = to_onnx(model)
    assert network.training
    rng = np.random.default_rng(0)
    images = {a.name: rng.integers(0, 256, (5, 28, 28), np.uint8) for a in rules.inputs}
    expected = model.predict_possibility(images)
    # What networks say differs by the rounding of float32; from there on it does not.
    softmax = next(node for node in graph.graph.node if node.op_type == "Softmax")
    graph.graph.output.append(_double(softmax.output[0]))
    found = run(graph, images)
    for name, pi in expected.items():
        np.testing.assert_allclose(found[name], pi.degrees, rtol=0, atol=1e-6)
    seen = found[softmax.output[0]].reshape(5, 2, 10)
    names = [a.name for a in rules.inputs]
    evidence = {name: seen[:, i] for i, name in enumerate(names)}
    for name, pi in rules.infer(evidence, transform="antipignistic").items():
        assert same_bits(found[name], pi.degrees)


def _double(name: str) -> Any:
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, TensorProto.DOUBLE, None)


def test_a_network_that_pytorch_cannot_write_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("a branch\non data")

    monkeypatch.setattr(torch.onnx, "export", refuse)
    model = NeuroSymbolic(NetworkPerception(small_network()), addition(1))
    with pytest.raises(DataError, match="cannot write Sequential as ONNX: a branch on data; write"):
        to_onnx(model)
