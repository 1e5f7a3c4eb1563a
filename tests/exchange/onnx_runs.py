"""How graphs are run by ONNX Runtime, and their results compared."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

runtime = pytest.importorskip("onnxruntime")
Array = npt.NDArray[Any]


def run(model: Any, inputs: dict[str, Any]) -> dict[str, Array]:
    """Return the outputs of a graph by name."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    content = model.SerializeToString()
    session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


def same_bits(one: Array, other: Array) -> bool:
    return one.shape == other.shape and one.tobytes() == np.ascontiguousarray(other).tobytes()
