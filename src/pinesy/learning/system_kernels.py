"""The compiled loops of learning: blocks of samples, samples contiguous.

All take the premise degrees ``d`` of a rule set, of shape ``(2n, N)`` with rows ``lambda_1, rho_1,
lambda_2, ...``, and work on samples ``begin .. end-1``. A *side* is a row of `d`: a cell is on side
``2j`` if it lies in the conclusion of rule `j`, else on side ``2j + 1``. `shape` and `cells` say on
which sides the cells are; see `CellShape`. Targets are `labels` (the cell of each sample) or
`degrees` (N, |D_b|), whichever is not empty. `slack` is how far rounding may have moved `d`. The
parameters of some sides may be fixed: `d` has been raised to them, and nothing raises these sides
further (docs/decisions/0009-noisy-data.md).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numpy as np
from numba.core import types

from pinesy._common.jit import compiled, inlined, inner, machine_max, machine_min
from pinesy.equations import TOLERANCE
from pinesy.equations.front_kernels import front_value, insert_point

#: Samples a block: its scratch stays in a core's cache.
WIDTH = 128

TABLE = types.Array(types.float64, 2, "C", readonly=True)
NUMBERS = types.Array(types.float64, 1, "C", readonly=True)
INTS = types.Array(types.uint32, 1, "C", readonly=True)
INT_TABLE = types.Array(types.uint32, 2, "C", readonly=True)
OUT = types.Array(types.float64, 1, "C")
OUT_TABLE = types.Array(types.float64, 2, "C")
#: Of the cells: starts, sides, cell_of; and the sides whose parameters are fixed.
SHAPE = types.UniTuple(INTS, 4)
#: Of all samples: d, begin, end, shape, cells, labels, degrees.
SAMPLES = (TABLE, types.int64, types.int64, SHAPE, INT_TABLE, INTS, TABLE)
_STARTS = types.Array(types.int64, 1, "C", readonly=True)
_SIZES = types.Array(types.int64, 1, "C")
_FRONTS = types.Tuple((NUMBERS, NUMBERS, _STARTS))


@inlined
def level(row, number, lanes):
    """Set the samples of a row to a number."""
    for i in range(lanes):
        row[i] = number


@inlined
def clear(table, lanes):
    """Set the samples of all rows of a table to 0."""
    for row in table:
        level(row, 0.0, lanes)


@inlined
def fill(row, source, lanes):
    """Set the samples of a row to those of another."""
    for i in range(lanes):
        row[i] = source[i]


@inlined
def lift(row, other, lanes):
    """Raise the samples of a row to those of another, where these are larger."""
    for i in range(lanes):
        row[i] = machine_max(row[i], other[i])


@inlined
def lower(row, other, lanes):
    """Lower the samples of a row to those of another, where these are smaller."""
    for i in range(lanes):
        row[i] = machine_min(row[i], other[i])


@inner
def lowest(h, lanes, shape, cells, part, y):
    """Set ``y[mu] = min_j h[side of mu in rule j]`` for all cells, block by block of rules."""
    starts, sides, _, _ = shape
    for p in range(starts.shape[0] - 1):
        fill(part[p], h[sides[starts[p]]], lanes)
        for k in range(starts[p] + 1, starts[p + 1]):
            lower(part[p], h[sides[k]], lanes)
    for mu in range(cells.shape[0]):
        fill(y[mu], part[cells[mu, 0]], lanes)
        for b in range(1, cells.shape[1]):
            lower(y[mu], part[cells[mu, b]], lanes)


@inner
def uppers(y, lanes, shape, cells, part, up):
    """Set ``up[l]`` to the maximum of ``y[mu]`` over the cells on side `l` (0 if there is none)."""
    starts, sides, _, _ = shape
    clear(part, lanes)
    clear(up, lanes)
    for mu in range(cells.shape[0]):
        for b in range(cells.shape[1]):
            lift(part[cells[mu, b]], y[mu], lanes)
    for p in range(starts.shape[0] - 1):
        for k in range(starts[p], starts[p + 1]):
            lift(up[sides[k]], part[p], lanes)


@inlined
def release(up, lanes, fixed):
    """Ask nothing of the sides whose parameters are fixed."""
    for side in fixed:
        level(up[side], 0.0, lanes)


@inlined
def targets(first, lanes, shape, cells, labels, degrees, y, part, up):
    """Set `y` to the targets of the cells, and `up` to their maximum on each side."""
    clear(y, lanes)
    if labels.shape[0] > 0:
        for i in range(lanes):
            y[labels[first + i], i] = 1.0
    else:
        cell_of = shape[2]
        for start in range(0, lanes, 8):  # eight samples at a time: a line of cache of each row
            stop = min(start + 8, lanes)
            for u in range(cell_of.shape[0]):
                row = y[cell_of[u]]
                for i in range(start, stop):
                    row[i] = machine_max(row[i], degrees[first + i, u])
    uppers(y, lanes, shape, cells, part, up)


@inlined
def scratch(d, shape, cells):
    """Return the scratch of a block: for cells, patterns and sides."""
    n_cells, n_patterns = cells.shape[0], shape[0].shape[0] - 1
    y, part = np.empty((n_cells, WIDTH)), np.empty((n_patterns, WIDTH))
    return y, part, np.empty((d.shape[0], WIDTH)), np.empty((d.shape[0], WIDTH))


@inlined
def label_distances(d, first, lanes, shape, cells, labels, part, up, h, y, out):
    """Do as `distances` where one cell has target 1 and all others 0.

    For the others the terms are ``max(g, 1/2)`` on the sides of the label, where ``up = 1``, and
    `g` elsewhere: they depend on the side alone. The label's own term is 0.
    """
    for side in range(d.shape[0]):
        for i in range(lanes):
            h[side, i] = machine_max(d[side, first + i], 0.5 * up[side, i])
    lowest(h, lanes, shape, cells, part, y)
    for i in range(lanes):
        y[labels[first + i], i] = 0.0
    for mu in range(cells.shape[0]):
        lift(out, y[mu], lanes)


@inlined
def halve(table, lanes):
    """Halve all numbers of a table."""
    for row in range(table.shape[0]):
        for i in range(lanes):
            table[row, i] *= 0.5


@inlined
def term(g, half, y):
    """Return the term of a side in the distance of a cell, see `distances`."""
    return machine_max(g - y, half - 0.5 * y)


@inner
def _lower_by_terms(d, first, lanes, shape, p, half, y, acc):
    """Lower ``acc`` to the least of the terms of a pattern's sides, two at a time."""
    starts, sides, _, _ = shape
    k, end = starts[p], starts[p + 1]
    while k + 2 <= end:
        first_side, second_side = sides[k], sides[k + 1]
        g_1, g_2, h_1, h_2 = (
            d[first_side, first:],
            d[second_side, first:],
            half[first_side],
            half[second_side],
        )
        for i in range(lanes):
            low = machine_min(term(g_1[i], h_1[i], y[i]), term(g_2[i], h_2[i], y[i]))
            acc[i] = machine_min(acc[i], low)
        k += 2
    while k < end:
        g, h = d[sides[k], first:], half[sides[k]]
        for i in range(lanes):
            acc[i] = machine_min(acc[i], term(g[i], h[i], y[i]))
        k += 1


