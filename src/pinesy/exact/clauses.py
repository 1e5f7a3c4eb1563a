"""Clauses for SAT solvers: disjunctions of literals; ``-x`` is ``not x``."""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

#: The most variables with a pairwise encoding; more get a sequential encoding.
MAX_PAIRWISE = 12


def exactly_one(variables: Sequence[int], fresh: Iterator[int]) -> Iterator[list[int]]:
    """Yield clauses for the constraint that exactly one of some variables is true.

    With many variables, `fresh` auxiliary ones are true if one of the first `i` is. They are
    determined by the others, so the number of models does not change; the number of clauses is
    linear (Sinz, Towards an optimal CNF encoding of Boolean cardinality constraints, 2005).

    Examples
    --------
    >>> list(exactly_one([1, 2, 3], iter(())))
    [[1, 2, 3], [-1, -2], [-1, -3], [-2, -3]]
    """
    yield list(variables)
    if len(variables) <= MAX_PAIRWISE:
        yield from ([-first, -second] for first, second in combinations(variables, 2))
        return
    # The first variable is its own auxiliary variable.
    reached = [variables[0], *(next(fresh) for _ in variables[1:])]
    for (before, now), variable in zip(pairwise(reached), variables[1:], strict=True):
        yield [-before, now]
        yield [-variable, now]
        yield [-now, before, variable]
        yield [-before, -variable]
