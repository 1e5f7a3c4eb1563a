"""Rules, networks with rules and classifiers decide what they are certain of; it is saved."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration.adders import adder, answers, evidence
from guarantees.simulated_risks import most_failures
from messages import raises_saying
from pinesy import (
    DataError,
    NeuroSymbolic,
    PinesyError,
    ShapeError,
    calibrate,
    consistent_sets,
    decide,
    load,
    save,
)
from pinesy.exceptions import DomainError
from pinesy.guarantees import SelectiveRules, decide_classes, selective_report


def samples(n: int, seed: int) -> tuple[Any, Any]:
    """Return probabilities of two digits that are right as often as they say, and the digits."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(4, 0.1), (n, 2))
    return p, (p.cumsum(axis=2) < rng.random((n, 2, 1))).sum(axis=2)


P, TRUTH = samples(3000, 0)
NEW, NEW_TRUTH = samples(2000, 1)
OPTIONS: dict[str, Any] = {"error": 0.02, "transform": "antipignistic"}


def selective(**options: Any) -> SelectiveRules:
    return decide(adder(), evidence(P), answers(TRUTH), **(OPTIONS | options))


def test_decided_cases_keep_the_promise_and_the_others_are_handed_over() -> None:
    decisions = selective().decisions(evidence(NEW))
    assert set(decisions.outcomes) == {"decided", "handed_over"}
    right = decisions.proposed("total") == NEW_TRUTH.sum(axis=1)
    wrong = int((decisions.decided & ~right).sum())
    assert wrong <= most_failures(0.02, int(decisions.decided.sum()))
    assert 0.1 < decisions.share < 0.9
    assert all(value is None for value in decisions["same"][~decisions.decided])
    assert None not in decisions.proposed("total").tolist()
    first, last = int(decisions.decided.argmax()), int(decisions.decided.argmin())
    assert decisions.text(first).startswith("decided: total is ")
    assert decisions.text(last).startswith("handed over: total may be ")


def test_the_certainty_is_the_margin_of_the_least_certain_output() -> None:
    decisions = selective().decisions(evidence(NEW))
    inferred = adder().infer(evidence(NEW), transform="antipignistic")
    margins = [inferred[name].certainty for name in ("total", "same")]
    assert np.allclose(decisions.certainty, np.min(margins, axis=0))


def test_calibrated_rules_decide_by_their_certainty_before_calibration() -> None:
    sure = calibrate(adder(), evidence(P), answers(TRUTH), transform="antipignistic")
    by_calibrated = decide(sure, evidence(P), answers(TRUTH), error=0.02)
    assert by_calibrated.threshold.to_dict() == selective().threshold.to_dict()
    assert by_calibrated.transform == "antipignistic"


@pytest.mark.parametrize("kind", ["rules", "calibrated"])
def test_a_threshold_is_saved_with_the_model(tmp_path: Path, kind: str) -> None:
    rules: Any = adder()
    if kind == "calibrated":
        rules = calibrate(rules, evidence(P), {"left": TRUTH[:, 0], "right": TRUTH[:, 1]})
    before = decide(rules, evidence(P), answers(TRUTH), **OPTIONS)
    save(before, tmp_path / "m.json")
    after = load(tmp_path / "m.json")
    assert isinstance(after, SelectiveRules)
    assert type(after.model) is type(before.model)
    assert after.promise == before.promise
    pair = [m.decisions(evidence(NEW)) for m in (before, after)]
    assert np.array_equal(pair[0].decided, pair[1].decided)
    assert pair[0]["total"].tolist() == pair[1]["total"].tolist()


def test_a_neurosymbolic_model_decides_and_is_saved(tmp_path: Path) -> None:
    model = NeuroSymbolic(lambda x: x, adder(), inputs=["left", "right"])
    with raises_saying(DataError, "call decide"):
        model.decisions(NEW)
    model.decide(P, answers(TRUTH), error=0.02)
    assert model.selective_.threshold.to_dict() == selective().threshold.to_dict()
    save(model, tmp_path / "m.zip")
    again = load(tmp_path / "m.zip", perception=lambda x: x)
    assert np.array_equal(again.decisions(NEW).decided, model.decisions(NEW).decided)
    model.set_params(transform="minimum_specificity")
    assert not hasattr(model, "selective_")


