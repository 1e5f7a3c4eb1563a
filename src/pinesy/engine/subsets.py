"""Subsets of domains by their atoms: maxima over very many of them, and which exclude which."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pinesy._common.masks import (
    Numbers,
    classes_of,
    distinct_pairs,
    mask_at,
    mask_lists,
    run_starts,
)
from pinesy._common.validation import BoolArray
from pinesy.engine.circuit import MAX, MIN, ONE, ZERO
from pinesy.engine.folds import Folds
from pinesy.engine.instructions import ranges

#: The most conclusions that are looked at one by one, beside those that a value is inside of.
MAX_LEFT = 6


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


@dataclass(frozen=True, eq=False)
class Propositions:
    """The propositions of all premises, their subsets as lists of atoms.

    Attributes
    ----------
    rules, attributes, subsets : of each proposition, in the order of the rules
    starts, atoms : the atoms listed for each subset, those of all attributes numbered through
    inverted : whether these are the atoms that are not in it
    """

    rules: Numbers
    attributes: Numbers
    subsets: Numbers
    starts: Numbers
    atoms: Numbers
    inverted: BoolArray

    def lists(self, chosen: Numbers) -> tuple[Numbers, Numbers]:
        """Return the lengths of the lists of some propositions, and the lists."""
        starts, stops = self.starts[self.subsets[chosen]], self.starts[self.subsets[chosen] + 1]
        return stops - starts, self.atoms[ranges(starts, stops)]


@dataclass(frozen=True, eq=False)
class Exclusions:
    """Which conclusions exclude which, because of what their premises say of one attribute.

    If ``alpha_g <= Pi(a in A)`` and ``beta_h >= Pi(a not in P)``, and `A` and `P` have no value in
    common, then ``alpha_g <= beta_h``: beside the first, the second one does not count.

    Attributes
    ----------
    low_starts, low_atoms : for each conclusion the atoms of `A`, one list after the other
    high_starts, high_columns : for each atom the conclusions whose `P` it is in, likewise
    usable : whether a conclusion has such an `A`, and all that have premises on `a` such a `P`
    """

    low_starts: Numbers
    low_atoms: Numbers
    high_starts: Numbers
    high_columns: Numbers
    usable: BoolArray

    @cached_property
    def left(self) -> Numbers:
        """For each conclusion how many others it may not exclude, at most; many if not usable."""
        near = np.diff(self.high_starts)[self.low_atoms]
        sums = np.append(0, np.cumsum(near))
        left = sums[self.low_starts[1:]] - sums[self.low_starts[:-1]]
        return np.where(self.usable, left, MAX_LEFT + 1)

    def near(self, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Return the conclusions that each of some does not exclude, as rows and columns."""
        starts, stops = self.low_starts[columns], self.low_starts[columns + 1]
        atoms = self.low_atoms[ranges(starts, stops)]
        rows = np.repeat(np.arange(len(columns)), stops - starts)
        starts, stops = self.high_starts[atoms], self.high_starts[atoms + 1]
        return np.repeat(rows, stops - starts), self.high_columns[ranges(starts, stops)]


def exclusions(
    given: Propositions, column_of: Numbers, certain: BoolArray, blocks: Numbers, bad: BoolArray
) -> Exclusions:
    """Find what premises say of single attributes in few atoms; linear in the lists.

    Parameters
    ----------
    given : the propositions of all premises
    column_of : the conclusion of each rule, as a number
    certain : whether ``s = 0`` is known of each rule, so that ``alpha`` is its premise's degree
    blocks : a number for the set of attributes that the premises of each conclusion are about
    bad : the blocks that are left alone, because of their conclusions
    """
    columns = column_of[given.rules]
    bad = bad.copy()
    bad[blocks[columns[given.inverted[given.subsets]]]] = True
    pairs = np.unique(np.stack([blocks[columns], given.attributes]), axis=1)
    bad |= np.bincount(pairs[0], minlength=len(bad)) > 1
    good = np.flatnonzero(~bad[blocks[columns]])
    lengths, atoms = given.lists(good)
    order = np.lexsort((np.repeat(columns[good], lengths), atoms))
    owners = np.repeat(columns[good], lengths)[order]
    n_atoms = int(given.atoms.max(initial=-1)) + 1
    ends = np.cumsum(np.bincount(atoms, minlength=n_atoms))
    best = _shortest(given, columns, good[certain[given.rules[good]]])
    lengths, lows = given.lists(best)
    usable = np.zeros(len(blocks), dtype=bool)
    usable[columns[best]] = True
    starts = np.zeros(len(blocks) + 1, dtype=np.int64)
    starts[1:][columns[best]] = lengths
    return Exclusions(np.cumsum(starts), lows, np.append(0, ends), owners, usable)


def _shortest(given: Propositions, columns: Numbers, chosen: Numbers) -> Numbers:
    """Return of some propositions, for each conclusion the one with the shortest list."""
    lengths, _ = given.lists(chosen)
    order = np.lexsort((lengths, columns[chosen]))
    return chosen[order][run_starts(columns[chosen][order])]
