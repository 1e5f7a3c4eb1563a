"""How the experiments split, pool and perturb images."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import check_integer, check_integers, check_number, check_rng
from pinesy.exceptions import DataError, DomainError
from pinesy.problems.addition import Indices
from pinesy.problems.visual_sudoku import check_dim


@dataclass(frozen=True, eq=False)
class SudokuPools:
    """The images that puzzles are made of, apart for training, validation and test.

    Attributes
    ----------
    train, valid, test : arrays (dim, dim * puzzles)
        Row `d` has indices of images of the digit `d`.
    """

    train: Indices
    valid: Indices
    test: Indices


def addition_split(
    n_train: int, rng: np.random.Generator, *, size: int = 60_000, n_valid: int = 10_000
) -> tuple[Indices, Indices]:
    """Draw the images of one run for training and, apart from them, those for validation.

    The numbers of images are the paper's [subsec:exp:mnistadd].

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
    n_train, size = check_integer(n_train, "n_train", 1), check_integer(size, "size", 1)
    n_valid = check_integer(n_valid, "n_valid")
    if n_train + n_valid > size:
        raise DataError(
            f"{n_train} images for training and {n_valid} for validation are asked of {size}; "
            f"take n_train <= {max(size - n_valid, 0)}, or another n_valid"
        )
    order = rng.permutation(size)
    return order[:n_train], order[size - n_valid :]


def sudoku_pools(
    labels: npt.ArrayLike,
    dim: int,
    rng: np.random.Generator,
    *,
    train: int = 100,
    valid: int = 50,
    test: int = 50,
) -> SudokuPools:
    """Shuffle the images of each class ``0 .. dim-1`` and cut them into disjoint pools.

    Parameters
    ----------
    labels : the digit on each image, of MNIST's training and test images merged
    dim : 4 or 9
    rng : the source of randomness
    train, valid, test : the number of correct puzzles that each pool is to suffice for
    """
    check_rng(rng)
    check_dim(dim)
    array = check_integers(labels, "labels", 1, "one integer for each image", DataError)
    counts = {"train": train, "test": test, "valid": valid}
    sizes = [dim * check_integer(n, name, 1) for name, n in counts.items()]
    rows = [_shuffled(array, d, sum(sizes), rng) for d in range(dim)]
    first, second, third = np.split(np.stack(rows), np.cumsum(sizes)[:-1], axis=1)
    return SudokuPools(train=first, valid=third, test=second)


def _shuffled(
    labels: npt.NDArray[np.int64], d: int, size: int, rng: np.random.Generator
) -> Indices:
    images = np.flatnonzero(labels == d)
    if len(images) < size:
        raise DataError(f"the pools need {size} images of the digit {d}; there are {len(images)}")
    return rng.permutation(images)[:size]


def perturb(
    images: npt.NDArray[Any],
    rng: np.random.Generator,
    *,
    degrees: float = 2.0,
    shift: float = 0.02,
    scale: float = 0.02,
) -> npt.NDArray[np.uint8]:
    """Return the images, each turned about its centre, scaled and moved at random.

    The defaults are those by which the best of DeepSoftLog's networks is chosen. What comes in at
    the edges is black.

    Parameters
    ----------
    images : uint8 array (n, 28, 28)
    rng : the source of randomness
    degrees : the angle is uniform in ``[-degrees, degrees]``, anticlockwise
    shift : the ways right and down are uniform in ``[-shift, shift]`` times the image's side
    scale : the scale is uniform in ``[1 - scale, 1 + scale]``

    Examples
    --------
    >>> images = np.zeros((2, 28, 28), np.uint8)
    >>> perturb(images, np.random.default_rng(0)).shape
    (2, 28, 28)
    """
    import torch  # not at the top: reports need none
    from torch.nn.functional import grid_sample

    from pinesy.nets.networks import check_images
    from pinesy.nets.recipes import affine_grids

    check_images(images)
    for name, value in (("degrees", degrees), ("shift", shift), ("scale", scale)):
        check_number(value, name)
    if scale >= 1.0:
        raise DomainError(f"scale is {scale!r:.60}; it must be a number, at least 0, and below 1")
    bounds = np.array([np.deg2rad(degrees), scale, shift, shift])
    pixels = torch.from_numpy(images.astype(np.float32)).unsqueeze(1)
    moved = grid_sample(pixels, affine_grids(len(images), rng, bounds), align_corners=False)
    return moved.squeeze(1).round().clamp(0, 255).byte().numpy()
