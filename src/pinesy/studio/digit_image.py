"""Drawings and pictures of digits as images like those of MNIST."""

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.studio.question import Image

#: Pixels along a side: of the image, and of the digit in it.
SIDE, DIGIT = 28, 20
#: Grey levels below it are paper.
PAPER = 32


def as_digit(image: Image) -> Image:
    """Return a drawing, or a picture of any size, as an image like those of MNIST.

    A digit of MNIST is ink on black paper (0 paper, 255 ink), its larger side scaled to 20 pixels,
    in an image of 28 x 28 whose middle is the ink's centre of mass.
    Dark ink on light paper is inverted: the paper is what most of the border is.

    Examples
    --------
    >>> drawing = np.zeros((50, 50), np.uint8)
    >>> drawing[5:45, 20:24] = 255
    >>> seen = as_digit(drawing)
    >>> seen.shape, np.flatnonzero(seen.any(axis=1))[[0, -1]].tolist()
    ((28, 28), [4, 23])
    """
    border = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
    ink = image.astype(np.float64) if np.median(border) < 128 else 255.0 - image
    rows, columns = (np.flatnonzero((ink >= PAPER).any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        raise DataError("there is nothing on this picture: draw a digit")
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    factor = DIGIT / max(ink.shape)
    height, width = (max(1, round(size * factor)) for size in ink.shape)
    small = averages(ink.shape[0], height) @ ink @ averages(ink.shape[1], width).T
    return _centred(np.rint(small).astype(np.uint8))


def averages(size: int, new: int) -> FloatArray:
    """Return the matrix (new, size) that resamples pixels by area averaging.

    Examples
    --------
    >>> averages(3, 2).round(3).tolist()
    [[0.667, 0.333, 0.0], [0.0, 0.333, 0.667]]
    """
    edges = np.arange(new + 1) * (size / new)
    starts, ends = edges[:-1, None], edges[1:, None]
    pixels = np.arange(size)
    overlap = np.minimum(ends, pixels + 1) - np.maximum(starts, pixels)
    return np.asarray(np.maximum(overlap, 0.0) * (new / size))


def _centred(digit: Image) -> Image:
    """Return an image with the centre of mass of a digit in the middle."""
    image = np.zeros((SIDE, SIDE), np.uint8)
    starts = []
    for axis, size in enumerate(digit.shape):
        masses = digit.sum(axis=1 - axis, dtype=np.float64)
        centre = (masses @ np.arange(size) + 0.5 * masses.sum()) / masses.sum()
        starts.append(min(max(round(SIDE / 2 - centre), 0), SIDE - size))
    top, left = starts
    image[top : top + digit.shape[0], left : left + digit.shape[1]] = digit
    return image
