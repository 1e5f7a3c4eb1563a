"""How kernels are compiled. Importing this loads Numba, so only modules of kernels do."""

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile with a cache on disk, or without one where no directory can hold it."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        result: Callable[..., Any]
        try:
            result = numba.njit(signature, nogil=True, cache=True)(function)
        except RuntimeError:
            result = numba.njit(signature, nogil=True)(function)
        return result

    return decorate


def _machine_operation(name: str) -> Any:
    """Return an operation on two floats that becomes one vector instruction.

    Written as a comparison, ``t[i] = max(t[i], x[i])`` turns into masked stores, four times
    slower. The flags promise what is checked on input: no NaN, and no -0.0 to tell from 0.0.
    """

    @intrinsic
    def operation(_context, a, b):  # type: ignore[no-untyped-def]
        def code(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
            double = ir.DoubleType()
            kind = ir.FunctionType(double, [double, double])
            function = builder.module.declare_intrinsic(name, [double], kind)
            return builder.call(function, arguments, fastmath=("nnan", "nsz"))

        return types.float64(a, b), code

    return operation


machine_max = _machine_operation("llvm.maxnum")
machine_min = _machine_operation("llvm.minnum")
