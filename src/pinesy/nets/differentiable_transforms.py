"""The probability-possibility transformations for tensors, with gradients.

They take ``(..., m)`` tensors whose rows are distributions, and follow `pinesy.transforms`.
"""

import torch
from torch import Tensor

from pinesy.exceptions import PinesyError
from pinesy.transforms import SUM_TOLERANCE


def antipignistic(probability: Tensor) -> Tensor:
    """Return ``pi_i = sum_j min(p_i, p_j)`` [subsec:antipignistic]; the largest is exactly 1.

    Examples
    --------
    >>> antipignistic(torch.tensor([0.75, 0.25]))
    tensor([1.0000, 0.5000])
    """
    p, order = _sorted(probability / probability.sum(dim=-1, keepdim=True))
    pi = _suffix_sums(_ranks(p) * _steps(p))
    exact = torch.where(p == p[..., :1], 1.0, pi.clamp(max=1.0))
    return _unsorted(with_value(pi, exact), order)


def antipignistic_inverse(possibility: Tensor) -> Tensor:
    """Return ``p_i = sum_{j >= i} (pi_j - pi_{j+1}) / j`` with ``pi_1 >= ... >= pi_m``.

    See [subsec:antipignistic]. Of a distribution that is not normalised it sums to its height.

    Examples
    --------
    >>> antipignistic_inverse(torch.tensor([1.0, 0.5]))
    tensor([0.7500, 0.2500])
    """
    pi, order = _sorted(possibility)
    return _unsorted(_suffix_sums(_steps(pi) / _ranks(pi)), order)


def minimum_specificity(probability: Tensor) -> Tensor:
    """Return ``pi_i = sum_{j >= i} p_j`` with ``p_1 >= ... >= p_m``, ties in domain order.

    See [subsec:probposs_mps].

    Examples
    --------
    >>> minimum_specificity(torch.tensor([0.75, 0.25]))
    tensor([1.0000, 0.2500])
    """
    p, order = _sorted(probability / probability.sum(dim=-1, keepdim=True))
    pi = _suffix_sums(p)
    first = torch.arange(p.shape[-1], device=p.device) == 0
    return _unsorted(with_value(pi, torch.where(first, 1.0, pi.clamp(max=1.0))), order)


def _sorted(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return each row in decreasing order, ties in domain order, and where its values were."""
    return torch.sort(rows, dim=-1, descending=True, stable=True)


def _unsorted(rows: Tensor, order: Tensor) -> Tensor:
    return torch.empty_like(rows).scatter(-1, order, rows)


def _steps(rows: Tensor) -> Tensor:
    """Return how far each value is above the next; the last one is above 0."""
    return rows - torch.nn.functional.pad(rows[..., 1:], (0, 1))


def _suffix_sums(rows: Tensor) -> Tensor:
    return rows.flip(-1).cumsum(-1).flip(-1)


def _ranks(rows: Tensor) -> Tensor:
    return torch.arange(1, rows.shape[-1] + 1, dtype=rows.dtype, device=rows.device)


def with_value(tensor: Tensor, exact: Tensor) -> Tensor:
    """Return values free of rounding, with the gradient of those that were computed."""
    return tensor + (exact - tensor).detach()


@torch.no_grad()
def check_probabilities(rows: Tensor, where: str, error: type[PinesyError], cure: str = "") -> None:
    """Raise `error` unless all rows (n, m) are probability distributions."""
    far = (rows.sum(dim=1) - 1.0).abs()
    if not (rows.amin() >= 0.0 and far.amax() <= SUM_TOLERANCE):  # NaN is neither
        row = int(((rows < 0.0).any(dim=1) | ~(far <= SUM_TOLERANCE)).int().argmax())
        raise error(
            f"{where}, row {row}, is {rows[row].tolist()!r:.80}; probabilities are at least 0 and "
            f"sum to 1 (within {SUM_TOLERANCE}){cure}"
        )
