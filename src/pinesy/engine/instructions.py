"""Which operations get an instruction of their own, decided for all of them at once.

One that a single instruction of the same operation uses is written into it; a min of two that a
single max uses becomes a pair of a ``MAXMIN`` (and the other way round).
"""

import numpy as np

from pinesy._common.masks import Numbers
from pinesy._common.validation import BoolArray

# Beside MAX and MIN of a list: max of mins of pairs, min of maxes of pairs, and output.
MAXMIN, MINMAX, STORE = 2, 3, 4
LEAF = -1


def ranges(starts: Numbers, stops: Numbers) -> Numbers:
    """Return the numbers from each start to its stop, one range after the other.

    Examples
    --------
    >>> ranges(np.array([3, 9]), np.array([5, 10])).tolist()
    [3, 4, 9]
    """
    lengths = stops - starts
    offsets = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return offsets + np.arange(len(offsets))


#: The values that have an instruction, their operations, and the operands as `starts, args`.
Instructions = tuple[Numbers, Numbers, Numbers, Numbers]


def select_instructions(
    ops: Numbers, starts: Numbers, args: Numbers, outputs: Numbers
) -> Instructions:
    """Return the instructions that compute some outputs.

    Parameters
    ----------
    ops : for each value MAX, MIN or LEAF; operands have lower numbers than results
    starts, args : the operands of all values, one list after the other
    outputs : the values that are wanted
    """
    makers = np.flatnonzero(_needed(starts, args, outputs) & (ops != LEAF))
    lengths = starts[makers + 1] - starts[makers]
    user = np.repeat(makers, lengths)
    used = args[ranges(starts[makers], starts[makers + 1])]
    uses = np.bincount(used, minlength=len(ops))
    uses += 2 * np.bincount(outputs, minlength=len(ops))  # those stay for themselves
    parent = np.zeros(len(ops), dtype=np.int64)
    parent[used] = user
    once = (uses == 1) & (ops != LEAF)
    inside = once & (ops == ops[parent])
    root = _roots(np.where(inside, parent, np.arange(len(parent))))
    kept = ~inside[used]
    user, used = root[user[kept]], used[kept]
    order = np.argsort(user, kind="stable")
    return _paired(user[order], used[order], ops, once & ~inside, root[parent])


def _needed(starts: Numbers, args: Numbers, outputs: Numbers) -> BoolArray:
    """Tell whether the outputs come from each value."""
    seen = np.zeros(len(starts) - 1, dtype=bool)
    new = np.unique(outputs)
    while len(new):
        seen[new] = True
        used = np.unique(args[ranges(starts[new], starts[new + 1])])
        new = used[~seen[used]]
    return seen


def _roots(parent: Numbers) -> Numbers:
    """Follow parents to the end."""
    while True:
        further = parent[parent]
        if (further == parent).all():
            return parent
        parent = further


def _paired(
    users: Numbers, operands: Numbers, ops: Numbers, once: BoolArray, owner: Numbers
) -> Instructions:
    """Make pairs, and return the instructions.

    Parameters
    ----------
    users, operands : of each operand its user, those of a user one after the other
    once : whether a value is used once, and by another operation
    owner : which user that is
    """
    lengths = np.bincount(users, minlength=len(ops))
    two = once & (lengths == 2)
    pairs = np.bincount(users[two[operands]], minlength=len(ops))
    pairing = (lengths - pairs <= 2 * pairs) & (lengths > 0)
    is_pair = _alternating(two & pairing[owner], owner)
    made = np.flatnonzero((lengths > 0) & ~is_pair)
    first = np.cumsum(lengths) - lengths
    twice = pairing[made]
    used = operands[ranges(first[made], first[made] + lengths[made])]
    doubled = np.repeat(twice, lengths[made])
    at = first[np.where(is_pair[used], used, 0)]
    one = np.where(is_pair[used], operands[at], used)
    two_ = np.where(is_pair[used], operands[np.minimum(at + 1, len(operands) - 1)], used)
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
