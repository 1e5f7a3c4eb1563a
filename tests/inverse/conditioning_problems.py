"""Hypothesis strategies: cascades whose graph has no loop, and problems of conditioning."""

from math import prod
from typing import Any, NamedTuple

from hypothesis import strategies as st

from inverse.joint_oracle import attributes_of
from pinesy import Attribute, Cascade
from strategies import Draw, distributions, rule_sets, shaped_cascades

#: The most entries of a joint distribution that the definition lists.
LARGEST = 200_000


@st.composite
def trees(draw: Draw, sizes: tuple[int, int] = (1, 4)) -> Cascade:
    """Sets that take their inputs from different trees, so that no loop closes."""
    tree_of: dict[str, int] = {}
    known: list[Attribute] = []
    made = []
    for number in range(draw(st.integers(1, 4))):
        fresh = [_attribute(draw, f"x_{number}_{i}", sizes) for i in range(draw(st.integers(0, 2)))]
        output = _attribute(draw, f"b_{number}", sizes)
        tree_of |= {a.name: len(tree_of) + i for i, a in enumerate(fresh)}
        chosen = list(fresh)
        for a in draw(st.permutations(known))[: draw(st.integers(0 if fresh else 1, 2))]:
            if tree_of[a.name] not in {tree_of[b.name] for b in chosen}:
                chosen.append(a)
        chosen = chosen or [_attribute(draw, f"x_{number}_0", sizes)]
        rules = draw(rule_sets(chosen, output, max_rules=4))
        joined = {tree_of.setdefault(a.name, 100 + number) for a in rules.inputs}
        tree_of[output.name] = 200 + number
        for name, tree in tree_of.items():
            tree_of[name] = 200 + number if tree in joined else tree
        known += [a for a in (*rules.inputs, output) if a not in known]
        made.append(rules)
    return Cascade(*draw(st.permutations(made)))


def _attribute(draw: Draw, name: str, sizes: tuple[int, int]) -> Attribute:
    return Attribute(name, range(draw(st.integers(*sizes))))


class Problem(NamedTuple):
    """A cascade, the distributions of its inputs, and targets for some attributes."""

    cascade: Cascade
    beliefs: dict[str, list[float]]
    targets: dict[str, list[float]]


@st.composite
def problems(draw: Draw, cascades: Any = None) -> Problem:
    """A small cascade, by default of any shape."""
    cascade = draw(trees() | shaped_cascades() if cascades is None else cascades)
    attributes = attributes_of(cascade)
    if prod(len(a.domain) for a in attributes) > LARGEST:
        cascade = Cascade(cascade.order[0])
        attributes = attributes_of(cascade)
    beliefs = {a.name: draw(distributions(len(a.domain))) for a in cascade.inputs}
    taught = draw(st.lists(st.sampled_from(attributes), max_size=2, unique_by=lambda a: a.name))
    return Problem(cascade, beliefs, {a.name: draw(distributions(len(a.domain))) for a in taught})
