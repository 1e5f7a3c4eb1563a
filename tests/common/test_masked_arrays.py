"""What a masked array hides is not read as if it were there."""

from collections.abc import Callable

import numpy as np
import pytest

from pinesy import (
    Attribute,
    If,
    NeuroSymbolic,
    RuleSet,
    antipignistic,
    antipignistic_inverse,
    learn,
    minimum_specificity,
)
from pinesy.exceptions import DataError

A, B = Attribute("a", [0, 1]), Attribute("b", [0, 1])
RULES = RuleSet([If(A.isin({1})).then(B.isin({1}))])
ROWS = [[1.0, 0.5], [0.25, 1.0]]
HIDDEN = np.ma.masked_array(ROWS, mask=[[False, False], [False, True]])
VALUES = np.ma.masked_array([0, 1], mask=[False, True])


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: RULES.infer({"a": HIDDEN}), r"attribute 'a': .* the first at \(1, 1\)"),
        (lambda: RULES.infer(HIDDEN), r"the array of inputs: .* with 1 masked entries"),
        (lambda: RULES.infer({"a": VALUES}), "attribute 'a': .* the first at 1; .* give None"),
        (lambda: learn(RULES, {"a": ROWS}, {"b": VALUES}), "the target of 'b': .* the first at 1"),
        (lambda: antipignistic(HIDDEN), "a distribution: a masked array"),
        (lambda: minimum_specificity(HIDDEN), "a distribution: a masked array"),
        (lambda: antipignistic_inverse(HIDDEN), "a distribution: a masked array"),
        (lambda: NeuroSymbolic(np.exp, RULES).predict({"a": HIDDEN}), "samples.* a masked array"),
    ],
)
def test_hidden_numbers_are_refused(call: Callable[[], object], where: str) -> None:
    with pytest.raises(DataError, match=where):
        call()


def test_a_masked_array_that_hides_nothing_is_an_array() -> None:
    plain = np.ma.masked_array(ROWS, mask=False)
    assert RULES.infer({"a": plain}).degrees.tolist() == RULES.infer({"a": ROWS}).degrees.tolist()
