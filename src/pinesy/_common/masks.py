"""Subsets of a domain as integers: bit `i` is 1 if ``domain[i]`` is in it."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray

#: Indices of values and rows.
Numbers = npt.NDArray[np.int64]

#: Number of indices up to which a mask is read bit by bit, and number of bits up to which each bit
#: may copy the mask.
FEW, SHORT = 4, 1024


def positions(mask: int) -> list[int]:
    """Return the indices of a mask, in order.

    Examples
    --------
    >>> positions(0b1011)
    [0, 1, 3]
    """
    if mask.bit_length() > SHORT:
        return _unpack_indices(mask, mask.bit_length()).tolist()  # type: ignore[no-any-return]
    indices = []
    while mask:
        lowest = mask & -mask
        indices.append(lowest.bit_length() - 1)
        mask ^= lowest
    return indices


def mask_of(indices: Iterable[int]) -> int:
    """Return the mask of some indices.

    Examples
    --------
    >>> mask_of([0, 1, 3])
    11
    """
    indices = list(indices)
    highest = max(indices, default=0)
    if highest > SHORT and len(indices) > FEW:
        return mask_of_array(np.array(indices))
    mask = 0
    for index in indices:
        mask |= 1 << index
    return mask


def contains(mask: int, index: int) -> bool:
    """Return whether an index is in a mask."""
    return bool(mask >> index & 1)


def mask_table(size: int, masks: Iterable[int]) -> BoolArray:
    """Return the table ``[index i in subset j]`` of shape ``(size, number of masks)``.

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


def group_masks(groups: Iterable[Hashable], size: int) -> dict[Hashable, int]:
    """Return the mask of the indices of each group, given the group of each index.

    Examples
    --------
    >>> group_masks("abca", 4)
    {'a': 9, 'b': 2, 'c': 4}
    """
    rows: dict[Hashable, bytearray] = {}
    for index, key in enumerate(groups):
        if key not in rows:
            rows[key] = bytearray((size + 7) // 8)
        rows[key][index >> 3] |= 1 << (index & 7)
    return {key: int.from_bytes(row, "little") for key, row in rows.items()}


def run_starts(keys: Numbers) -> Numbers:
    """Return where each run of equal keys begins.

    Examples
    --------
    >>> run_starts(np.array([4, 4, 7, 4])).tolist()
    [0, 2, 3]
    """
    return np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])


def distinct_pairs(rows: Numbers, values: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the distinct pairs of a row and a value, sorted.

    Returns
    -------
    the rows of the distinct pairs, their values, and for each given pair the index of its distinct
    one (the inverse, as `numpy.unique` returns it)

    Examples
    --------
    >>> [p.tolist() for p in distinct_pairs(np.array([2, 1, 2]), np.array([5, 0, 5]))]
    [[1, 2], [0, 5], [1, 0, 1]]
    """
    base = int(values.max(initial=0)) + 1
    keys, index = np.unique(rows * base + values, return_inverse=True)
    return keys // base, keys % base, index.reshape(-1)


def mask_lists(size: int, masks: Sequence[int]) -> tuple[Numbers, Numbers, BoolArray]:
    """Return subsets as lists of indices, or their complements where these are smaller.

    Returns
    -------
    for each entry the index of its mask, and the index of its value; for each mask whether its
    entries are those of the complement

    Examples
    --------
    >>> [part.tolist() for part in mask_lists(3, [0b010, 0b110])]
    [[0, 1], [1, 0], [False, True]]
    """
    full = (1 << size) - 1
    counts = np.array([mask.bit_count() for mask in masks], dtype=np.int64)
    inverted = 2 * counts > size
    counts = np.where(inverted, size - counts, counts)
    entries = np.empty(int(counts.sum()), dtype=np.int64)
    ends = np.cumsum(counts).tolist()
    for mask, turned, n, end in zip(masks, inverted.tolist(), counts.tolist(), ends, strict=True):
        subset = full ^ mask if turned else mask
        if n == 1:
            entries[end - 1] = subset.bit_length() - 1
        else:
            entries[end - n : end] = (
                positions(subset) if n <= FEW else _unpack_indices(subset, size)
            )
    return np.repeat(np.arange(len(masks)), counts), entries, inverted


def _unpack_indices(mask: int, size: int) -> Numbers:
    """Return the indices of a mask of `size` bits, in time linear in `size`."""
    packed = np.frombuffer(mask.to_bytes((size + 7) // 8, "little"), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(packed, bitorder="little"))


def group_by_rows(size: int, rows: Numbers, indices: Numbers) -> tuple[Numbers, int]:
    """Group the indices that occur in the same rows.

    Linear in the number of entries ``(rows[k], indices[k])``.

    Returns
    -------
    the group of each index, numbered by first occurrence; and the number of groups

    Examples
    --------
    >>> group_by_rows(4, np.array([0, 0, 1]), np.array([1, 3, 3]))[0].tolist()
    [0, 1, 0, 2]
    """
    order = np.lexsort((rows, indices))
    content, ends = rows[order].tobytes(), np.cumsum(np.bincount(indices, minlength=size))
    width = rows.itemsize
    known: dict[bytes, int] = {}
    start, groups = 0, []
    for end in (ends * width).tolist():
        groups.append(known.setdefault(content[start:end], len(known)))
        start = end
    return np.array(groups, dtype=np.int64), len(known)


def mask_of_array(indices: Numbers) -> int:
    """Return the mask of an array of indices, as `mask_of` does, but faster for many.

    Examples
    --------
    >>> mask_of_array(np.array([0, 1, 3]))
    11
    """
    if len(indices) == 1:
        return 1 << int(indices[0])
    bits = np.zeros(int(indices.max()) + 1, dtype=bool)
    bits[indices] = True
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
