"""Small rule sets, with every sample on a grid of degrees."""

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

import strategies as make
from pinesy import Attribute, Iff, RuleSet
from pinesy.problems import addition

GRID = (0.0, 0.3, 0.6, 1.0)


def all_distributions(size: int) -> list[tuple[float, ...]]:
    return [pi for pi in itertools.product(GRID, repeat=size) if max(pi) == 1.0]


@st.composite
def small_rule_sets(draw: st.DrawFn) -> RuleSet:
    """Rules on two inputs, so small that all evidence on a grid can be tried."""
    inputs = [Attribute("a", (0, 1)), Attribute("b", ("x", "y"))]
    output = Attribute("c", range(draw(st.integers(2, 3))))
    degrees = st.sampled_from(GRID)
    made = []
    for _ in range(draw(st.integers(1, 4))):
        premise = draw(make.premises(inputs))
        conclusion = draw(make.propositions(output, empty=False))
        made.append(Iff(premise).then(conclusion, draw(degrees), draw(degrees)))
    return RuleSet(made)


def every_sample(rules: RuleSet) -> np.ndarray[Any, Any]:
    """All evidence on the grid, in the columns of the rules' inputs."""
    rows = itertools.product(*(all_distributions(len(a.domain)) for a in rules.inputs))
    return np.array([sum(row, ()) for row in rows])


ADDITION = addition(2)
SAMPLE = {
    "a_1": {3: 1.0, 8: 0.4},
    "a_2": {5: 1.0, 6: 0.2},
    "a_3": {4: 1.0, 9: 0.1},
    "a_4": {7: 1.0, 1: 0.8},
}
