"""The compiled loop of refining parameters: their gradient, from that of the cells.

It takes what the loops of learning take (see `system_kernels`).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numpy as np
from numba.core import types

from pinesy._common.jit import compiled
from pinesy.learning import system_kernels as k


@compiled(
    types.void(k.TABLE, types.int64, types.int64, k.SHAPE, k.INT_TABLE, k.NUMBERS, k.OUT_TABLE)
)
def cells(d, begin, end, shape, cells_of, x, out):
    """Set ``out[mu, i] = min_j max(x, g)`` of the sides of the cells [eq:redFP]."""
    y, part, _, h = k.scratch(d, shape, cells_of)
    for first in range(begin, end, k.WIDTH):
        lanes = min(k.WIDTH, end - first)
        for side in range(d.shape[0]):
            for i in range(lanes):
                h[side, i] = max(x[side], d[side, first + i])
        k.lowest(h, lanes, shape, cells_of, part, y)
        for mu in range(y.shape[0]):
            k.fill(out[mu, first:], y[mu], lanes)


@compiled(
    types.void(
        k.TABLE, types.int64, types.int64, k.SHAPE, k.INT_TABLE, k.NUMBERS,
        k.TABLE, k.TABLE, k.OUT,
    )
)  # fmt: skip
def parameter_gradient(d, begin, end, shape, cells_of, x, y, given, out):
    """Add to ``out[l]`` the gradient of parameter `l`, for that of the cells, `given`.

    Each cell hands its gradient in equal shares to the sides that attain its minimum; what reaches
    a parameter is the share of the sides where it is not below the premise degree.
    """
    starts, sides, _, _ = shape
    attaining = np.empty(d.shape[0], np.int64)
    for i in range(begin, end):
        for mu in range(cells_of.shape[0]):
            if given[mu, i] == 0.0:
                continue
            n = 0
            for b in range(cells_of.shape[1]):
                p = cells_of[mu, b]
                for place in range(starts[p], starts[p + 1]):
                    side = sides[place]
                    if max(x[side], d[side, i]) == y[mu, i]:
                        attaining[n] = side
                        n += 1
            for side in attaining[:n]:
                if x[side] >= d[side, i]:
                    out[side] += given[mu, i] / n
