"""`RuleClassifier.audit`: out of fold, against folds by hand, and what it is asked in vain."""

from typing import Any

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone

from estimators.patients import patients
from messages import raises_saying
from pinesy import Audit
from pinesy.estimators import RuleClassifier
from pinesy.exceptions import PinesyError, TableError
from pinesy.transforms import antipignistic

TABLE, TRUE = patients(150)
WRONG = np.array([3, 40, 77, 120])
LABELS = TRUE.copy()
LABELS[WRONG] = np.where(TRUE[WRONG] == "sick", "well", "sick")
MODEL = RuleClassifier(max_rules=4, max_conditions=2, random_state=5)


@pytest.fixture(scope="module")
def found() -> Audit:
    return MODEL.audit(TABLE, LABELS, folds=3, repeats=2)


def test_labels_are_judged_by_rules_that_have_not_seen_them(found: Audit) -> None:
    """Fold by fold and repeat by repeat: the same probabilities, and their mean."""
    assert isinstance(found, Audit)
    assert found.out_of_fold
    assert "3 folds, 2 times" in repr(found)
    judges = found._judges
    p = np.zeros((2, len(LABELS)))
    for repeat in range(2):
        single = MODEL.audit(TABLE, LABELS, folds=3, repeats=1) if repeat == 0 else None
        fold = np.empty(len(LABELS), dtype=int)
        order = np.random.default_rng(repeat).permutation(len(LABELS))
        order = order[np.argsort(LABELS[order], kind="stable")]
        fold[order] = np.arange(len(LABELS)) % 3
        for k in range(3):
            model = clone(MODEL).set_params(random_state=5 + repeat)
            model.fit(TABLE[fold != k], LABELS[fold != k])
            assert model.get_rules() == judges.cascades[3 * repeat + k]
            columns = np.searchsorted(model.classes_, LABELS[fold == k])
            given = model.predict_proba(TABLE[fold == k])
            p[repeat, fold == k] = given[np.arange(len(given)), columns]
        if single is not None:
            assert single.labels["target"].probability == pytest.approx(p[0])
            assert single.fold is not None
            assert single.fold.tolist() == fold.tolist()
    probability = p.mean(axis=0)
    judged = found.labels["target"]
    assert judged.probability == pytest.approx(probability)
    pi = antipignistic(np.column_stack([probability, 1 - probability]))
    assert judged.possibility == pytest.approx(pi[:, 0])
    assert judged.suspicious.tolist() == (probability < 0.5).tolist()


def test_wrong_labels_come_first(found: Audit) -> None:
    rank = np.argsort(found.order)
    assert np.median(rank[WRONG]) < 15
    row = found.row(int(WRONG[0]))
    assert (row["label"], row["best"]) == (LABELS[3], TRUE[3])
    assert f"for {TRUE[3]})" in row["reason"]
    assert found.repaired(3)["target"] is not None
    assert len(found.to_frame(5)) == 5


def test_the_classifier_stays_as_it_is(found: Audit) -> None:
    assert not hasattr(MODEL, "rules_")
    fitted = clone(MODEL).fit(TABLE[:80], LABELS[:80])
    rules = fitted.get_rules()
    again = fitted.audit(polars.from_pandas(TABLE), pandas.Series(LABELS), folds=3, repeats=2)
    assert fitted.get_rules() == rules
    assert again.order.tolist() == found.order.tolist()


def test_weights_and_rules_of_ones_own() -> None:
    weights = np.where(np.arange(len(LABELS)) % 2, 1.0, 3.0)
    weighted = MODEL.audit(TABLE, LABELS, weights, folds=2, repeats=1)
    assert len(weighted) == len(LABELS)
    text = (
        "number glucose\nattribute state in {sick, well}\n"
        "if glucose > 130 then state in {sick}\nif glucose <= 130 then state in {well}"
    )
    counted = RuleClassifier.from_text(text).audit(TABLE, LABELS, repeats=1)
    assert "parameters learned (counts) without each of 5 folds" in repr(counted)
    given = RuleClassifier.from_text(text, method="given").audit(TABLE, LABELS)
    assert not given.out_of_fold
    assert "rules as they are" in repr(given)


def test_a_class_that_only_one_row_has_is_impossible_to_the_others() -> None:
    labels: Any = [*LABELS[:-1], "dead"]
    found = MODEL.audit(TABLE, labels, folds=3, repeats=1)
    assert found.impossible.nonzero()[0].tolist() == [len(LABELS) - 1]
    assert found.row(len(LABELS) - 1)["reason"] is not None


def test_what_cannot_be_audited() -> None:
    with raises_saying(TableError, "two classes must have two rows"):
        MODEL.audit(TABLE, ["sick"] + ["well"] * 149)
    with raises_saying(TableError, "200 folds of 150 rows"):
        MODEL.audit(TABLE, LABELS, folds=200)
    for options in ({"folds": 1}, {"repeats": 0}, {"folds": 2.5}):
        with pytest.raises(PinesyError):
            MODEL.audit(TABLE, LABELS, **options)
    with raises_saying(TableError, "the label of row 0 is missing"):
        MODEL.audit(TABLE, [None, *LABELS[1:]])
