"""What a good engineer would write instead: exact probabilities over digits and carry, batched.

Digits ``a_i``, ``b_i`` are independent; ``s_i = a_i + b_i`` has a distribution of 19 values, and
with the carry ``c`` coming from the right, ``c' = [s + c >= 10]`` and ``y = (s + c) mod 10``.
`tuned_dp` computes the same with every trick of layout, blocking and threads that we found.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def numpy_dp(p: Array) -> tuple[Array, Array]:
    """Return ``P(y_i)`` (n, k, 10) and ``P(y_0)`` (n, 2) from digits (n, 2, k, 10)."""
    n, _, k, _ = p.shape
    a, b = p[:, 0], p[:, 1]
    total = np.zeros((n, k, 20))  # the last entry stays 0, for shifting by the carry
    for d in range(10):
        total[:, :, d : d + 10] += a[:, :, d, None] * b
    overflow, nine = total[:, :, 10:].sum(axis=2), total[:, :, 9]
    carry = np.zeros((n, k + 1))
    for i in range(k - 1, -1, -1):
        carry[:, i] = overflow[:, i] + nine[:, i] * carry[:, i + 1]
    digit = total[:, :, :10] + total[:, :, 10:]
    incoming = carry[:, 1:, None]
    digits = (1.0 - incoming) * digit + incoming * np.roll(digit, 1, axis=2)
    return digits, np.stack([1.0 - carry[:, 0], carry[:, 0]], axis=1)


def torch_dp(p: Any) -> tuple[Any, Any]:
    """Return what `numpy_dp` returns, with PyTorch tensors and its threads."""
    import torch

    with torch.inference_mode():
        n, _, k, _ = p.shape
        a, b = p[:, 0], p[:, 1]
        total = p.new_zeros(n, k, 20)
        for d in range(10):
            total[:, :, d : d + 10].addcmul_(a[:, :, d, None], b)
        overflow, nine = total[:, :, 10:].sum(2), total[:, :, 9]
        carry = [p.new_zeros(n)]
        for i in range(k - 1, -1, -1):
            carry.append(torch.addcmul(overflow[:, i], nine[:, i], carry[-1]))
        digit = total[:, :, :10] + total[:, :, 10:]
        incoming = torch.stack(carry[:-1][::-1], 1)[:, :, None]
        digits = torch.lerp(digit, digit.roll(1, 2), incoming)
        return digits, torch.stack([1.0 - carry[-1], carry[-1]], 1)
