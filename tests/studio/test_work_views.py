"""The views Rules, Data, Learn and Share in a real browser: their main acts and their states."""

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from browser import PATIENCE, SAILING, picture
from pinesy import parse, verdict
from pinesy._common.console import check_stop, progress
from pinesy.studio import Session, data_view, learn_view, rules_view
from pinesy.studio.session import Work
from screen_checks import edges_of, problems_of
from studio.touched_files import touch

Serving = Callable[[Session], str]
VIEWS = ("rules", "data", "learn", "share")
LOAN = """\
number debt
attribute history in {good, bad}
attribute risk in {low, high}
attribute decision in {approve, reject}
if debt >= 0.45 or history == bad then risk == high [certainty=0.8]
if debt < 0.45 and history == good then risk == low [certainty=0.9]
if risk == high then decision == reject
if risk == low then decision == approve
"""


@pytest.fixture
def loans(tmp_path: Path) -> Session:
    """Return rules in two layers, and 90 rows of which some have wrong labels or blanks."""
    rules, data = tmp_path / "loan.rules", tmp_path / "loan.csv"
    rules.write_text(LOAN)
    rng = np.random.default_rng(1)
    lines = []
    for i in range(90):
        debt, history = rng.random().__round__(3), ("good", "bad")[int(rng.random() < 0.3)]
        is_high = (debt >= 0.45 or history == "bad") ^ (rng.random() < 0.1)
        lines.append(f"A{i},{'' if i == 4 else debt},{history},{('approve', 'reject')[is_high]}")
    data.write_text("id,debt,history,decision\n" + "\n".join(lines))
    session = Session.open(rules, data)
    session.rows.wait()
    return session


def enter(tab: Page, address: str, view: str, width: int = 1400) -> Locator:
    """Open a studio at a view; return its panel."""
    tab.set_viewport_size({"width": width, "height": 900})
    if tab.url.startswith("about:"):
        tab.goto(f"{address}#{view}")
    else:
        tab.locator(f"#tab-{view}").click()
    panel = tab.locator(f"#panel-{view}")
    expect(panel).to_have_attribute("data-ready", "true", timeout=PATIENCE)
    return panel


def expect_ask(tab: Page, sample: Any) -> None:
    """Expect that Ask is open, with a sample in its address."""
    expect(tab.get_by_role("tab", name="Ask")).to_have_attribute("aria-selected", "true")
    expect(tab).to_have_url(re.compile(sample))


# --- Rules ----------------------------------------------------------------------------------------


def test_an_error_is_shown_at_its_place_while_one_types(
    tab: Page, serving: Serving, session: Session
) -> None:
    panel = enter(tab, serving(session), "rules")
    area = tab.get_by_label("rules", exact=True)
    area.fill(SAILING.replace("{wet}", "{wett}", 1))
    expect(panel.locator(".finding.error")).to_contain_text("line 7, column")
    expect(tab.locator(".sheet .wrong")).to_have_text("{")
    expect(tab.get_by_role("button", name="Use these rules")).to_be_disabled()
    tab.get_by_role("button", name="Go to line 7").click()
    tab.keyboard.press("Delete")
    expect(panel.locator(".finding.error")).not_to_contain_text("wett'")
    area.fill(SAILING.replace("r=0.25", "r=0.5"))
    expect(tab.get_by_role("button", name="Use these rules")).to_be_enabled()
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_role("button", name="Use these rules")).to_be_disabled()
    expect(tab.locator("#notices")).to_contain_text("These rules answer now")
    assert session.work.rules == parse(SAILING.replace("r=0.25", "r=0.5"))


