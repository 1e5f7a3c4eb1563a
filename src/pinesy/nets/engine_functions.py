"""The engine among the operations of PyTorch: values, gradients, and gradients of gradients.

Min and max only copy numbers, so what is inferred is linear between ties. Its gradient is a linear
map, the gradient of that is the same map forwards (the tangent), whose gradient is the first one
again: three functions, each with the next as its derivative, are enough for any order.
"""

# mypy: disable-error-code="no-untyped-call"
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.autograd import Function

from pinesy._common.validation import FloatArray
from pinesy.engine.program import Program


@dataclass(frozen=True, eq=False)
class Engine:
    """A program for tensors.

    Attributes
    ----------
    program : what is run
    columns : the output columns that are wanted, in the order of the result
    rows : where each trainable parameter stands among the constants of the program; -1 if the
        outputs do not depend on it
    """

    program: Program
    columns: npt.NDArray[np.intp]
    rows: npt.NDArray[np.intp]

    @classmethod
    def of(cls, program: Program, unknown: FloatArray) -> "Engine":
        """Return the engine of a program where `unknown` numbers stand for the parameters."""
        spans = [program.code.columns[a.name] for a in program.outputs]
        row_of = {constant: row for row, constant in enumerate(program.code.constants.tolist())}
        rows = [row_of.get(constant, -1) for constant in unknown.tolist()]
        columns = [np.arange(span.start, span.stop) for span in spans]
        return cls(program, np.concatenate(columns), np.array(rows, dtype=np.intp))

    def values(self, x: Tensor, parameters: Tensor | None) -> Tensor:
        """Return the outputs (n, columns) for inputs (n, input columns)."""
        out = self.program.run(_numbers(x), self._constants(parameters))
        # Results are copies: those of inputs come back as they were, and parameters are rounded.
        return torch.from_numpy(out[self.columns].T.copy()).to(x.dtype)

    def gradient(
        self, x: Tensor, parameters: Tensor | None, gradient: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Return the gradients of inputs and of parameters for that of the outputs."""
        output_gradient = np.zeros((self.program.code.n_outputs, len(x)))
        output_gradient[self.columns] = _numbers(gradient).T
        constants = self._constants(parameters)
        of_x, sums = self.program.derivatives.gradient(_numbers(x), output_gradient, constants)
        if parameters is None:
            return torch.from_numpy(of_x).to(x.dtype), None
        of_parameters = np.where(self.rows >= 0, sums[self.rows], 0.0)
        return torch.from_numpy(of_x).to(x.dtype), torch.from_numpy(of_parameters).to(
            parameters.dtype
        )

    def tangent(
        self, x: Tensor, parameters: Tensor | None, dx: Tensor, dparameters: Tensor | None
    ) -> Tensor:
        """Return how the outputs change if inputs and parameters change by so much."""
        constants, dconstants = self._constants(parameters), None
        if dparameters is not None:
            dconstants = self._placed(np.zeros(len(self.program.code.constants)), dparameters)
        change = self.program.derivatives.tangent(_numbers(x), _numbers(dx), constants, dconstants)
        return torch.from_numpy(change[self.columns].T.copy()).to(x.dtype)

    def _constants(self, parameters: Tensor | None) -> FloatArray | None:
        if parameters is None:
            return None
        return self._placed(self.program.code.constants.copy(), parameters)

    def _placed(self, constants: FloatArray, parameters: Tensor) -> FloatArray:
        is_used = self.rows >= 0
        constants[self.rows[is_used]] = _numbers(parameters)[is_used]
        return constants


def _numbers(tensor: Tensor) -> FloatArray:
    return np.ascontiguousarray(tensor.detach().double().numpy())


def infer_columns(x: Tensor, parameters: Tensor | None, engine: Engine) -> Tensor:
    """Return the outputs (n, columns) for inputs (n, input columns), with derivatives.

    Without `parameters` those of the program's rules count.
    """
    out: Tensor = _Inferred.apply(x, parameters, engine)
    return out


class _EngineFunction(Function):
    """What the functions below share: inputs, parameters and, last of all, an engine are given."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], _output: Any) -> None:
        x, parameters, *_, ctx.engine = inputs
        ctx.save_for_backward(x, parameters)
        ctx.save_for_forward(x, parameters)

    @classmethod
    def vmap(cls, info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Any, Any]:
        return _vmapped(cls.apply, info.batch_size, in_dims, inputs)


class _Inferred(_EngineFunction):
    """What the engine infers from inputs (n, columns) and parameters, which may be None."""

    @staticmethod
    def forward(x: Tensor, parameters: Tensor | None, engine: Engine) -> Tensor:
        return engine.values(x, parameters)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return *_Gradient.apply(*ctx.saved_tensors, gradient, ctx.engine), None

    @staticmethod
    def jvp(ctx: Any, dx: Tensor, dparameters: Tensor | None, _: None) -> Tensor:
        change: Tensor = _Tangent.apply(*ctx.saved_tensors, dx, dparameters, ctx.engine)
        return change


class _Gradient(_EngineFunction):
    """The gradients of inputs and parameters."""

    @staticmethod
    def forward(
        x: Tensor, parameters: Tensor | None, gradient: Tensor, engine: Engine
    ) -> tuple[Tensor, Tensor | None]:
        return engine.gradient(x, parameters, gradient)

    @staticmethod
    def backward(ctx: Any, dx: Tensor, dparameters: Tensor | None) -> tuple[Tensor | None, ...]:
        change = _Tangent.apply(*ctx.saved_tensors, dx, dparameters, ctx.engine)
        return None, None, change, None

    @staticmethod
    def jvp(ctx: Any, _x: Any, _parameters: Any, change: Tensor, _: None) -> Any:
        return _Gradient.apply(*ctx.saved_tensors, change, ctx.engine)


class _Tangent(_EngineFunction):
    """The change of what is inferred."""

    @staticmethod
    def forward(
        x: Tensor,
        parameters: Tensor | None,
        dx: Tensor,
        dparameters: Tensor | None,
        engine: Engine,
    ) -> Tensor:
        return engine.tangent(x, parameters, dx, dparameters)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *_Gradient.apply(*ctx.saved_tensors, gradient, ctx.engine), None

    @staticmethod
    def jvp(ctx: Any, _x: Any, _parameters: Any, dx: Tensor, dparameters: Any, _: None) -> Any:
        return _Tangent.apply(*ctx.saved_tensors, dx, dparameters, ctx.engine)


def _vmapped(
    function: Callable[..., Any], size: int, dims: tuple[int | None, ...], inputs: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Apply a function of samples to a batch of batches of samples.

    Without parameters, whose gradient is a sum over a batch, all samples go at once.
    """
    if inputs[1] is None:
        batches = [_batched(tensor, dim, size) for tensor, dim in zip(inputs, dims, strict=True)]
        results = function(*(b.flatten(0, 1) if isinstance(b, Tensor) else b for b in batches))
        shape = batches[0].shape[:2]
        parts = [
            tensor if tensor is None else tensor.unflatten(0, shape) for tensor in _listed(results)
        ]
    else:
        results_of_samples = [
            _listed(
                function(
                    *(_picked(tensor, dim, i) for tensor, dim in zip(inputs, dims, strict=True))
                )
            )
            for i in range(size)
        ]
        parts = [torch.stack(column) for column in zip(*results_of_samples, strict=True)]
    where = [None if part is None else 0 for part in parts]
    return (parts[0], 0) if len(parts) == 1 else (tuple(parts), tuple(where))


def _batched(tensor: Any, dim: int | None, size: int) -> Any:
    if not isinstance(tensor, Tensor):
        return tensor
    return tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)


def _picked(tensor: Any, dim: int | None, index: int) -> Any:
    return tensor if dim is None else tensor.select(dim, index)


def _listed(results: Tensor | tuple[Any, ...]) -> list[Any]:
    return [results] if isinstance(results, Tensor) else list(results)
