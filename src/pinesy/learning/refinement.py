"""Gradient descent on the log loss of all parameters of a rule set (docs/noisy-data.md).

The loss is the log loss of the probabilities that an inferred distribution stands for (its
antipignistic inverse). A distribution without a value of possibility 1 is divided by its height,
and the gradient includes that of the height. No probability is 0, so that labels which the rules
exclude have a gradient too.
"""

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.console import progress
from pinesy._common.threads import n_threads, run_in_chunks
from pinesy._common.validation import FloatArray
from pinesy.evidence.targets import Target
from pinesy.learning.learning_arguments import set_fixed
from pinesy.learning.parameter_estimates import DECIMALS
from pinesy.learning.sample_passes import CHUNK, THREAD_STEPS, cell_shape
from pinesy.rules.partition import Partition
from pinesy.transforms import antipignistic_inverse

Indices = npt.NDArray[np.intp]
KERNELS = "pinesy.learning.sample_kernels"
#: The share of the uniform distribution that is mixed into probabilities.
FLOOR = 1e-3
#: Steps of gradient descent, and the first learning rate.
STEPS, RATE = 300, 0.03


class LogLoss:
    """The log loss of a rule set's parameters on training samples, and its gradient.

    Parameters
    ----------
    degrees : array (2 rules, n_samples), the premise degrees ``lambda_1, rho_1, lambda_2, ...``
    partition : of the rule set
    target : values or distributions
    weights : sample weights; None if each sample counts once
    """

    def __init__(
        self,
        degrees: FloatArray,
        partition: Partition,
        target: Target,
        weights: FloatArray | None,
    ) -> None:
        n = degrees.shape[1]
        self._degrees, self._shape = np.ascontiguousarray(degrees), cell_shape(partition)
        self._expected = antipignistic_inverse(target.distributions)
        self._weights = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()

    def __call__(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss at parameters ``s_1, r_1, s_2, ...`` and its gradient."""
        kernels, n = load_kernels(KERNELS), self._degrees.shape[1]
        cells = np.empty((len(self._shape.cells), n))
        threads = n_threads() if self._degrees.size * len(cells) > THREAD_STEPS else 1

        def infer_cells(begin: int, end: int) -> None:
            kernels.cell_degrees(self._degrees, begin, end, *self._shape, x, cells)

        run_in_chunks(infer_cells, n, CHUNK, threads)
        cell_of = self._shape.patterns[2]
        losses, gradient = log_loss(cells[cell_of].T, self._expected)
        cell_gradient = np.zeros_like(cells)
        np.add.at(cell_gradient, cell_of, (gradient * self._weights[:, None]).T)
        # Chunks have rows of their own, added in order: the sum does not depend on the threads.
        sums = np.zeros((-(-n // CHUNK), len(x)))

        def add_gradient(begin: int, end: int) -> None:
            arguments = (self._degrees, begin, end, *self._shape, x, cells, cell_gradient)
            kernels.parameter_gradient(*arguments, sums[begin // CHUNK])

        run_in_chunks(add_gradient, n, CHUNK, threads)
        return float(losses @ self._weights), np.asarray(sums.sum(axis=0))


def log_loss(pi: FloatArray, expected: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``-sum_u expected(u) log q(u)`` of each row, and its gradient with respect to `pi`.

    `q` is the antipignistic inverse of ``pi / max pi``, mixed with a share `FLOOR` of the uniform
    distribution.
    """
    height = pi.max(axis=1, keepdims=True)
    scaled = pi / np.where(height > 0.0, height, 1.0)
    q, order = _sorted_inverse(scaled)
    mixed = (1.0 - FLOOR) * q + FLOOR / pi.shape[1]
    loss = -(expected * np.log(mixed)).sum(axis=1)
    scaled_gradient = _inverse_gradient(-(1.0 - FLOOR) * expected / mixed, order)
    top = (pi == height) / np.count_nonzero(pi == height, axis=1)[:, None]
    height_gradient = -(scaled_gradient * scaled).sum(axis=1, keepdims=True)
    gradient = (scaled_gradient + height_gradient * top) / np.where(height > 0.0, height, 1.0)
    return loss, gradient


def _sorted_inverse(pi: FloatArray) -> tuple[FloatArray, Indices]:
    """Return the antipignistic inverse of rows, and the order of their values from the largest."""
    order = np.argsort(-pi, axis=1, kind="stable")
    ranked = np.take_along_axis(pi, order, axis=1)
    following = np.concatenate([ranked[:, 1:], np.zeros((len(pi), 1))], axis=1)
    # p_i = sum_{j >= i} (pi_j - pi_{j+1}) / j  [subsec:antipignistic]
    steps = (ranked - following) / np.arange(1, pi.shape[1] + 1)
    q = np.empty_like(pi)
    np.put_along_axis(q, order, np.cumsum(steps[:, ::-1], axis=1)[:, ::-1], axis=1)
    return q, order


def _inverse_gradient(q_gradient: FloatArray, order: Indices) -> FloatArray:
    """Return the gradient with respect to `pi`, given that of its antipignistic inverse `q`.

    ``pi_j`` stands in ``q_1 .. q_j`` with ``1/j`` and in ``q_1 .. q_{j-1}`` with ``-1/(j-1)``: its
    gradient is the mean of the first `j` less the mean of the first ``j - 1``.
    """
    ranked = np.take_along_axis(q_gradient, order, axis=1)
    means = np.cumsum(ranked, axis=1) / np.arange(1, q_gradient.shape[1] + 1)
    gradient = np.empty_like(q_gradient)
    np.put_along_axis(gradient, order, np.diff(means, axis=1, prepend=0.0), axis=1)
    return gradient


def refine(
    loss: LogLoss, start: FloatArray, fixed: FloatArray | None
) -> tuple[FloatArray, tuple[float, float]]:
    """Return refined parameters, and the pair of the loss at the start and at the end.

    Adam, projected to [0, 1], with a learning rate that falls to 0. The parameters of lowest loss
    are returned, rounded to four decimals. It is deterministic.
    """
    free = np.ones(len(start), dtype=bool) if fixed is None else np.isnan(fixed)
    x = best = start.astype(np.float64)
    mean, square = np.zeros_like(x), np.zeros_like(x)
    begin = lowest = np.inf
    with progress("gradient steps", STEPS + 1) as bar:
        for step in range(1, STEPS + 2):
            value, gradient = loss(x)
            begin = value if step == 1 else begin
            if value < lowest:
                best, lowest = x, value
            gradient = np.where(free, gradient, 0.0)
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.99 * square + 0.01 * gradient**2
            rate = RATE * (1.0 - (step - 1) / STEPS)
            direction = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
            x = np.clip(x - rate * direction, 0.0, 1.0)
            bar.advance()
    best = set_fixed(best.round(DECIMALS), fixed)
    return best, (float(begin), loss(best)[0])
