"""The theorem: rules carry the p-value of all inputs together to the answer, by definition."""

from collections.abc import Hashable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from pinesy import Attribute, Cascade, RuleSet, calibrate, function, joint
from pinesy.calibration import CalibratedInputs
from strategies import DEGREES, cascades

#: Calibration samples of each example.
N = 5
Degrees = Mapping[str, list[list[float]]]


def rows_of(draw: Any, inputs: tuple[Attribute, ...]) -> Degrees:
    """Draw degrees of any kind for calibration samples and one new sample, by input."""
    return {
        a.name: draw(
            st.lists(
                st.lists(DEGREES, min_size=len(a.domain), max_size=len(a.domain)),
                min_size=N + 1,
                max_size=N + 1,
            )
        )
        for a in inputs
    }


def places_of(draw: Any, inputs: tuple[Attribute, ...]) -> dict[str, list[int]]:
    """Draw the places of the true values."""
    return {
        a.name: draw(st.lists(st.integers(0, len(a.domain) - 1), min_size=N + 1, max_size=N + 1))
        for a in inputs
    }


def calibrated(cascade: Cascade, degrees: Degrees, places: dict[str, list[int]]) -> Any:
    domains = {a.name: a.domain for a in cascade.inputs}
    evidence = {name: np.array(rows[:N]) for name, rows in degrees.items()}
    truth = {name: [domains[name][i] for i in own[:N]] for name, own in places.items()}
    return calibrate(cascade, evidence, truth)


def vector_p_value(degrees: Degrees, places: dict[str, list[int]]) -> Fraction:
    """The p-value of the new sample's worst true value, by its definition."""
    worst = [max(1.0 - degrees[n][i][places[n][i]] for n in degrees) for i in range(N + 1)]
    return Fraction(1 + sum(s >= worst[N] for s in worst[:N]), N + 1)


@settings(max_examples=20)
@given(st.data(), cascades())
def test_the_true_answer_is_as_possible_as_all_inputs_are_together(
    data: st.DataObject, cascade: Cascade
) -> None:
    degrees, places = rows_of(data.draw, cascade.inputs), places_of(data.draw, cascade.inputs)
    new = {name: np.array(rows[N]) for name, rows in degrees.items()}
    found = calibrated(cascade, degrees, places).infer(new)
    certain: dict[str, dict[Hashable, Fraction]] = {
        a.name: {v: Fraction(i == places[a.name][N]) for i, v in enumerate(a.domain)}
        for a in cascade.inputs
    }
    known = oracles.infer(cascade.rule_sets, certain).distributions
    p = vector_p_value(degrees, places)
    for name, pi in found.items():
        for value, degree in zip(pi.attribute.domain, pi.degrees.tolist(), strict=True):
            assert degree >= float(min(p, known[name][value]))


def extended(pi: Mapping[str, Any], domains: list[tuple[int, ...]], names: str) -> dict[int, float]:
    """The extension principle for a sum, by all combinations of values."""
    found: dict[int, float] = {}
    for values in product(*domains):
        degree = min(pi[n][v] for n, v in zip(names, values, strict=True))
        found[sum(values)] = max(found.get(sum(values), 0.0), degree)
    return found


@given(st.data(), st.integers(1, 3))
def test_functions_of_a_joint_attribute_lose_nothing(data: st.DataObject, m: int) -> None:
    names = "abc"[:m]
    inputs = tuple(Attribute(n, range(data.draw(st.integers(2, 3)))) for n in names)
    whole = joint("all", *inputs) if m > 1 else inputs[0]
    rules = function("total", whole, " + ".join(names))
    cascade = Cascade(rules) if isinstance(rules, RuleSet) else rules
    degrees, places = rows_of(data.draw, cascade.inputs), places_of(data.draw, cascade.inputs)
    sure = calibrated(cascade, degrees, places)
    assert isinstance(sure, CalibratedInputs)
    new = {name: np.array(rows[N]) for name, rows in degrees.items()}
    side, columns = sure.degrees(new).tolist(), 0
    pi: dict[str, list[float]] = {}
    for a in cascade.inputs:
        pi[a.name] = side[columns : columns + len(a.domain)]
        columns += len(a.domain)
    total = sure.infer(new)["total"]
    wanted = extended(pi, [tuple(range(len(a.domain))) for a in inputs], names)
    assert dict(zip(total.attribute.domain, total.degrees.tolist(), strict=True)) == wanted
    p = vector_p_value(degrees, places)
    true = sum(places[n][N] for n in names)
    assert wanted[true] >= float(p)
    best = all(degrees[n][N][places[n][N]] < max(degrees[n][N]) for n in names)
    if best and m == 1:  # not raised to 1, and no other inputs give the same answer
        assert wanted[true] == float(p)
