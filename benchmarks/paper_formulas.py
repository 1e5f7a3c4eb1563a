"""The paper's formulas for learning, compiled as they stand: what our learning is timed against.

There is no better algorithm in them: a sample costs ``O(omega^2 n)``, `N` stacked samples
``O((N omega)^2 n)``. But the loops are tight. Matrices are kept by columns, so that the innermost
loop runs over neighbours in memory and becomes vector instructions; what stays the same in it is
computed before it; and all cores take part.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numba
import numpy as np
import numpy.typing as npt

from pinesy._common.jit import machine_max, machine_min
from pinesy._common.validation import FloatArray
from pinesy.equations import TOLERANCE

Signs = npt.NDArray[np.bool_]

#: Equations that a core takes at a time.
ROWS = 64

serial = numba.njit(cache=True)
parallel = numba.njit(cache=True, parallel=True)


def sample_distances(
    lambdas: FloatArray, rhos: FloatArray, y: FloatArray, signs: Signs
) -> FloatArray:
    """Return the Chebyshev distance of the equation system of each sample [eq:Nabla].

    Parameters
    ----------
    lambdas, rhos : arrays (N, n), the degrees of the premises
    y : array (N, omega), the target possibility of each cell
    signs : bool array (omega, n), the cells of the partition

    Returns
    -------
    array (N,)
    """
    distances: FloatArray = _sample_distances(*_contiguous(lambdas, rhos, y, signs))
    return distances


def learn_stacked(
    lambdas: FloatArray, rhos: FloatArray, y: FloatArray, signs: Signs
) -> tuple[float, FloatArray]:
    """Repair every sample, stack their systems [eq:stackedES] and solve that [eq:lowestapproxsol].

    Parameters
    ----------
    lambdas, rhos, y, signs : as in `sample_distances`

    Returns
    -------
    distance : the Chebyshev distance of the stacked system
    x : its lowest approximate solution ``(s_1, r_1, ..., s_n, r_n)``
    """
    gamma, repaired = _stack(*_contiguous(lambdas, rhos, y, signs))
    distance = float(_stacked_distances(gamma, _margins(gamma, repaired), repaired).max())
    return distance, _lowest_approximate_solution(gamma, repaired, distance)


def _contiguous(
    lambdas: FloatArray, rhos: FloatArray, y: FloatArray, signs: Signs
) -> tuple[FloatArray, FloatArray, FloatArray, Signs]:
    """Return the arrays in the one form that the loops are compiled for."""
    l_, r_, y_ = (np.ascontiguousarray(a, dtype=np.float64) for a in (lambdas, rhos, y))
    return l_, r_, y_, np.ascontiguousarray(signs)


# --- one equation system: Gamma is kept as its transpose, an array (2n, rows) ------------------


@serial
def _matrix(lambdas, rhos, signs):
    """Return the matrix of one sample [eq:coefredG]."""
    omega, n = signs.shape
    gamma = np.ones((2 * n, omega))
    for j in range(n):
        for mu in range(omega):
            if signs[mu, j]:
                gamma[2 * j, mu] = lambdas[j]
            else:
                gamma[2 * j + 1, mu] = rhos[j]
    return gamma


@serial
def _margins(gamma, y):
    """Return ``(y_mu - gamma_mu,l)^+`` for all entries, the last term of [eq:Nablamini]."""
    margins = np.empty_like(gamma)
    for column in range(gamma.shape[0]):
        for mu in range(gamma.shape[1]):
            margins[column, mu] = machine_max(y[mu] - gamma[column, mu], 0.0)
    return margins


@serial
def _row_distances(gamma, margins, y, nabla, first, last):
    """Write ``nabla_mu`` for the rows ``first .. last-1`` [eq:Nablamini].

    ``nabla_mu = min_l max((gamma_mu,l - y_mu)^+,
    max_mu' min((y_mu' - y_mu)^+ / 2, (y_mu' - gamma_mu',l)^+))``. A maximum that starts at 0 takes
    the place of the other two ``^+``; halving before the subtraction gives the same bits.
    """
    half = y * 0.5
    nabla[first:last] = 1.0
    for column in range(gamma.shape[0]):
        for mu in range(first, last):
            largest = machine_max(gamma[column, mu] - y[mu], 0.0)
            for other in range(len(y)):
                lift = machine_min(half[other] - half[mu], margins[column, other])
                largest = machine_max(largest, lift)
            nabla[mu] = machine_min(nabla[mu], largest)


@serial
def _distance(gamma, y):
    """Return the Chebyshev distance of one system [eq:Nabla]."""
    nabla = np.empty_like(y)
    _row_distances(gamma, _margins(gamma, y), y, nabla, 0, len(y))
    return nabla.max()


@serial
def _lowest_approximate_solution(gamma, y, nabla):
    """Return the product ``Gamma^t (max, eps) (y - nabla)^+`` [eq:lowestapprox].

    The one addition to the paper is a tolerance: ``gamma < y - nabla`` must not hold by rounding.
    """
    margin = TOLERANCE if nabla > 0.0 else 0.0
    x = np.zeros(len(gamma))
    for column in range(gamma.shape[0]):
        for mu in range(gamma.shape[1]):
            lowered = y[mu] - nabla
            if lowered - gamma[column, mu] > margin:
                x[column] = max(x[column], lowered)
    return x


@serial
def _repair(gamma, y, out):
    """Write the lowest Chebyshev approximation ``Gamma (min, max) x`` of `y` [eq:lowest]."""
    x = _lowest_approximate_solution(gamma, y, _distance(gamma, y))
    out[:] = 1.0
    for column in range(gamma.shape[0]):
        for mu in range(gamma.shape[1]):
            out[mu] = machine_min(out[mu], machine_max(gamma[column, mu], x[column]))


# --- many samples ------------------------------------------------------------------------------


@parallel
def _sample_distances(lambdas, rhos, y, signs):
    distances = np.empty(y.shape[0])
    for i in numba.prange(y.shape[0]):
        distances[i] = _distance(_matrix(lambdas[i], rhos[i], signs), y[i])
    return distances


@serial
def _write(stacked, gamma, first):
    for column in range(gamma.shape[0]):
        for mu in range(gamma.shape[1]):
            stacked[column, first + mu] = gamma[column, mu]


@parallel
def _stack(lambdas, rhos, y, signs):
    """Return the matrix and the second member of the stacked system [eq:stackedES]."""
    omega, n = signs.shape
    stacked = np.empty((2 * n, y.size))
    repaired = np.empty(y.size)
    for i in numba.prange(y.shape[0]):
        gamma = _matrix(lambdas[i], rhos[i], signs)
        _write(stacked, gamma, i * omega)
        _repair(gamma, y[i], repaired[i * omega : (i + 1) * omega])
    return stacked, repaired


@parallel
def _stacked_distances(gamma, margins, y):
    nabla = np.empty(y.size)
    for block in numba.prange((y.size + ROWS - 1) // ROWS):
        last = min((block + 1) * ROWS, y.size)
        _row_distances(gamma, margins, y, nabla, block * ROWS, last)
    return nabla
