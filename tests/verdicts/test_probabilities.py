"""Verdicts take what a classifier says as it is."""

from typing import Any

import numpy as np
import pytest

from pinesy import antipignistic, minimum_specificity, parse
from pinesy.exceptions import DataError
from pinesy.problems import addition
from pinesy.verdicts import verdict

RULES = parse("""
    number debt_ratio
    attribute history in {good, mixed, bad}
    attribute decision in {approve, review, reject}
    if debt_ratio < 0.45 and history == good then decision == approve
    if debt_ratio >= 0.45 and history == bad then decision == reject [certainty=0.9]
    if debt_ratio >= 0.45 and history != bad then decision in {review, reject}
""")
READ = {"bad": 0.8, "mixed": 0.15, "good": 0.05}


@pytest.mark.parametrize("read", [READ, [0.05, 0.15, 0.8], np.array([0.05, 0.15, 0.8])])
@pytest.mark.parametrize("transform", [antipignistic, minimum_specificity])
def test_probabilities_are_transformed(read: Any, transform: Any) -> None:
    known = {"debt_ratio": 0.639}
    found = verdict(RULES, known, probabilities={"history": read}, transform=transform)
    same = verdict(RULES, known | {"history": transform(READ)})
    assert found.distribution.to_dict() == same.distribution.to_dict()
    assert found.text() == same.text()


def test_probabilities_are_antipignistic_by_default() -> None:
    seen = {"a_1": [0.9, 0.1] + 8 * [0.0], "a_2": [0.0, 1.0] + 8 * [0.0]}
    possibilities = {name: antipignistic(p) for name, p in seen.items()}
    found = verdict(addition(1), probabilities=seen, output="y_1")
    assert found.text() == verdict(addition(1), possibilities, "y_1").text()
    assert found.certainty == 0.8


@pytest.mark.parametrize(
    ("evidence", "probabilities", "names"),
    [
        (None, None, ["evidence", "probabilities"]),
        ({"history": "bad"}, {"history": READ}, ["history", "once"]),
        ({}, {"history": "bad"}, ["history", "bad", "evidence"]),
        ({}, [0.5, 0.5], ["dicts"]),
        ([1.0, 0.0], {"history": READ}, ["dicts"]),
    ],
)
def test_wrong_probabilities(evidence: Any, probabilities: Any, names: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        verdict(RULES, evidence, probabilities=probabilities)
    assert [name for name in names if name not in str(caught.value)] == []
