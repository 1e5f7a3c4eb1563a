"""Images that are turned, moved and scaled a little, at random."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DomainError
from pinesy.nets.networks import check_images


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
        if not 0.0 <= value < (1.0 if name == "scale" else np.inf):
            limit = ", and below 1" * (name == "scale")
            raise DomainError(f"{name} is {value!r:.60}; it must be a number, at least 0{limit}")
    bounds = np.array([np.deg2rad(degrees), scale, shift, shift])[:, None]
    angle, growth, right, down = rng.uniform(-bounds, bounds, (4, len(images)))
    where = placement(angle, 1 + growth, right, down)
    grid = torch.nn.functional.affine_grid(where, [len(images), 1, 28, 28], align_corners=False)
    pixels = torch.from_numpy(images.astype(np.float32)).unsqueeze(1)
    moved = torch.nn.functional.grid_sample(pixels, grid, align_corners=False)
    return moved.squeeze(1).round().clamp(0, 255).byte().numpy()


def placement(angle: FloatArray, scale: FloatArray, right: FloatArray, down: FloatArray) -> Tensor:
    """Return the maps (n, 2, 3) from places in the new image to those in the old one.

    Coordinates go from -1 to 1, to the right and down, so that the side is 2.
    """
    cos, sin = np.cos(angle) / scale, np.sin(angle) / scale
    x, y = 2 * right, 2 * down
    rows = [[cos, -sin, sin * y - cos * x], [sin, cos, -sin * x - cos * y]]
    return torch.from_numpy(np.array(rows, dtype=np.float32).transpose(2, 0, 1).copy())
