"""Min and max of very many values, built with vectorised NumPy.

A value is an id, as in `Template`: 0 and 1 are the constants, then come the leaves, then one id for
each operation. Only the laws that cost nothing are applied: ``min(x, 1) = x``,
``min(x, 0) = 0``, ``min(x, x) = x`` and their duals; equal operations of one call are made once.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pinesy._common.masks import (
    Numbers,
    distinct_pairs,
    group_by_rows,
    mask_lists,
    mask_of_array,
    run_starts,
)
from pinesy._common.validation import BoolArray
from pinesy.engine.circuit import MAX, MIN, ONE, ZERO

# The id of an operation is the id of its neutral element (MAX and ZERO are 0, MIN and ONE are 1);
# its absorbing element is the other constant, ``1 - op``.
#: Rows, columns and values of the entries of a sparse table, sorted by row and column.
Entries = tuple[Numbers, Numbers, Numbers]


class Folds:
    """A growing list of binary min and max operations.

    Parameters
    ----------
    n_leaves : the number of leaves
    """

    def __init__(self, n_leaves: int) -> None:
        self.first = 2 + n_leaves
        self.count = self.first
        self._parts: list[tuple[int, Numbers, Numbers]] = []

    def operations(self) -> tuple[Numbers, Numbers]:
        """Return the operations ``(n,)``, MIN or MAX, and their operands ``(n, 2)``."""
        if not self._parts:
            return np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
        ops = np.concatenate([np.full(len(operands), op) for op, operands, _ in self._parts])
        sides = [np.concatenate([part[k] for part in self._parts]) for k in (1, 2)]
        return ops, np.stack(sides, axis=1)

    def needed_values(self, outputs: Numbers) -> BoolArray:
        """Return which values the outputs depend on, as a mask over all values."""
        _, operands = self.operations()
        is_needed = np.zeros(self.count, dtype=bool)
        new = np.unique(outputs)
        while len(new):
            is_needed[new] = True
            operands_of_new = np.unique(operands[new[new >= self.first] - self.first])
            new = operands_of_new[~is_needed[operands_of_new]]
        return is_needed

    def combine(self, op: int, left: Numbers, right: Numbers) -> Numbers:
        """Return ``op(left, right)``, element by element."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        result = np.where(low == 1 - op, 1 - op, high)
        new = (low != high) & (low > ONE)
        left, right, pair_of = distinct_pairs(low[new], high[new])
        result[new] = self.count + pair_of
        if len(left):
            self._parts.append((op, left, right))
            self.count += len(left)
        return result

    def reduce_lists(self, op: int, n_rows: int, rows: Numbers, values: Numbers) -> Numbers:
        """Return `op` over the values of each row; the neutral element for an empty row."""
        rows, values, _ = distinct_pairs(rows, values)
        while len(rows) and (rows[1:] == rows[:-1]).any():
            starts = run_starts(rows)
            local = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
            first = np.flatnonzero(local % 2 == 0)
            has_second = first + 1 < len(rows)
            has_second[has_second] = rows[first[has_second] + 1] == rows[first[has_second]]
            merged = values[first]
            merged[has_second] = self.combine(op, merged[has_second], values[first[has_second] + 1])
            rows, values = rows[first], merged
        result = np.full(n_rows, op, dtype=np.int64)
        result[rows] = values
        return result

    def reduce_rows(self, op: int, defaults: Numbers, n_rows: int, entries: Entries) -> Numbers:
        """Return `op` over all columns of each row: the entry, or else the column's default."""
        rows, columns, values = entries
        starts = run_starts(rows)
        row_index = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
        trees = np.zeros(len(defaults), dtype=np.int64)
        row_values, tree_defaults = self.reduce_trees(
            op, defaults, trees, (row_index, columns, values)
        )
        result = np.full(n_rows, tree_defaults[0] if len(tree_defaults) else op, dtype=np.int64)
        result[rows[starts]] = row_values
        return result

    def reduce_trees(
        self, op: int, defaults: Numbers, trees: Numbers, entries: Entries
    ) -> tuple[Numbers, Numbers]:
        """Return `op` over the columns of a tree for each row, with few entries a row.

        Columns are merged two by two, level by level, and a reduction of defaults that rows share
        is computed once. Rows with one entry each cost linearly many operations, rows with random
        halves of `n` columns ``n / log n`` each.

        Parameters
        ----------
        defaults : the value of each column where a row has no entry
        trees : the tree of each column, ``0, 0, ..., 1, ...``; the entries of a row are in one tree
        entries : the values other than defaults; rows are 0, 1, ... without gaps

        Returns
        -------
        row_values : the reduction of each row
        tree_defaults : the reduction of the defaults of each tree
        """
        rows, columns, values = entries
        n_rows = int(rows[-1]) + 1 if len(rows) else 0
        is_single = np.bincount(rows, minlength=n_rows)[rows] == 1
        if is_single.all() and (defaults == op).all():
            return values, defaults[run_starts(trees)]
        single_rows, single_columns, single_values = (part[is_single] for part in entries)
        entries = rows[~is_single], columns[~is_single], values[~is_single]
        levels = []
        while len(defaults) > 1 and (trees[1:] == trees[:-1]).any():
            first, parent, siblings = _column_pairs(trees, defaults, op)
            levels.append((parent, siblings))
            entries = self._merge_entries(op, parent, siblings, entries)
            defaults = self.combine(op, defaults[first], siblings[first])
            trees = trees[first]
        result = np.empty(n_rows, dtype=np.int64)
        result[entries[0]] = entries[2]
        others = np.full(len(trees), op, dtype=np.int64)  # of each column, all other defaults
        for parent, siblings in reversed(levels):
            others = self.combine(op, others[parent], siblings)
        result[single_rows] = self.combine(op, others[single_columns], single_values)
        return result, defaults

    def _merge_entries(
        self, op: int, parent_of: Numbers, sibling_defaults: Numbers, entries: Entries
    ) -> Entries:
        """Return the entries of the parent columns: each combined with its sibling."""
        rows, columns, values = entries
        parent, siblings = parent_of[columns], sibling_defaults[columns]
        same = (rows[1:] == rows[:-1]) & (parent[1:] == parent[:-1])
        siblings[:-1][same] = values[1:][same]
        first = np.append(True, ~same)[: len(rows)]
        return rows[first], parent[first], self.combine(op, values[first], siblings[first])


