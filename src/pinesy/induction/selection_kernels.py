"""The loops of induction: trees on residuals, where boxes hold, and the weights of rules.

Features are binned: ``bins[f, i]`` is the bin of feature `f` in row `i`, `BLANK` where unknown.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numpy as np
from numba.core import types

from pinesy._common.jit import compiled

#: The bin of an unknown value.
BLANK = 255

_BINS = types.Array(types.uint8, 2, "C")
_STEPS = types.Array(types.uint8, 1, "C")
_FLAGS = types.Array(types.boolean, 1, "C")
_REALS = types.Array(types.float32, 1, "C")
_MATRIX = types.Array(types.float32, 2, "C")
_FLOATS = types.Array(types.float64, 1, "C")
_TABLE = types.Array(types.float64, 2, "C")
_INDICES = types.Array(types.int64, 1, "C")
_ROWS = types.Array(types.int32, 1, "C")
_BOUNDS = types.Array(types.int64, 2, "C")


# --- trees ----------------------------------------------------------------------------------------


@compiled(types.void(_BINS, types.int64, _INDICES, _MATRIX, _REALS, _TABLE))
def _fill(bins, feature, rows, gradients, sample_weight, sums):
    """Sum gradients and weights by bin; the last column of `sums` has the weights."""
    n_outputs = gradients.shape[1]
    sums[:] = 0.0
    for i in rows:
        bin_index = bins[feature, i]
        if bin_index != BLANK:
            for c in range(n_outputs):
                sums[bin_index, c] += gradients[i, c]
            sums[bin_index, n_outputs] += sample_weight[i]


@compiled(types.Tuple((types.float64, types.int64))(_TABLE, _FLOATS, types.float64))
def _best_split(sums, below, least):
    """Return the largest reduction of squared error by a split of the bins, and its last bin."""
    n_bins, n_outputs = sums.shape[0], sums.shape[1] - 1
    total = np.zeros(n_outputs + 1)
    for bin_index in range(n_bins):
        total += sums[bin_index]
    best, best_bin = 0.0, -1
    below[:] = 0.0
    for bin_index in range(n_bins - 1):
        below += sums[bin_index]
        size, size_above = below[n_outputs], total[n_outputs] - below[n_outputs]
        if size < least or size_above < least or sums[bin_index, n_outputs] == 0.0:
            continue
        gain = 0.0
        for c in range(n_outputs):
            above = total[c] - below[c]
            gain += below[c] ** 2 / size + above**2 / size_above - total[c] ** 2 / total[n_outputs]
        if gain > best * (1.0 + 1e-9) + 1e-12:
            best, best_bin = gain, bin_index
    return best, best_bin


@compiled(types.UniTuple(types.int64, 2)(_STEPS, types.int64, _INDICES))
def _partition(bins, bin_index, rows):
    """Order rows in place: up to a bin, unknown, above; return where the last two start."""
    side = np.empty(len(rows), np.int64)
    middle = n_blank = 0
    for k in range(len(rows)):
        value = bins[rows[k]]
        side[k] = 1 if value == BLANK else (0 if value <= bin_index else 2)
        middle += side[k] == 0
        n_blank += side[k] == 1
    ends = np.array([0, middle, middle + n_blank])
    ordered = np.empty_like(rows)
    for k in range(len(rows)):
        ordered[ends[side[k]]] = rows[k]
        ends[side[k]] += 1
    rows[:] = ordered
    return middle, middle + n_blank


@compiled(
    types.void(
        _BINS, _INDICES, _BOUNDS, _MATRIX, _REALS, types.int64, types.float64, _INDICES, _INDICES
    )
)
def grow_tree(
    bins, rows, features, gradients, sample_weight, n_bins, least, split_features, split_bins
):
    """Grow a regression tree on gradients, in place: node `k` has the children 2k + 1 and 2k + 2.

    Rows where the feature of a split is unknown go to neither child.

    Parameters
    ----------
    rows : that the tree may use
    features : that each node may use, shape ``(n_nodes, n_features)``
    gradients : of all rows, times their weights, shape ``(n_rows, n_outputs)``
    sample_weight : of all rows
    n_bins : more than any bin
    least : the size that a child needs
    split_features, split_bins : of the nodes; feature -1 for leaves
    """
    n_nodes = len(split_features)
    rows = rows.copy()
    start, end = np.zeros(2 * n_nodes + 1, np.int64), np.zeros(2 * n_nodes + 1, np.int64)
    end[0] = len(rows)
    sums = np.empty((n_bins, gradients.shape[1] + 1))
    below = np.empty(gradients.shape[1] + 1)
    for node in range(n_nodes):
        split_features[node] = -1
        node_rows = rows[start[node] : end[node]]
        if len(node_rows) < 2:
            continue
        best, feature, bin_index = 0.0, -1, -1
        for f in features[node]:
            _fill(bins, f, node_rows, gradients, sample_weight, sums)
            gain, last = _best_split(sums, below, least)
            if gain > best:
                best, feature, bin_index = gain, f, last
        if feature < 0:
            continue
        split_features[node], split_bins[node] = feature, bin_index
        middle, above = _partition(bins[feature], bin_index, node_rows)
        start[2 * node + 1], end[2 * node + 1] = start[node], start[node] + middle
        start[2 * node + 2], end[2 * node + 2] = start[node] + above, end[node]


# --- boxes ----------------------------------------------------------------------------------------


@compiled(types.void(_STEPS, types.int64, types.int64, types.float32, types.boolean, _REALS))
def _restrict(bins, low, high, share, has_blanks, expected):
    """Multiply by 1 where a bin is in the range, by 0 where not, by `share` where unknown."""
    first, last = np.uint8(max(low, -1) + 1), np.uint8(min(high, BLANK - 1))
    if has_blanks:
        for i in range(len(bins)):
            if bins[i] == BLANK:
                expected[i] *= share
            elif bins[i] < first or bins[i] > last:
                expected[i] = 0.0
    else:
        for i in range(len(bins)):
            is_inside = (first <= bins[i]) & (bins[i] <= last)
            expected[i] = expected[i] if is_inside else np.float32(0.0)


@compiled(types.void(_BINS, _FLAGS, _INDICES, _BOUNDS, _REALS, _REALS, _MATRIX))
def satisfy(bins, has_blanks, starts, bounds, shares, undetermined, satisfaction):
    """Write how far boxes are satisfied in rows: 1, 0, or the mean where that is not known.

    Parameters
    ----------
    has_blanks : of the features
    starts, bounds : box `b` has the bounds ``bounds[starts[b]:starts[b + 1]]``: feature, low, high
    shares : of the bounds, the share of known rows that are inside
    undetermined : of the boxes, written too: the mean product of shares where a bin is unknown
        and no known one is outside; NaN where there is no such row
    satisfaction : shape ``(n_boxes, n_rows)``
    """
    for b in range(len(starts) - 1):
        expected = satisfaction[b]
        expected[:] = 1.0
        is_open = False
        for k in range(starts[b], starts[b + 1]):
            f, low, high = bounds[k]
            _restrict(bins[f], low, high, shares[k], has_blanks[f], expected)
            is_open |= has_blanks[f]
        undetermined[b] = np.nan
        if is_open:
            total, count = 0.0, 0
            for i in range(len(expected)):
                if 0.0 < expected[i] < 1.0:
                    total += expected[i]
                    count += 1
            if count:
                undetermined[b] = total / count
                for i in range(len(expected)):
                    if 0.0 < expected[i] < 1.0:
                        expected[i] = undetermined[b]


# --- weights --------------------------------------------------------------------------------------


@compiled(
    types.float64(
        _ROWS, _REALS, types.int64, _TABLE, _FLOATS, _INDICES, _FLOATS, *[types.float64] * 2
    )
)
def _newton_step(rows, values, c, odds, sums, labels, sample_weight, weight, ridge):
    """Return the change of the weight of a rule for class `c` that holds in `rows`, at most 1."""
    slope, bend = -ridge * weight, ridge + 1e-9
    for k in range(len(rows)):
        i, value = rows[k], values[k]
        p = odds[i, c] / sums[i]
        slope += sample_weight[i] * value * ((1.0 if labels[i] == c else 0.0) - p)
        bend += sample_weight[i] * value * value * p * (1.0 - p)
    return min(max(slope / bend, -1.0), 1.0)


@compiled(types.void(_ROWS, _REALS, types.int64, _TABLE, _FLOATS, types.float64))
def _raise(rows, values, c, odds, sums, step):
    """Raise the score of class `c` in `rows` by a bin."""
    full = np.exp(step)
    for k in range(len(rows)):
        i = rows[k]
        growth = full if values[k] == 1.0 else np.exp(step * values[k])
        sums[i] += odds[i, c] * (growth - 1.0)
        odds[i, c] *= growth


@compiled(types.void(_TABLE, _FLOATS))
def _normalise(odds, sums):
    for i in range(odds.shape[0]):
        total = 0.0
        for c in range(odds.shape[1]):
            total += odds[i, c]
        for c in range(odds.shape[1]):
            odds[i, c] /= total
        sums[i] = 1.0


@compiled(
    types.void(
        _INDICES,
        _ROWS,
        _REALS,
        _INDICES,
        *[_FLOATS] * 3,
        _TABLE,
        _INDICES,
        _FLOATS,
        types.int64,
        types.float64,
    )
)
def fit_weights(
    starts,
    rows,
    values,
    classes,
    weights,
    least,
    ridges,
    odds,
    labels,
    sample_weight,
    sweeps,
    enough,
):
    """Fit the weights of rules to the likelihood of labels, in place.

    The score of a class is the sum of weight times satisfaction of the rules for it, and the
    likelihood that of the softmax of scores. A sweep visits each row of each rule.

    Parameters
    ----------
    starts, rows, values : rule `r` is satisfied by ``values[starts[r]:starts[r + 1]]`` in `rows`
    classes, weights, least, ridges : of the rules: class, weight, its lower bound, pull to 0
    odds : the exponentials of the scores, normalised; shape ``(n_rows, n_classes)``
    labels, sample_weight : the class of each row, and how much the row counts
    sweeps : at most so many, until no weight changes by `enough`
    """
    sums = np.ones(odds.shape[0])
    for _ in range(sweeps):
        largest = 0.0
        for r in range(len(classes)):
            part = slice(starts[r], starts[r + 1])
            step = _newton_step(
                rows[part],
                values[part],
                classes[r],
                odds,
                sums,
                labels,
                sample_weight,
                weights[r],
                ridges[r],
            )
            step = max(step, least[r] - weights[r])
            weights[r] += step
            _raise(rows[part], values[part], classes[r], odds, sums, step)
            largest = max(largest, abs(step))
        _normalise(odds, sums)
        if largest < enough:
            break
