"""A stand-in for a network that reads digits."""

from typing import Any


def by_columns(images: Any) -> Any:
    """Stand for a network: the probability of a digit is its share of the ink, by columns."""
    ink = images.reshape(len(images), 28, 28)[:, :, 4:24].astype(float).sum(axis=1)
    parts = ink.reshape(len(images), 10, 2).sum(axis=2) + 1.0
    return parts / parts.sum(axis=1, keepdims=True)
