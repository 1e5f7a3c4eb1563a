"""How kernels are compiled. Importing this loads Numba, so only modules of kernels do."""

from functools import partial
from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic


def _has_cache() -> bool:
    """Tell whether a directory can hold the compiled kernels."""
    try:
        numba.njit(cache=True)(_has_cache)
    except RuntimeError:
        return False
    return True


#: Compile for a signature, with a cache on disk where there can be one.
compiled = partial(numba.njit, nogil=True, cache=_has_cache())


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
