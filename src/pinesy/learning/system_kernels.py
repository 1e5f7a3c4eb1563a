"""The compiled loops of learning: blocks of samples, samples contiguous.

All take the premise degrees ``d`` of a rule set, an array ``(2 rules, samples)`` with rows
``lambda_1, rho_1, lambda_2, ...``, and work on samples ``begin .. end-1``, in blocks of `n` of
them. A *side* is a row of `d`: a cell is on side ``2j`` if it lies in the conclusion of rule `j`,
else on side ``2j + 1``. `shape` and `cells` say on which sides the cells are; see `CellShape`.
Targets are `labels` (the cell of each sample) or `degrees` (samples, |D_b|), whichever is not
empty. `slack` bounds the rounding error of `d`. The parameters of some sides may be fixed: then `d`
is at least as large, and nothing raises these sides further (docs/decisions/0009-noisy-data.md).
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
#: The first arguments of all kernels: begin, end, d, shape, cells, labels, degrees.
SAMPLES = (types.int64, types.int64, TABLE, SHAPE, INT_TABLE, INTS, TABLE)
_STARTS = types.Array(types.int64, 1, "C", readonly=True)
_SIZES = types.Array(types.int64, 1, "C")
_FRONTS = types.Tuple((NUMBERS, NUMBERS, _STARTS))


@inlined
def set_value(row, value, n):
    """Set the first `n` entries of a row to a value."""
    for i in range(n):
        row[i] = value


@inlined
def clear(table, n):
    """Set the first `n` entries of all rows of a table to 0."""
    for row in table:
        set_value(row, 0.0, n)


@inlined
def copy_row(row, source, n):
    """Copy the first `n` entries of a row."""
    for i in range(n):
        row[i] = source[i]


@inlined
def raise_to(row, other, n):
    """Set ``row = max(row, other)``, for the first `n` entries."""
    for i in range(n):
        row[i] = machine_max(row[i], other[i])


@inlined
def lower_to(row, other, n):
    """Set ``row = min(row, other)``, for the first `n` entries."""
    for i in range(n):
        row[i] = machine_min(row[i], other[i])


@inner
def cell_minima(h, n, shape, cells, by_pattern, y):
    """Set ``y[mu] = min_j h[side of mu in rule j]`` for all cells, block by block of rules."""
    starts, sides, _, _ = shape
    for p in range(starts.shape[0] - 1):
        copy_row(by_pattern[p], h[sides[starts[p]]], n)
        for k in range(starts[p] + 1, starts[p + 1]):
            lower_to(by_pattern[p], h[sides[k]], n)
    for mu in range(cells.shape[0]):
        copy_row(y[mu], by_pattern[cells[mu, 0]], n)
        for b in range(1, cells.shape[1]):
            lower_to(y[mu], by_pattern[cells[mu, b]], n)


@inner
def side_maxima(y, n, shape, cells, by_pattern, up):
    """Set ``up[l]`` to the maximum of ``y[mu]`` over the cells on side `l` (0 if there is none)."""
    starts, sides, _, _ = shape
    clear(by_pattern, n)
    clear(up, n)
    for mu in range(cells.shape[0]):
        for b in range(cells.shape[1]):
            raise_to(by_pattern[cells[mu, b]], y[mu], n)
    for p in range(starts.shape[0] - 1):
        for k in range(starts[p], starts[p + 1]):
            raise_to(up[sides[k]], by_pattern[p], n)


@inlined
def clear_fixed(up, n, fixed):
    """Set `up` to 0 on the sides whose parameters are fixed: they require nothing."""
    for side in fixed:
        set_value(up[side], 0.0, n)


@inlined
def set_targets(first, n, shape, cells, labels, degrees, y, by_pattern, up):
    """Set `y` to the targets of the cells, and `up` to their maximum on each side."""
    clear(y, n)
    if labels.shape[0] > 0:
        for i in range(n):
            y[labels[first + i], i] = 1.0
    else:
        cell_of = shape[2]
        for start in range(0, n, 8):  # eight samples at a time: a line of cache of each row
            stop = min(start + 8, n)
            for u in range(cell_of.shape[0]):
                row = y[cell_of[u]]
                for i in range(start, stop):
                    row[i] = machine_max(row[i], degrees[first + i, u])
    side_maxima(y, n, shape, cells, by_pattern, up)


@inlined
def scratch_arrays(d, shape, cells):
    """Return empty arrays for a block: of the cells, of the patterns, and two of the sides."""
    n_cells, n_patterns = cells.shape[0], shape[0].shape[0] - 1
    y, by_pattern = np.empty((n_cells, WIDTH)), np.empty((n_patterns, WIDTH))
    return y, by_pattern, np.empty((d.shape[0], WIDTH)), np.empty((d.shape[0], WIDTH))


@inlined
def label_distances(d, first, n, shape, cells, labels, by_pattern, up, h, y, out):
    """Do as `sample_distances` where one cell has target 1 and all others 0.

    For the others the terms are ``max(g, 1/2)`` on the sides of the label, where ``up = 1``, and
    `g` elsewhere: they depend on the side alone. The label's own term is 0.
    """
    for side in range(d.shape[0]):
        for i in range(n):
            h[side, i] = machine_max(d[side, first + i], 0.5 * up[side, i])
    cell_minima(h, n, shape, cells, by_pattern, y)
    for i in range(n):
        y[labels[first + i], i] = 0.0
    for mu in range(cells.shape[0]):
        raise_to(out, y[mu], n)


@inlined
def halve(table, n):
    """Halve all numbers of a table."""
    for row in range(table.shape[0]):
        for i in range(n):
            table[row, i] *= 0.5


@inlined
def side_term(g, half, y):
    """Return the term of a side in the distance of a cell, see `sample_distances`."""
    return machine_max(g - y, half - 0.5 * y)


@inner
def _lower_by_terms(d, first, n, shape, p, half, y, minimum):
    """Set ``minimum`` to its minimum with the terms of a pattern's sides, two at a time."""
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
        for i in range(n):
            low = machine_min(side_term(g_1[i], h_1[i], y[i]), side_term(g_2[i], h_2[i], y[i]))
            minimum[i] = machine_min(minimum[i], low)
        k += 2
    while k < end:
        g, h = d[sides[k], first:], half[sides[k]]
        for i in range(n):
            minimum[i] = machine_min(minimum[i], side_term(g[i], h[i], y[i]))
        k += 1


