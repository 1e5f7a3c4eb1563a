"""The rules that decide: found by masks, they are those of the definition by arrays."""

from types import SimpleNamespace
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from pinesy.verdicts.reasons import _cover

DEGREES = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@st.composite
def covers(draw: st.DrawFn) -> tuple[Any, Any, Any, list[int]]:
    """Return bounds (values, rules), limits of the values, insides, and the sizes of premises."""
    n, k = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    bounds = draw(st.lists(DEGREES, min_size=n * k, max_size=n * k))
    inside = draw(st.lists(st.booleans(), min_size=n * k, max_size=n * k))
    limits = draw(st.lists(DEGREES | st.just(np.inf), min_size=n, max_size=n))
    sizes = draw(st.lists(st.integers(1, 3), min_size=k, max_size=k))
    shape = (n, k)
    return np.reshape(bounds, shape), np.array(limits), np.reshape(inside, shape), sizes


def defined_cover(bounds: Any, limits: Any, inside: Any, sizes: list[int]) -> list[Any]:
    """Return the rule that excludes most values not excluded yet, again and again.

    Of equal ones a rule whose premise holds, then the shortest premise, then the first.
    """
    enough = (bounds <= limits[:, None]) & np.isfinite(limits)[:, None]
    todo, cover = enough.any(axis=1), []
    while todo.any():
        covered = enough & todo[:, None]
        counts = np.stack([(covered & ~inside).sum(axis=0), (covered & inside).sum(axis=0)])
        rank = counts * 2 + np.array([[1], [0]])
        role, rule = divmod(int(np.lexsort([np.tile(sizes, 2), -rank.ravel()])[0]), len(sizes))
        excluded = enough[:, rule] & (~inside[:, rule] if role == 0 else inside[:, rule])
        cover.append((rule, role == 0, [int(i) for i in np.flatnonzero(excluded)]))
        todo &= ~excluded
    return cover


@given(covers())
def test_a_cover_is_that_of_the_definition(problem: tuple[Any, Any, Any, list[int]]) -> None:
    bounds, limits, inside, sizes = problem
    table: Any = SimpleNamespace(inside=inside, premises=[np.arange(size) for size in sizes])
    cover = [
        (rule, role, [i for i in range(len(limits)) if mask >> i & 1])
        for rule, role, mask in _cover(table, bounds, limits)
    ]
    assert cover == defined_cover(*problem)


def test_a_rule_whose_premise_holds_comes_first() -> None:
    table: Any = SimpleNamespace(inside=np.array([[True, False]]), premises=[np.arange(1)] * 2)
    cover = _cover(table, np.zeros((1, 2)), np.zeros(1))
    assert cover == [(1, True, 1)]
    assert _cover(table, np.ones((1, 2)), np.zeros(1)) == []
