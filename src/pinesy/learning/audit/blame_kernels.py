"""The compiled loops of an audit: where samples contradict a rule set, and what repair makes of it.

They take what the loops of learning take (see `_kernels`), and the sign table of the cells.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numpy as np
from numba.core import types

from pinesy._common.jit import compiled
from pinesy.learning.exact import sample_blocks as blocks
from pinesy.learning.exact import system_kernels as k
from pinesy.minmax.solving import TOLERANCE

_SIGNS = types.Array(types.boolean, 2, "C", readonly=True)
_NUMBERS = types.Array(types.uint32, 1, "C")
_FLAGS = types.Array(types.boolean, 1, "C")


@compiled(
    types.void(
        blocks.TABLE,
        types.int64,
        types.int64,
        blocks.SHAPE,
        blocks.INT_TABLE,
        *[blocks.OUT_TABLE] * 3,
    )
)
def _graded_distances(d, first, lanes, shape, cells, y, half, z):
    """Set ``z[mu]`` to the distance of each cell, for a block of samples with targets `y`."""
    z[:, :lanes] = 1.0
    for mu in range(cells.shape[0]):
        for p in cells[mu]:
            k._lower_by_terms(d, first, lanes, shape, p, half, y[mu], z[mu])


@compiled(types.void(blocks.OUT_TABLE, types.int64, blocks.OUT, _NUMBERS))
def _highest(z, lanes, top, cell):
    """Raise `top` to the largest of the cells' ``z[mu]``, set `cell` to the first that has it."""
    for mu in range(z.shape[0]):
        blocks.lift(top, z[mu], lanes)
    for mu in range(z.shape[0] - 1, -1, -1):
        for i in range(lanes):
            cell[i] = mu if z[mu, i] == top[i] else cell[i]


@compiled(
    types.void(
        blocks.TABLE, types.int64, _SIGNS, *[blocks.OUT_TABLE] * 2, *[_NUMBERS] * 2, blocks.OUT
    )
)
def _nearest(d, first, signs, y, half, cell, side, degree):
    """Set `side` to the first side with the smallest term in each sample's `cell`."""
    for i in range(cell.shape[0]):
        mu, least = cell[i], np.inf
        for j in range(signs.shape[1]):
            s = 2 * j + (0 if signs[mu, j] else 1)
            term = k._term(d[s, first + i], half[s, i], y[mu, i])
            if term < least:
                least, side[i], degree[i] = term, s, d[s, first + i]


@compiled(
    types.void(
        blocks.TABLE,
        types.int64,
        types.int64,
        blocks.SHAPE,
        blocks.INT_TABLE,
        *[blocks.OUT_TABLE] * 4,
        blocks.OUT,
        _NUMBERS,
    )
)
def _support(d, first, lanes, shape, cells, y, part, h, z, support, cell):
    """Set `support` to the largest ``min_j g`` of the cells with target 1, `cell` to its first."""
    for s in range(d.shape[0]):
        blocks.fill(h[s], d[s, first : first + lanes], lanes)
    blocks.lowest(h, lanes, shape, cells, part, z)
    support[:] = 0.0
    for mu in range(cells.shape[0]):
        for i in range(lanes):
            z[mu, i] = z[mu, i] if y[mu, i] == 1.0 else -1.0
    _highest(z, lanes, support, cell)


@compiled(types.void(blocks.TABLE, types.int64, _SIGNS, _NUMBERS, _NUMBERS))
def _limits(d, first, signs, cell, limit):
    """Set `limit` to the first side with the smallest premise degree in each sample's `cell`."""
    for i in range(cell.shape[0]):
        least = np.inf
        for j in range(signs.shape[1]):
            s = 2 * j + (0 if signs[cell[i], j] else 1)
            if d[s, first + i] < least:
                least, limit[i] = d[s, first + i], s


@compiled(types.void(*[blocks.OUT_TABLE] * 2, blocks.OUT, _NUMBERS, *[_FLAGS] * 2))
def _agreement(y, repaired, nabla, best, unique, agrees):
    """Compare which cells have the highest degree: in the targets `y`, and after repair."""
    lanes = nabla.shape[0]
    top, found = np.zeros(lanes), np.zeros(lanes, np.uint32)
    for mu in range(y.shape[0]):
        blocks.lift(top, repaired[mu], lanes)
    for i in range(lanes):  # a tie must stay a tie: 1 - 0.9 is a little less than 0.1
        top[i] -= TOLERANCE if nabla[i] > 0.0 else 0.0
    agrees[:] = True
    for mu in range(y.shape[0] - 1, -1, -1):
        for i in range(lanes):
            is_best = repaired[mu, i] >= top[i]
            best[i] = mu if is_best else best[i]
            found[i] += is_best
            agrees[i] &= is_best == (y[mu, i] == 1.0)
    unique[:] = found == 1


@compiled(
    types.void(
        blocks.TABLE,
        blocks.INTS,
        blocks.TABLE,
        blocks.SHAPE,
        blocks.INT_TABLE,
        _SIGNS,
        *[blocks.OUT] * 3,
        *[_NUMBERS] * 4,
        *[_FLAGS] * 2,
    )
)
def blames(
    d, labels, degrees, shape, cells, signs,
    nabla, support, degree, cell, side, limit, best, unique, agrees,
):  # fmt: skip
    """Fill in the columns of a `SetAudit`, from `nabla` to `agrees`, for all samples of `d`."""
    y, part, up, h = blocks.scratch(d, shape, cells)
    z = np.empty_like(y)
    for first in range(0, d.shape[1], blocks.WIDTH):
        lanes = min(blocks.WIDTH, d.shape[1] - first)
        block = slice(first, first + lanes)
        out, where = nabla[block], cell[block]
        out[:] = 0.0
        blocks.targets(labels, degrees, shape[2], first, lanes, y)
        blocks.uppers(y, lanes, shape, cells, part, up)
        if labels.shape[0] > 0:
            k._label_distances(d, first, lanes, labels, shape, cells, part, up, h, z, out)
            k._halve(up, lanes)
        else:
            k._halve(up, lanes)
            _graded_distances(d, first, lanes, shape, cells, y, up, z)
        _highest(z, lanes, out, where)
        _nearest(d, first, signs, y, up, where, side[block], degree[block])
        supporting = best[block]  # which is free until the end
        _support(d, first, lanes, shape, cells, y, part, h, z, support[block], supporting)
        _limits(d, first, signs, supporting, limit[block])
        k._repair(d, first, lanes, labels, degrees, shape, cells, 0.0, nabla, z, part, up, h)
        _agreement(y, z, out, best[block], unique[block], agrees[block])
