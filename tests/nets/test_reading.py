"""Whether a network that learned from answers calls things by their names."""

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute
from pinesy.exceptions import DataError, DomainError

pytest.importorskip("torch")

from pinesy.nets import reading

LABELS = np.repeat([0, 1, 2, 3], 5)


@pytest.mark.parametrize(
    ("names", "kind", "says", "accuracy"),
    [
        ([0, 1, 2, 3], "right", "right", 0.95),
        ([2, 1, 0, 3], "permuted", "permuted: 0 as 2, 2 as 0", 0.45),
        ([1, 2, 3, 0], "permuted", "permuted: 0 as 1, 1 as 2, 2 as 3, 3 as 0", 0.0),
        ([0, 1, 1, 3], "merged", "merged: 2 as 1", 0.7),
    ],
)
def test_readings(names: list[int], kind: str, says: str, accuracy: float) -> None:
    read = np.array(names)[LABELS]
    read[-1] = 2  # one image is read otherwise than its like
    found = reading(np.eye(4)[read], LABELS)
    assert (found.kind, str(found)) == (kind, says)
    assert found.accuracy == pytest.approx(accuracy)


def test_classes_without_images_are_not_spoken_of() -> None:
    assert reading(np.eye(4)[[3, 3]], np.array([3, 3])).read_as == {3: 3}


def test_as_many_labels_as_images() -> None:
    with raises_saying(DataError, "2 images and 1 labels"):
        reading(np.eye(2), np.array([1]))


def test_values_are_named() -> None:
    bar = Attribute("bar", ["top", "middle", "bottom"])
    read = reading(np.eye(3)[[1, 1, 0, 2]], ["top", "top", "middle", "bottom"], bar)
    assert str(read) == "permuted: top as middle, middle as top"
    assert read.read_as["bottom"] == "bottom"
    with raises_saying(DomainError, "'bar', row 1", "no value 'side'"):
        reading(np.eye(3)[:2], ["top", "side"], bar)
