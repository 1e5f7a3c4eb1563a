"""`RuleClassifier` among scikit-learn's tools: metadata routing, copies, files, pipelines."""

import io
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas
import pytest
import sklearn
from joblib import dump, load
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from estimators.patients import patients
from pinesy.estimators import RuleClassifier

TABLE, LABELS = patients(160)
WEIGHTS = np.where(LABELS == "sick", 3.0, 0.5)
TEXT = "number bmi\nattribute y in {sick, well}\nif bmi > 30 then y in {sick}"


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def small(**options: Any) -> RuleClassifier:
    return RuleClassifier(max_rules=3, max_conditions=2, **options)


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_to_fit_and_score() -> None:
    weighted = small().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    pipeline = make_pipeline(FunctionTransformer(), weighted).fit(
        TABLE, LABELS, sample_weight=WEIGHTS
    )
    by_hand = small().fit(TABLE, LABELS, sample_weight=WEIGHTS)
    assert pipeline[-1].get_rules() == by_hand.get_rules()
    assert pipeline.score(TABLE, LABELS, sample_weight=WEIGHTS) == by_hand.score(
        TABLE, LABELS, sample_weight=WEIGHTS
    )
    folds = [(np.arange(80), np.arange(80, 160)), (np.arange(80, 160), np.arange(80))]
    params = {"sample_weight": WEIGHTS}
    found = cross_validate(weighted, TABLE, LABELS, cv=folds, params=params)["test_score"]
    for (train, test), score in zip(folds, found, strict=True):
        part = small().fit(TABLE.iloc[train], LABELS[train], sample_weight=WEIGHTS[train])
        expected = part.score(TABLE.iloc[test], LABELS[test], sample_weight=WEIGHTS[test])
        assert score == expected
    search = GridSearchCV(weighted, {"max_rules": [2, 4]}, cv=2)
    assert search.fit(TABLE, LABELS, sample_weight=WEIGHTS).best_score_ > 0.5


@pytest.mark.usefixtures("routing")
def test_weights_go_nowhere_unless_they_are_requested() -> None:
    with pytest.raises(UnsetMetadataPassedError):
        make_pipeline(small()).fit(TABLE, LABELS, sample_weight=WEIGHTS)
    unweighted = small().set_fit_request(sample_weight=False)
    unweighted.set_score_request(sample_weight=True)
    search = GridSearchCV(unweighted, {"max_rules": [3]}, cv=2)
    found = search.fit(TABLE, LABELS, sample_weight=WEIGHTS).best_estimator_
    assert found.get_rules() == small().fit(TABLE, LABELS).get_rules()


@pytest.mark.usefixtures("routing")
def test_the_certainty_of_predictions_is_routed() -> None:
    sure = small().set_predict_request(certainty=True)
    pipeline = make_pipeline(FunctionTransformer(), sure).fit(TABLE, LABELS)
    said = pipeline.predict(TABLE, certainty=0.9)
    assert said.tolist() == pipeline[-1].predict(TABLE, certainty=0.9).tolist()
    assert None in said.tolist()


def test_copies_are_not_fitted_and_have_all_parameters() -> None:
    options: dict[str, Any] = {
        "max_rules": 5,
        "monotone": {"glucose": -1},
        "features": ["glucose", "bmi"],
    }
    model = RuleClassifier(**options, class_weight="balanced", random_state=3)
    copied = clone(model.fit(TABLE, LABELS))
    assert copied.get_params() == model.get_params()
    assert not [name for name in vars(copied) if name.endswith("_")]
    assert str(copied.fit(TABLE, LABELS)) == str(model)
    given = clone(RuleClassifier.from_text(TEXT).fit(TABLE, LABELS))
    assert given.rules == RuleClassifier.from_text(TEXT).rules
    assert given.fit(TABLE, LABELS).score(TABLE, LABELS) > 0.1


@pytest.mark.parametrize("kind", ["induced", "calibrated", "given"])
@pytest.mark.parametrize("tool", ["pickle", "joblib"])
def test_a_fitted_classifier_survives_the_way_of_scikit_learn(kind: str, tool: str) -> None:
    """Users of scikit-learn pickle estimators; our own files are read without it."""
    model = RuleClassifier.from_text(TEXT) if kind == "given" else small()
    model.fit(TABLE[:80], LABELS[:80])
    if kind == "calibrated":
        model.calibrate(TABLE[80:], LABELS[80:])
    file = io.BytesIO()
    if tool == "pickle":
        again = pickle.loads(pickle.dumps(model))
    else:
        dump(model, file)
        file.seek(0)
        again = load(file)
    assert np.array_equal(again.predict_proba(TABLE), model.predict_proba(TABLE))
    assert (again.predict(TABLE) == model.predict(TABLE)).all()
    assert str(again) == str(model)
    assert again._repr_html_().count("<tr") == model._repr_html_().count("<tr")
    assert str(again.explain(TABLE.iloc[0])) == str(model.explain(TABLE.iloc[0]))
    if kind == "calibrated":
        found = again.predict_set(TABLE, 0.8)[model.target_]
        assert found == model.predict_set(TABLE, 0.8)[model.target_]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_that_transformers_set_as_output(library: str) -> None:
    """`set_output` is of transformers; what it makes them give, the classifier reads by name."""
    filled = ColumnTransformer(
        [("numbers", SimpleImputer(), ["glucose", "bmi"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    pipeline = Pipeline([("fill", filled), ("rules", small())])
    pipeline.set_output(transform=library).fit(TABLE, LABELS)
    assert pipeline[-1].feature_names_in_.tolist() == ["glucose", "bmi", "smoker"]
    assert "glucose" in str(pipeline[-1])
    assert pipeline.score(TABLE, LABELS) > 0.7


def test_folds_in_several_processes() -> None:
    one = cross_val_predict(small(), TABLE, LABELS, cv=2, method="predict_proba")
    assert np.array_equal(
        cross_val_predict(small(), TABLE, LABELS, cv=2, method="predict_proba", n_jobs=2), one
    )


def test_a_pipeline_shows_the_card_of_its_classifier() -> None:
    pipeline = make_pipeline(FunctionTransformer(), small()).fit(TABLE, pandas.Series(LABELS))
    assert "RuleClassifier" in pipeline._repr_html_()
    assert pipeline[-1].card_._repr_html_() in pipeline[-1]._repr_html_()
