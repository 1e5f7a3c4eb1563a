"""Min and max of very many values, built by whole arrays and without comparing any two.

A value is a number, as in `Template`: 0 and 1 stand for the constants, then come the leaves, then
one for each operation. Only the laws that cost nothing are applied: ``min(x, 1) = x``,
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

# The neutral element of an operation is the number of the constant that the operation itself is
# (MAX and ZERO are 0, MIN and ONE are 1), and the absorbing element is the other one.


class Folds:
    """Operations of two operands, appended in arrays.

    Parameters
    ----------
    n_leaves : how many leaves there are
    """

    def __init__(self, n_leaves: int) -> None:
        self.first = 2 + n_leaves
        self.count = self.first
        self._parts: list[tuple[int, Numbers, Numbers]] = []

    def operations(self) -> tuple[Numbers, Numbers]:
        """Return each operation, and its operands as an array ``(n, 2)``."""
        if not self._parts:
            return np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
        ops = np.concatenate([np.full(len(operands), op) for op, operands, _ in self._parts])
        sides = [np.concatenate([part[k] for part in self._parts]) for k in (1, 2)]
        return ops, np.stack(sides, axis=1)

    def needed(self, outputs: Numbers) -> BoolArray:
        """Return which values some outputs come from."""
        _, operands = self.operations()
        is_needed = np.zeros(self.count, dtype=bool)
        new = np.unique(outputs)
        while len(new):
            is_needed[new] = True
            operands_of_new = np.unique(operands[new[new >= self.first] - self.first])
            new = operands_of_new[~is_needed[operands_of_new]]
        return is_needed

    def pairs(self, op: int, left: Numbers, right: Numbers) -> Numbers:
        """Return `op` of the values at each place."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        result = np.where(low == 1 - op, 1 - op, high)
        new = (low != high) & (low > ONE)
        left, right, pair_of = distinct_pairs(low[new], high[new])
        result[new] = self.count + pair_of
        if len(left):
            self._parts.append((op, left, right))
            self.count += len(left)
        return result

    def lists(self, op: int, n_rows: int, rows: Numbers, values: Numbers) -> Numbers:
        """Return `op` over the values listed for each row; the neutral element for no value."""
        rows, values, _ = distinct_pairs(rows, values)
        while len(rows) and (rows[1:] == rows[:-1]).any():
            starts = run_starts(rows)
            local = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
            first = np.flatnonzero(local % 2 == 0)
            has = first + 1 < len(rows)
            has[has] = rows[first[has] + 1] == rows[first[has]]
            merged = values[first]
            merged[has] = self.pairs(op, merged[has], values[first[has] + 1])
            rows, values = rows[first], merged
        result = np.full(n_rows, op, dtype=np.int64)
        result[rows] = values
        return result

    def over(
        self,
        op: int,
        defaults: Numbers,
        n_rows: int,
        entries: tuple[Numbers, Numbers, Numbers],
    ) -> Numbers:
        """Return for each row `op` over columns: the default of each but where an entry is.

        Entries are rows, columns and values, sorted by row and column; see `forest`.
        """
        rows, columns, values = entries
        starts = run_starts(rows)
        row_index = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
        trees = np.zeros(len(defaults), dtype=np.int64)
        folded, of_defaults = self.forest(op, defaults, trees, (row_index, columns, values))
        result = np.full(n_rows, of_defaults[0] if len(of_defaults) else op, dtype=np.int64)
        result[rows[starts]] = folded
        return result

    def forest(
        self,
        op: int,
        defaults: Numbers,
        trees: Numbers,
        entries: tuple[Numbers, Numbers, Numbers],
    ) -> tuple[Numbers, Numbers]:
        """Return `op` over columns, where rows have other values than the default in few of them.

        Columns are halved again and again, and what rows have in common in a part is computed once.
        So columns where each row differs in one cost linearly many operations, random halves of
        `n` columns ``n / log n`` a row.

        Parameters
        ----------
        defaults : the value of each column
        trees : the tree of each column, ``0, 0, ..., 1, ...``; a row is about one tree's columns
        entries : rows, columns and values of what is not as the default, sorted by row and column,
            rows being 0, 1, ... without gaps

        Returns
        -------
        the value of each row, and that of each tree where all is as the default
        """
        rows, columns, values = entries
        n_rows = int(rows[-1]) + 1 if len(rows) else 0
        is_single = np.bincount(rows, minlength=n_rows)[rows] == 1
        if is_single.all() and (defaults == op).all():
            return values, defaults[run_starts(trees)]
        lone_rows, lone_columns, lone_values = (part[is_single] for part in entries)
        rows, columns, values = rows[~is_single], columns[~is_single], values[~is_single]
        levels = []
        while len(defaults) > 1 and (trees[1:] == trees[:-1]).any():
            level = _Halving(trees)
            levels.append((level.parent, level.beside(defaults, op)))
            rows, columns, values = self._merged(op, levels[-1], rows, columns, values)
            defaults = self.pairs(op, defaults[level.first], levels[-1][1][level.first])
            trees = trees[level.first]
        result = np.empty(n_rows, dtype=np.int64)
        result[rows] = values
        result[lone_rows] = self.pairs(
            op, self._outside(op, levels, trees)[lone_columns], lone_values
        )
        return result, defaults

    def _merged(
        self,
        op: int,
        level: tuple[Numbers, Numbers],
        rows: Numbers,
        columns: Numbers,
        values: Numbers,
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Return the entries of the halves' parents."""
        parent, beside = level[0][columns], level[1][columns]
        same = (rows[1:] == rows[:-1]) & (parent[1:] == parent[:-1])
        beside[:-1][same] = values[1:][same]
        first = np.append(True, ~same)[: len(rows)]
        merged = self.pairs(op, values[first], beside[first])
        return rows[first], parent[first], merged

    def _outside(self, op: int, levels: list[tuple[Numbers, Numbers]], trees: Numbers) -> Numbers:
        """Return `op` over the defaults of all columns but one, for each of them."""
        outside = np.full(len(trees), op, dtype=np.int64)
        for parent, beside in reversed(levels):
            outside = self.pairs(op, outside[parent], beside)
        return outside


class _Halving:
    """Columns of trees put together two by two."""

    def __init__(self, trees: Numbers) -> None:
        starts = run_starts(trees)
        sizes = np.diff(starts, append=len(trees))
        local = np.arange(len(trees)) - np.repeat(starts, sizes)
        #: The columns that are the first of two, or alone.
        self.first = np.flatnonzero(local % 2 == 0)
        #: The place of each column's two among all twos.
        self.parent = np.cumsum(local % 2 == 0) - 1
        self._lone = (local == np.repeat(sizes, sizes) - 1) & (local % 2 == 0)
        self._other = np.arange(len(trees)) + 1 - 2 * (local % 2)

    def beside(self, defaults: Numbers, neutral: int) -> Numbers:
        """Return the default of the other one of the two."""
        other = np.minimum(self._other, len(defaults) - 1)
        return np.where(self._lone, neutral, defaults[other])


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
        rows, members, inverted = mask_lists(size, masks)
        atom_of, n_atoms = group_by_rows(size, rows, members)
        rows, atoms, _ = distinct_pairs(rows, atom_of[members])
        return cls(atom_of, n_atoms, rows, atoms, inverted)

    def masks(self, subset_masks: Sequence[int]) -> list[int]:
        """Return the atoms as masks: those of the subsets themselves, where they are atoms."""
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
        """Return which subsets take in all atoms of some normalised attribute."""
        is_full = np.zeros(len(subsets.inverted), dtype=bool)
        leaves, columns = np.unique(values, return_index=True)  # of equal values the first
        owners = self._owner[leaves[leaves < self.first]]
        for a in np.unique(owners[owners >= 0]).tolist():
            mine = np.zeros(len(values), dtype=bool)
            mine[columns[: len(owners)][owners == a]] = True
            if np.count_nonzero(mine) == len(self.atoms[a]):
                listed = np.bincount(subsets.rows[mine[subsets.atoms]], minlength=len(is_full))
                is_full |= listed == np.where(subsets.inverted, 0, len(self.atoms[a]))
        return is_full

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

    def _of_products(self, n_rows: int, rows: Numbers, left: Numbers, right: Numbers) -> Numbers:
        """Return the max of ``min(one, two)`` over each row, equal seconds taken together."""
        rows, right, group = distinct_pairs(rows, right)
        left = self._over_values(len(rows), group, left)
        return self._over_values(n_rows, rows, self.pairs(MIN, left, right))

    def _over_values(self, n_rows: int, rows: Numbers, values: Numbers) -> Numbers:
        distinct, column = np.unique(values, return_inverse=True)
        row_of, column_of, _ = distinct_pairs(rows, column.reshape(-1))
        none = np.zeros(0, dtype=np.int64)
        subsets = Subsets(none, len(distinct), row_of, column_of, np.zeros(n_rows, dtype=bool))
        return self.measures(subsets, distinct)
