"""The page around the rooms, in a real browser."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from pinesy.studio import Session
from studio.test_session import touch

Serving = Callable[[Session], str]


def test_tabs_work_by_keyboard_and_the_token_leaves_the_address(
    tab: Page, serving: Serving, session: Session
) -> None:
    tab.goto(serving(session))
    first = tab.get_by_role("tab", name="Rules")
    expect(first).to_have_attribute("aria-selected", "true")
    assert "token" not in tab.url
    first.focus()
    tab.keyboard.press("ArrowRight")
    second = tab.get_by_role("tab", name="Sample")
    expect(second).to_be_focused()
    expect(second).to_have_attribute("aria-selected", "true")
    expect(tab.locator("#panel-sample")).to_have_attribute("data-ready", "true")
    expect(tab.locator("#panel-rules")).to_be_hidden()
    tab.reload()
    expect(second).to_have_attribute("aria-selected", "true")


def test_a_change_on_disk_is_told(
    tab: Page, serving: Serving, session: Session, rules: Path
) -> None:
    tab.goto(serving(session))
    expect(tab.locator("#source")).to_have_text("sail.rules · days.jsonl: 3 rows")
    touch(rules, rules.read_text().replace("0.25", "0.5"))
    tab.get_by_role("button", name="Load again").click()
    expect(tab.get_by_role("button", name="Undo")).to_be_visible()
    assert "0.5" in session.work.text
