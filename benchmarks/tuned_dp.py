"""Probabilistic baseline: add two numbers whose digits are known as distributions.

The digits of both numbers are independent random variables, ``a_i`` and ``b_i`` at position
``i = 1..k`` (1 is the most significant). With ``c_k = 0`` the carry into position ``k``::

    y_i     = (a_i + b_i + c_i) mod 10
    c_{i-1} = [a_i + b_i + c_i >= 10]        and the leading carry is y_0 = c_0

``c_i`` only depends on positions after ``i``, so it is independent of ``a_i + b_i``, and the
exact marginals follow from three quantities that do not involve the carry::

    r_i(y) = P((a_i + b_i) mod 10 = y)       the pair sum, a circular convolution
    g_i    = P(a_i + b_i >= 10)              the position generates a carry
    t_i    = P(a_i + b_i = 9) = r_i(9)       the position transmits the carry it receives

    P(c_{i-1} = 1) = g_i + t_i P(c_i = 1)
    P(y_i = y)     = (1 - P(c_i = 1)) r_i(y) + P(c_i = 1) r_i(y - 1 mod 10)

Both implementations compute ``r``, ``g`` and ``t`` for many positions and samples at once; only
the carry, two operations per position, is a loop. Everything is in float64.

Run the file to check both against an enumeration of all digit combinations.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

Array = NDArray[np.float64]

BASE = 10
TOLERANCE = 1e-12

# Below this batch size a loop over Python floats beats one array operation per position.
SMALL_BATCH = 12
# (position, sample) pairs handled at once: large enough to hide the cost of a call, small enough
# for the work arrays to stay in cache. Torch has dearer calls and splits each among its threads.
NUMPY_BLOCK = 8_192
TORCH_BLOCK = 20_000

# Rows of the work array of a block: a (10), b twice (20), r (11) and the tails of b (9).
WORK_ROWS = 50


def _tail_matrix() -> Array:
    """Return ``m`` (9, 9) such that ``(m @ b[1:])[j] = P(b >= 9 - j)``."""
    return np.ascontiguousarray(np.tri(BASE - 1)[:, ::-1])


def _pair_table() -> Array:
    """Return ``m`` (100, 12) such that ``outer(a, b).ravel() @ m = [r(9), r(0), ..., r(9), g]``."""
    total = np.add.outer(np.arange(BASE), np.arange(BASE)).ravel()
    table = np.zeros((BASE * BASE, BASE + 2))
    table[np.arange(BASE * BASE), 1 + total % BASE] = 1.0
    table[:, 0] = table[:, BASE]
    table[:, BASE + 1] = total >= BASE
    return table


TAILS = _tail_matrix()
PAIR_TABLE = _pair_table()


def _check_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return ``(n, k)`` from the shape ``(n, 2, k, 10)``."""
    if len(shape) != 4 or shape[1] != 2 or shape[3] != BASE:
        raise ValueError(f"expected shape (n, 2, k, {BASE}), got {shape}")
    return shape[0], shape[2]