@inlined
def cell_distance(d, first, n, shape, cells, mu, half, y, out):
    """Set `out` to the distances ``nabla_mu`` of a cell, whose targets are ``y[mu]``."""
    set_value(out, 1.0, n)
    for p in cells[mu]:
        _lower_by_terms(d, first, n, shape, p, half, y[mu], out)


@compiled(types.void(*SAMPLES, OUT))
def sample_distances(begin, end, d, shape, cells, labels, degrees, nabla):
    """Set ``nabla[i]`` to the Chebyshev distance of each sample's system [eq:Nablamini].

    ``nabla = max_mu min_j max((g - y_mu)^+, min((up - y_mu)^+ / 2, (up - g)^+))``. On each side
    ``y_mu <= up``, and ``(up - y_mu) / 2 > up - g`` only where both are below ``g - y_mu``; so a
    term is ``max(g - y_mu, up / 2 - y_mu / 2)``, also in float64: rounding keeps the order and
    halving is exact. A fixed side is a constant `g`: its term is ``g - y_mu``, and `nabla` is at
    least ``up - g``.
    """
    y, by_pattern, up, h = scratch_arrays(d, shape, cells)
    nabla_of_cell = np.empty(WIDTH)
    for first in range(begin, end, WIDTH):
        n = min(WIDTH, end - first)
        out = nabla[first : first + n]
        set_value(out, 0.0, n)
        set_targets(first, n, shape, cells, labels, degrees, y, by_pattern, up)
        for side in shape[3]:  # a constant below a target: no parameter brings the cell up to it
            for i in range(n):
                out[i] = machine_max(out[i], up[side, i] - d[side, first + i])
        clear_fixed(up, n, shape[3])
        if labels.shape[0] > 0:
            label_distances(d, first, n, shape, cells, labels, by_pattern, up, h, y, out)
            continue
        halve(up, n)
        for mu in range(cells.shape[0]):
            cell_distance(d, first, n, shape, cells, mu, up, y, nabla_of_cell)
            raise_to(out, nabla_of_cell, n)


