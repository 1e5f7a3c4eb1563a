"""The work of learning a chain grows with its length, and what is stored is what is read later."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counted_work import calls
from pinesy import Attribute, Cascade, Iff, RuleSet, learn
from pinesy.learning.stages import CascadeStages

A = [Attribute(f"a_{i}", [0, 1]) for i in range(121)]


def learn_chain(length: int) -> Callable[[], Any]:
    used = A[: length + 1]
    cascade = Cascade(*[RuleSet([Iff(a.isin({1})).then(b.isin({1}))]) for a, b in pairwise(used)])
    x = np.array([[1.0, 0.25], [0.5, 1.0]])
    return lambda: learn(cascade, {"a_0": x}, {a.name: [0, 1] for a in used[1:]})


def test_the_work_grows_with_the_length_of_the_chain() -> None:
    learn_chain(3)()  # what is done once in a process
    short, middle, long = (calls(learn_chain(length)) for length in (30, 60, 120))
    assert long - middle == pytest.approx(2 * (middle - short), rel=0.02)


@st.composite
def cascades(draw: st.DrawFn) -> tuple[Cascade, list[str]]:
    """Sets that conclude from any of the attributes before them, some with a target."""
    n = draw(st.integers(2, 8))
    sets = []
    for i in range(1, n):
        before = draw(st.sets(st.integers(0, i - 1), min_size=1, max_size=3))
        sets.append(RuleSet([Iff(A[j].isin({1})).then(A[i].isin({1})) for j in sorted(before)]))
    names = [s.output.name for s in sets]
    return Cascade(*sets), draw(st.lists(st.sampled_from(names), min_size=1, unique=True))


def behind(cascade: Cascade, names: set[str], stop: set[str]) -> set[str]:
    """The definition: all sets that some depend on, up to those that are there."""
    found = set(names)
    for name in reversed(list(cascade.sets)):
        if name in found:
            found |= {a.name for a in cascade.sets[name].inputs if a.name in cascade.sets} - stop
    return found


@given(cascades())
def test_a_stage_keeps_what_later_stages_read(problem: tuple[Cascade, list[str]]) -> None:
    cascade, targeted = problem
    stages, have = CascadeStages(cascade, targeted), set[str]()
    left = set(targeted)
    for index in stages.members:
        stage = stages.stage(index, have)
        names = set(stage.names)
        left -= names
        there = have | (behind(cascade, names, have) - names)
        later = behind(cascade, left, there)
        assert stage.needed == {a.name for n in later for a in cascade.sets[n].inputs} & there
        assert set(stage.slack.values()) == {0.0}
        have = set(stage.needed)
    assert not left
    assert not have
