"""The joint distribution of all attributes of a cascade, listed: the definition."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy import Attribute, Cascade, RuleSet

FloatArray = npt.NDArray[np.float64]


def attributes_of(cascade: Cascade) -> list[Attribute]:
    """The attributes that rules use, in any order."""
    return list({a.name: a for s in cascade.rule_sets for a in (*s.inputs, s.output)}.values())


def joint(
    cascade: Cascade,
    beliefs: Mapping[str, Sequence[float] | FloatArray],
    targets: Mapping[str, Sequence[float] | FloatArray],
) -> FloatArray:
    """c = min(beliefs, every rule set for crisp inputs, targets), one axis for each attribute."""
    attributes = attributes_of(cascade)
    axis = {a.name: i for i, a in enumerate(attributes)}

    def along(name: str, values: Any) -> npt.NDArray[Any]:
        shape = [1] * len(attributes)
        shape[axis[name]] = -1
        return np.array(values).reshape(shape)

    c = np.ones([len(a.domain) for a in attributes])
    for name, degrees in [*beliefs.items(), *targets.items()]:
        c = np.minimum(c, along(name, degrees))
    for rule_set in cascade.rule_sets:
        c = np.minimum(c, _said(rule_set, along))
    return c


def _said(rule_set: RuleSet, along: Any) -> FloatArray:
    """pi*(b | x) = min_j (max(s_j, [x |= p_j]) if b in Q_j else max(r_j, [x |/= p_j]))."""
    bounds = []
    for rule in rule_set.rules:
        holds = np.array(True)
        for p in rule.premise.propositions:
            holds = holds & along(p.attribute.name, [v in p.values for v in p.attribute.domain])
        inside = along(
            rule_set.output.name, [v in rule.conclusion.values for v in rule_set.output.domain]
        )
        bounds.append(np.where(inside, np.where(holds, 1.0, rule.s), np.where(holds, rule.r, 1.0)))
    least = bounds[0]
    for bound in bounds[1:]:
        least = np.minimum(least, bound)
    return least


def projections(cascade: Cascade, c: FloatArray) -> dict[str, FloatArray]:
    """The largest degree of the joint for each value of each attribute."""
    axes = range(c.ndim)
    return {
        a.name: c.max(axis=tuple(k for k in axes if k != i))
        for i, a in enumerate(attributes_of(cascade))
    }
