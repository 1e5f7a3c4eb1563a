"""The paper's running example: do two images of 0 or 1 show the same digit?"""

from typing import Any

import numpy as np
import pytest

from paper.same_digit import EXAMPLE, FIRST, B, rule_set, tuples
from pinesy import Cascade, RuleSet

SAMPLES = pytest.mark.parametrize("sample", EXAMPLE["inference"])


SECOND = rule_set(EXAMPLE["rules_c"], "c")
CASCADE = Cascade(FIRST, SECOND)
BOTH = pytest.mark.parametrize(("rules", "name"), [(FIRST, "b"), (SECOND, "c")])


@BOTH
def test_partition(rules: RuleSet, name: str) -> None:
    expected = EXAMPLE[f"partition_{name}"]
    assert rules.partition.tuples == [tuple(signs) for signs in expected["signs"]]
    cells = rules.partition.cells(rules.output.domain)
    assert cells == [tuple(tuples(values)) for values in expected["values"]]


@BOTH
def test_relation_in_symbols(rules: RuleSet, name: str) -> None:
    rows = [" ".join(row).replace("_", "") for row in rules.relation.symbolic]
    assert rows == EXAMPLE[f"relation_{name}_rows"]


@BOTH
def test_relation_with_all_parameters_zero(rules: RuleSet, name: str) -> None:
    assert rules.relation.matrix.tolist() == EXAMPLE[f"matrix_{name}"]


def interleaved(degrees: Any) -> list[float]:
    return [d for pair in zip(degrees.lambdas, degrees.rhos, strict=True) for d in pair]


@SAMPLES
def test_premise_degrees(sample: dict[str, list[float]]) -> None:
    premises = CASCADE.trace({"a1": sample["a1"], "a2": sample["a2"]}).premises
    assert interleaved(premises["b"]) == sample["premises_b"]
    assert interleaved(premises["c"]) == sample["premises_c"]


@SAMPLES
def test_inferred_distribution_of_the_pair(sample: dict[str, list[float]]) -> None:
    """The paper lists the degrees in the order of the cells: (1,1), (0,1), (1,0), (0,0)."""
    found = FIRST.infer({"a1": sample["a1"], "a2": sample["a2"]})
    assert [found[v] for v in ((1, 1), (0, 1), (1, 0), (0, 0))] == sample["inferred_b"]
    premises = CASCADE.trace({"a1": sample["a1"], "a2": sample["a2"]}).premises["b"]
    assert FIRST.relation.apply(premises.lambdas, premises.rhos).tolist() == sample["inferred_b"]


@SAMPLES
def test_inferred_distribution_of_the_answer(sample: dict[str, list[float]]) -> None:
    """With all parameters zero, c is 1 as far as the pair is equal, 0 as far as it is not."""
    found = CASCADE.infer({"a1": sample["a1"], "a2": sample["a2"]})["c"]
    same, different = sample["premises_c"][0], sample["premises_c"][2]
    assert found.to_dict() == {0: different, 1: same}


def test_all_samples_as_a_batch() -> None:
    samples = EXAMPLE["inference"]
    evidence = {name: np.array([s[name] for s in samples]) for name in ("a1", "a2")}
    trace = CASCADE.trace(evidence)
    order = [B.position(v) for v in ((1, 1), (0, 1), (1, 0), (0, 0))]
    assert trace["b"].degrees[:, order].tolist() == [s["inferred_b"] for s in samples]
    assert trace["c"].best.tolist() == [0, 1, None, 0]
    assert trace["c"].outcome.tolist() == ["decided", "decided", "no_rule", "decided"]


def test_certain_digits() -> None:
    example = EXAMPLE["certain"]
    found = FIRST.infer({"a1": example["a1"], "a2": example["a2"]})
    assert found.best == tuple(example["value"])
    assert found[found.best] == example["degree"]
    assert found.certainty == 1.0
