"""Networks as nodes of ONNX, from PyTorch's own exporter. Importing this loads PyTorch."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from pinesy.exceptions import DataError, needing
from pinesy.exchange.onnx_graph import OPSET, OnnxGraph
from pinesy.nets.network_perception import NetworkPerception
from pinesy.nets.networks import SIDE, device_of, preprocess


def add_perception(graph: OnnxGraph, perception: NetworkPerception, images: str) -> str:
    """Append a perception: from images (n, 28, 28) of uint8 to probabilities in float64.

    Images are scaled as `preprocess` does, by a table of the shades of grey.
    """
    network = perception.network
    shades = preprocess(np.resize(np.arange(256, dtype=np.uint8), (1, SIDE, SIDE)))
    table = graph.constant(shades.ravel()[:256].numpy(), np.float32)
    pixels = graph.node("Gather", table, graph.cast(images, np.int32))
    scores = _add_network(graph, network, graph.node("Unsqueeze", pixels, graph.shape(1)))
    return graph.node("Softmax", graph.cast(scores, np.float64), axis=1)


def _add_network(graph: OnnxGraph, network: nn.Module, pixels: str) -> str:
    """Append a network and return its scores."""
    prefix = f"{graph.fresh()}/"
    proto = graph.onnx.compose.add_prefix(_exported(network), prefix)
    (given,), (scores,) = proto.graph.input, proto.graph.output
    graph.nodes.append(graph.onnx.helper.make_node("Identity", [pixels], [given.name]))
    graph.nodes += proto.graph.node
    graph.initializers += proto.graph.initializer
    graph.functions += proto.functions
    for one in proto.opset_import:
        graph.opsets[one.domain] = max(one.version, graph.opsets.get(one.domain, 0))
    return str(scores.name)


def _exported(network: nn.Module) -> Any:
    """Return a network as PyTorch exports it, for any number of images."""
    with needing("onnx", "writing a network as ONNX needs"):
        import onnxscript  # noqa: F401  (PyTorch's exporter needs it)
    images = torch.zeros(2, 1, SIDE, SIDE, device=device_of(network))
    try:
        with _quietly(network):
            program = torch.onnx.export(
                network,
                (images,),
                dynamo=True,
                verbose=False,
                opset_version=OPSET,
                dynamic_shapes=({0: torch.export.Dim("images")},),
            )
    except (torch.onnx.OnnxExporterError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"PyTorch cannot write {type(network).__name__} as ONNX: {reason:.300}; write the "
            "rules alone, to_onnx(model.rules, transform=...), and give them its probabilities"
        ) from error
    assert program is not None
    return program.model_proto


@contextmanager
def _quietly(network: nn.Module) -> Iterator[None]:
    """Use a network without dropout, and without the exporter's notices; then all is as before."""
    was_training, level = network.training, logging.root.manager.disable
    network.eval()
    logging.disable(logging.WARNING)
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
        network.train(was_training)