@inlined
def cell_distance(d, first, lanes, shape, cells, mu, half, y, out):
    """Set `out` to the distance ``nabla_mu`` of a cell, whose targets are ``y[mu]``."""
    level(out, 1.0, lanes)
    for p in cells[mu]:
        _lower_by_terms(d, first, lanes, shape, p, half, y[mu], out)


@compiled(types.void(*SAMPLES, OUT))
def distances(d, begin, end, shape, cells, labels, degrees, nabla):
    """Set ``nabla[i]`` to the Chebyshev distance of each sample's system [eq:Nablamini].

    ``nabla = max_mu min_j max((g - y_mu)^+, min((up - y_mu)^+ / 2, (up - g)^+))``. On each side
    ``y_mu <= up``, and ``(up - y_mu) / 2 > up - g`` only where both are below ``g - y_mu``; so a
    term is ``max(g - y_mu, up / 2 - y_mu / 2)``, also in float64: rounding keeps the order and
    halving is exact. A fixed side is a constant `g`: its term is ``g - y_mu``, and `nabla` is at
    least ``up - g``.
    """
    y, part, up, h = scratch(d, shape, cells)
    nabla_of_cell = np.empty(WIDTH)
    for first in range(begin, end, WIDTH):
        lanes = min(WIDTH, end - first)
        out = nabla[first : first + lanes]
        level(out, 0.0, lanes)
        targets(first, lanes, shape, cells, labels, degrees, y, part, up)
        for side in shape[3]:  # a constant below a target: no parameter brings the cell up to it
            for i in range(lanes):
                out[i] = machine_max(out[i], up[side, i] - d[side, first + i])
        release(up, lanes, shape[3])
        if labels.shape[0] > 0:
            label_distances(d, first, lanes, shape, cells, labels, part, up, h, y, out)
            continue
        halve(up, lanes)
        for mu in range(cells.shape[0]):
            cell_distance(d, first, lanes, shape, cells, mu, up, y, nabla_of_cell)
            lift(out, nabla_of_cell, lanes)


