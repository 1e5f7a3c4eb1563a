"""What notebooks show, in a real browser: light and dark, and with markup in names."""

from typing import Any

from playwright.sync_api import Page

from browser import picture
from common.things_to_show import EVIL as EVIL_NAME
from common.things_to_show import THINGS
from pinesy import explain, parse

PAGE = (
    "<!doctype html><meta charset=utf-8><style>:root {{ color-scheme: light dark }} "
    "body {{ font: 14px sans-serif }}</style><body>{}"
)
GLUCOSE = """
attribute action in {breakfast, dinner, lunch, sport}
attribute current in {low, medium, high}
attribute future in {low, medium, high}
if action in {lunch, dinner} and current in {medium, high} then future in {high}
if action in {sport} and current in {low, medium} then future in {low} [s=0.7, r=0]
if action in {breakfast} and current in {low, medium} then future in {low, medium}
"""


def test_snippets_take_the_colours_of_a_dark_page_and_run_nothing(tab: Page) -> None:
    tab.on("dialog", lambda dialog: dialog.dismiss())
    tab.emulate_media(color_scheme="dark")
    tab.set_content(PAGE.format("".join(thing()._repr_html_() for thing in THINGS.values())))
    assert tab.locator("img, script, iframe").count() == 0
    assert tab.get_by_text(EVIL_NAME).first.inner_text()
    colours = tab.evaluate("""() => [...document.querySelectorAll("td, th, summary, pre, code")]
        .flatMap((e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor])""")
    pages = ("document.body", "document.querySelector('.pn')")
    own = [tab.evaluate(f"getComputedStyle({element}).color") for element in pages]
    assert set(colours) == {*own, "rgba(0, 0, 0, 0)"}


def test_a_picture_of_a_notebook(tab: Page) -> None:
    rules = parse(GLUCOSE)
    seen = {"action": "lunch", "current": {"low": 0.3, "medium": 1.0}}
    things: list[Any] = [rules, rules["future"], rules.infer(seen), explain(rules, seen)]
    tab.set_viewport_size({"width": 900, "height": 810})
    tab.emulate_media(color_scheme="dark")
    tab.set_content(PAGE.format("<hr>".join(one._repr_html_() for one in things)))
    widths = tab.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]  # what is wide scrolls in its own place
    picture(tab, "notebook-dark")
