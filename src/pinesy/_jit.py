"""How kernels are compiled. Importing this loads Numba, so only modules of kernels do."""

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["compiled"]


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
