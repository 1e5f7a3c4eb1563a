"""Which operations get an instruction of their own, decided for all of them at once.

One that a single instruction of the same operation uses is written into it; a min of two that a
single max uses becomes a pair of a ``MAXMIN`` (and the other way round).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinesy._common.masks import BoolArray, Numbers, ranges

# Beside MAX and MIN of a list: max of mins of pairs, min of maxes of pairs, and output.
MAXMIN, MINMAX, STORE = 2, 3, 4
LEAF = -1


@dataclass(eq=False)
class Selection:
    """The instructions that compute some outputs.

    Parameters
    ----------
    ops : for each value MAX, MIN or LEAF; operands have lower numbers than results
    starts, args : the operands of all values, one list after the other
    outputs : the values that are wanted
    """

    ops: Numbers
    starts: Numbers
    args: Numbers
    outputs: Numbers

    @cached_property
    def needed(self) -> BoolArray:
        """Whether the outputs come from each value."""
        seen = np.zeros(len(self.ops), dtype=bool)
        new = np.unique(self.outputs)
        while len(new):
            seen[new] = True
            used = np.unique(self.args[ranges(self.starts[new], self.starts[new + 1])])
            new = used[~seen[used]]
        return seen

    def instructions(self) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Return the values that have an instruction, their operations, and ``starts, args``."""
        makers = np.flatnonzero(self.needed & (self.ops != LEAF))
        lengths = self.starts[makers + 1] - self.starts[makers]
        user = np.repeat(makers, lengths)
        used = self.args[ranges(self.starts[makers], self.starts[makers + 1])]
        uses = np.bincount(used, minlength=len(self.ops))
        uses += 2 * np.bincount(self.outputs, minlength=len(self.ops))  # those stay for themselves
        parent = np.zeros(len(self.ops), dtype=np.int64)
        parent[used] = user
        once = (uses == 1) & (self.ops != LEAF)
        inside = once & (self.ops == self.ops[parent])
        root = _roots(np.where(inside, parent, np.arange(len(parent))))
        kept = ~inside[used]
        user, used = root[user[kept]], used[kept]
        order = np.argsort(user, kind="stable")
        flat = _Flat(user[order], used[order], len(self.ops))
        return flat.instructions(self.ops, once & ~inside, root[parent])


def _roots(parent: Numbers) -> Numbers:
    """Follow parents to the end."""
    while True:
        further = parent[parent]
        if (further == parent).all():
            return parent
        parent = further


@dataclass(eq=False)
class _Flat:
    """Operands in lists: those of each user one after the other."""

    users: Numbers
    used: Numbers
    n_values: int

    def instructions(
        self, ops: Numbers, once: BoolArray, owner: Numbers
    ) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Make pairs, and return the instructions.

        Parameters
        ----------
        once : whether a value is used once, and by another operation
        owner : which user that is
        """
        lengths = np.bincount(self.users, minlength=self.n_values)
        two = once & (lengths == 2)
        pairs = np.bincount(self.users[two[self.used]], minlength=self.n_values)
        pairing = (lengths - pairs <= 2 * pairs) & (lengths > 0)
        is_pair = _alternating(two & pairing[owner], owner)
        made = np.flatnonzero((lengths > 0) & ~is_pair)
        first = np.cumsum(lengths) - lengths
        twice = pairing[made]
        used = self.used[ranges(first[made], first[made] + lengths[made])]
        doubled = np.repeat(twice, lengths[made])
        at = first[np.where(is_pair[used], used, 0)]
        one = np.where(is_pair[used], self.used[at], used)
        two_ = np.where(is_pair[used], self.used[np.minimum(at + 1, len(self.used) - 1)], used)
        args = np.stack([one, two_], axis=1)[np.stack([np.ones_like(doubled), doubled], axis=1)]
        starts = np.cumsum(np.append(0, lengths[made] * (1 + twice)))
        return made, ops[made] + 2 * twice, starts, args


def _alternating(linked: BoolArray, owner: Numbers) -> BoolArray:
    """Choose values that are written into their owners, never one into a chosen one."""
    chosen = np.zeros_like(linked)
    while True:
        better = linked & ~chosen[owner]
        if (better == chosen).all():
            return chosen
        chosen = better
