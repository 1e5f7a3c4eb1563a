"""ProbLog, an independent tool, computes the same probabilities."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from pinesy import Cascade, parse
from pinesy.problems import addition
from semantics.worlds_oracle import left

problog = pytest.importorskip("problog")


def clauses(cascade: Cascade, inputs: dict[str, list[float]]) -> Iterator[str]:
    """Write rules for ProbLog: a choice for each input, and one for what each case leaves."""
    for a in cascade.inputs:
        chosen = (f"{p}::{a.name}(v{i})" for i, p in enumerate(inputs[a.name]))
        yield "; ".join(chosen) + "."
    for rule_set in cascade.order:
        out = rule_set.output
        for places in product(*(range(len(a.domain)) for a in rule_set.inputs)):
            pairs = list(zip(rule_set.inputs, places, strict=True))
            values = left(rule_set, {a.name: a.domain[i] for a, i in pairs})
            body = ", ".join(f"{a.name}(v{i})" for a, i in pairs)
            share = f"1/{len(values)}::" if len(values) > 1 else ""
            heads = "; ".join(f"{share}{out.name}(v{out.position(v)})" for v in values)
            if values:
                yield f"{heads} :- {body}."
    for a in cascade.outputs:
        yield f"query({a.name}(_))."


def by_problog(cascade: Cascade, inputs: dict[str, list[float]]) -> dict[str, float]:
    model = problog.program.PrologString("\n".join(clauses(cascade, inputs)))
    found = problog.get_evaluatable().create_from(model).evaluate()
    return {str(query): probability for query, probability in found.items()}


LOOP = """
    attribute a in {0, 1, 2}
    attribute b in {0, 1}
    attribute c in {0, 1}
    attribute d in {0, 1, 2}
    iff a in {0, 1} then b in {1}
    if a in {1} then c in {1}
    iff b in {1} and c in {0} then d in {0}
    iff b in {0} then d in {2}
"""


@pytest.mark.parametrize("rules", [parse(LOOP), addition(1)], ids=["loop", "addition"])
def test_problog_says_the_same(rules: Cascade) -> None:
    rng = np.random.default_rng(0)
    inputs = {}
    for a in rules.inputs:
        counts = rng.integers(0, 3, len(a.domain)) + (np.arange(len(a.domain)) < 2)
        inputs[a.name] = (counts / counts.sum()).tolist()
    found = by_problog(rules, inputs)
    result = rules.infer(inputs, semantics="probabilistic")
    for a in rules.outputs:
        wanted = [found.get(f"{a.name}(v{i})", 0.0) for i in range(len(a.domain))]
        np.testing.assert_allclose(result[a].weights, wanted, rtol=1e-9, atol=1e-12)
