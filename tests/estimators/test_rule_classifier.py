"""`RuleClassifier`: scikit-learn's own checks, its tools, and what a classifier of rules adds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.patients import patients
from messages import raises_saying
from pinesy import CalibratedRules, Cascade, load, save, to_onnx
from pinesy.estimators import RuleClassifier
from pinesy.exceptions import TableError
from pinesy.transforms import probabilities

#: Checks of scikit-learn that are not passed, with the reason.
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": (
        "candidates are grown from random rows, so that a row of weight 2 is not drawn as two rows "
        "are; the same holds for scikit-learn's random forest"
    ),
}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [RuleClassifier(max_rules=4, max_conditions=2)], expected_failed_checks=lambda _: EXPECTED
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


TABLE, LABELS = patients()


@pytest.fixture(scope="module")
def model() -> RuleClassifier:
    return RuleClassifier().fit(TABLE, LABELS)


def test_a_table_with_categories_and_unknowns(model: RuleClassifier) -> None:
    assert model.score(TABLE, LABELS) > 0.9
    assert model.classes_.tolist() == ["sick", "well"]
    assert model.feature_names_in_.tolist() == ["glucose", "bmi", "smoker"]
    assert isinstance(model.get_rules(), Cascade)
    assert "glucose" in str(model)
    pi = model.predict_possibility(TABLE)
    assert (pi.max(axis=1) == 1.0).all()
    probability = model.predict_proba(TABLE)
    assert probability.sum(axis=1) == pytest.approx(1.0)
    assert (model.classes_[probability.argmax(axis=1)] == model.predict(TABLE)).all()
    complete = TABLE.notna().all(axis=1)  # there both readings are the same
    assert np.array_equal(probability[complete], probabilities(pi[complete]))
    assert not np.array_equal(probability, probabilities(pi))


def test_without_lines_the_start_decides() -> None:
    x = pandas.DataFrame({"a": [1.0, 2.0, 3.0, None], "b": list("uvuv")})
    model = RuleClassifier().fit(x, ["n", "n", "n", "y"])
    assert model.card_.lines == ()
    assert model.predict(x).tolist() == ["n"] * 4
    assert np.array_equal(model.predict_proba(x), probabilities(model.predict_possibility(x)))
    assert model.to_rules().accuracy == 0.75


def test_what_is_decided_cautiously_is_predicted(model: RuleClassifier) -> None:
    decided = model.outcomes(TABLE, certainty=0.0) == "decided"
    assert decided.any()
    cautious = model.predict_possibility(TABLE).argmax(axis=1)
    assert (model.predict(TABLE) == model.classes_[cautious])[decided].all()


def test_it_abstains_and_says_why(model: RuleClassifier) -> None:
    nothing = pandas.DataFrame({"glucose": [np.nan], "bmi": [np.nan], "smoker": [None]})
    said = model.predict(TABLE, certainty=0.8)
    decided = model.outcomes(TABLE, certainty=0.8) == "decided"
    assert ((said == None) == ~decided).all()  # noqa: E711
    assert 0.3 < decided.mean() < 1.0
    assert (said[decided] == LABELS[decided]).mean() >= model.score(TABLE, LABELS)
    assert model.predict(nothing, certainty=0.9)[0] is None


def test_outcomes_of_predictions() -> None:
    rules = RuleClassifier.from_text(
        """
        attribute x0 in {0.0, 1.0}
        attribute x1 in {0.0, 1.0}
        attribute y in {a, b}
        if x0 in {1.0} then y in {a} [certainty=0.6]
        if x1 in {1.0} then y in {b} [certainty=0.5]
        """,
        method="given",
    )
    x = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    rules.fit(x, ["a", "a", "a", "b"])
    outcomes = rules.outcomes(x, certainty=0.55)
    assert outcomes.tolist() == ["decided", "no_rule", "contradiction", "several"]
    # A classifier returns a class all the same: the first of the most possible ones.
    assert rules.predict(x).tolist() == ["a", "a", "a", "b"]
    assert rules.predict(x, certainty=0.55).tolist() == ["a", None, None, None]


def test_one_sample_is_explained(model: RuleClassifier) -> None:
    first = TABLE.iloc[0]
    best = model.predict(TABLE[:1])[0]
    other = "well" if best == "sick" else "sick"
    for sample in (first, TABLE[:1], first.to_dict()):
        assert model.explain(sample).possibility == 1.0
    assert model.explain(first, other).possibility < 1.0
    assert model.margin(first) >= 0.0
    assert other in str(model.why_not(first, other))
    with raises_saying(TableError, "one sample is explained at a time", "2"):
        model.explain(TABLE[:2])
    numbers = RuleClassifier(max_rules=3).fit(*load_iris(return_X_y=True))
    assert numbers.explain(np.zeros(4)) is not None
    with raises_saying(TableError, "2 values", "4 features"):
        numbers.explain([1.0, 2.0])


def test_points_add_up_to_the_decision(model: RuleClassifier) -> None:
    """What the card gives to each class, and its lead, is what the rules infer."""
    complete = TABLE.dropna()
    pi = model.predict_possibility(complete)
    left = [1.0, *(1.0 - c for c in model.card_.certainties)]
    for row in range(0, len(complete), 7):
        totals = dict(model.card_.start)
        for line in model.points(complete.iloc[row]):
            totals[line.value] += line.points
        points = [totals[value] for value in model.classes_]
        lead = [min(max(points) - p, len(left) - 1) for p in points]
        assert pi[row] == pytest.approx([left[k] for k in lead])
    assert "certainty of a lead of 1, 2, ... points" in str(model)
    given = RuleClassifier.from_text(
        "number bmi\nattribute y in {sick, well}\nif bmi > 30 then y in {sick}"
    ).fit(TABLE, LABELS)
    with raises_saying(TableError, "only induced rules give points"):
        given.points(TABLE.iloc[0])


def test_values_never_seen_are_unknown_with_a_count(model: RuleClassifier) -> None:
    odd = TABLE[:3].assign(smoker=["pipe", "yes", "pipe"])
    known = TABLE[:3].assign(smoker=[None, "yes", None])
    if "smoker" not in [a.name for a in model.get_rules().inputs]:
        model = RuleClassifier.from_text(
            "attribute smoker in {yes, no}\nattribute y in {sick, well}\n"
            "if smoker in {yes} then y in {sick}"
        ).fit(TABLE, LABELS)
    with pytest.warns(UserWarning, match="'smoker': 2 of 3 values were never seen"):
        found = model.predict_possibility(odd)
    assert (found == model.predict_possibility(known)).all()


def test_rules_from_a_tree() -> None:
    x, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(x, y)
    same = RuleClassifier.from_tree(tree, method="given").fit(x, y)
    assert np.abs(same.predict_proba(x) - tree.predict_proba(x)).max() < 1e-3
    fitted = RuleClassifier.from_tree(tree, ["a", "b", "c", "d"])
    frame = pandas.DataFrame(x, columns=list("abcd"))
    assert fitted.fit(frame, y).score(frame, y) > 0.9
    with raises_saying(TableError, "is not a decision tree"):
        RuleClassifier.from_tree(StandardScaler())
    with raises_saying(TableError, "single leaf"):
        RuleClassifier.from_tree(DecisionTreeClassifier().fit(x, np.zeros(len(x))))


def test_given_rules_keep_their_conditions() -> None:
    text = (
        "number glucose\nattribute diagnosis in {well, sick}\n"
        "if glucose >= 126 then diagnosis in {sick}\nif glucose < 126 then diagnosis in {well}"
    )
    for method in ("counts", "gradient", "exact", "given"):
        found = RuleClassifier.from_text(text, method=method).fit(TABLE, LABELS)
        assert [str(r.premise) for s in found.rules_.rule_sets for r in s.rules] == [
            "glucose >= 126",
            "glucose < 126",
        ]
        assert found.classes_.tolist() == ["well", "sick"]
        assert found.score(TABLE, LABELS) > 0.6


def test_weights_are_as_repeated_rows() -> None:
    x, y = load_iris(return_X_y=True)
    weights = np.arange(len(y)) % 3
    one = RuleClassifier(max_rules=5).fit(x, y, sample_weight=weights)
    keep = weights > 0
    other = RuleClassifier(max_rules=5).fit(x[keep], y[keep], sample_weight=weights[keep])
    assert one.get_rules() == other.get_rules()


def test_the_tools_of_scikit_learn() -> None:
    x, y = load_iris(as_frame=True, return_X_y=True)
    scaled = make_pipeline(
        StandardScaler().set_output(transform="pandas"),
        RuleClassifier(max_rules=4, max_conditions=2),
    )
    assert cross_val_score(scaled, x, y, cv=2).mean() > 0.85
    scaled.set_output(transform="polars").fit(x, y)
    small = RuleClassifier(max_rules=4, max_conditions=1)
    search = GridSearchCV(small, {"max_rules": [2, 6]}, cv=2).fit(x, y)
    assert search.best_params_["max_rules"] in (2, 6)
    calibrated = CalibratedClassifierCV(small, cv=2).fit(x, y)
    assert calibrated.predict_proba(x).shape == (150, 3)
    assert clone(RuleClassifier(max_rules=7)).max_rules == 7


def test_tables_of_polars_are_read_by_name(model: RuleClassifier) -> None:
    table = polars.from_pandas(TABLE)
    assert RuleClassifier().fit(table, LABELS).get_rules() == model.get_rules()
    assert (model.predict_possibility(table) == model.predict_possibility(TABLE)).all()


def test_bad_input() -> None:
    x, y = load_iris(as_frame=True, return_X_y=True)
    with raises_saying(TableError, "one class only"):
        RuleClassifier().fit(x, np.zeros(150))
    with raises_saying(TableError, "label of row 3 is missing"):
        RuleClassifier().fit(x, [0.0, 1.0, 1.0, np.nan] + [0.0] * 146)
    with raises_saying(TableError, "two columns 'a'"):
        RuleClassifier().fit(pandas.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1])
    with raises_saying(TableError, "all weights are 0"):
        RuleClassifier().fit(x, y, sample_weight=np.zeros(150))
    mixed = TABLE.assign(bmi=["high", *TABLE.bmi[1:]])
    with raises_saying(TableError, "'bmi'", "row 0", "'high'"):
        RuleClassifier().fit(mixed, LABELS)
    with raises_saying(TableError, "missing throughout"):
        RuleClassifier().fit(pandas.DataFrame({"a": [np.nan] * 4}), [0, 1, 0, 1])
    with raises_saying(TableError, "no class 'ill'", "'sick'"):
        RuleClassifier.from_text(
            "number bmi\nattribute y in {sick, well}\nif bmi > 30 then y in {sick}"
        ).fit(TABLE, ["ill"] * len(TABLE))
    with raises_saying(TableError, "the rules use weight"):
        RuleClassifier.from_text(
            "number weight\nattribute y in {sick, well}\nif weight > 30 then y in {sick}"
        ).fit(TABLE, LABELS)


def test_the_target_has_the_name_of_its_series() -> None:
    labels = pandas.Series(LABELS, name="state")
    model = RuleClassifier(max_rules=2).fit(TABLE, labels)
    assert model.target_ == "state"
    assert "state is" in str(model.explain(TABLE.iloc[0]))
    assert RuleClassifier(max_rules=2).fit(TABLE, labels.rename("bmi")).target_ == "bmi_"
    assert RuleClassifier(max_rules=2).fit(TABLE, labels.rename(0)).target_ == "0"
    assert RuleClassifier(max_rules=2).fit(TABLE, LABELS).target_ == "target"
    assert RuleClassifier(max_rules=2, target="ill").fit(TABLE, labels).target_ == "ill"


def test_a_fitted_classifier_is_displayed_with_its_card(model: RuleClassifier) -> None:
    assert {"calibrate", "rules_", "predict_set"} <= set(dir(model))
    html = model._repr_html_()
    assert model.card_._repr_html_() in html
    assert model.card_._repr_html_() in model._repr_mimebundle_()["text/html"]
    line = model.card_.lines[0]
    assert f"+{line.points}" in html
    assert html.count("<tr") >= len(model.card_.lines)
    assert "certainty of a lead" in html
    assert repr(model) == "RuleClassifier()"
    assert "certainty of a lead" not in RuleClassifier()._repr_html_()


def test_a_frame_then_arrays(model: RuleClassifier) -> None:
    numbers = RuleClassifier(max_rules=3).fit(TABLE[["glucose", "bmi"]], LABELS)
    expected = numbers.predict_possibility(TABLE[["glucose", "bmi"]])
    array = TABLE[["glucose", "bmi"]].to_numpy()
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert np.array_equal(numbers.predict_possibility(array), expected)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        found = model.predict_possibility(TABLE.to_numpy(dtype=object))
    assert np.array_equal(found, model.predict_possibility(TABLE))


def test_an_array_then_frames() -> None:
    x = TABLE[["glucose", "bmi"]]
    model = RuleClassifier(max_rules=3).fit(x.to_numpy(), LABELS)
    with pytest.warns(UserWarning, match="X has feature names"):
        assert np.array_equal(model.predict(x), model.predict(x.to_numpy()))


def test_object_arrays_have_categories() -> None:
    array = TABLE.to_numpy(dtype=object)
    model = RuleClassifier(max_rules=6).fit(array, LABELS)
    named = RuleClassifier(max_rules=6).fit(TABLE, LABELS)
    assert model.rules_.attributes["x2"].domain == ("no", "yes")
    assert np.array_equal(model.predict_possibility(array), named.predict_possibility(TABLE))
    assert model.explain(array[0]).possibility == 1.0
    unknown = array[:1].copy()
    unknown[0] = None
    assert (model.predict_possibility(unknown) == 1.0).any()


def test_random_state_as_in_scikit_learn() -> None:
    def card(state: Any) -> str:
        return str(RuleClassifier(max_rules=3, random_state=state).fit(TABLE, LABELS))

    assert card(7) == card(7)
    assert card(np.random.RandomState(1)) == card(np.random.RandomState(1))
    assert card(None).startswith("if ")
    with raises_saying(TableError, "random_state", "'x'"):
        card("x")


def test_class_weight() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 1))
    y = np.where(x[:, 0] + rng.normal(0, 1.0, 300) > 1.8, "rare", "usual")
    recall = {}
    for weight in (None, "balanced", {"rare": 6.0}):
        said = RuleClassifier(max_rules=3, class_weight=weight).fit(x, y).predict(x)
        recall[str(weight)] = float((said == "rare")[y == "rare"].mean())
    assert recall["balanced"] > recall["None"] + 0.2
    assert recall["{'rare': 6.0}"] > recall["None"]
    weights = np.where(y == "rare", 6.0, 1.0)
    by_row = RuleClassifier(max_rules=3).fit(x, y, sample_weight=weights)
    assert str(by_row) == str(RuleClassifier(max_rules=3, class_weight={"rare": 6.0}).fit(x, y))
    with raises_saying(TableError, "class_weight", "'even'"):
        RuleClassifier(class_weight="even").fit(x, y)
    own = "number x0\nattribute y in {rare, usual}\nif x0 > 1 then y in {rare}"
    with raises_saying(TableError, "method 'exact'", "class_weight"):
        RuleClassifier.from_text(own, method="exact", class_weight="balanced").fit(x, y)


def test_it_is_saved_and_exported(model: RuleClassifier, tmp_path: Path) -> None:
    save(model, tmp_path / "model.rules")
    assert load(tmp_path / "model.rules") == model.rules_
    assert to_onnx(model).graph.output[0].name == "target"
    sure = RuleClassifier(max_rules=3).fit(TABLE[:80], LABELS[:80])
    sure.calibrate(TABLE[80:], LABELS[80:])
    save(sure, tmp_path / "sure.json")
    read = load(tmp_path / "sure.json")
    assert isinstance(read, CalibratedRules)
    evidence = TABLE[80:90]
    assert read.predict_set(evidence, 0.8)["target"] == sure.predict_set(evidence, 0.8)["target"]
    assert to_onnx(sure) == to_onnx(sure.rules_)
    assert to_onnx(sure, level=0.8) == to_onnx(read, level=0.8)
    with pytest.raises(NotFittedError):
        save(RuleClassifier(), tmp_path / "none.rules")
    assert not (tmp_path / "none.rules").exists()
