"""What must hold of every view on every screen, and that the checks fail on broken copies."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browser import PATIENCE, errors_of
from pinesy.studio import Session
from pinesy.studio.web_application import VIEWS
from screen_checks import (
    START,
    assert_fits_all_screens,
    axe_problems,
    keyboard_problems,
    notice_problems,
    problems_of,
    stroke_problems,
)
from studio.ink_by_columns import drawing_session

Serving = Callable[[Session], str]
EXAMPLES = Path(__file__).parents[2] / "examples"
#: Milliseconds in which a broken copy is known not to answer.
SOON = 600


def loan_session() -> Session:
    """Return the loan of the examples with its rows."""
    session = Session.open(EXAMPLES / "loan.rules", EXAMPLES / "loan.csv")
    session.rows.wait()
    return session


def show(tab: Page, view: str) -> None:
    """Choose a view, and wait for what it shows."""
    tab.locator(f"#tab-{view}").click()
    panel = tab.locator(f"#panel-{view}")
    expect(panel).to_have_attribute("data-ready", "true")
    if view == "data":
        expect(panel.locator(".metric").last).not_to_contain_text("…")
        expect(panel.locator(".rows tbody tr").first).to_be_visible()
    if view == "learn":
        panel.get_by_role("button", name="Learn", exact=True).click()
        expect(panel.locator(".dumbbell").first).to_be_attached()
    if view == "rules":
        expect(panel.locator(".finding").first).to_be_visible()


@pytest.mark.parametrize("model", ["loan", "digits"])
def test_every_view_fits_every_screen(tab: Page, serving: Serving, model: str) -> None:
    session = loan_session() if model == "loan" else drawing_session(30)
    tab.goto(f"{serving(session)}#ask?row=2")
    for view in VIEWS:
        tab.set_viewport_size({"width": 1400, "height": 844})
        show(tab, view)
        assert_fits_all_screens(tab, least_edges=view in ("ask", "rules"))
    show(tab, "ask")
    tab.locator(".values .row[aria-pressed='false']").first.click()
    expect(tab.locator(".why h2")).to_contain_text("Why not")
    assert_fits_all_screens(tab)


def test_notices_and_keys(tab: Page, serving: Serving) -> None:
    tab.goto(f"{serving(loan_session())}#ask?row=2")
    expect(tab.locator(".verdict .value")).to_have_text("approve")
    assert notice_problems(tab) == []
    assert keyboard_problems(tab, "review") == []


# --- broken copies --------------------------------------------------------------------------------

#: Style sheets that break a check, by what it says.
BROKEN_STYLES = {
    "small: ": ".verdict dd { font-size: 11px !important }",
    "contrast: ": ".verdict dd { color: #9a9a9a !important }",
    "it scrolls sideways": ".verdict { min-width: 1500px }",
    "edges behind cards": ".layers .node { scale: 1.6 }",
}
STYLE = """(style) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets = style ? [sheet] : [];
}"""
SWALLOW = """(kind) => window.addEventListener(
  kind, (event) => { event.stopImmediatePropagation(); event.preventDefault(); }, true)"""
NO_FOCUS = "() => { HTMLElement.prototype.focus = () => {}; }"
NAMELESS = "() => document.querySelector('#theme').removeAttribute('aria-label')"
ABOVE = """() => document.querySelector('main').before(document.querySelector('#notices'))"""


@pytest.fixture
def copy(chromium: Browser) -> Page:
    """Return a tab whose errors are not errors of the test."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(PATIENCE)
    return context.new_page()


def test_the_checks_of_what_is_shown_fail_on_broken_copies(copy: Page, serving: Serving) -> None:
    errors = errors_of(copy)
    copy.goto(f"{serving(loan_session())}#ask?row=2")
    expect(copy.locator(".layers path").first).to_be_attached()
    copy.wait_for_timeout(100)
    for problem, style in BROKEN_STYLES.items():
        copy.evaluate(STYLE, style)
        assert any(problem in found for found in problems_of(copy)), problem
        copy.evaluate(STYLE, "")
        copy.wait_for_timeout(100)  # edges are drawn anew
        assert problems_of(copy) == []
    assert axe_problems(copy) == []
    copy.evaluate(NAMELESS)
    copy.locator("#theme").evaluate("(e) => { e.removeAttribute('title'); e.textContent = ''; }")
    assert any("button-name" in found for found in axe_problems(copy))
    # A notice in the flow of the page moves it.
    copy.evaluate(STYLE, "#notices { position: static !important }")
    copy.evaluate(ABOVE)
    assert notice_problems(copy) == ["a notice moves the page"]
    copy.evaluate(STYLE, "")
    assert notice_problems(copy) == []
    assert errors == []
    with copy.expect_event("pageerror"):
        copy.evaluate("() => { setTimeout(() => { throw new Error('broken'); }); }")
    assert errors == ["broken"]
    copy.context.close()


def test_the_check_of_keys_fails_on_broken_copies(copy: Page, serving: Serving) -> None:
    copy.goto(f"{serving(loan_session())}#ask?row=2")
    expect(copy.locator(".verdict .value")).to_have_text("approve")
    address = copy.url
    copy.evaluate(NO_FOCUS)
    assert keyboard_problems(copy, "review", SOON)
    copy.goto("about:blank")
    copy.goto(address)
    expect(copy.locator(".verdict .value")).to_have_text("approve")
    copy.evaluate(SWALLOW, "keydown")
    assert keyboard_problems(copy, "review", SOON) == [
        "an arrow does not choose the next tab",
        "Enter does not ask why not",
    ]
    copy.context.close()


def test_the_check_of_strokes_fails_on_broken_copies(copy: Page, serving: Serving) -> None:
    copy.goto(serving(drawing_session()))
    pad = copy.get_by_label("draw left here")
    expect(pad).to_be_visible()
    address = copy.url
    moving = ".pad:active { transform: translateY(4px) }"
    copy.evaluate(STYLE, moving)
    assert stroke_problems(copy, pad) == ["the pad moves while one draws"]
    copy.goto("about:blank")
    copy.goto(address)
    expect(copy.locator(".verdict .value")).to_have_text(START)
    copy.evaluate(SWALLOW, "pointerdown")
    assert stroke_problems(copy, pad, SOON) == ["the first stroke is lost"]
    copy.context.close()
