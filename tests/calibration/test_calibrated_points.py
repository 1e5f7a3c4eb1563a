"""Induced classifiers are calibrated by points before rounding: small sets at high levels."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from calibration.adders import least_successes
from induction.random_cards import random_card, rows
from messages import raises_saying
from pinesy import DataError, calibrate, load, parse, save
from pinesy.calibration import CalibratedPoints, ConformalTransform
from pinesy.estimators import RuleClassifier
from pinesy.exceptions import DataWarning
from pinesy.induction import CardCascade
from pinesy.induction.portable_exp import portable_exp
from pinesy.induction.unrounded_scores import unrounded_degrees

SPLITS, LEVEL, TRAINING, CALIBRATION = 20, 0.99, 700, 550


def fitted(x: Any, y: Any, seed: int, n: int, **options: Any) -> tuple[RuleClassifier, Any]:
    """Return a classifier that is induced from `n` rows, and the other rows in random order."""
    order = np.random.default_rng(seed).permutation(len(y))
    with catch_warnings():
        simplefilter("ignore", DataWarning)
        model = RuleClassifier(random_state=seed, **options).fit(x[order[:n]], y[order[:n]])
    return model, order[n:]


def test_sets_of_ten_classes_are_small_at_99_percent() -> None:
    x, y = load_digits(return_X_y=True)
    sizes, covered, plain_sizes = [], 0, []
    for seed in range(SPLITS):
        model, others = fitted(x, y, seed, TRAINING)
        known, new = others[:CALIBRATION], others[CALIBRATION:]
        sets = model.calibrate(x[known], y[known]).predict_set(x[new], LEVEL)
        members = sets.members("target")
        sizes.append(members.sum(axis=1).mean())
        covered += int(members[np.arange(len(new)), y[new]].sum())
        plain = model.predict_possibility(x)
        degrees = ConformalTransform().fit(plain[known], y[known])(plain[new])
        plain_sizes.append((degrees > 1.0 - LEVEL + 1e-9).sum(axis=1).mean())
    n = SPLITS * (len(y) - TRAINING - CALIBRATION)
    assert np.mean(sizes) < 2.0
    assert np.mean(sizes) < np.mean(plain_sizes)
    # given its calibration, coverage is Beta(545, 6): over 20 of them within 0.99 +- 0.004 nearly
    # always, to which the binomial bound of the tests is added
    assert least_successes(LEVEL - 0.004, n) <= covered <= n


@pytest.mark.parametrize("n_classes", [3, 12])
def test_a_row_has_the_same_bits_in_every_batch(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    card = random_card(0, n_classes, 60, 1)
    lines = tuple(line._replace(weight=line.points + rng.normal()) for line in card.lines)
    cascade = CardCascade(replace(card, lines=lines))
    degrees = rows(rng, cascade.inputs, 100, 0.3)
    whole = unrounded_degrees(cascade.card, cascade.card_rows(degrees))
    for n in (1, 2, 7):
        parts = [cascade.card_rows(degrees[i : i + n]) for i in range(0, 100, n)]
        found = np.concatenate([unrounded_degrees(cascade.card, part) for part in parts])
        assert found.tobytes() == whole.tobytes()


def test_exponentials_are_exact_to_a_bit() -> None:
    numbers = np.append(-np.random.default_rng(0).exponential(20.0, 10_000), [0.0, -0.0, -700.0])
    exact = np.exp(numbers)
    assert (abs(portable_exp(numbers) - exact) <= 2.0 * np.spacing(exact)).all()
    assert (
        portable_exp(np.array([-np.inf, -1e9])).tolist() == portable_exp(numbers[-1:]).tolist() * 2
    )


def test_classes_that_points_tie_are_told_apart() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    model, others = fitted(x, y, 0, 300, max_rules=3)
    card = model.card_
    rows = card.read_rows(model.calibration_evidence(x))
    scores, degrees = card.score_rows(rows), unrounded_degrees(card, rows)
    assert ((degrees >= 0.0) & (degrees <= 1.0)).all()
    assert np.allclose(degrees.sum(axis=1), 1.0)
    assert len(np.unique(degrees)) >= len(np.unique(scores.possibility))
    ordered = np.take_along_axis(degrees, np.argsort(-scores.totals, axis=1), axis=1)
    lead = np.abs(np.diff(scores.totals, axis=1))[:, 0] > len(card.lines)
    assert (np.diff(ordered, axis=1)[lead] <= 0.0).all()
    assert len(others)


def test_it_is_saved_and_a_single_row_equals_the_batch(tmp_path: Path) -> None:
    x, y = load_breast_cancer(return_X_y=True)
    model, others = fitted(x, y, 0, 300, max_rules=6)
    model.calibrate(x[others], y[others])
    assert isinstance(model.calibration_, CalibratedPoints)
    save(model, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert isinstance(again, CalibratedPoints)
    evidence = model.calibration_evidence(x[:5])
    pair = [c.infer(evidence)["target"].degrees for c in (model.calibration_, again)]
    assert np.array_equal(pair[0], pair[1])
    single = {name: column[0] for name, column in evidence.items()}
    assert np.array_equal(again.infer(single)["target"].degrees, pair[0][0])
    assert again.explain(single).text()


def test_a_classifier_decides_by_its_points(tmp_path: Path) -> None:
    x, y = load_breast_cancer(return_X_y=True)
    model, others = fitted(x, y, 0, 200)
    known, new = others[:250], others[250:]
    with raises_saying(DataError, "call decide(X, y)"):
        model.decisions(x[new])
    model.calibrate(x[known], y[known]).decide(x[known], y[known], error=0.1)
    decisions = model.decisions(x[new])
    assert decisions.share > 0.3
    assert np.mean(decisions.proposed()[decisions.decided] != y[new][decisions.decided]) <= 0.1
    assert np.array_equal(decisions.proposed(), model.predict(x[new]))
    save(model, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert isinstance(again.model, CalibratedPoints)
    loaded = again.decisions(model.calibration_evidence(x[new]))
    assert np.array_equal(loaded.decided, decisions.decided)
    with raises_saying(DataError, "training samples"):
        model.decide(x, y)


def test_only_cards_have_points() -> None:
    rules = parse("attribute a in {0, 1}\nattribute b in {0, 1}\niff a in {1} then b in {1}\n")
    with raises_saying(DataError, "score card"):
        CalibratedPoints(rules, ConformalTransform(), None, ("b",))
    assert not isinstance(calibrate(rules, {"a": np.eye(2)}, {"b": [0, 1]}), CalibratedPoints)


pytestmark = pytest.mark.filterwarnings("ignore::pinesy.exceptions.DataWarning")
