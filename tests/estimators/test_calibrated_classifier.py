"""A `RuleClassifier` with a calibration: columns, unknown values, files, and what is refused."""

from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from estimators.patients import patients
from messages import raises_saying
from pinesy import load, save
from pinesy.calibration import DriftMonitor
from pinesy.estimators import RuleClassifier
from pinesy.exceptions import DataError, DomainError, PinesyError, TableError

TABLE, LABELS = patients(240)
FIT, KEPT, NEW = slice(120), slice(120, 200), slice(200, None)


@pytest.fixture(scope="module")
def model() -> RuleClassifier:
    fitted = RuleClassifier(max_rules=8).fit(TABLE[FIT], LABELS[FIT])
    return fitted.calibrate(TABLE[KEPT], LABELS[KEPT])


def test_classes_are_in_their_sets_and_everything_else_stays(model: RuleClassifier) -> None:
    sets = model.predict_set(TABLE[NEW], 0.9)
    pi = model.predict_calibrated(TABLE[NEW])
    assert sets.members(model.target_).tolist() == (pi > 0.1).tolist()
    assert (pi.max(axis=1) == 1.0).all()
    covered = np.mean([y in s for y, s in zip(LABELS[NEW], sets[model.target_], strict=True)])
    assert covered > 0.7
    kinds = {"decided", "several", "no_rule", "novel", "contradiction"}
    assert set(sets.outcomes[model.target_]) <= kinds
    plain = RuleClassifier(max_rules=8).fit(TABLE[FIT], LABELS[FIT])
    assert (plain.predict(TABLE[NEW]) == model.predict(TABLE[NEW])).all()
    assert "whatever the rules are" in model.calibration_.guarantee


def test_values_that_were_never_seen_are_unknown(model: RuleClassifier) -> None:
    odd = TABLE[NEW].assign(smoker="sometimes")
    missing = TABLE[NEW].assign(smoker=None)
    if any(a.name == "smoker" for a in model.rules_.inputs):
        with pytest.warns(UserWarning, match="never seen"):
            found = model.predict_calibrated(odd)
        assert np.array_equal(found, model.predict_calibrated(missing))
    with pytest.raises(ValueError, match="feature names"):
        model.predict_set(TABLE[NEW][["smoker", "bmi", "glucose"]])


def test_each_class_by_itself_after_rules_from_a_tree_and_a_text() -> None:
    x, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(x[::2], y[::2])
    model = RuleClassifier.from_tree(tree, method="given").fit(x[::2], y[::2])
    model.calibrate(x[1::2], y[1::2], class_conditional=True, sample_weight=np.full(75, 2.0))
    assert model.calibration_.transform.n == 25
    assert np.shape(model.predict_calibrated(x, np.full(150, 2.0))) == (150, 3)
    text = """
        number glucose
        attribute y in {sick, well}
        if glucose > 130 then y in {sick}
        """
    given = RuleClassifier.from_text(text).fit(TABLE[FIT], LABELS[FIT])
    sets = given.calibrate(TABLE[KEPT], LABELS[KEPT]).predict_set(TABLE[NEW], 0.8)
    assert len(sets["y"]) == 40


