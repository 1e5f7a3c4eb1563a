"""The rules of a fitted decision tree: one for each leaf, with a graded conclusion."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.exceptions import TableError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import Proposition
from pinesy.rules.rule import Rule
from pinesy.transforms import antipignistic

#: For each feature on the way to a leaf: the number it is above, and that it is at most.
Bounds = dict[int, tuple[float, float]]


def tree_rules(tree: Any, names: Sequence[str], target: str) -> Cascade:
    """Return the rules of a fitted `sklearn.tree.DecisionTreeClassifier`.

    A leaf's class frequencies, transformed (antipignistic), are the distribution `pi` that it
    concludes. In rules that is a nest: for each degree ``t < 1`` of it, ``if path then class in
    {pi > t}`` with ``r = t``. Leaves exclude each other, so that inference gives `pi` itself.
    """
    nodes = getattr(tree, "tree_", None)
    if nodes is None or not hasattr(tree, "classes_"):
        raise TableError(f"{tree!r:.60} is not a decision tree for classes that was fitted")
    leaves = list(_leaves(nodes))
    inputs = _inputs(leaves, names)
    output = Attribute(target, np.asarray(tree.classes_).tolist())
    rules = [
        rule
        for bounds, counts in leaves
        for rule in _nest(_premise(bounds, names, inputs), output, counts)
    ]
    return Cascade(RuleSet(rules), attributes=inputs.values())


def _leaves(tree: Any) -> Iterator[tuple[Bounds, FloatArray]]:
    """Yield the bounds and the class frequencies of each leaf."""
    waiting: list[tuple[int, Bounds]] = [(0, {})]
    while waiting:
        node, bounds = waiting.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left == right:
            yield bounds, tree.value[node][0] / tree.value[node][0].sum()
            continue
        feature, cut = int(tree.feature[node]), float(tree.threshold[node])
        low, high = bounds.get(feature, (-np.inf, np.inf))
        waiting.append((right, {**bounds, feature: (max(low, cut), high)}))
        waiting.append((left, {**bounds, feature: (low, min(high, cut))}))


def _inputs(
    leaves: Sequence[tuple[Bounds, FloatArray]], names: Sequence[str]
) -> dict[str, Attribute]:
    """Return the numeric attributes of the features that the tree uses, with its cuts."""
    cuts: dict[int, set[float]] = {}
    for bounds, _ in leaves:
        for feature, limits in bounds.items():
            cuts.setdefault(feature, set()).update(z for z in limits if np.isfinite(z))
    return {
        names[feature]: Attribute.number(names[feature], [f"<={cut!r}" for cut in sorted(values)])
        for feature, values in sorted(cuts.items())
    }


def _premise(
    bounds: Bounds, names: Sequence[str], inputs: dict[str, Attribute]
) -> list[Proposition]:
    """Return the propositions of a path; of a tree that is one leaf, that anything may be."""
    propositions = []
    for feature, (low, high) in sorted(bounds.items()):
        attribute = inputs[names[feature]]
        mask = attribute.full
        if np.isfinite(low):
            mask &= (attribute > low).mask
        if np.isfinite(high):
            mask &= (attribute <= high).mask
        propositions.append(Proposition(attribute, mask))
    if not propositions:
        raise TableError("the tree is a single leaf: it has no rules; fit a deeper one")
    return propositions


def _nest(premise: list[Proposition], output: Attribute, counts: FloatArray) -> Iterator[Rule]:
    """Yield the rules of a graded conclusion, the surest last."""
    degrees = antipignistic(counts).round(4)
    for least in sorted(set(degrees.tolist()) - {1.0}, reverse=True):
        values = [v for v, d in zip(output.domain, degrees, strict=True) if d > least]
        yield Rule(premise_of(*premise), output.isin(values), 1.0, least)
