"""Addition-k: samples of two numbers, each written as k images of digits."""

import numpy as np
import numpy.typing as npt

from pinesy.exceptions import DataError
from pinesy.problems.datasets._checks import check_count, check_labels, check_rng

Indices = npt.NDArray[np.int64]


def addition_split(
    n_train: int, rng: np.random.Generator, *, size: int = 60_000, n_valid: int = 10_000
) -> tuple[Indices, Indices]:
    """Draw the images of one run for training and, apart from them, those for validation.

    For the same generator state, fewer training images are a part of more, and the images for
    validation are the same.

    Parameters
    ----------
    n_train : how many images are for training: 50,000, or 2,500 with low data
    rng : the source of randomness
    size : how many images there are
    n_valid : how many images are for validation

    Returns
    -------
    train, valid : indices of images, in random order

    Examples
    --------
    >>> train, valid = addition_split(2500, np.random.default_rng(0))
    >>> len(train), len(valid)
    (2500, 10000)
    """
    check_rng(rng)
    n_train, size = check_count(n_train, "n_train"), check_count(size, "size")
    n_valid = check_count(n_valid, "n_valid", least=0)
    if n_train + n_valid > size:
        raise DataError(
            f"{n_train} images for training and {n_valid} for validation are asked of {size}; "
            f"take n_train <= {max(size - n_valid, 0)}, or another n_valid"
        )
    order = rng.permutation(size)
    return order[:n_train], order[size - n_valid :]


def addition_samples(labels: npt.ArrayLike, k: int, rng: np.random.Generator) -> Indices:
    """Draw ``floor(size / 2k)`` samples of two k-tuples of images, without replacement.

    Parameters
    ----------
    labels : the digit on each image; positions in it are what is returned
    k : the number of digits of each number
    rng : the source of randomness

    Returns
    -------
    samples : array (n, 2k) of positions in `labels`
        The first `k` of a row are the first number, most significant digit first, as the inputs
        ``a_1 .. a_{2k}`` of `pinesy.problems.addition`.

    Examples
    --------
    >>> addition_samples([5, 0, 4, 1, 9], 2, np.random.default_rng(0)).shape
    (1, 4)
    """
    check_rng(rng)
    k = check_count(k, "k")
    size = len(check_labels(labels))
    n = size // (2 * k)
    if n == 0:
        raise DataError(f"one sample with k={k} needs {2 * k} images; there are {size}")
    return rng.permutation(size)[: 2 * k * n].reshape(n, 2 * k)
