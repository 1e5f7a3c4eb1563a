"""The literature's example of conjunctive premises: what will the blood glucose be?"""

import pytest

from paper.blood_glucose import EXAMPLE, FUTURE, RULES
from pinesy import Cascade, parse


def test_premise_degrees() -> None:
    premises = Cascade(RULES).trace(EXAMPLE["inputs"]).premises[FUTURE.name]
    assert premises.lambdas.tolist() == EXAMPLE["lambda"]
    assert premises.rhos.tolist() == EXAMPLE["rho"]


def test_output() -> None:
    assert RULES.infer(EXAMPLE["inputs"]).to_dict() == EXAMPLE["output"]


def test_measures_of_the_output() -> None:
    found = RULES.infer(EXAMPLE["inputs"])
    assert found.best == "high"
    assert found.necessity({"high"}) == 0.7
    assert found.possibility({"low", "medium"}) == 0.3


def test_the_rules_in_writing() -> None:
    text = str(Cascade(RULES))
    assert "selected-action in {dinner, drink-coffee, lunch} and current-blood-glucose" in text
    assert parse(text).infer(EXAMPLE["inputs"])[FUTURE].to_dict() == EXAMPLE["output"]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_parameters(number: int) -> None:
    rule = EXAMPLE["rules"][number - 1]
    assert (RULES.rules[number - 1].s, RULES.rules[number - 1].r) == (rule["s"], rule["r"])
