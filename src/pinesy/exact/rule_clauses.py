"""Rule sets as clauses on subsets of domains, each with the level from which on it holds.

By level cuts: a world has a degree of at least `t` in a rule set iff it satisfies all clauses whose
level is below `t`. Rule ``if p_1 and ... and p_k then b in Q`` with parameters `s`, `r` has

* at level `r`: some ``p_j`` fails, or ``b in Q``;
* at level `s`, for each `j`: ``p_j`` holds, or ``b not in Q`` [eq:redFP].
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from pinesy._common.masks import mask_of, mask_table
from pinesy._common.validation import FloatArray
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.semantics.factors import joint_table

#: The most entries of the table of a rule set whose output is folded.
MAX_FOLDED = 1 << 16


class SubsetClause(NamedTuple):
    """Some attribute has a value in its subset, or the degree is at most `level`.

    `subsets` are pairs of the index of an attribute, the output first, and a mask.
    """

    subsets: tuple[tuple[int, int], ...]
    level: float


def subset_classes(size: int, masks: Sequence[int]) -> list[int]:
    """Return the masks of the classes of values that are in the same subsets.

    Examples
    --------
    >>> subset_classes(4, [0b0011, 0b0010])
    [1, 2, 12]
    """
    table = mask_table(size, masks) if masks else np.zeros((size, 0), np.bool_)
    members: dict[bytes, list[int]] = {}
    for index, row in enumerate(np.packbits(table, axis=1)):
        members.setdefault(row.tobytes(), []).append(index)
    return [mask_of(indices) for indices in members.values()]


def rule_clauses(unit: RuleUnit) -> list[SubsetClause]:
    """Return the clauses of the rules of a set, as they are written."""
    index_of = {a.name: index for index, a in enumerate(unit.inputs, 1)}
    full = [unit.output.full, *(a.full for a in unit.inputs)]
    clauses = []
    for rule in unit.rules:
        premise = [(index_of[name], mask) for name, mask in rule.premise.masks.items()]
        inside = rule.conclusion.mask
        if rule.r < 1.0:
            fails = tuple((index, full[index] & ~mask) for index, mask in premise)
            clauses.append(SubsetClause(((0, inside), *fails), rule.r))
        if rule.s < 1.0:
            outside = full[0] & ~inside
            clauses += [SubsetClause(((0, outside), holds), rule.s) for holds in premise]
    return clauses


def folded_clauses(unit: RuleUnit, classes: Sequence[int]) -> list[SubsetClause] | None:
    """Return the clauses of a set on classes of its output, or None if its table is too large.

    The degree of a class is the largest degree of its values. So the values are not needed, such as
    the 81 pairs of two digits where rules ask only whether the digits differ.

    Parameters
    ----------
    unit : the rule set
    classes : the masks of the classes of output values that other rules distinguish
    """
    factor = joint_table(unit, MAX_FOLDED)
    if factor is None:
        return None
    cells = [mask_of(members) for members in factor.classes[0].members]
    rows = [
        factor.entries[[bool(cell & mask) for cell in cells]].max(axis=0, initial=0.0)
        for mask in classes
    ]
    masks = [list(classes)]
    masks += [[mask_of(members) for members in c.members] for c in factor.classes[1:]]
    return list(_table_clauses(np.stack(rows), masks))


def _table_clauses(entries: FloatArray, masks: Sequence[Sequence[int]]) -> Iterator[SubsetClause]:
    """Yield the clauses of a table: along its longest axis, the classes of a higher degree."""
    axis = int(np.argmax(entries.shape))
    lines = np.moveaxis(entries, axis, -1)
    others = [i for i in range(entries.ndim) if i != axis]
    full = [sum(parts) for parts in masks]  # the classes of an attribute are disjoint
    for indices in product(*(range(n) for n in lines.shape[:-1])):
        line = lines[indices]
        outside = [
            (i, full[i] & ~masks[i][index]) for i, index in zip(others, indices, strict=True)
        ]
        for level in np.unique(line[line < 1.0]).tolist():
            higher = sum(
                mask for mask, degree in zip(masks[axis], line, strict=True) if degree > level
            )
            yield SubsetClause((*outside, (axis, higher)), level)
