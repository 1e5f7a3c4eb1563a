"""Parameters fitted together, by gradients from counted ones (docs/noisy-data.md).

The loss is the log loss of the probabilities that an inferred distribution stands for (its
antipignistic inverse). A contradicting sample has no value of possibility 1; its distribution is
divided by its height, and the height takes part in the gradient. No probability is 0, so that a
label which the rules exclude sends a gradient too.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.console import progress
from pinesy._common.threads import n_threads, run_in_chunks
from pinesy._common.validation import FloatArray
from pinesy.evidence.targets import Target
from pinesy.learning.learning_arguments import with_fixed
from pinesy.learning.parameter_estimates import DECIMALS
from pinesy.learning.sample_passes import CHUNK, THREAD_STEPS, CellShape, cell_shape
from pinesy.rules.partition import Partition
from pinesy.transforms import antipignistic_inverse

Indices = npt.NDArray[np.intp]
KERNELS = "pinesy.learning.sample_kernels"
#: The share of the uniform distribution that is mixed into probabilities.
FLOOR = 1e-3
STEPS, RATE = 300, 0.03


@dataclass(frozen=True, eq=False)
class LogLoss:
    """The log loss of a rule set's parameters on some samples, and its gradient.

    Attributes
    ----------
    degrees : array (2n, n_samples), the premise degrees ``lambda_1, rho_1, lambda_2, ...``
    shape : the sides of the cells
    expected : array (n_samples, |D_b|), the probabilities of the targets
    weights : of the samples; they sum to 1
    """

    degrees: FloatArray
    shape: CellShape
    expected: FloatArray
    weights: FloatArray

    @classmethod
    def of(
        cls,
        degrees: FloatArray,
        partition: Partition,
        target: Target,
        weights: FloatArray | None,
    ) -> "LogLoss":
        """Return the loss for targets that are values or distributions."""
        n = degrees.shape[1]
        shares = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
        expected = antipignistic_inverse(target.distributions)
        return cls(np.ascontiguousarray(degrees), cell_shape(partition), expected, shares)

    def __call__(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss at parameters ``s_1, r_1, s_2, ...`` and its gradient."""
        cells = self._cells(x)
        cell_of = self.shape.patterns[2]
        loss, gradient = log_loss(cells[cell_of].T, self.expected)
        cell_gradient = np.zeros_like(cells)
        np.add.at(cell_gradient, cell_of, (gradient * self.weights[:, None]).T)
        return float(loss @ self.weights), self._parameters(x, cells, cell_gradient)

    def _cells(self, x: FloatArray) -> FloatArray:
        out = np.empty((len(self.shape.cells), self.degrees.shape[1]))
        kernel = load_kernels(KERNELS).cells

        def work(begin: int, end: int) -> None:
            kernel(self.degrees, begin, end, *self.shape, x, out)

        run_in_chunks(work, out.shape[1], CHUNK, self._threads)
        return out

    def _parameters(
        self, x: FloatArray, cells: FloatArray, cell_gradient: FloatArray
    ) -> FloatArray:
        # Chunks have rows of their own, added in order: the sum does not depend on the threads.
        parts = np.zeros((-(-cells.shape[1] // CHUNK), len(x)))
        kernel = load_kernels(KERNELS).parameter_gradient

        def work(begin: int, end: int) -> None:
            part = parts[begin // CHUNK]
            kernel(self.degrees, begin, end, *self.shape, x, cells, cell_gradient, part)

        run_in_chunks(work, cells.shape[1], CHUNK, self._threads)
        return np.asarray(parts.sum(axis=0))

    @property
    def _threads(self) -> int:
        steps = self.degrees.size * len(self.shape.cells)
        return n_threads() if steps > THREAD_STEPS else 1


def log_loss(pi: FloatArray, expected: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``-sum_u expected(u) log q(u)`` of each row, and its gradient with respect to `pi`.

    `q` is the antipignistic inverse of ``pi / max pi``, mixed with a little of the uniform
    distribution.
    """
    height = pi.max(axis=1, keepdims=True)
    scaled = pi / np.where(height > 0.0, height, 1.0)
    q, order = _sorted_inverse(scaled)
    mixed = (1.0 - FLOOR) * q + FLOOR / pi.shape[1]
    loss = -(expected * np.log(mixed)).sum(axis=1)
    of_q = -(1.0 - FLOOR) * expected / mixed
    of_scaled = _inverse_gradient(of_q, order)
    top = (pi == height) / np.count_nonzero(pi == height, axis=1)[:, None]
    of_height = -(of_scaled * scaled).sum(axis=1, keepdims=True)
    gradient = (of_scaled + of_height * top) / np.where(height > 0.0, height, 1.0)
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


def _inverse_gradient(of_q: FloatArray, order: Indices) -> FloatArray:
    """Return the gradient with respect to `pi`, for that of its antipignistic inverse.

    ``pi_j`` stands in ``q_1 .. q_j`` with ``1/j`` and in ``q_1 .. q_{j-1}`` with ``-1/(j-1)``: its
    gradient is the mean of the first `j` less the mean of the first ``j - 1``.
    """
    ranked = np.take_along_axis(of_q, order, axis=1)
    means = np.cumsum(ranked, axis=1) / np.arange(1, of_q.shape[1] + 1)
    gradient = np.empty_like(of_q)
    np.put_along_axis(gradient, order, np.diff(means, axis=1, prepend=0.0), axis=1)
    return gradient


def refine(
    loss: LogLoss, start: FloatArray, fixed: FloatArray | None
) -> tuple[FloatArray, tuple[float, float]]:
    """Return parameters of lower loss, and the loss at the start and at the end.

    Steps are those of Adam, projected to [0, 1], with a rate that falls to 0; the best parameters
    on the way are returned, rounded to four decimals. It is deterministic.
    """
    free = np.ones(len(start), dtype=bool) if fixed is None else np.isnan(fixed)
    x = best = start.astype(np.float64)
    first, second = np.zeros_like(x), np.zeros_like(x)
    begin = lowest = np.inf
    with progress("gradient steps", STEPS + 1) as bar:
        for step in range(1, STEPS + 2):
            value, gradient = loss(x)
            begin = value if step == 1 else begin
            if value < lowest:
                best, lowest = x, value
            gradient = np.where(free, gradient, 0.0)
            first = 0.9 * first + 0.1 * gradient
            second = 0.99 * second + 0.01 * gradient**2
            size = RATE * (1.0 - (step - 1) / STEPS)
            move = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
            x = np.clip(x - size * move, 0.0, 1.0)
            bar.advance()
    best = with_fixed(best.round(DECIMALS), fixed)
    return best, (float(begin), loss(best)[0])
