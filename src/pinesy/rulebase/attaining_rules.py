"""The rules that attain a degree: those whose bound on a value is its possibility.

A rule bounds the values in its conclusion by ``alpha = max(s, lambda)``, the others by
``beta = max(r, rho)`` [eq:alphabeta]. A value is as possible as its lowest bound [eq:pistarbxu].
"""

from typing import Any

import numpy as np

from pinesy._common.validation import BoolArray, FloatArray


def rule_bounds(
    inside: BoolArray, s: FloatArray, r: FloatArray, lambdas: FloatArray, rhos: FloatArray
) -> FloatArray:
    """Return the bound of each rule on each value (or cell of a partition) [eq:alphabeta].

    Parameters
    ----------
    inside : array (..., rules), whether the value is in the conclusion of the rule
    s, r : arrays (rules,), the parameters
    lambdas, rhos : arrays (rules,), the possibilities of the premise and of its negation

    Examples
    --------
    >>> bounds = rule_bounds(np.array([[True], [False]]), *np.array([[0.2], [0.0], [0.1], [1.0]]))
    >>> bounds.tolist()
    [[0.2], [1.0]]
    """
    return np.where(inside, np.maximum(s, lambdas), np.maximum(r, rhos))


def attaining_rules(bounds: FloatArray, degree: Any) -> list[int]:
    """Return the indices of the rules whose bound on a value is its degree [eq:pistarbxu].

    Examples
    --------
    >>> attaining_rules(np.array([0.4, 1.0, 0.4]), 0.4)
    [0, 2]
    """
    return np.flatnonzero(bounds == degree).tolist()
