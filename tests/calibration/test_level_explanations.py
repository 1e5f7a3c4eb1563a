"""Explanations of calibrated rules speak of levels."""

import json

import numpy as np
import pytest

from calibration.calibrated_rules import made
from messages import raises_saying
from pinesy import antipignistic, why_not
from pinesy.exceptions import DataError, DomainError

ONE = {"left": np.array([0.0, 0.8, 0.2, 0.0]), "right": np.array([0.9, 0.1, 0.0, 0.0])}


@pytest.mark.parametrize("of", ["inputs", "answers"])
def test_an_explanation_tells_the_levels(of: str) -> None:
    sure = made(of)
    found = sure.explain(ONE, "total", level=0.9)
    sets = sure.predict_set(ONE, 0.9)
    pi = sure.infer(ONE)["total"]
    levels = dict(zip(pi.attribute.domain, (1.0 - pi.degrees).round(12).tolist(), strict=True))
    assert found.excluded_at == levels
    text = str(found)
    assert text.startswith("At 90 %: total is 1")
    assert "Excluded at 90 %: " in text
    assert "because" in text
    assert text.endswith(sure.guarantee)
    content = json.loads(found.to_json())
    assert content["set"] == list(sets["total"])
    assert content["excluded_at"][0] == {"value": 0, "level": levels[0]}
    assert content["explanation"]["attribute"] == "total"
    assert repr(found).startswith("LevelExplanation(At 90 %: total is")


def test_inputs_p_values_exclude_a_value() -> None:
    sure = made("inputs")
    found = sure.why_not(ONE, 6, "total", level=0.9)
    p = sure.infer(ONE)["total"].possibility({6})
    assert found.p_value == p
    assert found.excluded_at == round(1 - p, 12)
    assert found.is_excluded
    assert {n for n, _, _ in found.p_values} <= {"left", "right"}
    assert min(degree for _, _, degree in found.p_values) == p
    text = str(found)
    assert text.startswith("total = 6 is excluded at 90 %; it is excluded up to 98.36 %:")
    assert "the p-value of left = 3 is 0.01639" in text
    assert found.to_dict()["excluded"] is True
    assert json.dumps(found.to_dict())
    assert repr(found) == "LevelWhyNot(total = 6: excluded up to 98.36 %)"


def test_answers_are_excluded_by_their_own_p_values() -> None:
    sure = made("answers")
    found = sure.why_not(ONE, 2, "total", level=0.05)
    own = sure.infer(ONE)["total"].possibility({2})
    assert found.p_values == [("total", 2, own)]
    possible = {name: antipignistic(p) for name, p in ONE.items()}
    assert found.reason.degree == why_not(sure.rules, possible, 2, "total").degree
    assert "total = 2" in str(found)


def test_what_cannot_be_explained() -> None:
    sure = made("inputs")
    with raises_saying(DataError, "60 calibration samples", "99 are needed"):
        sure.explain(ONE, "total", level=0.99)
    with raises_saying(DomainError, "total = 1 wins already"):
        sure.why_not(ONE, 1, "total")
    with raises_saying(DataError, "an explanation is of one sample"):
        sure.explain({name: np.stack([p, p]) for name, p in ONE.items()}, "total")
