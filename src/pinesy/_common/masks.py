"""Subsets of a domain as integers: bit `i` tells whether ``domain[i]`` is in it."""

from collections.abc import Hashable, Iterable

import numpy as np
import numpy.typing as npt


def positions(mask: int) -> list[int]:
    """Return the positions of a mask, in order.

    Examples
    --------
    >>> positions(0b1011)
    [0, 1, 3]
    """
    places = []
    while mask:
        lowest = mask & -mask
        places.append(lowest.bit_length() - 1)
        mask ^= lowest
    return places


def mask_of(places: Iterable[int]) -> int:
    """Return the mask of some positions.

    Examples
    --------
    >>> mask_of([0, 1, 3])
    11
    """
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask


def contains(mask: int, position: int) -> bool:
    """Tell whether a position is in a mask."""
    return bool(mask >> position & 1)


def mask_table(size: int, masks: Iterable[int]) -> npt.NDArray[np.bool_]:
    """Return the table ``[position i in subset j]`` of shape ``(size, number of masks)``.

    Examples
    --------
    >>> mask_table(3, [0b001, 0b110]).astype(int)
    array([[1, 0],
           [0, 1],
           [0, 1]])
    """
    width = (size + 7) // 8
    packed = np.frombuffer(b"".join(m.to_bytes(width, "little") for m in masks), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(-1, width), axis=1, bitorder="little")
    return bits[:, :size].T.astype(bool)


def class_masks(classes: Iterable[Hashable], size: int) -> dict[Hashable, int]:
    """Return the masks of the positions of each class, given the class of each position.

    Examples
    --------
    >>> class_masks("abca", 4)
    {'a': 9, 'b': 2, 'c': 4}
    """
    rows: dict[Hashable, bytearray] = {}
    for position, key in enumerate(classes):
        if key not in rows:
            rows[key] = bytearray((size + 7) // 8)
        rows[key][position >> 3] |= 1 << (position & 7)
    return {key: int.from_bytes(row, "little") for key, row in rows.items()}
