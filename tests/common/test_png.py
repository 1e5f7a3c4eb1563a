"""Images as PNG files."""

from base64 import b64decode
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from pinesy.display.images import data_uri, png
from pinesy.exceptions import DataError


@pytest.mark.parametrize("shape", [(1, 1), (28, 28), (3, 7)])
def test_another_reader_sees_the_same_pixels(shape: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    seen = imread(BytesIO(png(image)), format="png")
    assert (np.rint(seen * 255) == image).all()


def test_an_address_holds_the_file() -> None:
    image = np.eye(4, dtype=np.uint8) * 255
    head, _, content = data_uri(image).partition(",")
    assert head == "data:image/png;base64"
    assert b64decode(content) == png(image)


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (np.zeros((2, 2)), r"float64 \(2, 2\)"),
        (np.zeros((2, 2, 3), np.uint8), r"uint8 \(2, 2, 3\)"),
        (np.zeros((0, 2), np.uint8), "no pixels"),
        ("picture", r"got str \(\)"),
    ],
)
def test_what_is_no_image(image: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        png(image)
