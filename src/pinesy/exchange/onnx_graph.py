"""Graphs of ONNX, node by node."""

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._version import __version__
from pinesy.exceptions import needing

#: The version of ONNX's operators, and that of the file: those of onnxruntime from 1.14 on.
OPSET, IR_VERSION = 18, 8


def onnx_module() -> ModuleType:
    """Return `onnx`, or raise an error that names the extra."""
    with needing("onnx", "writing ONNX needs"):
        import onnx
        import onnx.compose
        import onnx.helper
        import onnx.numpy_helper
    return onnx


class OnnxGraph:
    """A graph that grows by calls: ``graph.node("Min", a, b)`` returns the name of the result.

    Parameters
    ----------
    names : of its inputs and outputs; all others are made so that they differ from these
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.onnx = onnx_module()
        self._prefix, self._names = "pinesy", {*names}
        while any(name.startswith(f"{self._prefix}/") for name in self._names):
            self._prefix += "_"
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        #: Of operators that networks bring with them, and the versions of all operators.
        self.functions: list[Any] = []
        self.opsets = {"": OPSET}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._constants: dict[tuple[Any, ...], str] = {}
        self._count = 0

    def fresh(self) -> str:
        """Return an unused name."""
        self._count += 1
        return f"{self._prefix}/{self._count}"

    def unused(self, name: str) -> str:
        """Return a name for an output, changed if it is used already, and mark it as used."""
        while name in self._names:
            name += "'"
        self._names.add(name)
        return name

    def append(self, model: Any, value: str) -> str:
        """Append a model of ONNX with one input and return the name of its only output."""
        proto = self.onnx.compose.add_prefix(model, f"{self.fresh()}/")
        (model_input,), (output,) = proto.graph.input, proto.graph.output
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [model_input.name]))
        self.nodes += proto.graph.node
        self.initializers += proto.graph.initializer
        self.functions += proto.functions
        for opset in proto.opset_import:
            self.opsets[opset.domain] = max(opset.version, self.opsets.get(opset.domain, 0))
        return str(output.name)

    def input(self, name: str, kind: npt.DTypeLike, shape: Sequence[int | str]) -> str:
        """Declare an input."""
        self._inputs.append(self._value(name, kind, shape))
        return name

    def output(self, name: str, kind: npt.DTypeLike, shape: Sequence[int | str]) -> None:
        """Declare a value as an output."""
        self._outputs.append(self._value(name, kind, shape))

    def named(self, name: str, value: str, kind: npt.DTypeLike, *sizes: int | str) -> str:
        """Declare a value as an output of another name; return the name."""
        self.output(self.node("Identity", value, output=name), kind, sizes)
        return name

    def _value(self, name: str, kind: npt.DTypeLike, shape: Sequence[int | str]) -> Any:
        return self.onnx.helper.make_tensor_value_info(name, self._type(kind), list(shape))

    def _type(self, kind: npt.DTypeLike) -> int:
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind)))

    def node(self, operation: str, *inputs: str, output: str | None = None, **options: Any) -> str:
        """Append a node and return the name of its output."""
        return self.node_outputs(operation, inputs, [output or self.fresh()], **options)[0]

    def node_outputs(
        self, operation: str, inputs: Sequence[str], names: list[str], **options: Any
    ) -> list[str]:
        """Append a node with several results and return their names."""
        self.nodes.append(self.onnx.helper.make_node(operation, list(inputs), names, **options))
        return names

    def constant(self, content: npt.ArrayLike, kind: npt.DTypeLike = np.float64) -> str:
        """Return an array of numbers as a value; equal ones are stored once."""
        array = np.asarray(content, kind)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self.fresh()
            tensor = self.onnx.numpy_helper.from_array(array, self._constants[key])
            self.initializers.append(tensor)
        return self._constants[key]

    def take(self, value: str, indices: npt.ArrayLike) -> str:
        """Return rows of a value; 4 bytes are enough for their indices."""
        return self.node("Gather", value, self.constant(indices, np.int32), axis=0)

    def columns(self, value: str, begin: int, end: int, step: int = 1) -> str:
        """Return the columns of a value from `begin` to `end`."""
        bounds = (self.shape(number) for number in (begin, end, 1, step))
        return self.node("Slice", value, *bounds)

    def cast(self, value: str, kind: npt.DTypeLike) -> str:
        """Return a value as numbers of another type."""
        return self.node("Cast", value, to=self._type(kind))

    def shape(self, *sizes: int) -> str:
        """Return sizes, axes or the like."""
        return self.constant(sizes, np.int64)

    def concat(self, parts: Sequence[str], axis: int) -> str:
        """Return values one after the other along an axis."""
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=axis)

    def model(self, name: str, metadata: dict[str, str]) -> Any:
        """Return the graph as an `onnx.ModelProto`, checked by ONNX."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes, name, self._inputs, self._outputs, initializer=self.initializers
        )
        model = helper.make_model(
            graph,
            producer_name="pinesy",
            producer_version=__version__,
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid(*pair) for pair in self.opsets.items()],
            functions=self.functions,
        )
        helper.set_model_props(model, metadata)
        self.onnx.checker.check_model(model)
        return model
