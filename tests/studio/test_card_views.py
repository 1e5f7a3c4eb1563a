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

SUMS = re.compile(r"against|points for|best points|`rule \d")


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
    form = ask(client, "sample/form")
    assert form["hasCard"]
    assert {a["name"] for a in form["attributes"]} == {"glucose", "smoker", "ill"}
    text = ask(client, "rules/text")
    assert [row[0] for row in text["card"]["rows"] if row[0] != "start"] == [
        line.premise for line in rules.card.lines
    ]
    why = ask(client, "why/explain", sample={"row": 0}, attribute="ill", place=None)
    assert "glucose is not known" in why["points"]
    assert not SUMS.search(why["points"].replace("Points for", ""))
    assert ask(client, "why/conclusions")["others"] == []
    report = ask(client, "data/evaluate", attribute=None)["result"]
    assert report["has_card"]
    texts = {line.text: line for line in rules.card.lines}
    assert {one["rule"] for one in report["rules"]} == {*texts}
    batch = induced.rows.batch()
    inferred = rules.infer(batch.evidence, ["ill", *(line.attribute for line in rules.card.lines)])
    for one in report["rules"]:
        line = texts[one["rule"]]
        pi = inferred[line.attribute].degrees
        is_class = batch.targets["ill"].labels == rules.card.output.position(line.value)
        assert one["decides"] == (pi[:, 0] == 0.0).sum()
        assert one["right"] == ((pi[:, 0] == 0.0) & is_class).sum()
    job = ask(client, "learn/induce", target="ill", max_rules=3)
    assert "then for" in job["result"]["text"]
    assert not SUMS.search(job["result"]["text"])


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
    assert ask(client, "sample/infer", sample={"row": 0}, shown=["ill"])["card"] is None


def test_the_page_shows_it(tab: Page, serving: Callable[[Session], str], induced: Session) -> None:
    rules = induced.work.rules
    assert isinstance(rules, CardCascade)
    address = serving(induced)
    tab.goto(f"{address}#rules")
    expect(tab.locator("#panel-rules")).to_have_attribute("data-ready", "true")
    lines = tab.locator("#panel-rules table.card tbody tr")
    expect(lines).to_have_count(len(rules.card.rows()))
    assert not SUMS.search(tab.locator("#panel-rules").inner_text())
    tab.locator("#tab-sample").click()
    scores = rules.score(induced.rows.sample(0))
    value = rules.card.output.domain[scores.best[0]]
    expect(tab.locator("#panel-sample .predicted")).to_contain_text(f"Predicted: ill is {value}")
    expect(tab.locator("#panel-sample .points")).to_contain_text("glucose is not known")
    tab.locator("#tab-why").click()
    expect(tab.locator("#panel-why .points")).to_contain_text("glucose is not known")
    assert not SUMS.search(tab.locator("#panel-why").inner_text())