@inlined
def repair(d, first, lanes, shape, cells, labels, degrees, slack, nabla, y, part, up, h):
    """Put the lowest Chebyshev approximation of each sample's target into `y` [eq:lowest].

    ``x~ = (up - nabla)^+`` where that is above the premise degree, else 0 [eq:lowestapprox];
    ``y~ = G box x~``. Above means by more than rounding can make: `slack` for the degrees,
    TOLERANCE where `nabla` counts.
    """
    targets(first, lanes, shape, cells, labels, degrees, y, part, up)
    release(up, lanes, shape[3])
    for side in range(d.shape[0]):
        for i in range(lanes):
            g, distance = d[side, first + i], nabla[first + i]
            lowered = machine_max(up[side, i] - distance, 0.0)
            least = TOLERANCE if distance > 0.0 else slack
            h[side, i] = machine_max(g, lowered) if lowered - g > least else g
    lowest(h, lanes, shape, cells, part, y)


@compiled(types.void(*SAMPLES, types.float64, NUMBERS, OUT_TABLE))
def repaired(d, begin, end, shape, cells, labels, degrees, slack, nabla, out):
    """Set ``out[mu, i - begin]`` to the repaired target of each cell [def:reduced-es]."""
    y, part, up, h = scratch(d, shape, cells)
    for first in range(begin, end, WIDTH):
        lanes = min(WIDTH, end - first)
        repair(d, first, lanes, shape, cells, labels, degrees, slack, nabla, y, part, up, h)
        for mu in range(cells.shape[0]):
            fill(out[mu, first - begin :], y[mu], lanes)


@compiled(
    types.int64(*SAMPLES, types.float64, NUMBERS, types.float64, OUT_TABLE, OUT_TABLE, _SIZES)
)
def fronts(d, begin, end, shape, cells, labels, degrees, slack, nabla, tolerance, e, w, sizes):
    """Build the fronts of the pairs ``(up, up - g)`` of the repaired reliable samples.

    They are all that learning needs of these; see docs/decisions/0003-learning.md. Front `l` is
    ``e[l, :sizes[l]]``, same of `w`. Returns the number of reliable samples.
    """
    y, part, up, h = scratch(d, shape, cells)
    reliable = 0
    for first in range(begin, end, WIDTH):
        lanes = min(WIDTH, end - first)
        repair(d, first, lanes, shape, cells, labels, degrees, slack, nabla, y, part, up, h)
        uppers(y, lanes, shape, cells, part, up)
        release(up, lanes, shape[3])
        for i in range(lanes):
            reliable += nabla[first + i] < tolerance
        for side in range(d.shape[0]):
            for i in range(lanes):
                gap = up[side, i] - d[side, first + i]
                if gap > slack and nabla[first + i] < tolerance:
                    sizes[side] = insert_point(e[side], w[side], sizes[side], up[side, i], gap)
    return reliable


@inner
def _row_distance(d, sample, mu, shape, cells, y, front, best):
    """Return the larger of `best` and ``min_j max((g - y)^+, h_l(y))``, for one cell."""
    starts, sides, _, _ = shape
    e, w, begins = front
    distance = 1.0
    for b in range(cells.shape[1]):
        p = cells[mu, b]
        for k in range(starts[p], starts[p + 1]):
            side = sides[k]
            gap = d[side, sample] - y
            if gap < distance:
                begin, end = begins[side], begins[side + 1]
                if begin == end or min((e[begin] - y) * 0.5, w[end - 1]) <= best:  # h is no larger
                    distance = min(distance, max(gap, best))
                else:
                    distance = min(distance, max(gap, front_value(e, w, begin, end, y)))
                if distance <= best:
                    return best
    return distance


@compiled(types.float64(*SAMPLES, types.float64, NUMBERS, types.float64, _FRONTS, types.float64))
def stacked_distance(
    d, begin, end, shape, cells, labels, degrees, slack, nabla, tolerance, front, best
):
    """Return the largest distance of a row of the stacked system that is in these samples.

    [eq:Nablamini] of [eq:stackedES], with fronts in the place of its columns:
    ``max over (i, mu) of min_j max((g - y~_mu)^+, h_l(y~_mu))``, over the reliable samples; at
    least `best`, what other samples gave.
    """
    y, part, up, h = scratch(d, shape, cells)
    z = np.empty_like(y)
    for first in range(begin, end, WIDTH):
        lanes = min(WIDTH, end - first)
        repair(d, first, lanes, shape, cells, labels, degrees, slack, nabla, y, part, up, h)
        # A row's distance is 0 iff for some side l both g <= y~ and max e_l <= y~: the test of
        # consistency. Only the other rows need a closer look.
        for side in range(d.shape[0]):
            begins = front[2][side]
            top = front[0][begins] if begins < front[2][side + 1] else 0.0
            for i in range(lanes):
                h[side, i] = machine_max(d[side, first + i], top)
        lowest(h, lanes, shape, cells, part, z)
        for mu in range(cells.shape[0]):
            for i in range(lanes):
                if z[mu, i] > y[mu, i] and nabla[first + i] < tolerance:
                    best = _row_distance(d, first + i, mu, shape, cells, y[mu, i], front, best)
    return best
