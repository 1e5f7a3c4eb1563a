"""Possibility distributions: measures, best value, outcome, printing."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from pinesy import Attribute, DomainError, Possibility
from strategies import attributes, chosen, distributions


@given(st.data())
def test_measures_are_the_definition(data: st.DataObject) -> None:
    attribute = data.draw(attributes("a"))
    size = len(attribute.domain)
    degrees = data.draw(distributions(size))
    subset = chosen(attribute, data.draw(st.integers(0, 2**size - 1)))
    pi = Possibility(attribute, np.array(degrees))
    exact = dict(zip(attribute.domain, map(Fraction, degrees), strict=True))
    possible, certain = oracles.possibility(exact, subset), oracles.necessity(exact, subset)
    assert Fraction(pi.possibility(subset)) == possible
    assert pi.necessity(subset) == float(1 - oracles.possibility(exact, set(exact) - set(subset)))
    assert pi.necessity(subset) == pytest.approx(float(certain), abs=1e-15)
    assert pi.possibility(attribute.isin(subset)) == pi.possibility(subset)
    assert pi.necessity(attribute.isin(subset)) == pi.necessity(subset)
    assert [pi[v] for v in attribute.domain] == degrees
    batch = Possibility(attribute, np.array([degrees, degrees[::-1]]))
    assert batch.possibility(subset)[0] == pi.possibility(subset)
    assert batch.necessity(subset)[0] == pi.necessity(subset)
    assert batch[attribute.domain[0]].tolist() == [degrees[0], degrees[-1]]


@given(st.data())
def test_best_outcome_and_certainty(data: st.DataObject) -> None:
    attribute = data.draw(attributes("a"))
    degrees = data.draw(distributions(len(attribute.domain)))
    pi = Possibility(attribute, np.array(degrees))
    first = attribute.domain[degrees.index(1.0)]
    best = first if degrees.count(1.0) == 1 else None
    assert repr(pi.best) == repr(best)
    assert pi.decided is (degrees.count(1.0) == 1)
    assert pi.normalised is True
    assert pi.certainty == pi.necessity([first])
    assert pi.to_dict() == dict(zip(attribute.domain, degrees, strict=True))
    batch = Possibility(attribute, np.array([degrees, [0.5] * len(degrees)]))
    assert len(batch) == 2
    assert [batch.best[0], batch.best[1]] == [best, None]
    assert batch.outcome.tolist() == [pi.outcome, "contradiction"]
    assert batch.normalised.tolist() == [True, False]
    assert batch.certainty[0] == pi.certainty
    assert np.isnan(batch.certainty[1])
    assert batch.contradiction.tolist() == [0.0, 0.5]
    assert batch.sample(0).degrees.tolist() == degrees
    assert batch.sample(1).normalised is False


@pytest.mark.parametrize(
    ("domain", "kind"),
    [
        ((0, 1, 2), "i"),
        ((0.5, 1.5), "f"),
        ((False, True), "b"),
        (("low", "high"), "O"),
        (((0, 0), (0, 1)), "O"),
        ((0, "0"), "O"),
        ((10**30, 0), "O"),
        ((0, 1.5), "O"),
        (((0, 1),), "O"),
    ],
)
def test_best_values_of_a_batch_are_the_values_themselves(
    domain: tuple[Any, ...], kind: str
) -> None:
    attribute = Attribute("a", domain)
    n = len(domain)
    best = Possibility(attribute, np.eye(n)).best
    assert best.shape == (n,)
    assert best.dtype.kind == kind
    assert best.tolist() == list(domain)


def test_incoherence_behind_a_distribution_is_remembered() -> None:
    a = Attribute("a", range(2))
    assert Possibility(a, np.array([1.0, 0.0]), coherence=0.75).normalised is False
    batch = Possibility(a, np.eye(2), coherence=np.array([1.0, 0.25]))
    assert batch.normalised.tolist() == [True, False]
    assert batch.contradiction.tolist() == [0.0, 0.75]
    assert [batch.sample(i).normalised for i in (0, 1)] == [True, False]
    assert [batch.sample(i).contradiction for i in (0, 1)] == [0.0, 0.75]


def test_a_contradiction_is_no_answer() -> None:
    a = Attribute("a", ["x", "y"])
    one = Possibility(a, np.array([0.5, 0.5]))
    assert (one.best, one.outcome, one.decided, one.contradiction) == (
        None,
        "contradiction",
        False,
        0.5,
    )
    assert np.isnan(one.certainty)
    assert repr(one) == "Possibility(a, {x: 0.5, y: 0.5}, contradiction 0.5)"
    behind = Possibility(a, np.array([1.0, 0.0]), coherence=0.75)
    assert (behind.best, behind.contradiction) == (None, 0.25)


def test_contradictions_of_a_batch() -> None:
    a = Attribute("a", range(2))
    batch = Possibility(a, np.array([[1.0, 0.25], [0.5, 0.0], [1.0, 1.0]]))
    assert batch.best.tolist() == [0, None, None]
    assert batch.best.dtype == object
    assert batch.decided.tolist() == [True, False, False]
    assert batch.outcome.tolist() == ["decided", "contradiction", "no_rule"]
    np.testing.assert_array_equal(batch.certainty, [0.75, np.nan, 0.0])
    assert repr(batch) == "Possibility(a, 3 samples, 1 no_rule, 1 contradiction)"


@pytest.mark.parametrize("shape", [(3,), (2, 3), (200, 9), (1, 1, 2), ()])
def test_degrees_that_do_not_fit_the_domain(shape: tuple[int, ...]) -> None:
    """In a process of its own: a compiled loop that trusts a wrong shape can bring it down."""
    code = f"""
import numpy as np
from pinesy import Attribute, If, PinesyError, Possibility, RuleSet
a, b = Attribute("a", range(2)), Attribute("b", range(2))
rule_set = RuleSet([If(a.isin([0])).then(b.isin([0]))])
try:
    rule_set.infer({{"a": Possibility(a, np.ones({shape}))}})
except PinesyError as error:
    print("refused:", error)
"""
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: ")
    assert "'a'" in done.stdout
    assert str(shape) in done.stdout


def test_printing() -> None:
    a = Attribute("a", range(8))
    degrees = np.array([0.1, 0.2, 1.0, 0.0, 1 / 3, 0.0, 0.0, 0.0])
    assert repr(Possibility(a, degrees)) == (
        "Possibility(a, {2: 1, 4: 0.3333, 1: 0.2, 0: 0.1, 3: 0, 5: 0, ...})"
    )
    assert repr(Possibility(a, np.eye(8))) == "Possibility(a, 8 samples)"


def test_questions_that_need_the_other_form() -> None:
    a = Attribute("a", range(2))
    one, many = Possibility(a, np.array([1.0, 0.2])), Possibility(a, np.eye(2))
    with pytest.raises(DomainError, match=r"sample\(row\) first"):
        many.to_dict()
    with pytest.raises(DomainError, match="single distribution already"):
        one.sample(0)
    for row in (2, -3, "a"):
        with pytest.raises(DomainError, match=f"no sample {row!r}; there are 2, from 0 on"):
            many.sample(row)  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="has no length"):
        len(one)
    with pytest.raises(DomainError, match="has no value 7"):
        one[7]
    with pytest.raises(DomainError, match="no value 'x'"):
        one.possibility({"x"})
    with pytest.raises(DomainError, match="not a proposition on attribute 'a'"):
        one.possibility(Attribute("b", range(2)).isin({0}))
