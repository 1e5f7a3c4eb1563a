"""Tables with named columns are matched by the names, never by their order."""

from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from named_columns import Table
from pinesy import Attribute, DataError, Iff, RuleSet, learn

SKY, RAIN = Attribute("sky", ["clear", "dark"]), Attribute("rain", ["no", "yes"])
RULES = RuleSet([Iff(SKY.isin({"dark"})).then(RAIN.isin({"yes"}))])
DARK = [[0.25, 1.0], [0.5, 1.0]]
TURNED = np.array(DARK)[:, ::-1]


@pytest.mark.parametrize(
    "evidence",
    [
        Table(["sky=dark", "sky=clear"], TURNED),
        Table([0, 1], DARK),
        {"sky": Table(["dark", "clear"], TURNED)},
        {"sky": Table(["clear", "dark"], DARK)},
        {"sky": Table([0, 1], DARK)},
    ],
)
def test_inference(evidence: Any) -> None:
    assert RULES.infer(evidence).degrees.tolist() == DARK


def test_numbers_as_values() -> None:
    digit, even = Attribute("digit", [2, 1, 0]), Attribute("even", [False, True])
    rules = RuleSet([Iff(digit.isin({0, 2})).then(even.isin({True}))])
    table = Table([0, 1, 2], [[1.0, 0.0, 0.5]])
    assert rules.infer({"digit": table}).degrees.tolist() == [[0.0, 1.0]]
    two_or_one = Table([2, 1, 0], [[0.5, 1.0, 0.0]])
    assert rules.infer({"digit": two_or_one}).degrees.tolist() == [[1.0, 0.5]]


def test_targets() -> None:
    given = learn(RULES, {"sky": DARK}, [[0.5, 1.0], [0.75, 1.0]])
    named = learn(RULES, {"sky": DARK}, Table(["yes", "no"], [[1.0, 0.5], [1.0, 0.75]]))
    assert named.cascade == given.cascade
    assert given.cascade["rain"].r.any()


@pytest.mark.parametrize(
    ("evidence", "says"),
    [
        (Table(["dark", "clear"], TURNED), ["the array of inputs", "must be sky=clear, sky=dark"]),
        ({"sky": Table(["dark", "bright"], TURNED)}, ["attribute 'sky'", "dark, bright", "array"]),
        ({"sky": Table(["dark", "dark"], TURNED)}, ["attribute 'sky'", "must be clear, dark"]),
        ({"sky": Table(["dark"], TURNED)}, ["attribute 'sky'", "must be clear, dark"]),
    ],
)
def test_other_columns(evidence: Any, says: list[str]) -> None:
    with raises_saying(DataError, says[0], "is a table with the columns", *says[1:]):
        RULES.infer(evidence)


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"dark": [1.0, 1.0], "clear": [0.25, 0.5]})
    assert RULES.infer({"sky": table}).degrees.tolist() == DARK
