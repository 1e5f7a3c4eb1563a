"""The compiled loops of an audit, and of gradients.

An audit finds where samples contradict a rule set, and what repair makes of them; the gradient of
parameters comes from that of the cells. They take what the loops of learning take (see
`system_kernels`), an audit the sign table of the cells too.
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
def _highest(z, lanes, top, cell):
    """Raise `top` to the largest of the cells' ``z[mu]``, set `cell` to the first that has it."""
    for mu in range(z.shape[0]):
        k.lift(top, z[mu], lanes)
    for mu in range(z.shape[0] - 1, -1, -1):
        for i in range(lanes):
            cell[i] = mu if z[mu, i] == top[i] else cell[i]


@inner
def _nearest(d, first, signs, y, half, cell, side, degree):
    """Set `side` to the first side with the smallest term in each sample's `cell`.

    Where `y` and `half` are 0 the terms are the premise degrees themselves.
    """
    for i in range(cell.shape[0]):
        mu, least = cell[i], np.inf
        for j in range(signs.shape[1]):
            s = 2 * j + (0 if signs[mu, j] else 1)
            term = k.term(d[s, first + i], half[s, i], y[mu, i])
            if term < least:
                least, side[i], degree[i] = term, s, d[s, first + i]


@inlined
def _support(d, first, lanes, shape, cells, y, part, h, z, support, cell):
    """Set `support` to the largest ``min_j g`` of the cells with target 1, `cell` to its first."""
    for s in range(d.shape[0]):
        k.fill(h[s], d[s, first : first + lanes], lanes)
    k.lowest(h, lanes, shape, cells, part, z)
    k.level(support, 0.0, lanes)
    for mu in range(cells.shape[0]):
        for i in range(lanes):
            z[mu, i] = z[mu, i] if y[mu, i] == 1.0 else -1.0
    _highest(z, lanes, support, cell)


@inlined
def _agreement(y, repaired, nabla, best, unique, agrees):
    """Compare which cells have the highest degree: in the targets `y`, and after repair."""
    lanes = nabla.shape[0]
    top, n_best = np.zeros(lanes), np.zeros(lanes, np.uint32)
    for mu in range(y.shape[0]):
        k.lift(top, repaired[mu], lanes)
    for i in range(lanes):  # a tie must stay a tie: 1 - 0.9 is a little less than 0.1
        top[i] -= TOLERANCE if nabla[i] > 0.0 else 0.0
    k.level(agrees, True, lanes)
    for mu in range(y.shape[0] - 1, -1, -1):
        for i in range(lanes):
            is_best = repaired[mu, i] >= top[i]
            best[i] = mu if is_best else best[i]
            n_best[i] += is_best
            agrees[i] &= is_best == (y[mu, i] == 1.0)
    for i in range(lanes):
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
    y, part, up, h = k.scratch(d, shape, cells)
    z, ignored = np.empty_like(y), np.empty(k.WIDTH)
    no_y, no_up = np.zeros_like(y), np.zeros_like(up)
    for first in range(0, d.shape[1], k.WIDTH):
        lanes = min(k.WIDTH, d.shape[1] - first)
        block = slice(first, first + lanes)
        out, where = nabla[block], cell[block]
        k.level(out, 0.0, lanes)
        k.targets(first, lanes, shape, cells, labels, degrees, y, part, up)
        if labels.shape[0] > 0:
            k.label_distances(d, first, lanes, shape, cells, labels, part, up, h, z, out)
        k.halve(up, lanes)
        if labels.shape[0] == 0:
            for mu in range(cells.shape[0]):
                k.cell_distance(d, first, lanes, shape, cells, mu, up, y, z[mu])
        _highest(z, lanes, out, where)
        _nearest(d, first, signs, y, up, where, side[block], degree[block])
        supporting = best[block]  # which is free until the end
        _support(certain, first, lanes, shape, cells, y, part, h, z, support[block], supporting)
        _nearest(certain, first, signs, no_y, no_up, supporting, limit[block], ignored)
        k.repair(d, first, lanes, shape, cells, labels, degrees, 0.0, nabla, z, part, up, h)
        _agreement(y, z, out, best[block], unique[block], agrees[block])


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
def parameter_gradient(d, begin, end, shape, cells_of, x, y, cell_gradient, out):
    """Add to ``out[l]`` the gradient of parameter `l`, for that of the cells.

    Each cell hands its gradient in equal shares to the sides that attain its minimum; what reaches
    a parameter is the share of the sides where it is not below the premise degree.
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
