"""The engine as autograd functions of PyTorch, with derivatives of any order.

Inference by min and max is piecewise linear. Its vector-Jacobian product (the gradient) is linear
in the incoming gradient, and the derivative of that is the Jacobian-vector product (the tangent),
whose derivative is the gradient again: three functions are enough for any order.
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
    program : the compiled rules
    columns : the output columns of the program, in the order of the result
    rows : the index of each trainable parameter among the constants of the program; -1 if the
        outputs do not depend on it
    """

    program: Program
    columns: npt.NDArray[np.intp]
    rows: npt.NDArray[np.intp]

    @classmethod
    def of(cls, program: Program, unknown: FloatArray) -> "Engine":
        """Return the engine of a program with the `unknown` placeholders in place of parameters."""
        spans = [program.code.columns[a.name] for a in program.outputs]
        row_of = {constant: row for row, constant in enumerate(program.code.constants.tolist())}
        rows = [row_of.get(constant, -1) for constant in unknown.tolist()]
        columns = [np.arange(span.start, span.stop) for span in spans]
        return cls(program, np.concatenate(columns), np.array(rows, dtype=np.intp))

    def values(self, x: Tensor, parameters: Tensor | None) -> Tensor:
        """Return the outputs (n, columns) for inputs (n, input columns)."""
        out = self.program.run(_as_float64(x), self._constants(parameters))
        # Min and max copy numbers: a float32 input comes back unchanged, a parameter is rounded.
        return torch.from_numpy(out[self.columns].T.copy()).to(x.dtype)

    def gradient(
        self, x: Tensor, parameters: Tensor | None, gradient: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Return the gradients of inputs and of parameters, given the gradient of the outputs."""
        output_gradient = np.zeros((self.program.code.n_outputs, len(x)))
        output_gradient[self.columns] = _as_float64(gradient).T
        constants = self._constants(parameters)
        input_gradient, sums = self.program.derivatives.gradient(
            _as_float64(x), output_gradient, constants
        )
        x_gradient = torch.from_numpy(input_gradient).to(x.dtype)
        if parameters is None:
            return x_gradient, None
        parameter_gradient = np.where(self.rows >= 0, sums[self.rows], 0.0)
        return x_gradient, torch.from_numpy(parameter_gradient).to(parameters.dtype)

    def tangent(
        self, x: Tensor, parameters: Tensor | None, dx: Tensor, dparameters: Tensor | None
    ) -> Tensor:
        """Return the change of the outputs for changes of inputs and parameters."""
        constants, dconstants = self._constants(parameters), None
        if dparameters is not None:
            dconstants = self._insert(np.zeros(len(self.program.code.constants)), dparameters)
        change = self.program.derivatives.tangent(
            _as_float64(x), _as_float64(dx), constants, dconstants
        )
        return torch.from_numpy(change[self.columns].T.copy()).to(x.dtype)

    def _constants(self, parameters: Tensor | None) -> FloatArray | None:
        if parameters is None:
            return None
        return self._insert(self.program.code.constants.copy(), parameters)

    def _insert(self, constants: FloatArray, parameters: Tensor) -> FloatArray:
        is_used = self.rows >= 0
        constants[self.rows[is_used]] = _as_float64(parameters)[is_used]
        return constants


def _as_float64(tensor: Tensor) -> FloatArray:
    return np.ascontiguousarray(tensor.detach().double().numpy())


def infer_columns(x: Tensor, parameters: Tensor | None, engine: Engine) -> Tensor:
    """Return the outputs (n, columns) for inputs (n, input columns), with derivatives.

    If `parameters` is None, those of the program's rules are used.
    """
    out: Tensor = _EngineInference.apply(x, parameters, engine)
    return out


class _EngineFunction(Function):
    """Base of the functions below: arguments are inputs, parameters, ..., and last an engine."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], _output: Any) -> None:
        x, parameters, *_, ctx.engine = inputs
        ctx.save_for_backward(x, parameters)
        ctx.save_for_forward(x, parameters)

    @classmethod
    def vmap(cls, info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Any, Any]:
        return _apply_vmap(cls.apply, info.batch_size, in_dims, inputs)


class _EngineInference(_EngineFunction):
    """Inference from inputs (n, columns) and parameters, which may be None."""

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
    """The gradients of inputs and parameters (vector-Jacobian product)."""

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
    """The change of the outputs (Jacobian-vector product)."""

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


def _apply_vmap(
    function: Callable[..., Any], size: int, dims: tuple[int | None, ...], inputs: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Apply a function of samples to a batch of batches of samples.

    The gradient of parameters is a sum over a batch; without parameters all samples are one batch.
    """
    if inputs[1] is None:
        batches = [_move_batch(tensor, dim, size) for tensor, dim in zip(inputs, dims, strict=True)]
        results = function(*(b.flatten(0, 1) if isinstance(b, Tensor) else b for b in batches))
        shape = batches[0].shape[:2]
        parts = [
            tensor if tensor is None else tensor.unflatten(0, shape) for tensor in _as_list(results)
        ]
    else:
        results_of_batches = []
        for i in range(size):
            pairs = zip(inputs, dims, strict=True)
            batch = [tensor if dim is None else tensor.select(dim, i) for tensor, dim in pairs]
            results_of_batches.append(_as_list(function(*batch)))
        parts = [torch.stack(column) for column in zip(*results_of_batches, strict=True)]
    out_dims = [None if part is None else 0 for part in parts]
    return (parts[0], 0) if len(parts) == 1 else (tuple(parts), tuple(out_dims))


def _move_batch(tensor: Any, dim: int | None, size: int) -> Any:
    if not isinstance(tensor, Tensor):
        return tensor
    return tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)


def _as_list(results: Tensor | tuple[Any, ...]) -> list[Any]:
    return [results] if isinstance(results, Tensor) else list(results)
