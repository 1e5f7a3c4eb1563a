"""The paper's formulas for learning, as one would write them down in Numba and run on all cores."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numba
import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.equations import TOLERANCE


@numba.njit(cache=True)
def _matrix(lambdas, rhos, signs):
    """Return the matrix of one sample [eq:coefredG]."""
    omega, n = signs.shape
    gamma = np.ones((omega, 2 * n))
    for mu in range(omega):
        for j in range(n):
            if signs[mu, j]:
                gamma[mu, 2 * j] = lambdas[j]
            else:
                gamma[mu, 2 * j + 1] = rhos[j]
    return gamma


@numba.njit(cache=True)
def _row_distance(gamma, y, i):
    """Return the distance of one equation [eq:Nablamini]."""
    distance = 1.0
    for column in range(gamma.shape[1]):
        largest = max(gamma[i, column] - y[i], 0.0)
        for k in range(len(y)):
            lift = min(max(y[k] - y[i], 0.0) / 2, max(y[k] - gamma[k, column], 0.0))
            largest = max(largest, lift)
        distance = min(distance, largest)
    return distance


@numba.njit(cache=True, parallel=True)
def _sample_distances(lambdas, rhos, y, signs):
    distances = np.empty(len(y))
    for sample in numba.prange(len(y)):
        gamma = _matrix(lambdas[sample], rhos[sample], signs)
        largest = 0.0
        for i in range(len(signs)):
            largest = max(largest, _row_distance(gamma, y[sample], i))
        distances[sample] = largest
    return distances


@numba.njit(cache=True, parallel=True)
def _stacked_distance(gamma, y):
    distances = np.empty(len(y))
    for i in numba.prange(len(y)):
        distances[i] = _row_distance(gamma, y, i)
    return distances.max()


def _solution(gamma: FloatArray, y: FloatArray, distance: float) -> FloatArray:
    """Return the lowest approximate solution [eq:lowestapprox]."""
    lowered = np.maximum(y - distance, 0.0)[:, None]
    above = lowered - gamma > (TOLERANCE if distance else 0.0)
    found: FloatArray = np.where(above, lowered, 0.0).max(axis=0)
    return found


def sample_distances(lambdas: FloatArray, rhos: FloatArray, y: FloatArray, signs) -> FloatArray:
    """Return the Chebyshev distance of each sample's system: ``O(omega^2 n)`` each."""
    found: FloatArray = _sample_distances(lambdas, rhos, y, signs)
    return found


def learn_stacked(
    lambdas: FloatArray, rhos: FloatArray, y: FloatArray, signs
) -> tuple[float, FloatArray]:
    """Repair every sample, stack their systems and solve that: ``O((N omega)^2 n)``."""
    rows, members = [], []
    for one, other, target, distance in zip(
        lambdas, rhos, y, _sample_distances(lambdas, rhos, y, signs), strict=True
    ):
        gamma = _matrix(one, other, signs)
        x = _solution(gamma, target, distance)
        rows.append(gamma)
        members.append(np.maximum(gamma, x).min(axis=1))
    gamma, repaired = np.concatenate(rows), np.concatenate(members)
    distance = float(_stacked_distance(gamma, repaired))
    return distance, _solution(gamma, repaired, distance)
