"""Labels that are possibility distributions: projection on compatible probabilities, and a loss.

A normalised possibility distribution `pi` stands for all probability distributions below it,

``C(pi) = {p : P(A) <= Pi(A) for all A}``.

Sort the values so that ``1 = pi_1 >= ... >= pi_m >= pi_{m+1} = 0``. The event ``{i, ..., m}`` is
the largest one of possibility ``pi_i``, so that m tails are enough: ``p_i + ... + p_m <= pi_i``.
They are nested, and the distribution in `C` that is nearest to `q` (Kullback-Leibler) has a closed
form, proved in docs/gradients.md: draw the points ``(q_i + ... + q_m, pi_i)``, from (0, 0) to
(1, 1); ``p_i / q_i`` is the slope of their greatest convex minorant over the step of value `i`.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from pinesy.exceptions import DegreeError, ShapeError
from pinesy.nets.differentiable_transforms import check_probability_rows

INFINITY = float("inf")


@torch.no_grad()
def project_on_possibility(probabilities: Tensor, possibilities: Any) -> Tensor:
    """Return the compatible probabilities ``argmin_{p in C(pi)} sum_i p_i log(p_i / q_i)``.

    A value of possibility 0, or of probability 0, gets 0. Rows that are compatible already are
    returned as they are. Computed in float64; for at most `v` different degrees of a row in
    ``O(n m (log m + v))``, for all rows together. It has no gradient, and the loss needs none.

    Parameters
    ----------
    probabilities : tensor (..., m), rows `q` that sum to 1, such as a softmax gives
    possibilities : tensor or array (..., m), rows `pi` with largest degree 1

    Raises
    ------
    DegreeError
        A row is no distribution, or all its fully possible values have probability 0: then no
        compatible distribution is at a finite distance.

    Examples
    --------
    >>> q = torch.tensor([0.25, 0.25, 0.5], dtype=torch.float64)
    >>> project_on_possibility(q, [1.0, 1.0, 0.25])  # the last value: at most 0.25
    tensor([0.3750, 0.3750, 0.2500], dtype=torch.float64)
    """
    q, pi = _rows_of(probabilities, possibilities, "probabilities")
    check_probability_rows(q, "the probabilities", DegreeError, ": apply a softmax to scores first")
    bad = (q * (pi == 1.0)).sum(dim=1) == 0.0
    if bad.any():
        row = int(bad.int().argmax())
        raise DegreeError(
            f"row {row}: the probabilities {q[row].tolist()!r:.80} are 0 for all fully possible "
            f"values, of {pi[row].tolist()!r:.80}; no compatible distribution is near: mix in a "
            "little of the uniform distribution, or give scores to possibilistic_label_loss"
        )
    nearest = (q.log() + _log_ratios(q.log(), pi)).exp()
    projected = torch.where(_are_compatible(q, pi), q, nearest)
    return projected.to(probabilities.dtype).reshape(probabilities.shape)


def possibilistic_label_loss(
    scores: Tensor, possibilities: Any, weights: Tensor | None = None
) -> Tensor:
    """Return the mean over samples of ``w min_{p in C(pi)} sum_i p_i log(p_i / q_i)``.

    `q` is the softmax of the scores. The loss is 0 where `q` is compatible with the label, with no
    gradient; else the gradient for the scores is ``w (q - p*) / n``, with the projection ``p*`` of
    `q` (docs/gradients.md).

    Parameters
    ----------
    scores : tensor (n, m), as a network gives them
    possibilities : tensor or array (n, m), rows `pi` with largest degree 1: the labels, such as
        `posterior` and `backpropagate` give
    weights : tensor (n,), how much each sample counts; by default 1

    Examples
    --------
    >>> possibilistic_label_loss(torch.zeros(1, 4), [[1.0, 0.0, 1.0, 0.0]])  # one of two: log 2
    tensor(0.6931)
    >>> possibilistic_label_loss(torch.zeros(1, 4), [[1.0, 0.75, 0.75, 0.75]])
    tensor(0.)
    """
    q, pi = _rows_of(scores, possibilities, "scores")
    if not torch.isfinite(q).all():
        row = int((~torch.isfinite(q)).any(dim=1).int().argmax())
        raise DegreeError(f"the scores, row {row}, are {q[row].tolist()!r:.80}; give finite ones")
    distances = projection_distances(torch.log_softmax(q, dim=1), pi)
    if weights is not None:
        if weights.shape != distances.shape:
            raise ShapeError(
                f"weights has shape {tuple(weights.shape)}; give one for each sample, "
                f"{tuple(distances.shape)}"
            )
        distances = distances * weights.to(distances)
    return distances.mean().to(scores.dtype)


def projection_distances(log_q: Tensor, pi: Tensor) -> Tensor:
    """Return ``min_{p in C(pi)} sum_i p_i log(p_i / q_i)`` (n,) for logarithms (n, m) in float64.

    The minimiser counts as constant: by the envelope theorem the gradient is that of the minimum.
    """
    fixed = log_q.detach()
    ratios = _log_ratios(fixed, pi)
    p = (fixed + ratios).exp()
    is_inside = _are_compatible(fixed.exp(), pi)
    terms = torch.where(is_inside | (p == 0.0), 0.0, p * (fixed + ratios - log_q))
    return terms.sum(dim=1)


def _rows_of(rows: Tensor, possibilities: Any, name: str) -> tuple[Tensor, Tensor]:
    """Return both as tensors (n, m) in float64, or raise an error if they do not fit."""
    pi = _tensor(possibilities).to(rows.device)
    if rows.ndim == 0 or rows.shape != pi.shape or rows.shape[-1] == 0:
        raise ShapeError(
            f"{name} has shape {tuple(rows.shape)} and possibilities {tuple(pi.shape)}; give two "
            "of one shape (..., values)"
        )
    flat = pi.reshape(-1, pi.shape[-1]).double()
    is_good = (flat >= 0.0).all(dim=1) & (flat.max(dim=1).values == 1.0)  # NaN is neither
    if not is_good.all():
        row = int((~is_good).int().argmax())
        raise DegreeError(
            f"the possibilities, row {row}, are {flat[row].tolist()!r:.80}; degrees are between 0 "
            "and 1 and the largest is 1: divide by the largest, or leave out samples that "
            "contradict themselves (all degrees 0)"
        )
    return rows.reshape(-1, rows.shape[-1]).double(), flat


def _tensor(possibilities: Any) -> Tensor:
    if isinstance(possibilities, Tensor):
        return possibilities.detach()
    try:
        return torch.from_numpy(np.array(possibilities, dtype=np.float64))
    except (TypeError, ValueError):
        raise ShapeError(
            f"possibilities is {possibilities!r:.60}; give rows of as many numbers as there are "
            "values"
        ) from None


def _are_compatible(q: Tensor, pi: Tensor) -> Tensor:
    """Return (n, 1) whether rows are compatible: each tail of `q` is at most its degree."""
    degrees, order = pi.sort(dim=1, descending=True, stable=True)
    tails = q.gather(1, order).flip(1).cumsum(1).flip(1)
    return ((tails <= degrees) | (degrees == 1.0)).all(dim=1, keepdim=True)


@torch.no_grad()
def _log_ratios(log_q: Tensor, pi: Tensor) -> Tensor:
    """Return the logarithms (n, m) of ``p_i / q_i``: slopes of the greatest convex minorant.

    From the vertex (0, 0) on, the next vertex is the point of the smallest slope, the farthest of
    equals. Masses between points are sums of the probabilities between them, not differences of
    tails, and logarithms are added, so that a tiny probability of the right value is not lost.
    """
    degrees, order = pi.sort(dim=1, descending=True, stable=True)
    log_sorted = log_q.gather(1, order)
    ratios = torch.zeros_like(log_sorted)
    index = torch.arange(pi.shape[1], device=pi.device)
    vertex = torch.full_like(order[:, :1], pi.shape[1])
    height = torch.zeros_like(degrees[:, :1])
    while bool((vertex > 0).any()):
        is_open = index < vertex
        masses = torch.where(is_open, log_sorted, -INFINITY).flip(1).logcumsumexp(1).flip(1)
        slopes = (degrees - height).clamp(min=0.0).log() - masses
        slopes = torch.where(is_open & (masses > -INFINITY), slopes, INFINITY)
        lowest = slopes.amin(dim=1, keepdim=True)
        # Without any mass left the rest has probability 0, whatever its ratio.
        following = (slopes == lowest).int().argmax(dim=1, keepdim=True)
        following = torch.where(lowest < INFINITY, following, 0)
        is_step = is_open & (index >= following) & (lowest < INFINITY)
        ratios = torch.where(is_step, lowest, ratios)
        vertex = torch.where(vertex > 0, following, vertex)
        height = degrees.gather(1, vertex)
    return torch.empty_like(ratios).scatter(1, order, ratios)
