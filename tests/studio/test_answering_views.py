"""The views Data and Learn in a real browser: the main act of each, by mouse and by keys."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser import PATIENCE, picture
from pinesy._common.console import check_stop, progress
from pinesy.studio import Session, learn_view

Serving = Callable[[Session], str]


def enter(tab: Page, address: str, view: str) -> Any:
    """Open a studio at a view; return its panel."""
    tab.set_viewport_size({"width": 1000, "height": 720})
    tab.goto(f"{address}#{view}")
    panel = tab.locator(f"#panel-{view}")
    expect(panel).to_have_attribute("data-ready", "true", timeout=PATIENCE)
    return panel


def test_sorting_the_audit_and_opening_a_row(
    tab: Page, serving: Serving, labelled: Session
) -> None:
    panel = enter(tab, serving(labelled), "data")
    numbers = panel.locator(".rows-table tbody tr td:nth-child(2)")
    expect(numbers.first).to_have_text("4 · d3")  # the row whose label is wrong, and its id
    expect(panel).to_contain_text(
        "1 suspicious label (0 impossible) in 6 rows, judged by the rules"
    )
    expect(panel.locator(".figures")).to_contain_text("83.3 %")
    panel.locator(".rows-table").scroll_into_view_if_needed()
    picture(tab, "studio-data")
    head = panel.get_by_role("columnheader", name="row").first
    head.get_by_role("button").press("Enter")
    names = [f"{i + 1} · d{i}" for i in range(6)]
    expect(numbers).to_have_text(names)
    panel.locator("[aria-sort=descending] button").press("Enter")
    expect(numbers).to_have_text(names[::-1])
    panel.get_by_role("button", name="Open row 6").click()
    expect(tab.get_by_role("tab", name="Ask")).to_have_attribute("aria-selected", "true")


def test_another_label_and_what_follows(tab: Page, serving: Serving, labelled: Session) -> None:
    panel = enter(tab, serving(labelled), "data")
    panel.get_by_label("street of row 4").select_option("dry")
    expect(panel.locator(".figures")).to_contain_text("83.3 % → 100.0 %")
    panel.get_by_role("button", name="What would learning change?").click()
    expect(panel.locator(".edits")).to_contain_text("of 2 rules.")
    panel.get_by_role("button", name="Undo the last change").click()
    expect(panel.locator(".figures")).to_contain_text("100.0 % → 83.3 %")


def test_learning_is_compared_accepted_and_undone(
    tab: Page, serving: Serving, labelled: Session
) -> None:
    before = labelled.work.rules
    panel = enter(tab, serving(labelled), "learn")
    panel.get_by_label("Method").select_option("counts")
    panel.get_by_role("button", name="Learn", exact=True).click()
    expect(panel).to_contain_text("rules have other parameters")
    assert labelled.work.rules is before
    picture(tab, "studio-learn")
    with tab.expect_response("**/learn/status") as looked:  # the view looks again: other rules
        panel.get_by_role("button", name="Accept").click()
    looked.value.finished()
    tab.wait_for_timeout(50)
    expect(panel).to_contain_text("Accepted.")
    assert labelled.work.rules is not before
    tab.get_by_role("button", name="Undo").click()
    expect(tab.get_by_role("button", name="Undo")).to_be_hidden()
    expect(panel).not_to_contain_text("Accepted.")
    assert labelled.work.rules is before


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


MARKUP = "<img src=x onerror=document.title=1>"


def test_names_with_markup_are_texts(tab: Page, serving: Serving, tmp_path: Path) -> None:
    rules, data = tmp_path / "hostile.rules", tmp_path / "hostile.jsonl"
    rules.write_text(
        f'attribute `{MARKUP}` in {{"<b>a</b>", c}} attribute d in {{"{MARKUP}", "</script>"}} '
        f'if `{MARKUP}` in {{c}} then d in {{"{MARKUP}"}} '
        f'if `{MARKUP}` in {{"<b>a</b>"}} then d in {{"</script>"}}'
    )
    data.write_text(json.dumps({MARKUP: "c", "d": "</script>", "id": MARKUP}))
    session = Session.open(rules, data)
    address = serving(session)
    for view, seen in (("why", ".answer"), ("data", ".rows-table"), ("learn", "form, .checks")):
        panel = enter(tab, address, view)
        expect(panel.locator(seen).first).to_contain_text("d")
        tab.reload()
    assert tab.title() == "pinesy studio"
    expect(tab.locator("main img, main script")).to_have_count(0)
