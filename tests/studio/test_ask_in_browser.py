"""The Ask view as a person uses it, in a real browser: drawing, keyboard, notices, screens."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from browser import DRAWS, picture
from loans import LOAN
from pinesy import parse
from pinesy.cli.studio_command import demo_session
from pinesy.studio import Session
from pinesy.studio.session import Work
from screen_checks import stroke, stroke_problems
from studio.ink_by_columns import drawing_session

Serving = Callable[[Session], str]
REJECTED = {"debt_ratio": {"number": 0.639}, "history": {"value": 2}, "job": {"value": 0}}


def digits_to_draw() -> Session:
    """Return a session on a model that reads drawings: for the docs that of the demo."""
    return demo_session(lambda _line: None) if DRAWS else drawing_session()


def loan_session() -> Session:
    return Session(Work(parse(LOAN), LOAN))


def opened(tab: Page, address: str) -> Page:
    tab.goto(address)
    expect(tab.locator("#panel-ask")).to_have_attribute("data-ready", "true")
    return tab


def loan(tab: Page, serving: Serving) -> Page:
    inputs = json.dumps(REJECTED)
    opened(tab, f"{serving(loan_session())}#ask?inputs={inputs}")
    expect(tab.locator(".verdict .value")).to_have_text("reject")
    return tab


@pytest.mark.parametrize("width", [1400, 390])
def test_the_first_stroke_answers_and_the_pad_stays(
    tab: Page, serving: Serving, width: int
) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    opened(tab, serving(digits_to_draw()))
    value = tab.locator(".verdict .value")
    expect(value).to_have_text("Draw two digits")
    pad = tab.get_by_label(re.compile("draw left"))
    expect(pad).to_be_in_viewport()
    box, bars = pad.bounding_box(), tab.locator(".reading").first.locator(".bar")
    assert stroke_problems(tab, pad) == []
    # Once more after Clear, and on the other pad.
    tab.get_by_role("button", name=re.compile("clear left")).click()
    expect(value).to_have_text("Draw two digits")
    expect(bars).to_have_count(0)
    stroke(tab, pad, (0.25, 0.2), (0.75, 0.2), (0.45, 0.85))
    tab.mouse.up()
    expect(bars).to_have_count(3)
    expect(value).not_to_have_text("Draw two digits")
    stroke(tab, tab.get_by_label(re.compile("draw right")), (0.5, 0.15), (0.5, 0.85))
    tab.mouse.up()
    expect(tab.locator(".verdict")).to_have_attribute("data-kind", "decided")
    expect(tab.locator(".verdict .value small")).to_contain_text(" + ")
    assert pad.bounding_box() == box
    picture(tab, "studio-digits" if width == 1400 else "studio-phone")


def test_keyboard_and_focus(tab: Page, serving: Serving) -> None:
    page = loan(tab, serving)
    page.locator("#tab-ask").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-rules")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#tab-ask")).to_be_focused()
    row = page.get_by_role("button", name="approve: possible 0.20")
    row.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".why h2")).to_have_text("Why not approve?")
    expect(page.locator(".why .lines")).to_contain_text("Approve is possible 0.20 only")
    expect(row).to_be_focused()
    expect(row).to_have_attribute("aria-pressed", "true")
    assert '"place":0' in page.evaluate("decodeURIComponent(location.hash)")
    picture(page, "studio-ask")
    page.reload()
    expect(page.locator(".why h2")).to_have_text("Why not approve?")
    page.get_by_role("button", name="Back to the answer").click()
    expect(page.locator(".why h2")).to_have_text("Why reject?")


def test_inputs_are_set_directly(tab: Page, serving: Serving) -> None:
    page = loan(tab, serving)
    value = page.locator(".verdict .value")
    page.get_by_role("radio", name="good").check(force=True)
    page.get_by_role("spinbutton", name="debt_ratio").fill("0.2")
    expect(value).to_have_text("approve")
    expect(page.locator(".verdict .how")).to_have_text("certain 0.90")
    page.get_by_role("button", name="history is unknown").click()
    expect(value).to_have_text("Undecided")
    expect(page.locator(".field[data-mark=lit]")).to_have_count(0)
    page.get_by_role("button", name="history is unknown").click()
    expect(value).to_have_text("approve")
    group = page.get_by_role("group", name="history")
    group.get_by_text("not sure: set degrees").click()
    group.get_by_label("possibility of history = bad").fill("0.5")
    expect(page.locator(".verdict dd").first).to_contain_text("(certain 0.50)")
    page.get_by_role("button", name="Try it").first.click()
    expect(value).not_to_have_text("approve")
    page.get_by_role("button", name="Undo").click()
    expect(value).to_have_text("approve")
