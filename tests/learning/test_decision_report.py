"""Reports on decisions: against counting by hand, and as a page."""

import json

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, If, RuleSet, evaluate
from pinesy.display.pages import report_page
from pinesy.exceptions import DataError

SKY, RAIN = Attribute("sky", ["dark", "grey", "clear"]), Attribute("rain", ["yes", "no"])
RULES = RuleSet(
    [
        If(SKY.isin({"dark"})).then(RAIN.isin({"yes"}), certainty=0.9),
        If(SKY.isin({"grey"})).then(RAIN.isin({"yes"}), certainty=0.4),
        If(SKY.isin({"clear"})).then(RAIN.isin({"no"}), certainty=0.7),
    ]
)
DAYS = {"sky": ["dark", "dark", "grey", "grey", "clear", None]}
TRUE = ["yes", "no", "yes", "no", "no", "no"]


def test_by_hand() -> None:
    report = evaluate(RULES, DAYS, TRUE)
    assert report.scores.accuracy == 3 / 6
    assert report.scores.undecided == 1 / 6
    assert report.confusion.tolist() == [[2, 0, 0], [2, 1, 1]]
    assert report.ranking.tolist() == [True, False, True, True, False, False]
    assert report.selective_accuracy.tolist() == pytest.approx(
        [1, 1 / 2, 2 / 3, 3 / 4, 3 / 5, 1 / 2]
    )
    assert report.accuracy_at(0.5) == pytest.approx(2 / 3)
    assert report.decides.tolist() == [2, 2, 1]
    assert report.decides_right.tolist() == [1, 1, 1]
    assert report.risk == pytest.approx(1 - report.selective_accuracy.mean())


def test_deciding_rules_attain_the_possibility_of_the_rival() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 11, (50, 3)) / 10
    x[np.arange(50), rng.integers(0, 3, 50)] = 1.0
    report = evaluate(RULES, {"sky": x}, rng.choice(["yes", "no"], 50))
    assert report.decides.sum() == round(50 * (1 - report.scores.undecided))


def test_text_json_and_page() -> None:
    report = evaluate(RULES, DAYS, TRUE)
    text = str(report)
    for words in ("Rules that decide", "mean risk", "True values by predicted ones", "33.3%"):
        assert words in text
    content = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert content["confusion"] == report.confusion.tolist()
    page = report_page(report, "rain <test>")
    assert "rain &lt;test&gt;" in page
    assert page.count("<svg") == 1
    assert page == report_page(report, "rain <test>")
    for part in ("60.0 %", "3 of 5 answers", "83.3 %", "5 of 6 rows", "3 right", "2 wrong"):
        assert part in page


def test_bad_input() -> None:
    with raises_saying(DataError, "'rain' are distributions"):
        evaluate(RULES, {"sky": ["dark"] * 4}, [[1.0, 0.5]] * 4)
    with raises_saying(DataError, "'rian' has no targets", "did you mean 'rain'"):
        evaluate(RULES, DAYS, TRUE, output="rian")
