"""The score card as a table, and as plain rules that stand alone."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import train_test_split

from estimators.patients import patients
from pinesy import Attribute, If, load, save
from pinesy.estimators import RuleClassifier
from pinesy.exceptions import TableError
from pinesy.induction.score_card import premise_measures

TABLE, LABELS = patients(300)


@pytest.fixture(scope="module")
def model() -> RuleClassifier:
    return RuleClassifier(max_rules=8).fit(TABLE, LABELS)


def test_the_table_counts_what_lines_cover(model: RuleClassifier) -> None:
    table = model.table()
    assert len(table) == len(model.card_.lines) > 0
    for row, line in zip(table.itertuples(), model.card_.lines, strict=True):
        holds = [line in model.points(TABLE.iloc[i]) for i in range(len(TABLE))]
        right = (LABELS[holds] == line.value).mean()
        assert row.support == sum(holds)
        assert row.precision == pytest.approx(right)
        assert row.lift == pytest.approx(right / (line.value == LABELS).mean())
        assert row.points == line.points
        assert 0 <= row.undetermined <= row.points


def test_the_surest_rule_that_holds_wins(model: RuleClassifier) -> None:
    plain = model.to_rules()
    certainties = [line.certainty for line in plain.lines]
    assert certainties == sorted(certainties, reverse=True)
    assert certainties[-1] < min(certainties[:-1])
    assert plain.lines[-1].premise is None
    complete = TABLE.dropna()
    evidence = {name: complete[name] for name in complete}
    rules = plain.get_rules()
    inputs = {a.name for a in rules.inputs}
    degrees = rules.infer({n: c for n, c in evidence.items() if n in inputs})["target"].degrees
    held = model._labelled_rows({n: c.to_numpy() for n, c in evidence.items()}, LABELS[:1], None)[0]
    parts = [line.premise.propositions for line in plain.lines if line.premise is not None]
    holds = premise_measures(parts, held.attributes, held.block(0, held.n))[1] == 0.0
    for row in range(held.n):
        surest = next((i for i, h in enumerate(holds[:, row]) if h), len(plain) - 1)
        values = {c.value for c in plain.lines if c.certainty == plain.lines[surest].certainty}
        assert rules["target"].output.domain[degrees[row].argmax()] in values


def test_accuracies_are_told(model: RuleClassifier) -> None:
    plain = model.to_rules()
    assert plain.rows == len(TABLE)
    assert plain.card_accuracy == pytest.approx(model.score(TABLE, LABELS))
    assert plain.lost == plain.card_accuracy - plain.accuracy
    assert "surest rule that holds wins" in str(plain)
    given = RuleClassifier(plain.rules, method="given").fit(TABLE, LABELS)
    assert given.score(TABLE, LABELS) == pytest.approx(plain.accuracy)
    assert list(plain.table().columns) == ["premise", "value", "certainty", "support", "precision"]


@pytest.mark.parametrize("loader", [load_iris, load_wine])
def test_little_is_lost_on_other_rows(loader: object) -> None:
    x, y = loader(return_X_y=True, as_frame=True)  # type: ignore[operator]
    train, test, known, true = train_test_split(x, y, test_size=0.4, random_state=0)
    plain = RuleClassifier().fit(train, known).to_rules(test, true)
    assert plain.rows == len(test)
    assert plain.lost < 0.1
    assert plain.accuracy > 0.85


def test_rules_of_the_user_stay(tmp_path: Path) -> None:
    glucose = Attribute.number("glucose", [200])
    own = If(glucose >= 200).then(Attribute("target", ["sick", "well"]).isin({"sick"}))
    plain = RuleClassifier(max_rules=4, keep=own).fit(TABLE, LABELS).to_rules()
    assert len(plain.rules.rules) == len(plain) + 1
    extreme = {"glucose": 230.0, "bmi": 20.0, "smoker": "no"}
    names = {a.name for a in plain.rules.inputs}
    sample = {name: value for name, value in extreme.items() if name in names}
    assert plain.get_rules().infer(sample)["target"].degrees.tolist()[1] == 0.0
    save(plain.rules, tmp_path / "plain.rules")
    assert load(tmp_path / "plain.rules") == plain.get_rules()


def test_what_cannot_be_plain(model: RuleClassifier) -> None:
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(TABLE), model.predict(TABLE))
    with pytest.raises(TableError, match="fit again"):
        again.to_rules()
    given = RuleClassifier.from_text(
        "number bmi\nattribute y in {sick, well}\nif bmi > 30 then y in {sick}"
    ).fit(TABLE, LABELS)
    with pytest.raises(TableError):
        given.table()
