"""The paper's examples of probability-possibility transformations."""

from typing import Any

import numpy as np
import pytest

from golden import PAPER
from pinesy import antipignistic, antipignistic_inverse, minimum_specificity

EXAMPLES: dict[str, Any] = PAPER["transforms"]
DIGITS = pytest.mark.parametrize("name", ["peaked", "ambiguous"])
BINARY = pytest.mark.parametrize("example", EXAMPLES["binary"])


@DIGITS
def test_antipignistic(name: str) -> None:
    example = EXAMPLES[name]
    found = antipignistic(example["probability"])
    assert found[0] == 1.0
    assert found == pytest.approx(example["antipignistic"], abs=1e-15)
    assert np.round(found, 10).tolist() == example["antipignistic"]


@DIGITS
def test_minimum_specificity(name: str) -> None:
    example = EXAMPLES[name]
    found = minimum_specificity(example["probability"])
    assert found[0] == 1.0
    assert np.round(found, 10).tolist() == example["minimum_specificity"]


def test_minimum_specificity_that_keeps_ties() -> None:
    """The paper breaks ties by order; kept, the nine equal probabilities share 0.09."""
    found = minimum_specificity(EXAMPLES["peaked"]["probability"], ties="equal")
    assert np.round(found, 10).tolist() == [1.0] + [0.09] * 9
    assert len(set(found[1:].tolist())) == 1


@DIGITS
def test_minimum_specificity_is_the_more_specific_one(name: str) -> None:
    example = EXAMPLES[name]
    lower = minimum_specificity(example["probability"])
    assert (lower <= antipignistic(example["probability"])).all()


@DIGITS
def test_the_probabilities_come_back(name: str) -> None:
    example = EXAMPLES[name]
    found = antipignistic_inverse(example["antipignistic"])
    assert np.round(found, 10).tolist() == example["probability"]


@BINARY
def test_two_classes(example: dict[str, list[float]]) -> None:
    found = antipignistic(example["probability"])
    assert np.round(found, 10).tolist() == example["antipignistic"]
    back = antipignistic_inverse(example["antipignistic"])
    assert np.round(back, 10).tolist() == example["probability"]
