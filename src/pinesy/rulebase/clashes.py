"""Which rules clash: the smallest groups of rules that leave no value fully possible.

A rule bounds the values in its conclusion by ``alpha = max(s, lambda)``, the others by
``beta = max(r, rho)`` [eq:alphabeta]; a result is not normalised iff every cell of the partition is
kept below 1 by some rule.
"""

from collections.abc import Sequence

import numpy as np

from pinesy.rules.possibility import BoolArray

#: Cells times rules squared up to which all clashing pairs are looked for; beyond, one group is.
PAIRS_LIMIT = 50_000_000


def clashing_groups(low: BoolArray) -> list[tuple[int, ...]]:
    """Return groups of rules that clash, by their places: single rules, else pairs, else one group.

    Parameters
    ----------
    low : array (cells, rules), whether the rule keeps the cell below 1

    Returns
    -------
    groups : all rules that leave no cell alone; if there are none, all pairs that leave none; if
        there are none either, one group of more rules, none of which can be left out. Nothing if
        some cell is kept below 1 by no rule.

    Examples
    --------
    >>> clashing_groups(np.array([[True, False, False], [False, True, True]]))
    [(0, 1), (0, 2)]
    >>> clashing_groups(np.array([[True, False], [False, False]]))
    []
    """
    if not low.any(axis=1).all():
        return []
    alone = np.flatnonzero(low.all(axis=0)).tolist()
    if alone:
        return [(rule,) for rule in alone]
    if low.shape[0] * low.shape[1] ** 2 <= PAIRS_LIMIT:
        left = (~low).astype(np.float32)
        pairs = np.argwhere(np.triu(left.T @ left == 0.0, 1)).tolist()
        if pairs:
            return [tuple(pair) for pair in pairs]
    return [_cover(low)]


def _cover(low: BoolArray) -> tuple[int, ...]:
    """Return rules that together keep every cell low, none of them without need."""
    chosen: list[int] = []
    is_open = np.ones(len(low), dtype=np.bool_)
    while is_open.any():
        chosen.append(int(low[is_open].sum(axis=0).argmax()))
        is_open &= ~low[:, chosen[-1]]
    for rule in chosen[:]:
        others = [other for other in chosen if other != rule]
        if low[:, others].any(axis=1).all():
            chosen = others
    return tuple(sorted(chosen))


def numbered_rules(places: Sequence[int]) -> str:
    """Return rules by their numbers, which count from 1.

    Examples
    --------
    >>> numbered_rules([0]), numbered_rules([0, 4]), numbered_rules([0, 1, 2])
    ('rule 1', 'rules 1 and 5', 'rules 1, 2 and 3')
    """
    *others, last = (str(place + 1) for place in places)
    return f"rules {', '.join(others)} and {last}" if others else f"rule {last}"
