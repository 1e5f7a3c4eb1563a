"""Subsets of domains by their atoms, and the maxima over very many of them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pinesy._common.masks import (
    BoolArray,
    Numbers,
    classes_of,
    distinct_pairs,
    mask_at,
    mask_lists,
    run_starts,
)
from pinesy.engine.circuit import MAX, MIN, ONE, ZERO
from pinesy.engine.folds import Folds


class Subsets(NamedTuple):
    """Subsets of the values of an attribute, in the atoms that they are made of.

    Attributes
    ----------
    atom_of : the atom of each value
    n_atoms : how many atoms there are
    rows, atoms : the entries, sorted by row and atom
    inverted : for each subset whether its entries are the atoms that are not in it
    """

    atom_of: Numbers
    n_atoms: int
    rows: Numbers
    atoms: Numbers
    inverted: BoolArray

    @classmethod
    def of(cls, size: int, masks: Sequence[int]) -> "Subsets":
        """Find the atoms of some subsets of ``0 .. size-1``, in time linear in their sizes."""
        rows, places, inverted = mask_lists(size, masks)
        atom_of, n_atoms = classes_of(size, rows, places)
        rows, atoms, _ = distinct_pairs(rows, atom_of[places])
        return cls(atom_of, n_atoms, rows, atoms, inverted)

    def masks(self, given: Sequence[int]) -> list[int]:
        """Return the atoms as masks: those of the subsets themselves, where they are atoms."""
        starts = run_starts(self.rows)
        alone = np.diff(starts, append=len(self.rows)) == 1
        own = starts[alone & ~self.inverted[self.rows[starts]]]
        known = dict(zip(self.atoms[own].tolist(), self.rows[own].tolist(), strict=True))
        order = np.argsort(self.atom_of, kind="stable")
        ends = np.cumsum(np.bincount(self.atom_of, minlength=self.n_atoms)).tolist()
        return [
            given[known[atom]] if atom in known else mask_at(order[start:end])
            for atom, (start, end) in enumerate(pairwise([0, *ends]))
        ]


class SubsetFolds(Folds):
    """Folds of possibilities, whose first leaves are the atoms of attributes.

    Parameters
    ----------
    sizes : how many atoms each attribute has
    normalised : whether ``Pi(D_a) = 1`` is known for each of them
    n_others : how many more leaves there are
    """

    def __init__(self, sizes: Sequence[int], normalised: Sequence[bool], n_others: int) -> None:
        super().__init__(sum(sizes) + n_others)
        ends = np.cumsum([2, *sizes]).tolist()
        self.atoms = [np.arange(a, b) for a, b in pairwise(ends)]
        self.others = np.arange(ends[-1], self.first)
        #: For each constant and leaf the attribute whose atom it is, if that is normalised, or -1.
        self._owner = np.full(self.first, -1, dtype=np.int64)
        for a, (atoms, known) in enumerate(zip(self.atoms, normalised, strict=True)):
            self._owner[atoms] = a if known else -1

    def measures(self, subsets: Subsets, atoms: Numbers) -> Numbers:
        """Return the possibility of each subset from those of the atoms."""
        inverted = subsets.inverted
        result = np.empty(len(inverted), dtype=np.int64)
        for side in (False, True):
            mine = inverted == side
            if mine.any():
                listed = mine[subsets.rows]
                entries = subsets.rows[listed], subsets.atoms[listed]
                result[mine] = self._largest(len(inverted), *entries, atoms, side)[mine]
        result[self._is_whole(subsets, atoms)] = ONE
        return result

    def _is_whole(self, subsets: Subsets, values: Numbers) -> BoolArray:
        """Tell which subsets take in all atoms of some normalised attribute."""
        whole = np.zeros(len(subsets.inverted), dtype=bool)
        leaves, columns = np.unique(values, return_index=True)  # of equal values the first
        owners = self._owner[leaves[leaves < self.first]]
        for a in np.unique(owners[owners >= 0]).tolist():
            mine = np.zeros(len(values), dtype=bool)
            mine[columns[: len(owners)][owners == a]] = True
            if np.count_nonzero(mine) == len(self.atoms[a]):
                listed = np.bincount(subsets.rows[mine[subsets.atoms]], minlength=len(whole))
                whole |= listed == np.where(subsets.inverted, 0, len(self.atoms[a]))
        return whole

    def _largest(
        self, n_rows: int, rows: Numbers, columns: Numbers, atoms: Numbers, all_but: bool
    ) -> Numbers:
        """Return the max over each row's columns, or over all others."""
        if all_but:
            nothing = np.full_like(columns, ZERO)
            return self.over(MAX, atoms, n_rows, (rows, columns, nothing))
        if np.bincount(columns, minlength=1).max() <= 1:  # rows have nothing in common
            return self.lists(MAX, n_rows, rows, atoms[columns])
        none = np.full_like(atoms, ZERO)
        return self.over(MAX, none, n_rows, (rows, columns, atoms[columns]))

    def maxima(self, n_rows: int, rows: Numbers, values: Numbers) -> Numbers:
        """Return the max over each row's values, by way of what minima have in common.

        Min distributes over max: ``max_k min(x, y_k) = min(x, max_k y_k)``. Entries are distinct.
        """
        ops, operands = self.operations()
        is_min = values >= self.first
        is_min[is_min] = ops[values[is_min] - self.first] == MIN
        sides = np.stack([values, np.full_like(values, ONE)])
        sides[:, is_min] = operands[values[is_min] - self.first].T
        shared = [distinct_pairs(rows, side) for side in sides]
        k = int(len(shared[1][0]) < len(shared[0][0]))
        outer_rows, outer, group = shared[k]
        if 2 * len(outer) > len(rows):
            return self._over_values(n_rows, rows, values)
        inner = self._over_values(len(outer), group, sides[1 - k])
        return self._of_products(n_rows, outer_rows, outer, inner)

    def _of_products(self, n_rows: int, rows: Numbers, one: Numbers, two: Numbers) -> Numbers:
        """Return the max of ``min(one, two)`` over each row, equal seconds taken together."""
        rows, two, group = distinct_pairs(rows, two)
        one = self._over_values(len(rows), group, one)
        return self._over_values(n_rows, rows, self.pairs(MIN, one, two))

    def _over_values(self, n_rows: int, rows: Numbers, values: Numbers) -> Numbers:
        distinct, column = np.unique(values, return_inverse=True)
        row_of, column_of, _ = distinct_pairs(rows, column.reshape(-1))
        none = np.zeros(0, dtype=np.int64)
        subsets = Subsets(none, len(distinct), row_of, column_of, np.zeros(n_rows, dtype=bool))
        return self.measures(subsets, distinct)
