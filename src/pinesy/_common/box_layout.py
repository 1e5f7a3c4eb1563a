"""Where boxes stand in a picture: in columns, each beside the middle of what it leads to."""

from collections.abc import Hashable, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import accumulate
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def tidy(
    children: Mapping[K, Sequence[K]],
    sizes: Mapping[K, tuple[float, float]],
    gaps: tuple[float, float],
) -> dict[K, tuple[float, float]]:
    """Return where boxes stand: the upper left corner of each.

    Parameters
    ----------
    children : for each box those that it leads to, from top to bottom; the first leads to all
    sizes : the width and height of each
    gaps : the space between columns, and between boxes of a column

    Examples
    --------
    >>> tidy({"a": "bc", "b": "", "c": ""}, dict.fromkeys("abc", (9, 4)), (5.0, 2.0))
    {'a': (0.0, 3.0), 'c': (14.0, 6.0), 'b': (14.0, 0.0)}
    """
    order = list(TopologicalSorter(children).static_order())[::-1]  # after all that lead to it
    columns = dict.fromkeys(order, 0)
    for box in order:
        for child in children[box]:
            columns[child] = max(columns[child], columns[box] + 1)
    widths = [0.0] * (max(columns.values()) + 1)
    for box, column in columns.items():
        widths[column] = max(widths[column], sizes[box][0])
    lefts = list(accumulate((width + gaps[0] for width in widths[:-1]), initial=0.0))
    tops = _tops(_spanning(children), columns, sizes, gaps[1])
    least = min(tops.values())
    return {b: (lefts[columns[b]], tops[b] - least) for b in order}


def _spanning(children: Mapping[K, Sequence[K]]) -> dict[K, list[K]]:
    """Return the tree in which each box belongs to the first that leads to it; children last."""
    root = next(iter(children))
    tree: dict[K, list[K]] = {root: []}
    waiting = [root]
    while waiting:
        box = waiting.pop()
        tree[box] = [c for c in dict.fromkeys(children[box]) if c not in tree]
        tree.update((c, []) for c in tree[box])
        waiting.extend(reversed(tree[box]))
    return tree


def _tops(
    tree: Mapping[K, Sequence[K]],
    columns: Mapping[K, int],
    sizes: Mapping[K, tuple[float, float]],
    gap: float,
) -> dict[K, float]:
    """Return the upper edges: children first, then each beside their middle.

    Where a box does not fit there, it moves down with all that hangs on it: these are the boxes
    placed last, so below them all is free.
    """
    tops: dict[K, float] = {}
    free: dict[int, float] = {}  # of each column, where the next box may begin
    order = _children_first(tree)
    hanging: dict[K, int] = {}  # how many boxes, with the box itself
    for number, box in enumerate(order, 1):
        own, least = tree[box], free.get(columns[box], 0.0)
        hanging[box] = 1 + sum(hanging[child] for child in own)
        ends = [tops[c] + sizes[c][1] / 2 for c in (own[0], own[-1])] if own else []
        tops[box] = sum(ends) / 2 - sizes[box][1] / 2 if ends else least
        shift = max(0.0, least - tops[box])
        for one in order[number - hanging[box] : number] if shift else [box]:
            tops[one] += shift
            bottom = tops[one] + sizes[one][1] + gap
            free[columns[one]] = max(free.get(columns[one], 0.0), bottom)
    return tops


def _children_first(tree: Mapping[K, Sequence[K]]) -> list[K]:
    """Return the boxes so that each comes right after all that hangs on it."""
    order: list[K] = []
    waiting = [next(iter(tree))]
    while waiting:
        box = waiting.pop()
        order.append(box)
        waiting.extend(tree[box])
    return order[::-1]
