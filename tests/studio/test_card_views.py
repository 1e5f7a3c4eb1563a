"""The score card of induced rules in every view, and nowhere the rules of its sums."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pytest
from playwright.sync_api import Page, expect

from pinesy import Cascade, induce, save
from pinesy.induction import CardCascade, card_of
from pinesy.studio import Session
from studio.conftest import ask, client_of

SUMS = re.compile(r"against|(?<!\d )points for|best points|`rule \d")


@pytest.fixture
def induced(tmp_path: Path) -> Session:
    """Return a session on induced rules, and rows with blanks."""
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {"glucose": rng.normal(120, 30, 120).round(), "smoker": rng.choice(["yes", "no"], 120)}
    )
    table["ill"] = np.where(table.glucose + 20 * (table.smoker == "yes") > 130, "yes", "no")
    save(induce(table, "ill", max_rules=5), tmp_path / "model.rules")
    table.loc[0, "glucose"] = None
    table.to_csv(tmp_path / "rows.csv", index=False)
    session = Session.open(tmp_path / "model.rules", tmp_path / "rows.csv")
    session.rows.wait()
    return session


def test_views_have_the_card(induced: Session) -> None:
    client = client_of(induced)
    rules = induced.work.rules
    assert isinstance(rules, CardCascade)
    form = ask(client, "ask/form")
    assert {a["name"] for a in form["inputs"]} == {"glucose", "smoker"}
    assert [a["name"] for a in form["questions"]] == ["ill"]
    content = ask(client, "ask/answer", sample={"row": 0})
    assert "point" in content["verdict"]["because"]
    assert not SUMS.search(content["text"])
    premises = {line.premise for line in rules.card.lines}
    assert {line["text"] for line in content["card"]["lines"]} <= premises | {"start"}
    classes = ask(client, "rules/text")["card"]["classes"]
    lines = {line["number"]: line for entry in classes for line in entry["lines"]}
    assert {n: line["points"] for n, line in lines.items()} == {
        n: line.points for n, line in enumerate(rules.card.lines, 1)
    }
    assert not SUMS.search(str(classes))
    assert ask(client, "rules/picture")["layers"] == []
    work = ask(client, "rules/work")["result"]
    assert {row["number"] for row in work["rules"]} == {*lines}
    batch = induced.rows.batch()
    inferred = rules.infer(batch.evidence, ["ill", *(line.attribute for line in rules.card.lines)])
    for row in work["rules"]:
        line = rules.card.lines[row["number"] - 1]
        holds = inferred[line.attribute].degrees[:, 0] == 0.0
        is_class = batch.targets["ill"].labels == rules.card.output.position(line.value)
        assert row["decides"] == holds.sum()
        assert row["right"] == (holds & is_class).sum()
    job = ask(client, "learn/induce", target="ill", max_rules=3)
    assert job["result"]["card"]["output"] == "ill"
    assert not SUMS.search(str(job["result"]))


def test_the_card_stays_while_its_rules_do(induced: Session) -> None:
    client, text = client_of(induced), induced.work.text
    assert ask(client, "rules/use", text=f"{text}\n# a note\n")["version"]
    assert card_of(induced.work.rules) is not None
    edited = re.sub(r"certainty=0\.\d+", "certainty=0.123", text, count=1)
    with pytest.warns(UserWarning, match="score card"):
        ask(client, "rules/use", text=edited)
    assert card_of(induced.work.rules) is None
    assert isinstance(induced.work.rules, Cascade)
    assert ask(client, "rules/text")["card"] is None
    assert ask(client, "ask/answer", sample={"row": 0})["card"] is None


def test_the_page_shows_it(tab: Page, serving: Callable[[Session], str], induced: Session) -> None:
    rules = induced.work.rules
    assert isinstance(rules, CardCascade)
    tab.goto(f"{serving(induced)}#rules")
    for view in ("rules", "data", "learn", "share"):
        tab.locator(f"#tab-{view}").click()
        panel = tab.locator(f"#panel-{view}")
        expect(panel).to_have_attribute("data-ready", "true")
        assert not SUMS.search(panel.inner_text()), view
    tab.locator("#tab-rules").click()
    starts = sum(1 for points in rules.card.start.values() if points)
    lines = tab.locator("#panel-rules .points-line")
    expect(lines).to_have_count(len(rules.card.lines) + starts)
    expect(tab.locator("#panel-rules .work")).to_contain_text("rows")
    summary = tab.locator("#panel-rules .compiled > summary")
    expect(tab.get_by_label("rules", exact=True)).to_be_hidden()
    summary.click()
    expect(tab.get_by_label("rules", exact=True)).to_be_visible()
    tab.locator("#tab-ask").click()
    scores = rules.score(induced.rows.sample(0))
    value = str(rules.card.output.domain[scores.best[0]])
    expect(tab.locator("#panel-ask .verdict .answer")).to_contain_text(value)
    expect(tab.locator("#panel-ask .scores")).to_be_visible()
    expect(tab.locator("#panel-ask .layers")).to_have_count(0)
    assert not SUMS.search(tab.locator("#panel-ask").inner_text())
