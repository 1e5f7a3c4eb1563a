"""The building blocks of learning's kernels: cells and sides, for a block of samples.

Arrays hold a row for each cell, side or pattern of sides, with the samples of a block contiguous;
`shape` and `cells` are those of a `CellShape`.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numba
import numpy as np
from numba.core import types

from pinesy._common.jit import compiled, machine_max, machine_min

#: Samples a block: its scratch stays in a core's cache.
WIDTH = 128

TABLE = types.Array(types.float64, 2, "C", readonly=True)
NUMBERS = types.Array(types.float64, 1, "C", readonly=True)
INTS = types.Array(types.uint32, 1, "C", readonly=True)
INT_TABLE = types.Array(types.uint32, 2, "C", readonly=True)
OUT = types.Array(types.float64, 1, "C")
OUT_TABLE = types.Array(types.float64, 2, "C")
SHAPE = types.UniTuple(INTS, 3)
SAMPLES = (TABLE, types.int64, types.int64, INTS, TABLE, SHAPE, INT_TABLE)


@numba.njit(inline="always")
def fill(row, source, lanes):
    """Set the samples of a row to those of another."""
    for i in range(lanes):
        row[i] = source[i]


@numba.njit(inline="always")
def lift(row, other, lanes):
    """Raise the samples of a row to those of another, where these are larger."""
    for i in range(lanes):
        row[i] = machine_max(row[i], other[i])


@numba.njit(inline="always")
def lower(row, other, lanes):
    """Lower the samples of a row to those of another, where these are smaller."""
    for i in range(lanes):
        row[i] = machine_min(row[i], other[i])


@compiled(types.void(OUT_TABLE, types.int64, SHAPE, INT_TABLE, OUT_TABLE, OUT_TABLE))
def lowest(h, lanes, shape, cells, part, y):
    """Set ``y[mu] = min_j h[side of mu in rule j]`` for all cells, block by block of rules."""
    starts, sides, _ = shape
    for p in range(starts.shape[0] - 1):
        fill(part[p], h[sides[starts[p]]], lanes)
        for k in range(starts[p] + 1, starts[p + 1]):
            lower(part[p], h[sides[k]], lanes)
    for mu in range(cells.shape[0]):
        fill(y[mu], part[cells[mu, 0]], lanes)
        for b in range(1, cells.shape[1]):
            lower(y[mu], part[cells[mu, b]], lanes)


@compiled(types.void(OUT_TABLE, types.int64, SHAPE, INT_TABLE, OUT_TABLE, OUT_TABLE))
def uppers(y, lanes, shape, cells, part, up):
    """Set ``up[l]`` to the maximum of ``y[mu]`` over the cells on side `l` (0 if there is none)."""
    starts, sides, _ = shape
    part[:, :lanes] = 0.0
    up[:, :lanes] = 0.0
    for mu in range(cells.shape[0]):
        for b in range(cells.shape[1]):
            lift(part[cells[mu, b]], y[mu], lanes)
    for p in range(starts.shape[0] - 1):
        for k in range(starts[p], starts[p + 1]):
            lift(up[sides[k]], part[p], lanes)


@compiled(types.void(INTS, TABLE, INTS, types.int64, types.int64, OUT_TABLE))
def targets(labels, degrees, cell_of, first, lanes, y):
    """Set ``y[mu]`` to the target possibility of each cell, for a block of samples."""
    y[:, :lanes] = 0.0
    if labels.shape[0] > 0:
        for i in range(lanes):
            y[labels[first + i], i] = 1.0
    else:
        for start in range(0, lanes, 8):  # eight samples at a time: a line of cache of each row
            stop = min(start + 8, lanes)
            for u in range(cell_of.shape[0]):
                row = y[cell_of[u]]
                for i in range(start, stop):
                    row[i] = machine_max(row[i], degrees[first + i, u])


@numba.njit(inline="always")
def scratch(d, shape, cells):
    """Return the scratch of a block: for cells, patterns and sides."""
    n_cells, n_patterns = cells.shape[0], shape[0].shape[0] - 1
    y, part = np.empty((n_cells, WIDTH)), np.empty((n_patterns, WIDTH))
    return y, part, np.empty((d.shape[0], WIDTH)), np.empty((d.shape[0], WIDTH))
