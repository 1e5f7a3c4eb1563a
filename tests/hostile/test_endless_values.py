"""Values that nest or go on without end are refused at once, by errors of our own."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

import pinesy
from pinesy import (
    Attribute,
    Cascade,
    Combined,
    Iff,
    PinesyError,
    Possibility,
    Predictions,
    RuleSet,
    antipignistic,
)
from pinesy.explanations import explain, picture
from pinesy.problems import addition

A, B = Attribute("a", [0, 1]), Attribute("b", [0, 1])
RULES = Cascade(RuleSet([Iff(A.isin({1})).then(B.isin({1}))]))


def nested(kind: type[list[Any]] | type[tuple[Any, ...]]) -> Any:
    value: Any = kind()
    for _ in range(100_000):
        value = kind([value])
    return value


DEEP: Any = nested(list)
DEEP_TUPLE: Any = nested(tuple)
ONE, TWO = {"a": {1: 1.0}}, {"a": np.ones((2, 2))}

CALLS: dict[str, Callable[[], object]] = {
    "evidence": lambda: RULES.infer({"a": DEEP}),
    "evidence of all inputs": lambda: RULES.infer(DEEP),
    "a tuple as evidence": lambda: RULES.infer({"a": DEEP_TUPLE}),
    "a degree": lambda: RULES.infer({"a": {0: DEEP}}),
    "targets": lambda: pinesy.learn(RULES, TWO, {"b": DEEP}),
    "targets of the only output": lambda: pinesy.learn(RULES, TWO, DEEP),
    "targets of an audit": lambda: pinesy.audit(RULES, TWO, {"b": DEEP}),
    "a target of backpropagation": lambda: pinesy.backpropagate(RULES, ONE, {"b": DEEP}),
    "evidence to explain": lambda: explain(RULES, {"a": DEEP}),
    "a distribution": lambda: antipignistic(DEEP),
    "degrees": lambda: Possibility(A, DEEP),
    "a domain": lambda: Attribute("x", DEEP),
    "a subset": lambda: A.isin(DEEP),
    "a tuple in a subset": lambda: A.isin([DEEP_TUPLE]),
    "2^70 values": lambda: Attribute("x", range(2**70)),
    "10^12 cuts": lambda: Attribute.number("x", cuts=range(10**12)),
    "2^70 cuts": lambda: Attribute.number("x", cuts=range(2**70)),
    "cuts without end": lambda: Attribute.number("x", cuts=count()),
    "2^70 digits": lambda: addition(2**70),
    "a base of 2^70": lambda: addition(1, base=2**70),
    "a model that is a number": lambda: Combined(1),  # type: ignore[arg-type]
    "predictions of a list": lambda: Predictions([]),  # type: ignore[arg-type]
    "a picture of a list": lambda: picture([]),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", CALLS)
def test_is_refused_at_once(name: str) -> None:
    with pytest.raises(PinesyError) as caught:
        CALLS[name]()
    assert len(str(caught.value)) < 300


def test_a_deep_value_can_be_shown() -> None:
    assert repr(Attribute("x", [DEEP_TUPLE])) == "Attribute('x', {a deeply nested tuple})"
