"""What learning compiles belongs to the rules: it goes with them."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pinesy import Cascade, RuleSet, learn, parse
from pinesy.learning import accuracy, audit, learn_batches, search_tolerances

TEXT = """
    attribute sky in {clear, dark}
    attribute rain in {no, yes}
    attribute street in {dry, wet}

    iff sky in {dark} then rain in {yes} [s=0.3, r=0.2]
    iff rain in {yes} then street in {wet} [s=0.1]
"""
SKIES = np.array([[1.0, 0.25], [0.5, 1.0], [0.0, 1.0]])
RAINS = [[1.0, 0.5], [0.25, 1.0], [0.0, 1.0]]
TARGETS = {"rain": RAINS, "street": ["dry", "wet", "wet"]}

Use = Callable[[Any, Any, Any], object]
USES: dict[str, Use] = {
    "learn": learn,
    "audit": audit,
    "accuracy": accuracy,
    "search_tolerances": lambda rules, x, y: search_tolerances(rules, x, y, (x, y)),
    "learn_batches": lambda rules, x, y: learn_batches(rules, [(x, y)]),
}


@pytest.mark.parametrize("use", USES)
def test_a_cascade_is_freed(use: str) -> None:
    rules: Cascade | None = parse(TEXT)
    is_there = weakref.ref(rules)
    result: object = USES[use](rules, {"sky": SKIES}, {**TARGETS, "rain": ["no", "yes", "yes"]})
    del rules, result
    gc.collect()
    assert is_there() is None


@pytest.mark.parametrize("use", USES)
def test_a_rule_set_is_freed(use: str) -> None:
    rules: RuleSet | None = parse(TEXT)["street"]
    is_there = weakref.ref(rules)
    result: object = USES[use](rules, {"rain": np.array(RAINS)}, TARGETS["street"])
    del rules, result
    gc.collect()
    assert is_there() is None
