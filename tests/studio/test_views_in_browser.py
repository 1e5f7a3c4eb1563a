"""The page around the views, and the main act of Rules, in a real browser."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from pinesy import parse
from pinesy.studio import Session
from pinesy.studio.session import Work
from pinesy.studio.web_application import VIEWS, redirect_file
from studio.touched_files import touch

Serving = Callable[[Session], str]
VIEW_NAMES = list(VIEWS)


def go(tab: Page, address: str, view: str) -> None:
    """Open a view, by its tab if the page is there, and wait for it."""
    if tab.url.startswith("about:"):
        tab.goto(f"{address}#{view}")
    else:
        tab.locator(f"#tab-{view}").click()
    expect(tab.locator(f"#panel-{view}")).to_have_attribute("data-ready", "true")


def test_markup_in_names_and_values_is_text(tab: Page, serving: Serving) -> None:
    evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
    quoted = evil.replace('"', '\\"')
    text = (
        f'attribute `{evil}` in {{"{quoted}", b}}\nattribute `c{evil}` in {{"{quoted}", d}}\n'
        f"if `{evil}` in {{b}} then `c{evil}` in {{d}}"
    )
    session = Session(Work(parse(text), text), title=evil)
    address = serving(session)
    for view in VIEW_NAMES:
        go(tab, address, view)
        expect(tab.locator("#source")).to_have_text(evil)
        assert tab.locator("main script, main img[src=x]").count() == 0
        assert tab.evaluate("window.hit") is None
    # The browser itself refuses what the studio never does.
    other = tab.context.new_page()
    other.goto(address)
    attempt = "try { document.body.innerHTML = '<b>x</b>'; } catch (e) { return e.name; }"
    assert other.evaluate(f"(() => {{ {attempt} }})()") == "TypeError"


def test_a_browser_keeps_its_access_and_another_gets_none(
    chromium: Browser, tab: Page, serving: Serving, session: Session, rules: Path
) -> None:
    address = serving(session)
    with redirect_file(address) as path:  # as a browser is started
        tab.goto(path.as_uri())
        expect(tab.locator("#panel-ask")).to_have_attribute("data-ready", "true")
    assert "code" not in tab.url
    assert tab.context.cookies() == []
    tab.reload()
    expect(tab.locator("#panel-ask")).to_have_attribute("data-ready", "true")
    second = tab.context.new_page()
    for again in (address, address.partition("?")[0]):  # the code is spent, and needed no more
        second.goto(again)
        expect(second.locator("#panel-ask")).to_have_attribute("data-ready", "true")
    # Another browser, or what another port of the machine serves, has nothing to show.
    stranger = chromium.new_context().new_page()
    stranger.goto(address)
    expect(stranger.locator("#notices")).to_contain_text("has no access to the studio")
    expect(stranger.get_by_role("tab")).to_have_count(0)
    stranger.context.close()
    other = serving(Session.open(rules))
    neighbour = tab.context.new_page()
    neighbour.goto(other.partition("?")[0])
    expect(neighbour.locator("#notices")).to_contain_text("has no access to the studio")
    assert neighbour.evaluate("localStorage.length") == 0
    neighbour.goto(other)
    expect(neighbour.locator("#panel-ask")).to_have_attribute("data-ready", "true")


def test_tabs_work_by_keyboard_and_the_code_leaves_the_address(
    tab: Page, serving: Serving, session: Session
) -> None:
    tab.goto(serving(session))
    first = tab.get_by_role("tab", name="Ask")
    expect(first).to_have_attribute("aria-selected", "true")
    assert "code" not in tab.url
    first.focus()
    tab.keyboard.press("ArrowRight")
    second = tab.get_by_role("tab", name="Rules")
    expect(second).to_be_focused()
    expect(second).to_have_attribute("aria-selected", "true")
    expect(tab.locator("#panel-rules")).to_have_attribute("data-ready", "true")
    expect(tab.locator("#panel-ask")).to_be_hidden()
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
