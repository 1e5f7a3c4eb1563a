"""The exponential by additions and multiplications alone: the same bits on every machine.

Libraries round `exp` in different ways, also NumPy on different processors. Degrees that are
compared with those of a calibration must not depend on that.
"""

from math import factorial

import numpy as np

from pinesy._common.validation import FloatArray

#: Numbers below count as this one: their exponential is 1e-304.
LEAST = -700.0
#: ``log 2`` in two parts; products of the first with whole numbers up to 2^20 are exact.
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
PER_LOG_2 = 1.4426950408889634
#: The coefficients of the Taylor polynomial, the highest first.
COEFFICIENTS = tuple(1.0 / factorial(k) for k in range(13, -1, -1))
#: ``2^-k`` for ``k = 0, 1, ...``
HALVINGS = np.ldexp(1.0, -np.arange(1011))


def portable_exp(numbers: FloatArray) -> FloatArray:
    """Return ``exp(x)`` of numbers that are at most 0, with an error of about one bit.

    ``exp(x) = 2^-k exp(x + k log 2)``, with the whole number `k` for which ``|x + k log 2|`` is
    least.

    Examples
    --------
    >>> portable_exp(np.array([0.0, -1.0])).tolist()
    [1.0, 0.36787944117144233]
    """
    clipped = np.maximum(numbers, LEAST)
    k = np.rint(clipped * -PER_LOG_2)
    remainder = clipped + k * LOG_2_HIGH + k * LOG_2_LOW
    total = np.full(remainder.shape, COEFFICIENTS[0])
    for coefficient in COEFFICIENTS[1:]:
        total = total * remainder + coefficient
    return np.asarray(total * HALVINGS[k.astype(np.intp)])