def _column_pairs(
    trees: Numbers, defaults: Numbers, neutral: int
) -> tuple[Numbers, Numbers, Numbers]:
    """Pair the columns of each tree, the last one of an odd number with a neutral element.

    Returns the first column of each pair, the index of each column's pair, and the default of each
    column's sibling.
    """
    starts = run_starts(trees)
    sizes = np.diff(starts, append=len(trees))
    local = np.arange(len(trees)) - np.repeat(starts, sizes)
    is_first = local % 2 == 0
    is_odd = (local == np.repeat(sizes, sizes) - 1) & is_first
    sibling = np.minimum(np.arange(len(trees)) + 1 - 2 * (local % 2), len(defaults) - 1)
    siblings = np.where(is_odd, neutral, defaults[sibling])
    return np.flatnonzero(is_first), np.cumsum(is_first) - 1, siblings


class Subsets(NamedTuple):
    """Subsets of a domain as unions of atoms: classes of values that are in the same subsets.

    Attributes
    ----------
    atom_of : the atom of each value
    n_atoms : the number of atoms
    rows, atoms : pairs of a subset and an atom, sorted
    inverted : for each subset whether its pairs list the atoms of its complement
    """

    atom_of: Numbers
    n_atoms: int
    rows: Numbers
    atoms: Numbers
    inverted: BoolArray

    @classmethod
    def from_masks(cls, size: int, masks: Sequence[int]) -> "Subsets":
        """Return the subsets of ``0 .. size-1`` of some masks, in time linear in their sizes."""
        rows, members, inverted = mask_lists(size, masks)
        atom_of, n_atoms = group_by_rows(size, rows, members)
        rows, atoms, _ = distinct_pairs(rows, atom_of[members])
        return cls(atom_of, n_atoms, rows, atoms, inverted)

    def atom_masks(self, subset_masks: Sequence[int]) -> list[int]:
        """Return the mask of each atom; an atom that is a subset shares the mask of the subset."""
        starts = run_starts(self.rows)
        is_single = np.diff(starts, append=len(self.rows)) == 1
        singles = starts[is_single & ~self.inverted[self.rows[starts]]]
        known = dict(zip(self.atoms[singles].tolist(), self.rows[singles].tolist(), strict=True))
        order = np.argsort(self.atom_of, kind="stable")
        ends = np.cumsum(np.bincount(self.atom_of, minlength=self.n_atoms)).tolist()
        return [
            subset_masks[known[atom]] if atom in known else mask_of_array(order[start:end])
            for atom, (start, end) in enumerate(pairwise([0, *ends]))
        ]


