"""`RuleClassifier.evaluate`: against scikit-learn's metrics by hand."""

import json

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import (
    brier_score_loss,
    classification_report,
    log_loss,
    roc_auc_score,
)

from estimators.patients import patients
from messages import raises_saying
from pinesy import evaluate
from pinesy.display.pages import report_page
from pinesy.estimators import RuleClassifier
from pinesy.exceptions import DataError, TableError
from pinesy.learning import DecisionReport

TABLE, LABELS = patients(300)
FIT, NEW = slice(150), slice(150, None)
X, Y = TABLE[NEW], LABELS[NEW]


@pytest.fixture(scope="module")
def model() -> RuleClassifier:
    return RuleClassifier(max_rules=6).fit(TABLE[FIT], LABELS[FIT])


@pytest.fixture(scope="module")
def report(model: RuleClassifier) -> DecisionReport:
    return model.evaluate(X, Y)


def test_the_scores_are_those_of_scikit_learn(
    model: RuleClassifier, report: DecisionReport
) -> None:
    scores = report.classes
    assert scores is not None
    p, said = model.predict_proba(X), model.predict(X)
    expected = classification_report(Y, said, output_dict=True)
    for score, column in zip(scores.classes, p.T, strict=True):
        row = expected[score.value]
        assert (score.precision, score.recall, score.f1) == pytest.approx(
            (row["precision"], row["recall"], row["f1-score"])
        )
        assert score.samples == row["support"]
        assert score.auc == pytest.approx(roc_auc_score(score.value == Y, column))
        assert score.brier == pytest.approx(brier_score_loss(score.value == Y, column))
    rules, majority, logistic = scores.methods
    assert rules.accuracy == model.score(X, Y)
    assert rules.log_loss == pytest.approx(log_loss(Y, p))
    assert rules.brier == pytest.approx(scores.classes[0].brier)
    assert majority.accuracy == np.mean(Y == "well")
    assert majority.auc == 0.5
    assert logistic.accuracy > 0.7
    assert scores.calibrated == "sick"
    true, predicted = calibration_curve(Y == "sick", p[:, 0], n_bins=10, strategy="quantile")
    assert [b.observed for b in scores.calibration] == pytest.approx(true)
    assert [b.predicted for b in scores.calibration] == pytest.approx(predicted)
    assert sum(b.samples for b in scores.calibration) == len(Y)


def test_the_verdict_comes_first(report: DecisionReport) -> None:
    scores = report.classes
    assert scores is not None
    first = str(report).splitlines()[0]
    assert first == report.verdict
    accuracy, recall = scores.methods[0].accuracy, scores.classes[0].recall
    for part in (f"{accuracy:.1%} of 150 samples", "always well", f"sick {recall:.0%} are found"):
        assert part in first
    wrong = scores.methods[1]
    assert scores.methods[0].against(wrong) == "better than"
    assert wrong.against(scores.methods[0]) == "worse than"
    assert wrong.against(wrong) == "about as good as"


def test_the_card_stands_in_place_of_the_rules(
    model: RuleClassifier, report: DecisionReport
) -> None:
    text = str(report)
    assert "against" not in text.replace(report.verdict, "")
    assert "Rules that decide" not in text
    assert report.card is not None
    line = model.card_.lines[0]
    holds = np.array([line in model.points(row) for _, row in X.iterrows()])
    right = f"{np.mean(Y[holds] == line.value):.1%}"
    row = [line.premise, line.value, f"+{line.points}", f"{holds.mean():.1%}", right]
    assert row in [list(cells) for cells in report.card.lines]


def test_plots_page_and_json(report: DecisionReport) -> None:
    content = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert content["verdict"] == report.verdict
    assert set(content["classes"]) == {"sick", "well"}
    assert report.plot(kind="calibration").get_title() == "Calibration"
    page = report_page(report, "patients")
    assert page.count("<svg") == 2
    assert page.index(report.verdict[:20]) < page.index("<svg")
    with raises_saying(DataError, "'roc'", "calibration"):
        report.plot(kind="roc")  # type: ignore[arg-type]


def test_the_baseline_on_training_rows(model: RuleClassifier) -> None:
    trained = model.evaluate(X, Y, train=(TABLE[FIT], LABELS[FIT])).classes
    assert trained is not None
    assert trained.methods[2].name == "logistic regression"
    single = model.evaluate(X[:1], Y[:1]).classes
    assert single is not None
    assert "two classes" in single.note
    assert np.isnan(single.classes[0].auc)


def test_more_than_two_classes() -> None:
    x, y = load_iris(as_frame=True, return_X_y=True)
    model = RuleClassifier(max_rules=6).fit(x[::2], y[::2])
    scores = model.evaluate(x[1::2], y[1::2]).classes
    assert scores is not None
    assert scores.calibrated is None
    p = model.predict_proba(x[1::2])
    expected = roc_auc_score(y[1::2], p, multi_class="ovr")
    assert scores.methods[0].auc == pytest.approx(expected)


def test_rules_of_ones_own_have_scores_too() -> None:
    model = RuleClassifier.from_text(
        "number glucose\nattribute state in {well, sick}\nif glucose > 130 then state in {sick}"
    ).fit(TABLE[FIT], LABELS[FIT])
    report = model.evaluate(X, Y)
    assert report.classes is not None
    assert report.classes.methods[0].accuracy == model.score(X, Y)
    assert report.card is None
    assert "Rules that decide" in str(report)


def test_induced_rules_alone_have_the_same_scores(
    model: RuleClassifier, report: DecisionReport
) -> None:
    again = evaluate(model.get_rules(), X, {model.target_: Y})
    assert again.classes is not None
    assert again.verdict == report.verdict


def test_bad_input(model: RuleClassifier) -> None:
    with pytest.raises(NotFittedError):
        RuleClassifier().evaluate(X, Y)
    with raises_saying(TableError, "knows no class 'ill'", "'sick'"):
        model.evaluate(X, ["ill"] * len(Y))
    with raises_saying(TableError, "row 0 is missing"):
        model.evaluate(X, [None, *Y[1:]])
