"""The exact probability of a sum of many independent values, and a loss of it.

With ``P_i(v)`` for the values ``v = 0 .. m-1`` of ``n`` inputs, ``P(s)`` is a coefficient of the
product of the polynomials ``sum_v P_i(v) z^v``. For any `t`, with the tilted distributions
``Q_i(v) = P_i(v) e^{tv} / M_i``,

    log P(s) = sum_i log M_i - t s + log Q(s).

`t` is chosen so that the mean of Q is about `s` (the saddle point): ``Q(s)`` is then about its
largest coefficient, and a discrete Fourier transform gives it to almost all digits, although
``P(s)`` itself may be far below the smallest number.
"""

from math import ceil, log, pi, sqrt
from typing import Any, Final

import torch
from torch import Tensor

from pinesy.exceptions import DataError
from pinesy.nets.answer_losses import SMOOTHING

#: At most so much of a distribution is disregarded, by Hoeffding's inequality.
TAIL: Final = 1e-20
#: The sum of the absolute terms of the transform over its result, at most: rounding loses as many
#: digits. Beyond, terms that are all positive are added up instead.
CANCELLATION: Final = 1e4
#: Complex numbers that are computed at once, if a sum alone has not more.
BLOCK: Final = 1 << 21
#: Bounds of the tilt, and the steps to find it.
STEEPEST, STEPS = 40.0, 80


def sum_log_probability(probabilities: Tensor, totals: Tensor) -> Tensor:
    """Return the logarithms (rows,) of the probabilities of totals, in float64.

    Time and memory of a row grow with ``n^1.5``. The gradient is exact too: times ``P_i(v)`` it is
    the posterior of the value of an input, given the total. There are no second derivatives.

    Parameters
    ----------
    probabilities : tensor (rows, n, m), of the values 0 to m-1 of n independent inputs
    totals : tensor (rows,) of whole numbers

    Raises
    ------
    DataError
        The shapes do not fit, or a total is not between 0 and ``n (m-1)``.

    Examples
    --------
    >>> coins = torch.full((1, 1000, 2), 0.5, dtype=torch.float64)
    >>> round(sum_log_probability(coins, torch.tensor([0])).item() / log(2), 6)
    -1000.0
    """
    _check_totals(probabilities, totals)
    logs: Tensor = _SumLogProbability.apply(probabilities, totals)  # type: ignore[no-untyped-call]
    return logs


def sum_loss(probabilities: Tensor, totals: Tensor) -> Tensor:
    """Return the mean of ``- log P(total)`` over the rows; see `sum_log_probability`.

    A share of 1e-9 of the uniform distribution is mixed in, so that no total is impossible.

    Examples
    --------
    >>> dice = torch.tensor([[[0.0, 0.5, 0.5], [0.5, 0.5, 0.0]]])
    >>> round(sum_loss(dice, torch.tensor([1])).exp().item(), 6)
    4.0
    """
    p = probabilities.double()
    smoothed = (1 - SMOOTHING) * p + SMOOTHING / p.shape[-1]
    return -sum_log_probability(smoothed, totals).mean()


