"""Calibrated rules and thresholds as ONNX: the bits of `infer`, `predict_set` and `decisions`."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitters.raw_samples import raw_inputs
from exchange.onnx_runs import run, same_bits
from induction.random_cards import random_card
from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    DataError,
    DegreeError,
    DomainError,
    If,
    RuleSet,
    calibrate,
    decide,
    to_onnx,
)
from pinesy.calibration import CalibratedPoints, CalibratedRules
from pinesy.guarantees import SelectiveRules, calibrate_groups
from pinesy.guarantees.decision_threshold import DecisionThreshold, TestedThreshold
from pinesy.induction import CardCascade
from pinesy.rules.outcomes import OUTCOMES
from strategies import cascades, random_batch, shaped_cascades

onnx = pytest.importorskip("onnx")
LEVELS = (0.5, 0.75, 0.8, 0.9)
#: Calibration samples, so few that scores tie.
N = 19


def assert_same(
    calibrated: CalibratedRules, given: Any, evidence: Any, form: Any, level: float
) -> None:
    """Compare a graph with pinesy; `given` is the evidence as the graph takes it."""
    found = run(to_onnx(calibrated, inputs_as=form, level=level), given)
    sets = calibrated.predict_set(evidence, level)
    assert same_bits(found["conformity"], np.asarray(sets.conformity))
    for name, pi in sets.possibilities.items():
        assert same_bits(found[name], pi.degrees)
        assert same_bits(found[f"{name} (set)"], sets.members(name))
        assert found[f"{name} (outcome)"].tolist() == sets.outcome_indices(name).tolist()
        contradiction = found.get(f"{name} (contradiction)", np.zeros(len(pi)))
        assert contradiction.tolist() == np.broadcast_to(pi.contradiction, len(pi)).tolist()


def random_values(rng: np.random.Generator, attributes: Any, n: int) -> dict[str, Any]:
    return {a.name: [a.domain[i] for i in rng.integers(len(a.domain), size=n)] for a in attributes}


def random_probabilities(rng: np.random.Generator, attributes: Any, n: int) -> dict[str, Any]:
    """Return distributions on a grid, so that they tie, with zeros and ones."""
    found = {}
    for a in attributes:
        draws = rng.integers(len(a.domain), size=(n, rng.choice([1, 4])))
        found[a.name] = np.stack([(draws == i).mean(axis=1) for i in range(len(a.domain))], axis=1)
    return found


def random_degrees(rng: np.random.Generator, attributes: Any, n: int) -> dict[str, Any]:
    return {a.name: random_batch(rng, n, len(a.domain), 4) for a in attributes}


@settings(max_examples=12)
@given(
    cascades() | shaped_cascades(),
    st.integers(0, 10_000),
    st.sampled_from(["complement", "antipignistic", "cumulated"]),
    st.sampled_from(["sample", "input"]),
    st.booleans(),
    st.sampled_from(LEVELS),
)
def test_calibrated_inputs(
    cascade: Cascade, seed: int, score: str, unit: Any, has_kinds: bool, level: float
) -> None:
    rng = np.random.default_rng(seed)
    draw = random_degrees if score == "complement" else random_probabilities
    kinds = {a.name: f"kind {i % 2}" for i, a in enumerate(cascade.inputs)} if has_kinds else None
    truth, n = random_values(rng, cascade.inputs, 2 * N), 2 * N
    evidence = draw(rng, cascade.inputs, n)
    calibrated = calibrate(cascade, evidence, truth, score=score, unit=unit, kinds=kinds)
    new = draw(rng, cascade.inputs, 11)
    assert_same(calibrated, new, new, "degrees", level)


@settings(max_examples=12)
@given(
    cascades() | shaped_cascades(),
    st.integers(0, 10_000),
    st.sampled_from([None, "antipignistic", "minimum_specificity"]),
    st.sampled_from(LEVELS),
)
def test_calibrated_answers(cascade: Cascade, seed: int, transform: Any, level: float) -> None:
    rng = np.random.default_rng(seed)
    draw = random_degrees if transform is None else random_probabilities
    evidence = draw(rng, cascade.inputs, N)
    truth = random_values(rng, cascade.outputs, N)
    calibrated = calibrate(cascade, evidence, truth, transform=transform)
    new = draw(rng, cascade.inputs, 11)
    assert_same(calibrated, new, new, "degrees", level)
    selective = selective_of(rng, calibrated, tuple(truth), transform)
    assert_decided(selective, new, new, "degrees", level)


def test_classes_apart() -> None:
    a, b, c = (Attribute(name, range(3)) for name in "abc")
    rules = Cascade(RuleSet([If(a.isin({0}) & b.isin({1})).then(c.isin({2}), 0.2, 0.1)]))
    rng = np.random.default_rng(0)
    evidence = random_degrees(rng, (a, b), 90)
    truth = random_values(rng, (a, b), 90)
    options: Any = {"class_conditional": True, "unit": "input"}
    calibrated = calibrate(rules, evidence, truth, **options)
    new = random_degrees(rng, (a, b), 40)
    assert_same(calibrated, new, new, "degrees", 0.9)


def test_raw_columns() -> None:
    x = Attribute.number("x", [0.1, "<=0.7", 3], blur=1 / 3)
    a, b = Attribute("a", ["no", "yes"]), Attribute("b", range(4))
    cascade = Cascade(
        RuleSet(
            [
                *(If(x.isin({v})).then(b.isin({i}), 0.1, 1 / 3) for i, v in enumerate(x.domain)),
                If(a.isin({"yes"})).then(b.isin({0, 1}), 0.0, 0.2),
            ]
        )
    )
    rng = np.random.default_rng(0)
    numbers, evidence = raw_inputs(cascade, 60)
    for truth in (random_values(rng, cascade.inputs, 60), random_values(rng, [b], 60)):
        calibrated = calibrate(cascade, evidence, truth)
        assert_same(calibrated, numbers, evidence, "values", 0.9)


def weighted_cards(seed: int, n_classes: int, n_lines: int, n_kept: int) -> CardCascade:
    card, rng = random_card(seed, n_classes, n_lines, n_kept), np.random.default_rng(seed)
    lines = tuple(line._replace(weight=line.points + rng.normal() / 3) for line in card.lines)
    return CardCascade(replace(card, lines=lines))


@settings(max_examples=6)
@given(st.integers(0, 10_000), st.integers(2, 9), st.integers(0, 30), st.integers(0, 2))
def test_points(seed: int, n_classes: int, n_lines: int, n_kept: int) -> None:
    cascade = weighted_cards(seed, n_classes, n_lines, n_kept)
    numbers, evidence = raw_inputs(cascade, 40)
    rng = np.random.default_rng(seed)
    calibrated = calibrate(cascade, evidence, random_values(rng, [cascade.card.output], 40))
    assert isinstance(calibrated, CalibratedPoints)
    # The samples of calibration again: all of them tie with a score.
    assert_same(calibrated, numbers, evidence, "values", 0.9)
    selective = selective_of(rng, calibrated, calibrated.outputs, None)
    found = assert_decided(selective, numbers, evidence, "values", 0.9)
    assert found["class"].tolist() == cascade.score(evidence).best.tolist()


# --- decisions -----------------------------------------------------------------------------------


def selective_of(
    rng: np.random.Generator, model: Any, outputs: tuple[str, ...], transform: str | None
) -> SelectiveRules:
    """Return rules with a threshold that some samples reach exactly."""
    threshold = None if rng.random() < 0.2 else float(rng.choice([0.0, 0.25, 0.5]))
    tested = TestedThreshold(0.1, threshold, 10, 5, 0.0, 0.1)
    return SelectiveRules(model, DecisionThreshold(0.1, 0.9, tested), outputs, transform)


def assert_decided(
    selective: SelectiveRules, given: Any, evidence: Any, form: Any, level: float
) -> dict[str, Any]:
    """Compare decisions, without a level and with one; return what the last graph gives."""
    decisions, found = selective.decisions(evidence), {}
    threshold = selective.threshold.threshold
    for chosen in (None, level):
        model = to_onnx(selective, inputs_as=form, level=chosen)
        found = run(model, given)
        assert found["decided"].tolist() == decisions.decided.tolist()
        assert same_bits(found["certainty"], decisions.certainty)
        for name in selective.outputs:
            assert found[f"{name} (best)"].tolist() == decisions.answers.best[name].tolist()
            assert (f"{name} (set)" in found) == (chosen is not None)
        texts = json.loads({p.key: p.value for p in model.metadata_props}["pinesy"])
        assert texts["decisions"]["threshold"] == threshold
        assert texts["decisions"]["promise"] == selective.promise
    return found


def test_a_threshold_that_was_tested() -> None:
    a, b = Attribute("a", range(3)), Attribute("b", range(3))
    rules = Cascade(RuleSet([If(a.isin({i})).then(b.isin({i})) for i in range(3)]))
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.2, 0.2, 0.2], 3000)
    truth = (p.cumsum(axis=1) < rng.random((3000, 1))).sum(axis=1)
    selective = decide(rules, {"a": p}, {"b": truth}, error=0.05, transform="antipignistic")
    new = {"a": rng.dirichlet([0.2, 0.2, 0.2], 50)}
    decisions = selective.decisions(new)
    found = run(to_onnx(selective), new)
    assert found["decided"].tolist() == decisions.decided.tolist()
    assert 0 < decisions.decided.sum() < 50
    assert same_bits(found["b"], rules.infer(new, transform="antipignistic")["b"].degrees)


# --- what is refused -----------------------------------------------------------------------------


@pytest.fixture
def rules() -> Cascade:
    a, b = Attribute("a", range(2)), Attribute("b", range(2))
    return Cascade(RuleSet([If(a.isin({1})).then(b.isin({1}), 0.0, 0.3)]))


def test_samples_that_pinesy_refuses(rules: Cascade) -> None:
    evidence, n = {"a": random_batch(np.random.default_rng(0), N, 2, 4)}, N
    bad = {"a": np.array([[1.5, 0.0], [np.nan, 1.0], [0.0, -0.25], [1.0, 0.5]])}
    for truth in ({"a": [0] * n}, {"b": [1] * n}):
        calibrated = calibrate(rules, evidence, truth)
        selective = SelectiveRules(
            calibrated, DecisionThreshold(0.1, 0.9, TestedThreshold(0.1, 0.0, 9, 9, 0, 0)), ("b",)
        )
        found = run(to_onnx(selective, level=0.9), bad)
        assert np.isnan(found["b"]).all(axis=1).tolist() == [True, True, True, False]
        for name in ("conformity", "certainty"):
            assert np.isnan(found[name]).tolist() == [True, True, True, False]
        assert found["b (outcome)"].tolist()[:3] == found["b (best)"].tolist()[:3] == [-1] * 3
        assert not found["b (set)"][:3].any()
        assert found["decided"].tolist() == [False, False, False, True]
        for row in range(3):
            with pytest.raises(DegreeError):
                calibrated.predict_set({"a": bad["a"][row]}, 0.9)


def test_what_is_not_written(rules: Cascade) -> None:
    evidence = {"a": random_batch(np.random.default_rng(0), 40, 2, 4)}
    truth = {"b": [0, 1] * 20}
    grouped = calibrate_groups(rules, evidence, truth, ["north", "south"] * 20)
    with raises_saying(DomainError, "groups", "model.groups['north']"):
        to_onnx(grouped, level=0.9)  # type: ignore[arg-type]
    assert to_onnx(grouped.groups["north"], level=0.9)
    batch = grouped.for_groups(["north"] * 40, 40)
    with raises_saying(DomainError, "GroupTransform", "one group"):
        to_onnx(batch)
    weighted = calibrate(rules, evidence, truth, weights=np.arange(1.0, 41.0))
    with raises_saying(DomainError, "weights", "calibrate without"):
        to_onnx(weighted)
    with raises_saying(DomainError, "level", "calibrate the rules"):
        to_onnx(rules, level=0.9)
    calibrated = calibrate(rules, evidence, truth)
    with raises_saying(DomainError, "its own transformation"):
        to_onnx(calibrated, transform="antipignistic")
    with raises_saying(DataError, "40 calibration samples", "0.99"):
        to_onnx(calibrated, level=0.99)
    p = {"a": evidence["a"] / evidence["a"].sum(axis=1, keepdims=True)}
    probable = calibrate(rules, p, truth, transform="antipignistic")
    with raises_saying(DomainError, "probabilities (antipignistic)", "inputs_as"):
        to_onnx(probable, inputs_as="values")


def test_metadata(rules: Cascade) -> None:
    evidence = {"a": random_batch(np.random.default_rng(0), 40, 2, 4)}
    calibrated = calibrate(rules, evidence, {"b": [0, 1] * 20})
    model = to_onnx(calibrated, level=0.9)
    texts = json.loads({p.key: p.value for p in model.metadata_props}["pinesy"])
    assert texts["calibration"] == {"conformity": "conformity", "guarantee": calibrated.guarantee}
    names = {"set": "b (set)", "outcome": "b (outcome)"}
    assert texts["sets"] == {"level": 0.9, "outcomes": list(OUTCOMES), "of": {"b": names}}
    plain = {o.name for o in to_onnx(calibrated).graph.output}
    assert plain == {"b", "conformity"}