class SubsetFolds(Folds):
    """Min and max of possibilities, whose first leaves are the atoms of attributes.

    Parameters
    ----------
    sizes : the number of atoms of each attribute
    normalised : for each attribute whether ``Pi(D_a) = 1`` is known
    n_others : the number of other leaves
    """

    def __init__(self, sizes: Sequence[int], normalised: Sequence[bool], n_others: int) -> None:
        super().__init__(sum(sizes) + n_others)
        ends = np.cumsum([2, *sizes]).tolist()
        self.atoms = [np.arange(a, b) for a, b in pairwise(ends)]
        self.others = np.arange(ends[-1], self.first)
        #: The attribute of each atom if it is normalised; -1 for all other constants and leaves.
        self._owner = np.full(self.first, -1, dtype=np.int64)
        for a, (atoms, known) in enumerate(zip(self.atoms, normalised, strict=True)):
            self._owner[atoms] = a if known else -1

    def subset_possibilities(self, subsets: Subsets, atoms: Numbers) -> Numbers:
        """Return the possibility of each subset, given the possibilities of the atoms."""
        inverted = subsets.inverted
        result = np.empty(len(inverted), dtype=np.int64)
        for is_inverted in (False, True):
            selected = inverted == is_inverted
            if selected.any():
                listed = selected[subsets.rows]
                pairs = subsets.rows[listed], subsets.atoms[listed]
                maxima = self._pair_maxima(len(inverted), *pairs, atoms, is_inverted)
                result[selected] = maxima[selected]
        result[self._covers_domain(subsets, atoms)] = ONE
        return result

    def _covers_domain(self, subsets: Subsets, values: Numbers) -> BoolArray:
        """Return which subsets contain all atoms of a normalised attribute."""
        is_full = np.zeros(len(subsets.inverted), dtype=bool)
        leaves, columns = np.unique(values, return_index=True)  # of equal values the first
        owners = self._owner[leaves[leaves < self.first]]
        for a in np.unique(owners[owners >= 0]).tolist():
            is_atom = np.zeros(len(values), dtype=bool)
            is_atom[columns[: len(owners)][owners == a]] = True
            if np.count_nonzero(is_atom) == len(self.atoms[a]):
                listed = np.bincount(subsets.rows[is_atom[subsets.atoms]], minlength=len(is_full))
                is_full |= listed == np.where(subsets.inverted, 0, len(self.atoms[a]))
        return is_full

    def _pair_maxima(
        self, n_rows: int, rows: Numbers, columns: Numbers, atoms: Numbers, is_inverted: bool
    ) -> Numbers:
        """Return the max over the columns paired with each row, or over all other columns."""
        if is_inverted:
            zeros = np.full_like(columns, ZERO)
            return self.reduce_rows(MAX, atoms, n_rows, (rows, columns, zeros))
        if np.bincount(columns, minlength=1).max() <= 1:  # rows share no column
            return self.reduce_lists(MAX, n_rows, rows, atoms[columns])
        zeros = np.full_like(atoms, ZERO)
        return self.reduce_rows(MAX, zeros, n_rows, (rows, columns, atoms[columns]))

    def maxima(self, n_rows: int, rows: Numbers, values: Numbers) -> Numbers:
        """Return the max over the values of each row, common operands of minima factored out.

        Min distributes over max: ``max_k min(x, y_k) = min(x, max_k y_k)``. Pairs of a row and a
        value are distinct.
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
            return self._row_maxima(n_rows, rows, values)
        inner = self._row_maxima(len(outer), group, sides[1 - k])
        # Rows with equal inner maxima share a minimum too.
        rows, inner, group = distinct_pairs(outer_rows, inner)
        outer = self._row_maxima(len(rows), group, outer)
        return self._row_maxima(n_rows, rows, self.combine(MIN, outer, inner))

    def _row_maxima(self, n_rows: int, rows: Numbers, values: Numbers) -> Numbers:
        """Return the max over the values of each row."""
        distinct, column = np.unique(values, return_inverse=True)
        row_of, column_of, _ = distinct_pairs(rows, column.reshape(-1))
        none = np.zeros(0, dtype=np.int64)
        subsets = Subsets(none, len(distinct), row_of, column_of, np.zeros(n_rows, dtype=bool))
        return self.subset_possibilities(subsets, distinct)
