"""Which conclusions of a wide rule set exclude which: the one law of order that costs little."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinesy._common.masks import BoolArray, Numbers, run_starts
from pinesy.engine.instructions import ranges

#: The most conclusions that are looked at one by one, beside those that a value is inside of.
MAX_LEFT = 6


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
