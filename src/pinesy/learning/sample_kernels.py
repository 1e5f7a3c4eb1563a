"""The compiled loops of an audit, and of the gradient of parameters.

An audit finds where samples contradict a rule set, and compares their targets before and after
repair. Arguments are those of `system_kernels`; an audit also takes the sign table of the cells.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numpy as np
from numba.core import types

from pinesy._common.jit import compiled, inlined, inner
from pinesy.equations import TOLERANCE
from pinesy.learning import system_kernels as k

_SIGNS = types.Array(types.boolean, 2, "C", readonly=True)
_NUMBERS = types.Array(types.uint32, 1, "C")
_FLAGS = types.Array(types.boolean, 1, "C")
#: The columns of a `SetAudit`.
_COLUMNS = (*[k.OUT] * 3, *[_NUMBERS] * 4, *[_FLAGS] * 2)


@inner
def _first_maxima(z, n, top, cell):
    """Set `top` to the maximum of `top` and all ``z[mu]``, `cell` to the first cell that has it."""
    for mu in range(z.shape[0]):
        k.raise_to(top, z[mu], n)
    for mu in range(z.shape[0] - 1, -1, -1):
        for i in range(n):
            cell[i] = mu if z[mu, i] == top[i] else cell[i]


@inner
def _nearest_sides(d, first, signs, y, half, cell, side, degree):
    """Set `side` to the first side with the smallest term in each sample's `cell`.

    Where `y` and `half` are 0 the terms are the premise degrees.
    """
    for i in range(cell.shape[0]):
        mu, least = cell[i], np.inf
        for j in range(signs.shape[1]):
            s = 2 * j + (0 if signs[mu, j] else 1)
            term = k.side_term(d[s, first + i], half[s, i], y[mu, i])
            if term < least:
                least, side[i], degree[i] = term, s, d[s, first + i]


@inlined
def _target_support(d, first, n, shape, cells, y, by_pattern, h, z, support, cell):
    """Set `support` to the largest ``min_j g`` of the cells with target 1, `cell` to the first."""
    for s in range(d.shape[0]):
        k.copy_row(h[s], d[s, first : first + n], n)
    k.cell_minima(h, n, shape, cells, by_pattern, z)
    k.set_value(support, 0.0, n)
    for mu in range(cells.shape[0]):
        for i in range(n):
            z[mu, i] = z[mu, i] if y[mu, i] == 1.0 else -1.0
    _first_maxima(z, n, support, cell)


@inlined
def _compare_best_cells(y, repaired, nabla, best, unique, agrees):
    """Compare the cells of highest degree in the targets `y` with those after repair.

    Sets `best` to the first one after repair, `unique` to whether it is the only one, and `agrees`
    to whether they are the cells of target 1.
    """
    n = nabla.shape[0]
    top, n_best = np.zeros(n), np.zeros(n, np.uint32)
    for mu in range(y.shape[0]):
        k.raise_to(top, repaired[mu], n)
    for i in range(n):  # a tie must stay a tie: 1 - 0.9 is a little less than 0.1
        top[i] -= TOLERANCE if nabla[i] > 0.0 else 0.0
    k.set_value(agrees, True, n)
    for mu in range(y.shape[0] - 1, -1, -1):
        for i in range(n):
            is_best = repaired[mu, i] >= top[i]
            best[i] = mu if is_best else best[i]
            n_best[i] += is_best
            agrees[i] &= is_best == (y[mu, i] == 1.0)
    for i in range(n):
        unique[i] = n_best[i] == 1


@compiled(types.void(k.TABLE, k.TABLE, k.SHAPE, k.INT_TABLE, k.INTS, k.TABLE, _SIGNS, *_COLUMNS))
def violations(
    d, certain, shape, cells, labels, degrees, signs,
    nabla, support, degree, cell, side, limit, best, unique, agrees,
):  # fmt: skip
    """Fill in the columns of a `SetAudit`, from `nabla` to `agrees`, for all samples of `d`.

    `certain` has the terms of the rules as statements without uncertainty, for `support` and
    `limit`: the premise degrees, and 1 on a side where a rule says nothing.
    """
    y, by_pattern, up, h = k.scratch_arrays(d, shape, cells)
    z, ignored = np.empty_like(y), np.empty(k.WIDTH)
    no_y, no_up = np.zeros_like(y), np.zeros_like(up)
    for first in range(0, d.shape[1], k.WIDTH):
        n = min(k.WIDTH, d.shape[1] - first)
        block = slice(first, first + n)
        out, where = nabla[block], cell[block]
        k.set_value(out, 0.0, n)
        k.set_targets(first, n, shape, cells, labels, degrees, y, by_pattern, up)
        if labels.shape[0] > 0:
            k.label_distances(d, first, n, shape, cells, labels, by_pattern, up, h, z, out)
        k.halve(up, n)
        if labels.shape[0] == 0:
            for mu in range(cells.shape[0]):
                k.cell_distance(d, first, n, shape, cells, mu, up, y, z[mu])
        _first_maxima(z, n, out, where)
        _nearest_sides(d, first, signs, y, up, where, side[block], degree[block])
        supporting = best[block]  # which is free until the end
        _target_support(
            certain, first, n, shape, cells, y, by_pattern, h, z, support[block], supporting
        )
        _nearest_sides(certain, first, signs, no_y, no_up, supporting, limit[block], ignored)
        k.repair(d, first, n, shape, cells, labels, degrees, 0.0, nabla, z, by_pattern, up, h)
        _compare_best_cells(y, z, out, best[block], unique[block], agrees[block])


@compiled(
    types.void(k.TABLE, types.int64, types.int64, k.SHAPE, k.INT_TABLE, k.NUMBERS, k.OUT_TABLE)
)
def cell_degrees(d, begin, end, shape, cells_of, x, out):
    """Set ``out[mu, i] = min_j max(x, g)`` of the sides of the cells [eq:redFP]."""
    y, by_pattern, _, h = k.scratch_arrays(d, shape, cells_of)
    for first in range(begin, end, k.WIDTH):
        n = min(k.WIDTH, end - first)
        for side in range(d.shape[0]):
            for i in range(n):
                h[side, i] = max(x[side], d[side, first + i])
        k.cell_minima(h, n, shape, cells_of, by_pattern, y)
        for mu in range(y.shape[0]):
            k.copy_row(out[mu, first:], y[mu], n)


@compiled(
    types.void(
        k.TABLE, types.int64, types.int64, k.SHAPE, k.INT_TABLE, k.NUMBERS,
        k.TABLE, k.TABLE, k.OUT,
    )
)  # fmt: skip
def parameter_gradient(d, begin, end, shape, cells_of, x, y, cell_gradient, out):
    """Add to ``out[l]`` the gradient of parameter `l`, given the gradient of the cells.

    The gradient of a cell is shared evenly among the sides that attain its minimum; a parameter
    gets the share of its side where it is not below the premise degree.
    """
    starts, sides, _, _ = shape
    attaining = np.empty(d.shape[0], np.int64)
    for i in range(begin, end):
        for mu in range(cells_of.shape[0]):
            if cell_gradient[mu, i] == 0.0:
                continue
            n = 0
            for b in range(cells_of.shape[1]):
                p = cells_of[mu, b]
                for index in range(starts[p], starts[p + 1]):
                    side = sides[index]
                    if max(x[side], d[side, i]) == y[mu, i]:
                        attaining[n] = side
                        n += 1
            for side in attaining[:n]:
                if x[side] >= d[side, i]:
                    out[side] += cell_gradient[mu, i] / n
