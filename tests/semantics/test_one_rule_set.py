"""A rule set alone, in other semantics."""

from typing import Any

import numpy as np

from pinesy import Attribute, Cascade, Iff, RuleSet


def test_another_semantics_is_that_of_a_cascade_of_one_set() -> None:
    a, b = Attribute("a", range(3)), Attribute("b", range(2))
    rules = RuleSet([Iff(a.isin({0, 1})).then(b.isin({0}))])
    p = {"a": np.array([[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]])}
    semantics: Any
    for semantics in ("probabilistic", "most probable explanation", "goedel"):
        found: Any = rules.infer(p, semantics=semantics)
        other: Any = Cascade(rules).infer(p, semantics=semantics)
        assert (found.weights == other["b"].weights).all()
    assert rules.infer({"a": {0: 0.2, 1: 0.4, 2: 0.4}}, semantics="probabilistic").best == 0