def _block_sizes(n: int, k: int, block: int) -> tuple[int, int]:
    """Return how many samples, then how many positions, make a block."""
    # Samples first: the carry loop runs once per position whatever the number of samples.
    samples = max(1, min(n, block))
    return samples, max(1, min(k, block // samples))


# --- NumPy ----------------------------------------------------------------------------------


def numpy_dp(p: Array, threads: int | None = None) -> tuple[Array, Array]:
    """Return the exact marginals of the digits and of the leading carry of the sum.

    Parameters
    ----------
    p : ndarray (n, 2, k, 10)
        ``p[s, j, i - 1, d]`` is the probability that digit ``i`` of number ``j`` of sample ``s``
        is ``d``. Each distribution must sum to one.
    threads : int, optional
        Threads sharing the samples of a large batch; all processors by default.

    Returns
    -------
    digits : ndarray (n, k, 10)
        ``P(y_i = d)``, most significant position first.
    lead : ndarray (n, 2)
        ``P(y_0 = 0)`` and ``P(y_0 = 1)``.
    """
    p = np.asarray(p, dtype=np.float64)
    n, k = _check_shape(p.shape)
    if n < SMALL_BATCH:
        return _numpy_small(p)
    digits, lead = np.empty((n, k, BASE)), np.empty((n, 2))
    if threads == 1 or n * k < 2 * NUMPY_BLOCK:
        _numpy_samples(p, digits, lead)
    else:
        _numpy_threads(p, digits, lead, threads or os.cpu_count() or 1)
    return digits, lead


def _numpy_small(p: Array) -> tuple[Array, Array]:
    """Take all positions at once and the carries on lists, to make few calls."""
    n, k = p.shape[0], p.shape[2]
    # Digit values first: every operation then runs along contiguous memory.
    rows = np.empty((30, n * k))
    rows[:20].reshape(2, BASE, n, k)[...] = p.transpose(1, 3, 0, 2)
    rows[20:] = rows[10:20]
    a = rows[:10]
    r = np.einsum("am,aym->ym", a, _shifts(rows, 11))  # r(9), r(0), ..., r(9)
    g = np.einsum("am,am->m", a[1:], TAILS @ rows[11:20])
    c = np.array(_list_carries(g.reshape(n, k).tolist(), r[10].reshape(n, k).tolist()))
    digits = r[:10] - r[1:]
    digits *= c[:, 1:].reshape(n * k)
    digits += r[1:]
    lead = np.empty((n, 2))
    lead[:, 1] = c[:, 0]
    np.subtract(1.0, c[:, 0], out=lead[:, 0])
    return np.ascontiguousarray(digits.reshape(BASE, n, k).transpose(1, 2, 0)), lead


def _numpy_threads(p: Array, digits: Array, lead: Array, threads: int) -> None:
    """Fill ``digits`` and ``lead``, each thread taking an equal share of the samples."""
    n = len(p)
    spans = [slice(n * j // threads, n * (j + 1) // threads) for j in range(threads)]
    # The array operations release the interpreter lock, so threads do share the work.
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda s: _numpy_samples(p[s], digits[s], lead[s]), spans))


def _numpy_samples(p: Array, digits: Array, lead: Array) -> None:
    """Fill ``digits`` and ``lead``, block by block from the least significant position."""
    n, k = p.shape[0], p.shape[2]
    samples, positions = _block_sizes(n, k, NUMPY_BLOCK)
    # One allocation for all blocks: fresh pages would cost as much as the arithmetic.
    work = np.empty(WORK_ROWS * samples * positions)
    for s in range(0, n, samples):
        carry = np.zeros(min(samples, n - s))
        for hi in range(k, 0, -positions):
            part = slice(s, s + samples), slice(max(0, hi - positions), hi)
            carry = _numpy_block(p[part[0], :, part[1]], carry, digits[part], work)
        lead[s : s + samples, 1] = carry
    np.subtract(1.0, lead[:, 1], out=lead[:, 0])


def _numpy_block(q: Array, carry: Array, digits: Array, work: Array) -> Array:
    """Fill ``digits`` for the positions of ``q`` given the carry in; return the carry out."""
    n, k = q.shape[0], q.shape[2]
    # Samples last, so that the carries of a position are contiguous too.
    rows = work[: WORK_ROWS * k * n].reshape(WORK_ROWS, k * n)
    rows[:20].reshape(2, BASE, k, n)[...] = q.transpose(1, 3, 2, 0)
    rows[20:30] = rows[10:20]
    a, b, r, tails = rows[:10], rows[10:20], rows[30:41], rows[41:50]
    np.einsum("am,aym->ym", a, _shifts(rows, 10), out=r[1:])
    r[0] = r[10]  # so that r[1:] is r(y) and r[:10] is r(y - 1 mod 10)
    g = np.einsum("am,am->m", a[1:], _numpy_tails(b, tails))
    c = _numpy_carries(g.reshape(k, n), r[10].reshape(k, n), carry)
    # (1 - c) r(y) + c r(y - 1) as r(y) + c (r(y - 1) - r(y)), in the rows of a, now free.
    np.subtract(r[:10], r[1:], out=a)
    a *= c[1:].reshape(k * n)
    a += r[1:]
    digits[...] = a.reshape(BASE, k, n).transpose(2, 1, 0)
    carry_out: Array = c[0]
    return carry_out


def _shifts(rows: Array, count: int) -> Array:
    """Return the view ``v[a, j] = b[y - a mod 10]``, ``y = j - count mod 10``, of the copies of b.

    The first rows are a, b and b again, ten of each; ``count`` is 10, or 11 to begin at ``y = 9``.
    """
    row, item = rows.strides
    shape = (BASE, count, rows.shape[1])
    # The constructor rather than as_strided, which takes longer than the carries of one sample.
    return np.ndarray(shape, np.float64, rows, (30 - count) * row, (-row, row, item))


def _numpy_tails(b: Array, out: Array) -> Array:
    """Fill ``out[j] = P(b >= 9 - j)`` for ``j = 0..8``."""
    # Additions, bound by memory: a matrix product would start threads of its own.
    out[0] = b[9]
    for j in range(1, 9):
        np.add(out[j - 1], b[9 - j], out=out[j])
    return out


def _numpy_carries(g: Array, t: Array, carry: Array) -> Array:
    """Return ``c`` (k + 1, n) with ``c[k] = carry`` and ``c[i - 1] = g[i - 1] + t[i - 1] c[i]``."""
    k, n = g.shape
    c = np.empty((k + 1, n))
    c[k] = carry
    for i in range(k - 1, -1, -1):
        np.multiply(t[i], c[i + 1], out=c[i])
        c[i] += g[i]
    return c


def _list_carries(g: list[list[float]], t: list[list[float]]) -> list[list[float]]:
    """Return the ``k + 1`` carries ``c[i - 1] = g[i - 1] + t[i - 1] c[i]`` of each sample."""
    carries = []
    for gs, ts in zip(g, t, strict=True):
        c = 0.0
        line = [c]
        line += [c := x + y * c for x, y in zip(reversed(gs), reversed(ts), strict=True)]
        line.reverse()
        carries.append(line)
    return carries


# --- PyTorch --------------------------------------------------------------------------------


def torch_dp(p: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what `numpy_dp` returns, computed with PyTorch; the results carry no gradient."""
    import torch

    n, k = _check_shape(tuple(p.shape))
    with torch.inference_mode():
        p = p.to(torch.float64)
        if n < SMALL_BATCH and n * k <= TORCH_BLOCK:
            return _torch_small(p)
        return _torch_large(p)


def _torch_small(p: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Take r and g from all products ``a b`` by one matrix product, to make few calls."""
    import torch

    n, k = p.shape[0], p.shape[2]
    a, b = p.unbind(1)
    table = torch.from_numpy(PAIR_TABLE).to(p.device)
    outer = (a.unsqueeze(3) * b.unsqueeze(2)).reshape(n * k, BASE * BASE)
    r = torch.mm(outer, table).view(n, k, BASE + 2)
    lists = _list_carries(r[..., 11].tolist(), r[..., 10].tolist())
    c = torch.from_numpy(np.array(lists)).to(p.device)
    digits = torch.lerp(r[..., 1:11], r[..., :10], c[:, 1:].unsqueeze(2))
    lead = c[:, :1]
    return digits, torch.cat((1.0 - lead, lead), 1)


def _torch_large(p: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Work block by block from the least significant position, as `_numpy_samples` does."""
    n, k = p.shape[0], p.shape[2]
    samples, positions = _block_sizes(n, k, TORCH_BLOCK)
    digits, lead = p.new_empty((n, k, BASE)), p.new_empty((n, 2))
    work = p.new_empty(WORK_ROWS * samples * positions)
    for s in range(0, n, samples):
        carry = p.new_zeros(min(samples, n - s))
        for hi in range(k, 0, -positions):
            part = slice(s, s + samples), slice(max(0, hi - positions), hi)
            carry = _torch_block(p[part[0], :, part[1]], carry, digits[part], work)
        lead[s : s + samples, 1] = carry
    lead[:, 0] = 1.0 - lead[:, 1]
    return digits, lead


def _torch_block(
    q: torch.Tensor, carry: torch.Tensor, digits: torch.Tensor, work: torch.Tensor
) -> torch.Tensor:
    """Fill ``digits`` for the positions of ``q`` given the carry in; return the carry out."""
    import torch

    n, k = q.shape[0], q.shape[2]
    rows = work[: WORK_ROWS * k * n].view(WORK_ROWS, k * n)
    rows[:20].view(2, BASE, k, n).copy_(q.permute(1, 3, 2, 0))
    rows[20:30] = rows[10:20]
    a, b, r, tails = rows[:10], rows[10:30], rows[30:41], rows[41:50]
    pair = r[1:]
    torch.mul(a[0], b[:10], out=pair)
    for d in range(1, BASE):
        pair.addcmul_(a[d], b[10 - d : 20 - d])  # r(y) += a(d) b(y - d mod 10)
    r[0] = r[10]
    torch.mm(torch.from_numpy(TAILS).to(q.device), b[1:10], out=tails)
    g = tails.mul_(a[1:]).sum(0)
    c = _torch_carries(g.view(k, n), r[10].view(k, n), carry)
    torch.lerp(pair, r[:10], c[1:].view(k * n), out=a)
    digits.copy_(a.view(BASE, k, n).permute(2, 1, 0))
    return c[0]


def _torch_carries(g: torch.Tensor, t: torch.Tensor, carry: torch.Tensor) -> torch.Tensor:
    """Return ``c`` (k + 1, n) with ``c[k] = carry`` and ``c[i - 1] = g[i - 1] + t[i - 1] c[i]``."""
    import torch

    k, n = g.shape
    c = g.new_empty((k + 1, n))
    c[k] = carry
    # Rows taken once: indexing inside the loop would cost as much as the operation.
    gs, ts, cs = g.unbind(0), t.unbind(0), c.unbind(0)
    for i in range(k - 1, -1, -1):
        torch.addcmul(gs[i], ts[i], cs[i + 1], out=cs[i])
    return c


# --- Check ----------------------------------------------------------------------------------


def brute_force(p: Array) -> tuple[Array, Array]:
    """Return the same marginals by enumerating the ``100**k`` digit combinations, ``k <= 2``."""
    n, k = _check_shape(p.shape)
    if k > 2:
        raise ValueError(f"100**{k} combinations are too many, k must be at most 2")
    digits, lead = np.zeros((n, k, BASE)), np.zeros((n, 2))
    for combination in product(range(BASE), repeat=2 * k):
        first, second = combination[:k], combination[k:]
        weight = np.ones(n)
        for i in range(k):
            weight = weight * p[:, 0, i, first[i]] * p[:, 1, i, second[i]]
        total = _number(first) + _number(second)
        for i in range(k):
            digits[:, i, total // BASE ** (k - 1 - i) % BASE] += weight
        lead[:, total // BASE**k] += weight
    return digits, lead


def _number(digits: tuple[int, ...]) -> int:
    """Return the integer with these decimal digits, most significant first."""
    return int("".join(map(str, digits)))


def random_digits(n: int, k: int, seed: int = 0) -> Array:
    """Return random digit distributions (n, 2, k, 10), from flat to nearly certain."""
    rng = np.random.default_rng(seed)
    weights = rng.random((n, 2, k, BASE)) ** rng.integers(1, 20, (n, 2, k, 1))
    probabilities: Array = weights / weights.sum(-1, keepdims=True)
    return probabilities


def _difference(x: tuple[Array, Array], y: tuple[Array, Array]) -> float:
    """Return the maximum absolute difference between two results."""
    return max(float(np.abs(u - v).max()) for u, v in zip(x, y, strict=True))


def _torch_as_numpy(p: Array) -> tuple[Array, Array]:
    """Call `torch_dp` on an array."""
    import torch

    digits, lead = torch_dp(torch.from_numpy(p))
    return digits.numpy(), lead.numpy()


def _one_by_one(p: Array) -> tuple[Array, Array]:
    """Call `numpy_dp` on each sample alone."""
    digits, lead = zip(*(numpy_dp(p[s : s + 1]) for s in range(len(p))), strict=True)
    return np.concatenate(digits), np.concatenate(lead)


def main() -> int:
    """Print the maximum differences; return 1 if any is above the tolerance."""
    implementations: dict[str, Callable[[Array], tuple[Array, Array]]] = {"numpy": numpy_dp}
    try:
        import torch  # noqa: F401
    except ImportError:
        print("torch is not installed, only numpy is checked")
    else:
        implementations["torch"] = _torch_as_numpy
    # Batches on both sides of SMALL_BATCH; the last one has several, uneven, blocks per thread.
    cases = [(n, k, brute_force) for k in (1, 2) for n in (1, SMALL_BATCH - 1, 50)]
    cases.append((1003, 71, _one_by_one))
    worst = 0.0
    for n, k, reference in cases:
        p = random_digits(n, k, seed=n + k)
        expected = reference(p)
        for name, function in implementations.items():
            difference = _difference(function(p), expected)
            worst = max(worst, difference)
            print(f"{name}  k={k:<3d} n={n:<5d} maximum difference {difference:.1e}")
    print(f"maximum difference {worst:.1e}, tolerance {TOLERANCE:.0e}")
    return int(not worst <= TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
