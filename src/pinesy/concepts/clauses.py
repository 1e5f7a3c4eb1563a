"""Clauses for SAT solvers: lists of literals, of which one or more hold; ``-x`` is ``not x``."""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

#: Variables up to which each pair is a clause; more are counted by further variables.
MAX_PAIRWISE = 12


def exactly_one(variables: Sequence[int], fresh: Iterator[int]) -> Iterator[list[int]]:
    """Yield clauses that say that one of some variables is true, and no other.

    With many variables `fresh` ones say that one of the first `i` is true. They follow from the
    others, so that there are as many models as without them; clauses are linear in number (Sinz,
    Towards an optimal CNF encoding of Boolean cardinality constraints, 2005).

    Examples
    --------
    >>> list(exactly_one([1, 2, 3], iter(())))
    [[1, 2, 3], [-1, -2], [-1, -3], [-2, -3]]
    """
    yield list(variables)
    if len(variables) <= MAX_PAIRWISE:
        yield from ([-first, -second] for first, second in combinations(variables, 2))
        return
    # The first one has no need of a variable that says the same.
    reached = [variables[0], *(next(fresh) for _ in variables[1:])]
    for (before, now), variable in zip(pairwise(reached), variables[1:], strict=True):
        yield [-before, now]
        yield [-variable, now]
        yield [-now, before, variable]
        yield [-before, -variable]