def test_the_calibration_is_saved_as_rules(model: RuleClassifier, tmp_path: Path) -> None:
    save(model.calibration_, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    evidence = {a.name: TABLE[NEW][a.name] for a in model.rules_.inputs}
    found = again.infer(evidence)[model.target_].degrees
    assert np.array_equal(found, model.predict_calibrated(TABLE[NEW]))


def test_training_rows_are_refused_but_not_equal_ones() -> None:
    fitted = RuleClassifier(max_rules=4).fit(TABLE[FIT], LABELS[FIT])
    with raises_saying(TableError, "120 of 120 calibration samples are training samples"):
        fitted.calibrate(TABLE[FIT], LABELS[FIT])
    coarse = pandas.DataFrame({"a": np.arange(200) % 4, "b": np.arange(200) % 3 == 0})
    y = np.where(coarse.a > 1, "high", "low")
    RuleClassifier(max_rules=4).fit(coarse, y).calibrate(coarse, y)


def test_rows_need_weights_if_calibration_rows_have_them() -> None:
    model = RuleClassifier(max_rules=8).fit(TABLE[FIT], LABELS[FIT])
    weights, own = np.linspace(0.5, 2.0, 80), np.linspace(0.1, 4.0, 40)
    model.calibrate(TABLE[KEPT], LABELS[KEPT], sample_weight=weights)
    scores = 1.0 - model.predict_possibility(TABLE[KEPT])
    true = scores[np.arange(80), np.searchsorted(model.classes_, LABELS[KEPT])]
    new = 1.0 - model.predict_possibility(TABLE[NEW])
    worse = np.array([[weights[true >= t].sum() for t in row] for row in new])
    expected = (own[:, None] + worse) / (own[:, None] + weights.sum())
    expected[new == new.min(axis=1, keepdims=True)] = 1.0
    found = model.predict_calibrated(TABLE[NEW], own)
    assert found == pytest.approx(expected, 1e-12)
    sets = model.predict_set(TABLE[NEW], 0.9, sample_weight=own)
    assert sets.members(model.target_).tolist() == (expected > 0.1).tolist()
    for ask in (model.predict_set, model.predict_calibrated):
        with raises_saying(TableError, "give sample_weight="):
            ask(TABLE[NEW])
        with raises_saying(PinesyError, "sample_weight has shape (39,)", "40 samples"):
            ask(TABLE[NEW], sample_weight=own[:39])
        with raises_saying(TableError, "sample_weight[0] is -0.1"):
            ask(TABLE[NEW], sample_weight=-own)
    plain = RuleClassifier(max_rules=8).fit(TABLE[FIT], LABELS[FIT])
    with raises_saying(TableError, "leave sample_weight out"):
        plain.calibrate(TABLE[KEPT], LABELS[KEPT]).predict_set(TABLE[NEW], sample_weight=own)


def test_a_monitor_takes_the_classifier(model: RuleClassifier) -> None:
    monitor = DriftMonitor(model, chance=0.05, labelled=True)
    evidence = {a.name: TABLE[NEW][a.name] for a in model.rules_.inputs}
    by_hand = DriftMonitor(model.calibration_, chance=0.05, labelled=True)
    answers = {model.target_: LABELS[NEW]}
    found, wanted = monitor.update(TABLE[NEW], answers), by_hand.update(evidence, answers)
    assert found.p_values.tolist() == wanted.p_values.tolist()
    assert DriftMonitor(model).update(TABLE[NEW]).samples == 40
    with raises_saying(DataError, "the model is not calibrated", "calibrate first"):
        DriftMonitor(RuleClassifier(max_rules=4).fit(TABLE[FIT], LABELS[FIT]))


def test_what_cannot_be_calibrated(model: RuleClassifier) -> None:
    fresh = RuleClassifier(max_rules=4).fit(TABLE[FIT], LABELS[FIT])
    with raises_saying(TableError, "the classifier is not calibrated; call calibrate"):
        fresh.predict_set(TABLE[NEW])
    assert not hasattr(clone(model), "calibration_")
    assert not hasattr(clone(model).fit(TABLE[FIT], LABELS[FIT]), "calibration_")
    with raises_saying(DomainError, "ill"):
        fresh.calibrate(TABLE[KEPT], np.where(LABELS[KEPT] == "sick", "ill", "well"))
    with raises_saying(DataError, "80 calibration samples", "at least 99 are needed"):
        model.predict_set(TABLE[NEW], 0.99)
    with raises_saying(TableError, "the label of row 0 is missing"):
        fresh.calibrate(TABLE[KEPT], [None, *LABELS[KEPT][1:]])
