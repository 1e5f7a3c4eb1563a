"""Explanations of rules that give points: what the score card gave, added up as it was inferred."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

from json_schema import problems
from pinesy import Cascade, induce, load, parse, save
from pinesy.cli.app import app
from pinesy.exceptions import DataWarning
from pinesy.explanations import explain, why_not
from pinesy.explanations.json_form import schema
from pinesy.explanations.points_text import points_given
from pinesy.explanations.sample import Sample, plan_for
from pinesy.induction import CardCascade, induce_card, induce_points, read_training_table
from pinesy.induction.candidate_rules import bin_columns

RNG = np.random.default_rng(3)
TABLE = pandas.DataFrame(
    {
        "glucose": RNG.normal(120, 25, 150).round(),
        "smoker": RNG.choice(["yes", "no"], 150),
    }
)
TABLE["state"] = np.where(
    TABLE.glucose > 130, "sick", np.where(TABLE.smoker == "yes", "old", "well")
)
CUT_CASE = {"glucose": 150.0, "smoker": "no"}


@pytest.fixture(scope="module")
def rules() -> CardCascade:
    return induce(TABLE, "state", max_rules=7)


def read(rules: Cascade, evidence: Any) -> Any:
    plan = plan_for(rules, rules.outputs[0])
    return points_given(Sample(plan, plan.row(evidence)))


def test_points_are_those_of_the_model(rules: Cascade) -> None:
    table = read_training_table(TABLE, "state")
    found = induce_points(table, max_rules=7)
    for row, one in list(TABLE.drop(columns="state").iterrows())[:20]:
        evidence = {**one.to_dict(), **({"glucose": None} if row % 3 == 0 else {})}
        columns = tuple(
            replace(c, values=np.array([_position(evidence[c.name], c)])) for c in table.columns
        )
        low, high = found.model.totals(bin_columns(columns, found.features))
        expected = zip(low[0].tolist(), high[0].tolist(), strict=True)
        given = {p.value: (p.low, p.high) for p in read(rules, evidence)}
        assert given == dict(zip(table.classes, expected, strict=True))


def _position(value: Any, column: Any) -> float:
    if value is None:
        return float("nan")
    return float(column.domain.index(value)) if column.domain else float(value)


def test_the_text_is_short_and_in_the_units_of_the_data(rules: Cascade) -> None:
    text = explain(rules, CUT_CASE).justification()
    first, points, *lines = text.splitlines()
    assert first.startswith("It is certain at ")
    assert "that state is sick" in first
    assert points.startswith("Points: ")
    assert "; a lead of " in points
    assert any(line.startswith("  +") and "(glucose is 150" in line for line in lines)
    assert "rule 1" not in text
    assert len(text) < 1000
    deep = explain(rules, CUT_CASE).justification(depth=3)
    assert deep.startswith(text)
    assert "(depth 3)" in deep


def test_what_is_unknown_gives_what_is_expected(rules: CardCascade) -> None:
    blank = {"glucose": None, "smoker": "no"}
    explanation = explain(rules, blank)
    text = explanation.justification()
    scores = rules.score(blank)
    card, (totals,) = rules.card, scores.totals.tolist()
    assert explanation.predicted == card.output.domain[scores.best[0]]
    assert list((explanation.probability or {}).values()) == scores.probability[0].tolist()
    given = dict(zip(card.start, totals, strict=True))
    for points in read(rules, blank):
        assert points.expected == given[points.value]
        assert points.low <= points.expected <= points.high
    line = next(c for c in card.lines if c.premise in text)
    assert f"+{line.undetermined} for {line.value}: {line.premise} [{line.record}]: " in text
    assert f"glucose is not known ({line.points} if it holds, 0 if not)" in text
    assert f"{explanation.predicted} with probability " in text
    why = why_not(rules, blank, "old")
    assert f"glucose is not known ({line.points} if it holds, 0 if not)" in str(why)
    assert "against" not in str(why)
    assert "best points" not in str(why)
    assert any("glucose is not known" in line for line in why.to_dict()["points"])


def test_a_level_never_seen_is_not_known(rules: CardCascade) -> None:
    with pytest.warns(DataWarning, match="pipe"):
        unseen = explain(rules, {"glucose": 150.0, "smoker": "pipe"})
    assert unseen.probability == explain(rules, {"glucose": 150.0, "smoker": None}).probability


def test_without_a_card_what_is_unknown_gives_perhaps(rules: CardCascade) -> None:
    plain = Cascade(rules)
    text = explain(plain, {"glucose": None, "smoker": "no"}).justification()
    assert explain(plain, CUT_CASE).predicted is None
    assert "perhaps: " in text
    assert "glucose is unknown" in text
    asked = explain(rules, CUT_CASE, rules.outputs[0].isin({"old"})).justification()
    assert asked.startswith("It is possible at ")
    assert " for old" in asked


def test_degrees_between_give_a_part_or_leave_the_tree(rules: CardCascade) -> None:
    glucose = rules.attributes["glucose"]
    halves = [1.0, *[0.5] * (len(glucose.domain) - 1)]
    graded = {**CUT_CASE, "glucose": dict(zip(glucose.domain, halves, strict=True))}
    assert "Points: " not in explain(Cascade(rules), graded).justification()
    text = explain(rules, graded).justification()
    assert "certain at 0.5" in text
    assert " if it holds, 0 if not)" in text


def test_sums_that_are_none_are_not_told() -> None:
    text = """
        attribute a in {0, 1} attribute `rule 1` in {0, 2} attribute `points for yes` in {1, 3}
        attribute y in {no, yes}
        iff a == 1 then `rule 1` in {2}
        iff `rule 1` == VALUE then `points for yes` in {3}
        if `points for yes` == 3 then y in {yes}
    """
    honest = parse(text.replace("VALUE", "2"))
    told = explain(honest, {"a": 1}).justification()
    assert "Points: 3 for yes, no rule gives any to no." in told
    assert "+2 for yes: a in {1} (a is 1)\n  +1 for yes: at the start" in told
    assert "Points" not in explain(parse(text.replace("VALUE", "0")), {"a": 1}).justification()


def test_a_file_of_induced_rules(rules: Cascade, tmp_path: Path) -> None:
    save(rules, tmp_path / "model.rules")
    assert load(tmp_path / "model.rules") == rules
    (tmp_path / "one.csv").write_text("glucose,smoker\n150,no\n")
    done = CliRunner().invoke(
        app, ["explain", str(tmp_path / "model.rules"), str(tmp_path / "one.csv"), "--full"]
    )
    assert done.exit_code == 0
    assert "glucose is 150" in done.stdout
    assert "Margin: " in done.stdout


def test_a_class_without_rules_has_its_start() -> None:
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"a": rng.normal(size=200), "b": rng.choice(["u", "v"], 200)})
    label = np.where((table.a > 1) | (table.a < -1.5), "yes", "no")
    rules, card = induce_card(table, label, max_rules=1)
    [line] = card.lines
    start, points = card.start["no"], line.points
    assert (card.start["yes"], line.value) == (0, "yes")
    assert points > start > 0
    unled = explain(rules, {"a": 0.0, "b": "u"}).justification()
    assert f"Points: {start} for no, 0 for yes; a lead of {start}: no with probability " in unled
    assert f"\n  +{start} for no: at the start" in unled
    led = explain(rules, {"a": 2.0, "b": "u"}).justification()
    lead = points - start
    text = f"Points: {points} for yes, {start} for no; a lead of {lead}: yes with probability "
    assert text in led
    assert f"+{start} for no: at the start" in led
    assert parse(str(rules)) == rules
    certainty = rules.infer(table)["target"].certainty
    assert set(certainty.round(4).tolist()) == {
        card.certainties[lead - 1],
        card.certainties[start - 1],
    }


def test_the_card_as_data(rules: CardCascade) -> None:
    blank = {"glucose": None, "smoker": "no"}
    explanation = explain(rules, blank)
    content = explanation.to_dict()
    assert problems(content, schema(), schema()) == []
    assert content["card"]["predicted"] == explanation.predicted
    for points in content["card"]["points"]:
        given = points["start"] + sum(line["gives"] for line in points["lines"])
        assert given == points["points"]
    assert "card" not in explain(Cascade(rules), blank).to_dict()
    assert "As a picture" not in explanation._repr_html_()
    assert "As a picture" in explain(Cascade(rules), blank)._repr_html_()