def test_a_finding_opens_its_case_in_ask(
    tab: Page, serving: Serving, loans: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = {
        "level": "warning", "kind": "contradiction", "text": "Rules 1 and 2 can contradict.",
        "lines": [5, 6], "case": {"debt": {"number": 0.5}, "history": {"value": 0}},
    }  # fmt: skip
    monkeypatch.setattr(rules_view, "finding_data", lambda *_: finding)
    monkeypatch.setattr(loans, "work", Work(parse(LOAN), LOAN))
    text = LOAN + "if debt >= 0.5 then decision == reject\nif debt >= 0.5 then decision == reject\n"
    loans.use(Work(parse(text), text))
    panel = enter(tab, serving(loans), "rules")
    first = panel.locator(".finding").first
    expect(first).to_contain_text("Rules 1 and 2 can contradict.")
    first.get_by_role("button", name="Go to line 6").click()
    expect(tab.get_by_label("rules", exact=True)).to_be_focused()
    first.get_by_role("button", name="Show such a case").click()
    expect_ask(tab, r"#ask\?inputs=.*number.*0\.5")


def test_the_picture_has_layers_and_no_edge_behind_a_card(
    tab: Page, serving: Serving, loans: Session
) -> None:
    panel = enter(tab, serving(loans), "rules")
    heads = panel.locator(".layer > h3")
    expect(heads).to_have_text(
        ["Given", "Rules on risk", "In between", "Rules on decision", "Answer"]
    )
    expect(panel.locator(".layers path")).to_have_count(10)
    assert problems_of(tab) == []
    assert edges_of(tab) > 0
    expect(panel.locator(".work")).to_contain_text("right")  # which rules decide on the rows
    picture(tab, "studio-rules")


def test_large_rule_bases_unfold(tab: Page, serving: Serving) -> None:
    names = " ".join(f"attribute a{i} in {{0, 1}} attribute b{i} in {{0, 1}}" for i in range(30))
    text = names + " ".join(f"if a{i} == 1 then b{i} == 1" for i in range(30))
    panel = enter(tab, serving(Session(Work(parse(text), text))), "rules")
    expect(panel.locator(".node").first).to_contain_text("a0 to a2930 alike")
    panel.get_by_role("button", name="Show each").first.click()
    expect(panel.locator(".layer").first.locator(".node")).to_have_count(30)


# --- Data -----------------------------------------------------------------------------------------


def test_four_figures_filters_and_a_row_that_opens_in_ask(
    tab: Page, serving: Serving, loans: Session
) -> None:
    panel = enter(tab, serving(loans), "data")
    figures = panel.locator(".metric")
    expect(figures).to_have_count(4)
    expect(figures.nth(0)).to_contain_text("chance allows")
    expect(figures.nth(2)).to_contain_text("Covered, asked for 95 %")
    expect(figures.nth(3)).to_contain_text(re.compile(r"Suspicious labels[1-9]"))
    picture(tab, "studio-data")
    panel.get_by_role("button", name="90 %", exact=True).click()
    expect(figures.nth(2)).to_contain_text("Covered, asked for 90 %")
    expect(panel.get_by_role("button", name="90 %", exact=True)).to_be_focused()
    panel.get_by_role("button", name="Next").click()
    expect(panel).to_have_attribute("data-shown", "all 10")
    expect(panel.locator(".rows tbody tr").first).to_contain_text("A10")
    panel.locator("[data-filter=wrong]").click()
    expect(panel).to_have_attribute("data-shown", "wrong 0")
    expect(tab).to_have_url(re.compile("#data.*rows=wrong"))
    tab.reload()
    expect(panel).to_have_attribute("data-shown", "wrong 0")
    expect(panel.locator(".counts tbody tr")).to_have_count(2)
    expect(panel.locator("tbody .sign.conflict")).to_have_count(
        panel.locator(".rows tbody tr").count()
    )
    figures.nth(3).click()
    expect(panel).to_have_attribute("data-shown", "suspicious 0")
    row = panel.locator(".rows tbody tr").first
    expect(row).to_contain_text("The label is possible at")
    name = row.get_by_role("button").first.inner_text()
    row.locator("td.wide").first.click()
    expect_ask(tab, rf"#ask\?row={int(name[1:]) + 1}\b")


def test_a_model_with_a_threshold_says_what_it_decides_alone(
    tab: Page, serving: Serving, selective: Session
) -> None:
    panel = enter(tab, serving(selective), "data")
    figures = panel.locator(".metric")
    expect(figures).to_have_count(5)
    found = data_view.data_figures(selective, None)["decisions"]
    decided, wrong = found["decided"], found["wrong"]
    alone = figures.filter(has_text="Decided alone")
    expect(alone.locator(".figure")).to_have_text(f"{100 * decided / 300:.1f} %")
    expect(alone).to_contain_text(f"{wrong} of {decided} wrong")
    expect(alone).to_contain_text(f"{300 - decided} handed over")
    assert problems_of(tab) == []


def test_another_label_and_what_follows(tab: Page, serving: Serving, labelled: Session) -> None:
    panel = enter(tab, serving(labelled), "data")
    figure = panel.locator(".metric").first
    expect(figure).to_contain_text("83.3 %")
    panel.get_by_label("label of d3").select_option("dry")
    expect(figure).to_contain_text("100 %")
    panel.get_by_role("button", name="What would learning change?").click()
    expect(panel).to_contain_text("of 2 rules.")
    panel.get_by_role("button", name="Undo the last change").click()
    expect(figure).to_contain_text("83.3 %")


# --- Learn ----------------------------------------------------------------------------------------


def test_learning_is_compared_used_and_undone(tab: Page, serving: Serving, loans: Session) -> None:
    before = loans.work.rules
    panel = enter(tab, serving(loans), "learn")
    expect(panel.locator(".facts")).to_contain_text("loan.csv, 60 rows")
    panel.get_by_role("button", name="Learn", exact=True).click()
    expect(panel).to_contain_text("on 30 rows that were not learned from")
    expect(panel.locator(".dumbbell").first).to_be_attached()
    assert loans.work.rules is before
    picture(tab, "studio-learn")
    panel.get_by_role("button", name="Use the new rules").click()
    expect(tab.locator("#notices")).to_contain_text("The new rules answer now")
    assert loans.work.rules is not before
    tab.locator("#notices").get_by_role("button", name="Undo").click()
    expect(tab.locator("#undo")).to_be_hidden()
    assert loans.work.rules is before
    panel.get_by_role("button", name="Learn", exact=True).click()
    panel.get_by_role("button", name="Keep mine").click()
    expect(panel).to_contain_text("Your rules are as they were.")
    assert loans.work.rules is before


def test_labels_are_checked_and_shown_in_data(tab: Page, serving: Serving, loans: Session) -> None:
    panel = enter(tab, serving(loans), "learn")
    panel.get_by_label("Only check the labels").check()
    panel.get_by_role("button", name="Check", exact=True).click()
    expect(panel.locator("h2").last).to_contain_text("suspicious labels")
    panel.get_by_role("button", name="Show them in Data").click()
    expect(tab.locator("#panel-data")).to_have_attribute("data-shown", "suspicious 0")


def test_learning_is_stopped_by_a_page_that_was_opened_again(
    tab: Page, serving: Serving, labelled: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def endless(*_: Any) -> None:
        with progress("fronts", 10) as bar:
            bar.advance(3)
            begun.set()
            while True:
                check_stop()
                begun.wait(0.01)

    monkeypatch.setattr(learn_view, "propose_learning", endless)
    panel = enter(tab, serving(labelled), "learn")
    panel.get_by_role("button", name="Learn", exact=True).click()
    expect(panel.locator(".job")).to_contain_text("fronts · 3 of 10")
    tab.reload()
    expect(panel.locator(".job")).to_contain_text("fronts · 3 of 10")
    panel.get_by_role("button", name="Stop").click()
    expect(panel).to_contain_text("Stopped. Nothing has changed.")
    assert labelled.version == 0


# --- Share ----------------------------------------------------------------------------------------


def test_the_page_is_saved_and_previewed(tab: Page, serving: Serving, loans: Session) -> None:
    panel = enter(tab, serving(loans), "share")
    answer = verdict(loans.work.rules, loans.rows.sample(0), "decision")
    expect(panel.locator(".sheet .value")).to_have_text(str(answer.values[0]))
    picture(tab, "studio-share")
    with tab.expect_download() as downloading:
        panel.get_by_role("button", name="Save page").click()
    assert downloading.value.suggested_filename == "loan.html"
    with tab.context.expect_page() as opening:
        panel.get_by_role("button", name="Open preview").click()
    opening.value.wait_for_load_state()
    expect(opening.value.locator("body")).to_contain_text("decision")
    opening.value.close()
    panel.get_by_role("button", name="Command line").click()
    expect(panel.locator(".snippet")).to_contain_text("pinesy infer loan.rules loan.csv")
    with tab.expect_download() as downloading:
        panel.get_by_role("button", name="Save Answers to all rows").click()
    assert downloading.value.suggested_filename == "loan-answers.csv"


# --- all of them: states, phones, themes ----------------------------------------------------------


def test_views_without_data_say_what_to_do(tab: Page, serving: Serving, rules: Path) -> None:
    address = serving(Session.open(rules))
    for view in ("data", "learn"):
        expect(enter(tab, address, view)).to_contain_text("No data yet")
    panel = enter(tab, address, "share")
    expect(panel.get_by_role("button", name="Save Answers to all rows")).to_be_disabled()


def test_data_that_cannot_be_read_says_where(
    tab: Page, serving: Serving, rules: Path, tmp_path: Path
) -> None:
    data = tmp_path / "bad.csv"
    data.write_text("sky,wind,street\ndark,12,wet\ndark,much,wet\n")
    session = Session.open(rules, data)
    session.rows.wait()
    panel = enter(tab, serving(session), "data")
    expect(panel).to_contain_text("The data cannot be read")
    expect(panel).to_contain_text("much")


def test_a_change_on_disk_is_followed(tab: Page, serving: Serving, loans: Session) -> None:
    panel = enter(tab, serving(loans), "rules")
    expect(panel.locator(".layers path")).to_have_count(10)
    assert loans.path is not None
    touch(loans.path, LOAN + "if history == bad then decision == reject\n")
    tab.get_by_role("button", name="Load again").click()
    expect(panel.locator(".rule .number", has_text="5").first).to_be_visible()
    expect(tab.get_by_label("rules", exact=True)).to_have_value(re.compile("history == bad then d"))


MARKUP = "<img src=x onerror=document.title=1>"


def test_names_with_markup_are_texts(tab: Page, serving: Serving, tmp_path: Path) -> None:
    rules, data = tmp_path / "hostile.rules", tmp_path / "hostile.jsonl"
    rules.write_text(
        f'attribute `{MARKUP}` in {{"<b>a</b>", c}} attribute d in {{"{MARKUP}", "</script>"}} '
        f'if `{MARKUP}` in {{c}} then d in {{"{MARKUP}"}} '
        f'if `{MARKUP}` in {{"<b>a</b>"}} then d in {{"</script>"}}'
    )
    lines = [{MARKUP: "c", "d": "</script>", "id": MARKUP}] * 12
    data.write_text("\n".join(map(json.dumps, lines)))
    session = Session.open(rules, data)
    session.rows.wait()
    address = serving(session)
    for view in VIEWS:
        panel = enter(tab, address, view)
        if view == "learn":
            panel.get_by_role("button", name="Learn", exact=True).click()
            expect(panel.locator(".pairs")).to_be_visible()
        expect(panel).to_contain_text("<" if view != "learn" else "d")
    assert tab.title() == "pinesy studio"
    expect(tab.locator("main img, main script")).to_have_count(0)