def test_a_neurosymbolic_model_has_consistent_sets() -> None:
    model = NeuroSymbolic(lambda x: x, adder(), inputs=["left", "right"])
    model.calibrate(P, TRUTH)
    sets = model.consistent_sets(NEW[:50], 0.9, known={"total": NEW_TRUTH[:50].sum(axis=1)})
    expected = consistent_sets(
        calibrate(adder(), evidence(P), {"left": TRUTH[:, 0], "right": TRUTH[:, 1]}),
        evidence(NEW[:50]),
        0.9,
        known={"total": NEW_TRUTH[:50].sum(axis=1)},
    )
    assert sets["left"] == expected["left"]


def test_classifiers_decide_by_their_probabilities() -> None:
    classes = ["a", "b", "c", "d"]
    labels = np.array(classes)[TRUTH[:, 0]]
    chosen = decide_classes(P[:, 0], labels, classes=classes, error=0.02)
    decisions = chosen.decisions(NEW[:, 0])
    report = selective_report(decisions, np.array(classes)[NEW_TRUTH[:, 0]])
    assert report.rows[0].wrong <= most_failures(0.02, report.rows[0].decided)
    assert "Not more decisions are wrong" in report.verdict
    assert chosen.promise == chosen.threshold.promise


def test_the_report_sees_a_broken_promise_and_has_groups() -> None:
    chosen = selective()
    spoiled = NEW[:, :, ::-1]  # a network that reads every digit wrong
    camera = np.where(np.arange(2000) % 3 == 0, "old", "new")
    report = selective_report(chosen.decisions(evidence(spoiled)), answers(NEW_TRUTH), camera)
    assert report.to_dict()["rows"][0]["chance"] < 1e-6
    assert "More decisions are wrong" in report.verdict
    assert [row.group for row in report.rows] == ["", "new", "old"]
    assert sum(row.samples for row in report.rows[1:]) == 2000
    assert report.to_dict()["rows"][1]["group"] == "new"
    assert report.plot().get_title() == "Decided cases by group"


def test_costs_take_the_place_of_errors() -> None:
    labels = TRUTH[:, 0]
    costs = 1.0 - np.eye(4)
    costs[0] *= 10.0  # whoever takes a 0 for something else pays ten times
    chosen = decide_classes(P[:, 0], labels, error=0.2, costs=costs)
    same = decide_classes(
        P[:, 0],
        labels,
        error=0.2,
        costs={(t, a): 10.0 if t == 0 else 1.0 for t in range(4) for a in range(4) if t != a},
    )
    assert chosen.threshold.to_dict() == same.threshold.to_dict()
    decisions = chosen.decisions(NEW[:, 0])
    paid = costs[NEW_TRUTH[:, 0], decisions.answers.best["answer"]][decisions.decided]
    assert paid.mean() <= 0.2
    assert chosen.threshold.max_cost == 10.0


@pytest.mark.parametrize(
    ("costs", "error", "cure"),
    [
        (np.ones((3, 3)), ShapeError, "shape (4, 4)"),
        (-np.ones((4, 4)), DataError, "at least 0"),
        ({(0, 9): 1.0}, DomainError, "9"),
        ({0: 1.0}, DataError, "pairs (true, answer)"),
    ],
)
def test_bad_costs_are_refused(costs: Any, error: type[PinesyError], cure: str) -> None:
    with raises_saying(error, cure):
        decide_classes(P[:, 0], TRUTH[:, 0], error=0.2, costs=costs)


def test_bad_classes_and_samples_are_refused() -> None:
    with raises_saying(ShapeError, "two classes or more"):
        decide_classes(np.ones((5, 1)), np.zeros(5))
    with raises_saying(DataError, "degrees[1]"):
        decide_classes([[0.5, 0.5], [np.nan, 1.0]], [0, 1])
    with raises_saying(DomainError, "between 0 and 1"):
        selective(error=1.5)
    with raises_saying(DataError, "costs are of a single output"):
        selective(costs=np.ones((7, 7)))


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("version", 2),
        ("outputs", []),
        ("outputs", ["nothing"]),
        ("outputs", [["total"]]),
        ("transform", "no such"),
        ("threshold", None),
        ("threshold", {"error": 0.01}),
        ("error", "0.01"),
        ("error", 0.015),
        ("confidence", 95),
        ("needed", "many"),
        ("curve", None),
        ("curve", []),
        ("tested", [1, 2]),
    ],
)
def test_forged_files_are_refused(tmp_path: Path, key: str, entry: Any) -> None:
    path = tmp_path / "m.json"
    save(selective(), path)
    content = json.loads(path.read_text())
    part = content["decisions"]
    (part if key in part else part["threshold"])[key] = entry
    path.write_text(json.dumps(content))
    with raises_saying(PinesyError, "m.json"):
        load(path)
