"""Images turned, moved and scaled a little."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")

from messages import raises_saying
from nets.conftest import bars
from pinesy.exceptions import DataError, DomainError
from reproduction.splits import perturb

IMAGES = np.random.default_rng(1).integers(0, 256, (3, 28, 28), dtype=np.uint8)
INNER = (slice(None), slice(4, -4), slice(4, -4))


class _Most:
    """A generator that always draws the upper end, but of some draws the middle."""

    def __init__(self, *drawn: int) -> None:
        self._drawn = drawn

    def uniform(self, low: Any, high: Any, size: tuple[int, int]) -> npt.NDArray[Any]:
        chosen = np.isin(np.arange(4), self._drawn)[:, None]
        return np.broadcast_to(np.where(chosen, high, (low + high) / 2), size)


def most(*drawn: int) -> np.random.Generator:
    return cast(np.random.Generator, _Most(*drawn))


def test_no_perturbation_is_the_image_itself() -> None:
    same = perturb(IMAGES, np.random.default_rng(0), degrees=0, shift=0, scale=0)
    assert (same == IMAGES).all()


def test_the_angle_is_anticlockwise() -> None:
    turned = perturb(IMAGES, most(0), degrees=90)
    assert (turned == np.rot90(IMAGES, axes=(1, 2))).all()


def test_a_shift_of_whole_pixels_is_a_roll() -> None:
    right = perturb(IMAGES, most(2), shift=3 / 28)
    down = perturb(IMAGES, most(3), shift=3 / 28)
    assert (right[INNER] == np.roll(IMAGES, 3, axis=2)[INNER]).all()
    assert (down[INNER] == np.roll(IMAGES, 3, axis=1)[INNER]).all()
    assert (right[:, :, :3] == 0).all()
    assert (down[:, :3] == 0).all()


def test_a_turned_image_is_moved_as_far_as_one_that_is_not() -> None:
    both = perturb(IMAGES, most(0, 2, 3), degrees=90, shift=2 / 28)
    moved = np.roll(np.rot90(IMAGES, axes=(1, 2)), (2, 2), axis=(1, 2))
    assert (both[INNER] == moved[INNER]).all()


def test_the_scale_is_that_of_what_is_on_the_image() -> None:
    square = np.zeros((1, 28, 28), np.uint8)
    square[:, 9:19, 9:19] = 200  # a side of 10
    larger = perturb(square, most(1), scale=0.2)
    assert larger.sum() / square.sum() == pytest.approx(1.2**2, rel=0.02)


def test_each_image_is_perturbed_in_its_own_way_and_little() -> None:
    images, _ = bars(2)
    same = np.repeat(images[:1], 5, axis=0)
    found = perturb(same, np.random.default_rng(0))
    assert len(np.unique(found.reshape(5, -1), axis=0)) == 5
    assert np.abs(found.astype(int) - same).mean() < 20
    assert found.dtype == np.uint8


def test_the_same_seed_gives_the_same_images_and_the_original_stays() -> None:
    before = IMAGES.copy()
    one, two = (perturb(IMAGES, np.random.default_rng(7)) for _ in range(2))
    assert (one == two).all()
    assert (one != perturb(IMAGES, np.random.default_rng(8))).any()
    assert (before == IMAGES).all()


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("degrees", -1.0, "degrees is -1.0; it must be a number, at least 0"),
        ("shift", np.nan, "shift is nan"),
        ("scale", 1.0, "scale is 1.0; it must be a number, at least 0, and below 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(option: str, value: float, says: str) -> None:
    with raises_saying(DomainError, says):
        perturb(IMAGES, np.random.default_rng(0), **{option: value})


def test_only_images_are_perturbed() -> None:
    with raises_saying(DataError, "give uint8"):
        perturb(IMAGES / 255, np.random.default_rng(0))
