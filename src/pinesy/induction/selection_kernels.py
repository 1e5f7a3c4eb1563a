"""The loops that fit the weights of rules: one after the other, each by a step of Newton's."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numpy as np
from numba.core import types

from pinesy._common.jit import compiled

_FLOATS = types.Array(types.float64, 1, "C")
_TABLE = types.Array(types.float64, 2, "C")
_PLACES = types.Array(types.int64, 1, "C")


@compiled(
    types.float64(_PLACES, types.int64, _TABLE, _FLOATS, _PLACES, _FLOATS, *[types.float64] * 2)
)
def _newton_step(rows, c, odds, sums, labels, sizes, weight, ridge):
    """Return the change of the weight of a rule for class `c` that holds in `rows`, at most 1."""
    slope, bend = -ridge * weight, ridge + 1e-9
    for i in rows:
        p = odds[i, c] / sums[i]
        slope += sizes[i] * ((1.0 if labels[i] == c else 0.0) - p)
        bend += sizes[i] * p * (1.0 - p)
    return min(max(slope / bend, -1.0), 1.0)


@compiled(types.void(_PLACES, types.int64, _TABLE, _FLOATS, types.float64))
def _raise(rows, c, odds, sums, step):
    """Raise the score of class `c` in `rows` by a step."""
    growth = np.exp(step)
    for i in rows:
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
    types.void(*[_PLACES] * 3, *[_FLOATS] * 3, _TABLE, _PLACES, _FLOATS, types.int64, types.float64)
)
def fit_weights(starts, rows, classes, weights, least, ridges, odds, labels, sizes, sweeps, enough):
    """Fit the weights of rules to the likelihood of labels, in place.

    The score of a class is the sum of the weights of the rules for it that hold, and the likelihood
    that of the softmax of scores. A sweep costs a visit of each row by each rule that holds there.

    Parameters
    ----------
    starts, rows : the rows where rule `r` holds are ``rows[starts[r]:starts[r + 1]]``
    classes, weights, least, ridges : of the rules: class, weight, its lower bound, pull to 0
    odds : the exponentials of the scores, normalised; shape ``(n_rows, n_classes)``
    labels, sizes : the class of each row, and how much the row counts
    sweeps : at most so many, until no weight changes by `enough`
    """
    sums = np.ones(odds.shape[0])
    for _ in range(sweeps):
        largest = 0.0
        for r in range(len(classes)):
            rule_rows = rows[starts[r] : starts[r + 1]]
            step = _newton_step(
                rule_rows, classes[r], odds, sums, labels, sizes, weights[r], ridges[r]
            )
            step = max(step, least[r] - weights[r])
            weights[r] += step
            _raise(rule_rows, classes[r], odds, sums, step)
            largest = max(largest, abs(step))
        _normalise(odds, sums)
        if largest < enough:
            break
