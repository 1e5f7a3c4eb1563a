"""Matrix products in which min and max take the place of sum and product."""

import numpy as np

from pinesy._validation import FloatArray

__all__ = ["minmax_product"]


def minmax_product(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the min-max product ``(a box b)[i, k] = min_j max(a[i, j], b[j, k])``.

    `b` may be a vector. This is the definition, dense: it costs a product of all sizes in
    memory and serves to show and to test; inference never needs it.

    Examples
    --------
    >>> minmax_product(np.array([[0.3, 1.0], [1.0, 0.5]]), np.array([0.0, 1.0]))
    array([0.3, 1. ])
    """
    columns = b if b.ndim == 2 else b[:, None]
    product: FloatArray = np.maximum(a[:, :, None], columns[None, :, :]).min(axis=1)
    return product if b.ndim == 2 else product[:, 0]
