"""The probability-possibility transformations for tensors, with gradients.

They take ``(..., m)`` tensors whose rows are distributions. In float64 they equal
`pinesy.transforms` to the last bit, because sums are added in the same order.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from pinesy.exceptions import DegreeError, PinesyError
from pinesy.transforms import SUM_TOLERANCE


def antipignistic(probability: Tensor) -> Tensor:
    """Return ``pi_i = sum_j min(p_i, p_j)`` [subsec:antipignistic]; the largest is exactly 1.

    Examples
    --------
    >>> antipignistic(torch.tensor([0.75, 0.25]))
    tensor([1.0000, 0.5000])
    """
    p, order = _sort_rows(probability / _row_sums(probability))
    pi = _suffix_sums(_ranks(p) * _differences(p))
    exact = torch.where(p == p[..., :1], 1.0, pi.clamp(max=1.0))
    return _restore_order(replace_value(pi, exact), order)


def antipignistic_inverse(possibility: Tensor) -> Tensor:
    """Return ``p_i = sum_{j >= i} (pi_j - pi_{j+1}) / j`` with ``pi_1 >= ... >= pi_m``.

    See [subsec:antipignistic]. Of a distribution that is not normalised it sums to its height.

    Examples
    --------
    >>> antipignistic_inverse(torch.tensor([1.0, 0.5]))
    tensor([0.7500, 0.2500])
    """
    pi, order = _sort_rows(possibility)
    return _restore_order(_suffix_sums(_differences(pi) / _ranks(pi)), order)


def minimum_specificity(probability: Tensor) -> Tensor:
    """Return ``pi_i = sum_{j >= i} p_j`` with ``p_1 >= ... >= p_m``, ties in domain order.

    See [subsec:probposs_mps].

    Examples
    --------
    >>> minimum_specificity(torch.tensor([0.75, 0.25]))
    tensor([1.0000, 0.2500])
    """
    p, order = _sort_rows(probability / _row_sums(probability))
    pi = _suffix_sums(p)
    first = torch.arange(p.shape[-1], device=p.device) == 0
    return _restore_order(replace_value(pi, torch.where(first, 1.0, pi.clamp(max=1.0))), order)


def _row_sums(rows: Tensor) -> Tensor:
    """Return the sums (..., 1), added in the order of `pinesy.transforms`."""
    return rows.cumsum(-1)[..., -1:]


def _sort_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return each row in decreasing order, ties in domain order, and the indices of its values."""
    return torch.sort(rows, dim=-1, descending=True, stable=True)


def _restore_order(rows: Tensor, order: Tensor) -> Tensor:
    return torch.empty_like(rows).scatter(-1, order, rows)


def _differences(rows: Tensor) -> Tensor:
    """Return the difference of each value to the next one, of the last value to 0."""
    return rows - torch.nn.functional.pad(rows[..., 1:], (0, 1))


def _suffix_sums(rows: Tensor) -> Tensor:
    return rows.flip(-1).cumsum(-1).flip(-1)


def _ranks(rows: Tensor) -> Tensor:
    return torch.arange(1, rows.shape[-1] + 1, dtype=rows.dtype, device=rows.device)


def names_by_size(tensors: Mapping[str, Tensor]) -> list[list[str]]:
    """Return the names grouped by the number of values of their tensors, to stack these."""
    groups: dict[int, list[str]] = {}
    for name, tensor in tensors.items():
        groups.setdefault(tensor.shape[1], []).append(name)
    return list(groups.values())


def replace_value(tensor: Tensor, exact: Tensor) -> Tensor:
    """Return the `exact` values with the gradient of `tensor`, as a straight-through estimator."""
    return tensor + (exact - tensor).detach()


@torch.no_grad()
def check_probability_rows(
    rows: Tensor, where: str, error: type[PinesyError], cure: str = ""
) -> None:
    """Raise `error` unless all rows (n, m) are probability distributions."""
    if not _are_probabilities(rows):
        deviation = (rows.sum(dim=1) - 1.0).abs()
        row = int(((rows < 0.0).any(dim=1) | ~(deviation <= SUM_TOLERANCE)).int().argmax())
        raise error(
            f"{where}, row {row}, is {rows[row].tolist()!r:.80}; probabilities are at least 0 and "
            f"sum to 1 (within {SUM_TOLERANCE}){cure}"
        )


def _are_probabilities(rows: Tensor) -> bool:
    if rows.numel() == 0:
        return True
    deviation = (rows.sum(dim=-1) - 1.0).abs()
    return bool(rows.amin() >= 0.0 and deviation.amax() <= SUM_TOLERANCE)  # NaN is neither


def checked_probabilities(rows: Tensor, names: Sequence[str]) -> Tensor:
    """Return the inputs (n, names, m) of a layer, or raise `DegreeError` if one is no distribution.

    It is an autograd function, so that it gets the numbers also under `torch.func` transforms.
    """
    checked: Tensor = _CheckedProbabilities.apply(rows, names)  # type: ignore[no-untyped-call]
    return checked


class _CheckedProbabilities(Function):
    @staticmethod
    def forward(rows: Tensor, names: Sequence[str]) -> Tensor:
        cure = ": apply a softmax to raw scores first"
        for i, name in enumerate(names) if not _are_probabilities(rows) else ():
            check_probability_rows(rows[:, i], f"the input {name!r}", DegreeError, cure)
        return rows.view_as(rows)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save nothing: the backward pass needs no inputs."""

    @staticmethod
    def backward(_ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None

    @staticmethod
    def jvp(_ctx: Any, change: Tensor, _: None) -> Tensor:
        return change.view_as(change)

    @staticmethod
    def vmap(
        _info: Any, in_dims: tuple[int, None], rows: Tensor, names: Sequence[str]
    ) -> tuple[Tensor, int]:
        moved = rows.movedim(in_dims[0], 0)
        flat = checked_probabilities(moved.flatten(0, 1), names)
        return flat.reshape(moved.shape), 0
