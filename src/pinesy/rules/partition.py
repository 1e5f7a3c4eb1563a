"""The partition of an output domain by the conclusions of its rules, and its prefix tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import mask_table
from pinesy._common.validation import BoolArray, shape_of
from pinesy.exceptions import DomainError, ShapeError


@dataclass(frozen=True, repr=False, eq=False)
class Partition:
    """The non-empty cells of the partition formed by ``Q_1, ..., Q_n`` and their complements.

    It is ``Lambda^(n)`` [def:LambdaN, lemma:LambdaN]. The cell of a value `u` is given by its signs
    ``([u in Q_1], ..., [u in Q_n])``. Cells come in the paper's order [def:orderrel]: the last rule
    is compared first, ``+`` before ``-``. Cost ``O(|D_b| n)``;
    none of the ``2^n`` candidate cells is ever built.

    Attributes
    ----------
    signs : bool array (omega, n)
        ``signs[mu, j]`` is true if cell `mu` lies inside ``Q_{j+1}``.
    cell_of : int array (|D_b|,)
        The cell of each value.
    """

    signs: BoolArray
    cell_of: npt.NDArray[np.intp]

    def __len__(self) -> int:
        """Return the number of cells, omega."""
        return len(self.signs)

    @property
    def tuples(self) -> list[tuple[int, ...]]:
        """The cells as the paper writes them, such as ``(-1, 2, -3, 4)``."""
        numbers = np.arange(1, self.signs.shape[1] + 1)
        return [tuple(row) for row in np.where(self.signs, numbers, -numbers).tolist()]

    def cells(self, domain: tuple[object, ...]) -> list[tuple[object, ...]]:
        """Return the values ``sigma^(n)(mu)`` of each cell [eq:sigman], in domain order."""
        if not isinstance(domain, Sequence) or len(domain) != len(self.cell_of):
            raise DomainError(f"{domain!r:.60} is no domain of {len(self.cell_of)} values")
        return [
            tuple(domain[i] for i in np.flatnonzero(self.cell_of == mu)) for mu in range(len(self))
        ]

    def possibilities(self, degrees: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the possibility of each cell ``(..., omega)`` for distributions ``(..., |D_b|)``.

        These are the vectors of [eq:otilde] and, for training samples, of [eq:upsigma].
        """
        if (shape_of(degrees) or ())[-1:] != self.cell_of.shape:
            n = len(self.cell_of)
            raise ShapeError(f"distributions on {n} values end in {n} columns; got {degrees!r:.60}")
        order = np.argsort(self.cell_of, kind="stable")
        if len(self) == len(order):
            return degrees[..., order]
        starts = np.searchsorted(self.cell_of[order], np.arange(len(self)))
        cells: npt.NDArray[np.float64] = np.maximum.reduceat(degrees[..., order], starts, axis=-1)
        return cells

    @cached_property
    def tree_nodes(self) -> int:
        """The size ``T = sum_i |Lambda^(i)|`` of the prefix tree: its distinct sign prefixes."""
        prefix = np.zeros(len(self), dtype=np.intp)
        total = 0
        for column in self.signs.T:
            distinct, prefix = np.unique(2 * prefix + column, return_inverse=True)
            total += len(distinct)
        return total

    def __repr__(self) -> str:
        cells, rules = self.signs.shape
        return f"Partition({cells} cells of {len(self.cell_of)} values by {rules} rules)"


@lru_cache(maxsize=1024)
def partition_of(size: int, masks: tuple[int, ...]) -> Partition:
    """Return the partition of ``0 .. size-1`` by the subsets given as bit masks."""
    table = mask_table(size, masks)
    # [def:orderrel]: the last rule counts most, and + (a 0 bit here) precedes -.
    keys = _pack_rows(~table[:, ::-1])
    order = np.lexsort(keys.T[::-1])
    ranked = keys[order]
    new = np.ones(size, dtype=bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    cell_of = np.empty(size, dtype=np.intp)
    cell_of[order] = np.cumsum(new) - 1
    signs = table[order[new]]
    for shared in (signs, cell_of):  # cached for all rule sets with these conclusions
        shared.setflags(write=False)
    return Partition(signs, cell_of)


def _pack_rows(rows: BoolArray) -> npt.NDArray[np.uint64]:
    """Return rows of bits packed into rows of uint64, which sort in the same order."""
    packed = np.packbits(rows, axis=1)
    padded = np.zeros((len(rows), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(">u8").astype(np.uint64)
