"""One row, one answer: page, ONNX, SQL, studio, files and explanations give that of `predict`."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from playwright.sync_api import Page

pytest.importorskip("starlette")
pytest.importorskip("onnx")

from emitters.sql_engines import EMBEDDED, as_columns, run_query
from exchange.onnx_runs import run
from pinesy import Possibility, explain, load, save, to_onnx, to_sql
from pinesy.emitters.sql_inputs import degree_columns
from pinesy.estimators import RuleClassifier
from pinesy.evidence.evidence_form import evidence_rows
from pinesy.exceptions import DataWarning
from pinesy.exchange import to_page
from pinesy.induction import CardCascade
from pinesy.studio import Session
from pinesy.studio.ask_view import answer

pytestmark = pytest.mark.filterwarnings("ignore::pinesy.exceptions.DataWarning")


def table(n: int, seed: int) -> tuple[pandas.DataFrame, Any]:
    """Return rows of three classes with blanks."""
    rng = np.random.default_rng(seed)
    x = pandas.DataFrame(
        {
            "glucose": rng.normal(120, 30, n).round(),
            "age": rng.integers(20, 80, n).astype(float),
            "city": rng.choice(["Bonn", "Oslo", "Rome"], n),
        }
    )
    score = (x.glucose > 125) * 1.0 + (x.age > 50) + (x.city == "Oslo") + rng.normal(0, 0.4, n)
    y = np.select([score > 2.0, score > 1.0], ["ill", "risk"], "well")
    return x.mask(rng.random(x.shape) < 0.25), y


@pytest.fixture(scope="module")
def model() -> RuleClassifier:
    return RuleClassifier(max_rules=12).fit(*table(300, 0))


@pytest.fixture(scope="module")
def rows() -> pandas.DataFrame:
    """Return rows with blanks, with levels never seen, and one where nothing is known."""
    x, _ = table(12, 1)
    x.loc[[0, 4, 7], "city"] = ["Paris", "Lima", "Paris"]
    x.loc[11] = None
    return x


def evidence_of(rows: pandas.DataFrame) -> dict[str, Any]:
    return {name: rows[name] for name in rows}


def check(model: RuleClassifier, rows: pandas.DataFrame, classes: Any, probability: Any) -> None:
    """Check indices of classes and probabilities against the classifier's, to the last bit."""
    assert model.classes_[list(classes)].tolist() == model.predict(rows).tolist()
    assert np.array_equal(np.asarray(probability), model.predict_proba(rows))


def test_the_rows_tell_the_readings_apart(model: RuleClassifier, rows: pandas.DataFrame) -> None:
    with pytest.warns(DataWarning, match="Paris"):
        predicted = model.predict(rows)
    cautious = model.classes_[model.predict_possibility(rows).argmax(axis=1)]
    assert (predicted != cautious).any()
    assert len(set(predicted)) > 1


def test_files(model: RuleClassifier, rows: pandas.DataFrame, tmp_path: Path) -> None:
    for name in ("model.json", "model.rules"):
        save(model, tmp_path / name)
        loaded = load(tmp_path / name)
        assert isinstance(loaded, CardCascade)
        scores = loaded.score(evidence_of(rows))
        check(model, rows, scores.best, scores.probability)


def test_explanations(model: RuleClassifier, rows: pandas.DataFrame) -> None:
    explained = [model.explain(rows.iloc[i]) for i in range(len(rows))]
    output = model.card_.output
    classes = [output.position(one.predicted) for one in explained]
    check(model, rows, classes, [list((one.probability or {}).values()) for one in explained])
    for one in explained:
        assert f"{one.predicted} with probability" in one.text()
    raw = explain(model.get_rules(), rows.iloc[0].to_dict())
    assert raw.probability == explained[0].probability


def test_onnx(model: RuleClassifier, rows: pandas.DataFrame) -> None:
    rules = model.get_rules()
    degrees = evidence_rows(rules, model.calibration_evidence(rows)).block(0, len(rows))
    bounds = np.cumsum([0, *(len(a.domain) for a in rules.inputs)])
    inputs = {
        a.name: np.ascontiguousarray(degrees[:, i:j])
        for a, i, j in zip(rules.inputs, bounds[:-1], bounds[1:], strict=True)
    }
    found = run(to_onnx(model), inputs)
    check(model, rows, found["class"], found["probability"])


@pytest.mark.parametrize("dialect", EMBEDDED)
def test_sql(dialect: str, model: RuleClassifier, rows: pandas.DataFrame) -> None:
    columns = {name: rows[name].astype(object).where(rows[name].notna(), None) for name in rows}
    found = as_columns(run_query(dialect, to_sql(model, dialect), "samples", columns))
    output = model.card_.output
    assert found[output.name] == model.predict(rows).tolist()
    scores = model.get_rules().score(evidence_of(rows))  # type: ignore[attr-defined]
    degrees = np.array([found[name] for name in degree_columns(output)]).T
    assert np.allclose(degrees, scores.possibility, rtol=0.0, atol=1e-12)
    expected = Possibility(output, scores.possibility).outcome
    assert found[f"{output.name} outcome"] == expected.tolist()


def test_studio(model: RuleClassifier, rows: pandas.DataFrame, tmp_path: Path) -> None:
    save(model, tmp_path / "model.rules")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    session = Session.open(tmp_path / "model.rules", tmp_path / "rows.csv")
    session.rows.wait()
    assert session.rows.problem is None
    cards = [answer(session, {"sample": {"row": i}})["card"] for i in range(len(rows))]
    check(model, rows, [c["class"] for c in cards], [c["probability"] for c in cards])


def test_page(model: RuleClassifier, rows: pandas.DataFrame, tab: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(to_page(model, evidence_of(rows)), encoding="utf-8")
    tab.goto(path.as_uri())
    scores = []
    for i in range(len(rows)):
        tab.get_by_label("Sample", exact=True).select_option(str(i + 1))
        scores.append(tab.evaluate("page.view.content.card"))
        answer_text = tab.locator(".verdict .answer").inner_text()
        assert str(model.classes_[scores[-1]["class"]]) in answer_text
    check(model, rows, [s["class"] for s in scores], [s["probability"] for s in scores])
    text = tab.locator("body").inner_text()
    assert "best points" not in text
    assert not re.search(r"(?<!\d )points for", text)  # not the name of a sum
    lines = tab.locator(".scores span:first-child, .scores > span").all_inner_texts()
    assert {line.premise for line in model.card_.lines} & set(lines)
