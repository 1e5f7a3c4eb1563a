"""Tables with named columns are matched by the names, never by their order."""

from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from named_columns import frame_of
from pinesy import Attribute, DataError, Iff, RuleSet, learn

SKY, RAIN = Attribute("sky", ["clear", "dark"]), Attribute("rain", ["no", "yes"])
RULES = RuleSet([Iff(SKY.isin({"dark"})).then(RAIN.isin({"yes"}))])
DARK = [[0.25, 1.0], [0.5, 1.0]]
TURNED = np.array(DARK)[:, ::-1]


@pytest.mark.parametrize(
    "evidence",
    [
        frame_of(["sky=dark", "sky=clear"], TURNED),
        frame_of([0, 1], DARK),
        {"sky": frame_of(["dark", "clear"], TURNED)},
        {"sky": frame_of(["clear", "dark"], DARK)},
        {"sky": frame_of([0, 1], DARK)},
    ],
)
def test_inference(evidence: Any) -> None:
    assert RULES.infer(evidence).degrees.tolist() == DARK


def test_numbers_as_values() -> None:
    digit, even = Attribute("digit", [2, 1, 0]), Attribute("even", [False, True])
    rules = RuleSet([Iff(digit.isin({0, 2})).then(even.isin({True}))])
    table = frame_of([0, 1, 2], [[1.0, 0.0, 0.5]])
    assert rules.infer({"digit": table}).degrees.tolist() == [[0.0, 1.0]]
    two_or_one = frame_of([2, 1, 0], [[0.5, 1.0, 0.0]])
    assert rules.infer({"digit": two_or_one}).degrees.tolist() == [[1.0, 0.5]]


def test_targets() -> None:
    given = learn(RULES, {"sky": DARK}, [[0.5, 1.0], [0.75, 1.0]])
    named = learn(RULES, {"sky": DARK}, frame_of(["yes", "no"], [[1.0, 0.5], [1.0, 0.75]]))
    assert named.cascade == given.cascade
    assert given.cascade["rain"].r.any()


@pytest.mark.parametrize(
    ("evidence", "says"),
    [
        (
            frame_of(["dark", "clear"], TURNED),
            ["the array of inputs", "must be sky=clear, sky=dark"],
        ),
        (
            {"sky": frame_of(["dark", "bright"], TURNED)},
            ["attribute 'sky'", "dark, bright", "array"],
        ),
        (
            {"sky": frame_of(["dark", "dark"], TURNED)},
            ["attribute 'sky'", "must be clear, dark"],
        ),
        ({"sky": frame_of(["dark"], TURNED[:, :1])}, ["attribute 'sky'", "must be clear, dark"]),
    ],
)
def test_other_columns(evidence: Any, says: list[str]) -> None:
    with raises_saying(DataError, says[0], "is a table with the columns", *says[1:]):
        RULES.infer(evidence)


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"dark": [1.0, 1.0], "clear": [0.25, 0.5]})
    assert RULES.infer({"sky": table}).degrees.tolist() == DARK
