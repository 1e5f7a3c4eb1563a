"""Images that are moved, turned, scaled and bent a little, at random."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample, interpolate

from pinesy._common.validation import FloatArray, check_number
from pinesy.exceptions import DataError, DomainError
from pinesy.nets.networks import DEVIATION, MEAN, SIDE, check_images

#: Bounds of the angle (radians), the scale and the two shifts (shares of the side), at strength 1.
BOUNDS = np.array([np.deg2rad(10.0), 0.1, 0.07, 0.07])
#: The displacements are drawn at KNOTS x KNOTS places, with a deviation of so many pixels.
KNOTS, BEND = 5, 0.9
#: A scale of 0 is reached at 10; digits are no longer legible long before.
STRONGEST = 4.0
#: What `preprocess` makes of a black pixel.
BLACK = -MEAN / DEVIATION


def augment(pixels: Tensor, rng: np.random.Generator, strength: float = 1.0) -> Tensor:
    """Return the images, each moved, turned, scaled and bent at random.

    At strength 1 an image is turned by up to 10 degrees, scaled by up to 10 %, moved by up to 7 %
    of its side each way, and its pixels are displaced by a smooth field: normal displacements of
    0.9 pixels on a coarse grid of 5 x 5 places, and bicubic interpolation between them. All this
    is one resampling. What comes in at the edges is black.

    Parameters
    ----------
    pixels : float32 tensor (n, 1, 28, 28), as `preprocess` makes it
    rng : the source of randomness
    strength : multiplies all bounds and displacements; 0 changes nothing

    Examples
    --------
    >>> from pinesy.nets import preprocess
    >>> pixels = preprocess(np.zeros((2, 28, 28), np.uint8))
    >>> augment(pixels, np.random.default_rng(0)).shape
    torch.Size([2, 1, 28, 28])
    """
    check_number(strength, "strength", most=STRONGEST)
    if pixels.ndim != 4 or pixels.shape[1:] != (1, SIDE, SIDE):
        raise DataError(
            f"pixels has shape {tuple(pixels.shape)}; it must be (n, 1, {SIDE}, {SIDE}), as "
            "preprocess makes it"
        )
    if strength == 0:
        return pixels
    grid = _affine(len(pixels), rng, strength * BOUNDS) + _bends(len(pixels), rng, strength)
    # Outside the image grid_sample sees 0, so that black has to be 0 for it.
    moved = grid_sample(pixels - BLACK, grid.to(pixels.device), align_corners=False)
    return moved + BLACK


def _affine(n: int, rng: np.random.Generator, bounds: FloatArray) -> Tensor:
    """Return where the pixels of turned, scaled and moved images come from: (n, 28, 28, 2).

    Coordinates go from -1 to 1, to the right and down, so that the side is 2.
    """
    angle, growth, right, down = rng.uniform(-bounds[:, None], bounds[:, None], (4, n))
    cos, sin = np.cos(angle) / (1 + growth), np.sin(angle) / (1 + growth)
    x, y = 2 * right, 2 * down
    rows = [[cos, -sin, sin * y - cos * x], [sin, cos, -sin * x - cos * y]]
    maps = np.array(rows, dtype=np.float32).transpose(2, 0, 1).copy()  # from new places to old
    return affine_grid(torch.from_numpy(maps), [n, 1, SIDE, SIDE], align_corners=False)


def _bends(n: int, rng: np.random.Generator, strength: float) -> Tensor:
    """Return smooth random displacements (n, 28, 28, 2); the side of an image is 2."""
    drawn = rng.standard_normal((n, 2, KNOTS, KNOTS), dtype=np.float32)
    knots = torch.from_numpy(drawn) * (strength * BEND * 2 / SIDE)
    field = interpolate(knots, size=(SIDE, SIDE), mode="bicubic", align_corners=True)
    return field.permute(0, 2, 3, 1)


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
    check_images(images)
    for name, value in (("degrees", degrees), ("shift", shift), ("scale", scale)):
        check_number(value, name)
    if scale >= 1.0:
        raise DomainError(f"scale is {scale!r:.60}; it must be a number, at least 0, and below 1")
    bounds = np.array([np.deg2rad(degrees), scale, shift, shift])
    pixels = torch.from_numpy(images.astype(np.float32)).unsqueeze(1)
    moved = grid_sample(pixels, _affine(len(images), rng, bounds), align_corners=False)
    return moved.squeeze(1).round().clamp(0, 255).byte().numpy()