@inlined
def repair(d, first, n, shape, cells, labels, degrees, slack, nabla, y, by_pattern, up, h):
    """Put the lowest Chebyshev approximation of each sample's target into `y` [eq:lowest].

    ``x~ = (up - nabla)^+`` where that is above the premise degree, else 0 [eq:lowestapprox];
    ``y~ = G box x~``. Above means by more than rounding can make: `slack` for the degrees,
    TOLERANCE where `nabla` counts.
    """
    set_targets(first, n, shape, cells, labels, degrees, y, by_pattern, up)
    clear_fixed(up, n, shape[3])
    for side in range(d.shape[0]):
        for i in range(n):
            g, distance = d[side, first + i], nabla[first + i]
            lowered = machine_max(up[side, i] - distance, 0.0)
            least = TOLERANCE if distance > 0.0 else slack
            h[side, i] = machine_max(g, lowered) if lowered - g > least else g
    cell_minima(h, n, shape, cells, by_pattern, y)


@compiled(types.void(*SAMPLES, types.float64, NUMBERS, OUT_TABLE))
def repaired_targets(begin, end, d, shape, cells, labels, degrees, slack, nabla, out):
    """Set ``out[mu, i - begin]`` to the repaired target of each cell [def:reduced-es]."""
    y, by_pattern, up, h = scratch_arrays(d, shape, cells)
    for first in range(begin, end, WIDTH):
        n = min(WIDTH, end - first)
        repair(d, first, n, shape, cells, labels, degrees, slack, nabla, y, by_pattern, up, h)
        for mu in range(cells.shape[0]):
            copy_row(out[mu, first - begin :], y[mu], n)


@compiled(
    types.int64(*SAMPLES, types.float64, NUMBERS, types.float64, OUT_TABLE, OUT_TABLE, _SIZES)
)
def build_fronts(
    begin, end, d, shape, cells, labels, degrees, slack, nabla, tolerance, e, w, sizes
):
    """Build the fronts of the pairs ``(up, up - g)`` of the repaired reliable samples.

    Learning needs nothing else of these samples; see docs/decisions/0003-learning.md. Front `l` is
    ``e[l, :sizes[l]], w[l, :sizes[l]]``. Returns the number of reliable samples.
    """
    y, by_pattern, up, h = scratch_arrays(d, shape, cells)
    reliable = 0
    for first in range(begin, end, WIDTH):
        n = min(WIDTH, end - first)
        repair(d, first, n, shape, cells, labels, degrees, slack, nabla, y, by_pattern, up, h)
        side_maxima(y, n, shape, cells, by_pattern, up)
        clear_fixed(up, n, shape[3])
        for i in range(n):
            reliable += nabla[first + i] < tolerance
        for side in range(d.shape[0]):
            for i in range(n):
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
    begin, end, d, shape, cells, labels, degrees, slack, nabla, tolerance, front, best
):
    """Return the largest distance of a row of the stacked system that is in these samples.

    [eq:Nablamini] of [eq:stackedES], with fronts in the place of its columns:
    ``max over (i, mu) of min_j max((g - y~_mu)^+, h_l(y~_mu))``, over the reliable samples; at
    least `best`, the distance of other samples.
    """
    y, by_pattern, up, h = scratch_arrays(d, shape, cells)
    z = np.empty_like(y)
    for first in range(begin, end, WIDTH):
        n = min(WIDTH, end - first)
        repair(d, first, n, shape, cells, labels, degrees, slack, nabla, y, by_pattern, up, h)
        # A row's distance is 0 iff for some side l both g <= y~ and max e_l <= y~: the test of
        # consistency. Only the other rows need a closer look.
        for side in range(d.shape[0]):
            begins = front[2][side]
            top = front[0][begins] if begins < front[2][side + 1] else 0.0
            for i in range(n):
                h[side, i] = machine_max(d[side, first + i], top)
        cell_minima(h, n, shape, cells, by_pattern, z)
        for mu in range(cells.shape[0]):
            for i in range(n):
                if z[mu, i] > y[mu, i] and nabla[first + i] < tolerance:
                    best = _row_distance(d, first + i, mu, shape, cells, y[mu, i], front, best)
    return best