def sum_probabilities(probabilities: Tensor) -> Tensor:
    """Return the probabilities (rows, n (m-1) + 1) of all sums, to about 1e-15; see `sum_loss`.

    Examples
    --------
    >>> sum_probabilities(torch.full((1, 2, 3), 1 / 3, dtype=torch.float64)).mul(9).round()
    tensor([[1., 2., 3., 2., 1.]], dtype=torch.float64)
    """
    _check_probabilities(probabilities)
    rows, n, m = probabilities.shape
    size = n * (m - 1) + 1
    period = min(size, 2 * _period(n, m))
    sums = torch.zeros(rows, size, dtype=torch.float64)
    with torch.no_grad():
        for block in _blocks(rows, n, period):
            p = probabilities[block].double()
            coefficients = torch.fft.irfft(_transform(p, period).conj(), n=period).clamp(min=0.0)
            mean = (p @ torch.arange(m).to(p)).sum(dim=1)
            first = (mean.round().long() - period // 2).clamp(0, max(size - period, 0))
            indices = first[:, None] + torch.arange(min(period, size))
            sums[block] = sums[block].scatter(1, indices, coefficients.gather(1, indices % period))
    return sums


class _SumLogProbability(torch.autograd.Function):
    """`sum_log_probability`, with its gradient at once, so that blocks need little memory."""

    @staticmethod
    def forward(ctx: Any, probabilities: Tensor, totals: Tensor) -> Tensor:
        rows, n, m = probabilities.shape
        logs = torch.empty(rows, dtype=torch.float64)
        gradient = torch.empty(rows, n, m, dtype=torch.float64)
        for block in _blocks(rows, n, _period(n, m)):
            with torch.enable_grad():
                p = probabilities[block].detach().double().requires_grad_()
                values = _log_probabilities(p, totals[block])
                gradient[block] = torch.autograd.grad(values.sum(), p)[0]
            logs[block] = values.detach()
        ctx.save_for_backward(gradient)
        ctx.dtype = probabilities.dtype
        return logs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, outer: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return (outer[:, None, None] * gradient).to(ctx.dtype), None


def _log_probabilities(p: Tensor, totals: Tensor) -> Tensor:
    """Return log P(total) of a block, differentiable."""
    n, m = p.shape[1:]
    values, s = torch.arange(m).to(p), totals.to(p)
    tilt = _tilts(p.detach(), s)[:, None, None]
    top = (tilt * (m - 1)).clamp(min=0.0)  # no weight is above that of the probabilities
    weights = p * (tilt * values - top).exp()
    mass = weights.sum(dim=2, keepdim=True)
    q = weights / mass
    period = _period(n, m)
    terms = _terms(_transform(q, period), s, period)
    coefficient = terms.sum(dim=1)
    is_lost = coefficient.detach() * CANCELLATION <= terms.detach().abs().sum(dim=1)
    if bool(is_lost.any()):
        direct = _product(q[is_lost])[torch.arange(int(is_lost.sum())), totals[is_lost]]
        coefficient = coefficient.masked_scatter(is_lost, direct)
    shift = (mass.log() + top).sum(dim=(1, 2)) - tilt[:, 0, 0] * s
    return shift + coefficient.log()


def _tilts(p: Tensor, totals: Tensor) -> Tensor:
    """Return tilts (rows,) with which the mean of each sum is about its total.

    Newton's method between bounds; whatever it ends with, `_log_probabilities` is an identity.
    """
    values = torch.arange(p.shape[2]).to(p)
    logs = p.log()
    tilt = torch.zeros_like(totals)
    low, high = tilt - STEEPEST, tilt + STEEPEST
    for _ in range(STEPS):
        q = (logs + tilt[:, None, None] * values).softmax(dim=2)
        mean = q @ values
        variance = (q @ values**2 - mean**2).clamp(min=0.0).sum(dim=1)
        excess = mean.sum(dim=1) - totals
        if bool((excess.abs() <= 0.1 + 0.1 * variance.sqrt()).all()):
            break
        low, high = torch.where(excess < 0, tilt, low), torch.where(excess > 0, tilt, high)
        newton = tilt - excess / variance.clamp(min=1e-300)
        tilt = torch.where((newton > low) & (newton < high), newton, (low + high) / 2)
    return tilt


def _transform(q: Tensor, period: int) -> Tensor:
    """Return the discrete Fourier transform (rows, period // 2 + 1) of the sums of a block."""
    angles = 2 * pi / period * torch.arange(period // 2 + 1).to(q)
    powers = torch.polar(torch.ones_like(angles), angles) ** torch.arange(q.shape[2])[:, None]
    factors = torch.complex(q @ powers.real, q @ powers.imag)
    while factors.shape[1] > 1:
        half = factors.shape[1] // 2
        pairs = factors[:, :half] * factors[:, half : 2 * half]
        factors = torch.cat([pairs, factors[:, 2 * half :]], dim=1)
    return factors[:, 0]


def _terms(transform: Tensor, totals: Tensor, period: int) -> Tensor:
    """Return the terms (rows, frequencies) whose sum is the coefficient of the total."""
    frequencies = torch.arange(transform.shape[1]).to(totals)
    angles = -2 * pi / period * ((totals[:, None] * frequencies) % period)
    turned = (transform * torch.polar(torch.ones_like(angles), angles)).real
    counts = torch.full_like(frequencies, 2.0)  # all but the first have a mirror image
    counts[0] = 1.0
    if period % 2 == 0:
        counts[-1] = 1.0
    return turned * counts / period


def _product(q: Tensor) -> Tensor:
    """Return all coefficients (rows, n (m-1) + 1) of the products of polynomials (rows, n, m)."""
    product = q[:, 0]
    for index in range(1, q.shape[1]):
        shifted = [
            torch.nn.functional.pad(product * q[:, index, v, None], (v, q.shape[2] - 1 - v))
            for v in range(q.shape[2])
        ]
        product = torch.stack(shifted).sum(dim=0)
    return product


def _period(n: int, m: int) -> int:
    """Return the period of a transform: it adds up the coefficients of sums that far apart.

    All sums are separate, or all that are further from the mean have a probability of `TAIL`.
    """
    return min(n * (m - 1) + 1, ceil((m - 1) * (sqrt(n * log(2 / TAIL) / 2) + sqrt(n) / 10 + 1)))


def _blocks(rows: int, n: int, period: int) -> list[slice]:
    size = max(BLOCK // (n * (period // 2 + 1)), 1)
    return [slice(start, start + size) for start in range(0, rows, size)]


def _check_probabilities(probabilities: Tensor) -> None:
    if probabilities.ndim != 3 or 0 in probabilities.shape[1:]:
        raise DataError(
            f"probabilities has shape {tuple(probabilities.shape)}; it must be (rows, inputs, "
            "values), with at least one input and one value"
        )


def _check_totals(probabilities: Tensor, totals: Tensor) -> None:
    _check_probabilities(probabilities)
    rows, n, m = probabilities.shape
    if totals.shape != (rows,) or totals.is_floating_point() or totals.is_complex():
        raise DataError(
            f"totals is {totals.dtype} {tuple(totals.shape)}; give a whole number for each of "
            f"{rows} rows"
        )
    if rows and (int(totals.min()) < 0 or int(totals.max()) > n * (m - 1)):
        raise DataError(
            f"totals are from {int(totals.min())} to {int(totals.max())}; {n} values of 0 to "
            f"{m - 1} have sums from 0 to {n * (m - 1)}"
        )
