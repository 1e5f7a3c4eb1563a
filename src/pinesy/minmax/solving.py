"""The computations behind fronts and systems, on arrays that have been checked.

All of them hold on any interval ``[bottom, ...]`` of numbers, since they only compare, subtract
and halve. A max-min system is therefore solved as the min-max system of ``-a`` and ``-b`` on
``[-1, 0]``: changing a sign is exact where ``1 - .`` would round.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pinesy._common.kernel_loading import load_kernels
from pinesy._common.validation import FloatArray
from pinesy.exceptions import DegreeError

KERNELS = "pinesy.minmax.front_kernels"
#: Eight units in the last place of 1.0. The distance `nabla` and the margins `w` are differences
#: of degrees, each off by an ulp or two; on a decimal grid ``w > nabla`` must not hold by rounding.
TOLERANCE = 8 * 2.0**-52
#: Numbers of the matrix that are copied at a time, as whole columns.
BLOCK = 2**20


def sweep(e: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the front of pairs that are sorted by decreasing `e`, in O(N)."""
    best = np.maximum.accumulate(np.maximum(w, 0.0))
    # Among equal e the largest w counts: at the last of them `best` has seen them all.
    last = np.append(e[1:] != e[:-1], True)[: len(e)]
    e, best = e[last], best[last]
    better = np.diff(best, prepend=0.0) > 0.0
    return e[better], best[better]


def front_values(
    e: FloatArray, w: FloatArray, starts: npt.NDArray[np.int64], y: FloatArray
) -> FloatArray:
    """Return ``h_l(y[i, l])`` for packed fronts: front `l` is ``starts[l] .. starts[l + 1]``."""
    out = np.empty(y.shape)
    load_kernels(KERNELS).evaluate(e, w, starts, y, out)
    return out


def margin(nabla: float, tolerance: float) -> float:
    """Return what `w` must exceed: a distance that is exactly 0 has not been rounded."""
    if not nabla >= 0.0:
        raise DegreeError(f"nabla is {nabla!r}; a distance is a number >= 0")
    return nabla + tolerance if nabla > 0.0 else 0.0


def row_distances(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``nabla_i = min_l max((a_il - b_i)^+, h_l(b_i))`` [eq:Nabla] for all rows.

    ``h_l(y) = max_k min((b_k - y)^+ / 2, (b_k - a_kl)^+)`` is the front of column `l`. All columns
    share the order of `b`: one sort, then per column a sweep and a walk. O(N log N + N M); beyond
    the input O(N) memory.
    """
    order = np.argsort(-b).astype(np.int64, copy=False)
    y, nabla = b[order], np.full(len(b), np.inf)
    e, w, result = (np.empty(len(b)) for _ in range(3))
    for column in _columns(a):
        load_kernels(KERNELS).lower_distances(y, column, order, nabla, e, w)
    result[order] = nabla
    return result


def lowest_solution(
    a: FloatArray, b: FloatArray, nabla: float = 0.0, bottom: float = 0.0
) -> FloatArray:
    """Return ``x_l = max_i {b_i - nabla : a_il < b_i - nabla}``, and `bottom` where there is none.

    For ``nabla = 0`` the entries are copies of `b`.
    """
    least = margin(nabla, TOLERANCE)
    tops = [np.max(b, where=b - column > least, initial=-np.inf) for column in _columns(a)]
    return np.maximum(np.array(tops) - nabla, bottom)


def _columns(a: FloatArray) -> Iterator[FloatArray]:
    """Yield the columns as contiguous arrays, copied by blocks."""
    step = max(1, BLOCK // len(a))
    for first in range(0, a.shape[1], step):
        yield from np.ascontiguousarray(a[:, first : first + step].T)
